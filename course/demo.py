"""`make demo`: an example class from the course's own material, graded the whole way.

Nobody in it is real: every submission is made from a lesson's source and the implementations in
`course/exercises`. A student is named after what was done to the notebook.
"""

from __future__ import annotations

import copy
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.classwork import Graded, Options, grade_class
from course.exercises import LESSONS, Exercise, Lesson
from course.exercises import lesson as find_lesson
from course.feedback import write_feedback
from course.files import write_whole
from course.gradebook import Gradebook, Sheet
from course.pages import figure
from course.paths import CHECKOUT, DataFolders, truth_path
from course.release.stubs import BEGIN, END
from course.report import write_report
from course.template import template

MARK = ".example-class"


class NotOurs(RuntimeError):
    """The folder holds something that the demonstration did not put there."""


@dataclass(frozen=True)
class Example:
    """One submission of the example class."""

    student: str
    file: str
    notebook: dict[str, Any]


def example_class(lesson_id: str) -> Iterator[Example]:
    """The class of one lesson, in the order of the issue that asked for it."""
    lesson = find_lesson(lesson_id)
    name = f"{lesson_id}.ipynb"
    full = solved(lesson_id)
    yield Example("full_solution", name, full)
    yield Example("untouched", name, released(lesson_id))
    yield Example("half_done", name, half_solved(lesson_id))
    for number, changes in enumerate(mistaken(lesson), start=1):
        yield Example(f"mistaken_{number}", name, with_answers(full, changes))
    coded = [e for e in lesson.exercises if _holds_a_function(full, e)]
    broken = {coded[0].id: source_of(full, coded[0].id) + "\nprint('no closing bracket'\n"}
    yield Example("syntax_error", name, with_answers(full, broken))
    loop = "".join(
        f"def {name}(*args, **kwargs):\n    while True:\n        pass\n\n"
        for name in coded[-1].provides
    )
    yield Example("endless_loop", name, with_answers(full, {coded[-1].id: loop}))
    yield Example("renamed", f"Copy of {name}", full)
    yield Example("from_colab", name, as_colab_saves(full))


