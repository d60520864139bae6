"""Find what students handed in, and read it: any file, under any name, in any state.

`submitted/<student>/<lesson>/` holds a notebook of any name. Whatever cannot be graded becomes a
`Problem` with the reason; nothing that one student hands in stops the others. Symbolic links are
never followed: a name in a submission cannot reach a file outside it.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from course.paths import DataFolders
from course.records import Problem
from course.repair import NotThisLesson, belongs_to, repair
from course.template import template

__all__ = [
    "NotThisLesson",
    "Submission",
    "Unreadable",
    "find_submissions",
    "parse_notebook",
    "read_submission",
    "repair",
    "submission_in",
]

# A notebook with its videos is some megabytes; parsing takes about five times the file's size.
MAX_BYTES = 64 * 2**20
# Source text only, outputs apart: a lesson is about 60 kB.
MAX_SOURCE = 2 * 2**20
# A folder with more notebooks than this is no submission.
MAX_FILES = 50
SKIPPED = frozenset({".ipynb_checkpoints", "__MACOSX", "__pycache__", ".git"})


class Unreadable(ValueError):
    """A file that is no notebook; `problem` says what it is instead."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(kind, message)


@dataclass(frozen=True)
class Submission:
    """What one student handed in for one lesson: files, best guess first."""

    student: str
    lesson: str
    files: tuple[Path, ...]
    problems: tuple[Problem, ...] = ()
    timestamp: datetime | None = None


@dataclass
class Read:
    """A submission ready for grading: the file that counts, and its repaired notebook.

    `path` is `None` when no file can be read, `notebook` when it cannot be graded.
    """

    submission: Submission
    path: Path | None = None
    notebook: dict[str, Any] | None = None
    problems: list[Problem] = field(default_factory=list)


def find_submissions(
    folders: DataFolders, lesson: str, student: str | None = None
) -> list[Submission]:
    """What lies in `submitted/` for a lesson, in the order of the students' ids."""
    if not folders.submitted.is_dir():
        return []
    found = []
    for home in sorted(folders.submitted.iterdir()):
        if home.name.startswith(".") or student not in (None, home.name):
            continue
        if printable(home.name) != home.name:
            if (home / lesson).is_dir():
                found.append(_bad_name(home.name, lesson))
            continue
        try:
            submission = _submission(home, lesson)
        except OSError as error:
            problem = Problem("unreadable", f"The folder cannot be read: {error.strerror}.")
            submission = Submission(home.name, lesson, (), (problem.of(home.name, lesson),))
        if submission is not None:
            found.append(submission)
    return found


def printable(name: str) -> str:
    """A file's name as text: bytes that are no UTF-8 and control characters become "?"."""
    clean = "".join(c if c.isprintable() else "?" for c in name)
    return clean.encode("utf-8", "replace").decode("utf-8")


def _bad_name(name: str, lesson: str) -> Submission:
    shown = printable(name)
    message = f"The folder {shown!r} of submitted/ has a name that is no text; rename it."
    return Submission(shown, lesson, (), (Problem("bad_name", message, lesson, shown),))


def _submission(home: Path, lesson: str) -> Submission | None:
    """The submission in one student's folder; `None` when there is none for the lesson."""
    name = home.name
    if home.is_symlink():
        problem = Problem("symbolic_link", f"submitted/{name} is a symbolic link; not followed.")
        return Submission(name, lesson, (), (problem.of(name, lesson),))
    if not home.is_dir():
        return None
    folder = home / lesson
    if folder.is_symlink():
        problem = Problem("symbolic_link", f"{lesson}/ is a symbolic link; not followed.")
        return Submission(name, lesson, (), (problem.of(name, lesson),))
    problems: list[Problem] = []
    if folder.is_dir():
        files = _notebooks_in(folder, problems)
        if not files:
            there = sorted(printable(p.name) for p in folder.iterdir())[:5]
            said = f"it holds {', '.join(there)}" if there else "it is empty"
            problems.append(Problem("no_notebook", f"No notebook in {lesson}/: {said}."))
    else:
        loose = [p for p in _notebooks_in(home, problems, deep=False) if _stem(p.name) == lesson]
        if not loose:
            return None
        files = loose
        problems.append(
            Problem("misplaced", f"{printable(files[0].name)} lay outside a folder {lesson}/.")
        )
    ranked = tuple(sorted(files, key=lambda path: rank(path.name, lesson)))
    said_of = tuple(p.of(name, lesson) for p in problems)
    return Submission(name, lesson, ranked, said_of, _timestamp(folder))


