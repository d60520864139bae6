"""What a student writes first: the small functions of quaternions that wrong answers build on.

Scalar first, angles in rad. The graders themselves use MuJoCo; these are the source text that
`Exercise(..., helpers=...)` puts before the cells that need it, and `written_out` before a cell
whose slips may use or spoil any of them.
"""

from __future__ import annotations

import inspect

import numpy as np


def mul(a, b):
    w, x, y, z = a
    left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return left @ b


def conj(q):
    return np.asarray(q) * [1, -1, -1, -1]


def normalised(q):
    return q / np.linalg.norm(q)


def rotate(q, v):
    return mul(mul(q, np.r_[0, v]), conj(q))[1:]


def short(r):
    return r if r[0] >= 0 else -r


def log(r):
    r = short(r)
    s = np.linalg.norm(r[1:])
    return np.zeros(3) if s < 1e-15 else 2 * np.arctan2(s, r[0]) * r[1:] / s


def euler(q):
    w, x, y, z = q
    roll = np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2 * (w * y - z * x), -1, 1))
    return np.array([roll, pitch, np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))])


HELPERS = (mul, conj, normalised, rotate, short, log, euler)


def written_out(cell: str) -> str:
    """`cell` after the source of all `HELPERS`."""
    return "\n\n".join([*(inspect.getsource(helper) for helper in HELPERS), cell])
