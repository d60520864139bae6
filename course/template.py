"""A lesson as grading expects it back: which cells there are, and what each must say.

Made from the source notebook with nbgrader's own preprocessors, in the state in which
`generate_assignment` saves cells to the gradebook: stubs in place of solutions, hidden tests
still there.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass
from typing import Any

from course.exercises import Lesson


@dataclass(frozen=True)
class TemplateCell:
    """One cell of a lesson.

    Attributes:
      grade_id: empty for cells that nbgrader does not know.
      source: for a locked cell the whole text, hidden tests included; for a solution its stub.
      shown: the text as the release shows it.
      metadata: nbgrader's metadata, checksum included; empty for cells it does not know.
      provides: names that a solution cell defines.
    """

    id: str
    cell_type: str
    source: str
    shown: str
    grade_id: str
    metadata: dict[str, Any]
    provides: tuple[str, ...] = ()

    @property
    def solution(self) -> bool:
        return bool(self.metadata.get("solution"))

    @property
    def graded(self) -> bool:
        return bool(self.metadata.get("grade"))

    @property
    def locked(self) -> bool:
        return bool(self.metadata) and not self.solution and bool(self.metadata.get("locked"))


@dataclass(frozen=True)
class Template:
    """All cells of a lesson, in order, and its kernel."""

    lesson: str
    cells: tuple[TemplateCell, ...]
    kernelspec: dict[str, Any]

    @functools.cached_property
    def known(self) -> dict[str, TemplateCell]:
        """The cells that nbgrader knows, by grade id, in the order of the lesson."""
        return {cell.grade_id: cell for cell in self.cells if cell.grade_id}


@functools.cache
def template(lesson_id: str) -> Template:
    """The template of a lesson; worked out once in a process.

    Raises:
      KeyError: no lesson has that id.
      BadTruth: its truth cannot be built.
    """
    from course.quick import nbformat

    nbformat()  # quickly, before the builder imports it
    from course.exercises import lesson as find_lesson
    from course.release.build import source_notebook

    return from_source(source_notebook(lesson_id), find_lesson(lesson_id))


def from_source(notebook: Any, lesson: Lesson) -> Template:
    """The template of a lesson from its source notebook (a `NotebookNode`)."""
    from nbgrader.preprocessors import ClearHiddenTests, ComputeChecksums, LockCells

    from course.release.stubs import StubbedSolutions

    made = copy.deepcopy(notebook)
    resources: dict[str, Any] = {}
    for step in (LockCells(), StubbedSolutions(), ComputeChecksums()):
        made, resources = step.preprocess(made, resources)
    shown, _ = ClearHiddenTests().preprocess(copy.deepcopy(made), {})
    provides = {exercise.id: exercise.provides for exercise in lesson.exercises}
    cells = []
    for cell, visible in zip(made.cells, shown.cells, strict=True):
        data = dict(cell.metadata.get("nbgrader", {}))
        grade_id = str(data.get("grade_id", ""))
        cells.append(
            TemplateCell(
                id=cell.get("id", ""),
                cell_type=cell.cell_type,
                source=cell.source,
                shown=visible.source,
                grade_id=grade_id,
                metadata=data,
                provides=provides.get(grade_id, ()),
            )
        )
    return Template(lesson.id, tuple(cells), dict(notebook.metadata.get("kernelspec", {})))
