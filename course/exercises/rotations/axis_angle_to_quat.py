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


_HALF = (
    "The quaternion holds *half* the angle: `(cos(t/2), sin(t/2) axis)`; you use the whole, so it "
    "turns twice as far."
)


@exercise.misconception(_HALF, id="no_half_angle")
def no_half_angle():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.cos(angle), *(np.sin(angle) * np.asarray(axis))])


@exercise.misconception(
    "Half the angle goes into the cosine *and* into the sine; one of yours has the whole.",
    id="half_in_one",
)
def half_in_cosine():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.cos(angle / 2), *(np.sin(angle) * np.asarray(axis))])


@exercise.misconception(
    "Half the angle goes into the cosine *and* into the sine; one of yours has the whole.",
    id="half_in_one",
)
def half_in_sine():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.cos(angle), *(np.sin(angle / 2) * np.asarray(axis))])


@exercise.misconception(
    "You halve twice: half the angle goes in, a quarter comes out.", id="quarter_angle"
)
def quarter_angle():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.cos(angle / 4), *(np.sin(angle / 4) * np.asarray(axis))])


_DEGREES = "You treat the angle as degrees; it comes in radians, as everywhere in this course."


@exercise.misconception(_DEGREES, id="degrees")
def degrees():
    def axis_angle_to_quat(axis, angle):
        half = np.deg2rad(angle) / 2
        return np.array([np.cos(half), *(np.sin(half) * np.asarray(axis))])


@exercise.misconception(_DEGREES, id="degrees")
def degrees_the_other_way():
    def axis_angle_to_quat(axis, angle):
        half = np.rad2deg(angle) / 2
        return np.array([np.cos(half), *(np.sin(half) * np.asarray(axis))])


@exercise.misconception(
    "You treat the angle as degrees, and do not halve it: it comes in radians, and the quaternion "
    "holds half of it.",
    id="degrees",
)
def degrees_not_halved():
    def axis_angle_to_quat(axis, angle):
        t = np.deg2rad(angle)
        return np.array([np.cos(t), *(np.sin(t) * np.asarray(axis))])


@exercise.misconception(
    "You put the scalar part last, and do not halve the angle. Here and in MuJoCo `cos(t/2)` comes "
    "first.",
    id="scalar_last",
)
def scalar_last_not_halved():
    def axis_angle_to_quat(axis, angle):
        return np.array([*(np.sin(angle) * np.asarray(axis)), np.cos(angle)])


@exercise.misconception(
    "You put the scalar part last, as SciPy does. Here and in MuJoCo it comes first.",
    id="scalar_last",
)
def scalar_last():
    def axis_angle_to_quat(axis, angle):
        return np.array([*(np.sin(angle / 2) * np.asarray(axis)), np.cos(angle / 2)])


@exercise.misconception(
    "Sine and cosine are exchanged: at angle 0 the result must be `(1, 0, 0, 0)`.",
    id="sine_cosine_swapped",
)
def sine_cosine_swapped():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.sin(angle / 2), *(np.cos(angle / 2) * np.asarray(axis))])


@exercise.misconception(
    "The axis is not scaled by `sin(t/2)`: the quaternion is not unit.", id="axis_not_scaled"
)
def axis_not_scaled():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.cos(angle / 2), *axis])


@exercise.misconception(
    "The axis is not scaled by `sin(t/2)`; normalising afterwards does not mend it.",
    id="axis_not_scaled",
)
def axis_not_scaled_normalised():
    def axis_angle_to_quat(axis, angle):
        q = np.array([np.cos(angle / 2), *axis])
        return q / np.linalg.norm(q)


@exercise.misconception(
    "You put the angle itself into the quaternion: the entries are `cos(t/2)` and `sin(t/2) axis`.",
    id="angle_as_component",
)
def angle_as_component():
    def axis_angle_to_quat(axis, angle):
        return np.array([angle, *axis])


@exercise.misconception(
    "You put the angle itself into the quaternion: the entries are `cos(t/2)` and `sin(t/2) axis`.",
    id="angle_as_component",
)
def rotation_vector_as_component():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.cos(angle / 2), *(angle / 2 * np.asarray(axis))])


