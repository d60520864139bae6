"""`euler_rate_matrix`: from Euler rates to body rates, and where that map fails."""

import numpy as np
from scipy.spatial.transform import Rotation

from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "euler_rate_matrix",
    points=4,
    provides=("euler_rate_matrix",),
    core=True,
    by_hand=True,
    uses=("axis_angle_to_mat", "euler_zyx_to_mat"),
)


@exercise.reference
def reference():
    # Each column is an axis of turning, in body coordinates: roll's own x; the y before the roll;
    # the z before pitch and roll. Tested against central differences of MuJoCo's matrices.
    def euler_rate_matrix(pitch, roll):
        undo_roll = Rotation.from_rotvec([roll, 0, 0]).as_matrix().T
        undo_pitch = Rotation.from_rotvec([0, pitch, 0]).as_matrix().T
        x, y, z = np.eye(3)
        return np.column_stack([x, undo_roll @ y, undo_roll @ undo_pitch @ z])

    return {"euler_rate_matrix": euler_rate_matrix}


def _poses(seed, count):
    pitches = draws.angles(seed, count, -1.5, 1.5)
    return zip(pitches, draws.angles(seed + 1, count), strict=True)


@exercise.part("any pitch and roll", points=3)
def ordinary():
    return [call("euler_rate_matrix", *pose) for pose in _poses(10, 30)]


@exercise.part("edge cases: pitch +-90 deg, close to it, zero angles", points=1)
def edge():
    cases = [call("euler_rate_matrix", *pose) for pose in _poses(20, 4)]
    for _, roll in _poses(30, 4):
        for pitch in (np.pi / 2, -np.pi / 2):
            cases.append(call("euler_rate_matrix", pitch, roll, label="at the lock"))
        cases.append(call("euler_rate_matrix", np.deg2rad(89.99), roll, label="89.99 deg"))
    cases.append(call("euler_rate_matrix", 0.0, 0.0, label="both zero"))
    cases.append(call("euler_rate_matrix", 0.8, 0.0, label="pitch alone"))
    cases.append(call("euler_rate_matrix", 0.0, 0.8, label="roll alone"))
    return cases


_HEAD = """\
def euler_rate_matrix(pitch, roll):
    cp, sp, cr, sr = np.cos(pitch), np.sin(pitch), np.cos(roll), np.sin(roll)
    E = np.array([[1, 0, -sp], [0, cr, sr * cp], [0, -sr, cr * cp]])
    return E
"""


_wrong = exercise.slips(_HEAD)


