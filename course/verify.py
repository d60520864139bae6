"""Prove the graders: every known right answer gets full points, every known wrong one loses some.

Each implementation of every exercise is put in place of the solution cell of the lesson's own
notebook and goes through the same grading as a submission.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from nbformat import NotebookNode
from tqdm import tqdm

from course.exercises import LESSONS, Exercise
from course.exercises import lesson as find_lesson
from course.grading.score import Result
from course.release.build import release_notebook, source_notebook

# Wrong in a way that needs no thought; each must lose points in every exercise with functions.
CONSTANTS = {
    "returns None": "return None",
    "returns its first argument": "return args[0] if args else None",
    "returns zeros": "return np.zeros(4)",
}


@dataclass(frozen=True)
class Trial:
    """One notebook to grade and what must come out.

    Attributes:
      kind: "reference", "untouched", "misconception", "variant" or "constant".
      exercise: id of the exercise looked at; empty for a whole notebook.
      name: id of the implementation.
      notebook: what is graded.
    """

    lesson: str
    kind: str
    exercise: str
    name: str
    notebook: NotebookNode


@dataclass(frozen=True)
class Verdict:
    """What came out of a trial; `trouble` is empty when it is what must come out."""

    trial: Trial
    points: float
    max_points: float
    named: tuple[str, ...]
    trouble: str


def trials(lesson_id: str) -> Iterator[Trial]:
    """Every notebook that proves the graders of a lesson."""
    lesson = find_lesson(lesson_id)
    source = source_notebook(lesson_id)
    yield Trial(lesson_id, "reference", "", "solutions", source)
    yield Trial(lesson_id, "untouched", "", "release", release_notebook(source, lesson_id))
    for exercise in lesson.exercises:
        for wrong in exercise.misconceptions:
            notebook = with_solution(source, exercise, wrong.cell)
            yield Trial(lesson_id, "misconception", exercise.id, wrong.id, notebook)
        for right in exercise.variants:
            notebook = with_solution(source, exercise, right.cell)
            yield Trial(lesson_id, "variant", exercise.id, right.id, notebook)
        if all(callable(value) for value in exercise.reference_names().values()):
            for name, body in CONSTANTS.items():
                cell = "\n".join(
                    f"def {function}(*args, **kwargs):\n    {body}\n"
                    for function in exercise.provides
                )
                notebook = with_solution(source, exercise, cell)
                yield Trial(lesson_id, "constant", exercise.id, name, notebook)


def with_solution(source: NotebookNode, exercise: Exercise, cell: str) -> NotebookNode:
    """The set-up cell, the solution cell of `exercise` holding `cell`, and its test."""
    asked = ("header_setup", exercise.id, f"test_{exercise.id}")
    notebook = copy.copy(source)
    notebook.cells = [copy.deepcopy(c) for c in source.cells if _grade_id(c) in asked]
    for made in notebook.cells:
        if _grade_id(made) == exercise.id:
            made.source = cell
    return notebook


def _grade_id(cell: Any) -> str:
    return str(cell.metadata.get("nbgrader", {}).get("grade_id", ""))


def judge(trial: Trial, results: list[Result]) -> Verdict:
    """Compare what grading said with what must come out."""
    looked_at = [r for r in results if not trial.exercise or r.exercise == trial.exercise]
    points = sum(r.points for r in looked_at)
    most = sum(r.max_points for r in looked_at)
    named = tuple(id for r in looked_at for id in r.misconceptions)
    trouble = ""
    if not looked_at:
        trouble = "was not graded"
    elif trial.kind in ("reference", "variant") and points < most:
        words = "; ".join(m for r in looked_at if not r.full for m in r.messages)
        trouble = f"a right answer got {points:g} of {most:g}: {words}"
    elif trial.kind == "untouched" and points:
        trouble = f"an untouched release got {points:g} points"
    elif trial.kind in ("misconception", "constant") and points >= most:
        trouble = "a wrong answer got full points"
    elif trial.kind == "constant" and trial.name == "returns None" and points:
        trouble = f"returning nothing got {points:g} points"
    elif trial.kind == "misconception" and trial.name not in named:
        trouble = f"is called {', '.join(named) or 'nothing'}"
    return Verdict(trial, points, most, named, trouble)


def verify(lessons: Iterable[str] = LESSONS, *, workers: int | None = None) -> list[Verdict]:
    """Grade every trial of the lessons, as submissions are graded; the verdicts in order."""
    from course.grading.pool import grade_all

    asked = [trial for lesson_id in lessons for trial in trials(lesson_id)]
    jobs = ((number, trial.notebook, trial.lesson) for number, trial in enumerate(asked))
    verdicts: dict[int, Verdict] = {}
    bar = tqdm(total=len(asked), desc="verify", unit="notebook", disable=not sys.stderr.isatty())
    with bar:
        for number, graded in grade_all(jobs, workers=workers):
            if isinstance(graded, Exception):
                trouble = f"the grader failed: {type(graded).__name__}: {graded}"
                verdicts[number] = Verdict(asked[number], 0.0, 0.0, (), trouble)
            else:
                verdicts[number] = judge(asked[number], graded.results)
            bar.update()
    return [verdicts[number] for number in range(len(asked))]


def seconds_of_full_solution(lesson_id: str) -> float:
    """Seconds to grade the lesson's own solutions in a warm grader, cells and hidden tests."""
    from course.grading.executor import grade_notebook

    source = source_notebook(lesson_id)
    grade_notebook(source, lesson_id)
    start = time.perf_counter()
    grade_notebook(source, lesson_id)
    return time.perf_counter() - start


def table(verdicts: list[Verdict]) -> str:
    """The verdicts in a table: an exercise a row, then whatever is wrong."""
    head = f"{'lesson / exercise':<46}{'right':>8}{'wrong':>8}{'named':>8}{'constant':>10}"
    lines = [head, "-" * len(head)]
    for lesson_id in dict.fromkeys(v.trial.lesson for v in verdicts):
        of_lesson = [v for v in verdicts if v.trial.lesson == lesson_id]
        whole = [v for v in of_lesson if not v.trial.exercise]
        said = "; ".join(f"{v.trial.name} {v.points:g}/{v.max_points:g}" for v in whole)
        lines.append(f"{lesson_id}: {said}")
        for id in dict.fromkeys(v.trial.exercise for v in of_lesson if v.trial.exercise):
            mine = [v for v in of_lesson if v.trial.exercise == id]
            right = [v for v in mine if v.trial.kind == "variant"]
            wrong = [v for v in mine if v.trial.kind == "misconception"]
            constant = [v for v in mine if v.trial.kind == "constant"]
            counts = (
                _count(right, lambda v: v.points >= v.max_points),
                _count(wrong, lambda v: v.points < v.max_points),
                _count(wrong, lambda v: v.trial.name in v.named),
                _count(constant, lambda v: v.points < v.max_points),
            )
            row = f"{'  ' + id:<46}{counts[0]:>8}{counts[1]:>8}{counts[2]:>8}{counts[3]:>10}"
            lines.append(row)
    bad = [v for v in verdicts if v.trouble]
    lines.append(f"{len(verdicts)} notebooks graded, {len(bad)} not as they must be")
    lines += [
        f"  {v.trial.lesson} {v.trial.exercise} {v.trial.kind} {v.trial.name}: {v.trouble}"
        for v in bad
    ]
    return "\n".join(lines)


def _count(verdicts: list[Verdict], holds: Callable[[Verdict], bool]) -> str:
    return f"{sum(map(holds, verdicts))}/{len(verdicts)}" if verdicts else "-"
