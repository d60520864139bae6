"""`axis_angle_to_mat`: Rodrigues' formula."""

import numpy as np
import scipy
from scipy.spatial.transform import Rotation

from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "axis_angle_to_mat",
    points=3,
    provides=("axis_angle_to_mat",),
    by_hand=True,
    uses=("axis_angle_to_quat", "quat_to_mat"),
)


@exercise.reference
def reference():
    def axis_angle_to_mat(axis, angle):
        return Rotation.from_rotvec(angle * np.asarray(axis, float)).as_matrix()

    return {"axis_angle_to_mat": axis_angle_to_mat}


@exercise.part("any axis, any angle", points=1.5)
def ordinary():
    pairs = zip(draws.axes(10, 30), draws.angles(11, 30), strict=True)
    return [call("axis_angle_to_mat", axis, angle) for axis, angle in pairs]


@exercise.part("edge cases: tiny angles, 180 deg, no angle", points=1)
def edge():
    cases = [call("axis_angle_to_mat", a, t) for a, t in zip(draws.axes(20, 3), (0.7, -1.9, 2.6))]
    for axis, tiny in zip(draws.axes(30, 8), (1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, -1e-6, 1e-3)):
        cases.append(call("axis_angle_to_mat", axis, tiny, label=f"tiny angle {tiny:g} rad"))
    for axis in [*np.eye(3), *draws.axes(40, 3)]:
        cases.append(call("axis_angle_to_mat", axis, np.pi, label="180 deg"))
    cases.append(call("axis_angle_to_mat", draws.axes(50, 1)[0], 0.0, label="no angle"))
    return cases


@exercise.part("contract: the axis is left as it was", points=0.5)
def contract():
    pairs = zip(draws.axes(60, 5), draws.angles(61, 5), strict=True)
    return [call("axis_angle_to_mat", axis, angle, unchanged=True) for axis, angle in pairs]


_GOOD = """\
def axis_angle_to_mat(axis, angle):
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    s, c = np.sin(angle), np.cos(angle)
    return np.eye(3) + s * K + (1 - c) * K @ K
"""
_FORMULA = "`I + sin(t) K + (1 - cos(t)) K K`"


_wrong = exercise.slips(_GOOD)


_wrong(
    "sign_of_k",
    "`K` has the wrong sign: `K v` must be `axis x v`, so `K` is `[[0, -z, y], [z, 0, -x], "
    "[-y, x, 0]]`. Yours turns the other way: it is the transpose.",
    ("[[0, -z, y], [z, 0, -x], [-y, x, 0]]", "[[0, z, -y], [-z, 0, x], [y, -x, 0]]"),
)
_wrong(
    "sine_cosine_swapped",
    f"`sin t` and `1 - cos t` are exchanged: {_FORMULA}.",
    ("s * K + (1 - c) * K @ K", "(1 - c) * K + s * K @ K"),
)
_wrong(
    "degrees",
    "You treat the angle as degrees; it is in radians.",
    ("angle), np", "np.deg2rad(angle)), np"),
    ("np.cos(angle)", "np.cos(np.deg2rad(angle))"),
)
_wrong(
    "degrees",
    "You turn the radians into degrees before sine and cosine; they take radians.",
    ("angle), np", "np.rad2deg(angle)), np"),
    ("np.cos(angle)", "np.cos(np.rad2deg(angle))"),
)
_wrong(
    "half_angle",
    "Rodrigues' formula takes the whole angle; half of it belongs to quaternions.",
    ("angle), np", "angle / 2), np"),
    ("np.cos(angle)", "np.cos(angle / 2)"),
)
_wrong(
    "cosine_alone", f"The last factor is `1 - cos t`, not `cos t`: {_FORMULA}.", ("(1 - c)", "c")
)
_wrong(
    "last_term_sign",
    "The last term has the wrong sign: it is `+ (1 - cos t) K K`, and `K @ K.T` is `-K K`.",
    ("(1 - c)", "(c - 1)"),
)
_wrong(
    "cosine_alone",
    f"The last factor is `1 - cos t`, not `1 + cos t`: {_FORMULA}.",
    ("(1 - c)", "(1 + c)"),
)
_wrong(
    "elementwise_square",
    "`K * K` and `K**2` square entry by entry; the formula needs the matrix product `K @ K`.",
    ("K @ K", "K**2"),
)
_wrong("no_square", f"The term with `K K` is missing: {_FORMULA}.", (" + (1 - c) * K @ K", ""))
_wrong(
    "no_square", f"The second power of `K` is missing in the last term: {_FORMULA}.", ("K @ K", "K")
)
_wrong("no_identity", f"The identity is missing: {_FORMULA}.", ("np.eye(3) + ", ""))
_wrong(
    "ones",
    "`np.ones((3, 3))` is not the identity matrix; that is `np.eye(3)`.",
    ("np.eye(3)", "np.ones((3, 3))"),
)
_wrong("no_sine", f"The term `sin(t) K` is missing: {_FORMULA}.", ("s * K + ", ""))
_wrong(
    "angle_for_sine",
    f"You use the angle itself for its sine: {_FORMULA} with the unit axis in `K`.",
    ("s * K", "angle * K"),
)
_wrong(
    "angle_for_sine",
    "You scale `K` by the angle *and* use sine and cosine: `K` holds the unit axis.",
    ("K = np.array(", "K = angle * np.array("),
)
_wrong(
    "mixed_forms",
    "You mix two forms: with `cos(t) I` the last term is `(1 - cos t) axis axis^T`; with `I` it "
    "is `(1 - cos t) K K`.",
    ("np.eye(3) +", "c * np.eye(3) +"),
)
_wrong(
    "mixed_forms",
    "You mix two forms: with `I` the last term is `(1 - cos t) K K`; `axis axis^T` goes with "
    "`cos(t) I`.",
    ("K @ K", "np.outer(axis, axis)"),
)
_wrong(
    "no_outer",
    "The part along the axis is missing: `cos(t) I + sin(t) K + (1 - cos t) axis axis^T`.",
    ("np.eye(3) +", "c * np.eye(3) +"),
    (" + (1 - c) * K @ K", ""),
)
_wrong(
    "last_term_sign",
    "The last term has the wrong sign: it is `+ (1 - cos t) K K`, and `K @ K.T` is `-K K`.",
    ("K @ K", "K @ K.T"),
)
_wrong(
    "symmetric_k",
    "`K` is skew: its entries below the diagonal have the opposite sign of those above.",
    ("[[0, -z, y], [z, 0, -x], [-y, x, 0]]", "[[0, z, y], [z, 0, x], [y, x, 0]]"),
)
for _old, _new in (
    ("[[0, -z, y]", "[[0, z, y]"),
    ("[[0, -z, y]", "[[0, -z, -y]"),
    ("[z, 0, -x]", "[-z, 0, -x]"),
    ("[z, 0, -x]", "[z, 0, x]"),
    ("[-y, x, 0]", "[y, x, 0]"),
    ("[-y, x, 0]", "[-y, -x, 0]"),
):
    _wrong(
        "k_entry",
        "One entry of `K` has the wrong sign: `K` is `[[0, -z, y], [z, 0, -x], [-y, x, 0]]`, skew.",
        (_old, _new),
    )
