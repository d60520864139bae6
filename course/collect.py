"""Bring submissions into `submitted/`: from an LMS's zip, nbgrader's exchange, a folder, a file.

    Moodle     Ada Lovelace_1234567_assignsubmission_file_/rotations.ipynb   (or without folder)
    Canvas     lovelaceada_LATE_12345_678901_rotations-1.ipynb
    nbgrader   ada+rotations+2026-12-01 10:00:00 UTC/rotations.ipynb
    a folder   ada/rotations/rotations.ipynb, ada/rotations.ipynb, or ada.ipynb

A student's id comes from the place or the file's name, cleaned so that it is one folder's name
and nothing else: a name in an archive never reaches outside `submitted/`. Files are copied byte
for byte to `submitted/<student>/<lesson>/<lesson>.ipynb`, the name that nbgrader looks for.
"""

from __future__ import annotations

import io
import re
import stat
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from course.files import write_whole
from course.intake import MAX_BYTES, SKIPPED, rank
from course.paths import DataFolders
from course.records import Problem

# A whole class in one archive; more than this is a mistake or a bomb.
MAX_MEMBERS = 20_000


class NothingToCollect(ValueError):
    """The source holds no submission; the message says what was looked for."""


@dataclass(frozen=True)
class Item:
    """One file that somebody handed in."""

    student: str
    name: str
    data: bytes
    timestamp: str = ""


@dataclass
class Collected:
    """What was brought in, by student; `problems` names what was left behind."""

    written: list[Path] = field(default_factory=list)
    unchanged: list[Path] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def collect(
    source: Path, lesson: str, folders: DataFolders, student: str | None = None
) -> Collected:
    """Copy the submissions of `lesson` found in `source` into `submitted/`.

    Args:
      student: whose work it is, for a single file whose name does not tell.

    Raises:
      NothingToCollect: `source` holds no file that can be handed in.
      FileNotFoundError: there is no `source`.
    """
    if not source.exists():
        raise FileNotFoundError(f"{source} does not exist")
    outcome = Collected()
    best: dict[str, Item] = {}
    for item in _items(source, lesson, student, outcome.problems):
        name = student_id(item.student)
        if not name:
            outcome.problems.append(
                Problem("no_student", f"{item.name}: its name does not say whose it is.", lesson)
            )
            continue
        if name not in best or _better(item, best[name], lesson):
            best[name] = item
    if not best and not outcome.problems:
        raise NothingToCollect(
            f"{source} holds no notebook; a zip from Moodle or Canvas, nbgrader's exchange, a "
            "folder with one folder for each student, or one .ipynb is understood"
        )
    for name in sorted(best):
        _write(best[name], name, lesson, folders, outcome)
    return outcome


def student_id(name: str) -> str:
    """A folder's name from what a student is called: letters, digits, `_-.@`; never a path."""
    clean = unicodedata.normalize("NFC", name).strip()
    clean = "".join(c if c.isalnum() or c in "_-.@" else "_" for c in clean)
    return re.sub(r"_+", "_", clean).strip("._-")[:100]


def _better(item: Item, than: Item, lesson: str) -> bool:
    if item.timestamp != than.timestamp:
        return item.timestamp > than.timestamp
    return rank(item.name, lesson) < rank(than.name, lesson)


def _write(item: Item, name: str, lesson: str, folders: DataFolders, outcome: Collected) -> None:
    folder = folders.submitted / name / lesson
    if folder.is_symlink() or folder.parent.is_symlink():
        message = f"submitted/{name} is a symbolic link; nothing was written."
        outcome.problems.append(Problem("symbolic_link", message, lesson, name))
        return
    path = folder / f"{lesson}.ipynb"
    if path.is_symlink():
        path.unlink()
    changed = write_whole(path, item.data)
    (outcome.written if changed else outcome.unchanged).append(path)
    if item.timestamp:
        write_whole(folder / "timestamp.txt", item.timestamp + "\n")


def _items(
    source: Path, lesson: str, student: str | None, problems: list[Problem]
) -> Iterator[Item]:
    if source.is_dir():
        files = _files_below(source, problems)
    elif zipfile.is_zipfile(source):
        files = _members(source.read_bytes(), problems, source.name)
    else:
        files = iter([(PurePosixPath(source.name), source.read_bytes())])
    stamps: dict[PurePosixPath, str] = {}
    waiting: list[tuple[PurePosixPath, Item]] = []
    for path, data in files:
        if path.name == "timestamp.txt":
            stamps[path.parent] = data[:100].decode(errors="replace").strip()
            continue
        whose, name, stamp, named = _whose(path, lesson)
        if named not in ("", lesson):
            continue
        for inner, content in _unpacked(path, data, problems):
            waiting.append((path.parent, Item(student or whose, inner or name, content, stamp)))
    for folder, item in waiting:
        yield replace(item, timestamp=stamps.get(folder, item.timestamp))


