"""`slerp`: the shortest turn between two orientations, at constant speed."""

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from course.exercises.compare import quaternion, satisfies
from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise(
    "slerp",
    points=4,
    provides=("slerp",),
    core=True,
    by_hand=True,
    uses=("quat_mul", "quat_conj", "quat_rotate", "axis_angle_to_quat", "quat_angle"),
)


@exercise.reference
def reference():
    def slerp(q0, q1, t):
        ends = Rotation.from_quat([q0, q1], scalar_first=True)
        return Slerp([0, 1], ends)(t).as_quat(scalar_first=True)

    return {"slerp": slerp}


def _ends(seed, count, low, high, sign):
    """Pairs `angle` apart, `low` to `high` rad; `sign` -1: q1 stored with q0.q1 < 0."""
    turns = zip(draws.axes(seed + 1, count), draws.angles(seed + 2, count, low, high), strict=True)
    pairs = []
    for q0, (axis, angle) in zip(draws.quats(seed, count), turns, strict=True):
        q1 = draws.compose(q0, draws.about(axis, angle))
        pairs.append((q0, sign * np.copysign(1.0, q0 @ q1) * q1))
    return pairs


def _cases(pairs, seed, label="", unchanged=False, compare=None):
    times = draws.angles(seed, len(pairs), 0.05, 0.95)
    compare = compare or quaternion()
    return [
        call("slerp", q0, q1, t, label=label, compare=compare, unchanged=unchanged)
        for (q0, q1), t in zip(pairs, times, strict=True)
    ]


@exercise.part("ordinary pairs, 10 to 170 deg apart, signs as they come", points=1.5)
def ordinary():
    with_sign = _cases(_ends(10, 12, 0.2, 2.9, 1), 19)
    against = _cases(_ends(20, 12, 0.2, 2.9, -1), 29, "q0 . q1 < 0")
    return with_sign + against


@exercise.part("edge cases: the same rotation, 1e-10 apart, t = 0 and 1, 180 deg", points=1)
def edge():
    cases = _cases(_ends(30, 3, 0.5, 2.5, 1), 39) + _cases(_ends(40, 3, 0.5, 2.5, -1), 49)
    # Below 1e-6 rad what arccos loses is forgiven; a division by zero is not.
    rough = quaternion(1e-7)
    for q in [*draws.quats(50, 8), np.array([1.0, 0, 0, 0])]:
        cases.append(call("slerp", q, q, 0.3, label="identical", compare=rough))
        cases.append(call("slerp", q, -q, 0.6, label="q and -q", compare=rough))
    for q0, q1 in _ends(60, 3, 1e-10, 1.01e-10, 1) + _ends(61, 2, 1e-10, 1.01e-10, -1):
        cases.append(call("slerp", q0, q1, 0.4, label="1e-10 rad apart", compare=rough))
    for q0, q1 in _ends(70, 3, 0.3, 2.8, 1) + _ends(71, 3, 0.3, 2.8, -1):
        cases.append(call("slerp", q0, q1, 0.0, label="t = 0", compare=quaternion()))
        cases.append(call("slerp", q0, q1, 1.0, label="t = 1", compare=quaternion()))
    for q0, axis in zip(draws.quats(80, 4), draws.axes(81, 4), strict=True):
        cases.append(_half_turn(q0, axis, 0.3))
    cases.append(_half_turn(np.array([1.0, 0, 0, 0]), np.array([0.0, 0, 1.0]), 0.5))
    return cases


def _half_turn(q0, axis, t):
    """180 deg apart both arcs are shortest: either is right."""
    q1 = draws.compose(q0, np.array([0.0, *axis]))
    one = draws.compose(q0, draws.about(axis, np.pi * t))
    other = draws.compose(q0, draws.about(axis, -np.pi * t))

    def accept(got, expected):
        first, second = quaternion()(got, one), quaternion()(got, other)
        return (
            None
            if first is None or second is None
            else min((first, second), key=lambda m: m.error).text
        )

    compare = satisfies(accept, near=quaternion(1e-6))
    return call("slerp", q0, q1, t, label="180 deg apart", compare=compare)