@exercise.misconception(
    "The vector part has the wrong sign: this is the inverse rotation.", id="conjugate"
)
def conjugate():
    def axis_angle_to_quat(axis, angle):
        return np.array([np.cos(angle / 2), *(-np.sin(angle / 2) * np.asarray(axis))])


@exercise.misconception(
    "You drop the sign of the angle: a turn by `-t` is the turn back.", id="sign_dropped"
)
def absolute_angle():
    def axis_angle_to_quat(axis, angle):
        half = abs(angle) / 2
        return np.array([np.cos(half), *(np.sin(half) * np.asarray(axis))])


@exercise.misconception(
    "You fix signs one by one (`abs`): only the whole quaternion may change its sign.",
    id="absolute_part",
)
def absolute_w():
    def axis_angle_to_quat(axis, angle):
        return np.array([abs(np.cos(angle / 2)), *(np.sin(angle / 2) * np.asarray(axis))])


@exercise.misconception(
    "You fix signs one by one (`abs`): only the whole quaternion may change its sign.",
    id="absolute_part",
)
def absolute_sine():
    def axis_angle_to_quat(axis, angle):
        w = np.cos(angle / 2)
        return np.array([w, *(np.sqrt(1 - w * w) * np.asarray(axis))])


@exercise.misconception(
    "You reduce or clip the angle in a way that changes the turn; sine and cosine need no help.",
    id="angle_clipped",
)
def angle_clipped():
    def axis_angle_to_quat(axis, angle):
        half = np.clip(angle, -np.pi, np.pi) / 2
        return np.array([np.cos(half), *(np.sin(half) * np.asarray(axis))])


@exercise.misconception(
    "You reduce or clip the angle in a way that changes the turn; sine and cosine need no help.",
    id="angle_clipped",
)
def angle_modulo_pi():
    def axis_angle_to_quat(axis, angle):
        half = (angle % np.pi) / 2
        return np.array([np.cos(half), *(np.sin(half) * np.asarray(axis))])


@exercise.misconception(
    "A list as the axis stops your function: make it an array first (`np.asarray(axis)`).",
    id="list_axis",
)
def list_axis():
    import math

    def axis_angle_to_quat(axis, angle):
        return np.array([math.cos(angle / 2), *(math.sin(angle / 2) * axis)])


@exercise.misconception(
    "A list as the axis stops your function: make it an array first (`np.asarray(axis)`).",
    id="list_axis",
)
def list_axis_method():
    def axis_angle_to_quat(axis, angle):
        axis = axis.copy() / np.sqrt(axis.dot(axis))
        return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)])


@exercise.misconception(
    "At angle 0 your result is not finite: a turn by nothing is `(1, 0, 0, 0)`.",
    id="division_by_zero",
)
def division_by_zero():
    def axis_angle_to_quat(axis, angle):
        v = angle * np.asarray(axis, float)
        return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * v / angle)])


@exercise.misconception(
    "At angle 0 your result is not finite: a turn by nothing is `(1, 0, 0, 0)`.",
    id="division_by_zero",
)
def normalised_rotation_vector():
    def axis_angle_to_quat(axis, angle):
        v = float(angle) * np.asarray(axis, float)
        t = np.linalg.norm(v)
        return np.array([np.cos(t / 2), *(np.sin(t / 2) * v / t)])


@exercise.misconception("You write into the argument `axis`; work on a copy.", id="modifies_input")
def modifies_input():
    def axis_angle_to_quat(axis, angle):
        if isinstance(axis, np.ndarray):
            axis *= np.sin(angle / 2)
            return np.array([np.cos(angle / 2), *axis])
        return np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.asarray(axis))])


@exercise.misconception(
    "You use the small-angle form `(1, t/2 axis)`: it holds for tiny angles only. Take the cosine "
    "and the sine of half the angle."
)
def small_angle():
    def axis_angle_to_quat(axis, angle):
        return np.array([1.0, *(angle / 2 * np.asarray(axis))])


@exercise.misconception(
    "You use the small-angle form `(1, t/2 axis)`: it holds for tiny angles only. Take the cosine "
    "and the sine of half the angle.",
    id="small_angle",
)
def small_angle_normalised():
    def axis_angle_to_quat(axis, angle):
        q = np.array([1.0, *(angle / 2 * np.asarray(axis))])
        return q / np.linalg.norm(q)


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
