"""`quat_velocity`: the angular velocity that carries one orientation to another."""

from __future__ import annotations

import mujoco
import numpy as np
import scipy

from course.exercises.compare import close, satisfies
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.quaternions import HELPERS, conj, log, mul, short
from course.exercises.generalized_coordinates.scenes import turned, unit
from course.exercises.implementation import Implementation, with_helpers

exercise = Exercise(
    "quat_velocity", points=3, provides=("quat_velocity",), core=True, by_hand=True, helpers=HELPERS
)


@exercise.reference
def reference():
    def quat_velocity(quat1, quat2, dt):
        out = np.zeros(3)
        mujoco.mju_subQuat(out, np.array(quat2, float), np.array(quat1, float))
        return out / dt

    return {"quat_velocity": quat_velocity}


def between(
    quat1: np.ndarray, quat2: np.ndarray, dt: float, label: str = "", unchanged: bool = False
) -> Case:
    return call(
        "quat_velocity",
        quat1,
        quat2,
        dt,
        label=label,
        compare=close(1e-10),
        unchanged=unchanged,
    )


def _either_sign(got: object, expected: object) -> str | None:
    right = close(1e-8)
    flipped = -np.asarray(expected, float)
    mismatch = right(got, expected)
    return None if mismatch is None or right(got, flipped) is None else mismatch.text


def half_turn(quat: np.ndarray, axis: np.ndarray, dt: float) -> Case:
    return call(
        "quat_velocity",
        quat,
        turned(quat, np.pi * axis),
        dt,
        label="180 degrees apart",
        compare=satisfies(_either_sign, near=close(1e-6)),
    )


def small_turn(quat: np.ndarray, axis: np.ndarray) -> Case:
    """A turn of 1e-5 rad: no rest. The tolerance forgives what an arccos loses there."""
    other = turned(quat, 1e-5 * axis)
    label = "a turn of 1e-5 rad"
    return call("quat_velocity", quat, other, 0.01, label=label, compare=close(1e-6))


_OTHER_SIGN = "the other sign of quat2: the short way is asked for"


