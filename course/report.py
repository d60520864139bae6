"""The class report: scores, mistakes by frequency, who is missing, what waits for a person.

One HTML page with inline SVG (`report/report.html`), and `grades.csv` for an LMS: a row for each
student, a column for each lesson. `report/exercises.csv` has a row for each exercise of each
submission.
"""

from __future__ import annotations

import csv
import io
import statistics
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course.charts import by_exercise, histogram
from course.classwork import read_graded, read_problems, records_of
from course.exercises import LESSONS
from course.exercises import lesson as find_lesson
from course.files import write_whole
from course.gradebook import Gradebook, Sheet
from course.intake import find_submissions
from course.pages import bar, figure, page, sentence, text
from course.paths import DataFolders
from course.records import Problem, Record
from course.template import template


@dataclass
class LessonReport:
    """What the report says of one lesson."""

    lesson: str
    title: str
    sheets: list[Sheet]
    records: list[Record]
    missing: list[str]
    ungraded: list[str]
    problems: list[Problem]
    sentences: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def scores(self) -> list[float]:
        return [sheet.score for sheet in self.sheets]

    @property
    def most(self) -> float:
        return max((sheet.max_score for sheet in self.sheets), default=0.0)


def write_report(folders: DataFolders) -> list[Path]:
    """Write `report/report.html`, `report/exercises.csv` and `grades.csv`; return their paths."""
    lessons, students = gather(folders)
    written = []
    for path, content in (
        (folders.report / "report.html", report_page(lessons, students)),
        (folders.report / "exercises.csv", exercises_csv(lessons)),
        (folders.grades, grades_csv(lessons, students)),
    ):
        write_whole(path, content)
        written.append(path)
    return written


def gather(folders: DataFolders) -> tuple[list[LessonReport], dict[str, dict[str, str]]]:
    """Everything that the report says, by lesson, and the students."""
    from tqdm import tqdm

    sheets: list[Sheet] = []
    students: dict[str, dict[str, str]] = {}
    if folders.gradebook.is_file():
        with Gradebook(folders.gradebook) as gradebook:
            sheets, students = gradebook.sheets(), gradebook.students()
    problems, ungraded = read_problems(folders)
    handed_in = {lesson: find_submissions(folders, lesson) for lesson in LESSONS}
    blank = {"first_name": "", "last_name": "", "email": ""}
    names = {s.student for found in handed_in.values() for s in found}
    for name in sorted(names - set(students)):
        students[name] = dict(blank)
    students = dict(sorted(students.items()))
    lessons = []
    used = [n for n in LESSONS if handed_in[n] or any(s.lesson == n for s in sheets)]
    for name in tqdm(used, desc="report", unit="lesson", file=sys.stderr, leave=False):
        left_out = {student for student, lesson in ungraded if lesson == name}
        mine = [s for s in sheets if s.lesson == name]
        graded, records = [], []
        for sheet in mine:
            notebook = read_graded(folders, sheet.student, name)
            if notebook is None:
                left_out.add(sheet.student)
                continue
            graded.append(sheet)
            records += records_of(notebook, sheet.student, template(name), sheet.grades)
        known = {s.student for s in graded}
        waiting = {s.student for s in handed_in[name]} - known - left_out
        lesson = find_lesson(name)
        lessons.append(
            LessonReport(
                lesson=name,
                title=lesson.title,
                sheets=graded,
                records=records,
                missing=[s for s in students if s not in known | left_out | waiting],
                ungraded=sorted((left_out - known) | waiting),
                problems=[p for p in problems if p.lesson == name],
                sentences={
                    (e.id, m.id): m.text for e in lesson.exercises for m in e.misconceptions
                },
            )
        )
    return lessons, students


