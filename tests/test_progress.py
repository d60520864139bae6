"""progress(): untouched, answered, check passed or failed, in the running kernel."""

from __future__ import annotations

import pytest

import mjcourse
from mjcourse import lesson, visible_check
from mjcourse.overview import is_written, statuses


def run(names: dict, text: str) -> None:
    """Run a cell in the notebook's namespace."""
    exec(compile(text, "<cell>", "exec"), names)


@pytest.fixture
def names(monkeypatch):
    monkeypatch.setattr(lesson, "_open", lesson.OpenLesson())
    mjcourse.begin(
        "rotations",
        version=mjcourse.__version__,
        exercises={
            "double": ("double",),
            "pair": ("first", "second"),
            "knowledge_check": ("nq", "nv"),
        },
        texts=("double_explain",),
    )
    names = {"visible_check": visible_check, "progress": mjcourse.progress}
    run(names, "def double(x):\n    'Twice x.'\n    raise NotImplementedError\n")
    run(names, "nq = None\nnv = None\n")
    return names


CHECK = """
@visible_check("double")
def check_double(check):
    check.close("double", double(2), 4)
"""


def text_of(names: dict, exercise: str) -> str:
    return next(s.text() for s in statuses(names) if s.exercise == exercise)


def test_a_stub_is_untouched(names):
    assert text_of(names, "double") == "untouched"
    assert text_of(names, "pair") == "untouched"
    assert text_of(names, "knowledge_check") == "untouched"


def test_an_answer_whose_check_has_not_run_says_so(names):
    run(names, "def double(x):\n    return 2 * x")
    assert text_of(names, "double") == "answered; run its check"


def test_a_passed_check_is_told(names):
    run(names, "def double(x):\n    return 2 * x")
    run(names, CHECK)
    assert text_of(names, "double") == "answered, check passed"


def test_a_failed_check_is_told_with_its_reason(names):
    run(names, "def double(x):\n    return x")
    run(names, CHECK)
    assert text_of(names, "double").startswith("check failed: double: it is half")


def test_a_check_of_an_earlier_answer_no_longer_counts(names):
    run(names, "def double(x):\n    return 2 * x")
    run(names, CHECK)
    run(names, "def double(x):\n    return 3 * x")
    assert text_of(names, "double") == "answered; run its check"


def test_half_an_exercise_says_what_is_left(names):
    run(names, "def first(x):\n    return x")
    assert text_of(names, "pair") == "1 of 2 answered; to do: second"


def test_typed_answers_need_no_check(names):
    run(names, "nq = 7")
    assert text_of(names, "knowledge_check") == "1 of 2 answered; to do: nv"
    run(names, "nv = 0")
    assert text_of(names, "knowledge_check") == "answered"


def test_a_stub_left_behind_a_return_is_an_answer(names):
    run(names, "def double(x):\n    return 2 * x\n    raise NotImplementedError")
    assert text_of(names, "double") == "answered; run its check"


def test_a_class_with_a_stub_in_a_method_is_not_written():
    names: dict = {}
    run(names, "class A:\n    def f(self):\n        raise NotImplementedError")
    run(names, "class B:\n    def f(self):\n        return 1")
    assert not is_written(names["A"])
    assert is_written(names["B"])


def test_running_the_set_up_cell_again_keeps_what_checks_said(names):
    run(names, "def double(x):\n    return 2 * x")
    run(names, CHECK)
    opened = lesson.current()
    mjcourse.begin(opened.id, version=opened.version, exercises=opened.exercises)
    assert text_of(names, "double") == "answered, check passed"


def test_another_lesson_starts_afresh(names):
    run(names, "def double(x):\n    return 2 * x")
    run(names, CHECK)
    mjcourse.begin("pipeline", version="1.0.0", exercises={"double": ("double",)})
    assert text_of(names, "double") == "answered; run its check"


def test_progress_prints_a_line_for_each_exercise(names, capsys):
    capsys.readouterr()
    run(names, "def double(x):\n    return 2 * x")
    run(names, CHECK)
    capsys.readouterr()
    run(names, "progress()")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[1:4]] == ["double", "pair", "knowledge_check"]
    assert "1 of 3 answered; visible checks passed: 1." in lines
    assert lines[-1] == "Answers in words, read by a person: double_explain."


def test_progress_before_the_set_up_cell_says_what_to_run(monkeypatch, capsys):
    monkeypatch.setattr(lesson, "_open", lesson.OpenLesson())
    mjcourse.progress()
    assert "Run the set-up cell" in capsys.readouterr().out


def test_progress_prints_nothing_under_grading(names, monkeypatch, capsys):
    capsys.readouterr()
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    run(names, "progress()")
    assert capsys.readouterr().out == ""


def test_a_notebook_of_another_version_is_told(capsys):
    mjcourse.begin("rotations", version="0.1.0", exercises={})
    assert "written for mjcourse 0.1.0" in capsys.readouterr().out
