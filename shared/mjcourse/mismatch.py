"""Recognise what a wrong result looks like from the result alone."""

from __future__ import annotations

import numpy as np


def recognise(got: np.ndarray, expected: np.ndarray) -> tuple[str, str] | None:
    """`(id, sentence)` of the look of `got` beside `expected`, or `None`.

    Args:
      got: what the answer returned, any shape.
      expected: the right value.
    """
    got, expected = np.asarray(got, float), np.asarray(expected, float)
    if np.isnan(got).any() and not np.isnan(expected).any():
        return "nan", "The result holds NaN: look for a division by zero or an arccos beyond 1."
    if got.shape != expected.shape:
        return "wrong_shape", f"The shape is {got.shape}; {expected.shape} is asked for."
    if expected.ndim == 2 and np.allclose(got, expected.T, atol=1e-6):
        return "transpose", "This is the transpose."
    return None
