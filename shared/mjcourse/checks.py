"""Visible checks: compare an answer with MuJoCo or SciPy, print the error, name what went wrong.

    @visible_check("quat_mul")
    def check_quat_mul(check):
        for a, b in pairs:
            check.close("quat_mul vs mju_mulQuat", quat_mul(a, b), expected(a, b))

prints, at once,

    quat_mul vs mju_mulQuat   2.2e-16  ok

and, when it is wrong, what the result looks like. One line for each label, with the largest error
of all comparisons under that label. An exception becomes one readable line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mjcourse import lesson
from mjcourse.explain import one_line
from mjcourse.grading_mode import strict, under_grading
from mjcourse.mismatch import looks_like

# Comparisons under one label that are kept to find a look which all of them share.
_KEPT = 40
_FEW = 12


class CheckFailed(AssertionError):
    """A visible check failed where it must not: in the instructor's version (`MJCOURSE_STRICT`)."""


@dataclass
class _Line:
    """One label of a check: the largest error, and what the failures look like."""

    label: str
    figure: float | None = None
    trouble: str = ""
    wrong: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    worst: float = -1.0

    @property
    def passed(self) -> bool:
        return not self.trouble and not self.wrong

    def text(self, width: int) -> str:
        figure = "" if self.figure is None else f"{self.figure:.1e}"
        verdict = "ok" if self.passed else f"not yet: {self.reason()}"
        return f"{self.label:<{width}}  {figure:>8}  {verdict}"

    def reason(self) -> str:
        if self.trouble or not self.wrong:
            return self.trouble
        shared = looks_like(*self.wrong[0])
        for got, expected in self.wrong[1:]:
            ids = {id for id, _ in looks_like(got, expected)}
            shared = [look for look in shared if look[0] in ids]
        if shared:
            sentence = shared[0][1]
            return sentence[0].lower() + sentence[1:].rstrip(".")
        got, expected = max(self.wrong, key=lambda pair: _distance(*pair))
        if got.size <= _FEW:
            return f"for example {_show(got)}; {_show(expected)} expected"
        if got.shape != expected.shape:
            return f"shape {got.shape}; {expected.shape} expected"
        place = np.unravel_index(np.argmax(np.abs(got - expected)), got.shape)
        where = ", ".join(map(str, map(int, place)))
        found, right = _show(got[place]), _show(expected[place])
        return f"it differs most at [{where}]: {found}; {right} expected"


class Check:
    """What a visible check writes into. Every method takes the label of its line first."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}

    @property
    def passed(self) -> bool:
        """True when something was compared and all of it agreed."""
        return bool(self._lines) and all(line.passed for line in self._lines.values())

    @property
    def lines(self) -> list[str]:
        """One line of text for each label, in the order in which they first came."""
        width = max((len(label) for label in self._lines), default=0)
        return [line.text(width) for line in self._lines.values()]

    @property
    def trouble(self) -> str:
        """The first label that failed, with its reason; empty when all passed."""
        for line in self._lines.values():
            if not line.passed:
                return f"{line.label}: {line.reason()}"
        return ""

    def close(
        self,
        label: str,
        got: Any,
        expected: Any,
        *,
        atol: float = 1e-9,
        rtol: float = 0.0,
        up_to_sign: bool = False,
    ) -> bool:
        """`got` has the shape of `expected` and is within `atol + rtol |expected|` everywhere.

        Args:
          got: a number, an array, or nested lists or tuples of numbers.
          up_to_sign: quaternions (last axis): `q` and `-q` count as the same.
        """
        line = self._line(label)
        if got is None:
            return self._fail(line, "it returns None: is there a `return`?")
        want = np.array(expected, dtype=float)  # a copy: a check may fill one array again and again
        try:
            have = np.asarray(got)
            if have.dtype.kind not in "biuf":
                raise TypeError
        except (TypeError, ValueError):
            return self._fail(line, f"it returns {_kind(got)}; numbers are asked for")
        have = have.astype(float)  # a copy too
        if have.shape == want.shape:
            error = _error(have, want, up_to_sign)
            worst = float(np.max(error, initial=0.0))
            line.figure = worst if line.figure is None else _larger(line.figure, worst)
            if np.all(error <= atol + rtol * np.abs(want)):
                return True
        if len(line.wrong) < _KEPT:
            line.wrong.append((have, want))
        return False

    def equal(self, label: str, got: Any, expected: Any) -> bool:
        """`got == expected`; NumPy scalars and arrays count as Python's numbers and lists."""
        line = self._line(label)
        if _plain(got) == _plain(expected):
            return True
        if got is None:
            return self._fail(line, "it is None: is there a `return`, or a value still to type?")
        return self._fail(line, f"{_show(got)}; {_show(expected)} expected")

    def true(self, label: str, condition: Any, otherwise: str) -> bool:
        """`condition` holds; `otherwise` says what is wrong when it does not."""
        line = self._line(label)
        return bool(np.all(condition)) or self._fail(line, otherwise)

    def unlike(self, label: str, got: Any, *wrong: Any, otherwise: str) -> bool:
        """`got` is none of `wrong`, results of one known mistake (to 1e-9), which `otherwise` says.

        To be asked after `close` has failed: a right answer may be like a wrong one by chance.
        """
        return self.true(label, not any(_alike(got, mistaken) for mistaken in wrong), otherwise)

    def raises(
        self, label: str, exception: type[BaseException], function: Callable[..., Any], *args: Any
    ) -> bool:
        """`function(*args)` raises `exception` or a subclass of it."""
        line = self._line(label)
        try:
            function(*args)
        except NotImplementedError:
            raise
        except exception:
            return True
        except Exception as other:
            told = f"it raises {type(other).__name__}; {exception.__name__} is asked for"
            return self._fail(line, told)
        return self._fail(line, f"it accepts the value; {exception.__name__} is asked for")

    def unchanged(self, label: str, before: Any, after: Any) -> bool:
        """An input still holds what it held: `before` is a copy made before the call."""
        same = np.array_equal(np.asarray(before), np.asarray(after), equal_nan=True)
        return same or self._fail(
            self._line(label), "the function changes its input: copy it first"
        )

    def stopped(self, told: str) -> None:
        """Note that the check could not go on, and why."""
        self._fail(self._line("the check stops here"), told)

    def _line(self, label: str) -> _Line:
        return self._lines.setdefault(label, _Line(label))

    def _fail(self, line: _Line, trouble: str) -> bool:
        line.trouble = line.trouble or trouble
        return False