_INVERSE = (
    "This is the inverse, from body rates to Euler rates: it does not exist at pitch +-90 deg. "
    "Asked for is `E` with body rates `= E @ (roll', pitch', yaw')`."
)
_wrong("inverse", _INVERSE, ("return E", "return np.linalg.inv(E)"))
_wrong("inverse", _INVERSE, ("return E", "return np.linalg.pinv(E)"))
_wrong(
    "inverse",
    _INVERSE,
    (
        "return E",
        "return np.array([[1, sr * sp / cp, cr * sp / cp], [0, cr, -sr], [0, sr / cp, cr / cp]])",
    ),
)
_wrong(
    "column_order",
    "Your columns are for yaw', pitch', roll'; the order asked for is roll', pitch', yaw'.",
    ("return E", "return E[:, ::-1]"),
)
_wrong(
    "column_order",
    "Your columns are in another order; asked for is roll', pitch', yaw'.",
    ("return E", "return E[:, [1, 0, 2]]"),
)
_wrong(
    "column_order",
    "Your columns are in another order; asked for is roll', pitch', yaw'.",
    ("return E", "return E[:, [0, 2, 1]]"),
)
_wrong(
    "row_order",
    "Your rows are in another order; the body rates are about x, y, z.",
    ("return E", "return E[::-1]"),
)
_wrong(
    "both_orders",
    "Rows and columns are both reversed: body rates are about x, y, z, and the columns are for "
    "roll', pitch', yaw'.",
    ("return E", "return E[::-1, ::-1]"),
)
_wrong(
    "transpose",
    "This is the transpose: each *column* is the body rate of one angle turning at 1 rad/s.",
    ("return E", "return E.T"),
)
_WORLD = (
    "These are world rates: the axes seen from the world, not from the body. In body coordinates "
    "the roll axis is always `(1, 0, 0)`, and pitch and roll alone decide the rest."
)
_wrong("world_rates", _WORLD, ("return E", "return np.array([[cp, 0, 0], [0, 1, 0], [-sp, 0, 1]])"))
_wrong(
    "world_rates",
    _WORLD,
    (
        "return E",
        "Ry = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])\n"
        "    Rx = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])\n    return Ry @ Rx @ E",
    ),
)
_wrong(
    "world_rates_yaw_first",
    "These are world rates, and the columns are in the order yaw', pitch', roll'.",
    ("return E", "return np.array([[0, 0, cp], [0, 1, 0], [1, 0, -sp]])"),
)
_wrong(
    "arguments_exchanged",
    "Pitch and roll are exchanged: the arguments come as `(pitch, roll)`.",
    ("(pitch, roll):", "(roll, pitch):"),
)
_wrong(
    "degrees",
    "You treat the angles as degrees; they are radians.",
    ("    cp,", "    pitch, roll = np.deg2rad(pitch), np.deg2rad(roll)\n    cp,"),
)
_wrong(
    "degrees",
    "You turn the radians into degrees before sine and cosine; they take radians.",
    ("    cp,", "    pitch, roll = np.rad2deg(pitch), np.rad2deg(roll)\n    cp,"),
)
_wrong("pitch_sign", "`-sin p` in the yaw column has the wrong sign.", ("-sp", "sp"))
_wrong(
    "roll_sign",
    "The sines of the roll have the wrong sign: going to the body undoes the roll, `Rx(roll)^T`.",
    ("sr * cp", "-sr * cp"),
    ("[0, -sr,", "[0, sr,"),
)
_wrong("roll_sign", "One sine of the roll has the wrong sign.", ("sr * cp", "-sr * cp"))
_wrong("roll_sign", "One sine of the roll has the wrong sign.", ("[0, -sr,", "[0, sr,"))
_wrong(
    "both_signs",
    "All sines have the wrong sign: you turn the axes into the world instead of the body.",
    ("sr * cp", "-sr * cp"),
    ("[0, -sr,", "[0, sr,"),
    ("-sp", "sp"),
)
_wrong(
    "no_cosine_of_pitch",
    "The yaw column lacks `cos p` in its second and third row.",
    ("sr * cp", "sr"),
    ("cr * cp", "cr"),
)
_wrong(
    "no_roll",
    "The roll is missing: the y and z axes of the other frames are seen from the rolled body.",
    ("[0, cr, sr * cp], [0, -sr, cr * cp]", "[0, 1, 0], [0, 0, cp]"),
)
_wrong(
    "sine_cosine_exchanged",
    "Sine and cosine of the pitch are exchanged.",
    (
        "[1, 0, -sp], [0, cr, sr * cp], [0, -sr, cr * cp]",
        "[1, 0, -cp], [0, cr, sr * sp], [0, -sr, cr * sp]",
    ),
)
_wrong(
    "sine_cosine_exchanged",
    "Sine and cosine of the roll are exchanged.",
    ("[0, cr, sr * cp], [0, -sr, cr * cp]", "[0, sr, cr * cp], [0, -cr, sr * cp]"),
)
_wrong(
    "flat", "The result is flat; a matrix `(3, 3)` is asked for.", ("return E", "return E.ravel()")
)
_wrong(
    "rotation_matrix",
    "This is a rotation matrix; Euler rates are not components along three perpendicular axes.",
    (
        "return E",
        "return np.array([[cp, sp * sr, sp * cr], [0, cr, -sr], [-sp, cp * sr, cp * cr]])",
    ),
)
_wrong(
    "identity",
    "The identity: as if Euler rates were body rates, which holds at pitch and roll zero only.",
    ("return E", "return np.eye(3)"),
)
_wrong(
    "other_sequence",
    "This is the matrix of the sequence x-y'-z''; asked for is z-y'-x''.",
    ("return E", "return np.array([[cp * cr, sr, 0], [-cp * sr, cr, 0], [sp, 0, 1]])"),
)
_wrong(
    "lock_special_case",
    "You treat the lock apart. `E` itself is well defined there; only its inverse is not.",
    ("    E =", "    if abs(cp) < 1e-9:\n        return np.full((3, 3), np.nan)\n    E ="),
)
_wrong(
    "lock_error",
    "You refuse the lock. `E` itself is well defined there; only its inverse is not.",
    ("    E =", "    if abs(cp) < 1e-9:\n        raise ValueError('gimbal lock')\n    E ="),
)
_wrong(
    "lock_special_case",
    "You treat the lock apart. `E` itself is well defined there; only its inverse is not.",
    ("    E =", "    if abs(cp) < 1e-3:\n        cp = 1e-3\n    E ="),
)

