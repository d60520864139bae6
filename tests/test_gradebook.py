"""The gradebook is nbgrader's: written whole, by one writer, and a person's work is never lost."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from course.classwork import grade_class
from course.gradebook import Gradebook, GradebookError, schema_head
from course.paths import CHECKOUT, DataFolders
from tests import toy_lesson as toy


@pytest.fixture
def folders(tmp_path, monkeypatch):
    toy.use(monkeypatch)
    return DataFolders(tmp_path)


def grade(folders):
    return grade_class([toy.LESSON], folders)


def rows(path):
    """All that matters of a gradebook, without its random ids."""
    query = """
        select student.id, assignment.name, base_cell.name, grade.auto_score, grade.manual_score,
               grade.extra_credit, grade.needs_manual_grade, grade_cells.max_score
        from grade
        join grade_cells on grade_cells.id = grade.cell_id
        join base_cell on base_cell.id = grade.cell_id
        join submitted_notebook on submitted_notebook.id = grade.notebook_id
        join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
        join assignment on assignment.id = submitted_assignment.assignment_id
        join student on student.id = submitted_assignment.student_id
        order by 1, 2, 3
    """
    comments = """
        select student.id, base_cell.name, comment.auto_comment, comment.manual_comment
        from comment join base_cell on base_cell.id = comment.cell_id
        join submitted_notebook on submitted_notebook.id = comment.notebook_id
        join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id
        join student on student.id = submitted_assignment.student_id order by 1, 2
    """
    cells = "select name, cell_type, locked, source, checksum from source_cell order by 1"
    connection = sqlite3.connect(path)
    try:
        return [connection.execute(q).fetchall() for q in (query, comments, cells)]
    finally:
        connection.close()


def change(path, statement, *values):
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


CELL = "(select id from base_cell where name = ? and type = ?)"


def test_a_new_gradebook_has_nbgraders_schema_at_its_newest_revision(tmp_path):
    from nbgrader.api import get_alembic_version

    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    assert schema_head() == get_alembic_version()
    Gradebook(tmp_path / "ours.db").close()
    from nbgrader.api import Gradebook as Theirs

    Theirs(f"sqlite:///{tmp_path}/theirs.db").close()
    schemas = []
    for name in ("ours.db", "theirs.db"):
        connection = sqlite3.connect(tmp_path / name)
        schemas.append(sorted(connection.execute("select name, sql from sqlite_master")))
        connection.close()
    assert [n for n, _ in schemas[0]] == [n for n, _ in schemas[1]]
    ours, theirs = ({n: (s or "").split() for n, s in schema} for schema in schemas)
    assert ours == theirs


def test_points_come_from_the_graded_cells(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    toy.hand_in(folders.root, "bob", toy.solved(double="def double(x):\n    return abs(2 * x)"))
    grade(folders)
    grades = {
        (s, c): (auto, manual) for s, _, c, auto, _, _, manual, _ in rows(folders.gradebook)[0]
    }
    assert grades["ada", "test_double"] == (3.0, 0)
    assert grades["bob", "test_double"] == (2.0, 0)
    assert grades["ada", "triple_explain"] == (None, 1)


def test_an_untouched_answer_gets_nothing_and_says_no_response(folders):
    toy.hand_in(folders.root, "ada", toy.release())
    grade(folders)
    found, comments, _ = rows(folders.gradebook)
    assert {(c, auto, needs) for _, _, c, auto, _, _, needs, _ in found} == {
        ("test_double", 0.0, 0),
        ("test_triple", 0.0, 0),
        ("test_six_nines", 0.0, 0),
        ("triple_explain", 0.0, 0),
    }
    assert {auto for _, _, auto, _ in comments} == {"No response."}


def test_what_a_person_gave_survives_a_new_grading(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    grade(folders)
    db = folders.gradebook
    for cell, manual in (("triple_explain", 1.5), ("test_double", 2.0)):
        change(
            db,
            "update grade set manual_score = ?, extra_credit = 0.5, needs_manual_grade = 0 "
            f"where cell_id = {CELL}",
            manual,
            cell,
            "GradeCell",
        )
    change(
        db,
        f"update comment set manual_comment = 'Well said' where cell_id = {CELL}",
        "triple_explain",
        "SolutionCell",
    )
    toy.hand_in(folders.root, "ada", toy.solved(double="def double(x):\n    return 0"))
    outcome = grade(folders)
    found, comments, _ = rows(db)
    grades = {c: (auto, manual, extra, needs) for _, _, c, auto, manual, extra, needs, _ in found}
    assert grades["test_double"] == (0.0, 2.0, 0.5, 1)
    assert grades["triple_explain"] == (None, 1.5, 0.5, 1)
    assert ("ada", "triple_explain", None, "Well said") in comments
    points = {r.exercise: r.points for r in outcome.records}
    assert points["triple_explain"] == 2.0
    assert points["double"] == 2.5


def test_grading_again_changes_nothing(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    toy.hand_in(folders.root, "bob", toy.release())
    first = grade(folders).to_json()
    before = rows(folders.gradebook)
    assert grade(folders).to_json() == first
    assert rows(folders.gradebook) == before


def test_a_new_submission_replaces_the_grade(folders):
    toy.hand_in(folders.root, "ada", toy.release())
    grade(folders)
    toy.hand_in(folders.root, "ada", toy.solved())
    (ada,) = {r.points for r in grade(folders).records if r.exercise == "double"}
    assert ada == 3.0
    assert len(rows(folders.gradebook)[0]) == 4


def test_a_submission_that_cannot_be_read_is_entered_without_a_score(folders):
    toy.hand_in(folders.root, "ada", b"{")
    outcome = grade(folders)
    assert outcome.records == []
    assert {(auto, needs) for *_, auto, _, _, needs, _ in rows(folders.gradebook)[0]} == {(None, 1)}


def test_a_broken_new_submission_leaves_the_grade_of_the_earlier_one(folders):
    path = toy.hand_in(folders.root, "ada", toy.solved())
    grade(folders)
    before = rows(folders.gradebook)
    path.write_bytes(b"")
    assert [p.kind for p in grade(folders).problems] == ["empty"]
    assert rows(folders.gradebook) == before


def test_a_submission_is_entered_whole_or_not_at_all(folders, monkeypatch):
    toy.hand_in(folders.root, "ada", toy.release())
    grade(folders)
    before = rows(folders.gradebook)
    toy.hand_in(folders.root, "ada", toy.solved())

    def fail(*_args):
        raise OSError("disk full")

    monkeypatch.setattr("course.gradebook._late_penalty", fail)
    outcome = grade(folders)
    assert outcome.lost[0][:2] == ("ada", toy.LESSON)
    assert [p.kind for p in outcome.problems] == ["grader_failed"]
    assert rows(folders.gradebook) == before


def test_a_failure_on_one_submission_does_not_stop_the_others(folders, monkeypatch):
    for student in ("ada", "bob", "cy"):
        toy.hand_in(folders.root, student, toy.solved())
    record = Gradebook.record

    def fail_for_bob(self, student, *args):
        if student == "bob":
            raise OSError("disk full")
        record(self, student, *args)

    monkeypatch.setattr(Gradebook, "record", fail_for_bob)
    outcome = grade(folders)
    assert [student for student, _, _ in outcome.lost] == ["bob"]
    assert {r.student for r in outcome.records} == {"ada", "cy"}


def test_late_penalties_are_the_plugins(folders):
    path = toy.hand_in(folders.root, "ada", toy.solved())
    path.with_name("timestamp.txt").write_text("2026-12-02 10:00:00 UTC")
    grade(folders)
    change(folders.gradebook, "update assignment set duedate = ?", str(datetime(2026, 12, 1)))
    from traitlets.config import Config

    config = Config()
    config.LateSubmissionPlugin.penalty_method = "zero"
    import course.quick

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(course.quick, "nbgrader_config", lambda: config)
        grade(folders)
    with Gradebook(folders.gradebook) as gradebook:
        (sheet,) = gradebook.sheets()
    assert sheet.late_penalty == 5.0
    assert sheet.score == 0.0


def test_a_file_that_is_no_gradebook_is_refused(tmp_path):
    path = tmp_path / "gradebook.db"
    path.write_bytes(b"not a database at all, but long enough to be looked at" * 40)
    with pytest.raises(GradebookError, match="move it away"):
        Gradebook(path)


def test_a_gradebook_of_an_older_nbgrader_is_refused(tmp_path):
    path = tmp_path / "gradebook.db"
    Gradebook(path).close()
    change(path, "update alembic_version set version_num = 'b6d005d67074'")
    with pytest.raises(GradebookError, match="nbgrader db upgrade"):
        Gradebook(path)


def smaller():
    """The toy lesson without `triple`."""
    shape = toy.toy_template()
    kept = tuple(c for c in shape.cells if "triple" not in c.grade_id)
    return type(shape)(shape.lesson, kept, shape.kernelspec)


def test_a_cell_that_left_the_lesson_leaves_the_gradebook(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    grade(folders)
    with Gradebook(folders.gradebook) as gradebook:
        gradebook.register(smaller())
        assert gradebook.sheet("ada", toy.LESSON).max_score == 4.0
        gradebook.register(toy.toy_template())
    grade(folders)
    assert len(rows(folders.gradebook)[0]) == 4


def test_a_cell_with_a_persons_score_is_not_forgotten(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    grade(folders)
    change(folders.gradebook, "update grade set manual_score = 1 where auto_score is null")
    with Gradebook(folders.gradebook) as gradebook, pytest.raises(GradebookError, match="triple"):
        gradebook.register(smaller())
    assert len(rows(folders.gradebook)[0]) == 4


SLOW = """
import sys
from pathlib import Path
import pytest
from course.gradebook import Gradebook
from course.classwork import grade_class
from course.paths import DataFolders
from tests import toy_lesson as toy
toy.use(pytest.MonkeyPatch())
record = Gradebook.record
def slow(self, *args):
    record(self, *args)
    print("one", flush=True)