def submission_in(folder: Path) -> Submission:
    """The submission in a folder `.../<student>/<lesson>`."""
    found = _submission(folder.parent, folder.name)
    return found or Submission(folder.parent.name, folder.name, ())


def _notebooks_in(folder: Path, problems: list[Problem], deep: bool = True) -> list[Path]:
    """Regular files that end in .ipynb (or look like one renamed), links left out."""
    found: list[Path] = []
    waiting = [folder]
    while waiting and len(found) <= MAX_FILES:
        for path in sorted(waiting.pop(0).iterdir()):
            if path.name in SKIPPED or path.name.startswith("."):
                continue
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                problems.append(
                    Problem(
                        "symbolic_link", f"{printable(path.name)} is a symbolic link; not followed."
                    )
                )
            elif stat.S_ISDIR(mode):
                if deep and len(path.relative_to(folder).parts) <= 3:
                    waiting.append(path)
            elif stat.S_ISREG(mode) and _notebook_name(path.name):
                found.append(path)
    return found[:MAX_FILES]


def _notebook_name(name: str) -> bool:
    """`x.ipynb`, and what browsers and mail programs make of it."""
    return re.search(r"\.ipynb(\.(txt|json))?( ?\(\d+\))?$", name, re.IGNORECASE) is not None


_DECORATION = re.compile(
    r"^(?:copy of |kopie van |kopie von |copie de |copia de )+|\.ipynb.*$|"
    r"(?:[ _-]*\(\d+\)|--.*|[ _-]+copy\d*|-\d+)$",
    re.IGNORECASE,
)


def _stem(name: str) -> str:
    """The lesson that a file name means: "Copy of rotations (1).ipynb" gives "rotations"."""
    before = ""
    while name != before:
        before, name = name, _DECORATION.sub("", name).strip()
    return name.lower().replace(" ", "_").replace("-", "_")


def rank(name: str, lesson: str) -> tuple[int, Any, str]:
    """Sort key among several files: handed in by `submit()` (the latest first), then the
    lesson's own name, then numbered downloads (the last first), then the rest."""
    stamped = re.search(r"--(.+)\.ipynb", name)
    if stamped and _stem(name) == lesson:
        return (0, [-ord(c) for c in stamped.group(1)], name)
    if name == f"{lesson}.ipynb":
        return (1, [], name)
    numbered = re.search(r"\((\d+)\)|-(\d+)\.ipynb", name)
    if _stem(name) == lesson:
        number = int(next(g for g in numbered.groups() if g)) if numbered else 0
        return (2, [-number], name)
    return (3, [], name)


def _timestamp(folder: Path) -> datetime | None:
    """nbgrader's `timestamp.txt`, as UTC without a zone; `None` when missing or not a date."""
    path = folder / "timestamp.txt"
    if path.is_symlink() or not path.is_file() or path.stat().st_size > 200:
        return None
    from nbgrader.utils import parse_utc

    try:
        return parse_utc(path.read_text(errors="replace").strip())  # type: ignore[no-any-return]
    except (ValueError, OverflowError, TypeError):
        return None


def parse_notebook(data: bytes) -> dict[str, Any]:
    """A notebook of nbformat 4 from a file's bytes; older formats are converted.

    Raises:
      Unreadable: it is empty, cut off, binary, or JSON of something else.
    """
    if not data.strip():
        raise Unreadable("empty", "The file is empty.")
    if len(data) > MAX_BYTES:
        raise Unreadable("too_large", f"The file is larger than {MAX_BYTES // 2**20} MB.")
    text = _decoded(data)
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise Unreadable("unreadable", "The JSON is nested too deeply for a notebook.") from None
    except ValueError as error:
        raise Unreadable("unreadable", _why_not_json(text, error)) from None
    if not isinstance(notebook, dict) or not ({"cells", "worksheets"} & set(notebook)):
        raise Unreadable("not_a_notebook", "The file is JSON, but it holds no notebook.")
    if "cells" not in notebook:
        notebook = _converted(notebook)
    if not isinstance(notebook["cells"], list):
        raise Unreadable("not_a_notebook", "The file is JSON, but it holds no notebook.")
    size = sum(len(str(c.get("source", ""))) for c in notebook["cells"] if isinstance(c, dict))
    if size > MAX_SOURCE:
        raise Unreadable("too_large", f"Its cells hold {size / 2**20:.1f} MB of text.")
    return notebook