def report_page(lessons: Sequence[LessonReport], students: dict[str, dict[str, str]]) -> str:
    """The report as one HTML page."""
    handed_in = sum(len(r.sheets) + len(r.ungraded) for r in lessons)
    body = [
        '<header class="card"><div><p class="eyebrow">Class report</p><h1>mjcourse</h1>'
        f'<p class="soft">{_count(len(students), "student")}, '
        f"{_count(handed_in, 'submission')}</p></div></header>"
    ]
    if not lessons:
        body.append('<p class="note">Nothing is graded yet: `python -m course grade`.</p>')
    else:
        body.append(_students_table(lessons, students))
        body += [_lesson_section(report) for report in lessons]
    return page("Class report", "\n".join(body))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _students_table(lessons: Sequence[LessonReport], students: dict[str, dict[str, str]]) -> str:
    head = "".join(f'<th class="number">{sentence(r.title.split(":")[0])}</th>' for r in lessons)
    rows = []
    for student, about in students.items():
        cells = []
        for report in lessons:
            sheet = next((s for s in report.sheets if s.student == student), None)
            if sheet is not None:
                mark = ' <span class="soft" title="waits for a person">✎</span>'
                cells.append(
                    f'<td class="number">{figure(sheet.score)}'
                    f"{mark if sheet.needs_manual_grade else ''}</td>"
                )
            elif student in report.ungraded:
                cells.append('<td class="number soft">not graded</td>')
            else:
                cells.append('<td class="number soft">missing</td>')
        name = " ".join(filter(None, (about["first_name"], about["last_name"])))
        rows.append(f"<tr><td>{text(name or student)}</td>{''.join(cells)}</tr>")
    best = "".join(f'<td class="number soft">of {figure(r.most)}</td>' for r in lessons)
    return (
        '<h2>Students</h2><div class="framed"><table><thead><tr><th>Student</th>'
        f"{head}</tr></thead><tbody>{''.join(rows)}<tr><td></td>{best}</tr></tbody></table></div>"
        '<p class="small soft">✎ text answers wait for a person (formgrader); '
        "the score can grow.</p>"
    )


def _lesson_section(report: LessonReport) -> str:
    parts = [f"<h2>{sentence(report.title)}</h2>", _figures(report)]
    if report.sheets:
        parts += [
            "<h3>Distribution</h3>",
            f'<figure class="card">{histogram(report.scores, report.most)}</figure>',
            "<h3>By exercise</h3>",
            f'<figure class="card">{by_exercise(exercise_rows(report.records))}</figure>',
            _misconceptions(report),
            _waiting(report),
        ]
    if report.missing:
        parts.append(f"<h3>Missing</h3><p>{text(', '.join(report.missing))}</p>")
    if report.ungraded:
        who = text(", ".join(report.ungraded))
        parts.append(f"<h3>Handed in, not graded</h3><p>{who}</p>")
    parts.append(_problems(report.problems))
    return f"<section>{''.join(parts)}</section>"


def _figures(report: LessonReport) -> str:
    waiting = sum(1 for s in report.sheets if s.needs_manual_grade)
    cells = [
        ("graded", str(len(report.sheets))),
        ("missing", str(len(report.missing))),
        ("not graded", str(len(report.ungraded))),
        ("wait for a person", str(waiting)),
    ]
    if report.sheets:
        of = figure(report.most)
        cells.insert(1, ("mean", f"{figure(statistics.fmean(report.scores))} of {of}"))
        cells.insert(2, ("median", f"{figure(statistics.median(report.scores))} of {of}"))
    made = "".join(f"<li><b>{value}</b><span>{name}</span></li>" for name, value in cells)
    return f'<ul class="figures">{made}</ul>'


def exercise_rows(records: Iterable[Record]) -> list[tuple[str, int, int, int, float]]:
    """For each exercise: `(exercise, all, some, none, mean share)`; ungraded answers left out."""
    by_name: dict[str, list[Record]] = {}
    for record in records:
        if record.points is not None and record.max_points:
            by_name.setdefault(record.exercise, []).append(record)
    rows = []
    for name, mine in by_name.items():
        shares = [r.points / r.max_points for r in mine if r.points is not None]
        full = sum(1 for s in shares if s >= 1 - 1e-9)
        none = sum(1 for s in shares if s <= 0)
        mean = statistics.fmean(shares)
        rows.append((name, full, len(shares) - full - none, none, mean))
    return rows


