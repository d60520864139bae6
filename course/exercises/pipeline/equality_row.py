"""`equality_row`: one constraint row, ideal or soft."""

import mujoco
import numpy as np

from course.exercises.compare import close, each
from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import numbers, scene, variants

exercise = Exercise("equality_row", points=4, provides=("equality_row",))


@exercise.reference
def reference():
    def equality_row(M, J, a_smooth, b, R=0.0):
        # The optimality conditions in one system: M a - J^T f = M a_smooth, J a + R f = b.
        n = len(J)
        system = np.block([[M, -J[:, None]], [J[None, :], np.array([[R]])]])
        solution = np.linalg.solve(system, np.append(M @ a_smooth, b))
        return solution[:n], float(solution[n])

    return {"equality_row": equality_row}


def _observe(outcome):
    value = outcome.value
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return [value[0], numbers(outcome)[1]]
    return value


def _case(M, J, a_smooth, b, *R, label="", unchanged=False):
    args = (np.array(M, float), np.array(J, float), np.array(a_smooth, float), float(b), *R)
    compare = each((close(1e-9, 1e-9), close(1e-9, 1e-9)))
    return call(
        "equality_row",
        *args,
        label=label,
        compare=compare,
        observe=_observe,
        unchanged=unchanged,
    )


def _random(seed, count, *, b=True, R=False, label="", unchanged=False):
    """Cases with a full mass matrix; `b` and `R` drawn where asked for."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(2, 7))
        A = rng.normal(size=(n, n))
        M = A @ A.T + 0.5 * np.eye(n)
        rest = (float(rng.uniform(0.05, 3)),) if R else ()
        J, a_smooth = rng.normal(size=(2, n))
        target = float(rng.normal()) if b else 0.0
        yield _case(M, J, a_smooth, target, *rest, label=label, unchanged=unchanged)


def _from_mujoco(v, label):
    """The row of the two wagons in motion, with MuJoCo's own R and reference acceleration."""
    model = scene("two_mass")
    model.eq_solimp[0, :2] = 0.6  # a soft row
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = (0.02, -0.01), v
    data.ctrl[:], data.qfrc_applied[:] = (4, -2), (0, 3)
    mujoco.mj_forward(model, data)
    M = np.zeros((2, 2))
    mujoco.mj_fullM(model, data, M)
    R, b = float(data.efc_R[0]), float(data.efc_aref[0])
    return _case(M, data.efc_J.reshape(-1, 2)[0], data.qacc_smooth, b, R, label=label)


WORKED = ([[2, 0], [0, 1]], [-1, 1], [1, -2])


@exercise.part("an ideal row", points=2)
def ideal():
    return [
        _case(*WORKED, 0, label="the worked example"),
        _case([[2, 0], [0, 1]], [-1, 1], [1, 2], 0, label="the worked example, f = (2, 2)"),
        _case(*WORKED, 0, 0.0, label="R = 0 said aloud"),
        _case([[2, 0], [0, 1]], [-1, 1], [0.5, 0.5], 0, label="already satisfied"),
        _case([[3.0]], [2.0], [1.5], 0, label="a single dof"),
        *_random(1, 12, b=False, label="b = 0"),
    ]


@exercise.part("a row with a reference acceleration; inputs left as they were", points=1)
def with_reference():
    return [
        _case(*WORKED, 0, label="the worked example"),
        _case(*WORKED, 1.5, label="the worked example with b = 1.5", unchanged=True),
        _case(*WORKED, -3, label="b equal to J a_smooth: no force"),
        *_random(2, 12, label="b at random", unchanged=True),
    ]


@exercise.part("a soft row", points=1)
def soft():
    return [
        _case(*WORKED, 0, label="the worked example"),
        _case(*WORKED, 0, 1.5, label="R = A: half the force"),
        _from_mujoco((0.0, 0.0), "MuJoCo's row at rest"),
        _from_mujoco((0.4, -0.3), "MuJoCo's row in motion"),
        *_random(3, 10, R=True, label="R > 0, b at random"),
    ]


