"""`env_step`: one step after which positions and frames describe the new instant."""

from __future__ import annotations

import functools

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, script
from course.exercises.env_conventions import rigs

exercise = Exercise("env_step", points=2, provides=("env_step",), core=True)

_SPRINGY = """
<mujoco>
  <option timestep="0.005" integrator="implicitfast"/>
  <worldbody>
    <body name="a" pos="0 0 1">
      <joint name="a" axis="0 1 0" damping="0.3" stiffness="4"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
      <body name="b" pos="0.4 0 0">
        <joint name="b" axis="0 1 0" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.03"/>
        <site name="tip" pos="0.3 0 0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="m" joint="b" gear="2"/><position name="p" joint="a" kp="10"/></actuator>
  <sensor>
    <framepos objtype="site" objname="tip"/><framelinvel objtype="site" objname="tip"/>
    <accelerometer site="tip"/><force site="tip"/><actuatorfrc actuator="p"/>
  </sensor>
</mujoco>
"""


@functools.cache
def _springy() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(_SPRINGY)


@exercise.reference
def reference():
    def env_step(model, data):
        mujoco.mj_step2(model, data)
        mujoco.mj_step1(model, data)

    return {"env_step": env_step}


def _data(seed: int, model: mujoco.MjModel) -> mujoco.MjData:
    """A moving state whose commands were changed after everything was computed."""
    data = rigs.moving(seed, model)
    rng = np.random.default_rng(seed + 1000)
    data.ctrl[:] = rng.uniform(-1.4, 1.4, model.nu)
    return data


STATE = ("qpos", "qvel", "time", "act", "ctrl", "xfrc_applied", "qfrc_applied")
FRESH = ("xpos", "xquat", "site_xpos", "site_xmat", "sensordata", "actuator_length")
STEP = ("qacc",)


def _fields(names):
    def observe(outcome):
        after = outcome.args_after[1]
        return {name: np.array(getattr(after, name)) for name in names}

    return observe


def _step(seed, model, names, label):
    return call(
        "env_step",
        model,
        _data(seed, model),
        label=label,
        observe=_fields(names),
        compare=each(close(1e-8, rtol=1e-9)),
    )


def _two_steps(seed, model, label):
    """Two calls in a row: the second finds what the first has left."""

    def run(door):
        data = _data(seed, model)
        for _ in range(2):
            outcome = door.call("env_step", model, data)
            outcome.result()
            outcome.args_after[1].apply_to(data)
        return {name: np.array(getattr(data, name)) for name in STATE + FRESH}

    return script(label, run, compare=each(close(1e-8, rtol=1e-9)))


@exercise.part("the step: state, frames and position sensors of the new instant", points=1)
def fresh():
    cases = []
    for i in range(3):
        cases.append(_step(800 + i, rigs.arm(), STATE + FRESH, "an arm in motion"))
        cases.append(_step(810 + i, _springy(), STATE + FRESH, "a springy pendulum"))
    return [*cases, _two_steps(816, _springy(), "two steps in a row")]


@exercise.part("force and acceleration sensors of the step just taken", points=1)
def accelerations():
    cases = []
    for i in range(2):
        cases.append(
            _step(820 + i, rigs.arm(), ("sensordata", *STEP, "time"), "sensors after the step")
        )
        cases.append(
            _step(830 + i, _springy(), ("sensordata", *STEP, "qpos"), "sensors after the step")
        )
    return cases


# Misconceptions: the two halves with something else in their place.
_FIRST, _SECOND = "    mujoco.mj_step2(model, data)\n", "    mujoco.mj_step1(model, data)\n"
_BOTH = _FIRST + _SECOND
_RIGHT = f"def env_step(model, data):\n{_BOTH}"

slip = exercise.slips(_RIGHT)


def _calls(*names: str) -> tuple[str, str]:
    """An edit: these functions of MuJoCo in place of the two halves."""
    return _BOTH, "".join(f"    mujoco.{name}(model, data)\n" for name in names)


# Frames and sensors of the wrong instant
slip(
    "plain_mj_step",
    "`mj_step` leaves frames and sensors at the old instant: it computes them before it moves. "
    "Call `mj_step2`, then `mj_step1`, and they describe the new one.",
    _calls("mj_step"),
)
slip(
    "step1_then_step2",
    "`mj_step1`, then `mj_step2`, is `mj_step` again: frames and sensors stay at the old instant. "
    "Turn the two halves round: step2 finishes the step, step1 prepares the next.",
    _calls("mj_step1", "mj_step2"),
)
slip(
    "plain_mj_step",
    "`mj_forward` before the step does nothing new: frames and sensors are still those of the "
    "instant before the step.",
    _calls("mj_forward", "mj_step"),
)
slip(
    "step2_only",
    "Only `mj_step2` is called: the state moves, but frames and sensors stay at the old instant. "
    "`mj_step1` has to follow.",
    _calls("mj_step2"),
)
slip(
    "forward_after_the_step",
    "`mj_forward` after the step makes everything new, the force and acceleration sensors too: "
    "they then describe an instant in which nothing has happened yet. `mj_step2`, then `mj_step1`,"
    " leaves them at the step just taken.",
    _calls("mj_step", "mj_forward"),
)
slip(
    "kinematics_only",
    "Frames are brought up to date, sensors are not: `mj_kinematics` alone leaves `sensordata` at "
    "the old instant. `mj_step1` does both.",
    _calls("mj_step", "mj_kinematics"),
)
slip(
    "kinematics_only",
    "Frames are brought up to date, sensors are not: position-level functions alone leave "
    "`sensordata` at the old instant. `mj_step1` does both.",
    _calls("mj_step", "mj_fwdPosition"),
)

