"""Recognise what a wrong result looks like from the result alone: scalar last, transposed, ...

A look is a way to spoil the right value. When the spoilt value is what came back, the result has
that look. Unit quaternions (last axis of 4) are compared up to sign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

# A wrong result is recognised this near, relative to the largest right entry.
_NEAR = 1e-6

Look = tuple[str, str]


def recognise(got: np.ndarray, expected: np.ndarray) -> Look | None:
    """`(id, sentence)` of the most telling look of `got` beside `expected`, or `None`.

    Args:
      got: what the answer returned, numbers of any shape.
      expected: the right value, numbers.
    """
    looks = looks_like(got, expected)
    return looks[0] if looks else None


def looks_like(got: np.ndarray, expected: np.ndarray) -> list[Look]:
    """All looks of `got` beside `expected`, most telling first; empty when they agree.

    A caller with several pairs keeps the looks that all of them share: one pair can look like
    two mistakes (a quaternion without scalar part is conjugated and negated at once).
    """
    got, expected = np.asarray(got, dtype=float), np.asarray(expected, dtype=float)
    if np.isnan(got).any() and not np.isnan(expected).any():
        return [("nan", "It holds NaN: look for a division by zero, or an arccos beyond 1.")]
    if np.isinf(got).any() and not np.isinf(expected).any():
        return [("infinite", "It holds infinity: look for a division by zero.")]
    if got.shape != expected.shape:
        return [_shape_look(got, expected)]
    if not got.size or not (np.isfinite(got).all() and np.isfinite(expected).all()):
        return []
    if np.array_equal(got, expected):
        return []
    if _same(got, expected):
        return [("imprecise", "It is nearly right: an approximation, or digits lost on the way.")]
    looks = []
    for test in _TESTS:
        sentence = test.sentence(got, expected)
        if sentence is not None:
            looks.append((test.id, sentence))
    return looks


def _shape_look(got: np.ndarray, expected: np.ndarray) -> Look:
    asked = "a single number" if expected.ndim == 0 else f"shape {expected.shape}"
    if got.size == expected.size and got.ndim == 1 and expected.ndim > 1:
        return "flat", f"It is flat, with shape {got.shape}; {asked} is asked for: reshape it."
    if got.size == expected.size and got.squeeze().shape == expected.squeeze().shape:
        return "wrong_shape", f"It has an axis too many or too few: {got.shape}; {asked} is asked."
    return "wrong_shape", f"The shape is {got.shape}; {asked} is asked for."


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    scale = max(float(np.max(np.abs(b))), 1e-2)
    return bool(np.max(np.abs(a - b)) <= _NEAR * scale)


def _same_rotation(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether each row agrees with either sign; in a pose of 7, each row's last 4."""
    if b.shape[-1] == 7:
        return _same(a[..., :3], b[..., :3]) and _same_rotation(a[..., 3:], b[..., 3:])
    signs = np.sign(np.sum(a * b, axis=-1, keepdims=True))
    return _same(a * np.where(signs == 0, 1, signs), b)


@dataclass(frozen=True)
class _Spoilt:
    """A look given by spoiling the right value in one of several ways."""

    id: str
    text: str
    spoil: Callable[[np.ndarray], Iterable[np.ndarray]]
    rotation: bool = False

    def sentence(self, got: np.ndarray, expected: np.ndarray) -> str | None:
        same = _same_rotation if self.rotation and _holds_unit_quaternions(expected) else _same
        for spoilt in self.spoil(expected):
            if not np.isfinite(spoilt).all() or _same(spoilt, expected):
                continue
            if same(got, spoilt):
                return self.text
        return None


@dataclass(frozen=True)
class _Told:
    """A look that is seen from both values; the function returns the sentence or None."""

    id: str
    tell: Callable[[np.ndarray, np.ndarray], str | None]

    def sentence(self, got: np.ndarray, expected: np.ndarray) -> str | None:
        return self.tell(got, expected)


def _unit(rows: np.ndarray) -> bool:
    return rows.ndim > 0 and bool(np.allclose(np.linalg.norm(rows, axis=-1), 1.0, atol=1e-6))