_wrong(
    "k_entry",
    "The entries of `K` are in the wrong places: `K` is `[[0, -z, y], [z, 0, -x], [-y, x, 0]]`.",
    ("[[0, -z, y], [z, 0, -x], [-y, x, 0]]", "[[0, -x, y], [x, 0, -z], [-y, z, 0]]"),
)
_wrong(
    "flat",
    "The result is flat; a matrix `(3, 3)` is asked for.",
    (
        "return np.eye(3) + s * K + (1 - c) * K @ K",
        "return (np.eye(3) + s * K + (1 - c) * K @ K).ravel()",
    ),
)
_wrong(
    "sign_dropped",
    "You drop the sign of the angle: a turn by `-t` is the turn back.",
    ("s, c =", "angle = abs(angle)\n    s, c ="),
)
_wrong(
    "tiny_angle_dropped",
    "You return the identity for small angles. The formula needs no such case, and yours loses a "
    "turn that matters to 1e-9.",
    (
        "    x, y, z = axis",
        "    if abs(angle) < 1e-6:\n        return np.eye(3)\n    x, y, z = axis",
    ),
)
_wrong(
    "tiny_angle_dropped",
    "You return the identity for small angles. The formula needs no such case, and yours loses a "
    "turn that matters to 1e-9.",
    (
        "    x, y, z = axis",
        "    if abs(angle) < 2e-4:\n        return np.eye(3)\n    x, y, z = axis",
    ),
)
_wrong(
    "tiny_angle_linear",
    "Your small-angle form `I + t K` reaches too far: it is off by `t^2 / 2`. The formula needs no "
    "such case.",
    ("    return", "    if abs(angle) < 2e-3:\n        return np.eye(3) + angle * K\n    return"),
)


@exercise.misconception(
    "At angle 0 your result is not finite: a turn by nothing is the identity.",
    id="division_by_zero",
)
def division_by_zero():
    def axis_angle_to_mat(axis, angle):
        v = angle * np.asarray(axis, float)
        t = np.linalg.norm(v)
        x, y, z = v / t
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        return np.eye(3) + np.sin(t) * K + (1 - np.cos(t)) * K @ K


@exercise.misconception("You write into the argument `axis`; work on a copy.", id="modifies_input")
def modifies_input():
    def axis_angle_to_mat(axis, angle):
        x, y, z = axis
        K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        axis *= angle
        return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


@exercise.variant("every entry written out")
def written_out():
    from math import cos, sin

    def axis_angle_to_mat(axis, angle):
        x, y, z = axis
        c, s, v = cos(angle), sin(angle), 1 - cos(angle)
        return [
            [c + x * x * v, x * y * v - z * s, x * z * v + y * s],
            [y * x * v + z * s, c + y * y * v, y * z * v - x * s],
            [z * x * v - y * s, z * y * v + x * s, c + z * z * v],
        ]


@exercise.variant("outer product")
def outer():
    def axis_angle_to_mat(axis, angle):
        a = np.asarray(axis)
        K = np.cross(a, np.eye(3)).T
        c = np.cos(angle)
        return c * np.eye(3) + np.sin(angle) * K + (1 - c) * np.outer(a, a)


@exercise.variant("the matrix exponential")
def exponential():
    def axis_angle_to_mat(axis, angle):
        x, y, z = np.array(axis) * angle
        return scipy.linalg.expm(np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]))


@exercise.variant("a quaternion on the way")
def by_quaternion():
    def axis_angle_to_mat(axis, angle):
        w = np.cos(angle / 2)
        u = np.sin(angle / 2) * np.array(axis)

        def turn(v):
            return v + 2 * w * np.cross(u, v) + 2 * np.cross(u, np.cross(u, v))

        return np.stack([turn(e) for e in np.eye(3)], axis=1)


@exercise.variant("the power series")
def series():
    def axis_angle_to_mat(axis, angle):
        x, y, z = axis
        K = angle * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
        R, term = np.eye(3), np.eye(3)
        for n in range(1, 40):
            term = term @ K / n
            R = R + term
        return R
