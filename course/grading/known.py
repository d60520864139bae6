"""What misconceptions compute, kept from one grading to the next.

To run every misconception of a lesson over every case takes tens of seconds, and depends on
nothing but this checkout and the libraries. So the outcome is kept under `build/known/`, in a file
named by a digest of all that it depends on. A file that cannot be read is made again. Submissions
cannot write there: the sandbox gives them one scratch folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import scipy

from course.files import write_whole
from course.paths import CHECKOUT

FOLDER = CHECKOUT / "build" / "known"


@functools.cache
def digest() -> str:
    """Of everything that decides what a misconception computes."""
    found = hashlib.sha256()
    versions = (platform.python_version(), np.__version__, scipy.__version__, mujoco.__version__)
    found.update(repr((platform.machine(), *versions)).encode())
    for folder, pattern in (
        ("course/exercises", "**/*.py"),
        ("course/grading", "*.py"),
        ("shared/mjcourse", "*.py"),
        ("models", "*.xml"),
    ):
        for path in sorted((CHECKOUT / folder).glob(pattern)):
            found.update(path.relative_to(CHECKOUT).as_posix().encode())
            found.update(path.read_bytes())
    return found.hexdigest()[:24]


def recalled(lesson: str, exercise: str, make: Callable[[], Any]) -> Any:
    """What `make()` returned for this exercise in this checkout, now or at an earlier grading."""
    path = FOLDER / f"{lesson}-{exercise}-{digest()}.pickle"
    kept = _read(path)
    if kept is not None:
        return kept
    made = make()
    try:
        write_whole(path, pickle.dumps(made, protocol=pickle.HIGHEST_PROTOCOL))
        for old in FOLDER.glob(f"{lesson}-{exercise}-*.pickle"):
            if old != path:
                old.unlink(missing_ok=True)
    except (OSError, pickle.PicklingError, TypeError, AttributeError):
        pass  # a checkout that cannot be written, or a value that cannot be kept: work it out again
    return made


def _read(path: Path) -> Any:
    try:
        if path.stat().st_uid != os.getuid():
            return None
        return pickle.loads(path.read_bytes())
    except (OSError, pickle.UnpicklingError, EOFError, AttributeError, ImportError, IndexError):
        return None
