"""`quat_mul`: the product of two quaternions, scalar first."""

import mujoco
import numpy as np

from course.exercises.compare import quaternion
from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise("quat_mul", points=3, provides=("quat_mul",), core=True, by_hand=True)


@exercise.reference
def reference():
    def quat_mul(a, b):
        product = np.empty(4)
        mujoco.mju_mulQuat(product, a, b)
        return product

    return {"quat_mul": quat_mul}


def _pairs(seed, count):
    return zip(draws.quats(seed, count), draws.quats(seed + 1, count), strict=True)


@exercise.part("unit quaternions", points=1.5)
def unit():
    return [call("quat_mul", a, b, compare=quaternion()) for a, b in _pairs(10, 30)]


@exercise.part("edge cases: the identity, quaternions that are not unit", points=1)
def edge():
    one = np.array([1.0, 0, 0, 0])
    cases = [call("quat_mul", a, b, compare=quaternion()) for a, b in _pairs(20, 4)]
    for q in draws.quats(30, 3):
        cases.append(call("quat_mul", one, q, label="identity first", compare=quaternion()))
        cases.append(call("quat_mul", q, one, label="identity second", compare=quaternion()))
    lengths = np.random.default_rng(40).uniform(0.3, 2.5, (6, 2))
    for (a, b), (s, t) in zip(_pairs(41, 6), lengths, strict=True):
        cases.append(call("quat_mul", s * a, t * b, label="not unit", compare=quaternion()))
    for i in range(4):
        for j in range(4):
            a, b = np.eye(4)[i], np.eye(4)[j]
            names = "1ijk"
            label = f"{names[i]} times {names[j]}"
            cases.append(call("quat_mul", a, b, label=label, compare=quaternion()))
    return cases


@exercise.part("contract: inputs left as they were", points=0.5)
def contract():
    return [call("quat_mul", a, b, compare=quaternion(), unchanged=True) for a, b in _pairs(50, 6)]


_wrong = exercise.slips("""\
def quat_mul(a, b):
    u, v = np.array(a[1:]), np.array(b[1:])
    return np.array([a[0] * b[0] - u @ v, *(a[0] * v + b[0] * u + np.cross(u, v))])
""")
_VECTOR = "a[0] * v + b[0] * u + np.cross(u, v)"


@exercise.misconception(
    "Your product is `b a`. Quaternion products do not commute: in `a b` the cross product is "
    "`a_vec x b_vec`."
)
def swapped_order():
    def quat_mul(a, b):
        w, x, y, z = b
        p, q, r, s = a
        return np.array(
            [
                w * p - x * q - y * r - z * s,
                w * q + x * p + y * s - z * r,
                w * r - x * s + y * p + z * q,
                w * s + x * r - y * q + z * p,
            ]
        )


_wrong_last = exercise.slips("""\
def quat_mul(a, b):
    u, v = np.array(a[:3]), np.array(b[:3])
    vec = a[3] * v + b[3] * u + np.cross(u, v)
    return np.append(vec, a[3] * b[3] - u @ v)
""")
_LAST = (
    "You treat the last entry as the scalar part, as SciPy does. Here and in MuJoCo the order is "
    "`(w, x, y, z)`."
)
_wrong_last("scalar_last", _LAST)
_wrong_last("scalar_last", _LAST, ("[3]", "[0]"), ("[:3]", "[1:]"))
_wrong_last(
    "scalar_last",
    _LAST,
    ("np.append(vec, a[3] * b[3] - u @ v)", "np.array([a[3] * b[3] - u @ v, *vec])"),
)
_wrong_last(
    "scalar_last",
    "You treat the last entry as the scalar part, and the product is `b a` besides. Here the order "
    "is `(w, x, y, z)`, and in `a b` the cross product is `a_vec x b_vec`.",
    ("np.cross(u, v)", "np.cross(v, u)"),
)

_wrong(
    "plus_dot",
    "The scalar part is `a_w b_w` *minus* the dot product of the vector parts; you add it.",
    ("- u @ v", "+ u @ v"),
)
_wrong(
    "no_cross",
    "The cross product of the vector parts is missing: without it the product commutes, and "
    "rotations do not.",
    (" + np.cross(u, v)", ""),
)
_wrong(
    "no_dot",
    "The scalar part lacks the dot product of the vector parts: it is `a_w b_w - a_vec . b_vec`.",
    (" - u @ v", ""),
)
for _left in ("b[0] * u + np.cross(u, v)", "a[0] * v + np.cross(u, v)", "np.cross(u, v)"):
    _wrong(
        "missing_term",
        "The vector part is `a_w b_vec + b_w a_vec + a_vec x b_vec`; one of these terms is "
        "missing.",
        (_VECTOR, _left),
    )
