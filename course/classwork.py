"""Grade a class: every submission read, repaired, graded in parallel, entered one by one.

A submission's grade depends on nothing but its notebook. Each is entered as soon as it is graded:
its notebook into `autograded/` in one move, then its row of the gradebook in one transaction. So
an interrupted run leaves whole submissions, and running again gives what one run would have given.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.files import write_whole
from course.gradebook import Gradebook, ManualScore
from course.intake import Read, Submission, find_submissions, read_submission
from course.paths import DataFolders
from course.records import Problem, Record, attach, attached
from course.template import Template, template

# Of a text answer that is still the stub; nbgrader gives it 0 points and asks nobody to read it.
NO_RESPONSE = "No response."

Job = tuple[Submission, dict[str, Any], str]
# Grades jobs: `(submission, GradedNotebook or the exception of the grader)`, as they come.
Grade = Callable[[Iterator[Job]], Iterator[tuple[Submission, Any]]]


@dataclass
class Graded:
    """What a run of `grade_class` found.

    Attributes:
      lost: submissions that we failed on (not their students), as `(student, lesson, reason)`.
      ungraded: submissions that hold nothing to grade, as `(student, lesson)`.
    """

    records: list[Record] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lost: list[tuple[str, str, str]] = field(default_factory=list)
    ungraded: set[tuple[str, str]] = field(default_factory=set)
    submissions: int = 0
    graded: int = 0

    @property
    def failed(self) -> bool:
        """Whether the fault is ours: a submission lost, or a grader that failed on an exercise."""
        return bool(self.lost) or any(p.kind == "grader_failed" for p in self.problems)

    def to_json(self) -> dict[str, Any]:
        return {
            "results": [record.to_json() for record in self.records],
            "problems": [problem.to_json() for problem in self.problems],
        }


@dataclass(frozen=True)
class Options:
    """How to grade. See `python -m course grade --help`."""

    workers: int | None = None
    dask: str | None = None
    trust: bool = False
    student: str | None = None


def grade_class(
    lessons: Sequence[str], folders: DataFolders, options: Options | None = None
) -> Graded:
    """Grade what lies in `submitted/`; write `autograded/` and the gradebook.

    Raises:
      KeyError: no lesson has one of the ids.
      GradebookError: the gradebook cannot be used; nothing was graded.
    """
    options = options or Options()
    outcome = Graded()
    found = [s for lesson in lessons for s in find_submissions(folders, lesson, options.student)]
    outcome.submissions = len(found)
    if not found:
        return outcome
    with (
        _pool(options) as grade,
        Gradebook(folders.gradebook) as gradebook,
    ):
        templates = {lesson: template(lesson) for lesson in {s.lesson for s in found}}
        for lesson in templates.values():
            gradebook.register(lesson)
        reads: dict[tuple[str, str], Read] = {}
        with closing(_graded(found, reads, outcome, grade)) as results:
            for submission, graded in results:
                read = reads.pop((submission.student, submission.lesson))
                try:
                    _enter(gradebook, templates[submission.lesson], folders, read, graded)
                    outcome.graded += 1
                except Exception as error:
                    _lose(outcome, submission, error)
                outcome.problems += read.problems
        for submission in found:
            if submission.files and (submission.student, submission.lesson) in outcome.ungraded:
                gradebook.record_unread(
                    submission.student, templates[submission.lesson], submission.timestamp
                )
        _collect_records(outcome, gradebook, folders, found)
    _keep_problems(folders, found, outcome)
    return outcome


def _graded(
    found: Sequence[Submission],
    reads: dict[tuple[str, str], Read],
    outcome: Graded,
    grade: Grade,
) -> Generator[tuple[Submission, Any], None, None]:
    """Read, repair and grade; yields `(submission, GradedNotebook)` as they come.

    Submissions are read only as fast as they are graded: memory holds a few at a time.
    """
    from tqdm import tqdm

    bar = tqdm(total=len(found), desc="grade", unit="submission", file=sys.stderr, leave=False)

    def jobs() -> Iterator[Job]:
        for submission in found:
            try:
                read = read_submission(submission)
            except Exception as error:
                _lose(outcome, submission, error)
                bar.update()
                continue
            if read.notebook is None:
                outcome.problems += read.problems
                outcome.ungraded.add((submission.student, submission.lesson))
                bar.update()
                continue
            reads[(submission.student, submission.lesson)] = read
            notebook, read.notebook = read.notebook, None
            yield submission, notebook, submission.lesson

    with bar:
        for submission, graded in grade(jobs()):
            bar.update()
            if isinstance(graded, Exception):
                read = reads.pop((submission.student, submission.lesson))
                outcome.problems += read.problems
                _lose(outcome, submission, graded)
                continue
            yield submission, graded


@contextmanager
def _pool(options: Options) -> Iterator[Grade]:
    """What grades side by side; its processes get ready while the lessons are read."""
    from course.grading.pool import grade_all, start_workers

    if options.dask:
        yield functools.partial(grade_all, dask=options.dask, trusted=options.trust)
        return
    with start_workers(options.workers, options.trust) as started:
        yield functools.partial(
            grade_all, workers=options.workers, trusted=options.trust, started=started
        )


def _lose(outcome: Graded, submission: Submission, error: Exception) -> None:
    reason = f"{type(error).__name__}: {error}"
    outcome.lost.append((submission.student, submission.lesson, reason))
    message = f"Not graded, by a failure of the grader: {reason}. Please report it."
    outcome.problems.append(
        Problem("grader_failed", message, submission.lesson, submission.student)
    )


def _enter(
    gradebook: Gradebook, lesson: Template, folders: DataFolders, read: Read, graded: Any
) -> None:
    """Write one graded notebook and its grades."""
    submission = read.submission
    said = [_problem(p, submission) for p in graded.problems]
    read.problems += said
    notebook = graded.notebook
    attach(notebook, graded.results, read.problems)
    path = graded_path(folders, submission.student, submission.lesson)
    write_whole(path, json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    gradebook.record(submission.student, lesson, notebook, submission.timestamp)


def _problem(given: Any, submission: Submission) -> Problem:
    """A problem of the executor's, which says it in words."""
    if isinstance(given, Problem):
        return given.of(submission.student, submission.lesson)
    message = str(given)
    kind = "grader_failed" if message.startswith("the grader failed") else "grading"
    return Problem(kind, message, submission.lesson, submission.student)