def _misconceptions(report: LessonReport) -> str:
    """The commonest mistakes, with the sentence that the student reads."""
    who: dict[tuple[str, str], list[str]] = {}
    said: dict[tuple[str, str], str] = {}
    for record in report.records:
        own = [m for m in record.messages if not m.startswith("Follow-through")]
        for id, words in zip(record.misconceptions, own, strict=False):
            who.setdefault((record.exercise, id), []).append(record.student)
            said.setdefault((record.exercise, id), words)
    unwritten = Counter(e for (e, id), names in who.items() if id == "not_written" for _ in names)
    named = [(key, names) for key, names in who.items() if key[1] != "not_written"]
    named.sort(key=lambda item: (-len(item[1]), item[0]))
    rows = []
    for (exercise, id), names in named:
        words = report.sentences.get((exercise, id), said[exercise, id])
        rows.append(
            f'<tr><td class="number">{len(names)}</td><td>{bar(len(names), len(report.sheets))}'
            f"</td><td><code>{text(exercise)}</code></td><td>{sentence(words)}"
            f'<div class="small soft">{text(_some(names))}</div></td></tr>'
        )
    table = (
        '<div class="framed counts"><table><thead><tr><th class="number">Students</th><th></th>'
        f"<th>Exercise</th><th>Mistake</th></tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        if rows
        else "<p>None was named.</p>"
    )
    left = ", ".join(f"{exercise} ({n})" for exercise, n in unwritten.most_common())
    extra = f'<p class="small soft">Not written: {text(left)}.</p>' if left else ""
    return f"<h3>Mistakes by frequency</h3>{table}{extra}"


def _some(names: Sequence[str], limit: int = 8) -> str:
    shown = ", ".join(names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def _waiting(report: LessonReport) -> str:
    """Cells that ask for a person: text answers, and scores given by hand before a new grading."""
    waiting: dict[str, list[str]] = {}
    for sheet in report.sheets:
        for grade in sheet.grades.values():
            if grade.needs_manual_grade:
                waiting.setdefault(grade.grade_id, []).append(sheet.student)
    if not waiting:
        return ""
    rows = "".join(
        f"<tr><td><code>{text(cell)}</code></td>"
        f'<td class="number">{len(names)}</td><td>{text(_some(names, 20))}</td></tr>'
        for cell, names in sorted(waiting.items())
    )
    return (
        '<h3>Waits for a person</h3><div class="framed"><table><thead><tr><th>Cell</th>'
        f'<th class="number">Students</th><th></th></tr></thead><tbody>{rows}</tbody></table></div>'
    )


def _problems(problems: Sequence[Problem]) -> str:
    if not problems:
        return ""
    rows = "".join(
        f"<tr><td>{text(p.student)}</td><td>{text(p.kind.replace('_', ' '))}</td>"
        f"<td>{text(p.message)}</td></tr>"
        for p in problems
    )
    return (
        '<h3>Repaired or not gradable</h3><div class="framed"><table><thead><tr><th>Student</th>'
        f"<th>Problem</th><th></th></tr></thead><tbody>{rows}</tbody></table></div>"
    )


def grades_csv(lessons: Sequence[LessonReport], students: dict[str, dict[str, str]]) -> str:
    """A row for each student; a lesson that is missing or not graded leaves its cell empty."""
    head = ["student", "first_name", "last_name", "email"]
    for report in lessons:
        head += [report.lesson, f"{report.lesson}_max"]
    rows = [[*head, "total", "max", "needs_manual_grade"]]
    for student, about in students.items():
        row = [student, about["first_name"], about["last_name"], about["email"]]
        total, manual = 0.0, False
        for report in lessons:
            sheet = next((s for s in report.sheets if s.student == student), None)
            row += ["" if sheet is None else _number(sheet.score), _number(report.most)]
            if sheet is not None:
                total += sheet.score
                manual |= sheet.needs_manual_grade
        most = sum(report.most for report in lessons)
        rows.append([*row, _number(total), _number(most), "yes" if manual else "no"])
    return _csv(rows)


def exercises_csv(lessons: Sequence[LessonReport]) -> str:
    """A row for each exercise of each submission."""
    rows = [["student", "lesson", "exercise", "points", "max_points", "misconceptions"]]
    for report in lessons:
        for r in report.records:
            points = "" if r.points is None else _number(r.points)
            named = " ".join(r.misconceptions)
            rows.append([r.student, r.lesson, r.exercise, points, _number(r.max_points), named])
    return _csv(rows)


def _number(value: float) -> str:
    return f"{round(value, 6):g}"


def _csv(rows: Iterable[Sequence[str]]) -> str:
    """CSV in which no cell is a formula: a spreadsheet would run one that a student chose."""
    made = io.StringIO()
    writer = csv.writer(made, lineterminator="\n")
    for row in rows:
        writer.writerow([f"'{c}" if c.startswith(("=", "+", "-", "@", "\t")) else c for c in row])
    return made.getvalue()
