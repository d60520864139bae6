"""`quat_to_mat`: the rotation matrix of a unit quaternion."""

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "quat_to_mat",
    points=3,
    provides=("quat_to_mat",),
    by_hand=True,
    uses=("quat_mul", "quat_conj", "quat_rotate"),
)


@exercise.reference
def reference():
    def quat_to_mat(q):
        flat = np.empty(9)
        mujoco.mju_quat2Mat(flat, q)
        return flat.reshape(3, 3)

    return {"quat_to_mat": quat_to_mat}


@exercise.part("any rotation", points=1.5)
def ordinary():
    return [call("quat_to_mat", q) for q in draws.quats(10, 30)]


@exercise.part("edge cases: -q, half a turn, no turn", points=1)
def edge():
    cases = []
    for q in draws.quats(20, 4):
        cases.append(call("quat_to_mat", q))
        cases.append(call("quat_to_mat", -q, label="-q: the same matrix"))
    for axis in [*np.eye(3), *draws.axes(30, 4)]:
        cases.append(call("quat_to_mat", np.array([0.0, *axis]), label="half a turn"))
    cases.append(call("quat_to_mat", np.array([1.0, 0, 0, 0]), label="no turn"))
    cases.append(call("quat_to_mat", np.array([-1.0, 0, 0, 0]), label="no turn, the other sign"))
    return cases


@exercise.part("contract: the input is left as it was", points=0.5)
def contract():
    return [call("quat_to_mat", q, unchanged=True) for q in draws.quats(40, 6)]


_GOOD = """\
def quat_to_mat(q):
    w, x, y, z = q
    return np.array([
        [1 - 2*(y*y + z*z), 2*(x*y - w*z), 2*(x*z + w*y)],
        [2*(x*y + w*z), 1 - 2*(x*x + z*z), 2*(y*z - w*x)],
        [2*(x*z - w*y), 2*(y*z + w*x), 1 - 2*(x*x + y*y)],
    ])
"""


_wrong = exercise.slips(_GOOD)


_TRANSPOSE = (
    "This is the transpose: the inverse rotation. With `x y - w z` above the diagonal and "
    "`x y + w z` below, the columns are the turned axes."
)
_wrong("transpose", _TRANSPOSE, ("w, x, y, z = q", "w, x, y, z = q[0], -q[1], -q[2], -q[3]"))
_wrong(
    "flat",
    "The result is flat, `(9,)`, as MuJoCo writes it; reshape it to `(3, 3)`, row by row.",
    ("    ])", "    ]).ravel()"),
)
_wrong(
    "scalar_last",
    "You read the quaternion as `(x, y, z, w)`, as SciPy does. Here and in MuJoCo `w` is first.",
    ("w, x, y, z = q", "x, y, z, w = q"),
)
_wrong(
    "scalar_last",
    "You read the quaternion as `(x, y, z, w)`, and the matrix is transposed besides. Here `w` is "
    "first, and the columns are the turned axes.",
    ("w, x, y, z = q", "x, y, z, w = -q[0], -q[1], -q[2], q[3]"),
)
_wrong(
    "factor_two",
    "The factor 2 is missing off the diagonal; every product of two components carries it.",
    *(
        (f"2*({term})", f"({term})")
        for term in ("x*y - w*z", "x*z + w*y", "x*y + w*z", "y*z - w*x", "x*z - w*y", "y*z + w*x")
    ),
)
_wrong(
    "factor_two",
    "The factor 2 is missing: each product of two components carries it, on the diagonal too.",
    ("1 - 2*", "1 - "),
)
_wrong(
    "factor_two",
    "The factor 2 is missing: each product of two components carries it.",
    ("2*(", "("),
)
for _term in ("x*y - w*z", "x*z + w*y", "x*y + w*z", "y*z - w*x", "x*z - w*y", "y*z + w*x"):
    _flipped = _term.replace("-", "#").replace("+", "-").replace("#", "+")
    _wrong(
        "sign_error",
        f"One off-diagonal entry has the wrong sign of its `w` term; it should read `{_term}`.",
        (f"2*({_term})", f"2*({_flipped})"),
    )
for _a, _b in (("x*y", "w*z"), ("x*z", "w*y"), ("y*z", "w*x")):
    _wrong(
        "sign_error",
        f"The pair of entries with `{_a}` and `{_b}` is exchanged: they sit across the diagonal.",
        (f"{_a} - {_b}", f"{_a} # {_b}"),
        (f"{_a} + {_b}", f"{_a} - {_b}"),
        (f"{_a} # {_b}", f"{_a} + {_b}"),
    )
