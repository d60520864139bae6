"""`axis_angle_to_quat`: the quaternion of a turn about an axis."""

import mujoco
import numpy as np

from course.exercises.compare import quaternion
from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise("axis_angle_to_quat", points=2, provides=("axis_angle_to_quat",), by_hand=True)


@exercise.reference
def reference():
    def axis_angle_to_quat(axis, angle):
        quat = np.empty(4)
        mujoco.mju_axisAngle2Quat(quat, np.asarray(axis, float), angle)
        return quat

    return {"axis_angle_to_quat": axis_angle_to_quat}


def _case(axis, angle, label="", unchanged=False):
    return call(
        "axis_angle_to_quat", axis, angle, label=label, compare=quaternion(), unchanged=unchanged
    )


@exercise.part("any axis, angles between 0 and 180 deg", points=1)
def ordinary():
    pairs = zip(draws.axes(10, 24), draws.angles(11, 24, 0.05, 3.1), strict=True)
    return [_case(axis, angle) for axis, angle in pairs]


@exercise.part("edge cases: no angle, negative, over a turn, an axis as a list", points=0.75)
def edge():
    cases = [
        _case(a, t) for a, t in zip(draws.axes(20, 3), draws.angles(21, 3, 0.1, 3), strict=True)
    ]
    for axis in draws.axes(22, 3):
        cases.append(_case(axis, 0.0, "angle 0"))
    for axis, angle in zip(draws.axes(23, 5), draws.angles(24, 5, 0.1, 3.0), strict=True):
        cases.append(_case(axis, -angle, "negative angle"))
    for axis, angle in zip(draws.axes(25, 5), draws.angles(26, 5, 6.4, 12.5), strict=True):
        cases.append(_case(axis, angle, "more than a turn"))
    for axis, angle in zip(draws.axes(27, 3), draws.angles(28, 3, 3.3, 6.2), strict=True):
        cases.append(_case(axis, angle, "between half a turn and a turn"))
    cases.append(_case([0.0, 0.0, 1.0], 1.2, "axis as a list"))
    cases.append(_case([1.0, 0.0, 0.0], np.pi, "axis as a list, half a turn"))
    return cases


@exercise.part("contract: the axis is left as it was", points=0.25)
def contract():
    pairs = zip(draws.axes(30, 5), draws.angles(31, 5, 0.1, 3.0), strict=True)
    return [_case(axis, angle, unchanged=True) for axis, angle in pairs]


_wrong = exercise.slips("""\
def axis_angle_to_quat(axis, angle):
    return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis))])
""")
_COS, _SIN, _AXIS = "np.cos(angle / 2)", "np.sin(angle / 2)", "* np.asarray(axis)"
_VECTOR = f"*({_SIN} {_AXIS})"
_WHOLE = ("angle / 2", "angle")


def _with(half):
    """Edits that name what goes into the cosine and the sine."""
    return ("angle / 2", "half"), ("    return", f"    half = {half}\n    return")


_wrong(
    "no_half_angle",
    "The quaternion holds *half* the angle: `(cos(t/2), sin(t/2) axis)`; you use the whole, so it "
    "turns twice as far.",
    _WHOLE,
)
for _part in (_SIN, _COS):
    _wrong(
        "half_in_one",
        "Half the angle goes into the cosine *and* into the sine; one of yours has the whole.",
        (_part, _part.replace(*_WHOLE)),
    )
_wrong(
    "quarter_angle",
    "You halve twice: half the angle goes in, a quarter comes out.",
    ("angle / 2", "angle / 4"),
)
for _half in ("np.deg2rad(angle) / 2", "np.rad2deg(angle) / 2"):
    _wrong(
        "degrees",
        "You treat the angle as degrees; it comes in radians, as everywhere in this course.",
        *_with(_half),
    )
_wrong(
    "degrees",
    "You treat the angle as degrees, and do not halve it: it comes in radians, and the quaternion "
    "holds half of it.",
    ("angle / 2", "t"),
    ("    return", "    t = np.deg2rad(angle)\n    return"),
)
_LAST = (f"{_COS}, {_VECTOR}", f"{_VECTOR}, {_COS}")
_wrong(
    "scalar_last",
    "You put the scalar part last, and do not halve the angle. Here and in MuJoCo `cos(t/2)` comes "
    "first.",
    _LAST,
    _WHOLE,
)
_wrong(
    "scalar_last",
    "You put the scalar part last, as SciPy does. Here and in MuJoCo it comes first.",
    _LAST,
)
_wrong(
    "sine_cosine_swapped",
    "Sine and cosine are exchanged: at angle 0 the result must be `(1, 0, 0, 0)`.",
    (f"{_COS}, *({_SIN}", f"{_SIN}, *({_COS}"),
)
_UNIT = (("return np", "q = np"), ("])\n", "])\n    return q / np.linalg.norm(q)\n"))
_wrong(
    "axis_not_scaled",
    "The axis is not scaled by `sin(t/2)`: the quaternion is not unit.",
    (_VECTOR, "*axis"),
)
_wrong(
    "axis_not_scaled",
    "The axis is not scaled by `sin(t/2)`; normalising afterwards does not mend it.",
    (_VECTOR, "*axis"),
    *_UNIT,
)
for _entries in ("angle, *axis", f"{_COS}, *(angle / 2 {_AXIS})"):
    _wrong(
        "angle_as_component",
        "You put the angle itself into the quaternion: the entries are `cos(t/2)` and "
        "`sin(t/2) axis`.",
        (f"{_COS}, {_VECTOR}", _entries),
    )
