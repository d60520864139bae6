"""How an answer's value is compared with the reference, and how the difference is said in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from course.grading.observe import Handle, Unsupported


@dataclass(frozen=True)
class Mismatch:
    """Why a value is not the expected one: a sentence, and the largest error where it is a number.

    Most are never read (a diagnosis compares thousands of values), so the sentence may be given
    as a function that makes it.
    """

    said: str | Callable[[], str]
    error: float = float("inf")

    @property
    def text(self) -> str:
        return self.said if isinstance(self.said, str) else self.said()


class Comparator(Protocol):
    """Compares a value with the expected one; `None` when they agree."""

    def __call__(self, got: Any, expected: Any) -> Mismatch | None: ...

    def loosened(self) -> Comparator:
        """The same comparison with a tolerance wide enough to recognise a misconception by."""
        ...


def show(value: Any, digits: int = 4) -> str:
    """A value in a few words for a message."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    numbers = as_numbers(value) if isinstance(value, (np.ndarray, list, tuple)) else None
    if numbers is not None and numbers.ndim and numbers.size:
        with np.printoptions(precision=digits, suppress=True, threshold=12, edgeitems=3):
            text = np.array2string(np.asarray(value), separator=", ").replace("\n", "")
    elif isinstance(value, float):
        text = f"{value:.{digits + 2}g}"
    elif isinstance(value, Unsupported):
        text = f"a {value.kind}"
    elif isinstance(value, Handle):
        text = f"an instance of {value.kind}"
    else:
        text = repr(value)
    return text if len(text) <= 90 else text[:87] + "..."


def as_numbers(value: Any) -> np.ndarray | None:
    """An array of floats (or complex, if truly complex) from an array-like, else `None`."""
    if value is None or isinstance(value, (str, bytes, Mapping, set, slice, Handle, Unsupported)):
        return None
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    if array.dtype == object or array.dtype.kind not in "biufc":
        return None
    if array.dtype.kind == "c":
        return array if np.any(array.imag) else array.real
    return array.astype(float)


@dataclass(frozen=True)
class close:
    """Equal in shape, and in every entry within `atol + rtol * |expected|`.

    A quaternion that means the same rotation with the other sign passes with `up_to_sign`
    (applied along the last axis).
    """

    atol: float = 1e-9
    rtol: float = 0.0
    up_to_sign: bool = False

    def __call__(self, got: Any, expected: Any) -> Mismatch | None:
        want = as_numbers(expected)
        if want is None:
            raise TypeError(f"close compares numbers; the expected value is {show(expected)}")
        have = as_numbers(got)
        if have is None:
            wanted = "a number" if want.ndim == 0 else f"numbers of shape {want.shape}"
            return Mismatch(lambda: f"returned {show(got)}; {wanted} expected")
        if have.shape != want.shape:
            return Mismatch(f"returned shape {have.shape}; {want.shape} expected")
        if want.size == 0:
            return None
        if have.dtype.kind == "c":
            return Mismatch("returned complex numbers")
        error = self._error(have, want)
        bound = self.atol + self.rtol * np.abs(np.where(np.isfinite(want), want, 0.0))
        # NaN where NaN is expected is agreement: it lets a misconception be recognised by its NaN.
        agree = (np.isnan(have) & np.isnan(want)) | (np.isinf(want) & (have == want))
        wrong = ~((error <= bound) | agree)
        if not wrong.any():
            return None
        if np.isnan(have[wrong]).any():
            return Mismatch(lambda: f"returned NaN: {show(have)}")
        worst = float(np.max(error[wrong]))
        return Mismatch(lambda: f"returned {show(have)}, off by {worst:.2g}", worst)

    def _error(self, have: np.ndarray, want: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            error = np.abs(have - want)
            if self.up_to_sign and want.ndim:
                other = np.abs(have + want)
                size = [np.nan_to_num(e).max(axis=-1, keepdims=True) for e in (error, other)]
                nearer = size[0] <= size[1]
                error = np.where(nearer, error, other)
        return error

    def loosened(self) -> close:
        return replace(self, atol=max(self.atol, 1e-6), rtol=max(self.rtol, 1e-6))


def quaternion(atol: float = 1e-9) -> close:
    """Quaternions compared up to sign: `q` and `-q` are the same rotation."""
    return close(atol=atol, up_to_sign=True)


@dataclass(frozen=True)
class same:
    """Equal in every bit and kind that Python's `==` sees: strings, names, slices, flags, counts.

    NumPy scalars count as Python's, a list as a tuple where `sequences` is set.
    """

    sequences: bool = True

    def __call__(self, got: Any, expected: Any) -> Mismatch | None:
        if self._key(got) == self._key(expected):
            return None
        return Mismatch(lambda: f"returned {show(got)}")

    def _key(self, value: Any) -> Any:
        if isinstance(value, np.ndarray):
            return self._key(value.tolist())
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, slice):
            return ("slice", value.start or 0, value.stop, value.step or 1)
        if isinstance(value, (list, tuple)):
            items = tuple(self._key(v) for v in value)
            return items if self.sequences else (type(value).__name__, items)
        if isinstance(value, Mapping):
            return {k: self._key(v) for k, v in value.items()}
        return value

    def loosened(self) -> same:
        return self