# No step, or more than one
slip(
    "step1_only",
    "Only `mj_step1` is called: nothing moves. `mj_step2` comes first.",
    _calls("mj_step1"),
)
slip(
    "step1_only",
    "Nothing moves: `mj_forward` computes accelerations but takes no step.",
    _calls("mj_forward"),
)
slip(
    "clock_only",
    "Only the clock moves: the state has to be advanced by `mj_step2`, and the next one prepared "
    "by `mj_step1`.",
    (_BOTH, "    data.time += model.opt.timestep\n"),
)
slip(
    "time_alone_moves",
    "Only the time moves: `mj_step2` integrates the state.",
    (_BOTH, "    data.time += model.opt.timestep\n    mujoco.mj_forward(model, data)\n"),
)
for _twice in (
    ("mj_step", "mj_step2", "mj_step1"),
    ("mj_step", "mj_step"),
    ("mj_step1", "mj_step2", "mj_step2", "mj_step1"),
):
    slip(
        "two_steps",
        "Time moves by two steps in one call: one `mj_step2` and one `mj_step1`.",
        _calls(*_twice),
    )
slip(
    "two_steps",
    "One call is one step of `opt.timestep`; yours takes many.",
    (_BOTH, _BOTH * 10),
)

# Another step
slip(
    "integrates_the_old_acceleration",
    "The step computes with the old command: what was written to `ctrl` after the last evaluation "
    "is read by `mj_step2`. Integrating the stored acceleration ignores it.",
    (_FIRST, "    mujoco.mj_Euler(model, data)\n"),
)
slip(
    "integrates_the_old_acceleration",
    "The step is done by hand with `qvel += dt qacc`: it takes the acceleration of the last "
    "evaluation and leaves damping, activations and free joints aside. Let `mj_step2` do it.",
    (
        _FIRST,
        "    data.qvel[:] += model.opt.timestep * data.qacc\n"
        "    mujoco.mj_integratePos(model, data.qpos, data.qvel, model.opt.timestep)\n"
        "    data.time += model.opt.timestep\n",
    ),
)
slip(
    "resets_first",
    "The data is reset before the step: everything starts from the model's own pose.",
    _calls("mj_resetData", "mj_forward", "mj_step2", "mj_step1"),
)

# Inputs that a step does not own
_NO_WRENCHES, _NO_FORCES, _NO_COMMANDS = (
    f"    data.{field}[:] = 0\n" for field in ("xfrc_applied", "qfrc_applied", "ctrl")
)
slip(
    "clears_commands",
    "Commands are cleared after the step. Inputs stay until somebody overwrites them; a step reads "
    "them and writes none.",
    (_BOTH, _BOTH + _NO_COMMANDS),
)
for _order in (
    _NO_WRENCHES + _NO_FORCES + _BOTH,
    _NO_WRENCHES + _BOTH,
    _BOTH + _NO_WRENCHES + _NO_FORCES,
):
    slip(
        "clears_applied_forces",
        "Applied forces are cleared by the step, or before it. Inputs stay until somebody "
        "overwrites them.",
        (_BOTH, _order),
    )
slip(
    "clears_wrenches",
    "`xfrc_applied` is cleared after the step. What was applied persists until it is overwritten; "
    "a step does not own it.",
    (_BOTH, _BOTH + _NO_WRENCHES),
)


@exercise.variant("the two halves through names and a loop")
def by_loop():
    def env_step(model, data):
        for half in ("mj_step2", "mj_step1"):
            getattr(mujoco, half)(model, data)


@exercise.variant("the stages of the next step, one by one")
def by_stages():
    def env_step(model, data):
        mujoco.mj_step2(model, data)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_sensorPos(model, data)
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_sensorVel(model, data)


@exercise.variant("a whole step, then the first half of the next")
def step_then_step1():
    def env_step(model, data):
        mujoco.mj_step(model, data)
        mujoco.mj_step1(model, data)


@exercise.variant("a lambda that returns something nobody asked for")
def by_lambda():
    env_step = lambda model, data: (  # noqa: E731
        mujoco.mj_step2(model, data),
        mujoco.mj_step1(model, data),
    )