def _unpacked(
    path: PurePosixPath, data: bytes, problems: list[Problem]
) -> Iterator[tuple[str, bytes]]:
    """The notebooks in one handed-in file: itself, or those in a zip (of `submit()`, say)."""
    if path.suffix.lower() == ".zip":
        for inner, content in _members(data, problems, path.name):
            if inner.suffix.lower() == ".ipynb":
                yield inner.name, content
    elif ".ipynb" in path.name.lower():
        yield "", data


def _files_below(source: Path, problems: list[Problem]) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Regular files under a folder, with their paths in it; links are not followed."""
    waiting = [source]
    while waiting:
        for path in sorted(waiting.pop(0).iterdir()):
            mode = path.lstat().st_mode
            if path.name in SKIPPED or path.name.startswith("."):
                continue
            if stat.S_ISLNK(mode):
                problems.append(
                    Problem("symbolic_link", f"{path.name} is a symbolic link; not followed.")
                )
            elif stat.S_ISDIR(mode):
                waiting.append(path)
            elif stat.S_ISREG(mode) and _of_interest(path.name):
                if path.stat().st_size > MAX_BYTES:
                    problems.append(Problem("too_large", f"{path.name} is too large; left out."))
                    continue
                yield PurePosixPath(path.relative_to(source).as_posix()), path.read_bytes()


def _of_interest(name: str) -> bool:
    return ".ipynb" in name.lower() or name.lower().endswith(".zip") or name == "timestamp.txt"


def _members(
    data: bytes, problems: list[Problem], archive: str
) -> Iterator[tuple[PurePosixPath, bytes]]:
    """The files in a zip, with limits; names that lead outside are left out."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as opened:
            members = opened.infolist()
            if len(members) > MAX_MEMBERS:
                problems.append(Problem("too_large", f"{archive} holds too many files."))
                return
            for member in members:
                path = PurePosixPath(member.filename.replace("\\", "/"))
                unsafe = path.is_absolute() or ".." in path.parts
                link = stat.S_ISLNK(member.external_attr >> 16)
                if member.is_dir() or not _of_interest(path.name) or set(path.parts) & SKIPPED:
                    continue
                if path.name.startswith("."):
                    continue
                if unsafe or link:
                    problems.append(
                        Problem("unsafe_path", f"{archive}: {member.filename!r} leads outside.")
                    )
                    continue
                with opened.open(member) as file:
                    content = file.read(MAX_BYTES + 1)
                if len(content) > MAX_BYTES:
                    problems.append(Problem("too_large", f"{path.name} is too large; left out."))
                    continue
                yield path, content
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        problems.append(Problem("unreadable", f"{archive} cannot be unpacked: {error}."))


_MOODLE = re.compile(r"^(?P<who>.+?_\d+)_assignsubmission_(?:file|onlinetext)_?(?P<name>.*)$")
_CANVAS = re.compile(r"^(?P<who>[^_]+)_(?:LATE_)?(?P<id>\d+)_\d+_(?P<name>.+)$", re.IGNORECASE)
_EXCHANGE = re.compile(r"^(?P<who>[^+]+)\+(?P<lesson>[^+]+)\+(?P<stamp>[^+]+)(?:\+.*)?$")


def _whose(path: PurePosixPath, lesson: str) -> tuple[str, str, str, str]:
    """Student, file name, time stamp and lesson, as the path tells; empty where it does not."""
    for part in path.parts[:-1]:
        if exchange := _EXCHANGE.match(part):
            return exchange["who"], path.name, exchange["stamp"], exchange["lesson"]
        if moodle := _MOODLE.match(part):
            return moodle["who"], path.name, "", ""
    if moodle := _MOODLE.match(path.name):
        return moodle["who"], moodle["name"] or path.name, "", ""
    if canvas := _CANVAS.match(path.name):
        return f"{canvas['who']}_{canvas['id']}", canvas["name"], "", ""
    folders = [p for p in path.parts[:-1] if p not in ("submitted", "inbound")]
    if folders:
        named = folders[1] if len(folders) > 1 else ""
        from course.exercises import LESSONS

        return folders[0], path.name, "", named if named in LESSONS else ""
    stem = re.split(r"\.ipynb|\.zip", path.name, maxsplit=1, flags=re.IGNORECASE)[0]
    return ("" if _only_the_lesson(stem, lesson) else stem), path.name, "", ""


def _only_the_lesson(stem: str, lesson: str) -> bool:
    """Whether a file's name says the lesson and nothing of a student."""
    return rank(f"{stem}.ipynb", lesson)[0] < 3
