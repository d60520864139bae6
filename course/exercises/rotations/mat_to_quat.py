"""`mat_to_quat`: the unit quaternion of a rotation matrix, with `w >= 0` (Shepperd's method)."""

import mujoco
import numpy as np

from course.exercises.compare import close, quaternion, satisfies
from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise("mat_to_quat", points=4, provides=("mat_to_quat",), by_hand=True)


@exercise.reference
def reference():
    def mat_to_quat(R):
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, np.ascontiguousarray(R, float).ravel())
        return -quat if quat[0] < 0 else quat

    return {"mat_to_quat": mat_to_quat}


def _right(got, expected):
    """The same rotation to 1e-9, and a scalar part that is not negative (to 1e-12)."""
    mismatch = quaternion(1e-9)(got, expected)
    if mismatch is not None:
        return mismatch.text
    w = float(np.asarray(got, float)[0])
    if w < -1e-12:
        return f"returned w = {w:.3g}; the sign is to be chosen so that w >= 0"
    return None


_compare = satisfies(_right, near=close(1e-6))
# Where w is zero either sign is right, so a misconception may show either sign there too.
_either = satisfies(_right, near=quaternion(1e-6))


def _case(quat, label="", compare=_compare, unchanged=False):
    matrix = draws.matrix(quat)
    return call("mat_to_quat", matrix, label=label, compare=compare, unchanged=unchanged)


def _with_largest(component, seed, count):
    """Quaternions with the largest entry at `component`: each needs its own branch."""
    drawn = [q for q in draws.quats(seed, 40 * count) if np.argmax(np.abs(q)) == component]
    return drawn[:count]


@exercise.part("ordinary rotations: the scalar part is the largest entry", points=1.25)
def ordinary():
    return [_case(q) for q in _with_largest(0, 10, 20)]


@exercise.part("the branches x, y and z", points=1.25)
def branches():
    cases = [_case(q) for q in _with_largest(0, 20, 2)]
    for k in (1, 2, 3):
        label = f"{'wxyz'[k]} is the largest entry"
        cases += [_case(q, label) for q in _with_largest(k, 20 + k, 8)]
    return cases


@exercise.part("edge cases: 180 deg, and within 1e-9 of it; no turn", points=1)
def edge():
    cases = [_case(q) for q in _with_largest(0, 30, 3)]
    cases += [_case(q) for k in (1, 2, 3) for q in _with_largest(k, 30 + k, 2)]
    cases.append(_case(np.array([1.0, 0, 0, 0]), "no turn"))
    axes = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}
    flat = ((1, 1, 0), (1, -1, 0), (0, 1, 1), (0, -1, 1), (1, 0, 1), (1, 0, -1))
    axes |= {str(diagonal): diagonal for diagonal in (*flat, (1, 1, 1), (1, -1, 1))}
    for name, direction in axes.items():
        axis = np.array(direction, float) / np.linalg.norm(direction)
        half = np.array([0.0, *axis])
        cases.append(_case(half, f"180 deg about {name}", _either))
        for short in (1e-9, -7e-10):
            close_to = draws.about(axis, np.pi - short)
            cases.append(_case(close_to, f"within 1e-9 rad of 180 deg about {name}", _either))
    for axis in draws.axes(40, 4):
        cases.append(_case(draws.about(axis, np.pi - 1e-5), "1e-5 rad from 180 deg"))
        cases.append(_case(draws.about(axis, np.pi - 1e-4), "1e-4 rad from 180 deg"))
    return cases


@exercise.part("contract: the matrix is left as it was", points=0.5)
def contract():
    drawn = [q for k in range(4) for q in _with_largest(k, 50 + k, 2)]
    return [_case(q, unchanged=True) for q in drawn]


