"""`integrate_quat`: carry an orientation along a body-frame angular velocity."""

from __future__ import annotations

import inspect

import mujoco
import numpy as np

from course.exercises.compare import quaternion
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import unit
from course.exercises.implementation import Implementation


def mul(a, b):
    w, x, y, z = a
    W, X, Y, Z = b
    return np.array(
        [
            w * W - x * X - y * Y - z * Z,
            w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W,
        ]
    )


exercise = Exercise(
    "integrate_quat",
    points=3,
    provides=("integrate_quat",),
    core=True,
    by_hand=True,
    helpers=(mul,),
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


_WORLD = (
    "Your increment multiplies from the left, so it turns about world axes. `omega` is given in "
    "the body frame: the increment belongs on the right, q * exp (a wrong sign of the cross "
    "product does the same)."
)


@exercise.misconception(_WORLD, id="left_product")
def left_product():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle], q)


_HALF = (
    "The half angle is missing: a turn by an angle is the quaternion of its half, "
    "(cos(angle/2), sin(angle/2) axis). Yours turns twice as far."
)


@exercise.misconception(_HALF, id="missing_half_angle")
def missing_half_angle():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(q, np.r_[np.cos(angle), np.sin(angle) * phi / angle])


@exercise.misconception(_HALF, id="missing_half_angle")
def half_angle_in_the_cosine_only():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        out = mul(q, np.r_[np.cos(angle / 2), np.sin(angle) * phi / angle])
        return out / np.linalg.norm(out)


@exercise.misconception(_HALF, id="missing_half_angle")
def half_angle_in_the_sine_only():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        out = mul(q, np.r_[np.cos(angle), np.sin(angle / 2) * phi / angle])
        return out / np.linalg.norm(out)


@exercise.misconception(
    "The angle is halved twice: your result turns half as far as it should.", id="quarter_angle"
)
def quarter_angle():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(q, np.r_[np.cos(angle / 4), np.sin(angle / 4) * phi / angle])


_ADDS = (
    "You add the derivative of the quaternion and normalise. That leaves the unit sphere along "
    "its tangent and turns by the arctangent of half the angle: right only for tiny steps. Use "
    "the exponential, q * (cos(a/2), sin(a/2) axis)."
)


@exercise.misconception(_ADDS, id="adds_then_normalises")
def adds_then_normalises():
    def integrate_quat(quat, omega, dt):
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        out = q + 0.5 * dt * mul(q, np.r_[0.0, omega])
        return out / np.linalg.norm(out)


@exercise.misconception(_ADDS, id="adds_then_normalises")
def adds_without_the_half():
    def integrate_quat(quat, omega, dt):
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        out = q + dt * mul(q, np.r_[0.0, omega])
        return out / np.linalg.norm(out)


@exercise.misconception(_ADDS, id="adds_then_normalises")
def adds_from_the_left():
    def integrate_quat(quat, omega, dt):
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        out = q + 0.5 * dt * mul(np.r_[0.0, omega], q)
        return out / np.linalg.norm(out)


@exercise.misconception(_ADDS, id="adds_then_normalises")
def adds_to_the_vector_part():
    def integrate_quat(quat, omega, dt):
        out = np.array(quat, float) / np.linalg.norm(quat)
        out[1:] += 0.5 * dt * np.asarray(omega, float)
        return out / np.linalg.norm(out)


@exercise.misconception(_ADDS, id="adds_then_normalises")
def adds_the_rate_to_the_vector_part():
    def integrate_quat(quat, omega, dt):
        out = np.array(quat, float) / np.linalg.norm(quat)
        out[1:] += dt * np.asarray(omega, float)
        return out / np.linalg.norm(out)


_LEAVES = (
    "You add to the quaternion as if it were a vector: the result is not of unit length, and no "
    "rotation. Multiply by the exponential of the turn instead."
)


@exercise.misconception(_LEAVES, id="adds_plainly")
def adds_plainly():
    def integrate_quat(quat, omega, dt):
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        return q + 0.5 * dt * mul(q, np.r_[0.0, omega])


@exercise.misconception(_LEAVES, id="adds_plainly")
def adds_plainly_to_the_vector_part():
    def integrate_quat(quat, omega, dt):
        out = np.array(quat, float) / np.linalg.norm(quat)
        out[1:] += dt * np.asarray(omega, float)
        return out


@exercise.misconception(_LEAVES, id="adds_plainly")
def adds_half_plainly_to_the_vector_part():
    def integrate_quat(quat, omega, dt):
        out = np.array(quat, float) / np.linalg.norm(quat)
        out[1:] += 0.5 * dt * np.asarray(omega, float)
        return out


_REST = (
    "At rest your code divides zero by zero (the axis of no turn). Treat a vanishing angle "
    "apart: return the orientation as it is, or use a series for sin(a/2)/a."
)


@exercise.misconception(_REST, id="divides_by_zero_at_rest")
def divides_by_zero_at_rest():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        return mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])


