"""The executor inside nbgrader, and what happens where it is not."""

from __future__ import annotations

import pytest
from nbformat import from_dict

from course.grading import NotTrusted, apart, grade
from course.grading.apart import SandboxMissing
from course.grading.preprocessors import ExecuteApart
from tests.grading import yard
from tests.grading.test_pool import EXERCISE, LESSON, submission

RESOURCES = {"nbgrader": {"assignment": LESSON, "notebook": LESSON, "student": "ada"}}


def scores(notebook) -> dict[str, float]:
    """What nbgrader's own `SaveAutoGrades` would enter."""
    from nbgrader.utils import determine_grade

    found = {}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            cell.metadata.nbgrader.update(points=3.0, solution=False)
            found[cell.metadata.nbgrader.grade_id] = determine_grade(cell)[0]
    return found


def test_it_grades_as_the_executor_does_and_keeps_why():
    graded, resources = ExecuteApart().preprocess(from_dict(submission(1)), RESOURCES)
    result = {r["exercise"]: r for r in graded.metadata.mjcourse["graded"]["results"]}[EXERCISE]
    assert scores(graded) == {f"test_{EXERCISE}": result["points"]}
    assert result["points"] < result["max_points"]
    assert result["misconceptions"]
    assert resources is RESOURCES


def test_its_time_limits_are_traits_of_the_configuration():
    from traitlets.config import Config

    config = Config()
    config.ExecuteApart.timeout = 0.5
    notebook = submission(0)
    notebook["cells"].insert(1, yard.cell("while True: pass"))
    graded, _ = ExecuteApart(config=config).preprocess(from_dict(notebook), RESOURCES)
    assert graded.cells[1].outputs[0].ename == "TimeLimit"
    assert scores(graded) == {f"test_{EXERCISE}": 3.0}


def test_it_refuses_where_submissions_cannot_be_confined(monkeypatch):
    monkeypatch.setattr(apart.sandbox, "probe", lambda: ["Landlock"])
    fresh = lambda trusted: apart.ForkServer(trust_submissions=trusted)  # noqa: E731
    monkeypatch.setattr("course.grading.executor.warm_server", fresh)
    with pytest.raises(SandboxMissing, match="Landlock is missing"):
        ExecuteApart().preprocess(from_dict(submission(0)), RESOURCES)


def test_a_test_in_the_students_kernel_refuses_to_score(monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.delenv("MJCOURSE_UNTRUSTED_GRADING", raising=False)
    with pytest.raises(NotTrusted, match="course grade"):
        grade(LESSON, EXERCISE)