def _decoded(data: bytes) -> str:
    """UTF-8 with or without a mark, or UTF-16 with one."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        kind = next((kind for start, kind in MAGIC if data.startswith(start)), "binary data")
        raise Unreadable("not_a_notebook", f"The file is {kind}, not a notebook.") from None


MAGIC = (
    (b"PK\x03\x04", "a zip archive"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8", "a picture"),
    (b"\x1f\x8b", "a compressed file"),
)


def _why_not_json(text: str, error: ValueError) -> str:
    start = text.lstrip()[:200].lower()
    if start.startswith("%pdf"):
        return "The file is a PDF, not a notebook."
    if start.startswith("<"):
        return "The file is a web page, not a notebook (saved from the browser?)."
    if start.startswith("{") and not text.rstrip().endswith("}"):
        return "The notebook is cut off: its JSON ends too early (upload interrupted?)."
    return f"The file is not JSON, as a notebook must be: {error}."[:300]


def _converted(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """nbformat 3 (worksheets) or older, as nbformat 4."""
    from course.quick import nbformat as quick_nbformat

    nbformat = quick_nbformat()
    try:
        old = nbformat.from_dict(notebook)
        old.setdefault("nbformat", 3)
        old.setdefault("metadata", nbformat.NotebookNode())
        new = json.loads(json.dumps(nbformat.convert(old, 4)))
    except Exception as error:  # a damaged old notebook can fail anywhere in the converter
        raise Unreadable(
            "unreadable", f"An old notebook format that cannot be converted ({error})."
        ) from None
    new["metadata"]["orig_nbformat"] = 3
    return dict(new)


def read_file(path: Path) -> dict[str, Any]:
    """`parse_notebook` of a regular file.

    Raises:
      Unreadable: as `parse_notebook`, or the file cannot be opened.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise Unreadable("too_large", f"The file is larger than {MAX_BYTES // 2**20} MB.")
        return parse_notebook(path.read_bytes())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Unreadable("unreadable", f"The file cannot be read: {reason}.") from None


def read_submission(submission: Submission) -> Read:
    """Read, choose among several files, and repair. Never raises for what a student did."""
    read = Read(submission, problems=list(submission.problems))
    student, lesson = submission.student, submission.lesson
    chosen: tuple[Path, dict[str, Any]] | None = None
    for path in submission.files:
        try:
            notebook = read_file(path)
        except Unreadable as unreadable:
            message = f"{printable(path.name)}: {unreadable}"
            read.problems.append(Problem(unreadable.problem.kind, message, lesson, student))
            continue
        ours = len(submission.files) == 1 or belongs_to(notebook, template(lesson)) > 0
        if ours or chosen is None:
            chosen = (path, notebook)
        if ours:
            break
    if chosen is None:
        return read
    path, notebook = chosen
    read.path = path
    if path.name != f"{lesson}.ipynb":
        read.problems.append(
            Problem("renamed", f"The notebook is called {printable(path.name)!r}.", lesson, student)
        )
    if len(submission.files) > 1:
        others = ", ".join(printable(f.name) for f in submission.files if f != path)
        message = f"{len(submission.files)} notebooks; {printable(path.name)} counts, not {others}."
        read.problems.append(Problem("several_notebooks", message, lesson, student))
    if _old_format(notebook):
        read.problems.append(
            Problem("old_format", "The notebook was in an old format; converted.", lesson, student)
        )
    try:
        read.notebook, repairs = repair(notebook, lesson)
    except NotThisLesson as other:
        read.problems.append(other.problem.of(student, lesson))
        return read
    read.problems += [p.of(student, lesson) for p in repairs]
    return read


def _old_format(notebook: Mapping[str, Any]) -> bool:
    metadata = notebook.get("metadata")
    return isinstance(metadata, Mapping) and metadata.get("orig_nbformat") == 3