@exercise.misconception(_REST, id="divides_by_zero_at_rest")
def raises_at_rest():
    import math

    def integrate_quat(quat, omega, dt):
        angle = math.sqrt(sum(float(x) ** 2 for x in omega)) * dt
        axis = [float(x) * dt / angle for x in omega]
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        return mul(q, [math.cos(angle / 2), *(math.sin(angle / 2) * x for x in axis)])


@exercise.misconception(
    "An input that is not quite of unit length comes out as long as it went in. Normalise the "
    "result (or the input): rounding errors add up over thousands of steps."
)
def keeps_the_wrong_norm():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        if angle < 1e-15:
            return np.array(quat, float)
        return mul(quat, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])


@exercise.misconception(
    "At rest your code returns the input as it is, without normalising it; the result must be of "
    "unit length there too."
)
def rest_keeps_the_wrong_norm():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        if angle < 1e-15:
            return np.array(quat, float)
        out = mul(quat, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])
        return out / np.linalg.norm(out)


@exercise.misconception(
    "Your code writes the result into the input quaternion. The caller's array must stay as it "
    "is: work on a copy (`np.array(quat, float)`)."
)
def writes_into_the_input():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        quat /= np.linalg.norm(quat)
        if angle >= 1e-15:
            quat[:] = mul(quat, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])
        return quat


_BACKWARD = "Your result turns backward: a sign is wrong in the increment or it is conjugated."


@exercise.misconception(_BACKWARD, id="turns_backward")
def turns_backward():
    def integrate_quat(quat, omega, dt):
        phi = -np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])


_LAST = (
    "Your quaternions hold the scalar part last; the course's order is (w, x, y, z), MuJoCo's own."
)


@exercise.misconception(_LAST, id="scalar_last")
def scalar_last_throughout():
    def mul(a, b):
        x, y, z, w = a
        X, Y, Z, W = b
        return np.array(
            [
                w * X + x * W + y * Z - z * Y,
                w * Y - x * Z + y * W + z * X,
                w * Z + x * Y - y * X + z * W,
                w * W - x * X - y * Y - z * Z,
            ]
        )

    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(q, np.r_[np.sin(angle / 2) * phi / angle, np.cos(angle / 2)])


@exercise.misconception(_LAST, id="scalar_last")
def scalar_last_result():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle >= 1e-15:
            q = mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])
        return np.roll(q, -1)


@exercise.misconception(_LAST, id="scalar_last")
def scalar_last_increment():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(q, np.r_[np.sin(angle / 2) * phi / angle, np.cos(angle / 2)])


@exercise.misconception(
    "The time step is left out: `omega` is a rate in rad/s, the turn is `omega * dt`."
)
def forgets_dt():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float)
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])


_AXIS = (
    "The axis in your increment is not of unit length: the sine multiplies the direction "
    "`omega / |omega|`, not `omega` itself."
)


@exercise.misconception(_AXIS, id="axis_not_normalised")
def axis_is_omega():
    def integrate_quat(quat, omega, dt):
        w = np.asarray(omega, float)
        angle = np.linalg.norm(w) * dt
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        return mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * w])


@exercise.misconception(_AXIS, id="axis_not_normalised")
def axis_is_omega_normalised_later():
    def integrate_quat(quat, omega, dt):
        w = np.asarray(omega, float)
        angle = np.linalg.norm(w) * dt
        q = np.asarray(quat, float)
        out = mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * w])
        return out / np.linalg.norm(out)


@exercise.misconception(_AXIS, id="axis_not_normalised")
def axis_is_phi():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        return mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi])


@exercise.misconception(
    "Only the increment comes back: the orientation that you started from is not multiplied in."
)
def returns_the_increment():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        if angle < 1e-15:
            return np.array([1.0, 0, 0, 0])
        return np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]


@exercise.misconception(
    "Your increments turn about x, y and z one after the other. An angular velocity turns about "
    "one axis, omega / |omega|, by one angle."
)
def three_turns_in_a_row():
    def integrate_quat(quat, omega, dt):
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        for i in range(3):
            half = omega[i] * dt / 2
            turn = np.zeros(4)
            turn[0], turn[1 + i] = np.cos(half), np.sin(half)
            q = mul(q, turn)
        return q


@exercise.misconception(
    "Your product of quaternions lacks the cross product: the vector part is w V + W v + v x V."
)
def product_without_cross():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        w, v = q[0], q[1:]
        W, V = np.cos(angle / 2), np.sin(angle / 2) * phi / angle
        out = np.r_[w * W - v @ V, w * V + W * v]
        return out / np.linalg.norm(out)


@exercise.misconception(
    "Small turns are skipped or cut short in your code (a threshold that is too large, or a "
    "series with too few terms used too far out)."
)
def threshold_too_large():
    def integrate_quat(quat, omega, dt):
        phi = np.asarray(omega, float) * dt
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 0.11:
            return q
        return mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])


