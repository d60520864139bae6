"""`free_joint_velocity`: the six numbers between two poses of a floating body."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import as_numbers, close, satisfies
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.quaternions import written_out
from course.exercises.generalized_coordinates.scenes import scene, turned, unit
from course.grading.door import Outcome

exercise = Exercise(
    "free_joint_velocity",
    points=3,
    provides=("free_joint_velocity",),
    by_hand=True,
    uses=("quat_velocity",),
)


@exercise.reference
def reference():
    box = scene("f")

    def free_joint_velocity(qpos1, qpos2, dt):
        out = np.zeros(6)
        mujoco.mj_differentiatePos(box, out, dt, np.array(qpos1, float), np.array(qpos2, float))
        return out

    return {"free_joint_velocity": free_joint_velocity}


HALVES = {"all six": slice(0, 6), "linear half": slice(0, 3), "angular half": slice(3, 6)}


def half_of(part: slice):
    """What is looked at: some of the six numbers; all that came where they are not six."""

    def look(outcome: Outcome) -> object:
        value = outcome.value
        return (
            value[part] if isinstance(value, (list, tuple, np.ndarray)) and _six(value) else value
        )

    return look


def _six(value: object) -> bool:
    numbers = as_numbers(value)
    return numbers is not None and numbers.shape == (6,)


def between(
    pose1: np.ndarray,
    pose2: np.ndarray,
    dt: float,
    label: str = "",
    *,
    halves: tuple[str, ...] = ("linear half", "angular half"),
    unchanged: bool = False,
) -> list[Case]:
    """The two halves, each a case: a mistake in one says nothing about the other."""
    return [
        call(
            "free_joint_velocity",
            pose1,
            pose2,
            dt,
            label=f"{label}, {half}" if label else half,
            observe=half_of(HALVES[half]),
            compare=close(1e-10),
            unchanged=unchanged,
        )
        for half in halves
    ]


def _either_sign(got: object, expected: object) -> str | None:
    right = close(1e-8)
    flipped = np.asarray(expected, float) * [1, 1, 1, -1, -1, -1]
    mismatch = right(got, expected)
    return None if mismatch is None or right(got, flipped) is None else mismatch.text


def pose(rng: np.random.Generator) -> np.ndarray:
    return np.r_[rng.uniform(-1, 1, 3), unit(rng)]


def moved(rng: np.random.Generator, start: np.ndarray) -> np.ndarray:
    """A pose a little further on; its quaternion has the nearer of the two signs."""
    quat = turned(start[3:], unit(rng, 3) * rng.uniform(0.1, 2.8))
    if quat @ start[3:] < 0:
        quat = -quat
    return np.r_[start[:3] + rng.uniform(-0.5, 0.5, 3), quat]


def ordinary_cases(seed: int, count: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        start = pose(rng)
        cases += between(start, moved(rng, start), rng.uniform(0.05, 0.7))
    return cases


@exercise.part("ordinary motions", points=2)
def ordinary():
    start = np.r_[np.zeros(3), 1.0, np.zeros(3)]
    end = np.r_[0.005, 0, 0, turned(start[3:], np.array([0, 0, 0.1]))]
    example = between(start, end, 0.05, "the lesson's example", halves=("all six",))
    return [*example, *ordinary_cases(70, 15)]


@exercise.part("edge cases: -q, no turn, no motion, half a turn", points=1)
def edges():
    rng = np.random.default_rng(71)
    cases = ordinary_cases(72, 4)
    for _ in range(3):
        start = pose(rng)
        far = moved(rng, start) * [1, 1, 1, -1, -1, -1, -1]
        cases += between(start, far, 0.1, "the other sign of quaternion 2", unchanged=True)
        shifted = np.r_[start[:3] + rng.uniform(-0.5, 0.5, 3), start[3:]]
        cases += between(start, shifted, 0.05, "moved, not turned")
        other = shifted * [1, 1, 1, -1, -1, -1, -1]
        cases += between(start, other, 0.05, "moved, not turned, the other sign")
        cases += between(start, start.copy(), 0.05, "no motion", unchanged=True)
        spun = np.r_[start[:3], turned(start[3:], unit(rng, 3) * 0.7)]
        spun[3:] *= np.sign(spun[3:] @ start[3:])
        cases += between(start, spun, 0.1, "turned, not moved")
        half = np.r_[start[:3] + 0.1, turned(start[3:], np.pi * unit(rng, 3))]
        cases.append(
            call(
                "free_joint_velocity",
                start,
                half,
                0.5,
                label="180 degrees apart",
                compare=satisfies(_either_sign, near=close(1e-6)),
            )
        )
        # Not at rest; the tolerance forgives what an arccos loses there.
        small = np.r_[start[:3], turned(start[3:], 1e-5 * unit(rng, 3))]
        label = "a turn of 1e-5 rad"
        close_to = close(1e-6)
        cases.append(call("free_joint_velocity", start, small, 0.01, label=label, compare=close_to))
    return cases


# The logarithm is a helper of its own (`quaternions.py`): some slips are in there.
GOOD = """\
def free_joint_velocity(qpos1, qpos2, dt):
    a, b = np.asarray(qpos1, float), np.asarray(qpos2, float)
    r = mul(conj(a[3:]), b[3:])
    linear = (b[:3] - a[:3]) / dt
    angular = log(r) / dt
    return np.r_[linear, angular]