def released(lesson_id: str) -> dict[str, Any]:
    """The notebook that a student opens, as JSON gives it."""
    shape = template(lesson_id)
    cells = []
    for cell in shape.cells:
        made: dict[str, Any] = {
            "cell_type": cell.cell_type,
            "id": cell.id,
            "metadata": {"nbgrader": dict(cell.metadata)} if cell.metadata else {},
            "source": cell.shown,
        }
        if cell.cell_type == "code":
            made |= {"execution_count": None, "outputs": []}
        cells.append(made)
    metadata = {"kernelspec": dict(shape.kernelspec), "mjcourse": {"lesson": lesson_id}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def solved(lesson_id: str) -> dict[str, Any]:
    """The release with the instructor's answers in it."""
    from course.release.build import source_notebook

    answers = {
        cell.metadata.nbgrader.grade_id: _without_marks(cell.source)
        for cell in source_notebook(lesson_id).cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    return with_answers(released(lesson_id), answers)


def half_solved(lesson_id: str) -> dict[str, Any]:
    """The first half of the exercises answered, the rest untouched."""
    full, made = solved(lesson_id), released(lesson_id)
    exercises = find_lesson(lesson_id).exercises
    done = {e.id for e in exercises[: (len(exercises) + 1) // 2]}
    return with_answers(made, {id: source_of(full, id) for id in done})


def mistaken(lesson: Lesson) -> list[dict[str, str]]:
    """Three sets of wrong answers, `{exercise: cell}`, each with other misconceptions."""
    with_some = [e for e in lesson.exercises if e.misconceptions]
    sets: list[dict[str, str]] = []
    for number in range(3):
        changes = {}
        for exercise in with_some[number::3][:2]:
            wrong = exercise.misconceptions[number % len(exercise.misconceptions)]
            changes[exercise.id] = wrong.cell
        sets.append(changes)
    return sets


def with_answers(notebook: dict[str, Any], answers: dict[str, str]) -> dict[str, Any]:
    """A copy in which the solution cells of those ids hold other texts."""
    made = copy.deepcopy(notebook)
    for cell in made["cells"]:
        id = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if id in answers:
            cell["source"] = answers[id]
    return made


def as_colab_saves(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook in the shape of one that Colab has saved: its own metadata, nobody else's."""
    made = copy.deepcopy(notebook)
    for index, cell in enumerate(made["cells"]):
        del cell["id"]
        cell["metadata"] = {"id": f"c0lab{index:07d}"}
        cell["source"] = cell["source"].splitlines(keepends=True)
        if cell["cell_type"] == "code":
            cell["metadata"]["outputId"] = f"0utput{index:07d}"
    made["metadata"] = {
        "colab": {"provenance": [], "toc_visible": True},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }
    made["nbformat_minor"] = 0
    return made


def source_of(notebook: dict[str, Any], grade_id: str) -> str:
    """The text of the cell of that id."""
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id:
            return str(cell["source"])
    raise KeyError(grade_id)


def _holds_a_function(notebook: dict[str, Any], exercise: Exercise) -> bool:
    return f"def {exercise.provides[0]}(" in source_of(notebook, exercise.id)


def _without_marks(source: str) -> str:
    return "\n".join(x for x in source.split("\n") if x.strip() not in (BEGIN, END))


def write_class(folders: DataFolders, lessons: Sequence[str]) -> int:
    """Write the example class into `submitted/`; return the number of submissions."""
    count = 0
    for lesson in lessons:
        for example in example_class(lesson):
            path = folders.submitted / example.student / lesson / example.file
            write_whole(path, json.dumps(example.notebook, indent=1, ensure_ascii=False) + "\n")
            count += 1
    return count


def demo(root: Path | None = None, *, workers: int | None = None) -> int:
    """Release every lesson, grade the example class, print the scores; the exit status.

    Raises:
      NotOurs: `root` holds something else.
    """
    from course.release.build import release_lessons

    start = time.perf_counter()
    lessons = [lesson for lesson in LESSONS if truth_path(lesson).is_file()]
    folders = DataFolders((root or CHECKOUT / "demo").resolve())
    _start_afresh(folders.root)
    print(f"1. Releases of {len(lessons)} lessons ...", flush=True)
    built = release_lessons(lessons)
    print(f"   {sum(b.changed for b in built)} of {len(built)} notebooks changed")
    count = write_class(folders, lessons)
    print(f"2. Grading {count} submissions of an example class ...", flush=True)
    outcome = grade_class(lessons, folders, Options(workers=workers))
    print(f"   {outcome.graded} graded, {len(outcome.problems)} repairs and remarks")
    print("3. Feedback and report ...", flush=True)
    pages = write_feedback(lessons, folders)
    write_report(folders)
    print(f"   {len(pages)} pages\n")
    with Gradebook(folders.gradebook) as gradebook:
        print(table(gradebook.sheets(), lessons))
    print(_where(folders, lessons, outcome))
    print(f"Done in {time.perf_counter() - start:.0f} s.")
    return 1 if outcome.failed or outcome.graded != count else 0


def _start_afresh(root: Path) -> None:
    """Empty what an earlier demonstration left; refuse to touch anything else."""
    if root.exists() and any(root.iterdir()) and not (root / MARK).is_file():
        raise NotOurs(f"{root} is not empty; name an empty folder with --root")
    if root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True)
    (root / MARK).write_text("Made by `python -m course demo`, which may delete all of it.\n")


def table(sheets: Sequence[Sheet], lessons: Sequence[str]) -> str:
    """The scores as text: a row for each student, a column for each lesson."""
    by_key = {(s.student, s.lesson): s for s in sheets}
    students = list(dict.fromkeys(s.student for s in sorted(sheets, key=lambda s: s.student)))
    order = {name: i for i, name in enumerate(ORDER)}
    students.sort(key=lambda name: order.get(name, len(order)))
    width = max([*(len(s) for s in students), 8]) + 2
    head = " " * width + "".join(f"{lesson:>26}" for lesson in lessons)
    lines = [head, "-" * len(head)]
    for student in students:
        line = f"{student:<{width}}"
        for lesson in lessons:
            sheet = by_key.get((student, lesson))
            if sheet is None:
                said = "-"
            else:
                mark = " +" if sheet.needs_manual_grade else "  "
                said = f"{figure(sheet.score)} / {figure(sheet.max_score)}{mark}"
            line += f"{said:>26}"
        lines.append(line)
    lines.append("+ text answers are still to be read by a person")
    return "\n".join(lines)


ORDER = (
    "full_solution",
    "untouched",
    "half_done",
    "mistaken_1",
    "mistaken_2",
    "mistaken_3",
    "syntax_error",
    "endless_loop",
    "renamed",
    "from_colab",
)


def _where(folders: DataFolders, lessons: Sequence[str], outcome: Graded) -> str:
    example = folders.feedback / "mistaken_1" / lessons[0] / f"{lessons[0]}.html"
    lines = [
        "",
        f"Feedback       {_short(example)}  and {outcome.graded - 1} more",
        f"Class report   {_short(folders.report / 'report.html')}",
        f"Grades         {_short(folders.grades)}",
        f"Gradebook      {_short(folders.gradebook)}  (nbgrader's; formgrader reads it)",
    ]
    lines += [f"LOST  {student} {lesson}: {reason}" for student, lesson, reason in outcome.lost]
    return "\n".join(lines)


def _short(path: Path) -> str:
    try:
        return str(path.relative_to(Path.cwd()))
    except ValueError:
        return str(path)
