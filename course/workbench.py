"""`make lab`: open the lessons in JupyterLab, on a working copy of the releases."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from course.exercises import LESSONS
from course.paths import CHECKOUT, release_path

WORKBENCH = CHECKOUT / "lab"


def lay_out(folder: Path = WORKBENCH) -> list[Path]:
    """Copy each release to `folder/L/L.ipynb` where there is no copy yet; return the copies.

    A copy that exists is somebody's work and stays as it is.
    """
    copies = []
    for lesson in LESSONS:
        release = release_path(lesson)
        if not release.is_file():
            continue
        copy = folder / lesson / release.name
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(release, copy)
            copies.append(copy)
    return copies


def open_lessons(arguments: Sequence[str] = (), folder: Path = WORKBENCH) -> None:
    """Lay out the working copies and become JupyterLab there; does not return."""
    lay_out(folder)
    print(f"Your copies of the lessons are in {folder}; delete one to start it afresh.", flush=True)
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", *arguments]
    os.execv(sys.executable, command)
