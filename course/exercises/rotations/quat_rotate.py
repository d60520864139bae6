"""`quat_rotate`: turn a vector by a unit quaternion."""

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "quat_rotate",
    points=3,
    provides=("quat_rotate",),
    core=True,
    by_hand=True,
    uses=("quat_mul", "quat_conj"),
)


@exercise.reference
def reference():
    def quat_rotate(q, v):
        turned = np.empty(3)
        mujoco.mju_rotVecQuat(turned, v, q)
        return turned

    return {"quat_rotate": quat_rotate}


def _pairs(seed, count):
    return zip(draws.quats(seed, count), draws.vectors(seed + 1, count), strict=True)


@exercise.part("any rotation of any vector", points=1.5)
def ordinary():
    return [call("quat_rotate", q, v) for q, v in _pairs(10, 30)]


@exercise.part("edge cases: -q, the zero vector, half a turn, no turn", points=1)
def edge():
    cases = []
    for q, v in _pairs(20, 4):
        cases.append(call("quat_rotate", q, v))
        cases.append(call("quat_rotate", -q, v, label="-q: the same rotation"))
        cases.append(call("quat_rotate", q, np.zeros(3), label="the zero vector"))
    for axis, v in zip(draws.axes(30, 4), draws.vectors(31, 4), strict=True):
        half = np.array([0.0, *axis])
        cases.append(call("quat_rotate", half, v, label="half a turn"))
    for k in range(3):
        half = np.zeros(4)
        half[k + 1] = 1.0
        v = np.array([1.0, 2.0, 3.0])
        cases.append(call("quat_rotate", half, v, label=f"half a turn about {'xyz'[k]}"))
    one = np.array([1.0, 0, 0, 0])
    cases.append(call("quat_rotate", one, np.array([0.3, -2.0, 1.0]), label="no turn"))
    return cases


@exercise.part("contract: inputs left as they were", points=0.5)
def contract():
    return [call("quat_rotate", q, v, unchanged=True) for q, v in _pairs(40, 6)]


_wrong = exercise.slips("""\
def quat_rotate(q, v):
    w, u = q[0], np.array(q[1:])
    t = 2 * np.cross(u, v)
    return v + w * t + np.cross(u, t)
""")
_FORMULA = "with `t = 2 u x v` the rotated vector is `v + w t + u x t`"
_LINE_OF_T = ("    t = 2 * np.cross(u, v)\n", "")
_SUM = "v + w * t + np.cross(u, t)"

_wrong(
    "passive",
    "You compute `conj(q) v q`: the inverse rotation, which is the passive reading. Turning the "
    "vector is `q v conj(q)`.",
    ("np.array(q[1:])", "-np.array(q[1:])"),
)
for _text, _side in (
    (
        "`q v` is not a vector any more. The conjugate on the other side is needed: `q v conj(q)`.",
        "q[0] * np.asarray(v) + np.cross(q[1:], v)",
    ),
    (
        "`v conj(q)` is not a vector any more; `q` in front is missing.",
        "q[0] * np.asarray(v) - np.cross(v, q[1:])",
    ),
    (
        "`v conj(q)` is not a vector any more; `q` in front is missing.",
        "q[0] * np.asarray(v) - np.cross(q[1:], v)",
    ),
):
    _wrong(
        "one_side",
        f"Only one side is multiplied: {_text}",
        ("    w, u = q[0], np.array(q[1:])\n", ""),
        _LINE_OF_T,
        (_SUM, _side),
    )
_wrong(
    "scalar_last",
    "You read the quaternion as `(x, y, z, w)`, as SciPy does. Here and in MuJoCo `w` is first.",
    ("q[0], np.array(q[1:])", "q[3], np.array(q[:3])"),
)
_wrong(
    "scalar_last",
    "You read the quaternion as `(x, y, z, w)`, and turn by its inverse besides: `w` is first, and "
    "the vector turns by `q v conj(q)`.",
    ("q[0], np.array(q[1:])", "q[3], -np.array(q[:3])"),
)
_wrong(
    "wrong_slice",
    "You return the wrong three entries of `q v conj(q)`: the vector part is entries 1 to 3, "
    "entry 0 is the scalar part.",
    (_SUM, f"np.array([0.0, *({_SUM})])[:3]"),
)
_wrong(
    "four_entries",
    "You return all four entries of `q v conj(q)`; the vector is its last three.",
    (_SUM, f"np.array([0.0, *({_SUM})])"),
)
for _edits in (
    [("2 * np.cross", "np.cross")],
    [_LINE_OF_T, (_SUM, "v + w * np.cross(u, v) + 2 * np.cross(u, np.cross(u, v))")],
    [_LINE_OF_T, (_SUM, "v + 2 * w * np.cross(u, v) + np.cross(u, np.cross(u, v))")],
):
    _wrong("factor_two", f"A factor 2 is missing: {_FORMULA}.", *_edits)
_wrong(
    "no_scalar_part",
    "The scalar part is left out: the rotated vector is `v + w t + u x t` with `t = 2 u x v`.",
    ("w, u = q[0], np.array(q[1:])", "u = np.array(q[1:])"),
    ("w * t", "t"),
)
_wrong(
    "missing_term",
    f"The last term is missing: {_FORMULA}.",
    _LINE_OF_T,
    (_SUM, "v + 2 * w * np.cross(u, v)"),
)
_wrong(
    "missing_term",
    f"The middle term is missing: {_FORMULA}.",
    ("w, u = q[0], np.array(q[1:])", "u = np.array(q[1:])"),
    _LINE_OF_T,
    (_SUM, "v + 2 * np.cross(u, np.cross(u, v))"),
)
_wrong("missing_term", f"The vector itself is missing: {_FORMULA}.", ("v + w * t", "w * t"))
for _cross, _reversed in (
    ("np.cross(u, v)", "np.cross(v, u)"),
    ("np.cross(u, t)", "np.cross(t, u)"),
):
    _wrong(
        "cross_order",
        "A cross product is the wrong way round: `t = 2 u x v`, then `v + w t + u x t`, the "
        "quaternion's vector part first both times.",
        (_cross, _reversed),
    )
