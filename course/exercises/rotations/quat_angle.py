"""`quat_angle`: how far apart two orientations are."""

import numpy as np
from scipy.spatial.transform import Rotation

from course.exercises.compare import close
from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "quat_angle", points=2, provides=("quat_angle",), by_hand=True, uses=("quat_mul", "quat_conj")
)


@exercise.reference
def reference():
    def quat_angle(q0, q1):
        first = Rotation.from_quat(q0, scalar_first=True)
        second = Rotation.from_quat(q1, scalar_first=True)
        return float((first.inv() * second).magnitude())

    return {"quat_angle": quat_angle}


def _ends(seed, count, low, high):
    turns = zip(draws.axes(seed + 1, count), draws.angles(seed + 2, count, low, high), strict=True)
    return [
        (q0, draws.compose(q0, draws.about(axis, angle)))
        for q0, (axis, angle) in zip(draws.quats(seed, count), turns, strict=True)
    ]


@exercise.part("ordinary pairs, signs as they come", points=1)
def ordinary():
    pairs = zip(draws.quats(10, 30), draws.quats(11, 30), strict=True)
    return [call("quat_angle", a, b) for a, b in pairs]


@exercise.part("edge cases: q and -q, identical, close together, 180 deg", points=0.75)
def edge():
    # 2 arccos(|q0 . q1|) loses half of its digits below 1e-3 rad; it is accepted.
    rough = close(atol=1e-7)
    cases = [call("quat_angle", a, b) for a, b in _ends(20, 4, 0.2, 3.0)]
    cases += [call("quat_angle", a, -b, label="one negated") for a, b in _ends(30, 4, 0.2, 3.0)]
    for q in [*draws.quats(40, 12), np.array([1.0, 0, 0, 0])]:
        cases.append(call("quat_angle", q, q, label="identical", compare=rough))
        cases.append(call("quat_angle", q, -q, label="q and -q", compare=rough))
    for size in (1e-10, 1e-7, 1e-6, 1e-5, 1e-4, 9e-4):
        for a, b in _ends(50, 2, size, 1.05 * size):
            cases.append(call("quat_angle", a, b, label=f"{size:g} rad apart", compare=rough))
    for a, b in _ends(60, 3, 0.02, 0.05):
        cases.append(call("quat_angle", a, b, label="1 to 3 deg apart"))
    for q, axis in zip(draws.quats(70, 3), draws.axes(71, 3), strict=True):
        half = draws.compose(q, np.array([0.0, *axis]))
        cases.append(call("quat_angle", q, half, label="180 deg", compare=rough))
    return cases


@exercise.part("contract: inputs left as they were", points=0.25)
def contract():
    return [call("quat_angle", a, b, unchanged=True) for a, b in _ends(80, 6, 0.2, 3.0)]


_GOOD = """\
def quat_angle(q0, q1):
    d = np.dot(q0, q1)
    a = 2 * np.arccos(np.clip(abs(d), 0, 1))
    return a
"""


_wrong = exercise.slips(_GOOD)


