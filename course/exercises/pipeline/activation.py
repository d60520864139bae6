"""`activation`: a first-order filter, by Euler's rule and exactly."""

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import number, variants

exercise = Exercise("activation", points=3, provides=("filter_euler", "filter_exact"))

_MOTOR = """
<mujoco>
  <worldbody><body><joint name="j"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><general joint="j" dyntype="{kind}" dynprm="1"/></actuator>
</mujoco>
"""


def _after_one_step(kind, act, ctrl, tau, dt):
    model = mujoco.MjModel.from_xml_string(_MOTOR.format(kind=kind))
    model.actuator_dynprm[0, 0] = tau
    model.opt.timestep = dt
    data = mujoco.MjData(model)
    data.act[0], data.ctrl[0] = act, ctrl
    mujoco.mj_step(model, data)
    return float(data.act[0])


@exercise.reference
def reference():
    def filter_euler(act, ctrl, tau, dt):
        return _after_one_step("filter", act, ctrl, tau, dt)

    def filter_exact(act, ctrl, tau, dt):
        return _after_one_step("filterexact", act, ctrl, tau, dt)

    return {"filter_euler": filter_euler, "filter_exact": filter_exact}


def _both(act, ctrl, tau, dt, label=""):
    args = (float(act), float(ctrl), float(tau), float(dt))
    return [
        call(name, *args, label=label, observe=lambda outcome: number(outcome.value))
        for name in exercise.provides
    ]


def _random(seed, count):
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        act, ctrl = rng.uniform(-1, 1.5, 2)
        tau = rng.uniform(0.05, 0.8)
        cases += _both(act, ctrl, tau, tau * rng.uniform(0.05, 0.9))
    return cases


@exercise.part("rising", points=1)
def rising():
    return [
        *_random(1, 8),
        *_both(0, 1, 0.3, 0.3, "one time constant, from 0 to 1"),
        *_both(0, 1, 0.2, 0.02, "from 0 to 1"),
        *_both(0.2, 1, 0.5, 0.01, "part of the way"),
        *_both(0.4, 2.5, 0.1, 0.03, "beyond 1"),
    ]


@exercise.part("falling, resting, below zero", points=1)
def falling():
    return [
        *_random(2, 5),
        *_both(1, 0, 0.3, 0.05, "from 1 to 0"),
        *_both(0.6, -0.9, 0.25, 0.1, "from above to below zero"),
        *_both(0.7, 0.7, 0.25, 0.1, "already there"),
        *_both(0.5, 0.2, 0.4, 0.0, "a step of no length"),
    ]


@exercise.part("a step much longer than the time constant", points=1)
def long_step():
    return [
        *_random(3, 3),
        *_both(0, 1, 0.01, 0.05, "dt = 5 tau"),
        *_both(1, 0, 0.01, 0.2, "dt = 20 tau, falling"),
        *_both(0.3, 0.8, 0.002, 0.5, "dt = 250 tau"),
    ]


GOOD = """\
def filter_euler(act, ctrl, tau, dt):
    return act + dt * (ctrl - act) / tau


def filter_exact(act, ctrl, tau, dt):
    return ctrl + (act - ctrl) * np.exp(-dt / tau)
"""
_EULER = "act + dt * (ctrl - act) / tau"
_EXACT = "ctrl + (act - ctrl) * np.exp(-dt / tau)"
_wrong = exercise.slips(GOOD)
_wrong(
    "exchanged",
    "The two are exchanged: Euler's rule takes the slope (ctrl - act)/tau at the start for the "
    "whole step, the exact one has exp(-dt/tau).",
    (_EULER, "EULER"),
    (_EXACT, _EULER),
    ("EULER", _EXACT),
)
_wrong(
    "both_euler",
    "Your exact step is Euler's rule again. The solution of act' = (ctrl - act)/tau is "
    "ctrl + (act - ctrl) exp(-dt/tau).",
    (_EXACT, _EULER),
)
_wrong(
    "both_exact",
    "Your Euler step is the exact solution. Euler's rule is act + dt (ctrl - act)/tau.",
    (_EULER, _EXACT),
)
_RATIO_INVERTED = (
    "ratio_inverted",
    "You have tau/dt where dt/tau belongs: a longer step or a shorter time constant moves further.",
)
_wrong(
    *_RATIO_INVERTED,
    (_EULER, "act + tau * (ctrl - act) / dt if dt else act"),
    ("-dt / tau", "-tau / dt if dt else 0.0"),
)
_wrong(*_RATIO_INVERTED, (_EULER, "act + tau * (ctrl - act) / dt if dt else act"))
_wrong(*_RATIO_INVERTED, ("-dt / tau", "-tau / dt if dt else 0.0"))
_wrong(
    "multiplied_by_tau",
    "You multiply by tau; a longer time constant must make it slower: divide by tau.",
    ("/ tau", "* tau"),
)
_wrong(
    "from_zero",
    "Your step starts from 0 whatever `act` is: it must start from the present activation.",
    (_EULER, "dt * ctrl / tau"),
    (_EXACT, "ctrl * (1 - np.exp(-dt / tau))"),
)
_wrong(
    "no_decay",
    "Your slope is ctrl/tau: an activation with no control would never fall. "
    "It is (ctrl - act)/tau.",
    (_EULER, "act + dt * ctrl / tau"),
    (_EXACT, "act + ctrl * (1 - np.exp(-dt / tau))"),
)
_wrong(
    "sign_of_exponent",
    "Your exponential grows: the exponent is -dt/tau.",
    ("np.exp(-dt / tau)", "np.exp(min(dt / tau, 300.0))"),
)
_wrong(
    "sign_of_slope",
    "Your activation moves away from the control: the slope is (ctrl - act)/tau.",
    ("act + dt * (ctrl - act)", "act - dt * (ctrl - act)"),
)
_RETURNS_RATE = (
    "returns_rate",
    "You return how fast or how much it changes, not the new activation.",
)
_wrong(
    *_RETURNS_RATE,
    (_EULER, "(ctrl - act) / tau"),
    (_EXACT, "(ctrl - act) * (1 - np.exp(-dt / tau))"),
)
_wrong(
    *_RETURNS_RATE,
    (_EULER, "dt * (ctrl - act) / tau"),
    (_EXACT, "(ctrl - act) * (1 - np.exp(-dt / tau))"),
)
_wrong(
    "decays_to_zero",
    "Your exact step decays to 0 instead of to the control: only the difference act - ctrl decays.",
    (_EXACT, "act * np.exp(-dt / tau)"),
)
_wrong(
    "weights_exchanged",
    "The weights are exchanged: after a short step most of the old activation is left.",
    (_EULER, "ctrl + dt * (act - ctrl) / tau"),
    (_EXACT, "act + (ctrl - act) * np.exp(-dt / tau)"),
)
_CLAMPED = (
    "clamped",
    "You clamp the activation to 0..1, or stop it at the control. A filter has no clamp: with "
    "dt > tau Euler's rule overshoots, and the exercise asks for just that.",
)
_wrong(
    *_CLAMPED,
    (_EULER, f"float(np.clip({_EULER}, 0, 1))"),
    (_EXACT, f"float(np.clip({_EXACT}, 0, 1))"),
)
_wrong(*_CLAMPED, ("dt * (ctrl - act) / tau", "min(dt / tau, 1.0) * (ctrl - act)"))
_wrong(
    "implicit",
    "Yours is the backward (implicit) Euler step; the filter takes the slope at the start: "
    "act + dt (ctrl - act)/tau.",
    (_EULER, "(act + dt / tau * ctrl) / (1 + dt / tau)"),
)
_wrong(
    "base_two",
    "A time constant is not a half-life: the factor is exp(-dt/tau).",
    ("np.exp(-dt / tau)", "2.0 ** (-dt / tau)"),
)

