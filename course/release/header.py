"""The header of a lesson: title, way in, set-up cell, checklist, exercises. Shared by all lessons.

Everything here is computed from `course/exercises/<lesson>` and `course/settings`, so that points,
times and addresses are stated once.
"""

from __future__ import annotations

import json
import textwrap
from typing import Any

import nbformat.v4

from course import settings
from course.exercises import LESSONS
from course.exercises import lesson as find_lesson
from course.exercises.exercise import Exercise, Lesson
from course.exercises.implementation import SETUP

BADGE = "https://colab.research.google.com/assets/colab-badge.svg"

CHECKLIST = """\
**Your way through.** Double-click this cell and put an `x` between the brackets as you go.

- [ ] **Read**: the question, in plain words, the mathematics, the same in MuJoCo
- [ ] **Build**: write the functions; run the check under each until its lines end in `ok`
- [ ] **Experiment**: predict first, then run it and compare
- [ ] **Break**: change one thing in the live lab and watch it fail
- [ ] **Check**: the knowledge check, `progress()`, then `submit()`
"""

INSTALL = '''\
# Run this cell first. In Colab it installs the course (some seconds) and changes nothing else.
try:
    import google.colab  # noqa: F401
except ImportError:
    pass
else:
    import subprocess
    import sys

    _packages = """
{packages}
    """.split()
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", *_packages], check=True
    )

'''


def header_cells(lesson: Lesson) -> list[Any]:
    """The first cells of the notebook of `lesson`, ready to stand before "The question".

    Each is tagged `{"mjcourse": "header"}`; the title, the set-up cell and the table of exercises
    are locked for nbgrader (read-only, restored when edited); the checklist is the student's.
    """
    return [
        _markdown("header_title", title_text(lesson)),
        _locked(nbformat.v4.new_code_cell(setup_text(lesson)), "header_setup"),
        _markdown("header_checklist", CHECKLIST.rstrip(), locked=False),
        _markdown("header_exercises", exercises_text(lesson)),
    ]


def title_text(lesson: Lesson) -> str:
    """Title, badge, time, prerequisites, neighbours and what is learnt, in Markdown."""
    lines = [
        f"# {lesson.title}",
        "",
        f"[![Open in Colab]({BADGE})]({settings.colab_url(lesson.id)})",
        "",
        f"**Time** about {lesson.minutes} minutes for the text, the labs and the core exercises; "
        "three to four hours for everything.  ",
        f"**You need** {lesson.needs.rstrip('.')}.  ",
        neighbours_text(lesson.id),
        "",
        "**You will be able to**",
        "",
        *(f"- {line}" for line in lesson.learn),
    ]
    return "\n".join(lines)


def neighbours_text(lesson_id: str) -> str:
    """Links to the lesson before and after; a relative path, as the releases lie side by side."""
    at = LESSONS.index(lesson_id)
    parts = [f"**Lesson** {at + 1} of {len(LESSONS)}"]
    if at > 0:
        parts.append(f"before: {_link(LESSONS[at - 1])}")
    if at + 1 < len(LESSONS):
        parts.append(f"after: {_link(LESSONS[at + 1])}")
    return " · ".join(parts)


def exercises_text(lesson: Lesson) -> str:
    """The table of exercises with points and core marks, in Markdown."""
    rows = ["| exercise | what you write | points | core |", "|---|---|---:|:---:|"]
    total = core = 0.0
    for exercise in lesson.exercises:
        rows.append(
            f"| `{exercise.id}` | {_provided(exercise)} | {exercise.points:g} "
            f"| {'●' if exercise.core else ''} |"
        )
        total += exercise.points
        core += exercise.points if exercise.core else 0.0
        if exercise.manual_points:
            rows.append(
                f"| `{exercise.id}_explain` | some sentences, read by a person "
                f"| {exercise.manual_points:g} | |"
            )
            total += exercise.manual_points
    rows.append(f"| **all** | | **{total:g}** | {core:g} core |")
    return "**Exercises of this lesson** (● marks the core)\n\n" + "\n".join(rows)


def setup_text(lesson: Lesson) -> str:
    """The set-up cell: install in Colab, import, say which lesson this is."""
    # A direct reference and versions, without a space inside: one word for each package.
    packages = (f"mjcourse@{settings.WHEEL_URL}", *settings.COLAB_PACKAGES)
    listed = textwrap.fill(
        " ".join(packages),
        96,
        initial_indent="        ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return INSTALL.format(packages=listed) + SETUP + "\n" + begin_text(lesson)


def begin_text(lesson: Lesson) -> str:
    """The call by which the notebook tells `mjcourse` which exercises it holds."""
    lines = ["mjcourse.begin(", f'    "{lesson.id}",', f'    version="{settings.VERSION}",']
    lines.append("    exercises={")
    for exercise in lesson.exercises:
        names = ", ".join(json.dumps(name) for name in exercise.provides)
        comma = "," if len(exercise.provides) == 1 else ""
        entry = f'        "{exercise.id}": ({names}{comma}),'
        if len(entry) > 100:
            inner = "".join(f'            "{name}",\n' for name in exercise.provides)
            entry = f'        "{exercise.id}": (\n{inner}        ),'
        lines.append(entry)
    lines.append("    },")
    texts = [f'"{e.id}_explain"' for e in lesson.exercises if e.manual_points]
    if texts:
        lines.append(f"    texts=({', '.join(texts)},),")
    lines.append(")")
    return "\n".join(lines)


def _provided(exercise: Exercise) -> str:
    if exercise.id == "knowledge_check":
        return "numbers and choices"
    return ", ".join(f"`{name}`" for name in exercise.provides)


def _link(lesson_id: str) -> str:
    title = find_lesson(lesson_id).title.partition(":")[0]
    return f"[{title}](../{lesson_id}/{lesson_id}.ipynb)"


def _markdown(grade_id: str, text: str, locked: bool = True) -> Any:
    cell = nbformat.v4.new_markdown_cell(text)
    return _locked(cell, grade_id) if locked else _tagged(cell, grade_id)


def _tagged(cell: Any, cell_id: str) -> Any:
    cell.id = cell_id
    cell.metadata["mjcourse"] = "header"
    return cell


def _locked(cell: Any, grade_id: str) -> Any:
    cell = _tagged(cell, grade_id)
    cell.metadata["deletable"] = False
    cell.metadata["editable"] = False
    cell.metadata["nbgrader"] = {
        "grade": False,
        "grade_id": grade_id,
        "locked": True,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    return cell
