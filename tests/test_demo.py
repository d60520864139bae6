"""The example class holds what was promised, and gets the grades that it must get."""

import json

import pytest

from course import demo
from course.exercises import LESSONS
from course.exercises import lesson as find_lesson
from course.gradebook import ManualScore, Sheet
from course.paths import DataFolders, truth_path

WRITTEN = [lesson for lesson in LESSONS if truth_path(lesson).is_file()]


@pytest.mark.parametrize("lesson", WRITTEN)
def test_a_class_has_every_kind_of_submission(lesson):
    examples = {e.student: e for e in demo.example_class(lesson)}
    assert tuple(examples) == demo.ORDER
    assert examples["renamed"].file == f"Copy of {lesson}.ipynb"
    assert "colab" in examples["from_colab"].notebook["metadata"]
    assert not any("nbgrader" in c["metadata"] for c in examples["from_colab"].notebook["cells"])
    for example in examples.values():
        json.dumps(example.notebook)
        assert "BEGIN" not in json.dumps(example.notebook)


@pytest.mark.parametrize("lesson", WRITTEN)
def test_the_mistaken_make_different_mistakes(lesson):
    sets = demo.mistaken(find_lesson(lesson))
    assert len(sets) == 3
    exercises = [set(changes) for changes in sets]
    assert all(exercises)
    assert not (exercises[0] & exercises[1] | exercises[1] & exercises[2])


def test_a_syntax_error_is_one(monkeypatch):
    examples = {e.student: e for e in demo.example_class(WRITTEN[0])}
    broken = [c["source"] for c in examples["syntax_error"].notebook["cells"]]
    (source,) = [s for s in broken if s.endswith("print('no closing bracket'\n")]
    with pytest.raises(SyntaxError):
        compile(source, "cell", "exec")


def test_a_folder_of_somebody_else_is_not_touched(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(demo.NotOurs, match="not empty"):
        demo.demo(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


@pytest.mark.slow
def test_the_demonstration_grades_its_class(tmp_path, monkeypatch, capsys):
    lesson = WRITTEN[0]
    monkeypatch.setattr(demo, "LESSONS", (lesson,))
    monkeypatch.setattr("course.release.build.release_lessons", lambda _lessons: [])
    root = tmp_path / "demo"
    assert demo.demo(root) == 0
    said = capsys.readouterr().out
    with demo.Gradebook(DataFolders(root).gradebook) as gradebook:
        sheets = {s.student: s for s in gradebook.sheets()}
    assert set(sheets) == set(demo.ORDER)
    exercises = find_lesson(lesson).exercises
    full = sum(e.points for e in exercises)
    for student in ("full_solution", "renamed", "from_colab"):
        assert sheets[student].score == full, student
    assert sheets["untouched"].score == 0
    for student in ("half_done", "mistaken_1", "mistaken_2", "mistaken_3"):
        assert 0 < sheets[student].score < full
    for student in ("syntax_error", "endless_loop"):
        assert sheets[student].score >= full - max(e.points for e in exercises)
    for student in demo.ORDER:
        assert f"{student} " in said
        assert (root / "feedback" / student / lesson / f"{lesson}.html").is_file()
    for name in ("report/report.html", "grades.csv", "gradebook.db"):
        assert (root / name).is_file()
        assert name in said
    assert demo.MARK in {p.name for p in root.iterdir()}


def test_the_table_marks_what_waits_for_a_person():
    waits = ManualScore("x_explain", None, None, None, 2.0, True, "markdown")
    sheets = [
        Sheet("untouched", "rotations", "", None, 0.0, {}, {}),
        Sheet("full_solution", "rotations", "", None, 0.0, {"x_explain": waits}, {}),
    ]
    lines = demo.table(sheets, ["rotations", "pipeline"]).splitlines()
    assert lines[2].startswith("full_solution")
    assert "0 / 2 +" in lines[2]
    assert lines[3].rstrip().endswith("-")
