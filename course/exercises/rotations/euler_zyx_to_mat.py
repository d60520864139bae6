"""`euler_zyx_to_mat`: the matrix of intrinsic yaw, pitch and roll (z-y'-x'')."""

import itertools

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "euler_zyx_to_mat",
    points=3,
    provides=("euler_zyx_to_mat",),
    by_hand=True,
    uses=("axis_angle_to_mat", "axis_angle_to_quat", "quat_mul", "quat_to_mat"),
)


@exercise.reference
def reference():
    def euler_zyx_to_mat(yaw, pitch, roll):
        quat, flat = np.empty(4), np.empty(9)
        mujoco.mju_euler2Quat(quat, np.array([yaw, pitch, roll], float), "zyx")
        mujoco.mju_quat2Mat(flat, quat)
        return flat.reshape(3, 3)

    return {"euler_zyx_to_mat": euler_zyx_to_mat}


def _poses(seed, count):
    pitches = draws.angles(seed + 1, count, -np.pi / 2, np.pi / 2)
    return zip(draws.angles(seed, count), pitches, draws.angles(seed + 2, count), strict=True)


@exercise.part("any pose", points=2)
def ordinary():
    return [call("euler_zyx_to_mat", *pose) for pose in _poses(10, 30)]


@exercise.part("edge cases: the lock, one angle at a time, pitch beyond 90 deg", points=1)
def edge():
    cases = [call("euler_zyx_to_mat", *pose) for pose in _poses(20, 4)]
    for yaw, _, roll in _poses(30, 3):
        for pitch in (np.pi / 2, -np.pi / 2):
            cases.append(call("euler_zyx_to_mat", yaw, pitch, roll, label="at the lock"))
        cases.append(call("euler_zyx_to_mat", yaw, 2.5, roll, label="pitch beyond 90 deg"))
    for k, name in enumerate(("yaw", "pitch", "roll")):
        pose = [0.0, 0.0, 0.0]
        pose[k] = 0.7
        cases.append(call("euler_zyx_to_mat", *pose, label=f"{name} alone"))
    cases.append(call("euler_zyx_to_mat", 0.0, 0.0, 0.0, label="all zero"))
    return cases


_slip = exercise.slips("""\
def euler_zyx_to_mat(yaw, pitch, roll):
    Z = np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])
    Y = np.array([[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]])
    X = np.array([[1, 0, 0], [0, np.cos(roll), -np.sin(roll)], [0, np.sin(roll), np.cos(roll)]])
    return Z @ Y @ X
""")


def _wrong(id, text, result, before=""):
    """A mistake in what is returned, or in lines `before` the first matrix."""
    _slip(id, text, ("    Z =", f"{before}    Z ="), ("Z @ Y @ X", result))


_wrong(
    "extrinsic",
    "This is the extrinsic reading, `Rx Ry Rz`: every turn about the fixed axes z, y, x. Intrinsic "
    "z-y'-x'' is `Rz(yaw) Ry(pitch) Rx(roll)`: yaw leftmost.",
    "X @ Y @ Z",
)
_wrong(
    "transpose",
    "This is the transpose: it takes world coordinates to the body. Asked for is the matrix whose "
    "columns are the body's axes in the world.",
    "(Z @ Y @ X).T",
)
_wrong(
    "negative_angles",
    "Each elementary matrix turns the wrong way (its transpose): in `Rz` the minus stands above "
    "the diagonal, in `Ry` below, in `Rx` above.",
    "Z.T @ Y.T @ X.T",
)
for _letter, _result in (
    ("Rz", "Z.T @ Y @ X"),
    ("Ry", "Z @ Y.T @ X"),
    ("Rx", "Z @ Y @ X.T"),
):
    _wrong(
        "axis_sign",
        f"`{_letter}` turns the wrong way: its sine has the wrong sign. In `Ry` the minus "
        "stands below the diagonal.",
        _result,
    )
for _letter, _result in (
    ("Rz and Rx", "Z.T @ Y @ X.T"),
    ("Rz and Ry", "Z.T @ Y.T @ X"),
    ("Ry and Rx", "Z @ Y.T @ X.T"),
):
    _wrong(
        "axis_sign", f"`{_letter}` turn the wrong way: their sines have the wrong sign.", _result
    )
for _order in itertools.permutations("ZYX"):
    if "".join(_order) not in ("ZYX", "XYZ"):
        _wrong(
            "wrong_order",
            "The three factors stand in another order; z-y'-x'' is `Rz(yaw) Ry(pitch) Rx(roll)`.",
            " @ ".join(_order),
        )
for _order in itertools.permutations(("yaw", "pitch", "roll")):
    if _order != ("yaw", "pitch", "roll"):
        _wrong(
            "argument_order",
            "The arguments come as yaw, pitch, roll: yaw turns about z, pitch about y, roll "
            "about x.",
            "Z @ Y @ X",
            before=f"    {', '.join(_order)} = yaw, pitch, roll\n",
        )