@exercise.part("exact to 1e-9 at small angles too, from 1e-6 rad on", points=1)
def small():
    cases = _cases(_ends(90, 2, 0.5, 2.5, 1), 91)
    # At the smallest angle the rounding of arccos comes close to 1e-9.
    cases += _cases(
        _ends(92, 2, 1.1e-6, 1.2e-6, 1), 93, "1.1e-6 rad apart", compare=quaternion(1e-8)
    )
    for k, size in enumerate((2e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 2e-2, 4e-2, 6e-2, 0.1, 0.15)):
        pairs = _ends(100 + k, 2, size, 1.05 * size, 1)
        cases += _cases(pairs, 120 + k, f"{size:g} rad apart")
    return cases


@exercise.part("contract: the inputs are left as they were", points=0.5)
def contract():
    return _cases(_ends(150, 3, 0.3, 2.8, 1), 151, unchanged=True) + _cases(
        _ends(160, 3, 0.3, 2.8, -1), 161, "q0 . q1 < 0", unchanged=True
    )


_GOOD = """\
def slerp(q0, q1, t):
    q0, q1 = np.array(q0, float), np.array(q1, float)
    d = q0 @ q1
    if d < 0:
        q1, d = -q1, -d
    h = np.arccos(min(d, 1.0))
    s = np.sin(h)
    if s < 1e-12:
        return q0
    return (np.sin((1 - t) * h) * q0 + np.sin(t * h) * q1) / s
"""


_wrong = exercise.slips(_GOOD)


def _first(*lines):
    """Lines put before the one that computes the angle, as an edit."""
    return ("    h = np", "".join(f"    {line}\n" for line in lines) + "    h = np")


_CHECK = "    if d < 0:\n        q1, d = -q1, -d\n"
_CLIP = ("min(d, 1.0)", "np.clip(d, -1, 1)")
_SINE = ("np.arccos(min(d, 1.0))", "np.arctan2(np.linalg.norm(q1 - d * q0), d)")
_SUM = "(np.sin((1 - t) * h) * q0 + np.sin(t * h) * q1) / s"
_UNIT = (f"return {_SUM}", f"q = {_SUM[1:-5]}\n    return q / np.linalg.norm(q)")

_NO_SIGN = (
    "The sign check is missing: where `q0 . q1 < 0` negate one of them, else the path takes the "
    "long way round (up to 300 deg for a turn of 60)."
)
_wrong("no_sign_check", _NO_SIGN, (_CHECK, ""), _CLIP)
_wrong("no_sign_check", _NO_SIGN, (_CHECK, ""), _SINE)
_wrong(
    "no_sign_check",
    "The sign check is the wrong way round: negate where `q0 . q1 < 0`, not where it is positive.",
    ("if d < 0", "if d > 0"),
    _CLIP,
)
for _half, *_more in (
    ("d = -d",),
    ("q1 = -q1", _CLIP),
    ("d = -d", _SINE),
    ("q1 = -q1", _SINE),
    ("d = -d", _SINE, _UNIT),
    ("q1 = -q1", _SINE, _UNIT),
    ("d = -d", _UNIT),
):
    _wrong(
        "half_sign_check",
        "Only half of the sign check: where the dot product is negative, the quaternion *and* the "
        "dot product change their sign.",
        ("q1, d = -q1, -d", _half),
        *_more,
    )
_wrong(
    "lerp",
    "You blend the entries linearly: the result is not unit, so it is no rotation.",
    _first("return (1 - t) * q0 + t * q1"),
)
_wrong(
    "lerp",
    "You blend the entries linearly, without the sign check either: the result is not unit.",
    (_CHECK, "    return (1 - t) * q0 + t * q1\n"),
)
_wrong(
    "lerp_normalised",
    "You blend linearly and normalise: the path is right, the speed along it is not constant. "
    "Slerp weighs with sines of the angle.",
    _first("q = (1 - t) * q0 + t * q1", "return q / np.linalg.norm(q)"),
)
_wrong(
    "lerp_normalised",
    "You blend linearly and normalise, and the sign check is missing too. Slerp weighs with sines "
    "of the angle between the quaternions.",
    (_CHECK, "    q = (1 - t) * q0 + t * q1\n    return q / np.linalg.norm(q)\n"),
)
for _limit in ("0.95", "0.99", "0.995", "0.999", "0.9995", "0.9999", "0.99999"):
    for _blend in ("q0 + t * (q1 - q0)", "(q := q0 + t * (q1 - q0)) / np.linalg.norm(q)"):
        if _limit == "0.99999" and "norm" in _blend:
            continue  # right to about 1e-9: not a mistake
        _wrong(
            "lerp_too_early",
            "You switch to a linear blend at too large an angle: above a dot product of 0.9995 it "
            "is off by up to 1e-6 rad. The sines are exact to 1e-9 down to 1e-6 rad; switch below "
            "that.",
            _first(f"if d > {_limit}:", f"    return {_blend}"),
        )
