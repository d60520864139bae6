"""`integrate_quat`: carry an orientation along a body-frame angular velocity."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import quaternion
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.quaternions import written_out
from course.exercises.generalized_coordinates.scenes import unit

exercise = Exercise(
    "integrate_quat",
    points=3,
    provides=("integrate_quat",),
    core=True,
    by_hand=True,
)


@exercise.reference
def reference():
    def integrate_quat(quat, omega, dt):
        out = np.array(quat, float)
        out /= np.linalg.norm(out)
        mujoco.mju_quatIntegrate(out, np.array(omega, float), float(dt))
        return out / np.linalg.norm(out)

    return {"integrate_quat": integrate_quat}


def step(
    quat: np.ndarray, omega: np.ndarray, dt: float, label: str = "", unchanged: bool = False
) -> Case:
    return call(
        "integrate_quat",
        quat,
        omega,
        dt,
        label=label,
        compare=quaternion(1e-10),
        unchanged=unchanged,
    )


def ordinary_cases(seed: int, count: int) -> list[Case]:
    rng = np.random.default_rng(seed)
    return [
        step(unit(rng), unit(rng, 3) * rng.uniform(0.3, 4), rng.uniform(0.05, 0.7))
        for _ in range(count)
    ]


@exercise.part("ordinary turns", points=1)
def ordinary():
    lesson = step(np.array([1.0, 0, 0, 0]), np.array([1.0, 2.0, 3.0]), 0.5, "the lesson's example")
    return [*ordinary_cases(20, 20), lesson]


@exercise.part("edge cases: at rest, tiny and long turns", points=1)
def edges():
    rng = np.random.default_rng(21)
    cases = ordinary_cases(22, 4)
    for _ in range(3):
        cases.append(step(unit(rng), np.zeros(3), 0.1, "at rest"))
        cases.append(step(unit(rng), unit(rng, 3) * 1e-12, 0.5, "a rate of 1e-12 rad/s"))
        cases.append(step(unit(rng), unit(rng, 3) * 2e-5, 0.5, "a turn of 1e-5 rad"))
        cases.append(step(unit(rng), unit(rng, 3) * 4e-7, 0.5, "a turn of 2e-7 rad"))
        cases.append(step(unit(rng), unit(rng, 3) * rng.uniform(8, 12), 1.0, "more than a turn"))
        cases.append(step(unit(rng), unit(rng, 3) * 5.0, 1.0, "more than half a turn"))
    cases.append(step(np.array([1.0, 0, 0, 0]), np.array([0.0, 0, np.pi]), 1.0, "half a turn"))
    cases.append(step(np.array([0.0, 1, 0, 0]), np.array([0.0, 0, 2]), 0.05, "about one axis"))
    return cases


@exercise.part("contract: a unit result, inputs left alone", points=1)
def contract():
    rng = np.random.default_rng(23)
    cases = []
    for _ in range(6):
        omega = unit(rng, 3) * rng.uniform(0.3, 4)
        cases.append(step(unit(rng), omega, rng.uniform(0.05, 0.7), unchanged=True))
    for factor, label in (
        (1 + 1e-7, "input off unit by rounding"),
        (1.02, "input 2 percent too long"),
        (0.5, "input of norm 0.5"),
        (3.0, "input of norm 3"),
    ):
        for _ in range(2):
            omega = unit(rng, 3) * rng.uniform(0.3, 4)
            cases.append(step(unit(rng) * factor, omega, rng.uniform(0.05, 0.7), label))
    cases.append(step(unit(rng) * 1.02, np.zeros(3), 0.1, "off unit and at rest"))
    return cases


GOOD = """\
def integrate_quat(quat, omega, dt):
    q = normalised(np.asarray(quat, float))
    phi = np.asarray(omega, float) * dt
    angle = np.linalg.norm(phi)
    if angle < 1e-15:
        return q
    turn = np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]
    return mul(q, turn)