_GOOD = """\
def mat_to_quat(R):
    R = np.asarray(R)
    t = np.trace(R)
    if t > 0:
        w = np.sqrt(1 + t) / 2
        x = (R[2, 1] - R[1, 2]) / (4 * w)
        y = (R[0, 2] - R[2, 0]) / (4 * w)
        z = (R[1, 0] - R[0, 1]) / (4 * w)
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        x = np.sqrt(1 + R[0, 0] - R[1, 1] - R[2, 2]) / 2
        w = (R[2, 1] - R[1, 2]) / (4 * x)
        y = (R[0, 1] + R[1, 0]) / (4 * x)
        z = (R[0, 2] + R[2, 0]) / (4 * x)
    elif R[1, 1] >= R[2, 2]:
        y = np.sqrt(1 - R[0, 0] + R[1, 1] - R[2, 2]) / 2
        w = (R[0, 2] - R[2, 0]) / (4 * y)
        x = (R[0, 1] + R[1, 0]) / (4 * y)
        z = (R[1, 2] + R[2, 1]) / (4 * y)
    else:
        z = np.sqrt(1 - R[0, 0] - R[1, 1] + R[2, 2]) / 2
        w = (R[1, 0] - R[0, 1]) / (4 * z)
        x = (R[0, 2] + R[2, 0]) / (4 * z)
        y = (R[1, 2] + R[2, 1]) / (4 * z)
    q = np.array([w, x, y, z])
    return -q if q[0] < 0 else q
"""


_wrong = exercise.slips(_GOOD)
_RETURN = "return -q if q[0] < 0 else q"


_wrong(
    "conjugate",
    "This is the conjugate: the differences of off-diagonal entries have the wrong sign; "
    "`x` comes from `R[2, 1] - R[1, 2]`.",
    ("R = np.asarray(R)", "R = np.asarray(R).T"),
)
for _last in ("np.roll(-q if q[0] < 0 else q, -1)", "np.roll(q, -1)"):
    _wrong(
        "scalar_last",
        "You return the scalar part last, as SciPy does; here it comes first.",
        (_RETURN, f"return {_last}"),
    )
_wrong(
    "negative_w",
    "The scalar part comes out negative in some branches: return `-q` there, the same rotation "
    "with `w >= 0`.",
    (_RETURN, "return q"),
)
_wrong(
    "negative_w",
    "The scalar part must not be negative; you turn the sign the wrong way.",
    (_RETURN, "return -q if q[0] > 0 else q"),
)
for _absolute in ("np.array([abs(w), x, y, z])", "np.abs(q)"):
    _wrong(
        "absolute_w",
        "You make `w` positive alone: the sign belongs to the whole quaternion, else it is another "
        "rotation.",
        (_RETURN, f"return {_absolute}"),
    )
_HALF = "A factor 2 is missing: `w` is half the root of `1 + trace`"
_OFF = "off: the other entries are the differences divided by `4 w`"
for _text, _edit in (
    (f"{_HALF}.", (") / 2", ")")),
    (f"{_HALF}, the others are divided by `4 w`.", ("np.sqrt(1 + t) / 2", "np.sqrt(1 + t)")),
    (f"A factor 2 is {_OFF}, four times the largest entry.", ("(4 * ", "(2 * ")),
    (f"A factor is {_OFF}, four times the largest entry.", ("(4 * w", "(2 * w")),
    (f"A factor is {_OFF}, not by `w`.", ("(4 * ", "(1 * ")),
):
    _wrong("half_missing", _text, _edit)
_wrong(
    "trace_without_one",
    "Under the root stands `1 + trace`: the trace is `4 w^2 - 1`.",
    ("np.sqrt(1 + t) / 2", "np.sqrt(t) / 2"),
)
_NEGATED = {  # the scalar part in the branch of each letter, and its negative
    "x": ("w = (R[2, 1] - R[1, 2]) / (4 * x)", "w = (R[1, 2] - R[2, 1]) / (4 * x)"),
    "y": ("w = (R[0, 2] - R[2, 0]) / (4 * y)", "w = (R[2, 0] - R[0, 2]) / (4 * y)"),
    "z": ("w = (R[1, 0] - R[0, 1]) / (4 * z)", "w = (R[0, 1] - R[1, 0]) / (4 * z)"),
}
_SUMS = (  # a sum that becomes a difference, by branch
    ("x", "y = (R[0, 1] + R[1, 0])"),
    ("x", "z = (R[0, 2] + R[2, 0])"),
    ("y", "x = (R[0, 1] + R[1, 0])"),
    ("y", "z = (R[1, 2] + R[2, 1])"),
    ("z", "x = (R[0, 2] + R[2, 0])"),
    ("z", "y = (R[1, 2] + R[2, 1])"),
)
for _letter, _edit in (
    *_NEGATED.items(),
    *((a, (f"{b} / (4 * {a})", f"{b} / (4 * {a})".replace("+", "-"))) for a, b in _SUMS),
    ("x", ("1 + R[0, 0] - R[1, 1] - R[2, 2]", "1 - R[0, 0] + R[1, 1] - R[2, 2]")),
):
    _wrong(
        "branch_error",
        f"The branch in which `{_letter}` is the largest entry has a mistake: compare it with the "
        "others.",
        _edit,
    )
