"""`mat_to_euler_zyx`: yaw, pitch and roll of a rotation matrix, also at the lock."""

import numpy as np

from course.exercises.compare import as_numbers, close, satisfies, show
from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "mat_to_euler_zyx",
    points=3,
    provides=("mat_to_euler_zyx",),
    by_hand=True,
    uses=("axis_angle_to_mat", "euler_zyx_to_mat"),
)


def matrix(yaw, pitch, roll, sin_pitch=None):
    """Rz(yaw) Ry(pitch) Rx(roll), (3, 3); with `sin_pitch` exactly at the lock (cosine 0)."""
    cy, sy, cr, sr = np.cos(yaw), np.sin(yaw), np.cos(roll), np.sin(roll)
    cp, sp = (np.cos(pitch), np.sin(pitch)) if sin_pitch is None else (0.0, sin_pitch)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


@exercise.reference
def reference():
    from scipy.spatial.transform import Rotation

    def mat_to_euler_zyx(R):
        R = np.asarray(R, float)
        if abs(R[2, 0]) < 1 - 1e-12:
            yaw, pitch, roll = Rotation.from_matrix(R).as_euler("ZYX")
            return (float(yaw), float(pitch), float(roll))
        pitch = -np.pi / 2 if R[2, 0] > 0 else np.pi / 2
        return (float(np.arctan2(-R[0, 1], R[1, 1])), pitch, 0.0)

    return {"mat_to_euler_zyx": mat_to_euler_zyx}


def _away(got, expected):
    """The three angles to 1e-9; yaw and roll up to whole turns."""
    angles = as_numbers(got)
    if angles is None or angles.shape != (3,):
        return f"returned {show(got)}; three angles expected"
    if np.isnan(angles).any():
        return f"returned NaN: {show(angles)}"
    off = angles - np.asarray(expected, float)
    off[[0, 2]] -= 2 * np.pi * np.round(off[[0, 2]] / (2 * np.pi))
    if np.abs(off).max() <= 1e-9:
        return None
    return f"returned {show(angles)}, off by {np.abs(off).max():.2g} rad"


def _at_lock(target):
    """Any pair of yaw and roll whose matrix is `target`, with the pitch in its range."""

    def accept(got, expected):
        angles = as_numbers(got)
        if angles is None or angles.shape != (3,):
            return f"returned {show(got)}; three angles expected"
        if np.isnan(angles).any():
            return f"returned NaN: {show(angles)}"
        if abs(angles[1]) > np.pi / 2 + 1e-9:
            return f"returned the pitch {angles[1]:.4g}, outside of +-pi/2"
        off = np.abs(matrix(*angles) - target).max()
        return None if off <= 1e-9 else f"the matrix of your angles is off by {off:.2g}"

    return satisfies(accept, near=close(1e-6))


def _case(pose, label="", unchanged=False):
    compare = satisfies(_away, near=close(1e-6))
    return call(
        "mat_to_euler_zyx", matrix(*pose), label=label, compare=compare, unchanged=unchanged
    )


def _poses(seed, count, low=-1.5, high=1.5):
    pitches = draws.angles(seed + 1, count, low, high)
    return list(zip(draws.angles(seed, count), pitches, draws.angles(seed + 2, count), strict=True))


@exercise.part("away from the lock, in every quadrant", points=1.5)
def ordinary():
    return [_case(pose) for pose in _poses(10, 30)]


@exercise.part("edge cases: at the lock, and 1e-3 rad from it", points=1)
def edge():
    cases = [_case(pose) for pose in _poses(20, 4)]
    for yaw, _, roll in _poses(30, 4):
        for side in (1.0, -1.0):
            short = side * (np.pi / 2 - 1e-3)
            cases.append(_case((yaw, short, roll), f"1e-3 rad from pitch {90 * side:+.0f} deg"))
            for sine in (side, side * (1 + 2.3e-16), side * (1 + 1e-15)):
                R = matrix(yaw, 0.0, roll, sin_pitch=sine)
                label = f"pitch {90 * side:+.0f} deg"
                if abs(R[2, 0]) > 1:
                    label += ", R[2, 0] a hair beyond 1"
                target = matrix(yaw, 0.0, roll, sin_pitch=side)
                cases.append(call("mat_to_euler_zyx", R, label=label, compare=_at_lock(target)))
    cases.append(_case((0.0, 0.0, 0.0), "no turn"))
    return cases


@exercise.part("contract: the matrix is left as it was", points=0.5)
def contract():
    return [_case(pose, unchanged=True) for pose in _poses(40, 6)]


