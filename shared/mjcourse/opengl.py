"""Choose MuJoCo's OpenGL back end before `mujoco` is imported. Imports nothing heavy itself.

MuJoCo reads `MUJOCO_GL` once, when it is imported, and on Linux its default (GLFW) needs a
display. A value whose library is missing breaks `import mujoco` itself, so libraries are looked
for first.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
import warnings

# EGL needs libGL (or libOpenGL) beside it: libEGL alone loads but cannot draw.
_LIBRARIES: dict[str, tuple[tuple[str, ...], ...]] = {
    "egl": (("libEGL.so.1", "EGL"), ("libGL.so.1", "GL", "libOpenGL.so.0", "OpenGL")),
    "osmesa": (("libOSMesa.so.8", "libOSMesa.so.6", "libOSMesa.so", "OSMesa"),),
}


def choose_backend() -> str | None:
    """Set `MUJOCO_GL` where that is needed and still possible, and return the back end in use.

    Only Linux needs a choice: EGL first (it also works without a GPU), then OSMesa. A value that
    somebody set is kept, unless its library is missing: then another is taken and a warning says
    so, because MuJoCo could not even be imported.

    Returns:
      `"egl"`, `"osmesa"`, another value found in `MUJOCO_GL`, or None when MuJoCo's own default
      applies (macOS, Windows, or no library found: read-outs then work and pictures do not).
    """
    wanted = os.environ.get("MUJOCO_GL", "").strip().lower()
    if not sys.platform.startswith("linux") or "mujoco" in sys.modules:
        return wanted or None
    if wanted and (wanted not in _LIBRARIES or available(wanted)):
        return wanted
    found = next((name for name in _LIBRARIES if available(name)), None)
    if found is not None:
        os.environ["MUJOCO_GL"] = found
    else:
        os.environ.pop("MUJOCO_GL", None)
    if wanted:
        instead = f"using {found!r}" if found else "no other was found: pictures will be missing"
        warnings.warn(
            f"MUJOCO_GL={wanted!r} but its library is not installed; {instead}", stacklevel=2
        )
    return found


def available(backend: str) -> bool:
    """Whether the system libraries of `"egl"` or `"osmesa"` can be loaded (Linux)."""
    return all(any(map(_loads, names)) for names in _LIBRARIES[backend])


def advice() -> str:
    """What to install so that pictures appear: one sentence for this platform."""
    if sys.platform == "darwin":
        return "macOS draws through its own OpenGL: run the notebook in a logged-in session"
    if sys.platform == "win32":
        return "install the graphics driver of this computer, and `pip install glfw`"
    if "google.colab" in sys.modules:
        return "run `!apt-get install -y libegl1 libgl1` and restart the runtime"
    return (
        "install EGL (Debian, Ubuntu: `apt-get install libegl1 libgl1`; Fedora: `dnf install "
        "mesa-libEGL mesa-libGL`; conda: `conda install -c conda-forge libegl libgl mesalib`) "
        "or OSMesa (`apt-get install libosmesa6`), then restart the kernel"
    )


def _loads(name: str) -> bool:
    found = name if ".so" in name else ctypes.util.find_library(name)
    if not found:
        return False
    try:
        ctypes.CDLL(found)
    except OSError:
        return False
    return True
