"""The student's hand in JupyterLab: answer a question by keyboard, write an answer, hand it in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import nbformat
import nbformat.v4 as v4
import pytest

from tests.browser.jupyterlab import Notebook, Server

pytestmark = pytest.mark.xdist_group("browser")

SETUP = """\
import mjcourse
from mjcourse import ask, progress, submit, visible_check

mjcourse.begin("rotations", version=mjcourse.__version__, exercises={"double": ("double",)})"""
QUESTION = """\
ask(
    "Is $2 x$ twice `x`?",
    {"Never": "It is: add $x$ to itself.", "Always": "Yes, for every number."},
    right="Always",
)"""
CHECK = """\
@visible_check("double")
def check_double(check):
    check.close("double vs +", double(1.5), 3.0)"""
SETUP_AT, QUESTION_AT, ANSWER_AT, CHECK_AT, PROGRESS_AT, SUBMIT_AT = 0, 1, 3, 4, 6, 7


def code(source: str, id: str) -> Any:
    cell = v4.new_code_cell(source, id=id)
    cell.metadata["nbgrader"] = {"grade_id": id}
    return cell


@pytest.fixture
def lesson(page: Any, jupyterlab: Server) -> Iterator[Notebook]:
    """A small lesson, open and run from top to bottom, in a folder of its own."""
    folder = jupyterlab.root / "homework"
    folder.mkdir(exist_ok=True)
    cells = [
        code(SETUP, "setup"),
        code(QUESTION, "question"),
        v4.new_markdown_cell("### `double`: twice a number", id="heading"),
        code("def double(x):\n    raise NotImplementedError", "double"),
        code(CHECK, "check_double"),
        code("# Looks at numbers.", "test_double"),
        code("progress()", "progress"),
        code("submit()", "submit"),
    ]
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    metadata["mjcourse"] = {"lesson": "rotations"}
    path = folder / "rotations.ipynb"
    nbformat.write(v4.new_notebook(cells=cells, metadata=metadata), path)
    for copy in folder.glob("rotations--*"):
        copy.unlink()
    notebook = Notebook(page, jupyterlab, "homework/rotations.ipynb")
    notebook.run_all()
    yield notebook
    notebook.close()


def output(lesson: Notebook, index: int) -> Any:
    return lesson.cell(index).locator(".jp-OutputArea")


def test_a_question_is_answered_by_keyboard_and_explains_every_option(lesson, page):
    shown = output(lesson, QUESTION_AT)
    shown.get_by_text("Predict first").wait_for()
    assert shown.get_by_text("for every number").count() == 0
    first = shown.locator("button").first
    first.focus()
    page.keyboard.press("Enter")
    shown.get_by_text("You answered A; B is right.").wait_for()
    shown.get_by_text("for every number").wait_for()
    shown.get_by_text("to itself").wait_for()
    assert first.is_disabled()


def test_unsaved_work_is_not_handed_in_and_saved_work_is(lesson, page, jupyterlab):
    folder = jupyterlab.root / "homework"
    output(lesson, CHECK_AT).get_by_text("double is not written yet").wait_for()
    output(lesson, PROGRESS_AT).get_by_text("untouched").wait_for()
    output(lesson, SUBMIT_AT).get_by_text("no exercise is answered yet").wait_for()

    lesson.cell(ANSWER_AT).locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("double = lambda x: 2 * x")
    for index in (ANSWER_AT, CHECK_AT, PROGRESS_AT, SUBMIT_AT):
        lesson.run_cell(index)
    output(lesson, PROGRESS_AT).get_by_text("answered, check passed").wait_for()
    output(lesson, SUBMIT_AT).get_by_text("does not hold what you ran (double)").wait_for()
    assert list(folder.glob("rotations--*.ipynb")) == []

    page.keyboard.press("Control+s")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = (folder / "rotations.ipynb").read_bytes()
    lesson.run_cell(SUBMIT_AT)
    output(lesson, SUBMIT_AT).get_by_text("nothing is amiss").wait_for()
    (copy,) = folder.glob("rotations--*.ipynb")
    assert copy.read_bytes() == saved
    assert b"2 * x" in saved
