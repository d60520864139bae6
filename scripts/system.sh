#!/usr/bin/env bash
# Look for a system library that the course needs; install it where that is allowed, else say what to type.
#   scripts/system.sh opengl     a software OpenGL renderer for MuJoCo's pictures
#   scripts/system.sh chromium   a browser for the browser tests
set -u

have_opengl() {
  [ "$(uname -s)" = Darwin ] && return 0
  .venv/bin/python - <<'PY'
import ctypes, sys
def loads(*names):
    try:
        for name in names:
            ctypes.CDLL(name)
        return True
    except OSError:
        return False
sys.exit(not (loads("libEGL.so.1", "libGL.so.1") or loads("libOSMesa.so.8") or loads("libOSMesa.so")))
PY
}

have_chromium() {
  [ -n "${MJCOURSE_CHROMIUM:-}" ] && [ -x "$MJCOURSE_CHROMIUM" ] && return 0
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null
}

case "${1:-}" in
  opengl)   found=have_opengl;   packages="libegl1 libgl1 libosmesa6" ;;
  chromium) found=have_chromium; packages="chromium" ;;
  *) echo "usage: scripts/system.sh opengl|chromium" >&2; exit 2 ;;
esac

$found && exit 0

if command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
  echo "installing $packages"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq && apt-get install -y -qq --no-install-recommends $packages >/dev/null
  $found && exit 0
fi

echo "missing: $1" >&2
if command -v apt-get >/dev/null; then
  echo "  type:  sudo apt-get install $packages" >&2
elif command -v dnf >/dev/null; then
  [ "$1" = opengl ] && packages="mesa-libEGL mesa-libGL mesa-libOSMesa"
  echo "  type:  sudo dnf install $packages" >&2
elif [ "$(uname -s)" = Darwin ]; then
  echo "  type:  brew install --cask chromium" >&2
else
  echo "  install: $packages (names as in Debian)" >&2
fi
exit 1