_wrong(
    "branch_error",
    "The scalar part has the wrong sign in the branches x, y and z.",
    *_NEGATED.values(),
)
for _letter, (_good, _) in _NEGATED.items():
    _difference = _good[4:].replace(_letter, "w")
    _wrong(
        "sign_error",
        f"`{_letter}` has the wrong sign in the trace branch: the differences go round, "
        "`R[2, 1] - R[1, 2]`, `R[0, 2] - R[2, 0]`, `R[1, 0] - R[0, 1]`.",
        (_difference, f"-{_difference}"),
    )
_wrong(
    "branches_mixed_up",
    "You choose among x, y and z wrongly: take the branch of the largest diagonal entry.",
    ("elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:", "elif R[0, 0] >= R[1, 1]:"),
)
_wrong(
    "branches_mixed_up",
    "Only the branches w and x exist: where y or z is the largest entry, x may be zero too.",
    ("elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:", "elif True:"),
)

_TRACE = (
    "You use the trace formula everywhere: it divides by `w`, which goes to zero at 180 deg. Take "
    "the largest of the four entries as the divisor (Shepperd)."
)
_wrong_trace = exercise.slips("""\
def mat_to_quat(R):
    w = np.sqrt(max(0.0, 1 + R[0, 0] + R[1, 1] + R[2, 2])) / 2
    v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return np.array([w, *(v / (4 * w))])
""")
_wrong_trace(
    "trace_only",
    _TRACE,
    ("max(0.0, 1 + R[0, 0] + R[1, 1] + R[2, 2])", "1 + R[0, 0] + R[1, 1] + R[2, 2]"),
)
_wrong_trace(
    "trace_only",
    _TRACE,
    ("    return", "    if w < 1e-12:\n        return np.array([0.0, 1.0, 0.0, 0.0])\n    return"),
)
_wrong_trace(
    "trace_only",
    _TRACE,
    ("max(0.0", "max(1e-16"),
    ("return np.array([w, *(v / (4 * w))])", "q = np.array([w, *(v / (4 * w))])"),
    ("4 * w))])\n", "4 * w))])\n    return q / np.linalg.norm(q)\n"),
)
_wrong_trace("trace_only", _TRACE, ("4 * w", "4 * w + 1e-12"))


@exercise.misconception(_TRACE, id="trace_only")
def by_angle_and_axis():
    def mat_to_quat(R):
        angle = np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1))
        if angle < 1e-12:
            return np.array([1.0, 0, 0, 0])
        v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * v / (2 * np.sin(angle)))])


@exercise.misconception(
    "You trust the trace formula too close to 180 deg: there it loses half of its digits. Take the "
    "largest of the four entries as the divisor.",
    id="trace_too_far",
)
def trace_too_far():
    def mat_to_quat(R):
        t = R[0, 0] + R[1, 1] + R[2, 2]
        v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        if 1 + t > 1e-12:
            w = np.sqrt(1 + t) / 2
            return np.array([w, *(v / (4 * w))])
        S = (R + np.eye(3)) / 2
        k = np.argmax(np.diag(S))
        u = S[:, k] / np.sqrt(S[k, k])
        w = v[k] / (4 * u[k])
        q = np.array([w, *u])
        return -q if w < 0 else q


_wrong_roots = exercise.slips("""\
def mat_to_quat(R):
    a, b, c = R[0, 0], R[1, 1], R[2, 2]
    w = np.sqrt(max(0, 1 + a + b + c)) / 2
    x = np.copysign(np.sqrt(max(0, 1 + a - b - c)) / 2, R[2, 1] - R[1, 2])
    y = np.copysign(np.sqrt(max(0, 1 - a + b - c)) / 2, R[0, 2] - R[2, 0])
    z = np.copysign(np.sqrt(max(0, 1 - a - b + c)) / 2, R[1, 0] - R[0, 1])
    return np.array([w, x, y, z])
""")
for _sign in ("np.copysign(np.sqrt", "(lambda size, d: size * np.sign(d))(np.sqrt"):
    _wrong_roots(
        "four_roots",
        "You take four roots and set signs from the differences: the roots lose half of the digits "
        "near zero, and at 180 deg the differences are zero and say nothing of the signs.",
        ("np.copysign(np.sqrt", _sign),
    )