_wrong(
    "argument_order",
    "The arguments come as yaw, pitch, roll: yaw turns about z and roll about x; yours are "
    "exchanged and the factors too.",
    "X @ Y @ Z",
    before="    roll, pitch, yaw = yaw, pitch, roll\n",
)
_wrong(
    "degrees",
    "You treat the angles as degrees; they are radians.",
    "Z @ Y @ X",
    before="    yaw, pitch, roll = np.deg2rad([yaw, pitch, roll])\n",
)
_wrong(
    "degrees",
    "You turn the radians into degrees before sine and cosine; they take radians.",
    "Z @ Y @ X",
    before="    yaw, pitch, roll = np.rad2deg([yaw, pitch, roll])\n",
)
_wrong("flat", "The result is flat; a matrix `(3, 3)` is asked for.", "(Z @ Y @ X).ravel()")
_wrong(
    "elementwise",
    "`*` multiplies matrices entry by entry; composing rotations is `@`.",
    "Z * Y * X",
)
_wrong("added", "Rotations compose by the matrix product, not by a sum.", "Z + Y + X")
_wrong("axis_missing", "The roll is missing: `Rz(yaw) Ry(pitch) Rx(roll)`.", "Z @ Y")
_wrong("axis_missing", "The yaw is missing: `Rz(yaw) Ry(pitch) Rx(roll)`.", "Y @ X")
_wrong("axis_missing", "The pitch is missing: `Rz(yaw) Ry(pitch) Rx(roll)`.", "Z @ X")
_wrong(
    "zxz_sequence",
    "This is a z-x-z sequence (proper Euler angles); asked for is z-y-x.",
    "Z @ np.array([[1, 0, 0], [0, np.cos(pitch), -np.sin(pitch)], [0, np.sin(pitch), "
    "np.cos(pitch)]]) @ np.array([[np.cos(roll), -np.sin(roll), 0], [np.sin(roll), "
    "np.cos(roll), 0], [0, 0, 1]])",
)
_wrong(
    "pitch_clipped",
    "You limit the pitch to 90 deg; the formula holds for every angle.",
    "Z @ Y @ X",
    before="    pitch = np.clip(pitch, -np.pi / 2, np.pi / 2)\n",
)
_wrong(
    "lock_special_case",
    "You drop an angle at the lock; the matrix of three given angles is well defined there too.",
    "Z @ Y @ X",
    before="    if abs(np.cos(pitch)) < 1e-9:\n        roll = 0.0\n",
)
_wrong(
    "one_angle_added",
    "The turns about the same-named axes of different frames do not add up; multiply three "
    "matrices.",
    "Z @ Y + X - np.eye(3)",
)

for _name in ("yaw", "pitch", "roll"):
    _wrong(
        "half_angles",
        "An angle is halved: half angles belong into quaternions; a matrix takes the whole angle.",
        "Z @ Y @ X",
        f"    {_name} = {_name} / 2\n",
    )
    _wrong(
        "sine_for_cosine",
        "Sine and cosine are exchanged in one of the elementary matrices: the cosines stand on the "
        "diagonal.",
        "Z @ Y @ X",
        f"    {_name} = np.pi / 2 - {_name}\n",
    )
for _limit in ("1.5", "1.55", "1.57"):
    _wrong(
        "pitch_clipped",
        "You clip the pitch near +-90 deg. The lock is a trouble of the way back; here every angle "
        "has its matrix.",
        "Z @ Y @ X",
        f"    pitch = np.clip(pitch, -{_limit}, {_limit})\n",
    )


@exercise.variant("every entry written out")
def written_out():
    from math import cos, sin

    def euler_zyx_to_mat(yaw, pitch, roll):
        cy, sy, cp, sp, cr, sr = cos(yaw), sin(yaw), cos(pitch), sin(pitch), cos(roll), sin(roll)
        return [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]


@exercise.variant("turns about the axes reached so far")
def turning_frame():
    def euler_zyx_to_mat(yaw, pitch, roll):
        frame = np.eye(3)
        for axis, angle in ((2, yaw), (1, pitch), (0, roll)):
            n = frame[:, axis]
            K = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
            frame = (np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K) @ frame
        return frame


@exercise.variant("extrinsic x, y, z in that order: the same matrix")
def extrinsic_xyz():
    from functools import reduce

    def plane(i, j, angle):
        M = np.identity(3)
        M[i, i] = M[j, j] = np.cos(angle)
        M[i, j], M[j, i] = -np.sin(angle), np.sin(angle)
        return M

    def euler_zyx_to_mat(yaw, pitch, roll):
        turns = [plane(1, 2, roll), plane(2, 0, pitch), plane(0, 1, yaw)]
        return reduce(lambda total, turn: turn @ total, turns)


@exercise.variant("quaternions with half angles")
def half_angles():
    def euler_zyx_to_mat(yaw, pitch, roll):
        c = np.cos(np.array([yaw, pitch, roll]) / 2)
        s = np.sin(np.array([yaw, pitch, roll]) / 2)
        w = c[0] * c[1] * c[2] + s[0] * s[1] * s[2]
        x = c[0] * c[1] * s[2] - s[0] * s[1] * c[2]
        y = c[0] * s[1] * c[2] + s[0] * c[1] * s[2]
        z = s[0] * c[1] * c[2] - c[0] * s[1] * s[2]
        u = np.array([x, y, z])
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.eye(3) + 2 * w * K + 2 * (np.outer(u, u) - (u @ u) * np.eye(3))
