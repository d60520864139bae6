"""`quat_velocity`: the angular velocity that carries one orientation to another."""

from __future__ import annotations

import mujoco
import numpy as np
import scipy

from course.exercises.compare import close, satisfies
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.quaternions import written_out
from course.exercises.generalized_coordinates.scenes import turned, unit

exercise = Exercise("quat_velocity", points=3, provides=("quat_velocity",), core=True, by_hand=True)


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


# The logarithm is a helper of its own (`quaternions.py`): some slips are in there.
GOOD = """\
def quat_velocity(quat1, quat2, dt):
    r = mul(conj(quat1), quat2)
    return log(r) / dt
"""
_wrong = exercise.slips(written_out(GOOD))
_STEP = "mul(conj(quat1), quat2)"

for _rate in (
    "(quat2 - quat1) / dt",
    "(quat2 - quat1)[1:] / dt",
    "2 * (quat2 - quat1)[1:] / dt",
    "(quat2 * np.sign(quat1 @ quat2) - quat1)[1:] / dt",
    "2 * (quat2 * np.sign(quat1 @ quat2) - quat1)[1:] / dt",
):
    _wrong(
        "plain_difference",
        "You subtract the quaternions: (q2 - q1)/dt is the rate of four numbers on the sphere, no "
        "angular velocity. Take the logarithm of q1^-1 * q2 and divide that by dt.",
        ("log(r) / dt", _rate),
    )
for _rate in ("2 * short(r)[1:]", "2 * mul(conj(quat1), quat2 - quat1)[1:]"):
    _wrong(
        "sine_for_the_angle",
        "You use the derivative 2 conj(q1) (q2 - q1)/dt with the plain difference: it gives the "
        "sine of half the angle where the angle is asked for. Right only for tiny turns; take the "
        "logarithm (2 atan2(|v|, w) times the axis).",
        ("log(r) / dt", f"{_rate} / dt"),
    )

_TWO = (
    "A factor 2 is missing: the quaternion of a turn holds half its angle, so the angle is "
    "2 atan2(|v|, w)."
)
_wrong("missing_factor_2", _TWO, ("2 * np.arctan2", "np.arctan2"))
_wrong("missing_factor_2", _TWO, ("log(r) / dt", "short(r)[1:] / dt"))
_wrong(
    "factor_4",
    "The result is twice too long: the factor 2 from the half angle is applied twice.",
    ("2 * np.arctan2", "4 * np.arctan2"),
)

_WORLD = (
    "Your rate is in the world frame: it is the logarithm of q2 * q1^-1. In the body frame the "
    "inverse stands on the left, q1^-1 * q2 (a wrong sign of the cross product does the same)."
)
_wrong("world_frame", _WORLD, (_STEP, "mul(quat2, conj(quat1))"))
_wrong("world_frame", _WORLD, ("log(r) / dt", "2 * mul((quat2 - quat1) / dt, conj(quat1))[1:]"))
_wrong(
    "world_frame_and_factor_2",
    "Two mistakes: the rate is in the world frame (take q1^-1 * q2), and a factor 2 is missing.",
    (_STEP, "mul(quat2, conj(quat1))"),
    ("2 * np.arctan2", "np.arctan2"),
)
_wrong(
    "world_frame_and_swapped",
    "Two mistakes: the rate is in the world frame, and it carries quat2 back to quat1. Take the "
    "logarithm of q1^-1 * q2.",
    (_STEP, "mul(quat1, conj(quat2))"),
)
_wrong(
    "swapped_order",
    "Your result has the opposite sign: it carries quat2 back to quat1. The relative quaternion is "
    "q1^-1 * q2 (in MuJoCo: `mju_subQuat(res, q2, q1)`).",
    (_STEP, "mul(conj(quat2), quat1)"),
)
_wrong(
    "not_inverted",
    "The first quaternion is not inverted: you take the logarithm of q1 * q2. The step from q1 to "
    "q2 is q1^-1 * q2.",
    (_STEP, "mul(quat1, quat2)"),
)

_LONG = (
    "Your result takes the long way round (more than half a turn) when the two quaternions have "
    "opposite signs. q and -q are one orientation: flip the relative quaternion when its scalar "
    "part is negative."
)
_NOT_SHORT = ("    r = short(r)\n", "")
_wrong("long_way_round", _LONG, _NOT_SHORT)
_wrong(
    "long_way_round",
    _LONG,
    _NOT_SHORT,
    ("np.arctan2(s, r[0])", "np.arccos(np.clip(r[0], -1, 1))"),
    ("1e-15", "1e-12"),
)
_wrong(
    "flips_the_scalar_part_only",
    "The sign of the scalar part is dropped (its absolute value, or arctan of a quotient): where "
    "the two quaternions have opposite signs your axis points the wrong way. Flip the whole "
    "relative quaternion, not its scalar part alone.",
    ("r = short(r)", "r = np.r_[abs(r[0]), r[1:]]"),
)