Gradebook.record = slow
grade_class([toy.LESSON], DataFolders(Path(sys.argv[1])))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize("after", [1, 3])
def test_an_interrupted_run_started_again_gives_the_same_gradebook(folders, tmp_path, how, after):
    students = [f"student{i}" for i in range(6)]
    whole = DataFolders(tmp_path / "whole")
    for i, student in enumerate(students):
        answer = toy.SOLUTIONS["double"] if i % 2 else "def double(x):\n    return x * x"
        for root in (folders.root, whole.root):
            toy.hand_in(root, student, toy.solved(double=answer))
    grade(whole)
    run = subprocess.Popen(
        [sys.executable, "-c", SLOW, str(folders.root)],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    for _ in range(after):
        assert run.stdout.readline() == "one\n"
    run.send_signal(how)
    run.wait(30)
    assert len(rows(folders.gradebook)[0]) >= 4 * after
    grade(folders)
    assert rows(folders.gradebook) == rows(whole.gradebook)
    for student in students:
        path = f"autograded/{student}/toy/toy.ipynb"
        assert (folders.root / path).read_bytes() == (whole.root / path).read_bytes()
    left = [p.name for p in folders.root.rglob("*") if p.name.startswith(".")]
    assert left == [] or how is signal.SIGKILL


def test_formgraders_own_calls_read_it(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    grade(folders)
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory
    from traitlets.config import Config

    config = Config()
    config.CourseDirectory.root = str(folders.root)
    api = NbGraderAPI(CourseDirectory(config=config), config=config)
    assert api.get_students()[0]["score"] == 5.0
    (submission,) = api.get_submissions(toy.LESSON)
    assert submission["score"] == 5.0
    assert submission["autograded"]
    assert submission["needs_manual_grade"]


def test_a_graded_notebook_is_valid_and_holds_its_records(folders):
    import nbformat

    toy.hand_in(folders.root, "ada", toy.solved(double="def double(x):\n    return x * x"))
    grade(folders)
    path = folders.autograded / "ada" / toy.LESSON / f"{toy.LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    results = json.loads(path.read_text())["metadata"]["mjcourse"]["graded"]["results"]
    assert results[0]["misconceptions"] == ["squares"]


def test_grading_waits_for_somebody_who_is_writing(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    grade(folders)
    busy = sqlite3.connect(folders.gradebook, isolation_level=None, check_same_thread=False)
    busy.execute("begin immediate")
    import threading

    threading.Timer(1.0, lambda: busy.execute("rollback")).start()
    start = time.perf_counter()
    assert grade(folders).lost == []
    assert time.perf_counter() - start > 0.9
    busy.close()
