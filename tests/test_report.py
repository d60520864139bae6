"""The class report and grades.csv say who did what, who is missing, and what waits for a person."""

import csv
import io
import re
import sqlite3

import pytest

import course.report
from course.charts import by_exercise, histogram
from course.classwork import grade_class
from course.paths import DataFolders
from course.records import Record
from course.report import _csv, exercise_rows, write_report
from tests import toy_lesson as toy


@pytest.fixture
def folders(tmp_path, monkeypatch):
    toy.use(monkeypatch)
    monkeypatch.setattr(course.report, "LESSONS", (toy.LESSON,))
    monkeypatch.setattr(course.report, "find_lesson", lambda _id: toy.lesson())
    return DataFolders(tmp_path)


@pytest.fixture
def reported(folders):
    toy.hand_in(folders.root, "ada", toy.solved())
    toy.hand_in(folders.root, "bob", toy.solved(double="def double(x):\n    return x * x"))
    toy.hand_in(folders.root, "cy", toy.release(), "Copy of toy.ipynb")
    toy.hand_in(folders.root, "dan", b"{")
    grade_class([toy.LESSON], folders)
    connection = sqlite3.connect(folders.gradebook)
    connection.execute(
        "insert into student (id, first_name, last_name) values ('eve', 'Eve', 'Adams')"
    )
    connection.commit()
    connection.close()
    write_report(folders)
    return folders


def page(folders):
    return (folders.report / "report.html").read_text(encoding="utf-8")


def section(html, title):
    return html.split(f"<h3>{title}</h3>", 1)[1].split("<h3>", 1)[0]


def table(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_grades_csv_has_a_row_for_each_student(reported):
    rows = {row["student"]: row for row in table(reported.grades)}
    assert list(rows) == ["ada", "bob", "cy", "dan", "eve"]
    assert (rows["ada"]["toy"], rows["ada"]["toy_max"], rows["ada"]["total"]) == ("5", "7", "5")
    assert rows["ada"]["needs_manual_grade"] == "yes"
    assert rows["cy"]["toy"] == "0"
    assert rows["dan"]["toy"] == rows["eve"]["toy"] == ""
    assert rows["eve"]["last_name"] == "Adams"


def test_exercises_csv_has_a_row_for_each_exercise(reported):
    rows = table(reported.report / "exercises.csv")
    assert len(rows) == 3 * 4
    (bob,) = [r for r in rows if r["student"] == "bob" and r["exercise"] == "double"]
    assert (bob["points"], bob["misconceptions"]) == ("0", "squares")


def test_missing_and_ungraded_students_are_told_apart(reported):
    html = page(reported)
    assert section(html, "Missing").startswith("<p>eve</p>")
    assert section(html, "Handed in, not graded").startswith("<p>dan</p>")


def test_mistakes_are_counted_with_the_sentence_that_students_read(reported):
    said = section(page(reported), "Mistakes by frequency")
    assert "You squared it; doubling is adding it to itself." in said
    assert ">bob<" in said


def test_what_waits_for_a_person_is_listed(reported):
    said = section(page(reported), "Waits for a person")
    assert "triple_explain" in said
    assert "ada, bob" in said
    assert "cy" not in said


def test_problems_are_listed(reported):
    said = section(page(reported), "Repaired or not gradable")
    assert "cut off" in said
    assert "Copy of toy.ipynb" in said


def test_the_report_stands_alone(reported):
    html = page(reported)
    assert html.count("<svg") == 2
    assert "http" not in html.replace("http-equiv", "")
    assert "<script" not in html


def test_an_empty_course_has_a_report_too(folders):
    write_report(folders)
    assert "Nothing is graded yet" in page(folders)
    assert table(folders.grades) == []


def test_a_problem_that_was_solved_disappears(reported):
    toy.hand_in(reported.root, "dan", toy.solved())
    grade_class([toy.LESSON], reported)
    write_report(reported)
    html = page(reported)
    assert "cut off" not in html
    assert "Handed in, not graded" not in html


def test_grading_one_student_keeps_the_problems_of_the_others(reported):
    from course.classwork import Options

    grade_class([toy.LESSON], reported, Options(student="ada"))
    write_report(reported)
    assert "cut off" in page(reported)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\t=1"])
def test_no_cell_of_a_csv_is_a_formula(cell):
    assert _csv([[cell]]).strip('"\n')[0] == "'"


def test_exercise_rows_count_all_some_and_none():
    records = [Record("s", "l", "x", points, 2.0) for points in (2.0, 2.0, 1.0, 0.0, None)]
    assert exercise_rows(records) == [("x", 2, 1, 1, 0.625)]


@pytest.mark.parametrize("scores", [[], [0.0], [7.0], [7.5, -1.0, 3.2], [3.0] * 400])
def test_a_histogram_draws_any_class(scores):
    drawn = histogram(scores, 7.0)
    counts = [int(c) for c in re.findall(r"points: (\d+)</title>", drawn)]
    assert (len(counts), sum(counts)) == (7, len(scores))
    assert "nan" not in histogram(scores, 0.0)


def test_names_in_a_chart_are_text():
    assert "<b>" not in by_exercise([("<b>", 1, 1, 1, 0.5)])
