"""submit(): what it says of a notebook, the file it writes, and that it changes nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import nbformat.v4 as v4
import pytest

import mjcourse
from course.intake import rank
from mjcourse import lesson, submission
from mjcourse.lookover import defined, look_over, stale
from mjcourse.notebook_file import NotFound, exercises_of, find, open_notebook, parse

EXERCISES = {"double": ("double",), "pair": ("first", "second"), "knowledge_check": ("nq",)}
BEGIN = """\
import mjcourse

mjcourse.begin(
    "rotations",
    version="1.0.0",
    exercises={
        "double": ("double",),
        "pair": ("first", "second"),
        "knowledge_check": ("nq",),
    },
    texts=("double_explain",),
)"""
STUB = "def double(x):\n    raise NotImplementedError"
ANSWER = "def double(x):\n    return 2 * x"
PAIR = "def first(x):\n    return x\n\n\ndef second(x):\n    return x[1]"


def code(source: str, grade_id: str = "", printed: str = ""):
    cell = v4.new_code_cell(source)
    if grade_id:
        cell.metadata["nbgrader"] = {"grade_id": grade_id}
    if printed:
        cell.outputs = [v4.new_output("stream", name="stdout", text=printed)]
    return cell


def text(source: str, grade_id: str = ""):
    cell = v4.new_markdown_cell(source)
    if grade_id:
        cell.metadata["nbgrader"] = {"grade_id": grade_id}
    return cell


def cells(double: str = ANSWER, printed: str = "double  ok\n") -> list:
    return [
        code(BEGIN, "header_setup"),
        text("## Build it\n\n### `double`: twice a number"),
        code(double, "double"),
        code('@visible_check("double")\ndef check(c): ...', "check_double", printed),
        code("# hidden", "test_double"),
        text("Because it is so.", "double_explain"),
        text("### `pair`: two functions"),
        code(PAIR, "pair"),
        code("# hidden", "test_pair"),
        text("## Knowledge check"),
        code("nq = 7", "knowledge_check"),
        code("# hidden", "test_knowledge_check"),
    ]


def data_of(cells: list) -> bytes:
    notebook = v4.new_notebook(cells=cells, metadata={"mjcourse": {"lesson": "rotations"}})
    return json.dumps(notebook, indent=1).encode()


def looked(cells: list, statuses=()):
    notebook = parse(data_of(cells), Path())
    return look_over(notebook, *exercises_of(notebook), statuses)


def findings(cells: list, statuses=()) -> list[str]:
    return [str(finding) for finding in looked(cells, statuses).findings]


@pytest.fixture
def student(tmp_path, monkeypatch):
    """A folder with a finished notebook, open in a kernel that ran nothing yet."""
    monkeypatch.setattr(lesson, "_open", lesson.OpenLesson())
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rotations.ipynb"
    path.write_bytes(data_of(cells()))
    return path


def submit(names: dict | None = None, **keywords) -> None:
    """Run `submit(...)` as a cell of a notebook with these names."""
    names = {"submit": mjcourse.submit, "keywords": keywords} | (names or {})
    exec("submit(**keywords)", names)


def handed_in(folder: Path) -> list[Path]:
    return sorted(folder.glob("rotations--*.ipynb"))


# What it says.


def test_a_finished_notebook_has_no_findings():
    seen = looked(cells())
    assert seen.findings == ()
    assert seen.answered == ("double", "pair", "knowledge_check", "double_explain")
    assert seen.unanswered == ()


def test_an_untouched_exercise_is_told_with_its_heading():
    (finding,) = findings(cells(STUB))
    assert finding == "double is not answered (under “`double`: twice a number”)"


def test_an_exercise_answered_in_part_lists_the_rest():
    notebook = cells()
    notebook[7] = code(
        "def first(x):\n    return x\n\n\n" + STUB.replace("double", "second"), "pair"
    )
    (finding,) = findings(notebook)
    assert "to do: second" in finding


def test_an_untyped_answer_is_unanswered():
    notebook = cells()
    notebook[10] = code("nq = None  # an int", "knowledge_check")
    assert looked(notebook).unanswered == ("knowledge_check",)


def test_an_answer_in_words_still_to_write_is_told():
    notebook = cells()
    notebook[5] = text("YOUR ANSWER HERE", "double_explain")
    assert looked(notebook).unanswered == ("double_explain",)


def test_a_missing_cell_is_told_with_the_heading_where_it_was():
    notebook = cells()
    del notebook[2]
    found = findings(notebook)
    assert "double has no cell left" in found[0]
    assert "`double`: twice a number" in found[0]
    assert looked(notebook).unanswered == ("double",)


def test_a_missing_test_cell_is_told_and_does_no_harm():
    notebook = cells()
    del notebook[4]
    seen = looked(notebook)
    assert "graders put it back" in str(seen.findings[0])
    assert "double" in seen.answered


def test_a_copied_cell_is_told_with_both_places():
    notebook = [*cells(), code(STUB, "double")]
    assert any(
        "double has 2 cells (under “Knowledge check” and “`double`: twice a number”)" in f
        for f in findings(notebook)
    )


def test_a_syntax_error_is_told_with_its_line():
    (finding,) = findings(cells("def double(x):\n    return 2 * * x"))
    assert "double is not valid Python, line 2" in finding


def test_a_check_that_failed_when_saved_is_told():
    (finding,) = findings(cells(printed="double  1.0e+00  not yet: it is half\n"))
    assert "run the check of double again" in finding


def test_a_check_that_was_never_run_is_told():
    (finding,) = findings(cells(printed=""))
    assert "run the check of double: it has not run yet" in finding


def test_what_the_kernel_knows_of_a_check_comes_before_the_saved_output():
    from mjcourse.overview import Status

    passed = Status("double", ("double",), (), True)
    failed = Status("double", ("double",), (), False, "double: it is half")
    assert findings(cells(printed="double  not yet: old\n"), [passed]) == []
    assert "the check of double fails: double: it is half" in findings(cells(), [failed])[0]


def test_a_notebook_without_marks_is_read_by_its_names():
    notebook = cells()
    for cell in notebook:
        cell.metadata.clear()
    seen = looked(notebook)
    assert [f.kind for f in seen.findings] == ["marks"]
    assert set(seen.answered) == {"double", "pair", "knowledge_check", "double_explain"}


def test_a_file_too_large_for_the_graders_is_told():
    from course import intake
    from mjcourse import lookover

    assert lookover.MAX_BYTES == intake.MAX_BYTES
    notebook = parse(data_of(cells()) + b" " * lookover.MAX_BYTES, Path())
    (finding,) = look_over(notebook, EXERCISES).findings
    assert finding.kind == "large"
    assert "clear the outputs" in str(finding)


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("%timeit 1\n!ls\ndouble = lambda x: 2 * x", {"double": True}),
        ("a, b = 1, 2", {"a": True, "b": True}),
        ("nq = None", {"nq": False}),
        ("nq: int = 7", {"nq": True}),
        ("from math import tau as turn", {"turn": True}),
        ("if True:\n    def f(): return 1", {"f": True}),
        ("def f():\n    return 1\n    raise NotImplementedError", {"f": True}),
        ("def f(x):\n    'Text.'\n    raise NotImplementedError()", {"f": False}),
        ("class A:\n    def f(self):\n        raise NotImplementedError", {"A": False}),
    ],
)
def test_what_a_cell_defines_is_seen(source, names):
    assert defined(source) == names


# What it writes.


def test_the_copy_is_the_file_byte_for_byte_and_the_file_is_not_touched(student, capsys):
    before, time = student.read_bytes(), student.stat().st_mtime_ns
    submit()
    (copy,) = handed_in(student.parent)
    assert copy.read_bytes() == before == student.read_bytes()
    assert student.stat().st_mtime_ns == time
    assert str(copy) in capsys.readouterr().out


def test_the_receipt_holds_digest_time_and_answers(student, capsys):
    submit()
    (copy,) = handed_in(student.parent)
    receipt = copy.with_suffix(".txt").read_text()
    assert hashlib.sha256(copy.read_bytes()).hexdigest() in receipt
    assert re.search(r"Time +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", receipt)
    assert "Answers  double, pair, knowledge_check, double_explain" in receipt
    assert receipt in capsys.readouterr().out


def test_handing_in_twice_keeps_both_and_the_later_counts(student):
    notebook = open_notebook({}, student)
    seen = look_over(notebook, EXERCISES)
    times = [datetime(2026, 12, 1, 9, 59, 59, tzinfo=UTC), datetime(2026, 12, 1, 10, tzinfo=UTC)]
    names = [submission.hand_in(notebook, seen, time)[0].name for time in times]
    again = submission.hand_in(notebook, seen, times[1])[0].name
    assert len({*names, again}) == 3
    order = sorted(["rotations.ipynb", *names], key=lambda name: rank(name, "rotations"))
    assert order == [names[1], names[0], "rotations.ipynb"]


def test_a_folder_that_cannot_be_written_is_told_and_nothing_is_left(student, capsys, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(submission.os, "replace", full)
    submit()
    assert "No space left on device" in capsys.readouterr().out
    assert [p.name for p in student.parent.iterdir()] == ["rotations.ipynb"]


def test_an_unanswered_exercise_does_not_prevent_handing_in(student, capsys):
    student.write_bytes(data_of(cells(STUB)))
    submit()
    out = capsys.readouterr().out
    assert "3 of 4 exercises are answered. Before you hand in" in out
    assert len(handed_in(student.parent)) == 1


def test_the_same_file_is_not_handed_in_twice(student, capsys):
    submit()
    (copy,) = handed_in(student.parent)
    capsys.readouterr()
    submit()
    assert f"handed in already, nothing has changed since: {copy}" in capsys.readouterr().out
    assert handed_in(student.parent) == [copy]


def test_a_notebook_without_any_answer_is_not_handed_in(student, capsys):
    notebook = cells(STUB)
    notebook[5] = text("YOUR ANSWER HERE", "double_explain")
    notebook[7] = code("pass", "pair")
    notebook[10] = code("nq = None", "knowledge_check")
    student.write_bytes(data_of(notebook))
    submit()
    assert capsys.readouterr().out == "Nothing was handed in: no exercise is answered yet.\n"
    assert handed_in(student.parent) == []


# Which file it reads, and whether that is current.


def history(*texts: str):
    return SimpleNamespace(history_manager=SimpleNamespace(input_hist_raw=["", *texts]))


def test_work_that_was_run_and_not_saved_is_not_handed_in(student, capsys, monkeypatch):
    monkeypatch.setattr(submission, "_shell", lambda: history(ANSWER, ANSWER + "  # better"))
    submit()
    out = capsys.readouterr().out
    assert "does not hold what you ran (double)" in out
    assert handed_in(student.parent) == []
    submit(as_saved=True)
    assert len(handed_in(student.parent)) == 1


def test_an_earlier_attempt_in_the_history_does_not_count_as_unsaved(student, monkeypatch):
    monkeypatch.setattr(submission, "_shell", lambda: history("def double(x): ...", ANSWER + " \n"))
    submit()
    assert len(handed_in(student.parent)) == 1


def test_only_exercises_are_looked_for_in_the_history():
    notebook = parse(data_of(cells()), Path())
    assert stale(notebook.cells, ["helper = 3", "print(double(2))"], ["double"]) == []


def test_the_file_is_found_in_jupyter_vscode_and_the_working_folder(student, monkeypatch):
    other = student.parent / "other"
    other.mkdir()
    elsewhere = other / "Copy of rotations.ipynb"
    elsewhere.write_bytes(student.read_bytes())
    assert find({"__vsc_ipynb_file__": str(elsewhere)}) == elsewhere
    monkeypatch.setenv("JPY_SESSION_NAME", str(elsewhere))
    assert find({}) == elsewhere
    monkeypatch.setenv("JPY_SESSION_NAME", str(other / "renamed since.ipynb"))
    lesson.current().id = "rotations"
    (student.parent / "rotations--2026-12-01T10-00-00Z.ipynb").write_bytes(student.read_bytes())
    assert find({}) == student


def test_two_candidates_are_asked_about(student):
    lesson.current().id = "rotations"
    student.with_name("rotations (1).ipynb").write_bytes(student.read_bytes())
    with pytest.raises(NotFound, match="several notebooks"):
        find({})


@pytest.mark.parametrize("data", [b"", b"not json", b"{}", b'{"cells": [1]}', b"[]"])
def test_a_file_that_is_no_notebook_is_refused_in_words(student, capsys, data):
    student.write_bytes(data)
    submit(path="rotations.ipynb")
    assert "is not a notebook that can be read" in capsys.readouterr().out
    assert handed_in(student.parent) == []


def test_another_lessons_notebook_is_refused(student, capsys):
    lesson.current().id = "pipeline"
    submit(path=student)
    assert "rotations.ipynb is the lesson rotations, and pipeline runs here" in (
        capsys.readouterr().out
    )
    assert handed_in(student.parent) == []


def test_a_notebook_that_is_nowhere_is_told(student, capsys):
    student.unlink()
    submit()
    assert "the notebook's file was not found" in capsys.readouterr().out


def test_nothing_happens_under_grading(student, capsys, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    submit()
    assert capsys.readouterr().out == ""
    assert handed_in(student.parent) == []


def test_the_kernels_checks_are_used(student, capsys):
    mjcourse.begin("rotations", version="1.0.0", exercises=EXERCISES)
    names: dict = {"visible_check": mjcourse.visible_check}
    exec(ANSWER.replace("2 * x", "x"), names)
    exec(
        "@visible_check('double')\ndef check(c):\n    c.close('double', double(1), 2)",
        names,
    )
    submit(names)
    assert "the check of double fails" in capsys.readouterr().out
