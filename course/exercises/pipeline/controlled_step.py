"""`controlled_step`: the controller reads this step's quantities and acts on this step."""

from typing import Any

import mujoco
import numpy as np

from course.exercises.compare import close, each
from course.exercises.exercise import Exercise, script
from course.exercises.pipeline.scenes import (
    arrays,
    disturbed,
    run_on,
    scene,
    taken_over,
    variants,
)

exercise = Exercise("controlled_step", points=3, provides=("controlled_step",), core=True)


@exercise.reference
def reference():
    def controlled_step(model, data, controller):
        mujoco.mj_step1(model, data)
        data.ctrl[:] = controller(model, data)
        mujoco.mj_step2(model, data)

    return {"controlled_step": controlled_step}


# What each controller reads; all of it belongs to the position and the velocity stage.


def _by_state(model, data):
    """A damper and spring on the generalized coordinates."""
    return -4.0 * np.array(data.qpos[-model.nu :]) - 0.6 * np.array(data.qvel[-model.nu :])


def _by_place(model, data):
    """Reads where the last body is, and how high its centre of mass."""
    return 1.5 * (np.array(data.xpos[-1][0]) - 0.2) * np.ones(model.nu) - 0.4 * data.xipos[-1][2]


def _by_sensor(model, data):
    """Reads the first six sensor values: positions and velocities."""
    return 0.3 * np.resize(np.array(data.sensordata[:6]), model.nu) - 0.1


def _by_transmission(model, data):
    """A servo of its own, on actuator lengths and velocities."""
    return -2.0 * np.array(data.actuator_length) - 0.3 * np.array(data.actuator_velocity)


def _by_force(model, data):
    """Compensates what it can of gravity: reads the bias."""
    return np.resize(0.2 * np.array(data.qfrc_bias), model.nu)


def _constant(model, data):
    return np.full(model.nu, 0.35)


def _case(name, controller, seed, label, *, stale, steps=1):
    """Some controlled steps; where they end, and what the controller saw last of each.

    Data that is not stale has been evaluated before every step; stale data is as mj_step left it,
    or its `qpos` was set by hand. The control that stands in the data from before is another.
    """
    model = scene(name)
    start = run_on(model, disturbed(model, seed), 2)
    if stale == "qpos":
        shift = np.random.default_rng(seed).normal(scale=0.3, size=model.nv)
        mujoco.mj_integratePos(model, start.qpos, shift, 1.0)
    elif stale == "no":
        mujoco.mj_forward(model, start)

    def run(door):
        data: Any = start
        seen: list[np.ndarray] = []

        def told(model_seen, data_seen):
            seen.append(
                np.concatenate([np.ravel(data_seen.xpos), np.ravel(data_seen.qvel), data_seen.qpos])
            )
            return controller(model, data_seen)

        lasts = []
        for step in range(steps):
            if step:
                data = taken_over(start, data)
                if stale == "no":
                    mujoco.mj_forward(model, data)
            outcome = door.call("controlled_step", model, data, told)
            outcome.result()
            lasts.append(seen[-1] if seen else np.zeros(0))
            data = outcome.args_after[1]
        end = arrays(data, "qpos", "qvel", "act", "time")
        return {**end, "what the controller saw": np.array(lasts)}

    return script(label, run, compare=each(close(1e-9, 1e-9)))


@exercise.part("the control acts on this step", points=1.5)
def acts():
    return [
        _case("two_mass", _constant, 1, "a constant control", stale="no"),
        _case("two_mass", _by_state, 2, "a controller on q and v", stale="no"),
        _case("servo_arm", _by_state, 3, "levers, on q and v", stale="no"),
        _case("mobile", _by_place, 4, "on where a body is", stale="no"),
        _case("mobile", _by_transmission, 5, "on actuator lengths", stale="no"),
        _case("mobile", _by_sensor, 6, "on sensors", stale="no"),
    ]


@exercise.part("the controller sees this step's positions and velocities", points=1.5)
def sees():
    return [
        _case("two_mass", _by_state, 20, "a controller on q and v", stale="step"),
        _case("mobile", _by_place, 21, "reads xpos, data stale on entry", stale="step"),
        _case("mobile", _by_place, 22, "reads xpos after qpos was set", stale="qpos"),
        _case("mobile", _by_sensor, 23, "reads sensors, data stale on entry", stale="step"),
        _case("servo_arm", _by_transmission, 24, "reads actuator lengths", stale="qpos"),
        _case("servo_arm", _by_sensor, 25, "reads sensors of levers", stale="step"),
        _case("mobile", _by_force, 26, "reads the bias", stale="step"),
    ]