def graded_path(folders: DataFolders, student: str, lesson: str) -> Path:
    """Where the graded notebook of a submission lies."""
    return folders.autograded / student / lesson / f"{lesson}.ipynb"


def read_graded(folders: DataFolders, student: str, lesson: str) -> dict[str, Any] | None:
    """A graded notebook; `None` when there is none."""
    path = graded_path(folders, student, lesson)
    if not path.is_file():
        return None
    return dict(json.loads(path.read_text(encoding="utf-8")))


def records_of(
    notebook: dict[str, Any], student: str, lesson: Template, grades: dict[str, ManualScore]
) -> list[Record]:
    """The records of one graded submission, in the order of the lesson.

    Points are the gradebook's: a person's score, where there is one, counts.
    """
    results = {r["exercise"]: r for r in attached(notebook)["results"]}
    made = []
    for cell in lesson.known.values():
        if not cell.graded:
            continue
        grade = grades.get(cell.grade_id)
        max_points = float(cell.metadata["points"])
        if cell.solution:
            by_hand = grade is not None and grade.manual_score is not None
            points = grade.score if grade is not None and by_hand else None
            waits = grade is None or grade.auto_score is None or by_hand
            said = [] if waits else [NO_RESPONSE]
            made.append(
                Record(student, lesson.lesson, cell.grade_id, points, max_points, messages=said)
            )
            continue
        exercise = cell.grade_id.removeprefix("test_")
        result = results.get(exercise, {})
        points = grade.score if grade is not None else float(result.get("points", 0.0))
        made.append(
            Record(
                student,
                lesson.lesson,
                exercise,
                points,
                max_points,
                list(result.get("misconceptions", [])),
                list(result.get("messages", [])),
            )
        )
    return made


def _collect_records(
    outcome: Graded, gradebook: Gradebook, folders: DataFolders, found: Sequence[Submission]
) -> None:
    """The records of this run's submissions, in the order in which they were found."""
    left_out = {(student, lesson) for student, lesson, _ in outcome.lost} | outcome.ungraded
    lessons = dict.fromkeys(s.lesson for s in found)
    sheets = {(s.student, s.lesson): s for lesson in lessons for s in gradebook.sheets(lesson)}
    for submission in found:
        key = (submission.student, submission.lesson)
        if key in left_out or key not in sheets:
            continue
        notebook = read_graded(folders, *key)
        if notebook is not None:
            outcome.records += records_of(
                notebook, submission.student, template(submission.lesson), sheets[key].grades
            )
    order = {(s.student, s.lesson): i for i, s in enumerate(found)}
    outcome.problems.sort(key=lambda p: order[(p.student, p.lesson)])
    outcome.lost.sort(key=lambda item: order[(item[0], item[1])])


def problems_path(folders: DataFolders) -> Path:
    """Where the problems of the last grading lie, for the report."""
    return folders.report / "problems.json"


def read_problems(folders: DataFolders) -> tuple[list[Problem], set[tuple[str, str]]]:
    """The problems of each submission's last grading, and those that held nothing to grade."""
    path = problems_path(folders)
    if not path.is_file():
        return [], set()
    kept = json.loads(path.read_text(encoding="utf-8"))
    return [Problem(**p) for p in kept["problems"]], {(s, lesson) for s, lesson in kept["ungraded"]}


def _keep_problems(folders: DataFolders, found: Sequence[Submission], outcome: Graded) -> None:
    """Replace what was known of the submissions of this run; keep the others."""
    ours = {(s.student, s.lesson) for s in found}
    problems, ungraded = read_problems(folders)
    problems = [p for p in problems if (p.student, p.lesson) not in ours] + outcome.problems
    ungraded = (ungraded - ours) | outcome.ungraded | {lost[:2] for lost in outcome.lost}
    kept = {
        "problems": [p.to_json() for p in sorted(problems, key=lambda p: (p.lesson, p.student))],
        "ungraded": sorted(ungraded),
    }
    text = json.dumps(kept, indent=1, ensure_ascii=False) + "\n"
    write_whole(problems_path(folders), text)
