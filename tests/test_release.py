"""The way from the percent truth to a release, and from an edited notebook back to the truth."""

from __future__ import annotations

import json
import subprocess
import sys

import nbformat
import pytest

from course.exercises import LESSONS, Exercise, Lesson
from course.paths import CHECKOUT, release_path, truth_path
from course.release.adopt import truth_cells
from course.release.build import (
    assemble,
    content_hash,
    edited_by_hand,
    notebook_text,
    release_lessons,
    release_notebook,
    source_notebook,
)
from course.release.stubs import StubbedSolutions
from course.release.truth import BadTruth, read_truth, write_truth

TRUTH = '''\
# %% [markdown]
# ## The question
#
# How long is a metre?

# %% solution="double"
def double(x):
    """Twice `x`."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION


# %% check="double"
print("a visible check")

# %% test="double"
# Hidden tests: numbers that you have not seen.

# %% solution="guess"
guess = None  # an int
### BEGIN SOLUTION
guess = 7
### END SOLUTION

# %% test="guess"
# Hidden tests: the value.

# %% [markdown] explain="guess"
# Why?
#
# ### BEGIN SOLUTION
# Because it is prime.
# ### END SOLUTION
'''
LESSON = Lesson(
    id="rotations",
    title="A toy",
    minutes=1,
    needs="nothing",
    learn=("to double",),
    exercises=(
        Exercise("double", points=2, provides=("double",)),
        Exercise("guess", points=1, provides=("guess",), manual_points=1),
    ),
)


@pytest.fixture(scope="module")
def source():
    return assemble(LESSON, TRUTH)


@pytest.fixture(scope="module")
def release(source):
    return release_notebook(source, LESSON.id)


def cell(notebook, grade_id):
    (found,) = [
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    ]
    return found


def test_points_come_from_the_exercises(source):
    assert cell(source, "test_double").metadata.nbgrader.points == 2
    assert cell(source, "guess_explain").metadata.nbgrader.points == 1


def test_a_test_cell_calls_the_grader_in_the_source_and_says_nothing_in_the_release(
    source, release
):
    assert "grade('rotations', 'double')" in cell(source, "test_double").source
    assert cell(release, "test_double").source.strip() == (
        "# Hidden tests: numbers that you have not seen."
    )


def test_no_solution_survives_in_the_release(release):
    text = notebook_text(release)
    for secret in ("return 2 * x", "guess = 7", "prime", "SOLUTION", "course.grading"):
        assert secret not in text


def test_a_function_gets_a_stub_that_raises_and_a_typed_answer_one_that_does_not(release):
    assert "    raise NotImplementedError" in cell(release, "double").source
    assert cell(release, "guess").source == "guess = None  # an int\n# YOUR ANSWER HERE"
    assert "YOUR ANSWER HERE" in cell(release, "guess_explain").source


def test_helper_methods_of_a_class_leave_a_comment_that_raises_nothing():
    lines = [
        "class A:",
        "    def f(self):",
        "        ### BEGIN SOLUTION",
        "        return self._g()",
        "        ### END SOLUTION",
        "",
        "    ### BEGIN SOLUTION",
        "    def _g(self):",
        "        return 1",
        "    ### END SOLUTION",
    ]
    made = nbformat.v4.new_code_cell("\n".join(lines))
    assert StubbedSolutions()._replace_solution_region(made, "python")
    assert made.source.split("\n")[2:] == [
        "        raise NotImplementedError",
        "",
        "    # YOUR ANSWER HERE",
    ]
    exec(made.source, {})


def test_the_release_holds_no_metadata_but_ours(release):
    allowed = {"nbgrader", "mjcourse", "deletable", "editable", "tags"}
    assert all(set(c.metadata) <= allowed for c in release.cells)
    assert set(release.metadata) == {"kernelspec", "language_info", "mjcourse"}
    assert "jupytext" not in notebook_text(release)


def test_cell_ids_are_unique_and_valid(source, release):
    for notebook in (source, release):
        ids = [c.id for c in notebook.cells]
        assert len(set(ids)) == len(ids)
        nbformat.validate(notebook)


def test_the_same_truth_gives_the_same_bytes(source, release):
    again = assemble(LESSON, TRUTH)
    assert notebook_text(again) == notebook_text(source)
    assert notebook_text(release_notebook(again, LESSON.id)) == notebook_text(release)


