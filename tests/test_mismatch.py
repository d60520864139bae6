"""What a wrong result looks like, from the result alone."""

from __future__ import annotations

import numpy as np
import pytest

from mjcourse.mismatch import looks_like, recognise

rng = np.random.default_rng(7)


def unit(n: int = 4) -> np.ndarray:
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


Q = unit()
QS = np.array([unit() for _ in range(5)])
R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
V = rng.normal(size=6) + 0.1
M = rng.normal(size=(3, 3))
SERIES = np.sin(np.linspace(0, 3, 30))
POSE = np.concatenate([[0.1, 0.2, 0.3], Q])


def id_of(got, expected) -> str | None:
    look = recognise(np.asarray(got), np.asarray(expected))
    return look and look[0]


@pytest.mark.parametrize(
    ("got", "expected", "id"),
    [
        (np.roll(Q, -1), Q, "scalar_last"),
        (-np.roll(Q, -1), Q, "scalar_last"),
        (np.roll(QS, -1, axis=1), QS, "scalar_last"),
        (np.roll(3 * Q, -1), 3 * Q, "scalar_last"),
        (np.concatenate([POSE[:3], np.roll(Q, -1)]), POSE, "scalar_last"),
        (np.roll(Q, 1), Q, "scalar_first"),
        (Q * [1, -1, -1, -1], Q, "conjugate"),
        (Q * [-1, 1, 1, 1], Q, "conjugate"),
        (-Q, Q, "sign"),
        (-V, V, "sign"),
        (-2.5, 2.5, "sign"),
        (R.T, R, "transpose"),
        (np.linalg.inv(M), M, "inverse"),
        (np.degrees(V), V, "degrees"),
        (np.degrees(0.3), 0.3, "degrees"),
        (np.radians(V), V, "radians"),
        (2 * V, V, "factor_two"),
        (0.7, 1.4, "half"),
        (np.abs(V - 1), V - 1, "absolute"),
        (V[::-1], V, "reversed"),
        (3 * Q, Q, "not_normalised"),
        (V + 2 * np.pi, V, "whole_turn"),
        (0.5 - 2 * np.pi, 0.5, "whole_turn"),
        (np.concatenate([SERIES[:1], SERIES[:-1]]), SERIES, "one_step"),
        (1 / V, V, "reciprocal"),
        (V**2, V, "power"),
        (np.sqrt(np.abs(V)), np.abs(V), "power"),
        (np.trunc(10 * V), 10 * V, "rounded"),
        (V + 0.37, V, "offset"),
        (6, 7, "offset"),
        (9.81 * V, V, "scaled"),
        (V * [1, 1, -1, 1, 1, 1], V, "some_signs"),
        (V[[0, 2, 1, 4, 3, 5]], V, "permuted"),
        (np.zeros(6), V, "zeros"),
        ([0.0, 1.0, 1.0], [1.0, 0.0, 0.0], "inverted"),
        (V + 1e-8, V, "imprecise"),
        (np.full(6, np.nan), V, "nan"),
        (np.full(6, np.inf), V, "infinite"),
        (R.ravel(), R, "flat"),
        (V[:3], V, "wrong_shape"),
        (V[None], V, "wrong_shape"),
    ],
)
def test_a_mistake_is_recognised(got, expected, id):
    assert id_of(got, expected) == id


def test_a_right_result_looks_like_nothing():
    for value in (Q, R, V, np.zeros(3), np.eye(3), 1.0, np.array([])):
        assert looks_like(value, value) == []


def test_an_unrelated_result_looks_like_nothing():
    for _ in range(200):
        assert recognise(rng.normal(size=6), rng.normal(size=6)) is None
        assert recognise(unit(), unit()) is None
        assert recognise(rng.normal(size=(3, 3)), rng.normal(size=(3, 3))) is None


def test_a_mistake_that_changes_nothing_is_not_named():
    symmetric = M + M.T
    wrong = symmetric.copy()
    wrong[0, 1] += 9
    assert "transpose" not in {id for id, _ in looks_like(wrong, symmetric)}
    assert recognise(np.array([0.1, 0.2, 0.3]), np.zeros(3)) is None


def test_an_ambiguous_result_keeps_every_look():
    half_turn = np.array([0.0, 0.6, 0.0, 0.8])
    ids = [id for id, _ in looks_like(-half_turn, half_turn)]
    assert ids[:2] == ["sign", "conjugate"]


def test_next_to_nothing_is_no_multiple_of_the_right_value():
    assert "times the right one" not in str(looks_like(V * -6e-11, V))


def test_sentences_are_whole_and_short():
    for got, expected in ((np.roll(Q, -1), Q), (R.T, R), (V + 0.37, V), (R.ravel(), R)):
        _, sentence = recognise(got, expected)
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert len(sentence) < 100


def test_nan_where_nan_is_right_is_no_look():
    assert looks_like(np.array([np.nan, 1.0]), np.array([np.nan, 2.0])) == []


@pytest.mark.parametrize("digits", [2, 4, 6])
def test_a_result_rounded_for_show_is_named_with_its_digits(digits):
    looks = dict(looks_like(np.round(20 * V, digits), 20 * V))
    assert digits == 6 or f"{digits} decimals" in looks["rounded"]
    assert digits != 6 or list(looks) == ["imprecise"]


def test_the_entries_that_alone_are_wrong_are_told():
    wrong = M.copy()
    wrong[1, 2] += 0.3
    wrong[2, 0] *= 3
    assert recognise(wrong, M) == (
        "some_entries",
        "Most numbers are right; wrong, counted from 0, only [1,2], [2,0].",
    )
    assert recognise(M + np.arange(9).reshape(3, 3) + 0.5, M) is None