_wrong(
    "scalars_exchanged",
    "The scalar parts multiply the wrong vectors: `a_w` goes with `b_vec`, `b_w` with `a_vec`.",
    ("a[0] * v + b[0] * u", "a[0] * u + b[0] * v"),
)
_wrong(
    "normalised",
    "You normalise: a product of quaternions that are not unit must keep its length `|a| |b|`.",
    ("    return", "    q ="),
    ("v))])\n", "v))])\n    return q / np.linalg.norm(q)\n"),
)
for _edit in (
    ("u, v = np.array(a[1:])", "u, v = -np.array(a[1:])"),
    (", np.array(b[1:])", ", -np.array(b[1:])"),
    (_VECTOR, f"-({_VECTOR})"),
):
    _wrong(
        "conjugated",
        "One factor is conjugated: you compute `conj(a) b` or `a conj(b)`, a difference of two "
        "rotations instead of their composition.",
        _edit,
    )


@exercise.misconception(
    "You multiply entry by entry; the quaternion product mixes the entries.", id="elementwise"
)
def elementwise():
    def quat_mul(a, b):
        return np.asarray(a) * np.asarray(b)


@exercise.misconception(
    "You multiply entry by entry; the quaternion product mixes the entries.", id="elementwise"
)
def added():
    def quat_mul(a, b):
        return np.asarray(a) + np.asarray(b)


@exercise.misconception("You write into an argument; return a new array.")
def modifies_input():
    def quat_mul(a, b):
        w, x, y, z = a.copy()
        p, q, r, s = b
        a[0] = w * p - x * q - y * r - z * s
        a[1] = w * q + x * p + y * s - z * r
        a[2] = w * r - x * s + y * p + z * q
        a[3] = w * s + x * r - y * q + z * p
        return a


@exercise.misconception(
    "You overwrite entries that later lines still need: the second line already reads the new "
    "value. Compute all four from the old ones.",
    id="overwrites_too_early",
)
def overwrites_too_early():
    def quat_mul(a, b):
        a = np.array(a, float)
        a[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
        a[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
        a[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
        a[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
        return a


_TERMS = """\
(1) * a[0] * b[0] + (-1) * a[1] * b[1] + (-1) * a[2] * b[2] + (-1) * a[3] * b[3]
(1) * a[0] * b[1] + (1) * a[1] * b[0] + (1) * a[2] * b[3] + (-1) * a[3] * b[2]
(1) * a[0] * b[2] + (-1) * a[1] * b[3] + (1) * a[2] * b[0] + (1) * a[3] * b[1]
(1) * a[0] * b[3] + (1) * a[1] * b[2] + (-1) * a[2] * b[1] + (1) * a[3] * b[0]
""".splitlines()
_wrong_term = exercise.slips(
    f"def quat_mul(a, b):\n    return np.array([\n        {', '.join(_TERMS)}\n    ])\n"
)
_CHECK_EACH = "check each against `i j = k`, `j k = i`, `k i = j`, and minus the other way round."


def _negated(term):
    sign, product = term.split(" * ", 1)
    return term, f"{'(-1)' if sign == '(1)' else '(1)'} * {product}"


for _name, _row in zip("wxyz", _TERMS, strict=True):
    _row = _row.split(" + ")
    for _term in _row:
        _wrong_term(
            "sign_error",
            f"One term of the {_name} component has the wrong sign; {_CHECK_EACH}",
            _negated(_term),
        )
    if _name != "w":
        _wrong_term(
            "sign_error",
            f"Both cross terms of the {_name} component have the wrong sign; {_CHECK_EACH}",
            *(_negated(_term) for _term in _row if "[0]" not in _term),
        )


@exercise.variant("scalar and vector parts")
def parts():
    def quat_mul(a, b):
        s, u = a[0], np.asarray(a[1:])
        t, v = b[0], np.asarray(b[1:])
        return np.concatenate([[s * t - u.dot(v)], s * v + t * u + np.cross(u, v)])


@exercise.variant("the 4 x 4 matrix of the left factor")
def left_matrix():
    def quat_mul(a, b):
        w, x, y, z = a
        L = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return (L @ np.asarray(b)).tolist()


@exercise.variant("two by two complex matrices")
def complex_matrices():
    def as_complex(q):
        w, x, y, z = q
        return np.array([[w + 1j * x, y + 1j * z], [-y + 1j * z, w - 1j * x]])

    def quat_mul(a, b):
        m = as_complex(a) @ as_complex(b)
        return (m[0, 0].real, m[0, 0].imag, m[0, 1].real, m[0, 1].imag)


@exercise.variant("a table of structure constants")
def table():
    SIGN = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, -1, -1, 1], [1, 1, -1, -1]])
    INDEX = np.array([[0, 1, 2, 3], [1, 0, 3, 2], [2, 3, 0, 1], [3, 2, 1, 0]])

    def quat_mul(a, b):
        out = np.zeros(4)
        for i in range(4):
            for j in range(4):
                out[INDEX[i][j]] += SIGN[i][j] * a[i] * b[j]
        return out


@exercise.variant("the sign turned so that w is positive")
def canonical():
    def quat_mul(a, b):
        w1, x1, y1, z1 = (float(c) for c in a)
        w2, x2, y2, z2 = (float(c) for c in b)
        q = [
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        ]
        return [-c for c in q] if q[0] < 0 else q
