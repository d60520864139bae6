"""Write the student tree: the released notebooks, the wheel, a README for students. Nothing else.

The tree is meant for a public repository (`course/settings.py` says which); the instructor's
repository stays private. Commit the tree there under the tag that `course/settings.py` names:
badges and set-up cells point at that tag. `published.json` lists what was written, so that a
second publication can tell its own files from anybody else's.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from course import settings
from course.exercises import LESSONS
from course.exercises import lesson as find_lesson
from course.files import write_whole
from course.paths import CHECKOUT, release_path

LIST = "published.json"
# What the wheel is made of; nothing else of the checkout is near when it is built.
WHEEL_SOURCES = ("pyproject.toml", "LICENSE", "shared", "models")
# Text that only the instructor's side holds, as patterns.
SECRETS = ("BEGIN SOLUTION", "HIDDEN TESTS", r"\bcourse\.(exercises|grading|settings|publish)\b")


class NotPublished(RuntimeError):
    """The student tree was not written; the message says why and names the files."""


def publish(destination: str | Path) -> Path:
    """Write the student tree to `destination` and return its path. Works without a network.

    A folder that is new, empty, or holds an earlier publication (and `.git`) is accepted; files
    of that publication that are no longer part of it are removed.

    Raises:
      NotPublished: the destination holds something else, a release is missing or holds what
        only instructors may see, or the wheel cannot be built.
    """
    destination = Path(destination)
    _refuse_unknown(destination)
    files = student_files()
    recorded = _recorded(destination)
    for name in sorted(files):
        write_whole(destination / name, files[name])
    for name in sorted(set(recorded) - set(files)):
        (destination / name).unlink(missing_ok=True)
    digests = {name: _digest(data) for name, data in sorted(files.items())}
    listed = {"version": settings.VERSION, "files": digests}
    write_whole(destination / LIST, json.dumps(listed, indent=1) + "\n")
    return destination


def student_files() -> dict[str, bytes]:
    """The student tree: path in it -> content.

    Raises:
      NotPublished: a release is missing or not fit for students, or the wheel cannot be built.
    """
    files: dict[str, bytes] = {"README.md": readme_text().encode()}
    for name in ("LICENSE", "LICENSE-lessons.md"):
        files[name] = (CHECKOUT / name).read_bytes()
    for lesson in LESSONS:
        path = release_path(lesson)
        if not path.is_file():
            raise NotPublished(
                f"the release of {lesson} is missing; `python -m course release` builds it"
            )
        data = path.read_bytes()
        secret = re.search("|".join(SECRETS), data.decode())
        if secret is not None:
            raise NotPublished(f"the release of {lesson} holds {secret[0]!r}: not for students")
        files[settings.release_path(lesson)] = data
    with tempfile.TemporaryDirectory() as folder:
        wheel = build_wheel(Path(folder))
        files[f"wheels/{wheel.name}"] = wheel.read_bytes()
    return files


def build_wheel(folder: Path) -> Path:
    """Build the student's wheel from this checkout into `folder`; the same bytes every time.

    The sources are copied first, so that nothing left over from an earlier build gets in.

    Raises:
      NotPublished: setuptools fails; the message holds the end of what it said.
    """
    with tempfile.TemporaryDirectory() as copied:
        for name in WHEEL_SOURCES:
            origin, copy = CHECKOUT / name, Path(copied, name)
            if origin.is_dir():
                leftovers = shutil.ignore_patterns("__pycache__", "*.egg-info", "*.pyc")
                shutil.copytree(origin, copy, ignore=leftovers)
            else:
                shutil.copyfile(origin, copy)
        # Zip cannot store a time before 1980; a fixed one makes the archive reproducible.
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "315532800"}
        built = subprocess.run(
            [sys.executable, "-c", _BUILD, str(folder.resolve())],
            cwd=copied,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if built.returncode != 0:
        raise NotPublished(f"the wheel cannot be built: {built.stderr.strip()[-500:]}")
    return folder / settings.WHEEL


_BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"


def readme_text() -> str:
    """The student's README: the lessons with their badges, and how to work and hand in."""
    from course.release.header import BADGE

    rows = ["| | lesson | time for the core | |", "|---|---|---|---|"]
    for number, id in enumerate(LESSONS, start=1):
        lesson = find_lesson(id)
        rows.append(
            f"| {number} | [{lesson.title}]({settings.release_path(id)}) | {lesson.minutes} min "
            f"| [![Open in Colab]({BADGE})]({settings.colab_url(id)}) |"
        )
    return README.format(
        lessons="\n".join(rows), wheel=settings.WHEEL_URL, version=settings.VERSION
    )


README = """\
# mjcourse: the foundations of robot simulation with MuJoCo

Four notebooks with live labs: you move a slider and the physics answers. You write the functions
yourself, and a check under each says at once how near you are to MuJoCo. Version {version}.

{lessons}

## Work in Colab

Open a lesson by its badge and run the first cell; it installs the course in some seconds. Save a
copy to your Drive (File, *Save a copy in Drive*), so that your work is kept.

## Work on your own computer

Python 3.11 or newer:

    python -m venv mjcourse-env
    source mjcourse-env/bin/activate        # Windows: mjcourse-env\\Scripts\\activate
    pip install jupyterlab {wheel}
    jupyter lab release

## Where am I, and how do I hand in?

`progress()` lists the exercises of a lesson at any time. `submit()`, at the end of each notebook,
looks your work over, tells you what is still open, and writes one file to hand in, with a receipt.
In Colab the file is downloaded; elsewhere it lies beside your notebook. Your notebook itself is
never changed.

The code is under the Apache License 2.0, the lessons are under CC BY 4.0.
"""


def _refuse_unknown(destination: Path) -> None:
    if not destination.exists():
        return
    if not destination.is_dir():
        raise NotPublished(f"{destination} is a file; name a folder")
    recorded = _recorded(destination)
    unknown = []
    for path in sorted(destination.rglob("*")):
        name = path.relative_to(destination).as_posix()
        if path.is_dir() and not path.is_symlink():
            continue
        if name == LIST or name.startswith(".git/"):
            continue
        if path.is_symlink() or _digest(path.read_bytes()) != recorded.get(name):
            unknown.append(name)
    if unknown:
        listed = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        raise NotPublished(
            f"{destination} holds files that no publication wrote or that were changed since: "
            f"{listed}; move them away or name another folder"
        )


def _recorded(destination: Path) -> Mapping[str, str]:
    """Digest by path of what an earlier publication wrote; a path outside the tree is no entry."""
    try:
        files = json.loads((destination / LIST).read_text())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    if not isinstance(files, dict):
        return {}
    return {
        str(name): str(digest)
        for name, digest in files.items()
        if not Path(name).is_absolute() and ".." not in Path(name).parts
    }


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
