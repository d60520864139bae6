"""Look a notebook's file over before it is handed in: what is missing, copied, broken, failing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mjcourse.notebook_file import Cell, NotebookFile
from mjcourse.overview import Status

# What the release puts where an answer in words goes.
TEXT_STUB = "YOUR ANSWER HERE"
# Graders refuse larger files; only recorded videos make a notebook that large.
MAX_BYTES = 64 * 2**20
_FAILED = re.compile(r"not yet: |\bstops with |\bis not written yet|\bdoes not exist here")


@dataclass(frozen=True)
class Finding:
    """Something to know before handing in.

    Attributes:
      kind: `"unanswered"`, `"partly"`, `"broken"`, `"check"`, `"missing"`, `"copied"`, `"marks"`,
        `"large"`.
      text: what it is, in words.
      heading: under which heading to look; empty when that cannot be told.
    """

    kind: str
    exercise: str
    text: str
    heading: str = ""

    def __str__(self) -> str:
        return self.text + (f" (under “{self.heading}”)" if self.heading else "")


@dataclass(frozen=True)
class Lookover:
    """What a notebook holds: the answers seen, those not, and all findings."""

    answered: tuple[str, ...]
    unanswered: tuple[str, ...]
    findings: tuple[Finding, ...]


def look_over(
    notebook: NotebookFile,
    exercises: Mapping[str, Sequence[str]],
    texts: Sequence[str] = (),
    statuses: Iterable[Status] = (),
) -> Lookover:
    """Look over a notebook's file.

    Args:
      exercises: the names that each exercise's solution cell defines.
      texts: grade ids of answers in words.
      statuses: what the running kernel knows of the exercises (empty: nothing).
    """
    known = {status.exercise: status for status in statuses}
    findings: list[Finding] = []
    answered: list[str] = []
    unanswered: list[str] = []
    marked = any(cell.grade_id for cell in notebook.cells)
    if not marked:
        told = "the cells have lost their marks (Colab does that); graders find them by their names"
        findings.append(Finding("marks", "", told))
    if len(notebook.data) > MAX_BYTES:
        size = f"{len(notebook.data) / 2**20:.0f} MB, and {MAX_BYTES // 2**20} are accepted"
        told = f"the file has {size}: clear the outputs of recorded videos, save, hand in again"
        findings.append(Finding("large", "", told))
    for exercise, names in exercises.items():
        cells = _solution_cells(notebook.cells, exercise, names)
        heading = _heading(notebook.cells, exercise, cells)
        found = list(_about(exercise, names, cells, heading, known.get(exercise)))
        findings += found
        done = bool(cells) and not {"unanswered", "partly"} & {f.kind for f in found}
        (answered if done else unanswered).append(exercise)
        if marked:
            findings += _about_locked_cells(notebook.cells, exercise, heading)
        if done:
            findings += _about_check(notebook.cells, exercise, heading, known.get(exercise))
    for text in texts:
        cells = [cell for cell in notebook.cells if cell.grade_id == text]
        written = [c for c in cells if c.source.strip() and TEXT_STUB not in c.source]
        if written or not marked:
            answered.append(text)
            continue
        unanswered.append(text)
        heading = cells[0].heading if cells else ""
        missing = "is not written yet" if cells else "has no cell left"
        findings.append(Finding("unanswered", text, f"{text} {missing}", heading))
    return Lookover(tuple(answered), tuple(unanswered), tuple(findings))


def defined(source: str) -> dict[str, bool]:
    """The names that a cell's text defines, each with whether it is more than a stub.

    Raises:
      SyntaxError: the text is not Python (lines of IPython's own, `%` and `!`, are left out).
    """
    plain = re.sub(r"^(\s*)[%!].*$", r"\1pass", source, flags=re.MULTILINE)
    names: dict[str, bool] = {}
    for statement in ast.parse(plain).body:
        names.update(_defines(statement))
    return names


def _defines(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        yield statement.name, not _is_stub(statement)
    elif isinstance(statement, ast.ClassDef):
        methods = (n for n in ast.walk(statement) if isinstance(n, ast.FunctionDef))
        yield statement.name, not any(map(_is_stub, methods))
    elif isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        value = statement.value
        filled = value is not None and not (
            isinstance(value, ast.Constant) and value.value in (None, Ellipsis)
        )
        for target in targets:
            for node in ast.walk(target):
                if isinstance(node, ast.Name):
                    yield node.id, filled
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        for alias in statement.names:
            yield alias.asname or alias.name.partition(".")[0], True
    elif isinstance(statement, ast.If | ast.Try | ast.With | ast.For | ast.While):
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                yield from _defines(child)


def _is_stub(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether the body reaches `raise NotImplementedError` before any plain `return`."""
    for statement in function.body:
        if isinstance(statement, ast.Return):
            return False
        if isinstance(statement, ast.Raise):
            return statement.exc is not None and "NotImplemented" in ast.unparse(statement.exc)
    return False


def _solution_cells(cells: Iterable[Cell], exercise: str, names: Sequence[str]) -> list[Cell]:
    """The cells of an exercise: by their mark, else by the names they define."""
    cells = [cell for cell in cells if cell.kind == "code"]
    marked = [cell for cell in cells if cell.grade_id == exercise]
    if marked:
        return marked
    return [cell for cell in cells if not cell.grade_id and set(names) & set(_names(cell.source))]


def _names(source: str) -> dict[str, bool]:
    try:
        return defined(source)
    except SyntaxError:
        # A cell that cannot be parsed still shows what it meant to define.
        heads = re.findall(r"^(?:def|class)\s+(\w+)|^(\w+)\s*=", source, re.MULTILINE)
        return {a or b: True for a, b in heads}


def _heading(cells: Sequence[Cell], exercise: str, solution: Sequence[Cell]) -> str:
    if solution:
        return solution[0].heading
    return next((c.heading for c in cells if f"`{exercise}`" in c.heading), "")


def _about(
    exercise: str,
    names: Sequence[str],
    cells: Sequence[Cell],
    heading: str,
    status: Status | None,
) -> Iterator[Finding]:
    """What is to be said of the solution cells of one exercise."""
    if not cells:
        told = f"{exercise} has no cell left: copy it from a fresh notebook of the lesson"
        yield Finding("missing", exercise, told, heading)
        return
    if len(cells) > 1:
        places = {cell.heading for cell in cells}
        where = (
            f" (under {' and '.join(f'“{p}”' for p in sorted(places))})" if len(places) > 1 else ""
        )
        told = f"{exercise} has {len(cells)} cells{where}: keep the one that is your answer"
        yield Finding("copied", exercise, told, heading if len(places) == 1 else "")
    held: dict[str, bool] = {}
    for cell in cells:
        try:
            held.update(defined(cell.source))
        except SyntaxError as error:
            held.update(_names(cell.source))
            line = f"line {error.lineno}: {error.msg}"
            yield Finding("broken", exercise, f"{exercise} is not valid Python, {line}", heading)
    live = set(status.written) if status else set()
    done = [name for name in names if held.get(name, name in live)]
    if not done:
        yield Finding("unanswered", exercise, f"{exercise} is not answered", heading)
    elif len(done) < len(names):
        rest = ", ".join(name for name in names if name not in done)
        told = f"{exercise} is answered in part; to do: {rest}"
        yield Finding("partly", exercise, told, heading)


def _about_locked_cells(cells: Sequence[Cell], exercise: str, heading: str) -> Iterator[Finding]:
    count = sum(cell.grade_id == f"test_{exercise}" for cell in cells)
    if count == 0:
        told = f"the test cell of {exercise} is gone; the graders put it back"
        yield Finding("missing", exercise, told, heading)
    elif count > 1:
        told = f"the test cell of {exercise} is there {count} times; it counts once"
        yield Finding("copied", exercise, told, heading)


def _about_check(
    cells: Sequence[Cell], exercise: str, heading: str, status: Status | None
) -> Iterator[Finding]:
    """What the visible check says: in the running kernel, else in the saved output."""
    if status is not None and status.checked is not None:
        if not status.checked:
            told = f"the check of {exercise} fails: {status.trouble}"
            yield Finding("check", exercise, told, heading)
        return
    mark = f"check_{exercise}"
    saved = [c for c in cells if c.grade_id == mark or f'visible_check("{exercise}")' in c.source]
    if not saved:
        return
    printed = saved[0].printed
    if not printed.strip():
        yield Finding(
            "check", exercise, f"run the check of {exercise}: it has not run yet", heading
        )
    elif _FAILED.search(printed):
        told = f"run the check of {exercise} again: it failed when it last ran"
        yield Finding("check", exercise, told, heading)


def stale(cells: Iterable[Cell], history: Sequence[str], names: Iterable[str]) -> list[str]:
    """The names whose last executed definition is in no cell of the file: it was not saved.

    Args:
      history: the texts of all executed cells, oldest first.
    """
    texts = {_squeezed(cell.source) for cell in cells if cell.kind == "code"}
    wanted, old = set(names), []
    for text in reversed(history):
        hit = wanted & set(_names(text))
        wanted -= hit
        if hit and _squeezed(text) not in texts:
            old += sorted(hit)
        if not wanted:
            break
    return sorted(old)


def _squeezed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def history_of(shell: Any) -> list[str]:
    """The texts of the cells that a running IPython has executed; empty without one."""
    manager = getattr(shell, "history_manager", None)
    return [str(text) for text in getattr(manager, "input_hist_raw", [])]
