"""Build the source notebook of a lesson from its truth, and the release from that.

Everything is derived: cell ids from the cells' text, points from `course.exercises`, the header
from the lesson's data. The same truth gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from tqdm import tqdm

from course.exercises import LESSONS, Lesson
from course.exercises import lesson as find_lesson
from course.files import write_whole
from course.paths import release_path, source_path, truth_path
from course.release.truth import BadTruth, TruthCell, read_truth

HIDDEN_CALL = """
### BEGIN HIDDEN TESTS
from course.grading import grade

grade({lesson!r}, {exercise!r})
### END HIDDEN TESTS"""

KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
# What a cell of ours may carry; anything else is dropped.
CELL_METADATA = ("nbgrader", "mjcourse", "tags", "deletable", "editable")

# How a cell starts that is shown folded.
FOLDED = ("ask(", "# Folded:")


class EditedByHand(RuntimeError):
    """`source/L/L.ipynb` holds edits that the truth does not."""


@dataclass(frozen=True)
class Built:
    """A file that a release looked at, and whether its bytes changed."""

    path: Path
    changed: bool


def nbgrader_metadata(cell: TruthCell, lesson: Lesson) -> dict[str, Any]:
    """nbgrader's metadata (schema 3) of a cell that plays a role.

    Raises:
      BadTruth: the lesson has no exercise of that id.
    """
    try:
        exercise = lesson.exercise(cell.exercise)
    except KeyError as unknown:
        raise BadTruth(f"{cell.role}={cell.exercise!r}: {unknown.args[0]}") from None
    data: dict[str, Any] = {"schema_version": 3, "task": False}
    if cell.role == "solution":
        data |= {"grade_id": exercise.id, "grade": False, "solution": True, "locked": False}
    elif cell.role == "check":
        data |= {"grade_id": f"check_{exercise.id}", "grade": False, "solution": False}
        data |= {"locked": True}
    elif cell.role == "test":
        data |= {"grade_id": f"test_{exercise.id}", "grade": True, "solution": False}
        data |= {"locked": True, "points": exercise.points}
    else:
        data |= {"grade_id": f"{exercise.id}_explain", "grade": True, "solution": True}
        data |= {"locked": False, "points": exercise.manual_points}
    return data


def source_notebook(lesson_id: str) -> NotebookNode:
    """The instructor's notebook of a lesson, as its truth says.

    Raises:
      BadTruth: the truth cannot be read, or its cells and `course.exercises` disagree.
    """
    return assemble(find_lesson(lesson_id), truth_path(lesson_id).read_text())


def assemble(lesson: Lesson, truth: str) -> NotebookNode:
    """The instructor's notebook of `lesson` from the text of its truth.

    Raises:
      BadTruth: the truth cannot be read, or its cells and the lesson's exercises disagree.
    """
    from course.release.header import header_cells

    cells = read_truth(truth)
    _check_complete(cells, lesson)
    notebook = nbformat.v4.new_notebook()
    notebook.cells = list(header_cells(lesson))
    for cell in cells:
        code = cell.kind == "code"
        source = cell.source
        if cell.role == "test":
            source += HIDDEN_CALL.format(lesson=lesson.id, exercise=cell.exercise)
        made = nbformat.v4.new_code_cell(source) if code else nbformat.v4.new_markdown_cell(source)
        if cell.role:
            made.metadata["nbgrader"] = nbgrader_metadata(cell, lesson)
        if cell.role == "test":
            made.metadata["deletable"] = made.metadata["editable"] = False
        notebook.cells.append(made)
    return _finished(notebook, lesson.id)


def _check_complete(cells: list[TruthCell], lesson: Lesson) -> None:
    """Every exercise has one solution and one test cell, in the order of the lesson."""
    for role in ("solution", "test"):
        found = [c.exercise for c in cells if c.role == role]
        asked = [e.id for e in lesson.exercises]
        if found != asked:
            raise BadTruth(f"{lesson.id}: {role} cells are {found}; the exercises are {asked}")
    explained = {c.exercise for c in cells if c.role == "explain"}
    manual = {e.id for e in lesson.exercises if e.manual_points}
    if explained != manual:
        raise BadTruth(f"{lesson.id}: text answers are {explained}; exercises say {manual}")