@exercise.misconception(
    "`omega` is taken for degrees a second; the course's unit is rad/s everywhere."
)
def degrees():
    def integrate_quat(quat, omega, dt):
        phi = np.radians(np.asarray(omega, float) * dt)
        angle = np.linalg.norm(phi)
        q = np.asarray(quat, float) / np.linalg.norm(quat)
        if angle < 1e-15:
            return q
        return mul(q, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])


# More mistakes: the right answer with its turn (phi, in radians) or its last line put wrong.
CELL = """\
def integrate_quat(quat, omega, dt):
    q = np.asarray(quat, float) / np.linalg.norm(quat)
    omega = np.asarray(omega, float)
    speed = np.linalg.norm(omega)
    if speed < 1e-15:
        return {rest}
    phi = {phi}
    angle = np.linalg.norm(phi)
    axis = phi / angle
    turn = np.r_[np.cos(angle / 2), np.sin(angle / 2) * axis]
    back = turn * [1, -1, -1, -1]
    return {result}
"""
RIGHT = {"rest": "q", "phi": "omega * dt", "result": "mul(q, turn)"}


def _mistake(id: str, text: str, *changes: dict[str, str]) -> None:
    for change in changes:
        cell = inspect.getsource(mul) + "\n\n" + CELL.format(**(RIGHT | change))
        exercise.misconceptions.append(Implementation(id, text, cell))


_mistake(
    "left_product_and_no_half",
    "Two mistakes: the increment multiplies from the left (world axes; it belongs on the right), "
    "and the half angle is missing.",
    {"phi": "2 * omega * dt", "result": "mul(turn, q)"},
)
_mistake("turns_backward", _BACKWARD, {"result": "mul(back, q)"}, {"result": "mul(q, back)"})
_mistake(
    "conjugated",
    "Your result is the conjugate of the right one: it turns world axes into body axes. Give q "
    "itself.",
    {"result": "mul(q, turn) * [1, -1, -1, -1]"},
)
_mistake(
    "speed_lost",
    "The speed of the rotation is lost: your turn is dt about the axis, as if the rate were "
    "1 rad/s. The angle is |omega| dt.",
    {"phi": "omega / speed * dt"},
    {"phi": "omega / speed"},
)
_mistake(
    "dt_twice",
    "The time step is applied twice: the turn is `omega * dt`.",
    {"phi": "omega * dt * dt"},
)
_mistake(
    "degrees",
    "`omega` is taken for degrees a second, or the turn is converted into degrees; "
    "the course's unit is the radian everywhere.",
    {"phi": "np.degrees(omega * dt)"},
)
_mistake(
    "long_turns_cut",
    "Turns by more than half a turn are cut or folded in your code. Nothing has to be done about "
    "them: sine and cosine go on.",
    {"phi": "omega / speed * min(speed * dt, np.pi)"},
    {"phi": "omega / speed * ((speed * dt) % np.pi)"},
    {"phi": "omega / speed * min(speed * dt, 2 * np.pi)"},
)
_mistake(
    "rest_becomes_identity",
    "At rest your code returns the identity: no turn means that the orientation stays as it is.",
    {"rest": "np.array([1.0, 0, 0, 0])"},
)
_mistake(
    "drops_the_sign",
    "A number of your result has lost its sign (an absolute value): that is another orientation.",
    {"result": "np.abs(mul(q, turn))"},
    {"result": "(lambda r: np.r_[abs(r[0]), r[1:]])(mul(q, turn))"},
)

_NORM = (
    "The length of `omega` is wrong: it is the square root of the sum of squares "
    "(`np.linalg.norm`), not the sum of its entries."
)
for _speed in ("omega.sum()", "np.abs(omega).sum()", "np.abs(omega).max()", "omega @ omega"):
    _turn = f"np.r_[np.cos({_speed} * dt / 2), np.sin({_speed} * dt / 2) * omega / ({_speed})]"
    _mistake(
        "wrong_length",
        _NORM,
        {"result": f"mul(q, {_turn}) / np.linalg.norm({_turn})"},
        {"result": f"mul(q, {_turn})"},
    )
_mistake(
    "constant",
    "Your result is always the same: the lesson's example typed in. Compute it from `quat`, "
    "`omega` and `dt`.",
    {"rest": "np.array([0.5935, 0.2151, 0.4302, 0.6453])"}
    | {"result": "np.array([0.5935, 0.2151, 0.4302, 0.6453])"},
)
for _limit in ("1e-3", "1e-6"):
    _mistake(
        "slow_turns_dropped",
        "A slow turn comes out as no turn: the threshold below which your code sees no turn is too "
        "large. Only a rate of exactly zero (or next to it, 1e-12) is at rest.",
        {"result": f"q if angle < {_limit} else mul(q, turn)"},
        {"result": f"q if speed < {_limit} else mul(q, turn)"},
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
