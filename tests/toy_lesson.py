"""A lesson of three small exercises, for tests of everything around the exercises."""

from __future__ import annotations

import copy
import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import nbformat

from course.exercises import Exercise, Lesson, answer, call
from course.release.build import HIDDEN_CALL, _finished
from course.template import Template, from_source

LESSON = "toy"


def _double() -> Exercise:
    exercise = Exercise("double", points=3, provides=("double",))

    @exercise.reference
    def reference():
        return {"double": lambda x: 2 * x}

    @exercise.part("small numbers", points=2)
    def small():
        return [call("double", x) for x in (1.0, 2.5, 3.0)]

    @exercise.part("negative numbers", points=1)
    def negative():
        return [call("double", x) for x in (-1.0, -4.5)]

    @exercise.misconception("You squared it; doubling is adding it to itself.")
    def squares():
        def double(x):
            return x * x

    return exercise


def _triple() -> Exercise:
    exercise = Exercise("triple", points=1, provides=("triple",), manual_points=2)

    @exercise.reference
    def reference():
        return {"triple": lambda x: 3 * x}

    @exercise.part("numbers", points=1)
    def numbers():
        return [call("triple", x) for x in (1.0, -2.0)]

    return exercise


def _typed() -> Exercise:
    exercise = Exercise("six_nines", points=1, provides=("product",))

    @exercise.reference
    def reference():
        return {"product": 54}

    @exercise.part("the product", points=1)
    def product():
        return [answer("product")]

    return exercise


def lesson() -> Lesson:
    exercises = (_double(), _triple(), _typed())
    return Lesson(LESSON, "A toy", 5, "nothing", ("double",), exercises)


SOLUTIONS = {
    "double": "def double(x):\n    return x + x\n",
    "triple": "def triple(x):\n    return x + x + x\n",
    "six_nines": "product = 54\n",
}


def _cell(kind: str, source: str, **data: Any) -> Any:
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    made = make(source)
    if data:
        made.metadata["nbgrader"] = {"schema_version": 3, "task": False, "grade": False, **data}
    return made


def source() -> Any:
    """The source notebook, as `course.release.build.source_notebook` gives it."""
    locked = {"solution": False, "locked": True}
    notebook = nbformat.v4.new_notebook()
    cells = notebook.cells
    cells.append(_cell("markdown", "# A toy", grade_id="header_title", **locked))
    setup = "import numpy as np\n# mjcourse.begin(\n#    'toy')"
    cells.append(_cell("code", setup, grade_id="header_setup", **locked))
    for exercise in lesson().exercises:
        id, text = exercise.id, SOLUTIONS[exercise.id]
        cells.append(_cell("markdown", f"## Exercise {id}\n\nWrite it."))
        head, _, body = text.partition("\n")
        if body:
            text = f"{head}\n    ### BEGIN SOLUTION\n{body}    ### END SOLUTION"
        else:
            text = f"product = None\n### BEGIN SOLUTION\n{head}\n### END SOLUTION"
        cells.append(_cell("code", text, grade_id=id, solution=True, locked=False))
        cells.append(_cell("code", f"print('checking {id}')", grade_id=f"check_{id}", **locked))
        test = f"# The hidden tests of {id}." + HIDDEN_CALL.format(lesson=LESSON, exercise=id)
        data = {**locked, "grade": True, "points": exercise.points}
        cells.append(_cell("code", test, grade_id=f"test_{id}", **data))
        if exercise.manual_points:
            text = "Why?\n\n### BEGIN SOLUTION\nBecause.\n### END SOLUTION"
            data = {"grade": True, "solution": True, "locked": False}
            data["points"] = exercise.manual_points
            cells.append(_cell("markdown", text, grade_id=f"{id}_explain", **data))
    cells.append(_cell("markdown", "## Takeaways\n\nNone."))
    return _finished(notebook, LESSON)


def toy_template() -> Template:
    return from_source(source(), lesson())


def release() -> dict[str, Any]:
    """What a student opens: plain dicts, as JSON gives them."""
    made = copy.deepcopy(source())
    shape = toy_template()
    for cell, wanted in zip(made.cells, shape.cells, strict=True):
        cell.source = wanted.shown
        if wanted.metadata:
            cell.metadata["nbgrader"] = dict(wanted.metadata)
    return json.loads(json.dumps(made))


def solved(**instead: str) -> dict[str, Any]:
    """A release with every exercise answered; `instead` replaces the text of some answers."""
    made = release()
    for cell in made["cells"]:
        id = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if id in SOLUTIONS:
            cell["source"] = instead.get(id, SOLUTIONS[id])
        elif id == "triple_explain":
            cell["source"] = instead.get(id, "Why?\n\nBecause addition is repeated.")
    return made


def find(notebook: dict[str, Any], grade_id: str) -> dict[str, Any]:
    """The one cell of that grade id."""
    found = [
        c
        for c in notebook["cells"]
        if c["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    ]
    assert len(found) == 1, f"{len(found)} cells are {grade_id}"
    return found[0]


def hand_in(root: Path, student: str, notebook: Any, name: str = f"{LESSON}.ipynb") -> Path:
    """Write a submission; `notebook` is a dict, text or bytes."""
    path = root / "submitted" / student / LESSON / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(notebook, dict):
        notebook = json.dumps(notebook)
    path.write_bytes(notebook.encode() if isinstance(notebook, str) else notebook)
    return path


def use(monkeypatch: Any) -> None:
    """Let the course know the toy lesson, and grade it in one process after the other."""
    shape = toy_template()
    modules = ("intake", "repair", "classwork", "feedback", "report", "nbgrader_steps", "template")
    for module in modules:
        name = f"course.{module}.template"
        monkeypatch.setattr(name, lambda _id: shape, raising=False)
    import course.feedback

    monkeypatch.setattr(course.feedback, "find_lesson", lambda _id: lesson())
    monkeypatch.setattr("course.classwork._pool", lambda _: nullcontext(_one_by_one))


def _one_by_one(jobs: Any) -> Any:
    from course.grading.executor import grade_notebook

    tests = {c.grade_id: c.source for c in toy_template().known.values() if c.graded}
    for key, notebook, _lesson in jobs:
        yield key, grade_notebook(notebook, lesson(), tests=tests)