def _holds_unit_quaternions(x: np.ndarray) -> bool:
    return x.ndim > 0 and _unit(x[..., 3:] if x.shape[-1] == 7 else x)


def _on_quaternions(
    change: Callable[[np.ndarray], np.ndarray],
) -> Callable[[np.ndarray], Iterable[np.ndarray]]:
    """Apply `change` to rows of 4, or to the quaternion in a pose of 7 (position first)."""

    def spoil(x: np.ndarray) -> Iterable[np.ndarray]:
        if x.ndim and x.shape[-1] == 4:
            yield change(x)
        if x.ndim and x.shape[-1] == 7 and _holds_unit_quaternions(x):
            yield np.concatenate([x[..., :3], change(x[..., 3:])], axis=-1)

    return spoil


def _transposed(x: np.ndarray) -> Iterable[np.ndarray]:
    if x.ndim >= 2 and x.shape[-1] == x.shape[-2]:
        yield np.swapaxes(x, -1, -2)


def _inverted_matrix(x: np.ndarray) -> Iterable[np.ndarray]:
    square = x.ndim >= 2 and x.shape[-1] == x.shape[-2]
    if square and np.all(np.abs(np.linalg.det(x)) > 1e-9):
        yield np.linalg.inv(x)


def _other_way_round(x: np.ndarray) -> Iterable[np.ndarray]:
    if x.ndim and x.shape[-1] > 1:
        yield x[..., ::-1]
    if x.ndim > 1 and x.shape[0] > 1:
        yield x[::-1]


def _flags_inverted(x: np.ndarray) -> Iterable[np.ndarray]:
    if np.isin(x, (0.0, 1.0)).all():
        yield 1.0 - x


def _powers(x: np.ndarray) -> Iterable[np.ndarray]:
    yield x**2
    if np.all(x >= 0):
        yield np.sqrt(x)


def _reciprocal(x: np.ndarray) -> Iterable[np.ndarray]:
    if np.all(np.abs(x) > 1e-9):
        yield 1.0 / x


def _decimals(got: np.ndarray, expected: np.ndarray) -> str | None:
    for digits in range(1, 7):
        for sign in (1, -1):
            if np.allclose(got, np.round(sign * expected, digits), rtol=0, atol=1e-12):
                return f"It is rounded to {digits} decimals: return all digits, round for printing."
    return None


def _some_entries(got: np.ndarray, expected: np.ndarray) -> str | None:
    """Where at least half of several numbers are right: which ones are not."""
    if expected.ndim == 0 or expected.size < 3:
        return None
    wrong = np.argwhere(np.abs(got - expected) > _NEAR * max(float(np.abs(expected).max()), 1e-2))
    if not len(wrong) or 2 * len(wrong) > expected.size or len(wrong) > 4:
        return None
    places = ", ".join(str([int(i) for i in place]).replace(" ", "") for place in wrong)
    return f"Most numbers are right; wrong, counted from 0, only {places}."


def _rounded(x: np.ndarray) -> Iterable[np.ndarray]:
    yield np.trunc(x)
    yield np.floor(x)
    yield np.round(x)


def _zeros(got: np.ndarray, expected: np.ndarray) -> str | None:
    if expected.ndim and not got.any():
        return "It is all zeros: is the result ever filled in?"
    return None


def _stretched(got: np.ndarray, expected: np.ndarray) -> str | None:
    if expected.ndim == 0 or expected.shape[-1] < 3 or not _unit(expected):
        return None
    length = np.linalg.norm(got, axis=-1, keepdims=True)
    if np.all(length > 1e-9) and _same_rotation(got / length, expected):
        return "The direction is right and the length is not 1: normalise."
    return None


def _whole_turns(got: np.ndarray, expected: np.ndarray) -> str | None:
    turns = (got - expected) / (2 * np.pi)
    if _same(expected + 2 * np.pi * np.round(turns), got) and np.abs(np.round(turns)).max() <= 3:
        return "It is off by a whole turn, 2 pi."
    return None