def test_an_unknown_mark_on_a_cell_is_refused():
    with pytest.raises(BadTruth, match=r"is marked \['sollution'\]"):
        read_truth('# %% sollution="double"\nx = 1\n')


def test_a_forgotten_test_cell_is_refused():
    with pytest.raises(BadTruth, match="test cells are"):
        assemble(LESSON, TRUTH.replace('# %% test="guess"', "# %%"))


def test_an_exercise_that_does_not_exist_is_refused():
    with pytest.raises(BadTruth, match="no exercise 'triple'"):
        assemble(LESSON, TRUTH.replace('check="double"', 'check="triple"'))


def test_the_cells_of_an_unedited_notebook_write_the_same_truth(source):
    assert write_truth(truth_cells(source, LESSON)) == TRUTH


def test_an_edit_in_the_notebook_reaches_the_truth(source):
    edited = nbformat.from_dict(json.loads(notebook_text(source)))
    cell(edited, "double").source = cell(edited, "double").source.replace("Twice", "Two times")
    text = write_truth(truth_cells(edited, LESSON))
    assert text == TRUTH.replace("Twice", "Two times")


def test_points_changed_in_the_notebook_are_refused_with_the_place_to_change_them(source):
    edited = nbformat.from_dict(json.loads(notebook_text(source)))
    cell(edited, "test_double").metadata.nbgrader.points = 100
    with pytest.raises(BadTruth, match=r"course/exercises/rotations/double\.py"):
        truth_cells(edited, LESSON)


def test_an_edited_source_notebook_is_noticed_and_a_saved_one_is_not(source, tmp_path):
    path = tmp_path / "rotations.ipynb"
    path.write_text(notebook_text(source))
    assert not edited_by_hand(path)
    saved = nbformat.read(path, as_version=4)
    saved.metadata.language_info.version = "3.12.1"
    saved.cells[1].execution_count = 4
    nbformat.write(saved, path)
    assert not edited_by_hand(path)
    saved.cells[-1].source += "\nMore."
    nbformat.write(saved, path)
    assert edited_by_hand(path)
    assert content_hash(saved) != saved.metadata.mjcourse.content


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_committed_notebooks_are_what_the_truth_builds(lesson):
    assert [b.path for b in release_lessons([lesson], write=False) if b.changed] == []


def test_the_bytes_do_not_depend_on_the_hash_seed():
    program = (
        "from course.release.build import *\n"
        f"source = source_notebook({LESSONS[0]!r})\n"
        f"print(notebook_text(source), notebook_text(release_notebook(source, {LESSONS[0]!r})))"
    )
    made = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=CHECKOUT,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(made) == 1


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_truth_is_in_the_form_that_adopt_writes(lesson):
    text = truth_path(lesson).read_text()
    assert write_truth(read_truth(text)) == text


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_has_a_heading_and_every_function_a_visible_check(lesson):
    notebook = source_notebook(lesson)
    text = "\n".join(c.source for c in notebook.cells if c.cell_type == "markdown")
    ids = {c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells}
    from course.exercises import lesson as find

    for exercise in find(lesson).exercises:
        if exercise.id == "knowledge_check":
            continue
        assert f"### `{exercise.id}`" in text
        if any(callable(value) for value in exercise.reference_names().values()):
            assert f"check_{exercise.id}" in ids


ROAD = (
    "The question",
    "In plain words",
    "Mathematics",
    "In MuJoCo",
    "Build it",
    "Experiment",
    "Break it",
    "Common failures",
    "Knowledge check",
    "On the real robot",
    "Takeaways",
    "Sources",
)


@pytest.mark.parametrize("lesson", LESSONS)
def test_every_lesson_walks_the_same_road(lesson):
    notebook = nbformat.read(release_path(lesson), as_version=4)
    headings = [
        line.removeprefix("## ")
        for c in notebook.cells
        if c.cell_type == "markdown"
        for line in c.source.splitlines()
        if line.startswith("## ")
    ]
    assert tuple(headings) == ROAD


def test_the_release_folder_holds_notebooks_only():
    files = [p for p in (CHECKOUT / "release").rglob("*") if p.is_file()]
    assert files
    assert all(p.suffix == ".ipynb" for p in files)
