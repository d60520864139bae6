"""`active_passive`: one matrix, read as a turn of the vector or as a change of frame."""

import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "active_passive",
    points=2,
    provides=("rotate_active", "coordinates_in_rotated_frame"),
    core=True,
    by_hand=True,
)


@exercise.reference
def reference():
    def rotate_active(R, p):
        return R @ p

    def coordinates_in_rotated_frame(R, p):
        return R.T @ p

    return {
        "rotate_active": rotate_active,
        "coordinates_in_rotated_frame": coordinates_in_rotated_frame,
    }


def _pairs(seed, count):
    turns = map(draws.matrix, draws.quats(seed, count))
    return list(zip(turns, draws.vectors(seed + 1, count), strict=True))


@exercise.part("the active reading", points=0.75)
def active():
    return [call("rotate_active", R, p) for R, p in _pairs(10, 20)]


@exercise.part("the passive reading", points=0.75)
def passive():
    return [call("coordinates_in_rotated_frame", R, p) for R, p in _pairs(20, 20)]


@exercise.part("contract: a quarter turn, inputs left as they were", points=0.5)
def contract():
    quarter = draws.matrix(draws.about((0, 0, 1), 1.5707963267948966))
    names = exercise.provides
    cases = [call(name, R, p, unchanged=True) for name in names for R, p in _pairs(30, 4)]
    for name in names:
        for k, p in enumerate(([1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0])):
            vector = np.array(p)
            label = f"Rz(90 deg) on axis {'xyz'[k]}"
            cases.append(call(name, quarter, vector, label=label, unchanged=True))
    return cases


@exercise.misconception(
    "Your two functions are exchanged: `R p` turns the vector (active), `R.T p` gives the "
    "coordinates of the same vector in the turned frame (passive)."
)
def swapped():
    def rotate_active(R, p):
        return R.T @ p

    def coordinates_in_rotated_frame(R, p):
        return R @ p


@exercise.misconception(
    "`p @ R` is a row vector times the matrix: that is `R.T p`, the passive reading. The active "
    "one is `R @ p`."
)
def row_vector():
    def rotate_active(R, p):
        return p @ R

    def coordinates_in_rotated_frame(R, p):
        return R.T @ p


@exercise.misconception(
    "Both of your functions turn the vector. The coordinates of the same vector in the turned "
    "frame need the transpose: `R.T @ p`.",
)
def both_active():
    def rotate_active(R, p):
        return R @ p

    def coordinates_in_rotated_frame(R, p):
        return R @ p


@exercise.misconception(
    "`R * p` multiplies entry by entry; a matrix times a vector is `R @ p`.", id="elementwise"
)
def elementwise():
    def rotate_active(R, p):
        return R * p

    def coordinates_in_rotated_frame(R, p):
        return R.T * p


@exercise.misconception(
    "`R * p` multiplies entry by entry; a matrix times a vector is `R @ p`.", id="elementwise"
)
def elementwise_summed():
    def rotate_active(R, p):
        return (R * p).sum(axis=0)

    def coordinates_in_rotated_frame(R, p):
        return (R.T * p).sum(axis=0)


@exercise.misconception(
    "Changing the frame once is `R.T @ p`; you apply the matrix on both sides or twice."
)
def applied_twice():
    def rotate_active(R, p):
        return R @ R @ p

    def coordinates_in_rotated_frame(R, p):
        return R.T @ R.T @ p


@exercise.misconception("You return the vector as it was: no rotation is applied.")
def unchanged():
    def rotate_active(R, p):
        return p

    def coordinates_in_rotated_frame(R, p):
        return p


@exercise.misconception(
    "The coordinates come back with the opposite sign: use `R.T @ p`, not its negative."
)
def negated():
    def rotate_active(R, p):
        return -(R @ p)

    def coordinates_in_rotated_frame(R, p):
        return -(R.T @ p)


@exercise.misconception("You write into the argument `p`; return a new array.")
def modifies_input():
    def rotate_active(R, p):
        p[:] = R @ p
        return p

    def coordinates_in_rotated_frame(R, p):
        p[:] = R.T @ p
        return p


@exercise.misconception("You transpose the argument `R` in place; return a new array.")
def modifies_matrix():
    def rotate_active(R, p):
        return R @ p

    def coordinates_in_rotated_frame(R, p):
        R[:] = R.T.copy()
        return R @ p


@exercise.misconception(
    "You multiply entry by entry, or by the diagonal alone; a matrix times a vector sums over a "
    "whole row: `R @ p`."
)
def diagonal_only():
    def rotate_active(R, p):
        return np.diag(R) * p

    def coordinates_in_rotated_frame(R, p):
        return R.T @ p


@exercise.misconception(
    "You multiply entry by entry, or by the diagonal alone; a matrix times a vector sums over a "
    "whole row: `R @ p`.",
    id="diagonal_only",
)
def diagonal_only_in_both():
    def rotate_active(R, p):
        return np.diag(R) * p

    def coordinates_in_rotated_frame(R, p):
        return np.diag(R) * p


@exercise.variant("loops over rows and columns, lists returned")
def loops():
    def rotate_active(R, p):
        return [sum(R[i][j] * p[j] for j in range(3)) for i in range(3)]

    def coordinates_in_rotated_frame(R, p):
        return [sum(R[j][i] * p[j] for j in range(3)) for i in range(3)]


@exercise.variant("row vectors, used rightly")
def rows():
    def rotate_active(R, p):
        return p @ R.T

    def coordinates_in_rotated_frame(R, p):
        return p @ R


@exercise.variant("einsum and the inverse")
def inverse():
    rotate_active = lambda R, p: np.einsum("ij,j->i", np.asarray(R), np.asarray(p))

    def coordinates_in_rotated_frame(R, p):
        return np.linalg.solve(np.array(R), np.array(p))


@exercise.variant("projections on the axes of the rotated frame")
def projections():
    def rotate_active(R, p):
        total = np.zeros(3)
        for k in range(3):
            total = total + p[k] * R[:, k]
        return tuple(total)

    def coordinates_in_rotated_frame(R, p):
        return tuple(np.dot(R[:, k], p) for k in range(3))