def _one_step(got: np.ndarray, expected: np.ndarray) -> str | None:
    if expected.ndim == 0 or len(expected) < 5 or _same(expected[1:], expected[:-1]):
        return None
    if _same(got[1:], expected[:-1]):
        return "It is one step late."
    if _same(got[:-1], expected[1:]):
        return "It is one step early."
    return None


def _offset(got: np.ndarray, expected: np.ndarray) -> str | None:
    difference = np.ravel(got - expected)
    if difference.size < 3 and not np.isin(difference, (-1.0, 1.0)).all():
        return None
    if _same(difference, np.full_like(difference, difference[0])):
        return f"It is off by a constant: {difference[0]:+.4g} everywhere."
    return None


def _scaled(got: np.ndarray, expected: np.ndarray) -> str | None:
    if np.count_nonzero(np.abs(expected) > 1e-9) < 2:
        return None
    factor = float(np.vdot(got, expected) / np.vdot(expected, expected))
    if abs(factor) > 1e-3 and _same(got, factor * expected):  # of nearly nothing it says nothing
        return f"Every value is {factor:.4g} times the right one."
    return None


def _some_signs(got: np.ndarray, expected: np.ndarray) -> str | None:
    if expected.ndim == 0 or not _same(np.abs(got), np.abs(expected)):
        return None
    wrong = np.argwhere(np.abs(got - expected) > _NEAR * np.abs(expected).max())
    if len(wrong) > 4:
        return "The sizes are right and some signs are not."
    places = ", ".join(str([int(i) for i in place]).replace(" ", "") for place in wrong)
    return f"The sizes are right; the sign is wrong at {places}."


def _permuted(got: np.ndarray, expected: np.ndarray) -> str | None:
    if expected.size > 2 and _same(np.sort(got, axis=None), np.sort(expected, axis=None)):
        return "The numbers are right and stand in another order."
    return None


# In the order in which they are told: the conventions of the field first, arithmetic after them.
_TESTS: tuple[_Spoilt | _Told, ...] = (
    _Told("zeros", _zeros),
    _Spoilt("inverted", "It is the other way round: true for false.", _flags_inverted),
    _Spoilt("sign", "Every sign is flipped.", lambda x: [-x]),
    _Spoilt(
        "scalar_last",
        "The scalar part is last, (x, y, z, w); (w, x, y, z) is asked for.",
        _on_quaternions(lambda q: np.roll(q, -1, axis=-1)),
        rotation=True,
    ),
    _Spoilt(
        "scalar_first",
        "The scalar part is first, (w, x, y, z); (x, y, z, w) is asked for.",
        _on_quaternions(lambda q: np.roll(q, 1, axis=-1)),
        rotation=True,
    ),
    _Spoilt(
        "conjugate",
        "This is the conjugate: the rotation the other way.",
        _on_quaternions(lambda q: q * np.array([1.0, -1.0, -1.0, -1.0])),
        rotation=True,
    ),
    _Spoilt("transpose", "This is the transpose.", _transposed),
    _Spoilt("inverse", "This is the inverse matrix.", _inverted_matrix),
    _Spoilt("degrees", "It is in degrees; radians are asked for.", lambda x: [np.degrees(x)]),
    _Spoilt("radians", "It is in radians; degrees are asked for.", lambda x: [np.radians(x)]),
    _Spoilt("factor_two", "It is twice the right value.", lambda x: [2.0 * x]),
    _Spoilt("half", "It is half of the right value.", lambda x: [0.5 * x]),
    _Spoilt("absolute", "This is the absolute value: the sign is lost.", lambda x: [np.abs(x)]),
    _Told("not_normalised", _stretched),
    _Spoilt("reversed", "The order is reversed.", _other_way_round),
    _Told("whole_turn", _whole_turns),
    _Told("one_step", _one_step),
    _Spoilt("reciprocal", "This is one divided by the right value.", _reciprocal),
    _Spoilt("power", "A square or a square root is missing, or one too many.", _powers),
    _Told("rounded", _decimals),
    _Spoilt("rounded", "It is rounded: look for an integer array, or `//`.", _rounded),
    _Told("offset", _offset),
    _Told("scaled", _scaled),
    _Told("some_signs", _some_signs),
    _Told("permuted", _permuted),
    _Told("some_entries", _some_entries),
)
