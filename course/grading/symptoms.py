"""What a wrong result looks like from the result alone, when no misconception explains it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.exercises.compare import as_numbers
from course.grading.observe import Unsupported
from mjcourse.mismatch import recognise

if TYPE_CHECKING:
    from course.exercises.exercise import Case
    from course.grading.score import Observation


def symptom(case: Case, got: Observation, expected: Observation) -> tuple[str, str] | None:
    """`(id, sentence)` of what the observation looks like beside the expected one."""
    if got.error is not None:
        kind = got.error.kinds[0]
        if got.error.is_a("Unreadable"):
            return "wrong_type", f"Its result cannot be read: {got.error.message}."
        if got.error.is_a("NotImplementedError"):
            return "not_written", "A part of it is not written yet (NotImplementedError)."
        if case.raises:
            return "wrong_exception", f"It raises {kind}; {case.raises} is asked for."
        return "raises", f"It stops with an error: {got.error}."
    if case.raises:
        return "no_exception", f"It accepts a bad value; it must raise {case.raises}."
    if got.spoiled:
        return "modified_input", "It changes its input; work on a copy."
    if got.shares:
        return "returns_view", "It returns a view of its input; return a copy."
    if got.value is None and expected.value is not None:
        return "returns_none", "It returns None: is there a `return`?"
    if isinstance(got.value, Unsupported):
        return "wrong_type", f"It returns a {got.value.kind}, which is not what is asked for."
    want, have = as_numbers(expected.value), as_numbers(got.value)
    if want is None:
        return None
    if have is None:
        return "wrong_type", f"It returns a {type(got.value).__name__} where numbers are asked for."
    return recognise(have, want)