GOOD = """\
def equality_row(M, J, a_smooth, b, R=0.0):
    y = np.linalg.solve(M, J)
    A = J @ y
    force = (b - J @ a_smooth) / (A + R)
    return a_smooth + y * force, float(force)
"""
_wrong = exercise.slips(GOOD)
_wrong(
    "no_inverse_mass",
    "The row's answer is y = M^-1 J^T; yours is J itself, as if every mass were 1.",
    ("np.linalg.solve(M, J)", "J.copy()"),
)
_wrong(
    "acceleration_without_inverse_mass",
    "The force is right, but its effect is M^-1 J^T force, not J^T force.",
    ("a_smooth + y * force", "a_smooth + J * force"),
)
_wrong(
    "a_without_inverse_mass",
    "A = J M^-1 J^T; yours is J J^T.",
    ("A = J @ y", "A = J @ J"),
)
_wrong(
    "mass_instead_of_inverse", "You use M where M^-1 belongs.", ("np.linalg.solve(M, J)", "M @ J")
)
_SIGN_OF_FORCE = (
    "sign_of_force",
    "The sign of your force is wrong: what is missing is b - J a_smooth.",
)
_wrong(*_SIGN_OF_FORCE, ("(b - J @ a_smooth)", "(J @ a_smooth - b)"))
_wrong(*_SIGN_OF_FORCE, ("float(force)", "-float(force)"))
_wrong(
    "subtracts_force",
    "Your acceleration goes the other way: qacc = a_smooth + M^-1 J^T force.",
    ("a_smooth + y", "a_smooth - y"),
)
_wrong(
    "ignores_r",
    "`R` is ignored: a soft row divides by A + R.",
    ("(A + R)", "A"),
)
_wrong("subtracts_r", "A soft row divides by A + R, not by A - R.", ("(A + R)", "(A - R)"))
_wrong(
    "r_as_factor",
    "`R` is added to A; you scale with it.",
    ("(A + R)", "(A * (1 + R))"),
)
_wrong(
    "force_softened_twice",
    "`R` acts once, in the denominator; you use it in the numerator too.",
    ("(b - J @ a_smooth)", "(b - J @ a_smooth - R)"),
)
_wrong("ignores_b", "`b` is ignored: J a = b, not J a = 0.", ("(b - J", "(- J"))
_wrong("sign_of_b", "The sign of `b` is wrong: J a = b.", ("(b - J", "(-b - J"))
_wrong(
    "exchanged",
    "Your two values are exchanged: return (qacc, force).",
    ("return a_smooth + y * force, float(force)", "return float(force), a_smooth + y * force"),
)
_wrong(
    "one_sided",
    "You clamp the force at 0 as for a contact; an equality pulls and pushes.",
    ("/ (A + R)", "/ (A + R)\n    force = max(force, 0.0)"),
)
_wrong(
    "no_projection",
    "You divide by 1 instead of A = J M^-1 J^T, the acceleration that a unit force gives the row.",
    ("/ (A + R)", "/ (1 + R)"),
)
_wrong(
    "returns_generalized_force",
    "Your second value is the generalized force J^T force; the row's force is one number.",
    ("float(force)", "J * force"),
)
_wrong(
    "returns_correction",
    "Your first value is the change of acceleration; add a_smooth.",
    ("return a_smooth + y * force", "return y * force"),
)
_wrong(
    "changes_its_input",
    "You add into `a_smooth`: an input must be left as it was.",
    (
        "    return a_smooth + y * force, float(force)",
        "    a_smooth += y * force\n    return a_smooth, float(force)",
    ),
)

_wrong(
    "r_on_inertia",
    "You add R to the inertia; it softens the row: divide by A + R.",
    ("np.linalg.solve(M, J)", "np.linalg.solve(M + R * np.eye(len(M)), J)"),
    ("(A + R)", "A"),
)
_wrong(
    "r_after_the_division",
    "You divide by 1 + R afterwards; A and R are added first: divide by A + R.",
    ("/ (A + R)", "/ A / (1 + R)"),
)
_wrong(
    "r_after_the_division",
    "You soften the force after the acceleration was computed with the ideal one; divide by A + R "
    "and use that force for both.",
    ("/ (A + R)", "/ A"),
    ("float(force)", "float(force / (1 + R))"),
)
_wrong(
    "r_in_one_place_only",
    "Force and acceleration must belong together: use the force with A + R for both.",
    ("a_smooth + y * force", "a_smooth + y * (b - J @ a_smooth) / A"),
)
_wrong(
    "euclidean_projection",
    "You project the acceleration as if all masses were 1; the row's force acts through M^-1.",
    ("a_smooth + y * force", "a_smooth + J * (b - J @ a_smooth) / (J @ J)"),
)

_wrong(
    "softness_after_division",
    "You add R to the force; it belongs to A: force = (b - J a_smooth) / (A + R).",
    ("/ (A + R)", "/ A + R"),
)
_wrong(
    "softness_in_one_result",
    "Your acceleration is that of the soft row and your force that of the ideal one: A + R divides "
    "in both.",
    ("float(force)", "float((b - J @ a_smooth) / A)"),
)
_wrong(
    "softness_in_one_result",
    "Your force is that of the soft row and your acceleration that of the ideal one: A + R divides "
    "in both.",
    ("a_smooth + y * force", "a_smooth + y * (b - J @ a_smooth) / A"),
)
_wrong(
    "softness_replaces_a",
    "R adds to A; it does not replace it.",
    ("(A + R)", "(R if R else A)"),
)
_wrong(
    "diagonal_of_m",
    "You divide by the diagonal of M: the terms beside it couple the coordinates. Solve with M.",
    ("np.linalg.solve(M, J)", "J / np.diag(M)"),
)
_wrong(
    "acceleration_only",
    "You return the acceleration alone; the force of the row is asked for too.",
    (", float(force)", ""),
)

_right = variants(exercise)
_right(
    "by_inverse",
    """\
def equality_row(M, J, a_smooth, b, R=0.0):
    Minv = np.linalg.inv(M)
    J = np.atleast_2d(J)
    lam = np.linalg.solve(J @ Minv @ J.T + R * np.eye(1), np.atleast_1d(b) - J @ a_smooth)
    return (a_smooth + Minv @ J.T @ lam), lam[0]
""",
)
_right(
    "as_lists",
    """\
def equality_row(M, J, a_smooth, b, R=0.0):
    n = len(J)
    K = np.zeros((n + 1, n + 1))
    K[:n, :n], K[:n, n], K[n, :n], K[n, n] = M, J, J, -R
    x = np.linalg.solve(K, [*(np.asarray(M) @ a_smooth), b])
    return [list(x[:n]), -x[n]]
""",
)
_right(
    "least_change",
    """\
def equality_row(M, J, a_smooth, b, R=0):
    # Gauss: the smallest change of acceleration in the metric of M that satisfies the row
    L = np.linalg.cholesky(M)
    w = scipy.linalg.solve_triangular(L, J, lower=True)
    missing = b - np.dot(J, a_smooth)
    force = missing / (w.dot(w) + R)
    return a_smooth + scipy.linalg.solve_triangular(L.T, w, lower=False) * force, np.array(force)
""",
)