"""
_wrong = exercise.slips(written_out(GOOD))
_STEP = "mul(conj(a[3:]), b[3:])"

_WORLD = (
    "The angular part of your result is in the world frame (the logarithm of q2 * q1^-1). A free "
    "joint's `qvel` holds it in the body's frame: q1^-1 * q2."
)
_wrong("angular_in_world_frame", _WORLD, (_STEP, "mul(b[3:], conj(a[3:]))"))
for _angular in ("2 * mul(b[3:] - a[3:], conj(a[3:]))[1:]", "rotate(b[3:], log(r))"):
    _wrong("angular_in_world_frame", _WORLD, ("log(r) / dt", f"{_angular} / dt"))
_wrong(
    "angular_in_world_frame_and_half",
    "Two mistakes in the angular part: it is in the world frame (take q1^-1 * q2), and a factor 2 "
    "is missing.",
    (_STEP, "mul(b[3:], conj(a[3:]))"),
    ("2 * np.arctan2", "np.arctan2"),
)
for _linear in (
    "rotate(conj(a[3:]), b[:3] - a[:3])",
    "rotate(a[3:], b[:3] - a[:3])",
    "rotate(conj(b[3:]), b[:3] - a[:3])",
    "rotate(b[3:], b[:3] - a[:3])",
    "(rotate(conj(b[3:]), b[:3]) - rotate(conj(a[3:]), a[:3]))",
):
    _wrong(
        "linear_in_body_frame",
        "The linear part of your result is turned into the body's frame. A free joint's linear "
        "velocity is in world axes: (p2 - p1)/dt as it is.",
        ("(b[:3] - a[:3]) / dt", f"{_linear} / dt"),
    )

for _result in (
    "(b - a) / dt",
    "np.delete((b - a) / dt, 3)",
    "np.r_[linear, 2 * (b - a)[4:] / dt]",
    "((b - a) / dt)[:6]",
):
    _wrong(
        "plain_difference",
        "You subtract the quaternions and divide by dt. The difference of two quaternions is no "
        "angular velocity: take the logarithm of q1^-1 * q2.",
        ("np.r_[linear, angular]", _result),
    )
_wrong(
    "sine_for_the_angle",
    "The angular part is the sine of half the angle times two: right only for tiny turns. The "
    "angle is 2 atan2(|v|, w).",
    ("log(r) / dt", "2 * short(r)[1:] / dt"),
)
_TWO = "A factor 2 is missing in the angular part: the quaternion of a turn holds half its angle."
_wrong("missing_factor_2", _TWO, ("2 * np.arctan2", "np.arctan2"))
_wrong("missing_factor_2", _TWO, ("log(r) / dt", "short(r)[1:] / dt"))
_wrong("missing_factor_2", _TWO, ("log(r) / dt", "r[1:] / dt"))

_LONG = (
    "Your angular part takes the long way round when the two quaternions have opposite signs: q "
    "and -q are one orientation. Flip the relative quaternion when its scalar part is negative."
)
_NOT_SHORT = ("    r = short(r)\n", "")
_wrong("long_way_round", _LONG, _NOT_SHORT, ("1e-15", "1e-12"))
_wrong(
    "long_way_round",
    _LONG,
    _NOT_SHORT,
    ("np.arctan2(s, r[0])", "np.arccos(np.clip(r[0], -1, 1))"),
    ("1e-15", "1e-9"),
)
_wrong(
    "flips_the_scalar_part_only",
    "Where the two quaternions have opposite signs the angular part points the wrong way: flip "
    "the whole relative quaternion, not its scalar part alone.",
    ("r = short(r)", "r = np.r_[abs(r[0]), r[1:]]"),
)
_BACK = "Your result has the opposite sign: it carries the second pose back to the first."
_wrong("swapped_order", _BACK, ("a, b =", "b, a ="))
_wrong("swapped_order", _BACK, (_STEP, "mul(conj(b[3:]), a[3:])"))
_wrong("swapped_order", _BACK, ("(b[:3] - a[:3])", "(a[:3] - b[:3])"))
_wrong("swapped_order", _BACK, ("log(r) / dt", "-log(r) / dt"))
_wrong(
    "halves_swapped",
    "The two halves are swapped: the linear velocity comes first, the angular one second.",
    ("np.r_[linear, angular]", "np.r_[angular, linear]"),
)
_wrong(
    "not_inverted",
    "The first quaternion is not inverted: you take the logarithm of q1 * q2. The turn from the "
    "first pose to the second is q1^-1 * q2.",
    (_STEP, "mul(a[3:], b[3:])"),
)
_wrong(
    "scalar_last",
    "Your quaternions hold the scalar part last; the course's order is (w, x, y, z), MuJoCo's own.",
    (_STEP, "mul(conj(np.roll(a[3:], 1)), np.roll(b[3:], 1))"),
)

for _turn in ("r[1:] / s", "r[1:] * (1 / float(s))"):
    _wrong(
        "divides_by_zero_at_rest",
        "Without a turn your code divides zero by zero, or takes an arccos beyond 1 by rounding. "
        "No turn has no axis: return zeros for the angular part there.",
        ("np.zeros(3) if s < 1e-15 else ", ""),
        ("r[1:] / s", _turn),
    )
_wrong(
    "small_turns_dropped",
    "Small turns come out as zero: the threshold below which your code sees no turn is too large.",
    ("log(r) / dt", "np.where(np.linalg.norm(log(r)) < 2e-4, 0, log(r)) / dt"),
)
_DT = (
    "One half of your result (or all of it) is not divided by dt: a velocity is a step over a time."
)
_wrong("forgets_dt", _DT, (" / dt", ""))
_wrong("forgets_dt", _DT, ("log(r) / dt", "log(r)"))
_wrong("forgets_dt", _DT, ("(b[:3] - a[:3]) / dt", "b[:3] - a[:3]"))

for _angle in ("2 * np.arctan2(s, abs(r[0]))", "2 * np.arccos(np.clip(r[0], -1, 1))"):
    _wrong(
        "axis_not_normalised",
        "The axis in your angular part is not of unit length: divide the vector part of the "
        "relative quaternion by its norm.",
        _NOT_SHORT,
        ("2 * np.arctan2(s, r[0]) * r[1:] / s", f"{_angle} * r[1:]"),
    )
_wrong(
    "euler_differences",
    "Your angular part subtracts Euler angles. Their rates are no angular velocity: take the "
    "logarithm of q1^-1 * q2.",
    ("log(r) / dt", "(euler(b[3:]) - euler(a[3:])) / dt"),
)
_wrong(
    "sum_for_difference",
    "The linear part of your result adds the positions; the later one minus the earlier one is "
    "asked for.",
    ("b[:3] - a[:3]", "b[:3] + a[:3]"),
)
for _linear in ("b[:3]", "b[:3] / dt"):
    _wrong(
        "position_for_velocity",
        "The linear part of your result is the second position; a velocity is the difference of "
        "the two over dt.",
        ("(b[:3] - a[:3]) / dt", _linear),
    )
_wrong(
    "seven_numbers",
    "Your result has seven numbers; a free joint's velocity has six: the angular part is three.",
    ("np.r_[linear, angular]", "np.r_[linear, 0, angular]"),
)
for _half in ("angular", "linear"):
    _wrong(
        "one_half_only",
        "Your result is one half only; six numbers are asked for, linear and then angular.",
        ("np.r_[linear, angular]", _half),
    )
for _pair in ("(linear, angular)", "np.array([linear, angular])"):
    _wrong(
        "two_arrays",
        "Your result is a pair of arrays; one array of six numbers is asked for.",
        ("np.r_[linear, angular]", _pair),
    )
_CHANGES = "Your code changes a pose that it is given; work on copies."
_wrong(
    "writes_into_the_input",
    _CHANGES,
    (f"    r = {_STEP}", f"    qpos2[3:] *= -1 if a[3:] @ b[3:] < 0 else 1\n    r = {_STEP}"),
)
_wrong(
    "writes_into_the_input",
    _CHANGES,
    (f"    r = {_STEP}", "    qpos1[4:] *= -1\n    r = mul(a[3:], b[3:])"),
)


@exercise.variant("arctangent and a guard, plain Python, a list comes back")
def plain_python():
    import math

    def free_joint_velocity(qpos1, qpos2, dt):
        p, q = [float(x) for x in qpos1], [float(x) for x in qpos2]
        a, b, c, d = p[3:]
        e, f, g, h = q[3:]
        w = a * e + b * f + c * g + d * h
        v = [
            a * f - b * e - c * h + d * g,
            a * g - c * e - d * f + b * h,
            a * h - d * e - b * g + c * f,
        ]
        if w < 0:
            w, v = -w, [-x for x in v]
        n = math.sqrt(sum(x * x for x in v))
        k = 2 * math.atan2(n, w) / n if n else 0.0
        return [(q[i] - p[i]) / dt for i in range(3)] + [k * x / dt for x in v]


@exercise.variant("by matrices: the logarithm of R1^T R2 from trace and antisymmetric part")
def by_matrices():
    def matrix(q):
        w, v = q[0], np.asarray(q[1:])
        K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        return np.eye(3) + 2 * w * K + 2 * K @ K

    def free_joint_velocity(qpos1, qpos2, dt):
        R = matrix(qpos1[3:]).T @ matrix(qpos2[3:])
        a = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        s, c = np.linalg.norm(a), (np.trace(R) - 1) / 2
        angle = np.arctan2(s, c)
        if angle > 3.0:  # near half a turn the axis is read from the symmetric part
            S = (R + R.T) / 2 - c * np.eye(3)
            column = S[:, np.argmax(np.diag(S))]
            axis = column / np.linalg.norm(column)
            axis = axis if a @ axis >= 0 else -axis
        else:
            axis = a / s if s > 1e-15 else np.zeros(3)
        linear = (np.asarray(qpos2)[:3] - np.asarray(qpos1)[:3]) / dt
        return np.concatenate((linear, angle * axis / dt))


@exercise.variant("vectors only, an output array that is filled")
def filled():
    def free_joint_velocity(qpos1, qpos2, dt):
        out = np.empty(6)
        out[:3] = np.subtract(qpos2[:3], qpos1[:3]) / dt
        w1, v1 = qpos1[3], np.asarray(qpos1[4:7])
        w2, v2 = qpos2[3], np.asarray(qpos2[4:7])
        w = w1 * w2 + v1.dot(v2)
        v = w1 * v2 - w2 * v1 - np.cross(v1, v2)
        s = np.hypot(np.hypot(*v[:2]), v[2])
        half = np.arctan2(s, w)
        half = half - np.pi if half > np.pi / 2 else half
        out[3:] = 2 * half * np.divide(v, s, out=np.zeros(3), where=s > 0) / dt
        return out