for _edit in (
    _first("if d > 0.9995:", "    return q0"),
    ("s < 1e-12", "s < 1e-4"),
    ("s < 1e-12", "s < 1e-6"),
):
    _wrong(
        "small_turn_dropped",
        "You return one end for small angles: at 1e-6 rad and more the turn still counts. Switch "
        "to a linear blend there, or use `arctan2`.",
        _edit,
    )
_UNGUARDED = ("    if s < 1e-12:\n        return q0\n", "")
_UNCLIPPED = ("min(d, 1.0)", "d")
_NAN = (
    "NaN where the two are the same rotation: rounding lifts the dot product above 1 and `arccos` "
    "knows no such number"
)
_wrong(
    "division_by_zero",
    "Division by zero where the two are the same rotation: there the sine of the angle is zero; "
    "return either end (or blend linearly).",
    _UNGUARDED,
)
_wrong("division_by_zero", f"{_NAN} (clip it); and the sine is zero there.", _UNGUARDED, _UNCLIPPED)
_wrong("no_clip", f"{_NAN}. Clip it.", _UNCLIPPED)
_wrong(
    "no_clip",
    f"{_NAN}. Clip it, or compare with `>=`.",
    _UNCLIPPED,
    _first("if d == 1:", "    return q0"),
)
_ANGLE = "h = np.arccos(min(d, 1.0))"
_wrong(
    "angle_doubled",
    "The sines take the angle between the quaternions, `arccos(q0 . q1)`: half of the angle of the "
    "rotation. You use the whole.",
    (_ANGLE, "h = 2 * np.arccos(min(d, 1.0))"),
)
_wrong(
    "angle_doubled",
    "The angle in the sines is `arccos(q0 . q1)`, the angle between the quaternions; you halve it "
    "once more.",
    (_ANGLE, f"{_ANGLE} / 2"),
)
_wrong(
    "ends_exchanged",
    "The ends are exchanged: at `t = 0` the result must be `q0`.",
    (_SUM, "(np.sin(t * h) * q0 + np.sin((1 - t) * h) * q1) / s"),
)
_wrong(
    "minus", "The two weighted ends add up; you subtract them.", ("* q0 + np.sin", "* q0 - np.sin")
)
_wrong(
    "not_divided",
    "The division by the sine of the whole angle is missing: the result is not unit.",
    (") / s", ")"),
)
_wrong(
    "cosines",
    "You weigh with cosines; slerp weighs with sines, so that each end has weight 1 at its own "
    "time.",
    ("np.sin((1 - t) * h)", "np.cos(t * h)"),
)
for _line, _what in (("return q0", "one end"), ("return q1", "one end"), ("t = 0.5", "the middle")):
    _wrong("stays_at_start", f"You ignore `t`: the result is always {_what}.", _first(_line))
_wrong(
    "eased",
    "You bend the time (an ease-in); slerp turns at constant speed.",
    _first("t = t * t * (3 - 2 * t)"),
)
_wrong(
    "scalar_last",
    "The scalar part is last in what you return; here it comes first.",
    (f"return {_SUM}", f"return np.roll({_SUM}, -1)"),
)
_wrong(
    "vector_angle_from_w",
    "The angle comes from the dot product of all four entries, not of the vector parts.",
    ("d = q0 @ q1", "d = q0[1:] @ q1[1:]"),
)
_wrong(
    "modifies_input",
    "You write into an argument; work on a copy.",
    ("    q0, q1 = np.array(q0, float), np.array(q1, float)\n", ""),
    ("q1, d = -q1, -d", "q1 *= -1\n        d = -d"),
)