_NO_COSINE = (
    "In the yaw column the cosine of the pitch is missing or a sine: the yaw axis seen from the "
    "body is `(-sin p, sin r cos p, cos r cos p)`."
)
_wrong("yaw_column", _NO_COSINE, ("sr * cp", "sr"))
_wrong("yaw_column", _NO_COSINE, ("cr * cp", "cr"))
_wrong("yaw_column", _NO_COSINE, ("sr * cp", "sr"), ("cr * cp", "cr"))
_wrong("yaw_column", _NO_COSINE, ("sr * cp", "sr * sp"))
_wrong("yaw_column", _NO_COSINE, ("cr * cp", "cr * sp"))
_wrong("yaw_column", _NO_COSINE, ("sr * cp", "sr * sp"), ("cr * cp", "cr * sp"))


@exercise.variant("plain lists")
def lists():
    from math import cos, sin

    def euler_rate_matrix(pitch, roll):
        return [
            [1, 0, -sin(pitch)],
            [0, cos(roll), sin(roll) * cos(pitch)],
            [0, -sin(roll), cos(roll) * cos(pitch)],
        ]


@exercise.variant("axes carried into the body")
def axes():
    def euler_rate_matrix(pitch, roll):
        Rx = np.array(
            [[1, 0, 0], [0, np.cos(roll), -np.sin(roll)], [0, np.sin(roll), np.cos(roll)]]
        )
        Ry = np.array(
            [[np.cos(pitch), 0, np.sin(pitch)], [0, 1, 0], [-np.sin(pitch), 0, np.cos(pitch)]]
        )
        E = np.zeros((3, 3))
        E[:, 0] = [1, 0, 0]
        E[:, 1] = Rx.T @ [0, 1, 0]
        E[:, 2] = Rx.T @ (Ry.T @ [0, 0, 1])
        return E


@exercise.variant("the complex-step derivative of the matrix")
def complex_step():
    def matrix(angles):
        yaw, pitch, roll = angles
        cy, sy = np.cos(yaw), np.sin(yaw)
        cp, sp = np.cos(pitch), np.sin(pitch)
        cr, sr = np.cos(roll), np.sin(roll)
        return np.array(
            [
                [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
                [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
                [-sp, cp * sr, cp * cr],
            ]
        )

    def euler_rate_matrix(pitch, roll):
        columns = []
        for k in (2, 1, 0):
            angles = np.array([0.3, pitch, roll], dtype=complex)
            R = matrix(angles).real
            angles[k] += 1e-30j
            W = R.T @ (matrix(angles).imag / 1e-30)
            columns.append([W[2, 1], W[0, 2], W[1, 0]])
        return np.array(columns).T


@exercise.variant("rows of a product")
def product():
    def euler_rate_matrix(pitch, roll):
        c, s = np.cos([pitch, roll]), np.sin([pitch, roll])
        turn = np.array([[1, 0, 0], [0, c[1], s[1]], [0, -s[1], c[1]]])
        return turn @ np.array([[1, 0, -s[0]], [0, 1, 0], [0, 0, c[0]]])