GOOD = """\
def controlled_step(model, data, controller):
    mujoco.mj_step1(model, data)
    data.ctrl[:] = controller(model, data)
    mujoco.mj_step2(model, data)
"""
_ONE = "    mujoco.mj_step1(model, data)\n"
_CTRL = "    data.ctrl[:] = controller(model, data)\n"
_TWO = "    mujoco.mj_step2(model, data)\n"
_STEP = "    mujoco.mj_step(model, data)\n"
_FORWARD = "    mujoco.mj_forward(model, data)\n"
_wrong = exercise.slips(GOOD)
_LATE = (
    "You take the whole step and set the control afterwards: it acts one step late. Between "
    "mj_step1 and mj_step2 it acts at once."
)
_wrong("one_step_late", _LATE, (_ONE + _CTRL + _TWO, _STEP + _CTRL))
_wrong("one_step_late", _LATE, (_ONE + _CTRL + _TWO, _ONE + _TWO + _CTRL))
_wrong("one_step_late", _LATE, (_ONE + _CTRL + _TWO, _STEP + _FORWARD + _CTRL))
_EARLY = (
    "Your controller runs before mj_step1 and reads what an earlier instant left (after mj_step, "
    "`xpos` and sensors are one step old). Call mj_step1 first."
)
_wrong("controller_too_early", _EARLY, (_ONE + _CTRL, _CTRL + _ONE))
_wrong("controller_too_early", _EARLY, (_ONE + _CTRL + _TWO, _CTRL + _STEP))
_wrong(
    "positions_only",
    "mj_kinematics refreshes the poses only: velocities, sensors and forces that the controller "
    "reads are stale. Use mj_step1.",
    (_ONE, "    mujoco.mj_kinematics(model, data)\n"),
    (_TWO, _STEP),
)
_wrong(
    "positions_only",
    "You refresh the position stage only: velocities, sensors and forces that the controller "
    "reads are stale. Use mj_step1.",
    (_ONE, "    mujoco.mj_fwdPosition(model, data)\n"),
    (_TWO, _STEP),
)
_wrong(
    "control_not_set",
    "You call the controller and drop what it returns: write it into `data.ctrl`.",
    (_CTRL, "    controller(model, data)\n"),
)
_STEPS_TWICE = (
    "steps_twice",
    "You take two steps; one mj_step1 and one mj_step2 are a whole step.",
)
_wrong(*_STEPS_TWICE, (_TWO, _TWO + _STEP))
_wrong(*_STEPS_TWICE, (_ONE, _STEP), (_TWO, _STEP))
_wrong("no_second_half", "The second half, mj_step2, is missing: nothing moves.", (_TWO, ""))
_wrong("no_second_half", "mj_forward does not move the time: nothing moves.", (_TWO, _FORWARD))
_wrong(
    "added_to_control",
    "You add to `ctrl`: the controls of earlier steps pile up. Assign.",
    ("data.ctrl[:] =", "data.ctrl[:] +="),
)
_APPLIED_FORCE = (
    "applied_force",
    "You write the controls into `qfrc_applied`: they are generalized forces then and miss the "
    "actuators. Write `data.ctrl`.",
)
_wrong(
    *_APPLIED_FORCE,
    (
        _CTRL,
        "    data.qfrc_applied[:] = np.resize(controller(model, data), model.nv)\n",
    ),
)
_wrong(
    "step_before_and_after",
    "A whole mj_step comes before the controller: the step with its control is a second one.",
    (_ONE, _STEP + _ONE),
)

_wrong(
    "first_control_only",
    "You set the first control only; the controller returns one for each actuator.",
    (_CTRL, "    data.ctrl[0] = controller(model, data)[0]\n"),
)
_HALVES = (
    "The halves are exchanged: mj_step1 evaluates positions and velocities and comes first, "
    "mj_step2 moves the state."
)
_wrong("halves_exchanged", _HALVES, (_ONE + _CTRL + _TWO, _TWO + _CTRL + _ONE))
_wrong("halves_exchanged", _HALVES, (_ONE + _CTRL + _TWO, _CTRL + _TWO + _ONE))

_wrong(
    "controller_not_called",
    "The controller is never asked: `data.ctrl` keeps its old values.",
    (_CTRL, ""),
)
_wrong(
    "controller_on_other_data",
    "Your controller reads a fresh `MjData`, not this one: pass it `data`.",
    ("controller(model, data)", "controller(model, mujoco.MjData(model))"),
)
_wrong(
    *_APPLIED_FORCE,
    (
        _CTRL,
        "    data.qfrc_applied[:] = 0\n"
        "    data.qfrc_applied[:model.nu] = controller(model, data)\n",
    ),
)
_wrong(
    "one_step_late",
    "You ask the controller in time but write `ctrl` after mj_step2: it acts one step late.",
    (
        _CTRL + _TWO,
        "    control = controller(model, data)\n" + _TWO + "    data.ctrl[:] = control\n",
    ),
)

_right = variants(exercise)
_right(
    "forward_then_step",
    """\
def controlled_step(model, data, controller):
    mujoco.mj_forward(model, data)
    np.copyto(data.ctrl, controller(model, data))
    mujoco.mj_step(model, data)
""",
)
_right(
    "by_callback",
    """\
def controlled_step(model, data, controller):
    def act(m, d):
        d.ctrl = list(controller(m, d))
    mujoco.set_mjcb_control(act)
    try:
        mujoco.mj_step(model, data)
    finally:
        mujoco.set_mjcb_control(None)
""",
)
_right(
    "stage_by_stage",
    """\
def controlled_step(model, data, controller):
    mujoco.mj_fwdPosition(model, data)
    mujoco.mj_sensorPos(model, data)
    mujoco.mj_fwdVelocity(model, data)
    mujoco.mj_sensorVel(model, data)
    for i, u in enumerate(controller(model, data)):
        data.ctrl[i] = u
    mujoco.mj_step2(model, data)
    return data
""",
)