@exercise.misconception(
    "You take four roots without their signs: a root is never negative, the entries may be.",
    id="roots_without_signs",
)
def roots_without_signs():
    def mat_to_quat(R):
        a, b, c = R[0, 0], R[1, 1], R[2, 2]
        squares = [1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c]
        return np.sqrt(np.maximum(squares, 0)) / 2


@exercise.misconception(
    "Half a turn needs its own axis: you return x (or none) for every rotation by 180 deg.",
    id="half_turn_fixed_axis",
)
def half_turn_fixed_axis():
    def mat_to_quat(R):
        S = np.array(R)
        t = np.trace(S)
        if t < -1 + 1e-8:
            return np.array([0.0, 1.0, 0.0, 0.0])
        K = np.zeros((4, 4))
        K[0, 0] = t
        K[0, 1:] = K[1:, 0] = [S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]
        K[1:, 1:] = S + S.T - t * np.eye(3)
        q = np.linalg.eigh(K)[1][:, -1]
        return q if q[0] >= 0 else -q


@exercise.misconception("You write into the argument `R`; work on a copy.", id="modifies_input")
def modifies_input():
    def mat_to_quat(R):
        t = np.trace(R)
        K = np.zeros((4, 4))
        K[0, 0] = t
        K[0, 1:] = K[1:, 0] = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
        R += R.T.copy()
        K[1:, 1:] = R - t * np.eye(3)
        q = np.linalg.eigh(K)[1][:, -1]
        return q if q[0] >= 0 else -q


@exercise.variant("the eigenvector of a 4 x 4 matrix")
def eigenvector():
    def mat_to_quat(R):
        S = np.asarray(R)
        t = np.trace(S)
        K = np.zeros((4, 4))
        K[0, 0] = t
        K[0, 1:] = K[1:, 0] = [S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]
        K[1:, 1:] = S + S.T - t * np.eye(3)
        q = np.linalg.eigh(K)[1][:, -1]
        return q * np.sign(q[0]) if q[0] != 0 else q


@exercise.variant("the largest column of 4 q q^T")
def outer_product():
    def mat_to_quat(R):
        (a, b, c), (d, e, f), (g, h, i) = np.array(R).tolist()
        M = np.array(
            [
                [1 + a + e + i, h - f, c - g, d - b],
                [h - f, 1 + a - e - i, b + d, c + g],
                [c - g, b + d, 1 - a + e - i, f + h],
                [d - b, c + g, f + h, 1 - a - e + i],
            ]
        )
        k = max(range(4), key=lambda n: M[n, n])
        q = M[:, k] / np.sqrt(4 * M[k, k])
        return [-v for v in q] if q[0] < 0 else list(q)


@exercise.variant("Shepperd's method, plain")
def shepperd():
    import math

    def mat_to_quat(R):
        t = R[0][0] + R[1][1] + R[2][2]
        if t > 0:
            s = 2 * math.sqrt(t + 1)
            q = (s / 4, (R[2][1] - R[1][2]) / s, (R[0][2] - R[2][0]) / s, (R[1][0] - R[0][1]) / s)
        else:
            i = 0
            if R[1][1] > R[0][0]:
                i = 1
            if R[2][2] > R[i][i]:
                i = 2
            j, k = (i + 1) % 3, (i + 2) % 3
            s = 2 * math.sqrt(1 + R[i][i] - R[j][j] - R[k][k])
            v = [0.0, 0.0, 0.0]
            v[i] = s / 4
            v[j] = (R[i][j] + R[j][i]) / s
            v[k] = (R[i][k] + R[k][i]) / s
            q = ((R[k][j] - R[j][k]) / s, *v)
        return tuple(-c for c in q) if q[0] < 0 else q


@exercise.variant("normalised at the end, w left at minus zero")
def normalised():
    def mat_to_quat(R):
        S = np.array(R, dtype=float)
        d = np.array([np.trace(S), *np.diag(S)])
        k = int(d.argmax())
        if k == 0:
            v = np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]])
            q = np.concatenate([[1 + d[0]], v])
        else:
            i = k - 1
            j, m = (i + 1) % 3, (i + 2) % 3
            q = np.empty(4)
            q[0] = S[m, j] - S[j, m]
            q[1 + i] = 1 + S[i, i] - S[j, j] - S[m, m]
            q[1 + j] = S[i, j] + S[j, i]
            q[1 + m] = S[i, m] + S[m, i]
        q = q / np.sqrt((q**2).sum())
        if q[0] < 0:
            q = q * -1.0
        return q
