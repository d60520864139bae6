"""Write an instructor's edit of `source/L/L.ipynb` back into the truth."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.exercises import Lesson
from course.exercises import lesson as find_lesson
from course.files import write_whole
from course.paths import source_path, truth_path
from course.release.build import HIDDEN_CALL, Built, nbgrader_metadata, notebook_text
from course.release.build import source_notebook as build_source
from course.release.truth import BadTruth, TruthCell, write_truth


def truth_cells(notebook: NotebookNode, lesson: Lesson) -> list[TruthCell]:
    """The cells of an edited source notebook as the truth writes them; the header is left out.

    Raises:
      BadTruth: nbgrader metadata that no role of ours gives, such as changed points.
    """
    cells = []
    for cell in notebook.cells:
        if cell.metadata.get("mjcourse") == "header" or not cell.source.strip():
            continue
        data = cell.metadata.get("nbgrader")
        if not data:
            cells.append(TruthCell(cell.cell_type, cell.source))
            continue
        grade_id = str(data.get("grade_id", ""))
        if data.get("grade") and data.get("solution"):
            role, exercise = "explain", grade_id.removesuffix("_explain")
        elif data.get("grade"):
            role, exercise = "test", grade_id.removeprefix("test_")
        elif data.get("solution"):
            role, exercise = "solution", grade_id
        else:
            role, exercise = "check", grade_id.removeprefix("check_")
        source = cell.source
        if role == "test":
            source = source.removesuffix(HIDDEN_CALL.format(lesson=lesson.id, exercise=exercise))
        made = TruthCell(cell.cell_type, source, role, exercise)
        asked = nbgrader_metadata(made, lesson)
        different = sorted(k for k in asked if data.get(k) != asked[k])
        if different:
            raise BadTruth(
                f"cell {grade_id!r}: {', '.join(different)} changed in the notebook; points and "
                f"ids are stated in course/exercises/{lesson.id}/{exercise}.py"
            )
        cells.append(made)
    return cells


def adopt(lesson_id: str) -> list[Built]:
    """Write the edit of `source/L/L.ipynb` into `source/L/L.py`, then rebuild the notebook.

    Raises:
      BadTruth: the edit cannot be said in the truth; both files are left as they are.
      FileNotFoundError: there is no source notebook yet.
    """
    path, truth = source_path(lesson_id), truth_path(lesson_id)
    notebook = nbformat.read(path, as_version=4)
    text = write_truth(truth_cells(notebook, find_lesson(lesson_id)))
    before = truth.read_text() if truth.is_file() else None
    changed = write_whole(truth, text)
    try:
        rebuilt = build_source(lesson_id)
    except BadTruth:
        if before is not None:
            write_whole(truth, before)
        raise
    return [Built(truth, changed), Built(path, _write(path, rebuilt))]


def _write(path: Path, notebook: NotebookNode) -> bool:
    return write_whole(path, notebook_text(notebook))
