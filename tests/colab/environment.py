"""An environment with Colab's package versions, cached in `.venv-colab`.

`python tests/colab/environment.py` resolves `packages.in` anew and writes `colab.lock`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
LOCK = HERE / "colab.lock"
VENV = CHECKOUT / ".venv-colab"
# Colab's Python; where the machine has none, its default Python with the same packages.
WANTED = "3.13"
# The browser's side of ipywidgets 7 brings a whole Jupyter server, which a kernel has no use for.
LEFT_OUT = ("widgetsnbextension", "jupyterlab-widgets")


def find_python() -> str:
    """A Python of Colab's version, from `PATH` or pyenv; else the one that runs this."""
    roots = [os.environ.get("PYENV_ROOT", ""), str(Path.home() / ".pyenv")]
    candidates = [shutil.which(f"python{WANTED}") or ""]
    for root in filter(None, roots):
        found = sorted(Path(root, "versions").glob(f"{WANTED}*/bin/python"))
        candidates += [str(path) for path in found]
    for candidate in filter(None, candidates):
        # A shim of pyenv exists for every version and starts only the chosen one.
        if _version(candidate) == WANTED:
            return candidate
    return sys.executable


def environment() -> Path:
    """The Python of the environment, built when the lock or the Python has changed."""
    base = find_python()
    key = hashlib.sha256(LOCK.read_bytes() + _version(base).encode()).hexdigest()
    ready, python = VENV / ".ready", VENV / "bin" / "python"
    if ready.is_file() and ready.read_text() == key and python.exists():
        return python
    shutil.rmtree(VENV, ignore_errors=True)
    subprocess.run([base, "-m", "venv", str(VENV)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes"]
    subprocess.run([*install, "-r", str(LOCK)], check=True)
    ready.write_text(key)
    return python


def resolve() -> None:
    """Write `colab.lock` from `packages.in` with uv."""
    with tempfile.TemporaryDirectory() as folder:
        overrides, whole = Path(folder, "overrides.txt"), Path(folder, "whole.txt")
        overrides.write_text("".join(f"{n}; sys_platform == 'never'\n" for n in LEFT_OUT))
        command = ["uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
        command += ["--no-header", "--no-annotate", "--python-version", "3.11"]
        command += ["--override", str(overrides), str(HERE / "packages.in")]
        subprocess.run([*command, "--output-file", str(whole)], check=True)
        entries = re.split(r"\n(?=\S)", whole.read_text().strip())
    kept = [entry for entry in entries if "'never'" not in entry.partition("\\")[0]]
    LOCK.write_text("\n".join(kept) + "\n")


def _version(python: str) -> str:
    probe = "import sys; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
    return done.stdout.strip()


if __name__ == "__main__":
    resolve()