_GOOD = """\
def mat_to_euler_zyx(R):
    s = -R[2, 0]
    if abs(s) > 1 - 1e-12:
        pitch = np.pi / 2 if s > 0 else -np.pi / 2
        yaw, roll = np.arctan2(-R[0, 1], R[1, 1]), 0.0
    else:
        pitch = np.arcsin(s)
        yaw = np.arctan2(R[1, 0], R[0, 0])
        roll = np.arctan2(R[2, 1], R[2, 2])
    return (yaw, pitch, roll)
"""
_LOCK = _GOOD[_GOOD.index("    if abs(s)") : _GOOD.index("        pitch = np.arcsin")]
_TEST = _LOCK.splitlines()[0]
_YAW, _ROLL = "np.arctan2(R[1, 0], R[0, 0])", "np.arctan2(R[2, 1], R[2, 2])"
_LOCK_PITCH = "np.pi / 2 if s > 0 else -np.pi / 2"
_LOCK_TURN = "np.arctan2(-R[0, 1], R[1, 1]), 0.0"
_RETURN = "return (yaw, pitch, roll)"


_wrong = exercise.slips(_GOOD)


for _edit in (("s = -R[2, 0]", "s = R[2, 0]"), ("np.arcsin(s)", "-np.arcsin(s)")):
    _wrong(
        "pitch_sign",
        "The pitch has the wrong sign: `R[2, 0]` is `-sin(pitch)`, so `pitch = arcsin(-R[2, 0])`.",
        _edit,
    )
_wrong(
    "transpose",
    "You read the transpose, the inverse rotation: yaw comes from the first *column*, roll from "
    "the last *row*.",
    ("s = -R[2, 0]", "R = np.array(R).T\n    s = -R[2, 0]"),
)
_wrong(
    "pitch_from_corner",
    "The pitch comes from `R[2, 0]`, the lower left entry; you use `R[0, 2]`.",
    ("np.arcsin(s)", "np.arcsin(R[0, 2])"),
)
_YAW_HALF = (_YAW, "np.arctan(R[1, 0] / R[0, 0])")
_ROLL_HALF = (_ROLL, "np.arctan(R[2, 1] / R[2, 2])")
for _edits in ([_YAW_HALF, _ROLL_HALF], [_YAW_HALF], [_ROLL_HALF]):
    _wrong(
        "arctan",
        "`arctan(a / b)` knows two quadrants only: `arctan2(a, b)` keeps the signs of both.",
        *_edits,
    )
for _inverse, _yaw, _roll in (
    ("np.arcsin", "R[1, 0]", "R[2, 1]"),
    ("np.arccos", "R[0, 0]", "R[2, 2]"),
):
    _wrong(
        "arcsin_for_yaw",
        "An arcsine or arccosine knows half of the circle only: use `arctan2` for yaw and roll.",
        (_YAW, f"{_inverse}(np.clip({_yaw} / np.cos(pitch), -1, 1))"),
        (_ROLL, f"{_inverse}(np.clip({_roll} / np.cos(pitch), -1, 1))"),
    )
_YAW_TURNED = (_YAW, "np.arctan2(R[0, 0], R[1, 0])")
_ROLL_TURNED = (_ROLL, "np.arctan2(R[2, 2], R[2, 1])")
_wrong(
    "arctan2_exchanged",
    "`arctan2` takes the sine first: `arctan2(R[1, 0], R[0, 0])`, `arctan2(R[2, 1], R[2, 2])`.",
    _YAW_TURNED,
    _ROLL_TURNED,
)
for _edits in ([_YAW_TURNED], [_ROLL_TURNED], [_YAW_TURNED, _ROLL_TURNED]):
    _wrong(
        "arctan2_turned",
        "The arguments of `arctan2` are the wrong way round: the sine comes first, "
        "`arctan2(R[1, 0], R[0, 0])`, `arctan2(R[2, 1], R[2, 2])`.",
        *_edits,
    )
