"""What misconceptions compute is kept, and never taken from another checkout's state."""

from __future__ import annotations

import pytest

from course.exercises import lesson
from course.grading import known
from course.grading.door import LocalDoor
from course.grading.score import _prepared, prepare, score


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(known, "FOLDER", tmp_path)
    _prepared.cache_clear()
    yield tmp_path
    _prepared.cache_clear()


def test_what_was_kept_is_returned_without_working_it_out_again(folder):
    assert known.recalled("rotations", "quat_mul", lambda: [1, 2]) == [1, 2]

    def never():
        raise AssertionError("worked out again")

    assert known.recalled("rotations", "quat_mul", never) == [1, 2]


def test_a_damaged_file_is_made_again(folder):
    known.recalled("rotations", "quat_mul", lambda: [1])
    (kept,) = folder.iterdir()
    kept.write_bytes(b"half")
    assert known.recalled("rotations", "quat_mul", lambda: [2]) == [2]


def test_a_change_of_the_checkout_leaves_the_old_file_behind(folder, monkeypatch):
    known.recalled("rotations", "quat_mul", lambda: [1])
    monkeypatch.setattr(known, "digest", lambda: "another")
    assert known.recalled("rotations", "quat_mul", lambda: [2]) == [2]
    assert [path.name for path in folder.iterdir()] == ["rotations-quat_mul-another.pickle"]


def test_a_checkout_that_cannot_be_written_grades_all_the_same(folder, monkeypatch):
    monkeypatch.setattr(known, "FOLDER", folder / "file" / "inside")
    (folder / "file").write_text("in the way")
    assert known.recalled("rotations", "quat_mul", lambda: [3]) == [3]


def test_a_mistake_is_named_the_same_from_what_was_kept(folder):
    exercise = lesson("rotations").exercise("quat_mul")
    fresh = prepare(exercise)
    for _ in range(2):  # the first time works it out and keeps it, the second recalls it
        _prepared.cache_clear()
        kept = _prepared("rotations", "quat_mul")
        for wrong in exercise.misconceptions:
            door = LocalDoor(wrong.namespace())
            assert score(kept, door).text() == score(fresh, door).text()
    assert len(list(folder.iterdir())) == 1