_wrong(
    "forgets_dt",
    "The result is not divided by dt: it is the angle turned (rad), not the rate (rad/s).",
    ("log(r) / dt", "log(r)"),
)
_wrong(
    "multiplies_by_dt",
    "The result is multiplied by dt; a rate is an angle divided by a time.",
    ("log(r) / dt", "log(r) * dt"),
)
_wrong(
    "degrees",
    "The result is in degrees a second; rad/s is the unit everywhere.",
    ("log(r) / dt", "np.degrees(log(r)) / dt"),
)
for _turn in (
    "2 * np.arctan2(s, r[0]) * r[1:] / s",
    "2 * np.arctan2(s, r[0]) * r[1:] * (1 / float(s))",
    "2 * np.arccos(r[0]) * r[1:] / np.sin(np.arccos(r[0]))",
):
    _wrong(
        "divides_by_zero_at_rest",
        "Where the two orientations are the same your code divides zero by zero, or takes an "
        "arccos beyond 1 by rounding. No turn has no axis: return zeros there.",
        ("np.zeros(3) if s < 1e-15 else 2 * np.arctan2(s, r[0]) * r[1:] / s", _turn),
    )
for _limit in ("0.3", "2e-4"):
    _wrong(
        "small_turns_dropped",
        "Small turns come out as zero: the threshold below which your code sees no turn is too "
        "large.",
        ("log(r) / dt", f"np.where(np.linalg.norm(log(r)) < {_limit}, 0, log(r)) / dt"),
    )

_wrong(
    "scalar_last",
    "Your quaternions hold the scalar part last; the course's order is (w, x, y, z), MuJoCo's own.",
    (_STEP, "mul(conj(np.roll(quat1, 1)), np.roll(quat2, 1))"),
)
_THREE = (
    "You take the first three numbers of the relative quaternion; its vector part is the last "
    "three, `r[1:]`."
)
_wrong("first_three_of_four", _THREE, ("* r[1:] / s", "* r[:3] / s"))
_wrong("first_three_of_four", _THREE, ("r[1:]", "r[:3]"), ("arctan2(s, r[0])", "arctan2(s, r[3])"))
for _result in ("np.r_[0, log(r)] / dt", "2 * r / dt", "r"):
    _wrong(
        "four_numbers",
        "Your result has four numbers, a quaternion; an angular velocity has three: leave out the "
        "scalar part.",
        ("return log(r) / dt", f"return {_result}"),
    )
_wrong(
    "speed_only",
    "Your result is the length of the rate; a vector of three numbers is asked for, along the "
    "axis.",
    ("log(r) / dt", "np.linalg.norm(log(r)) / dt"),
)
_AXIS = "log(r) / max(np.linalg.norm(log(r)), 1e-15)"
for _result in (_AXIS, f"{_AXIS} / dt"):
    _wrong(
        "speed_lost",
        "The result is of unit length, or its length does not depend on the angle: it is the axis. "
        "Multiply it by the angle over dt.",
        ("log(r) / dt", _result),
    )
for _factor in ("2 * ", ""):
    _wrong(
        "axis_not_normalised",
        "The axis in your result is not of unit length: divide the vector part of the relative "
        "quaternion by its norm, the sine of half the angle.",
        ("2 * np.arctan2(s, r[0]) * r[1:] / s", f"{_factor}np.arctan2(s, r[0]) * r[1:]"),
    )
_wrong(
    "euler_differences",
    "You subtract Euler angles. Their rates are no angular velocity: the three axes are not at "
    "right angles, and at a pitch of 90 degrees the angles jump.",
    ("log(r) / dt", "(euler(quat2) - euler(quat1)) / dt"),
)
for _first in (
    "quat1[1:] *= -1\n    r = mul(quat1, quat2)",
    f"quat2 *= -1 if quat1 @ quat2 < 0 else 1\n    r = {_STEP}",
):
    _wrong(
        "writes_into_the_input",
        "Your code changes the quaternions that it is given (it conjugates or flips one in place). "
        "Work on copies.",
        (f"r = {_STEP}", _first),
    )

_wrong(
    "product_without_cross",
    "Your product of quaternions lacks the cross product: the vector part is w V + W v + v x V.",
    (_STEP, "np.r_[quat1 @ quat2, quat1[0] * quat2[1:] - quat2[0] * quat1[1:]]"),
)
# Signs of the twelve terms of the vector part, flipped one at a time.
_TERMS = "w1*x2 x1*w2 y1*z2 -z1*y2 w1*y2 -x1*z2 y1*w2 z1*x2 w1*z2 x1*y2 -y1*x2 z1*w2".split()
for _k in range(12):
    _signed = [f"-({_term})" if _j == _k else _term for _j, _term in enumerate(_TERMS)]
    _rows = [" + ".join(f"({_term})" for _term in _signed[_i : _i + 4]) for _i in (0, 4, 8)]
    _wrong(
        "sign_in_the_product",
        "A sign is wrong in your product of quaternions: its vector part is w V + W v + v x V.",
        (
            f"r = {_STEP}",
            "(w1, x1, y1, z1), (w2, x2, y2, z2) = conj(quat1), quat2\n"
            f"    r = np.array([w1*w2 - x1*x2 - y1*y2 - z1*z2, {', '.join(_rows)}])",
        ),
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
