"""Put a submitted notebook back into the shape that grading expects, and say what was wrong.

Students copy, delete, move and convert cells; Colab drops metadata; metadata can be edited. Here
every cell of the lesson is recognised again (by its grade id, its cell id, its text, or the names
it defines), locked cells get their own text back, and what is missing is put back in its place.
A student's own cells stay where they are.
"""

from __future__ import annotations

import ast
import copy
import functools
import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from course.records import Problem
from course.template import Template, TemplateCell, template

SETUP_CELL = "header_setup"
KINDS = ("code", "markdown", "raw")


class NotThisLesson(ValueError):
    """The notebook holds no cell of the lesson; the message says what it looks like instead."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.problem = Problem(kind, message)


@dataclass
class _Cell:
    """A submitted cell under repair: what it is recognised as, if anything, and by what."""

    id: str
    cell_type: str
    source: str
    nbgrader: dict[str, Any]
    template: TemplateCell | None = None
    by: str = ""
    inserted: bool = False
    names: frozenset[str] = frozenset()


@dataclass
class _Found:
    """Problems under way; several cells with the same problem become one line."""

    cells: dict[str, list[str]] = field(default_factory=dict)
    said: list[Problem] = field(default_factory=list)

    def add(self, kind: str, grade_id: str) -> None:
        self.cells.setdefault(kind, []).append(grade_id)

    def problems(self) -> list[Problem]:
        lines = [
            Problem(kind, MESSAGES[kind].format(cells=_listed(ids)))
            for kind, ids in self.cells.items()
        ]
        return self.said + lines


MESSAGES = {
    "metadata_lost": "nbgrader's metadata was missing from {cells}; recognised by text and names.",
    "metadata_changed": "nbgrader's metadata of {cells} had been changed; it was put right.",
    "points_changed": "The points of {cells} had been changed; the lesson's points count.",
    "cell_type_changed": "The type of {cells} had been changed; it was put right.",
    "locked_cell_edited": "The locked text of {cells} was not the lesson's (edited, or of an older "
    "version); it was restored.",
    "cell_restored": "{cells} had been deleted; put back and graded.",
    "cell_moved": "{cells} stood before the answer it belongs to; moved behind it.",
    "unknown_cell": "{cells}: not cells of this lesson (another version?); graded as plain text.",
    "cell_ids": "Cells without ids, or with the same id twice; ids were given.",
}


def repair(notebook: Mapping[str, Any], lesson_id: str) -> tuple[dict[str, Any], list[Problem]]:
    """The notebook in the lesson's shape, and what had to be done for it.

    Args:
      notebook: nbformat 4, as parsed from JSON; anything in it may be missing or of a wrong type.

    Returns:
      A new notebook of plain dicts without outputs, and the problems in order of the notebook.

    Raises:
      NotThisLesson: nothing in it belongs to the lesson.
    """
    return repair_against(template(lesson_id), notebook)


def repair_against(
    lesson: Template, notebook: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Problem]]:
    """`repair` for a template at hand."""
    found = _Found()
    cells = _read_cells(notebook)
    _recognise(lesson, cells)
    named = _named_lesson(notebook, cells)
    # Lessons share names, and a helper may be called as another lesson's answer is.
    guesses = named not in ("", lesson.lesson)
    if not _evidence(cells, but=("names", "place") if guesses else ()) and named != lesson.lesson:
        raise _not_this_lesson(lesson, named, cells)
    _report_unknown(lesson, cells, found)
    cells = _one_of_each(lesson, cells, found)
    for cell in list(cells):
        if cell.template is not None and cell.template.grade_id:
            theirs = cell.source
            _restore(cell, found)
            if cell.template.grade_id == SETUP_CELL and not _same(theirs, cell.template.shown):
                # What a student added to the set-up, an import say, still runs after ours.
                cells.insert(cells.index(cell) + 1, _Cell("", "code", theirs, {}))
    _put_back(lesson, cells, found)
    _tests_after_answers(lesson, cells, found)
    if _give_ids(lesson, cells):
        found.add("cell_ids", "")
    problems = found.problems()
    name = _kernel_name(notebook)
    if name != lesson.kernelspec.get("name"):
        said = f"kernel {name!r}" if name else "no kernel"
        problems.append(
            Problem("kernel", f"The notebook names {said}; graded with the course's Python.")
        )
    return _written(lesson, cells), problems


def belongs_to(notebook: Mapping[str, Any], lesson: Template) -> int:
    """How many cells of the lesson the notebook holds, and of no other lesson."""
    cells = _read_cells(notebook)
    _recognise(lesson, cells)
    return _evidence(cells)


def _evidence(cells: Iterable[_Cell], but: tuple[str, ...] = ()) -> int:
    """Recognised cells that only this lesson has: not text, header or knowledge check.

    Cells that were recognised in one of the ways `but` are not counted.
    """
    shared = re.compile(r"$|header_|(test_|check_)?knowledge_check$")
    return sum(
        1
        for c in cells
        if c.template is not None and c.by not in but and not shared.match(c.template.grade_id)
    )


_BEGIN = re.compile(r"""mjcourse\.begin\(\s*["'](\w+)["']""")


def _named_lesson(notebook: Mapping[str, Any], cells: Iterable[_Cell]) -> str:
    """The lesson that the notebook says it is, in its metadata or its set-up cell."""
    metadata = notebook.get("metadata")
    ours = metadata.get("mjcourse") if isinstance(metadata, Mapping) else None
    named = ours.get("lesson") if isinstance(ours, Mapping) else None
    if isinstance(named, str):
        return named
    calls = (_BEGIN.search(c.source) for c in cells if c.cell_type == "code")
    return next((call.group(1) for call in calls if call), "")


def _read_cells(notebook: Mapping[str, Any]) -> list[_Cell]:
    """Every submitted cell, with wrong types made harmless; outputs are left behind."""
    cells = []
    given = notebook.get("cells")
    for raw in given if isinstance(given, list) else []:
        if not isinstance(raw, Mapping):
            continue
        kind = raw.get("cell_type")
        metadata = raw.get("metadata")
        data = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
        id = raw.get("id")
        source = _text(raw.get("source"))
        cell_type = kind if kind in KINDS else "raw"
        cells.append(
            _Cell(
                id=id if isinstance(id, str) else "",
                cell_type=cell_type,
                source=source,
                nbgrader=dict(data) if isinstance(data, Mapping) else {},
                names=_defined(source) if cell_type == "code" else frozenset(),
            )
        )
    return cells


def _text(source: Any) -> str:
    """A cell's text from nbformat's two spellings; lone surrogates become question marks."""
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return ""
    source = source.replace("\r\n", "\n").replace("\r", "\n")
    return source.encode("utf-8", "replace").decode("utf-8")


def _same(a: str, b: str) -> bool:
    """Equal but for white space at the ends of lines and of the text."""
    return _squeezed(a) == _squeezed(b)


def _squeezed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


_NAME = re.compile(r"^(?:async\s+def|def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]+)?=[^=]", re.MULTILINE)


@functools.lru_cache(maxsize=1024)  # most cells of a class are the lesson's own
def _defined(source: str) -> frozenset[str]:
    """Names that a code cell defines at its top level; by pattern when it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset(a or b for a, b in _NAME.findall(source))
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names |= {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return frozenset(names)


def _recognise(lesson: Template, cells: Sequence[_Cell]) -> None:
    """Say for each cell which cell of the lesson it is; several may claim the same one."""
    known = lesson.known
    for cell in cells:
        grade_id = cell.nbgrader.get("grade_id")
        if isinstance(grade_id, str) and grade_id in known:
            cell.template, cell.by = known[grade_id], "grade id"
    by_id = {t.id: t for t in lesson.cells if t.id}
    by_text: dict[tuple[str, str], TemplateCell] = {}
    for t in lesson.cells:
        for text in (t.shown, t.source):
            by_text.setdefault((t.cell_type, _squeezed(text)), t)
    taken = {c.template.grade_id for c in cells if c.template is not None}
    for cell in cells:
        if cell.template is not None:
            continue
        match, by = by_id.get(cell.id), "cell id"
        if match is None or (match.cell_type != cell.cell_type and not match.grade_id):
            match, by = by_text.get((cell.cell_type, _squeezed(cell.source))), "text"
        if match is None or (match.grade_id and match.grade_id in taken):
            continue
        cell.template, cell.by = match, by
    taken |= {c.template.grade_id for c in cells if c.template is not None}
    for t in known.values():
        if t.provides and (t.grade_id not in taken or _untouched(t, cells)):
            _by_names(t, cells)
        elif t.solution and t.graded and t.cell_type == "markdown" and t.grade_id not in taken:
            _by_place(lesson, t, cells)


def _untouched(wanted: TemplateCell, cells: Iterable[_Cell]) -> bool:
    """Whether every cell that claims to be the answer is still the stub."""
    return all(_same(c.source, wanted.source) for c in cells if c.template is wanted)


def _by_names(wanted: TemplateCell, cells: Sequence[_Cell]) -> None:
    """The cells that define the most of what the solution cell must define."""
    asked = set(wanted.provides)
    best = max((len(asked & c.names) for c in cells if c.template is None), default=0)
    for cell in cells:
        if best and cell.template is None and len(asked & cell.names) == best:
            cell.template, cell.by = wanted, "names"


def _by_place(lesson: Template, wanted: TemplateCell, cells: Sequence[_Cell]) -> None:
    """An unrecognised text cell that stands where the text answer stood."""
    order = {id(t): i for i, t in enumerate(lesson.cells)}
    at = order[id(wanted)]
    places = [(i, order[id(c.template)]) for i, c in enumerate(cells) if c.template is not None]
    start = max((i for i, place in places if place < at), default=-1)
    end = min((i for i, place in places if place > at and i > start), default=len(cells))
    for cell in cells[start + 1 : end]:
        if cell.template is None and cell.cell_type == "markdown" and cell.source.strip():
            cell.template, cell.by = wanted, "place"
            return


def _report_unknown(lesson: Template, cells: Iterable[_Cell], found: _Found) -> None:
    for cell in cells:
        grade_id = cell.nbgrader.get("grade_id")
        if cell.template is None and isinstance(grade_id, str) and grade_id not in lesson.known:
            found.add("unknown_cell", grade_id)


def _one_of_each(lesson: Template, cells: list[_Cell], found: _Found) -> list[_Cell]:
    """Where several cells claim one cell of the lesson, choose the one that counts.

    Of a solution, the last copy that differs from the stub counts: it is the one whose names
    stand when the notebook has run from top to bottom. Earlier copies stay as plain cells;
    untouched copies of the stub are not run, as they would take the answer's name. Of a locked
    cell the first stays.
    """
    claims: dict[str, list[_Cell]] = {}
    for cell in cells:
        if cell.template is not None and cell.template.grade_id:
            claims.setdefault(cell.template.grade_id, []).append(cell)
    dropped: set[int] = set()
    for grade_id, copies in claims.items():
        if len(copies) == 1:
            continue
        wanted = lesson.known[grade_id]
        if wanted.solution:
            edited = [c for c in copies if not _same(c.source, wanted.source)]
            named = [c for c in edited if not wanted.provides or set(wanted.provides) & c.names]
            chosen = (named or edited or copies[:1])[-1]
        else:
            chosen = copies[0]
        for cell in copies:
            if cell is chosen:
                continue
            cell.template = None
            if _same(cell.source, wanted.source) or _same(cell.source, wanted.shown):
                dropped.add(id(cell))
        if any(cell.by != "names" for cell in copies):
            found.said.append(_duplicate(grade_id, wanted, len(copies), copies.index(chosen)))
    return [cell for cell in cells if id(cell) not in dropped]


def _duplicate(grade_id: str, wanted: TemplateCell, count: int, chosen: int) -> Problem:
    which = f"number {chosen + 1} from the top" if wanted.solution else "the first"
    why = ", the last one that was worked on" if wanted.solution else ""
    return Problem("duplicate_cell", f"{count} cells say they are {grade_id}; {which} counts{why}.")


def _restore(cell: _Cell, found: _Found) -> None:
    """Give a recognised cell its metadata, its type and, when it is locked, its text."""
    wanted = cell.template
    assert wanted is not None
    said = cell.nbgrader
    if not said:
        found.add("metadata_lost", wanted.grade_id)
    else:
        if "points" in wanted.metadata and not _equal_points(said, wanted.metadata):
            found.add("points_changed", wanted.grade_id)
        flags = ("grade_id", "grade", "solution", "locked", "task")
        if any(bool(said.get(f)) != bool(wanted.metadata.get(f)) for f in flags):
            found.add("metadata_changed", wanted.grade_id)
    if cell.cell_type != wanted.cell_type:
        found.add("cell_type_changed", wanted.grade_id)
        cell.cell_type = wanted.cell_type
    if wanted.locked:
        told = wanted.cell_type == "code" or wanted.graded
        if told and not (_same(cell.source, wanted.shown) or _same(cell.source, wanted.source)):
            found.add("locked_cell_edited", wanted.grade_id)
        cell.source = wanted.source


def _equal_points(said: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    try:
        return float(said.get("points", -1)) == float(wanted["points"])
    except (TypeError, ValueError):
        return False


def _put_back(lesson: Template, cells: list[_Cell], found: _Found) -> None:
    """Insert the cells that are missing, each behind what precedes it in the lesson.

    Not put back: locked text (nothing runs in it), and a stub whose names other cells define.
    """
    present = {c.template.grade_id for c in cells if c.template is not None}
    defined = frozenset().union(*(c.names for c in cells))
    for index, wanted in enumerate(lesson.cells):
        if not wanted.grade_id or wanted.grade_id in present:
            continue
        if wanted.locked and wanted.cell_type != "code" and not wanted.graded:
            continue
        if wanted.provides and set(wanted.provides) & defined:
            continue
        before = {id(t) for t in lesson.cells[:index]}
        at = max((i for i, c in enumerate(cells) if id(c.template) in before), default=-1)
        cells.insert(
            at + 1,
            _Cell(wanted.id, wanted.cell_type, wanted.source, {}, template=wanted, inserted=True),
        )
        found.add("cell_restored", wanted.grade_id)


def _tests_after_answers(lesson: Template, cells: list[_Cell], found: _Found) -> None:
    """A check or test that stands before its answer would meet a name that is not there yet."""
    for grade_id in lesson.known:
        place = {c.template.grade_id: i for i, c in enumerate(cells) if c.template is not None}
        answer = place.get(grade_id)
        if answer is None or not lesson.known[grade_id].provides:
            continue
        for follower in (f"test_{grade_id}", f"check_{grade_id}"):
            at = {c.template.grade_id: i for i, c in enumerate(cells) if c.template is not None}
            if follower in at and at[follower] < at[grade_id]:
                moved = cells.pop(at[follower])
                cells.insert(at[grade_id], moved)
                found.add("cell_moved", follower)


_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


def _give_ids(lesson: Template, cells: Iterable[_Cell]) -> bool:
    """Give every cell an id of its own, derived from what it is; whether one was wanting."""
    wanting, seen = False, set()
    for index, cell in enumerate(cells):
        if cell.template is not None and cell.template.grade_id:
            wanting |= not cell.id
            cell.id = cell.template.id
        if not _ID.match(cell.id) or cell.id in seen:
            wanting = True
            text = f"{lesson.lesson} {index} {cell.source}"
            cell.id = hashlib.sha256(text.encode()).hexdigest()[:16]
        seen.add(cell.id)
    return wanting


def _kernel_name(notebook: Mapping[str, Any]) -> str:
    metadata = notebook.get("metadata")
    spec = metadata.get("kernelspec") if isinstance(metadata, Mapping) else None
    name = spec.get("name") if isinstance(spec, Mapping) else None
    return name if isinstance(name, str) else ""


def _written(lesson: Template, cells: Iterable[_Cell]) -> dict[str, Any]:
    made = []
    for cell in cells:
        metadata: dict[str, Any] = {}
        if cell.template is not None and cell.template.grade_id:
            metadata["nbgrader"] = copy.deepcopy(cell.template.metadata)
            metadata["deletable"] = False
            if cell.template.locked:
                metadata["editable"] = False
        entry: dict[str, Any] = {
            "cell_type": cell.cell_type,
            "id": cell.id,
            "metadata": metadata,
            "source": cell.source,
        }
        if cell.cell_type == "code":
            entry |= {"execution_count": None, "outputs": []}
        made.append(entry)
    return {
        "cells": made,
        "metadata": {
            "kernelspec": dict(lesson.kernelspec),
            "language_info": {"name": "python"},
            "mjcourse": {"lesson": lesson.lesson},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _not_this_lesson(lesson: Template, named: str, cells: Sequence[_Cell]) -> NotThisLesson:
    """Say what was handed in instead."""
    if named:
        return NotThisLesson(
            "other_lesson", f"This is the notebook of {named!r}, not of {lesson.lesson!r}."
        )
    if not any(c.source.strip() for c in cells):
        return NotThisLesson("empty", "The notebook holds no text at all.")
    return NotThisLesson(
        "unrecognised", f"None of its {len(cells)} cells belongs to {lesson.lesson!r}."
    )


def _listed(names: Sequence[str], limit: int = 6) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