_wrong_power = exercise.slips("""\
def slerp(q0, q1, t):
    def mul(a, b):
        u, v = a[1:], b[1:]
        return np.array([a[0] * b[0] - u @ v, *(a[0] * v + b[0] * u + np.cross(u, v))])

    q0, q1 = np.array(q0, float), np.array(q1, float)
    if q0 @ q1 < 0:
        q1 = -q1
    conj = q0 * [1, -1, -1, -1]
    step = mul(conj, q1)
    s = np.linalg.norm(step[1:])
    if s < 1e-15:
        return q0
    h = np.arctan2(s, step[0])
    power = np.array([np.cos(t * h), *(np.sin(t * h) * step[1:] / s)])
    return mul(q0, power)
""")
_SIDE = (
    "The turn between the ends is applied on the wrong side: `q0 (conj(q0) q1)^t`, or "
    "`(q1 conj(q0))^t q0`."
)
_wrong_power("wrong_side", _SIDE, ("mul(q0, power)", "mul(power, q0)"))
_wrong_power("wrong_side", _SIDE, ("mul(conj, q1)", "mul(q1, conj)"))
_wrong_power("no_sign_check", _NO_SIGN, ("    if q0 @ q1 < 0:\n        q1 = -q1\n", ""))
_wrong_power(
    "turn_without_start",
    "You return the part of the turn that is done, without the start: multiply it to `q0`.",
    ("mul(q0, power)", "power"),
)


@exercise.variant("a linear blend for the smallest angles only")
def linear_below():
    def slerp(q0, q1, t):
        q0, q1 = np.asarray(q0, float), np.asarray(q1, float)
        d = float(np.dot(q0, q1))
        if d < 0:
            q0, d = -q0, -d
        if d > 1 - 1e-12:
            q = q0 + t * (q1 - q0)
            return q / np.linalg.norm(q)
        h = np.arccos(d)
        return (np.sin((1 - t) * h) * q0 + np.sin(t * h) * q1) / np.sin(h)


@exercise.variant("start, and the direction at right angles to it")
def orthonormal():
    def slerp(q0, q1, t):
        q0 = np.array(q0)
        q1 = np.array(q1) * (1 if np.dot(q0, q1) >= 0 else -1)
        aside = q1 - np.dot(q0, q1) * q0
        size = np.sqrt(aside @ aside)
        if size == 0:
            return list(q0)
        h = np.arctan2(size, np.dot(q0, q1))
        return list(np.cos(t * h) * q0 + np.sin(t * h) * aside / size)


@exercise.variant("the turn raised to the power t, in the body frame")
def power():
    import math

    def mul(a, b):
        w, x, y, z = a
        p, q, r, s = b
        return (
            w * p - x * q - y * r - z * s,
            w * q + x * p + y * s - z * r,
            w * r - x * s + y * p + z * q,
            w * s + x * r - y * q + z * p,
        )

    def slerp(q0, q1, t):
        step = mul((q0[0], -q0[1], -q0[2], -q0[3]), q1)
        if step[0] < 0:
            step = tuple(-c for c in step)
        s = math.sqrt(step[1] ** 2 + step[2] ** 2 + step[3] ** 2)
        if s < 1e-300:
            return tuple(q0)
        h = t * math.atan2(s, step[0])
        k = math.sin(h) / s
        return mul(q0, (math.cos(h), k * step[1], k * step[2], k * step[3]))


@exercise.variant("the matrix exponential of half the turn")
def exponential():
    from scipy.linalg import expm

    def slerp(q0, q1, t):
        q0, q1 = np.array(q0, float), np.array(q1, float)
        w, x, y, z = q0
        L = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        step = L.T @ q1
        if step[0] < 0:
            step = -step
        s = np.linalg.norm(step[1:])
        x, y, z = step[1:] * (np.arctan2(s, step[0]) / s * t if s > 0 else 0.0)
        G = np.array([[0, -x, -y, -z], [x, 0, -z, y], [y, z, 0, -x], [z, -y, x, 0]])
        return L @ expm(G)[:, 0]


@exercise.variant("halving: bisecting the arc")
def bisection():
    def slerp(q0, q1, t):
        a, b = np.array(q0, float), np.array(q1, float)
        if a @ b < 0:
            b = -b
        for _ in range(60):
            middle = a + b
            middle = middle / np.linalg.norm(middle)
            if t < 0.5:
                b, t = middle, 2 * t
            else:
                a, t = middle, 2 * t - 1
        return a