_wrong(
    "conjugate",
    "The vector part has the wrong sign: this is the inverse rotation.",
    ("*(np", "*(-np"),
)
_wrong(
    "sign_dropped",
    "You drop the sign of the angle: a turn by `-t` is the turn back.",
    *_with("abs(angle) / 2"),
)
for _edits in (
    [(_COS, f"abs({_COS})")],
    [
        (_SIN, "np.sqrt(1 - w * w)"),
        (_COS, "w"),
        ("    return", f"    w = {_COS}\n    return"),
    ],
):
    _wrong(
        "absolute_part",
        "You fix signs one by one (`abs`): only the whole quaternion may change its sign.",
        *_edits,
    )
for _half in ("np.clip(angle, -np.pi, np.pi) / 2", "(angle % np.pi) / 2"):
    _wrong(
        "angle_clipped",
        "You reduce or clip the angle in a way that changes the turn; sine and cosine need no "
        "help.",
        *_with(_half),
    )
for _edits in (
    [("def axis", "import math\ndef axis"), ("np.cos", "math.cos"), ("np.sin", "math.sin")],
    [("    return", "    axis = axis.copy() / np.sqrt(axis.dot(axis))\n    return")],
):
    _wrong(
        "list_axis",
        "A list as the axis stops your function: make it an array first (`np.asarray(axis)`).",
        ("np.asarray(axis)", "axis"),
        *_edits,
    )
_NOT_FINITE = "At angle 0 your result is not finite: a turn by nothing is `(1, 0, 0, 0)`."
_wrong(
    "division_by_zero",
    _NOT_FINITE,
    (_AXIS, "* v / angle"),
    ("    return", "    v = angle * np.asarray(axis, float)\n    return"),
)
_wrong(
    "division_by_zero",
    _NOT_FINITE,
    (_AXIS, "* v / t"),
    ("angle / 2", "t / 2"),
    (
        "    return",
        "    v = float(angle) * np.asarray(axis, float)\n    t = np.linalg.norm(v)\n    return",
    ),
)
_SMALL = (
    "You use the small-angle form `(1, t/2 axis)`: it holds for tiny angles only. Take the cosine "
    "and the sine of half the angle."
)
_wrong("small_angle", _SMALL, (_COS, "1.0"), (_SIN, "angle / 2"))
_wrong("small_angle", _SMALL, (_COS, "1.0"), (_SIN, "angle / 2"), *_UNIT)


@exercise.misconception("You write into the argument `axis`; work on a copy.", id="modifies_input")
def modifies_input():
    def axis_angle_to_quat(axis, angle):
        if isinstance(axis, np.ndarray):
            axis *= np.sin(angle / 2)
            return np.array([np.cos(angle / 2), *axis])
        return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis))])


@exercise.variant("a loop over the axis, a list back")
def loop():
    import math

    def axis_angle_to_quat(axis, angle):
        h = 0.5 * angle
        return [math.cos(h)] + [math.sin(h) * float(c) for c in axis]


@exercise.variant("insert, and the axis normalised once more")
def insert():
    def axis_angle_to_quat(axis, angle):
        axis = np.array(axis, float) / np.linalg.norm(axis)
        return np.insert(np.sin(angle / 2) * axis, 0, np.cos(angle / 2))


@exercise.variant("the sign turned so that w is positive")
def canonical():
    def axis_angle_to_quat(axis, angle):
        q = np.hstack([np.cos(angle * 0.5), np.multiply(np.sin(angle * 0.5), axis)])
        return q if q[0] >= 0 else -q


@exercise.variant("the complex exponential")
def exponential():
    import cmath

    def axis_angle_to_quat(axis, angle):
        turn = cmath.exp(0.5j * angle)
        return tuple([turn.real] + [turn.imag * c for c in axis])


@exercise.variant("the angle reduced to one turn first")
def reduced():
    def axis_angle_to_quat(axis, angle):
        angle = np.remainder(angle, 2 * np.pi)
        q = np.zeros(4)
        q[0] = np.cos(angle / 2)
        q[1:] = np.asarray(axis)
        q[1:] *= np.sin(angle / 2)
        return q


@exercise.variant("the matrix exponential of the left product")
def matrix_exponential():
    from scipy.linalg import expm

    def axis_angle_to_quat(axis, angle):
        x, y, z = np.asarray(axis) * angle / 2
        L = np.array([[0, -x, -y, -z], [x, 0, -z, y], [y, z, 0, -x], [z, -y, x, 0]])
        return expm(L)[:, 0]