"""
_wrong = exercise.slips(written_out(GOOD))

_wrong(
    "left_product",
    "Your increment multiplies from the left, so it turns about world axes. `omega` is given in "
    "the body frame: the increment belongs on the right, q * exp (a wrong sign of the cross "
    "product does the same).",
    ("mul(q, turn)", "mul(turn, q)"),
)

_HALF = (
    "The half angle is missing: a turn by an angle is the quaternion of its half, "
    "(cos(angle/2), sin(angle/2) axis). Yours turns twice as far."
)
_UNIT = ("mul(q, turn)", "normalised(mul(q, turn))")
_wrong("missing_half_angle", _HALF, ("angle / 2", "angle"))
_wrong("missing_half_angle", _HALF, ("sin(angle / 2)", "sin(angle)"), _UNIT)
_wrong("missing_half_angle", _HALF, ("cos(angle / 2)", "cos(angle)"), _UNIT)
_wrong(
    "quarter_angle",
    "The angle is halved twice: your result turns half as far as it should.",
    ("angle / 2", "angle / 4"),
)
_wrong(
    "left_product_and_no_half",
    "Two mistakes: the increment multiplies from the left (world axes; it belongs on the right), "
    "and the half angle is missing.",
    ("angle / 2", "angle"),
    ("mul(q, turn)", "mul(turn, q)"),
)

for _sum in (
    "q + 0.5 * mul(q, np.r_[0.0, phi])",
    "q + mul(q, np.r_[0.0, phi])",
    "q + 0.5 * mul(np.r_[0.0, phi], q)",
    "q + np.r_[0.0, 0.5 * phi]",
    "q + np.r_[0.0, phi]",
):
    _wrong(
        "adds_then_normalises",
        "You add the derivative of the quaternion and normalise. That leaves the unit sphere along "
        "its tangent and turns by the arctangent of half the angle: right only for tiny steps. Use "
        "the exponential, q * (cos(a/2), sin(a/2) axis).",
        ("mul(q, turn)", f"normalised({_sum})"),
    )
for _sum in (
    "q + 0.5 * mul(q, np.r_[0.0, phi])",
    "q + np.r_[0.0, phi]",
    "q + np.r_[0.0, 0.5 * phi]",
):
    _wrong(
        "adds_plainly",
        "You add to the quaternion as if it were a vector: the result is not of unit length, and "
        "no rotation. Multiply by the exponential of the turn instead.",
        ("mul(q, turn)", _sum),
    )

for _instead in ("", "    1 / float(angle)\n"):
    _wrong(
        "divides_by_zero_at_rest",
        "At rest your code divides zero by zero (the axis of no turn). Treat a vanishing angle "
        "apart: return the orientation as it is, or use a series for sin(a/2)/a.",
        ("    if angle < 1e-15:\n        return q\n", _instead),
    )
_wrong(
    "keeps_the_wrong_norm",
    "An input that is not quite of unit length comes out as long as it went in. Normalise the "
    "result (or the input): rounding errors add up over thousands of steps.",
    ("normalised(np.asarray(quat, float))", "np.array(quat, float)"),
)
_wrong(
    "rest_keeps_the_wrong_norm",
    "At rest your code returns the input as it is, without normalising it; the result must be of "
    "unit length there too.",
    ("        return q\n", "        return np.array(quat, float)\n"),
)
_wrong(
    "rest_becomes_identity",
    "At rest your code returns the identity: no turn means that the orientation stays as it is.",
    ("        return q\n", "        return np.array([1.0, 0, 0, 0])\n"),
)
_wrong(
    "writes_into_the_input",
    "Your code writes the result into the input quaternion. The caller's array must stay as it "
    "is: work on a copy (`np.array(quat, float)`).",
    ("q = normalised(np.asarray(quat, float))", "quat /= np.linalg.norm(quat)\n    q = quat"),
    ("return mul(q, turn)", "quat[:] = mul(q, turn)\n    return quat"),
)

_BACKWARD = "Your result turns backward: a sign is wrong in the increment or it is conjugated."
_wrong("turns_backward", _BACKWARD, (" * dt", " * -dt"))
_wrong("turns_backward", _BACKWARD, ("mul(q, turn)", "mul(conj(turn), q)"))
_wrong("turns_backward", _BACKWARD, ("mul(q, turn)", "mul(q, conj(turn))"))
_wrong(
    "conjugated",
    "Your result is the conjugate of the right one: it turns world axes into body axes. Give q "
    "itself.",
    ("mul(q, turn)", "conj(mul(q, turn))"),
)

_LAST = (
    "Your quaternions hold the scalar part last; the course's order is (w, x, y, z), MuJoCo's own."
)
_LAST_TURN = "np.r_[np.sin(angle / 2) * phi / angle, np.cos(angle / 2)]"
_wrong("scalar_last", _LAST, ("mul(q, turn)", "np.roll(mul(np.roll(q, 1), turn), -1)"))
_wrong(
    "scalar_last",
    _LAST,
    ("mul(q, turn)", "np.roll(mul(q, turn), -1)"),
    ("        return q\n", "        return np.roll(q, -1)\n"),
)
_wrong(
    "scalar_last",
    _LAST,
    ("np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]", _LAST_TURN),
)

_wrong(
    "forgets_dt",
    "The time step is left out: `omega` is a rate in rad/s, the turn is `omega * dt`.",
    (" * dt", ""),
)
_wrong(
    "dt_twice",
    "The time step is applied twice: the turn is `omega * dt`.",
    (" * dt", " * dt * dt"),
)
for _turned in ("np.radians(dt)", "np.degrees(dt)"):
    _wrong(
        "degrees",
        "`omega` is taken for degrees a second, or the turn is converted into degrees; "
        "the course's unit is the radian everywhere.",
        (" * dt", f" * {_turned}"),
    )

_AXIS = (
    "The axis in your increment is not of unit length: the sine multiplies the direction "
    "`omega / |omega|`, not `omega` itself."
)
_wrong("axis_not_normalised", _AXIS, ("phi / angle", "phi / dt"))
_wrong("axis_not_normalised", _AXIS, ("phi / angle", "phi / dt"), _UNIT)
_wrong("axis_not_normalised", _AXIS, ("phi / angle", "phi"))
for _angle in ("dt / 2", "1 / 2"):
    _wrong(
        "speed_lost",
        "The speed of the rotation is lost: your turn is dt about the axis, as if the rate were "
        "1 rad/s. The angle is |omega| dt.",
        ("angle / 2", _angle),
    )
for _length in ("phi.sum()", "np.abs(phi).sum()", "np.abs(phi).max()", "(phi @ phi / dt)"):
    for _result in ("mul(q, turn)", "normalised(mul(q, turn))"):
        _wrong(
            "wrong_length",
            "The length of `omega` is wrong: it is the square root of the sum of squares "
            "(`np.linalg.norm`), not the sum of its entries.",
            ("angle / 2", f"{_length} / 2"),
            ("phi / angle", f"phi / {_length}"),
            ("mul(q, turn)", _result),
        )
for _angle in ("min(angle, np.pi)", "(angle % np.pi)", "min(angle, 2 * np.pi)"):
    _wrong(
        "long_turns_cut",
        "Turns by more than half a turn are cut or folded in your code. Nothing has to be done "
        "about them: sine and cosine go on.",
        ("angle / 2", f"{_angle} / 2"),
    )

_wrong(
    "returns_the_increment",
    "Only the increment comes back: the orientation that you started from is not multiplied in.",
    ("        return q\n", "        return np.array([1.0, 0, 0, 0])\n"),
    ("mul(q, turn)", "turn"),
)
_wrong(
    "three_turns_in_a_row",
    "Your increments turn about x, y and z one after the other. An angular velocity turns about "
    "one axis, omega / |omega|, by one angle.",
    (
        "    return mul(q, turn)",
        "    for i in range(3):\n"
        "        one = np.zeros(4)\n"
        "        one[0], one[1 + i] = np.cos(phi[i] / 2), np.sin(phi[i] / 2)\n"
        "        q = mul(q, one)\n"
        "    return q",
    ),
)
_wrong(
    "product_without_cross",
    "Your product of quaternions lacks the cross product: the vector part is w V + W v + v x V.",
    (
        "mul(q, turn)",
        "normalised(\n"
        "        np.r_[q[0] * turn[0] - q[1:] @ turn[1:], q[0] * turn[1:] + turn[0] * q[1:]]\n"
        "    )",
    ),
)
_SIGN = (
    "A number of your result has lost its sign (an absolute value): that is another orientation."
)
_wrong("drops_the_sign", _SIGN, ("mul(q, turn)", "np.abs(mul(q, turn))"))
_wrong(
    "drops_the_sign",
    _SIGN,
    ("return mul(q, turn)", "out = mul(q, turn)\n    out[0] = abs(out[0])\n    return out"),
)
_EXAMPLE = "np.array([0.5935, 0.2151, 0.4302, 0.6453])"
_wrong(
    "constant",
    "Your result is always the same: the lesson's example typed in. Compute it from `quat`, "
    "`omega` and `dt`.",
    ("        return q\n", f"        return {_EXAMPLE}\n"),
    ("mul(q, turn)", _EXAMPLE),
)

_wrong(
    "threshold_too_large",
    "Small turns are skipped or cut short in your code (a threshold that is too large, or a "
    "series with too few terms used too far out).",
    ("1e-15", "0.11"),
)
for _slow in ("angle < 1e-3", "angle / dt < 1e-3", "angle < 1e-6", "angle / dt < 1e-6"):
    _wrong(
        "slow_turns_dropped",
        "A slow turn comes out as no turn: the threshold below which your code sees no turn is too "
        "large. Only a rate of exactly zero (or next to it, 1e-12) is at rest.",
        ("mul(q, turn)", f"q if {_slow} else mul(q, turn)"),
    )


@exercise.variant("the product as a 4 x 4 matrix")
def by_matrix():
    def integrate_quat(quat, omega, dt):
        w, x, y, z = np.asarray(quat, float) / np.linalg.norm(quat)
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        half = 0.5 * dt * np.asarray(omega, float)
        angle = np.sqrt(half @ half)
        return left @ np.concatenate([[np.cos(angle)], np.sinc(angle / np.pi) * half])


@exercise.variant("the matrix exponential of the rate, from SciPy's linear algebra")
def by_matrix_exponential():
    from scipy.linalg import expm

    def integrate_quat(quat, omega, dt):
        a, b, c = omega
        rate = 0.5 * np.array([[0, -a, -b, -c], [a, 0, c, -b], [b, -c, 0, a], [c, b, -a, 0]])
        out = expm(rate * dt) @ quat
        return (out / np.linalg.norm(out)).tolist()


@exercise.variant("plain Python, a tuple comes back")
def plain_python():
    import math

    def integrate_quat(quat, omega, dt):
        w, x, y, z = (float(c) for c in quat)
        a, b, c = (float(o) * dt / 2 for o in omega)
        n = math.hypot(a, b, c)
        s = math.sin(n) / n if n > 0 else 1.0
        W, X, Y, Z = math.cos(n), s * a, s * b, s * c
        out = (
            w * W - x * X - y * Y - z * Z,
            w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W,
        )
        norm = math.hypot(*out)
        return tuple(-c / norm for c in out)


@exercise.variant("many small steps on a complex 2 x 2 matrix")
def by_pauli_matrices():
    def integrate_quat(quat, omega, dt):
        def matrix(w, v):
            return np.array([[w - 1j * v[2], -v[1] - 1j * v[0]], [v[1] - 1j * v[0], w + 1j * v[2]]])

        q = np.array(quat, float)
        q /= np.linalg.norm(q)
        phi = np.asarray(omega, float) * dt
        angle = float(np.linalg.norm(phi))
        axis = phi / angle if angle else np.zeros(3)
        m = matrix(q[0], q[1:]) @ matrix(np.cos(angle / 2), np.sin(angle / 2) * axis)
        return np.array([m[0, 0].real, -m[0, 1].imag, m[1, 0].real, m[1, 1].imag])