_wrong(
    "no_tau",
    "The time constant is missing: the slope is (ctrl - act)/tau, the exponent -dt/tau.",
    ("(ctrl - act) / tau", "(ctrl - act)"),
    ("-dt / tau", "-dt"),
)
_TRUNCATED_SERIES = (
    "truncated_series",
    "Your exact step is a few terms of the series of the exponential; use np.exp(-dt / tau).",
)
_wrong(*_TRUNCATED_SERIES, ("np.exp(-dt / tau)", "(1 - dt / tau + (dt / tau) ** 2 / 2)"))
_wrong(
    *_TRUNCATED_SERIES,
    ("np.exp(-dt / tau)", "(1 - dt / tau + (dt / tau) ** 2 / 2 - (dt / tau) ** 3 / 6)"),
)
_SMALL_STEPS = (
    "small_steps",
    "Many small Euler steps come close to the exact solution and never reach it; use the "
    "exponential.",
)
_wrong(*_SMALL_STEPS, ("np.exp(-dt / tau)", "(1 - dt / tau / 1000) ** 1000"))
_wrong(*_SMALL_STEPS, ("np.exp(-dt / tau)", "(1 - dt / tau / 100) ** 100"))
_wrong(
    "both_decay",
    "The control does not decay: only the difference act - ctrl does.",
    (_EXACT, "(act + ctrl) * np.exp(-dt / tau)"),
)
_wrong(
    "difference_reversed",
    "What decays is act - ctrl, not ctrl - act: with dt = 0 the activation must be `act`.",
    (_EXACT, "ctrl + (ctrl - act) * np.exp(-dt / tau)"),
)

_wrong(
    "no_time_step",
    "Your Euler step does not contain dt: it adds the whole slope (ctrl - act)/tau.",
    (_EULER, "act + (ctrl - act) / tau"),
)

_right = variants(exercise)
_right(
    "as_blends",
    """\
def filter_euler(act, ctrl, tau, dt):
    a = dt / tau
    return (1 - a) * act + a * ctrl

def filter_exact(act, ctrl, tau, dt):
    return act - (ctrl - act) * np.expm1(-dt / tau)
""",
)
_right(
    "by_the_matrix_exponential",
    """\
filter_euler = lambda act, ctrl, tau, dt: np.array([1, dt / tau]) @ [act, ctrl - act]

def filter_exact(act, ctrl, tau, dt):
    from scipy.linalg import expm
    A = np.array([[-1 / tau, 1 / tau], [0.0, 0.0]])
    return (expm(A * dt) @ np.array([act, ctrl]))[0]
""",
)
_right(
    "by_mujoco",
    '''\
def step(kind, act, ctrl, tau, dt):
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>
    <actuator><general joint="j" dyntype="{kind}"/></actuator></mujoco>""")
    model.opt.timestep, model.actuator_dynprm[0, 0] = dt, tau
    data = mujoco.MjData(model)
    data.act, data.ctrl = act, ctrl
    mujoco.mj_step(model, data)
    return data.act[0]

def filter_euler(act, ctrl, tau, dt):
    return step("filter", act, ctrl, tau, dt)

def filter_exact(act, ctrl, tau, dt):
    return step("filterexact", act, ctrl, tau, dt)
''',
)
