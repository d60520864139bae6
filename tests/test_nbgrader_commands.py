"""nbgrader's own commands, with our configuration, give what `python -m course` gives."""

import copy
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course import demo
from course.classwork import grade_class
from course.feedback import write_feedback
from course.gradebook import Gradebook
from course.paths import CHECKOUT, DataFolders
from course.template import template
from tests.test_gradebook import rows

# One class, graded once, for all tests: in one process of a parallel run.
pytestmark = pytest.mark.xdist_group("nbgrader")

LESSON = "generalized_coordinates"
OTHER = "rotations"


def nbgrader(*arguments, cwd=CHECKOUT):
    return subprocess.run(
        [Path(sys.executable).parent / "nbgrader", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )


def submissions():
    """Everything that nbgrader's stock settings stumble over, beside what they do not."""
    full = demo.solved(LESSON)
    copied = copy.deepcopy(full)
    at = next(i for i, c in enumerate(copied["cells"]) if "solution" in str(c["metadata"]))
    copied["cells"].insert(at, copy.deepcopy(copied["cells"][at]))
    deleted = copy.deepcopy(full)
    deleted["cells"] = [
        c
        for c in deleted["cells"]
        if c["metadata"].get("nbgrader", {}).get("grade_id") != "test_quat_velocity"
    ]
    tampered = copy.deepcopy(demo.released(LESSON))
    for cell in tampered["cells"]:
        data = cell["metadata"].get("nbgrader", {})
        if data.get("grade"):
            data["points"], cell["source"] = 100, "100.0"
    (wrong, *_) = demo.mistaken(demo.find_lesson(LESSON))
    name = f"{LESSON}.ipynb"
    yield "full", name, json.dumps(full)
    yield "wrong", name, json.dumps(demo.with_answers(full, wrong))
    yield "untouched", name, json.dumps(demo.released(LESSON))
    yield "colab", name, json.dumps(demo.as_colab_saves(full))
    yield "renamed", f"Copy of {name}", json.dumps(full)
    yield "copied", name, json.dumps(copied)
    yield "deleted", name, json.dumps(deleted)
    yield "tampered", name, json.dumps(tampered)
    yield "cut", name, json.dumps(full)[:-500]
    yield "other", name, json.dumps(demo.solved(OTHER))


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The same class graded by both."""
    ours = DataFolders(tmp_path_factory.mktemp("ours"))
    theirs = DataFolders(tmp_path_factory.mktemp("theirs"))
    for student, name, text in submissions():
        for folders in (ours, theirs):
            path = folders.submitted / student / LESSON / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
    outcome = grade_class([LESSON], ours)
    with Gradebook(theirs.gradebook) as gradebook:
        gradebook.register(template(LESSON))
    done = nbgrader("autograde", LESSON, f"--CourseDirectory.root={theirs.root}")
    return ours, theirs, outcome, done


@pytest.mark.slow
def test_nbgrader_autograde_writes_the_same_gradebook(graded):
    ours, theirs, _, done = graded
    assert rows(ours.gradebook) == rows(theirs.gradebook), done.stderr[-3000:]


@pytest.mark.slow
def test_a_submission_that_nbgrader_stumbles_over_does_not_stop_the_others(graded):
    _, theirs, _, done = graded
    assert "for student 'cut'" in done.stderr
    assert {p.name for p in theirs.autograded.iterdir()} == {
        student for student, _, _ in submissions() if student not in ("cut", "other")
    }


@pytest.mark.slow
def test_what_had_to_be_repaired_is_told(graded):
    _, _, outcome, _ = graded
    told = {(p.student, p.kind) for p in outcome.problems}
    assert {
        ("copied", "duplicate_cell"),
        ("deleted", "cell_restored"),
        ("tampered", "points_changed"),
        ("tampered", "locked_cell_edited"),
        ("colab", "metadata_lost"),
        ("renamed", "renamed"),
        ("cut", "unreadable"),
        ("other", "other_lesson"),
    } <= told
    assert {p.student for p in outcome.problems} & {"full", "wrong", "untouched"} == set()


@pytest.mark.slow
def test_repaired_submissions_get_what_they_deserve(graded):
    _, _, outcome, _ = graded
    totals: dict[str, float] = {}
    for record in outcome.records:
        totals[record.student] = totals.get(record.student, 0.0) + (record.points or 0.0)
    full = totals["full"]
    assert full > 0
    for student in ("colab", "renamed", "copied", "deleted"):
        assert totals[student] == full, student
    assert totals["untouched"] == totals["tampered"] == 0
    assert 0 < totals["wrong"] < full


@pytest.mark.slow
def test_nbgrader_generate_feedback_gives_our_page(graded):
    from bs4 import BeautifulSoup

    ours, theirs, _, _ = graded
    done = nbgrader(
        "generate_feedback",
        LESSON,
        "--student=wrong",
        f"--CourseDirectory.root={theirs.root}",
    )
    assert done.returncode == 0, done.stderr
    (page,) = write_feedback([LESSON], ours, "wrong")
    other = theirs.feedback / "wrong" / LESSON / f"{LESSON}.html"
    first, second = (BeautifulSoup(p.read_text(), "html.parser") for p in (page, other))
    assert str(first) == str(second)


@pytest.mark.slow
def test_nothing_but_notebooks_reaches_autograded(graded):
    for folders in graded[:2]:
        files = {p.suffix for p in folders.autograded.rglob("*") if p.is_file()}
        assert files == {".ipynb"}


@pytest.mark.slow
def test_nbgrader_generate_assignment_gives_our_release_and_our_cells(tmp_path):
    done = nbgrader(
        "generate_assignment",
        LESSON,
        f"--CourseDirectory.root={tmp_path}",
        "--CourseDirectory.release_directory=release",
    )
    assert done.returncode == 0, done.stderr
    released = json.loads((tmp_path / "release" / LESSON / f"{LESSON}.ipynb").read_text())
    ours = demo.released(LESSON)
    told = [("".join(c["source"]), c["metadata"].get("nbgrader")) for c in released["cells"]]
    same = [(c["source"], c["metadata"].get("nbgrader")) for c in ours["cells"]]
    assert [t for t, _ in told] == [s for s, _ in same]
    assert [bool(t) for _, t in told] == [bool(s) for _, s in same]
    with Gradebook(tmp_path / "ours.db") as gradebook:
        gradebook.register(template(LESSON))
    assert rows(tmp_path / "ours.db")[2] == rows(tmp_path / "gradebook.db")[2]


@pytest.mark.slow
def test_a_configuration_that_fails_ends_the_command(tmp_path):
    """Alone, without the course beside it, nbgrader would go on with its stock settings."""
    shutil.copy(CHECKOUT / "nbgrader_config.py", tmp_path)
    done = nbgrader("autograde", LESSON, cwd=tmp_path)
    assert done.returncode != 0
    assert "refusing to go on" in done.stderr
    assert "AutogradeApp" not in done.stderr