_BEYOND = "At the lock `R[2, 0]` may be a hair beyond 1 and `arcsin` gives NaN: clip it, "
_wrong(
    "nan_at_lock",
    f"{_BEYOND}or use `arctan2` with the length of the first column.",
    (_TEST, "    if abs(s) == 1:"),
)
_wrong("nan_at_lock", f"{_BEYOND}and treat the lock on its own.", (_LOCK, "    if True:\n"))
_wrong(
    "lock_ignored",
    "At the lock yaw and roll are no longer two angles: `arctan2(0, 0)` loses both. Set one to "
    "zero and put the whole turn into the other: `yaw = arctan2(-R[0, 1], R[1, 1])`.",
    (_LOCK, "    if True:\n"),
    ("np.arcsin(s)", "np.arcsin(np.clip(s, -1, 1))"),
)
_wrong(
    "lock_ignored",
    "At the lock yaw and roll are no longer two angles, and you set both to zero: the turn about "
    "the common line is lost. Put it into one of them: `yaw = arctan2(-R[0, 1], R[1, 1])`.",
    (_LOCK_TURN, "0.0, 0.0"),
)
for _bad in (
    "np.arctan2(R[0, 1], R[1, 1]), 0.0",
    "np.arctan2(-R[1, 0], R[0, 0]), 0.0",
    "np.arctan2(R[0, 2], R[1, 2]), 0.0",
    "np.arctan2(R[1, 2], R[0, 2]), 0.0",
    "0.0, np.arctan2(-R[0, 1], R[1, 1])",
    "0.0, np.arctan2(R[0, 1], R[0, 2])",
    "0.0, np.arctan2(-R[0, 1], -R[0, 2])",
):
    _wrong(
        "lock_wrong_turn",
        "At the lock the turn that is left has a wrong sign or comes from wrong entries: with "
        "`roll = 0` it is `yaw = arctan2(-R[0, 1], R[1, 1])` at both signs of the pitch.",
        (_LOCK_TURN, _bad),
    )
_wrong(
    "lock_wrong_turn",
    "At the lock you use the formula of pitch +90 deg at both ends; at -90 deg a sign differs "
    "(with `roll = 0`, `yaw = arctan2(-R[0, 1], R[1, 1])` holds at both).",
    (_LOCK_TURN, "0.0, np.arctan2(R[0, 1], R[1, 1])"),
)
_wrong(
    "lock_pitch_sign",
    "At the lock the pitch has the wrong sign: `R[2, 0] = -1` means `+90 deg`.",
    (_LOCK_PITCH, "np.pi / 2 if s < 0 else -np.pi / 2"),
)
_wrong(
    "lock_pitch_sign",
    "At the lock the pitch is not always `+90 deg`: its sign is that of `-R[2, 0]`.",
    (_LOCK_PITCH, "np.pi / 2"),
)
for _limit in ("1e-6", "1e-5", "1e-4", "1e-3"):
    for _pitch in (_LOCK_PITCH, "np.arcsin(np.clip(s, -1, 1))"):
        _wrong(
            "lock_too_wide",
            "You treat too wide a neighbourhood as the lock: 1e-3 rad from it (`|R[2, 0]| = 1 - "
            "5e-7`) yaw and roll are still two angles.",
            ("1e-12", _limit),
            (_LOCK_PITCH, _pitch),
        )
for _order, _yours in (
    ("(roll, pitch, yaw)", "you return roll, pitch, yaw"),
    ("(pitch, yaw, roll)", "yours is another"),
    ("(pitch, roll, yaw)", "yours is another"),
    ("(yaw, roll, pitch)", "yours is another"),
):
    _text = f"The order is yaw, pitch, roll; {_yours}."
    _wrong("return_order", _text, (_RETURN, f"return {_order}"))
_wrong(
    "degrees",
    "You return degrees; asked for are radians.",
    (_RETURN, "return tuple(np.rad2deg([yaw, pitch, roll]))"),
)
_wrong(
    "extrinsic",
    "These are the angles of `Rx Ry Rz`, the extrinsic reading; asked for is "
    "`Rz(yaw) Ry(pitch) Rx(roll)`.",
    ("s = -R[2, 0]", "s = R[0, 2]"),
    (_YAW, "np.arctan2(-R[0, 1], R[0, 0])"),
    (_ROLL, "np.arctan2(-R[1, 2], R[2, 2])"),
)
_YAW_BACK = (_YAW, "np.arctan2(-R[1, 0], R[0, 0])")
_ROLL_BACK = (_ROLL, "np.arctan2(-R[2, 1], R[2, 2])")
for _text, *_edits in (
    ("The yaw has the wrong sign: it is `arctan2(R[1, 0], R[0, 0])`.", _YAW_BACK),
    ("The roll has the wrong sign: it is `arctan2(R[2, 1], R[2, 2])`.", _ROLL_BACK),
    ("Yaw and roll have the wrong sign, or come from across the diagonal.", _YAW_BACK, _ROLL_BACK),
):
    _wrong("yaw_or_roll_sign", _text, *_edits)
