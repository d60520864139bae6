"""Grading: from a submitted notebook to points, misconceptions and words.

`grade` is what a hidden test cell calls.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["NotTrusted", "grade", "grading_with"]

_grader: ContextVar[Callable[[str, str], float] | None] = ContextVar("grader", default=None)


class NotTrusted(RuntimeError):
    """A hidden test was run where the student's code could answer for it."""


@contextmanager
def grading_with(grader: Callable[[str, str], float]) -> Iterator[None]:
    """Inside the block `grade(lesson, exercise)` is answered by `grader`."""
    token = _grader.set(grader)
    try:
        yield
    finally:
        _grader.reset(token)


def grade(lesson: str, exercise: str) -> float:
    """Grade one exercise of the notebook that this cell belongs to; print why; return the points.

    Under grading the executor answers, with the student's code in a process of its own. In an
    instructor's own kernel it is a preview of the same tests.

    Raises:
      NotTrusted: in a kernel that grades a submission (`NBGRADER_EXECUTION=autograde`), where the
        student's code could forge the result.
    """
    grader = _grader.get()
    if grader is not None:
        return float(grader(lesson, exercise))
    return _preview(lesson, exercise)


def _preview(lesson: str, exercise: str) -> float:
    import os

    from IPython.core.getipython import get_ipython

    from course.grading.door import LocalDoor
    from course.grading.score import prepared, score

    shell: Any = get_ipython()
    untrusted = os.environ.get("MJCOURSE_UNTRUSTED_GRADING") == "1"
    if os.environ.get("NBGRADER_EXECUTION") == "autograde" and not untrusted:
        raise NotTrusted(
            "hidden tests do not score inside the student's kernel; grade with "
            "`python -m course grade`, or ask for untrusted grading by name"
        )
    if shell is None:
        raise NotTrusted("grade() is for a notebook cell; there is no notebook here")
    result = score(prepared(lesson, exercise), LocalDoor(shell.user_ns, record=True))
    print(result.text())
    return float(result.points)
