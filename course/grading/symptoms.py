"""What a wrong result looks like from the result alone, when no misconception explains it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

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
    if got.value is None and case.typed:
        return "not_written", f"`{case.label}` is not answered yet."
    if got.value is None and expected.value is not None:
        return "returns_none", "It returns None: is there a `return`?"
    if isinstance(got.value, Unsupported):
        return "wrong_type", f"It returns a {got.value.kind}, which is not what is asked for."
    if case.typed and isinstance(expected.value, str) and len(expected.value) == 1:
        return _NO_OPTION if not _is_letter(got.value) else None
    want, have = as_numbers(expected.value), as_numbers(got.value)
    if want is None:
        return None
    if have is None:
        return "wrong_type", f"It returns a {type(got.value).__name__} where numbers are asked for."
    return (_typed_number(case, have, want) if case.typed else None) or recognise(have, want)


_NO_OPTION = "no_option", 'It is none of the options: type one letter in quotes, such as "a".'


def _is_letter(value: Any) -> bool:
    return isinstance(value, str) and len(value.strip(" ().:\n")) == 1


# What a typed number must be multiplied by to be right, and what that says.
_FACTORS = (
    (-1.0, "sign", "The sign is wrong."),
    (2.0, "half", "It is half of the right value."),
    (0.5, "factor_two", "It is twice the right value."),
    (180 / math.pi, "radians", "It is in radians; degrees are asked for."),
    (math.pi / 180, "degrees", "It is in degrees; radians are asked for."),
    (1e-3, "thousand", "It is a thousand times the right value: mind the unit."),
    (1e3, "thousandth", "It is a thousandth of the right value: mind the unit."),
)


def _typed_number(case: Case, got: np.ndarray, expected: np.ndarray) -> tuple[str, str] | None:
    """A typed number is compared with a tolerance of its own, wider than a computed one's."""
    if got.ndim or expected.ndim or not got:
        return None
    for factor, id, text in _FACTORS:
        if case.compare(factor * float(got), float(expected)) is None:
            return id, text
    return None