_wrong(
    "turns_twice",
    "You turn twice: `q v conj(q)` is applied to its own result.",
    ("    t = 2", "    for _ in range(2):\n        t = 2"),
    (f"    return {_SUM}", f"        v = {_SUM}\n    return v"),
)
_wrong(
    "normalised",
    "You normalise the vector: a rotation keeps its length, and zero stays zero.",
    ("    t = 2", "    v = np.asarray(v) / np.linalg.norm(v)\n    t = 2"),
)
_wrong(
    "unchanged",
    "You return the vector as it was: no rotation is applied.",
    ("    w, u = q[0], np.array(q[1:])\n", ""),
    _LINE_OF_T,
    (_SUM, "v"),
)
for _edit in (
    (f"return {_SUM}", "v += w * t + np.cross(u, t)\n    return v"),
    ("    return", "    q[1:] *= -1\n    return"),
):
    _wrong("modifies_input", "You write into an argument; return a new array.", _edit)

_wrong_product = exercise.slips("""\
def quat_rotate(q, v):
    def mul(a, b):
        u, x = a[1:], b[1:]
        return np.array([a[0] * b[0] - u @ x, *(a[0] * x + b[0] * u + np.cross(u, x))])

    c = np.array([q[0], -q[1], -q[2], -q[3]])
    return mul(mul(q, np.array([0.0, *v])), c)[1:]
""")
_wrong_product(
    "no_conjugate",
    "You compute `q v q`: the right factor must be the conjugate of `q`.",
    ("    c = np.array([q[0], -q[1], -q[2], -q[3]])\n", ""),
    (", c)", ", q)"),
)
_MISPLACED = (
    "The vector sits in the wrong place when it is made a quaternion: it is `(0, v)`, the scalar "
    "part first"
)
_wrong_product(
    "vector_misplaced", f"{_MISPLACED}.", ("[0.0, *v]", "[*v, 0.0]"), ("c)[1:]", "c)[:3]")
)
_wrong_product("vector_misplaced", f"{_MISPLACED}, and zero.", ("[0.0, *v]", "[*v, 0.0]"))


@exercise.misconception(
    "You turn by the half angle: the quaternion holds half the angle, its two sides together turn "
    "by the whole.",
    id="half_angle",
)
def half_angle():
    def quat_rotate(q, v):
        w, u = abs(q[0]), np.array(q[1:]) * (1 if q[0] >= 0 else -1)
        s = np.linalg.norm(u)
        if s == 0:
            return np.array(v)
        n = u / s
        return w * np.asarray(v) + s * np.cross(n, v) + (1 - w) * (n @ v) * n


@exercise.misconception(
    "Your way through axis and angle divides by zero where the rotation is none: the axis is "
    "undefined there, the vector stays as it is.",
    id="division_by_zero",
)
def division_by_zero():
    def quat_rotate(q, v):
        angle = 2 * np.arccos(np.clip(q[0], -1, 1))
        n = np.array(q[1:]) / np.sin(angle / 2)
        v = np.asarray(v)
        c, s = np.cos(angle), np.sin(angle)
        return c * v + s * np.cross(n, v) + (1 - c) * (n @ v) * n


@exercise.variant("two products, written out")
def two_products():
    def product(a, b):
        w, x, y, z = a
        p, q, r, s = b
        return [
            w * p - x * q - y * r - z * s,
            w * q + x * p + y * s - z * r,
            w * r - x * s + y * p + z * q,
            w * s + x * r - y * q + z * p,
        ]

    def quat_rotate(q, v):
        conj = [q[0], -q[1], -q[2], -q[3]]
        return product(product(q, [0, *v]), conj)[1:]


@exercise.variant("two cross products")
def cross_products():
    def quat_rotate(q, v):
        w, u = q[0], np.asarray(q)[1:]
        t = 2.0 * np.cross(u, v)
        return np.asarray(v) + w * t + np.cross(u, t)


@exercise.variant("through the matrix")
def by_matrix():
    def quat_rotate(q, v):
        w, u = q[0], np.array(q[1:])
        K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
        return (np.eye(3) + 2 * w * K + 2 * K @ K) @ v


@exercise.variant("through axis and angle, with the case of no turn")
def by_axis():
    import math

    def quat_rotate(q, v):
        s = math.sqrt(sum(c * c for c in q[1:]))
        if s < 1e-12:
            return tuple(v)
        n = [c / s for c in q[1:]]
        angle = 2 * math.atan2(s, q[0])
        d = sum(a * b for a, b in zip(n, v))
        cross = (n[1] * v[2] - n[2] * v[1], n[2] * v[0] - n[0] * v[2], n[0] * v[1] - n[1] * v[0])
        co, si = math.cos(angle), math.sin(angle)
        return tuple(co * v[k] + si * cross[k] + (1 - co) * d * n[k] for k in range(3))


@exercise.variant("the inhomogeneous formula")
def dot_form():
    def quat_rotate(q, v):
        w, u, v = q[0], np.array(q[1:]), np.array(v)
        return 2 * (u @ v) * u + (w * w - u @ u) * v + 2 * w * np.cross(u, v)