_wrong(
    "diagonal",
    "The diagonal holds the wrong squares: entry x is `1 - 2 (y^2 + z^2)`, the squares of the "
    "*other* two components.",
    ("(y*y + z*z)", "(x*x)"),
    ("(x*x + z*z)", "(y*y)"),
    ("(x*x + y*y)", "(z*z)"),
)
_wrong(
    "diagonal",
    "The diagonal holds the wrong squares: entry x is `1 - 2 (y^2 + z^2)`, y is "
    "`1 - 2 (x^2 + z^2)`, z is `1 - 2 (x^2 + y^2)`.",
    ("(y*y + z*z)", "(x*x + y*y)#"),
    ("1 - 2*(x*x + y*y)],\n    ])", "1 - 2*(y*y + z*z)],\n    ])"),
    ("(x*x + y*y)#", "(x*x + y*y)"),
)
_wrong(
    "diagonal",
    "The diagonal adds where it must subtract: entry x is `1 - 2 (y^2 + z^2)`.",
    ("1 - 2*", "1 + 2*"),
)
_wrong(
    "diagonal",
    "The diagonal subtracts the squares from each other: entry x is `1 - 2 (y^2 + z^2)`, a sum.",
    ("(y*y + z*z)", "(y*y - z*z)"),
    ("(x*x + z*z)", "(x*x - z*z)"),
    ("(x*x + y*y)", "(x*x - y*y)"),
)
_wrong(
    "no_scalar_part",
    "The terms with `w` are missing, so the matrix is symmetric: it cannot tell a turn from the "
    "turn back.",
    *((f" {s} w*{c}", "") for s in "+-" for c in "xyz"),
)
_wrong(
    "negated",
    "The whole matrix has the wrong sign: its determinant is -1, a reflection.",
    ("return np", "return -np"),
)
_wrong(
    "left_product_matrix",
    "This is the 4 x 4 matrix of the product with `q`; a rotation of vectors is 3 x 3.",
    (
        _GOOD[_GOOD.index("    return") :],
        "    return np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])\n",
    ),
)
_wrong(
    "one_side",
    "You build the matrix from one side of the product only: a column is `q e conj(q)`, not `q e`.",
    (
        _GOOD[_GOOD.index("    return") :],
        "    return np.array([[w, -z, y], [z, w, -x], [-y, x, w]])\n",
    ),
)


@exercise.misconception(
    "You return the transpose: the rows are the turned axes; the columns should be.",
    id="transpose",
)
def rows_instead():
    def quat_to_mat(q):
        w, u = q[0], np.array(q[1:])
        rows = []
        for e in np.eye(3):
            t = 2 * np.cross(u, e)
            rows.append(e + w * t + np.cross(u, t))
        return np.array(rows)


@exercise.misconception(
    "Your way through axis and angle divides by zero where the rotation is none; the matrix is the "
    "identity there.",
    id="division_by_zero",
)
def division_by_zero():
    def quat_to_mat(q):
        angle = 2 * np.arccos(np.clip(q[0], -1, 1))
        n = np.array(q[1:]) / np.sin(angle / 2)
        K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
        return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@exercise.misconception(
    "You turn by half the angle: `2 arccos(w)` is the angle, not `arccos(w)`.", id="half_angle"
)
def half_angle():
    def quat_to_mat(q):
        w, u = q[0], np.array(q[1:])
        s = np.linalg.norm(u)
        n = u / s if s else u
        angle = np.arctan2(s, w)
        K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
        return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@exercise.misconception("You write into the argument; work on a copy.", id="modifies_input")
def modifies_input():
    def quat_to_mat(q):
        if q[0] < 0:
            q *= -1
        q[0] += 0.0
        w, u = q[0], q[1:].copy()
        q[:] = np.roll(q, -1)
        K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        return np.eye(3) + 2 * w * K + 2 * K @ K


@exercise.variant("nested lists")
def lists():
    def quat_to_mat(q):
        w, x, y, z = (float(c) for c in q)
        return [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]


@exercise.variant("Rodrigues with the skew matrix")
def skew():
    def quat_to_mat(q):
        w, u = q[0], np.asarray(q[1:])
        K = np.cross(np.eye(3), u)
        return np.eye(3) + 2 * w * K + 2 * K @ K


@exercise.variant("columns are the turned axes")
def columns():
    def quat_to_mat(q):
        def turn(v):
            t = 2 * np.cross(q[1:], v)
            return v + q[0] * t + np.cross(q[1:], t)

        return np.column_stack([turn(e) for e in np.eye(3)])


@exercise.variant("the two product matrices")
def product_matrices():
    def quat_to_mat(q):
        w, x, y, z = q
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        right = np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])
        return (left @ right.T)[1:, 1:]


@exercise.variant("outer product, filled entry by entry")
def outer():
    def quat_to_mat(q):
        u = np.array(q[1:])
        R = 2 * np.outer(u, u) + (2 * q[0] ** 2 - 1) * np.identity(3)
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            R[i, j] -= 2 * q[0] * u[k]
            R[j, i] += 2 * q[0] * u[k]
        return R