_ABSOLUTE = (
    "The absolute value is missing: `q` and `-q` are the same rotation, and the angle lies between "
    "0 and pi. Use `|q0 . q1|`."
)
_CLIP = (
    "NaN for identical quaternions: rounding lifts the dot product above 1, where `arccos` has no "
    "value. Clip it, or use `arctan2`."
)
_wrong("no_absolute", _ABSOLUTE, ("np.clip(abs(d), 0, 1)", "np.clip(d, -1, 1)"))
_wrong(
    "no_absolute",
    "The absolute value is missing (`q` and `-q` are the same rotation), and so is a clip: "
    "rounding lifts the dot product above 1, where `arccos` has no value.",
    ("np.clip(abs(d), 0, 1)", "d"),
)
_wrong(
    "no_factor_two",
    "A factor 2 is missing: `arccos(|q0 . q1|)` is the angle between the quaternions, half of that "
    "between the rotations.",
    ("2 * np", "np"),
)
_wrong(
    "no_factor_two",
    "A factor 2 is missing: `arccos(|q0 . q1|)` is half of the angle between the rotations; and "
    "it needs a clip where rounding lifts the dot product above 1.",
    ("2 * np", "np"),
    ("np.clip(abs(d), 0, 1)", "abs(d)"),
)
_wrong(
    "no_factor_no_absolute",
    "`arccos(q0 . q1)` is the angle between two unit vectors of four entries: twice that is the "
    "rotation, and of `q` and `-q` the nearer counts (`|q0 . q1|`).",
    ("2 * np", "np"),
    ("np.clip(abs(d), 0, 1)", "np.clip(d, -1, 1)"),
)
_wrong(
    "no_factor_no_absolute",
    "`arccos(q0 . q1)` is the angle between two unit vectors of four entries: twice that is the "
    "rotation, and of `q` and `-q` the nearer counts (`|q0 . q1|`). Clip it too.",
    ("2 * np", "np"),
    ("np.clip(abs(d), 0, 1)", "d"),
)
_wrong("no_clip", _CLIP, ("np.clip(abs(d), 0, 1)", "abs(d)"))
_wrong(
    "negative_dot_zero",
    "You clip negative dot products to zero: they belong to the same rotations with the other "
    "sign. Use `|q0 . q1|`.",
    ("np.clip(abs(d), 0, 1)", "np.clip(d, 0, 1)"),
)
_wrong(
    "degrees", "You return degrees; asked for are radians.", ("return a", "return np.rad2deg(a)")
)
_wrong(
    "quarter_angle",
    "`arccos` gives half of the angle; you halve it instead of doubling it.",
    ("2 * np", "0.5 * np"),
)
_wrong(
    "distance",
    "This is a distance between the entries, not an angle.",
    ("return a", "return np.linalg.norm(np.subtract(q0, q1))"),
)
_wrong(
    "distance",
    "This is a distance between the entries, not an angle (though `q` and `-q` are minded).",
    (
        "return a",
        "return min(np.linalg.norm(np.subtract(q0, q1)), np.linalg.norm(np.add(q0, q1)))",
    ),
)
_wrong(
    "cosine",
    "You return the dot product or a cosine; the angle is `2 arccos` of it.",
    ("return a", "return d"),
)
_wrong(
    "cosine",
    "You return the dot product or a cosine; the angle is `2 arccos` of it.",
    ("return a", "return abs(d)"),
)
_wrong(
    "cosine",
    "You return `1 - |q0 . q1|`, a distance but no angle: that is `2 arccos(|q0 . q1|)`.",
    ("return a", "return 1 - abs(d)"),
)
_wrong(
    "arcsine",
    "For identical rotations the result must be 0: `2 arccos`, not `arcsin` nor pi minus it.",
    ("np.arccos", "np.arcsin"),
)
_wrong(
    "vector_parts",
    "The dot product takes all four entries, not the vector parts alone.",
    ("np.dot(q0, q1)", "np.dot(q0[1:], q1[1:])"),
)
_wrong(
    "scalar_parts",
    "The angle comes from the dot product of all four entries; each quaternion's own angle says "
    "nothing of the difference.",
    ("np.dot(q0, q1)", "q0[0] * q1[0]"),
)
_wrong(
    "difference_of_angles",
    "You subtract the two angles of turn; the axes differ too. Take the angle of `conj(q0) q1`.",
    ("return a", "return abs(2 * np.arccos(abs(q0[0])) - 2 * np.arccos(abs(q1[0])))"),
)
_wrong(
    "product_not_difference",
    "You take the angle of `q0 q1`, the composition; the difference needs the conjugate of one.",
    ("np.dot(q0, q1)", "q0[0] * q1[0] - np.dot(q0[1:], q1[1:])"),
)
_wrong(
    "supplement",
    "You return the long way round: the angle lies between 0 and pi.",
    ("return a", "return 2 * np.pi - a"),
)
_wrong(
    "arcsine",
    "For identical rotations the result must be 0: `2 arccos`, not `arcsin` nor pi minus it.",
    ("return a", "return np.pi - a"),
)
_wrong(
    "array",
    "One number is asked for; you return an array.",
    ("return a", "return np.array([a])"),
)
_wrong(
    "half_angle_formula",
    "`arccos(2 d^2 - 1)` is the angle already; you double it once more.",
    ("return a", "return 2 * np.arccos(np.clip(2 * d * d - 1, -1, 1))"),
)
_wrong(
    "snapped",
    "You return 0 for rotations that are close together but not the same.",
    ("return a", "return 0.0 if abs(d) > 0.9999 else a"),
)


