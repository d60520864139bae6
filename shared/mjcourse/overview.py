"""`progress()`: which exercises are untouched or answered, and what their visible checks said."""

from __future__ import annotations

import dis
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from mjcourse import lesson
from mjcourse.grading_mode import under_grading
from mjcourse.lesson import CheckRecord


@dataclass(frozen=True)
class Status:
    """How far an exercise is.

    Attributes:
      written: names of the exercise that exist and are no stub.
      missing: the other names that its solution cell should define.
      checked: what the visible check said of the present answer; None when it has not looked.
      trouble: the check's first line that failed.
      typed: the answers are values (a knowledge check), not functions.
    """

    exercise: str
    written: tuple[str, ...]
    missing: tuple[str, ...]
    checked: bool | None
    trouble: str = ""
    typed: bool = False

    @property
    def answered(self) -> bool:
        return not self.missing

    def text(self) -> str:
        """The status in words."""
        if not self.written:
            return "untouched"
        if self.missing:
            total = len(self.written) + len(self.missing)
            return f"{len(self.written)} of {total} answered; to do: {', '.join(self.missing)}"
        if self.checked is None:
            return "answered" if self.typed else "answered; run its check"
        return "answered, check passed" if self.checked else f"check failed: {self.trouble}"


def progress() -> None:
    """Print how far each exercise of this notebook is. Works at any time, in the running kernel."""
    if under_grading():
        return
    opened = lesson.current()
    if not opened.exercises:
        print("Run the set-up cell at the top of the notebook first.")
        return
    rows = statuses(sys._getframe(1).f_globals)
    width = max(len(row.exercise) for row in rows)
    print(f"{opened.id}: your progress")
    for row in rows:
        mark = "●" if row.checked or (row.typed and row.answered) else "○" if row.written else "·"
        print(f"  {mark} {row.exercise:<{width}}  {_short(row.text())}")
    answered = sum(row.answered for row in rows)
    passed = sum(bool(row.checked) for row in rows)
    print(f"{answered} of {len(rows)} answered; visible checks passed: {passed}.")
    if opened.texts:
        print(f"Answers in words, read by a person: {', '.join(opened.texts)}.")


def statuses(names: Mapping[str, Any]) -> list[Status]:
    """The status of every exercise of the lesson, given the notebook's global names."""
    opened = lesson.current()
    found = []
    for exercise, provides in opened.exercises.items():
        written = tuple(name for name in provides if is_written(names.get(name)))
        missing = tuple(name for name in provides if name not in written)
        record = opened.checks.get(exercise)
        fresh = record is not None and _still_holds(record, names)
        typed = not any(callable(names.get(name)) for name in provides)
        found.append(
            Status(
                exercise,
                written,
                missing,
                record.passed if record is not None and fresh else None,
                record.trouble if record is not None and fresh else "",
                typed,
            )
        )
    return found


def is_written(value: Any) -> bool:
    """Whether a name holds an answer: not None, and no function that is still a stub."""
    if value is None:
        return False
    return not any(map(_is_stub, _codes(value)))


def _still_holds(record: CheckRecord, names: Mapping[str, Any]) -> bool:
    return all(names.get(name) is value for name, value in record.objects.items())


def _codes(value: Any) -> list[CodeType]:
    """The code of a function, or of the methods of a class."""
    if isinstance(value, type):
        return [code for member in vars(value).values() for code in _codes(member)]
    value = getattr(value, "__func__", getattr(value, "fget", value))
    code = getattr(value, "__code__", None)
    return [code] if isinstance(code, CodeType) else []


def _is_stub(code: CodeType) -> bool:
    """Whether the code can raise NotImplementedError; behind a `return` it is compiled away."""
    if "NotImplementedError" not in code.co_names:
        return False
    return any(step.argval == "NotImplementedError" for step in dis.get_instructions(code))


def _short(text: str) -> str:
    return text if len(text) <= 100 else text[:97] + "..."