_wrong(
    "across_the_diagonal",
    "Yaw comes from the first column (`R[1, 0]`), not from the first row.",
    (_YAW, "np.arctan2(R[0, 1], R[0, 0])"),
)
_wrong(
    "across_the_diagonal",
    "Roll comes from the last row (`R[2, 1]`), not from the last column.",
    (_ROLL, "np.arctan2(R[1, 2], R[2, 2])"),
)
_wrong(
    "arccos_pitch",
    "The cosine does not know the sign of the pitch: use the sine, `arcsin(-R[2, 0])`.",
    ("np.arcsin(s)", "np.arccos(np.hypot(R[0, 0], R[1, 0]))"),
)
_wrong(
    "arccos_for_arcsin",
    "The pitch comes from an `arccos`; `-R[2, 0]` is its sine: `pitch = arcsin(-R[2, 0])`.",
    ("np.arcsin(s)", "np.arccos(s)"),
    (_LOCK_PITCH, "np.arccos(np.clip(s, -1, 1))"),
)
_wrong(
    "pitch_out_of_range",
    "The pitch leaves +-90 deg: its cosine must be taken positive, `arctan2(-R[2, 0], "
    "hypot(R[0, 0], R[1, 0]))`.",
    (
        "        pitch = np.arcsin(s)\n",
        "        pitch = np.pi - np.arcsin(s)\n"
        "        R = R * np.array([[-1, 1, 1], [-1, 1, 1], [1, -1, -1]])\n",
    ),
)
_wrong(
    "pitch_out_of_range",
    "The pitch comes out wrong where `cos(yaw) < 0`: dividing by one entry loses its sign; use "
    "`hypot(R[0, 0], R[1, 0])`.",
    ("np.arcsin(s)", "np.arctan2(s, R[0, 0] / np.cos(np.arctan(R[1, 0] / R[0, 0])))"),
)


@exercise.misconception("You write into the argument `R`; work on a copy.", id="modifies_input")
def modifies_input():
    def mat_to_euler_zyx(R):
        R[2, 0] = np.clip(R[2, 0], -1, 1)
        yaw = np.arctan2(R[1, 0], R[0, 0])
        pitch = -np.arcsin(R[2, 0])
        c, s = np.cos(yaw), np.sin(yaw)
        R[:2] = np.array([[c, s], [-s, c]]) @ R[:2]
        return yaw, pitch, np.arctan2(-R[1, 2], R[1, 1])


@exercise.variant("a clip, and the lock on its own")
def clipped():
    def mat_to_euler_zyx(R):
        pitch = np.arcsin(np.clip(-R[2, 0], -1, 1))
        if np.cos(pitch) > 1e-9:
            return (np.arctan2(R[1, 0], R[0, 0]), pitch, np.arctan2(R[2, 1], R[2, 2]))
        return (np.arctan2(-R[0, 1], R[1, 1]), pitch, 0.0)


@exercise.variant("the yaw first, then the roll of what is left: no special case")
def unwound():
    def mat_to_euler_zyx(R):
        yaw = np.arctan2(R[1, 0], R[0, 0])
        c, s = np.cos(yaw), np.sin(yaw)
        pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
        roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
        return np.array([yaw, pitch, roll])


@exercise.variant("the roll keeps what is left at the lock, a list back")
def roll_keeps_it():
    import math

    def mat_to_euler_zyx(R):
        (a, b, c), (d, e, f), (g, h, i) = np.asarray(R).tolist()
        horizontal = math.hypot(a, d)
        pitch = math.atan2(-g, horizontal)
        if horizontal < 1e-10:
            return [0.0, pitch, math.atan2(-f, e)]
        return [math.atan2(d, a), pitch, math.atan2(h, i)]


@exercise.variant("roll in half of the circle is not asked for: whole turns added")
def whole_turns():
    def mat_to_euler_zyx(R):
        R = np.array(R, float)
        p = np.arctan2(-R[2, 0], np.sqrt(R[2, 1] ** 2 + R[2, 2] ** 2))
        if abs(R[2, 0]) >= 1 - 1e-13:
            y, r = np.arctan2(R[1, 2] * np.sign(p), R[0, 2] * np.sign(p)), 0.0
        else:
            y, r = np.arctan2(R[1, 0], R[0, 0]), np.arctan2(R[2, 1], R[2, 2])
        return (y % (2 * np.pi), p, r % (2 * np.pi))