@exercise.misconception(_ABSOLUTE, id="no_absolute")
def without_absolute_arctan2():
    def quat_angle(q0, q1):
        w = np.dot(q0, q1)
        v = q0[0] * np.array(q1[1:]) - q1[0] * np.array(q0[1:]) - np.cross(q0[1:], q1[1:])
        return 2 * np.arctan2(np.linalg.norm(v), w)


@exercise.misconception("You write into an argument; work on a copy.", id="modifies_input")
def modifies_input():
    def quat_angle(q0, q1):
        if np.dot(q0, q1) < 0:
            q1 *= -1
        q0[1:] *= -1
        w = q0[0] * q1[0] - q0[1:] @ q1[1:]
        return 2 * np.arccos(np.clip(w, -1, 1))


_CHORD = (
    "This is made from the distance of the quaternions, a chord; the angle is an arc: "
    "`2 arccos(|q0 . q1|)`, or `4 arcsin(chord / 2)`. Near only for small angles."
)
_NEARER = "min(np.linalg.norm(np.subtract(q0, q1)), np.linalg.norm(np.add(q0, q1)))"
for _chord in ("np.linalg.norm(np.subtract(q0, q1))", _NEARER):
    for _factor in ("", "2 * ", "np.pi / 2 * "):
        _wrong("chord", _CHORD, ("return a", f"return {_factor}{_chord}"))
_wrong(
    "dot_squared",
    "The dot product is squared: `|q0 . q1|` is the cosine of half the angle (its square is half "
    "of `1 + cos(angle)`: `arccos(2 d**2 - 1)` would do).",
    ("abs(d)", "d**2"),
)
for _limit in ("0.9999", "1 - 1e-6", "1 - 1e-9", "1 - 1e-12"):
    _wrong(
        "clipped_below_one",
        "You clip the dot product below 1: identical orientations then have an angle, and close "
        "ones are all alike. Clip at exactly 1.",
        ("0, 1)", f"0, {_limit})"),
    )
_wrong(
    "sum_of_absolute_products",
    "The absolute value is taken of each product; take it of their sum, the dot product.",
    ("abs(d)", "np.sum(np.abs(np.multiply(q0, q1)))"),
)


@exercise.variant("arctan2 of the difference")
def by_arctan2():
    def quat_angle(q0, q1):
        w = float(np.dot(q0, q1))
        v = q0[0] * np.array(q1[1:]) - q1[0] * np.array(q0[1:]) - np.cross(q0[1:], q1[1:])
        return 2 * np.arctan2(np.linalg.norm(v), abs(w))


@exercise.variant("2 arccos, clipped")
def by_arccos():
    import math

    def quat_angle(q0, q1):
        return 2 * math.acos(min(1.0, abs(sum(a * b for a, b in zip(q0, q1)))))


@exercise.variant("lengths of sum and difference")
def by_lengths():
    def quat_angle(q0, q1):
        apart = np.linalg.norm(np.subtract(q0, q1))
        along = np.linalg.norm(np.add(q0, q1))
        return np.array(4 * np.arctan2(min(apart, along), max(apart, along)))


@exercise.variant("the trace of the two matrices")
def by_trace():
    def quat_angle(q0, q1):
        def matrix(q):
            w, u = q[0], np.array(q[1:])
            K = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
            return np.eye(3) + 2 * w * K + 2 * K @ K

        cosine = (np.trace(matrix(q0).T @ matrix(q1)) - 1) / 2
        return np.arccos(np.clip(cosine, -1, 1))


@exercise.variant("the nearer of the two ways round")
def nearer():
    def quat_angle(q0, q1):
        angle = 2 * np.arccos(max(-1.0, min(1.0, float(np.dot(q0, q1)))))
        return min(angle, 2 * np.pi - angle)