def _finished(notebook: NotebookNode, lesson_id: str) -> NotebookNode:
    """Derive ids, keep the metadata that is ours, and sign the content."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        kept = {k: v for k, v in cell.metadata.items() if k in CELL_METADATA}
        cell.metadata = NotebookNode(kept)
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        name = grade_id or f"{cell.cell_type} {cell.source}"
        count = seen[name] = seen.get(name, 0) + 1
        digest = hashlib.sha256(f"{lesson_id} {name} {count}".encode()).hexdigest()
        cell["id"] = grade_id.replace("_", "-")[:40] + ("-" if grade_id else "") + digest[:12]
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            if cell.source.startswith(FOLDED):
                # The text of a question gives its answer away, and that of a long lab stands in
                # the reader's way: JupyterLab and Colab fold it.
                cell.metadata["jupyter"] = {"source_hidden": True}
                cell.metadata["cellView"] = "form"
    notebook.metadata = NotebookNode(
        kernelspec=KERNEL, language_info=LANGUAGE, mjcourse={"lesson": lesson_id}
    )
    notebook.metadata["mjcourse"]["content"] = content_hash(notebook)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def content_hash(notebook: NotebookNode) -> str:
    """A digest of what a person may edit: the cells' kinds, texts and nbgrader metadata."""
    parts = [
        [c.cell_type, c.source, c.metadata.get("nbgrader"), c.metadata.get("mjcourse")]
        for c in notebook.cells
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def notebook_text(notebook: NotebookNode) -> str:
    """The bytes of a notebook: nbformat's layout, sorted keys, a newline at the end."""
    nbformat.validate(notebook)
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def edited_by_hand(path: Path) -> bool:
    """Whether the generated notebook at `path` no longer holds what the builder wrote."""
    if not path.is_file():
        return False
    notebook = nbformat.read(path, as_version=4)
    signed = notebook.metadata.get("mjcourse", {}).get("content")
    return signed != content_hash(notebook)


def release_notebook(source: NotebookNode, lesson_id: str) -> NotebookNode:
    """The student's notebook: nbgrader's own `generate_assignment` run on `source`."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    from course.release.stubs import StubbedSolutions

    with tempfile.TemporaryDirectory() as folder:
        write_whole(Path(folder, "source", lesson_id, f"{lesson_id}.ipynb"), notebook_text(source))
        config = Config()
        config.CourseDirectory.root = folder
        config.CourseDirectory.assignment_id = lesson_id
        config.GenerateAssignment.no_database = True
        config.SaveCells.enabled = False
        config.GenerateAssignment.preprocessors = [
            StubbedSolutions if p.__name__ == "ClearSolutions" else p
            for p in GenerateAssignment(config=config).preprocessors
            if p.__name__ != "SaveCells"
        ]
        converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        converter.log.setLevel("ERROR")
        converter.start()
        made = Path(folder, "release", lesson_id, f"{lesson_id}.ipynb")
        return _finished(nbformat.read(made, as_version=4), lesson_id)


def release_lessons(lessons: Iterable[str] = LESSONS, *, write: bool = True) -> list[Built]:
    """Regenerate `source/L/L.ipynb` and `release/L/L.ipynb` of each lesson.

    Without `write` nothing is touched; what comes back says which files have drifted.

    Raises:
      EditedByHand: a source notebook holds an edit that would be lost.
      BadTruth: a truth cannot be built.
    """
    built = []
    for lesson_id in tqdm(
        list(lessons), desc="release", unit="lesson", leave=False, disable=not sys.stderr.isatty()
    ):
        path = source_path(lesson_id)
        if edited_by_hand(path):
            raise EditedByHand(
                f"{path.name} of {lesson_id} was edited by hand; "
                f"`python -m course adopt {lesson_id}` writes the edit into the truth"
            )
        source = source_notebook(lesson_id)
        release = release_notebook(source, lesson_id)
        for target, notebook in ((path, source), (release_path(lesson_id), release)):
            text = notebook_text(notebook)
            changed = write_whole(target, text) if write else not _holds(target, text)
            built.append(Built(target, changed))
    return built


def _holds(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()