@dataclass(frozen=True)
class choice:
    """The letter of an option, in either case, with or without a bracket or dot: `"B"`, `"b)"`."""

    def __call__(self, got: Any, expected: Any) -> Mismatch | None:
        if isinstance(got, str) and self._letter(got) == self._letter(expected):
            return None
        return Mismatch(f"answered {show(got)}")

    def _letter(self, text: str) -> str:
        return text.strip(" ().:\n").lower()

    def loosened(self) -> choice:
        return self


@dataclass(frozen=True)
class identical:
    """Arrays equal to the last bit (shape and value)."""

    def __call__(self, got: Any, expected: Any) -> Mismatch | None:
        return close(atol=0.0)(got, expected)

    def loosened(self) -> Comparator:
        return close(atol=1e-12)


def _at(key: Any, mismatch: Mismatch) -> Callable[[], str]:
    return lambda: f"[{key!r}] {mismatch.text}"


@dataclass(frozen=True)
class each:
    """A tuple, list or dict whose entries are compared by `entries` (one for all, or one each)."""

    entries: Any = close()

    def __call__(self, got: Any, expected: Any) -> Mismatch | None:
        if isinstance(expected, Mapping):
            if not isinstance(got, Mapping):
                return Mismatch(f"returned {show(got)}; a dict expected")
            if set(got) != set(expected):
                return Mismatch(f"returned the keys {sorted(map(str, got))}")
            keys: Sequence[Any] = list(expected)
        else:
            if isinstance(got, np.ndarray):
                got = list(got)
            if not isinstance(got, (list, tuple)) or len(got) != len(expected):
                return Mismatch(f"returned {show(got)}; {len(expected)} values expected")
            keys = range(len(expected))
        for key in keys:
            mismatch = self._entry(key)(got[key], expected[key])
            if mismatch is not None:
                return Mismatch(_at(key, mismatch), mismatch.error)
        return None

    def _entry(self, key: Any) -> Comparator:
        if isinstance(self.entries, (Mapping, list, tuple)):
            return self.entries[key]
        return self.entries

    def loosened(self) -> each:
        if isinstance(self.entries, Mapping):
            return each({k: c.loosened() for k, c in self.entries.items()})
        if isinstance(self.entries, (list, tuple)):
            return each([c.loosened() for c in self.entries])
        return each(self.entries.loosened())


@dataclass(frozen=True)
class satisfies:
    """Accepts what `accept(got, expected)` says: `None` when right, else a sentence.

    For answers of which several are right (either half turn, any pair at the lock). `near` is the
    comparison by which a misconception is recognised.
    """

    accept: Any
    near: Any = close(atol=1e-6)

    def __call__(self, got: Any, expected: Any) -> Mismatch | None:
        text = self.accept(got, expected)
        return None if text is None else Mismatch(text)

    def loosened(self) -> Comparator:
        return self.near