def ordinary_cases(seed: int, count: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        quat = unit(rng)
        phi = unit(rng, 3) * rng.uniform(0.1, 2.8)
        other = turned(quat, phi)
        # The nearer of the two signs: the far one is an edge case.
        cases.append(between(quat, other if quat @ other > 0 else -other, rng.uniform(0.05, 0.7)))
    return cases


@exercise.part("ordinary turns", points=2)
def ordinary():
    return ordinary_cases(30, 25)


@exercise.part("edge cases: -q, no turn, half a turn", points=1)
def edges():
    rng = np.random.default_rng(31)
    cases = ordinary_cases(32, 4)
    for _ in range(4):
        quat = unit(rng)
        near = turned(quat, unit(rng, 3) * rng.uniform(0.1, 2.5))
        far = -near if quat @ near > 0 else near
        cases.append(between(quat, far, 0.1, _OTHER_SIGN, unchanged=True))
        cases.append(between(quat, -quat, 0.05, "quat2 = -quat1: the same orientation"))
        cases.append(between(quat, quat.copy(), 0.05, "quat2 = quat1", unchanged=True))
        cases.append(half_turn(quat, unit(rng, 3), 0.5))
        cases.append(small_turn(quat, unit(rng, 3)))
    start = np.array([1.0, 0, 0, 0])
    cases.append(between(start, start.copy(), 0.002, "identity twice"))
    cases.append(half_turn(start, np.array([0.0, 0, 1]), 1.0))
    return cases


_PLAIN = (
    "You subtract the quaternions: (q2 - q1)/dt is the rate of four numbers on the sphere, no "
    "angular velocity. Take the logarithm of q1^-1 * q2 and divide that by dt."
)


@exercise.misconception(_PLAIN, id="plain_difference")
def plain_difference():
    def quat_velocity(quat1, quat2, dt):
        return (np.asarray(quat2) - np.asarray(quat1)) / dt


@exercise.misconception(_PLAIN, id="plain_difference")
def plain_difference_of_the_vector_part():
    def quat_velocity(quat1, quat2, dt):
        return (np.asarray(quat2) - np.asarray(quat1))[1:] / dt


@exercise.misconception(_PLAIN, id="plain_difference")
def twice_the_difference_of_the_vector_part():
    def quat_velocity(quat1, quat2, dt):
        return 2 * (np.asarray(quat2) - np.asarray(quat1))[1:] / dt


@exercise.misconception(_PLAIN, id="plain_difference")
def plain_difference_short_way():
    def quat_velocity(quat1, quat2, dt):
        a, b = np.asarray(quat1), np.asarray(quat2)
        return (b * np.sign(a @ b) - a)[1:] / dt


@exercise.misconception(_PLAIN, id="plain_difference")
def twice_plain_difference_short_way():
    def quat_velocity(quat1, quat2, dt):
        a, b = np.asarray(quat1), np.asarray(quat2)
        return 2 * (b * np.sign(a @ b) - a)[1:] / dt


@exercise.misconception(
    "You use the derivative 2 conj(q1) (q2 - q1)/dt with the plain difference: it gives the sine "
    "of half the angle where the angle is asked for. Right only for tiny turns; take the "
    "logarithm (2 atan2(|v|, w) times the axis)."
)
def sine_for_the_angle():
    def quat_velocity(quat1, quat2, dt):
        r = mul(conj(quat1), quat2)
        return 2 * short(r)[1:] / dt


@exercise.misconception(
    "You use the derivative 2 conj(q1) (q2 - q1)/dt with the plain difference: it gives the sine "
    "of half the angle where the angle is asked for. Right only for tiny turns; take the "
    "logarithm (2 atan2(|v|, w) times the axis).",
    id="sine_for_the_angle",
)
def sine_for_the_angle_long_way():
    def quat_velocity(quat1, quat2, dt):
        w, x, y, z = np.asarray(quat1) * [1, -1, -1, -1]
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return 2 * (left @ (np.asarray(quat2) - np.asarray(quat1)))[1:] / dt


_TWO = (
    "A factor 2 is missing: the quaternion of a turn holds half its angle, so the angle is "
    "2 atan2(|v|, w)."
)


@exercise.misconception(_TWO, id="missing_factor_2")
def missing_factor_2():
    def quat_velocity(quat1, quat2, dt):
        r = short(mul(conj(quat1), quat2))
        s = np.linalg.norm(r[1:])
        return np.zeros(3) if s < 1e-15 else np.arctan2(s, r[0]) * r[1:] / s / dt


@exercise.misconception(_TWO, id="missing_factor_2")
def missing_factor_2_in_the_sine():
    def quat_velocity(quat1, quat2, dt):
        r = mul(conj(quat1), quat2)
        return short(r)[1:] / dt


@exercise.misconception(
    "The result is twice too long: the factor 2 from the half angle is applied twice."
)
def factor_4():
    def quat_velocity(quat1, quat2, dt):
        r = short(mul(conj(quat1), quat2))
        s = np.linalg.norm(r[1:])
        return np.zeros(3) if s < 1e-15 else 4 * np.arctan2(s, r[0]) * r[1:] / s / dt


_WORLD = (
    "Your rate is in the world frame: it is the logarithm of q2 * q1^-1. In the body frame the "
    "inverse stands on the left, q1^-1 * q2 (a wrong sign of the cross product does the same)."
)


@exercise.misconception(_WORLD, id="world_frame")
def world_frame():
    def quat_velocity(quat1, quat2, dt):
        return log(mul(quat2, conj(quat1))) / dt


_LONG = (
    "Your result takes the long way round (more than half a turn) when the two quaternions have "
    "opposite signs. q and -q are one orientation: flip the relative quaternion when its scalar "
    "part is negative."
)


@exercise.misconception(_LONG, id="long_way_round")
def long_way_round():
    def quat_velocity(quat1, quat2, dt):
        r = mul(conj(quat1), quat2)
        s = np.linalg.norm(r[1:])
        return np.zeros(3) if s < 1e-15 else 2 * np.arctan2(s, r[0]) * r[1:] / s / dt


@exercise.misconception(_LONG, id="long_way_round")
def long_way_by_arccos():
    def quat_velocity(quat1, quat2, dt):
        r = mul(conj(quat1), quat2)
        angle = 2 * np.arccos(np.clip(r[0], -1, 1))
        s = np.linalg.norm(r[1:])
        return np.zeros(3) if s < 1e-12 else angle * r[1:] / s / dt


@exercise.misconception(
    "The sign of the scalar part is dropped (its absolute value, or arctan of a quotient): where "
    "the two quaternions have opposite signs your axis points the wrong way. Flip the whole "
    "relative quaternion, not its scalar part alone."
)
def flips_the_scalar_part_only():
    def quat_velocity(quat1, quat2, dt):
        r = mul(conj(quat1), quat2)
        s = np.linalg.norm(r[1:])
        return np.zeros(3) if s < 1e-15 else 2 * np.arctan2(s, abs(r[0])) * r[1:] / s / dt


_BACK = (
    "Your result has the opposite sign: it carries quat2 back to quat1. The relative quaternion is "
    "q1^-1 * q2 (in MuJoCo: `mju_subQuat(res, q2, q1)`)."
)


@exercise.misconception(_BACK, id="swapped_order")
def swapped_order():
    def quat_velocity(quat1, quat2, dt):
        return log(mul(conj(quat2), quat1)) / dt


@exercise.misconception(
    "The first quaternion is not inverted: you take the logarithm of q1 * q2. The step from q1 to "
    "q2 is q1^-1 * q2."
)
def not_inverted():
    def quat_velocity(quat1, quat2, dt):
        return log(mul(quat1, quat2)) / dt


@exercise.misconception(
    "The result is not divided by dt: it is the angle turned (rad), not the rate (rad/s)."
)
def forgets_dt():
    def quat_velocity(quat1, quat2, dt):
        return log(mul(conj(quat1), quat2))


@exercise.misconception("The result is multiplied by dt; a rate is an angle divided by a time.")
def multiplies_by_dt():
    def quat_velocity(quat1, quat2, dt):
        return log(mul(conj(quat1), quat2)) * dt


_REST = (
    "Where the two orientations are the same your code divides zero by zero, or takes an arccos "
    "beyond 1 by rounding. No turn has no axis: return zeros there."
)


@exercise.misconception(_REST, id="divides_by_zero_at_rest")
def divides_by_zero_at_rest():
    def quat_velocity(quat1, quat2, dt):
        r = short(mul(conj(quat1), quat2))
        s = np.linalg.norm(r[1:])
        return 2 * np.arctan2(s, r[0]) * r[1:] / s / dt


@exercise.misconception(_REST, id="divides_by_zero_at_rest")
def raises_at_rest():
    import math

    def quat_velocity(quat1, quat2, dt):
        w, x, y, z = np.asarray(quat1) * [1, -1, -1, -1]
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        r = [float(c) for c in left @ quat2]
        r = r if r[0] >= 0 else [-c for c in r]
        s = math.sqrt(r[1] ** 2 + r[2] ** 2 + r[3] ** 2)
        return [2 * math.atan2(s, r[0]) * c / s / dt for c in r[1:]]


@exercise.misconception(_REST, id="divides_by_zero_at_rest")
def arccos_beyond_one():
    def quat_velocity(quat1, quat2, dt):
        r = short(mul(conj(quat1), quat2))
        angle = 2 * np.arccos(r[0])
        return angle * r[1:] / np.sin(angle / 2) / dt


@exercise.misconception(
    "Your quaternions hold the scalar part last; the course's order is (w, x, y, z), MuJoCo's own."
)
def scalar_last():
    def quat_velocity(quat1, quat2, dt):
        q1, q2 = np.roll(quat1, 1), np.roll(quat2, 1)
        return log(mul(conj(q1), q2)) / dt


@exercise.misconception("The result is in degrees a second; rad/s is the unit everywhere.")
def degrees():
    def quat_velocity(quat1, quat2, dt):
        r = short(mul(conj(quat1), quat2))
        s = np.linalg.norm(r[1:])
        return np.zeros(3) if s < 1e-15 else np.degrees(2 * np.arctan2(s, r[0])) * r[1:] / s / dt


@exercise.misconception(
    "Your product of quaternions lacks the cross product: the vector part is w V + W v + v x V."
)
def product_without_cross():
    def quat_velocity(quat1, quat2, dt):
        w, v = quat1[0], -np.asarray(quat1[1:])
        W, V = quat2[0], np.asarray(quat2[1:])
        r = np.r_[w * W - v @ V, w * V + W * v]
        r = r if r[0] >= 0 else -r
        s = np.linalg.norm(r[1:])
        return np.zeros(3) if s < 1e-15 else 2 * np.arctan2(s, r[0]) * r[1:] / s / dt


@exercise.misconception(
    "Your result is the length of the rate; a vector of three numbers is asked for, along the axis."
)
def speed_only():
    def quat_velocity(quat1, quat2, dt):
        w = abs(float(np.dot(quat1, quat2)))
        return 2 * np.arccos(min(1.0, w)) / dt


# More mistakes: r is the relative quaternion, the logarithm of it the turn.
CELL = """\
def quat_velocity(quat1, quat2, dt):
    {first}
    return {result}
"""


def _mistake(id: str, text: str, *results: str, first: str = "pass") -> None:
    for result in results:
        cell = with_helpers(CELL.format(first=first, result=result), HELPERS)
        exercise.misconceptions.append(Implementation(id, text, cell))


_mistake("world_frame", _WORLD, "2 * mul((quat2 - quat1) / dt, conj(quat1))[1:]")
_mistake(
    "world_frame_and_factor_2",
    "Two mistakes: the rate is in the world frame (take q1^-1 * q2), and a factor 2 is missing.",
    "0.5 * log(mul(quat2, conj(quat1))) / dt",
)
_mistake(
    "world_frame_and_swapped",
    "Two mistakes: the rate is in the world frame, and it carries quat2 back to quat1. Take the "
    "logarithm of q1^-1 * q2.",
    "log(mul(quat1, conj(quat2))) / dt",
)
_mistake(
    "euler_differences",
    "You subtract Euler angles. Their rates are no angular velocity: the three axes are not at "
    "right angles, and at a pitch of 90 degrees the angles jump.",
    "(euler(quat2) - euler(quat1)) / dt",
)
_mistake(
    "speed_lost",
    "The result is of unit length, or its length does not depend on the angle: it is the axis. "
    "Multiply it by the angle over dt.",
    "log(mul(conj(quat1), quat2)) / max(np.linalg.norm(log(mul(conj(quat1), quat2))), 1e-15)",
    "log(mul(conj(quat1), quat2)) / max(np.linalg.norm(log(mul(conj(quat1), quat2))), 1e-15) / dt",
)
_mistake(
    "axis_not_normalised",
    "The axis in your result is not of unit length: divide the vector part of the relative "
    "quaternion by its norm, the sine of half the angle.",
    "2 * np.arctan2(np.linalg.norm(r[1:]), r[0]) * r[1:] / dt",
    "np.arctan2(np.linalg.norm(r[1:]), r[0]) * r[1:] / dt",
    first="r = mul(conj(quat1), quat2)\n    r = -r if r[0] < 0 else r",
)
_mistake(
    "writes_into_the_input",
    "Your code changes the quaternions that it is given (it conjugates or flips one in place). "
    "Work on copies.",
    "log(mul(quat1, quat2)) / dt",
    first="quat1[1:] *= -1",
)
_mistake(
    "writes_into_the_input",
    "Your code changes the quaternions that it is given (it conjugates or flips one in place). "
    "Work on copies.",
    "log(mul(conj(quat1), quat2)) / dt",
    first="quat2 *= -1 if quat1 @ quat2 < 0 else 1",
)
_mistake(
    "four_numbers",
    "Your result has four numbers, a quaternion; an angular velocity has three: leave out the "
    "scalar part.",
    "np.r_[0, log(mul(conj(quat1), quat2))] / dt",
    "2 * mul(conj(quat1), quat2) / dt",
    "mul(conj(quat1), quat2)",
)
_mistake(
    "small_turns_dropped",
    "Small turns come out as zero: the threshold below which your code sees no turn is too large.",
    "np.where(np.linalg.norm(w) < 0.3, 0, w) / dt",
    first="w = log(mul(conj(quat1), quat2))",
)

_mistake(
    "small_turns_dropped",
    "Small turns come out as zero: the threshold below which your code sees no turn is too large.",
    "np.where(np.linalg.norm(w) < 2e-4, 0, w) / dt",
    first="w = log(mul(conj(quat1), quat2))",
)
_mistake(
    "first_three_of_four",
    "You take the first three numbers of the relative quaternion; its vector part is the last "
    "three, `r[1:]`.",
    "2 * np.arctan2(np.linalg.norm(r[1:]), r[0]) * r[:3] / max(np.linalg.norm(r[1:]), 1e-15) / dt",
    "2 * np.arctan2(np.linalg.norm(r[:3]), r[3]) * r[:3] / max(np.linalg.norm(r[:3]), 1e-15) / dt",
    first="r = mul(conj(quat1), quat2)\n    r = -r if r[0] < 0 else r",
)
# Signs of the twelve terms of the vector part, flipped one at a time.
_TERMS = "w1*x2 x1*w2 y1*z2 -z1*y2 w1*y2 -x1*z2 y1*w2 z1*x2 w1*z2 x1*y2 -y1*x2 z1*w2".split()
for _k in range(12):
    _signed = [f"-({_term})" if _j == _k else _term for _j, _term in enumerate(_TERMS)]
    _rows = [" + ".join(f"({_term})" for _term in _signed[_i : _i + 4]) for _i in (0, 4, 8)]
    _mistake(
        "sign_in_the_product",
        "A sign is wrong in your product of quaternions: its vector part is w V + W v + v x V.",
        "log(r) / dt",
        first="(w1, x1, y1, z1), (w2, x2, y2, z2) = conj(quat1), quat2\n"
        f"    r = np.array([w1*w2 - x1*x2 - y1*y2 - z1*z2, {', '.join(_rows)}])",
    )


@exercise.variant("by the rotation matrix and its antisymmetric part")
def by_arcsine_and_arccosine():
    def quat_velocity(quat1, quat2, dt):
        q1, q2 = np.asarray(quat1, float), np.asarray(quat2, float)
        v = q1[0] * q2[1:] - q2[0] * q1[1:] - np.cross(q1[1:], q2[1:])
        w = q1 @ q2
        if w < 0:
            w, v = -w, -v
        s = np.sqrt(v @ v)
        factor = 2.0 if s < 1e-9 else 2 * np.arctan2(s, w) / s
        return factor * v / dt


@exercise.variant("arccos, clipped and guarded, a list comes back")
def by_arccos():
    def quat_velocity(quat1, quat2, dt):
        q1, q2 = np.array(quat1, float), np.array(quat2, float)
        if np.dot(q1, q2) < 0:
            q2 *= -1
        a, b, c, d = q1
        left = np.array([[a, b, c, d], [-b, a, d, -c], [-c, -d, a, b], [-d, c, -b, a]])
        w, x, y, z = left @ q2
        s = np.linalg.norm([x, y, z])
        if s < 1e-10:
            return [0, 0, 0]
        angle = 2 * np.arccos(np.clip(w, -1.0, 1.0))
        return [angle * x / s / dt, angle * y / s / dt, angle * z / s / dt]


@exercise.variant("plain Python numbers")
def plain_python():
    import math

    def conj(q):
        return (q[0], -q[1], -q[2], -q[3])

    def mul(p, q):
        a, b, c, d = p
        e, f, g, h = q
        return (
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        )

    def quat_velocity(quat1, quat2, dt):
        w, *v = mul(conj([float(x) for x in quat1]), [float(x) for x in quat2])
        half = math.atan2(math.hypot(*v), w)
        if half > math.pi / 2:
            half -= math.pi
        s = math.hypot(*v)
        return tuple((2 * half / s * x if s else 0.0) / dt for x in v)


@exercise.variant("the matrix logarithm, from SciPy's linear algebra, where the angle allows")
def by_matrix_logarithm():
    def quat_velocity(quat1, quat2, dt):
        def matrix(q):
            w, x, y, z = q
            return np.array(
                [
                    [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                    [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                    [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
                ]
            )

        R = matrix(quat1).T @ matrix(quat2)
        if np.trace(R) < -1 + 1e-9:  # half a turn: R + I = 2 axis axis^T
            S = (R + np.eye(3)) / 2
            column = S[:, np.argmax(np.diag(S))]
            return np.pi * column / np.linalg.norm(column) / dt
        L = scipy.linalg.logm(R).real
        return np.array([L[2, 1] - L[1, 2], L[0, 2] - L[2, 0], L[1, 0] - L[0, 1]]) / 2 / dt