class VisibleCheck:
    """A check that ran: call it to run it again.

    Attributes:
      exercise: the exercise that it looks at.
      passed: what the last run said; None before the first (under grading nothing runs).
    """

    def __init__(self, exercise: str, body: Callable[[Check], Any]) -> None:
        self.exercise = exercise
        self.passed: bool | None = None
        self._body = body

    def __repr__(self) -> str:
        state = {None: "not run", True: "passed", False: "failed"}[self.passed]
        return f"<visible check of {self.exercise}: {state}>"

    def __call__(self) -> bool:
        """Run the check, print its lines, and say whether it passed.

        Raises:
          CheckFailed: it failed in the instructor's version (`MJCOURSE_STRICT` is set).
        """
        check = Check()
        names: Mapping[str, Any] = self._body.__globals__  # type: ignore[attr-defined]
        alone = ""
        try:
            self._body(check)
        except Exception as error:
            if strict():
                raise
            told = one_line(error, names, self._body.__code__)  # type: ignore[attr-defined]
            if check.lines:
                check.stopped(told)
            else:
                alone = told if self.exercise in told else f"{self.exercise}: {told}"
        self.passed = check.passed and not alone
        print("\n".join([*check.lines, *([alone] if alone else [])]))
        lesson.note_check(self.exercise, self.passed, alone or check.trouble, names)
        if strict() and not self.passed:
            raise CheckFailed(f"the visible check of {self.exercise} fails: {check.trouble}")
        return self.passed


def visible_check(exercise: str) -> Callable[[Callable[[Check], Any]], VisibleCheck]:
    """Decorator: run `def check_x(check)` now, print what it found, and keep it for `progress()`.

    Under grading it does not run. The name becomes a `VisibleCheck`; calling it runs it again.
    """

    def run(body: Callable[[Check], Any]) -> VisibleCheck:
        check = VisibleCheck(exercise, body)
        if not under_grading():
            check()
        return check

    return run


def _error(have: np.ndarray, want: np.ndarray, up_to_sign: bool) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        error = np.where(have == want, 0.0, np.abs(have - want))
        if up_to_sign and want.ndim and want.size:
            other = np.abs(have + want)
            nearer = error.max(axis=-1, keepdims=True) <= other.max(axis=-1, keepdims=True)
            error = np.where(nearer, error, other)
    return np.where(np.isnan(have) & np.isnan(want), 0.0, error)


def _alike(got: Any, other: Any) -> bool:
    try:
        have, want = np.asarray(got, dtype=float), np.asarray(other, dtype=float)
    except (TypeError, ValueError):
        return False
    return have.shape == want.shape and np.allclose(have, want, rtol=0, atol=1e-9)


def _distance(got: np.ndarray, expected: np.ndarray) -> float:
    if got.shape != expected.shape:
        return float("inf")
    worst = float(np.max(np.abs(got - expected), initial=0.0))
    return float("inf") if np.isnan(worst) else worst


def _larger(a: float, b: float) -> float:
    return float("nan") if np.isnan(a) or np.isnan(b) else max(a, b)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return tuple(_plain(v) for v in value)
    if isinstance(value, Mapping):
        return {key: _plain(v) for key, v in value.items()}
    return value


def _kind(value: Any) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiouAEIOU" else f"a {name}"


def _show(value: Any) -> str:
    if isinstance(value, np.ndarray | list | tuple | float | np.generic):
        try:
            with np.printoptions(precision=4, suppress=True, threshold=_FEW):
                text = np.array2string(np.asarray(value), separator=", ").replace("\n", "")
        except ValueError:
            text = repr(value)
    else:
        text = repr(value)
    return text if len(text) <= 120 else text[:117] + "..."
