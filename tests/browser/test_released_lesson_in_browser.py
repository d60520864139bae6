"""What a student opens: the released lesson in JupyterLab, run to its end, its labs alive."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.jupyterlab import Notebook, Server

RELEASE = Path(__file__).parents[2] / "release"
LESSON = "generalized_coordinates"


@pytest.fixture(scope="module")
def lesson(browser: Any, jupyterlab: Server) -> Iterator[Notebook]:
    """The released lesson, all cells run."""
    shutil.copy(RELEASE / LESSON / f"{LESSON}.ipynb", jupyterlab.root / f"{LESSON}.ipynb")
    context = browser.new_context(viewport={"width": 1280, "height": 1100})
    page = context.new_page()
    page.set_default_timeout(20_000)
    notebook = Notebook(page, jupyterlab, f"{LESSON}.ipynb")
    notebook.run_all(300)
    yield notebook
    notebook.close()
    context.close()


def lab_called(lesson: Notebook, title: str) -> Any:
    """The lab with this title."""
    heading = lesson.page.get_by_role("heading", name=title, exact=True)
    return lesson.page.locator(".mjl").filter(has=heading)


def test_an_untouched_lesson_runs_to_its_end_without_a_traceback(lesson):
    prompts = lesson.page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts()
    assert prompts
    assert all(prompt.strip() not in ("[ ]:", "[*]:") for prompt in prompts)
    assert lesson.page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
    assert lesson.page.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0


def test_every_lab_of_the_lesson_shows_a_picture_and_no_trouble(lesson):
    labs = lesson.page.locator(".mjl")
    assert labs.count() >= 2
    for index in range(labs.count()):
        lab = labs.nth(index)
        lab.scroll_into_view_if_needed()
        lesson.page.wait_for_function(
            "index => document.querySelectorAll('.mjl')[index].querySelector('img').naturalWidth",
            arg=index,
        )
        assert lab.locator(".mjl-trouble").inner_text() == ""
        assert lab.locator(".mjl-note").count() >= 1


def test_the_first_lab_spins_its_box_while_it_plays(lesson):
    lab = lab_called(lesson, "One joint of each type")
    lab.scroll_into_view_if_needed()
    figures = lab.locator(".mjl-readouts")
    if lab.get_by_role("button", name="Pause").count():
        lab.get_by_role("button", name="Pause").click()
        lab.get_by_role("button", name="Play").wait_for()
    before = figures.inner_text()
    lab.get_by_role("button", name="Spin the box").click()
    lab.get_by_role("button", name="Play").click()
    lesson.page.wait_for_timeout(1200)
    lab.get_by_role("button", name="Pause").click()
    lab.get_by_role("button", name="Play").wait_for()
    assert figures.inner_text() != before
    assert "1.000000000000" in figures.inner_text()  # the length of its quaternion


def test_the_second_lab_follows_its_slider_and_says_what_stands_in_for_the_student(lesson):
    lab = lab_called(lesson, "Adding a velocity to a quaternion")
    lab.scroll_into_view_if_needed()
    if lab.get_by_role("button", name="Play").count():
        lab.get_by_role("button", name="Play").click()
    lab.get_by_text("integrate_quat is not written yet").wait_for()  # known once it is called
    lab.get_by_role("button", name="Pause").click()
    handle = lab.locator(".widget-slider", has_text="step").locator("[role=slider]").first
    value = handle.get_attribute("aria-valuenow")
    handle.focus()
    lesson.page.keyboard.press("ArrowRight")
    lesson.page.wait_for_function(
        "([handle, value]) => handle.getAttribute('aria-valuenow') !== value",
        arg=[handle.element_handle(), value],
    )
    assert lab.locator(".mjl-trouble").inner_text() == ""
