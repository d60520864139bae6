"""`fresh_position`: a body's position that belongs to the state after the step."""

import mujoco
import numpy as np

from course.exercises.compare import close, each
from course.exercises.exercise import Exercise, script
from course.exercises.pipeline.scenes import arrays, asked, disturbed, run_on, scene, variants

exercise = Exercise("fresh_position", points=2, provides=("body_position_after_step",), core=True)


@exercise.reference
def reference():
    def body_position_after_step(model, data, body):
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        return data.body(body).xpos.copy()

    return {"body_position_after_step": body_position_after_step}


def _case(name, body, seed, label="", *, stale="no", integrator=None, steps=3):
    """Step once; the answer's position, and the state that it leaves.

    `body` is given by name and, to an answer that cannot take a name, by its id.
    """

    model = scene(name)
    if integrator is not None:
        model.opt.integrator = integrator
    data = disturbed(model, seed) if name != "clutter" else mujoco.MjData(model)
    data = run_on(model, data, steps)
    if stale == "no":
        mujoco.mj_forward(model, data)
    elif stale == "qpos":
        shift = np.random.default_rng(seed).normal(scale=0.2, size=model.nv)
        mujoco.mj_integratePos(model, data.qpos, shift, 1.0)
    by_name, by_id = (model, data, body), (model, data, int(model.body(body).id))

    def run(door):
        outcome = asked(door, "body_position_after_step", by_name)
        if outcome.error is not None:
            outcome = asked(door, "body_position_after_step", by_id)
        position = outcome.result()
        after = outcome.args_after[1]
        return {"position": position, **arrays(after, "qpos", "qvel", "act", "time")}

    return script(label or name, run, compare=each(close(1e-9, 1e-9)))


@exercise.part("from data that is up to date", points=1)
def ordinary():
    return [
        _case("pendulum", "bob", 1, "a pendulum: its body does not move, its frame turns"),
        _case("double_pendulum", "lower", 2, "a double pendulum"),
        _case("two_mass", "wagon_1", 3, "a wagon"),
        _case("mobile", "bell", 4, "the end of a chain"),
        _case("mobile", "crate", 6, "a free body, mass off centre"),
        _case("clutter", "ball", 8, "a ball in the clutter", steps=40),
    ]


@exercise.part("from stale data, under RK4; one step in all", points=1)
def edge():
    rk4 = mujoco.mjtIntegrator.mjINT_RK4
    return [
        _case("mobile", "bell", 20, "after mj_step", stale="step"),
        _case("double_pendulum", "lower", 21, "after qpos was set", stale="qpos"),
        _case("mobile", "crate", 22, "after qpos was set", stale="qpos"),
        _case("double_pendulum", "lower", 24, "RK4", integrator=rk4),
        _case("mobile", "bell", 25, "RK4, stale", stale="step", integrator=rk4),
        _case("servo_arm", "filter", 26, "with activations", stale="step"),
        _case("clutter", "egg", 27, "in the clutter", stale="step", steps=60),
    ]


GOOD = """\
def body_position_after_step(model, data, body):
    mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return data.body(body).xpos.copy()
"""
_STEP = "    mujoco.mj_step(model, data)\n"
_FORWARD = "    mujoco.mj_forward(model, data)\n"
_wrong = exercise.slips(GOOD)
_STALE_POSITION = (
    "stale_position",
    "Your position is one step old: after mj_step, `xpos` still belongs to the `qpos` before it. "
    "Evaluate again (mj_kinematics or mj_forward) before you read it.",
)
_wrong(*_STALE_POSITION, (_FORWARD, ""))
_wrong(*_STALE_POSITION, (_STEP + _FORWARD, _FORWARD + _STEP))
_wrong(
    *_STALE_POSITION,
    (
        _STEP + _FORWARD + "    return data.body(body).xpos.copy()",
        _FORWARD + "    position = data.body(body).xpos.copy()\n" + _STEP + "    return position",
    ),
)
_wrong(
    "steps_twice",
    "You step twice: the second step refreshes `xpos`, but the state is then a step further.",
    (_FORWARD, _STEP),
)
_wrong(
    "never_steps",
    "You evaluate but do not step: the state must be that after one mj_step.",
    (_STEP, ""),
)
_wrong(
    "centre_of_mass",
    "`xipos` is the centre of mass; the position of the body is that of its frame, `xpos`.",
    ("xpos", "xipos"),
)
_wrong(
    "rewinds",
    "The position is fresh, but you put the old state back: `data` must be left after the step.",
    (
        _STEP + _FORWARD + "    return data.body(body).xpos.copy()",
        "    before = data.qpos.copy(), data.qvel.copy(), data.time\n"
        + _STEP
        + _FORWARD
        + "    position = data.body(body).xpos.copy()\n"
        + "    data.qpos[:], data.qvel[:], data.time = before\n"
        + "    return position",
    ),
)
_wrong(
    "on_a_copy",
    "You step a copy: `data` itself must be stepped once.",
    (
        "def body_position_after_step(model, data, body):\n",
        "def body_position_after_step(model, data, body):\n"
        "    import copy\n    data = copy.copy(data)\n",
    ),
)
_wrong(
    "split_under_rk4",
    "mj_step1 and mj_step2 ignore RK4; step with mj_step.",
    ("mujoco.mj_step(model, data)", "mujoco.mj_step1(model, data); mujoco.mj_step2(model, data)"),
)
_wrong(
    "extrapolates",
    "You add dt times the velocity to the old position; evaluate at the new `qpos` instead.",
    (
        _STEP + _FORWARD + "    return data.body(body).xpos.copy()",
        _FORWARD
        + "    i = data.body(body).id\n"
        + "    velocity = np.zeros(6)\n"
        + "    mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, i, velocity, 0)\n"
        + "    position = data.xpos[i] + model.opt.timestep * velocity[3:]\n"
        + _STEP
        + "    return position",
    ),
)

_wrong(
    "resets",
    "You reset `data` first: the step must start from the state that it holds.",
    (_STEP, "    mujoco.mj_resetData(model, data)\n" + _STEP),
)
_wrong(
    "another_point",
    "You return the position of the body's geom; the position of the body is that of its frame, "
    "`xpos`.",
    ("data.body(body).xpos", "data.geom_xpos[model.body(body).geomadr[0]]"),
)
_wrong(
    "another_point",
    "You return the centre of mass of the subtree; the position of the body is that of its frame, "
    "`xpos`.",
    ("data.body(body).xpos", "data.subtree_com[model.body(body).id]"),
)

_wrong(
    "steps_twice",
    "You step more than once: the state is then a step further.",
    (_STEP, _STEP + _STEP),
)
_wrong(
    "never_steps",
    "You move the time but do not step: the state must be that after one mj_step.",
    (_STEP, "    data.time += model.opt.timestep\n"),
)
_wrong(
    "second_half_first",
    "mj_step2 integrates with what was evaluated last: on stale data that is another instant's "
    "acceleration, and RK4 is ignored. Step with mj_step.",
    (_STEP + _FORWARD, "    mujoco.mj_step2(model, data)\n    mujoco.mj_step1(model, data)\n"),
)
_wrong(
    "another_point",
    "`model.body(...).pos` is where the body sits in its parent at the start: it never moves. The "
    "position in the world is `xpos`.",
    ("data.body(body).xpos", "model.body(body).pos"),
)
_wrong(
    "first_of_qpos",
    "The first entries of `qpos` are the coordinates of the first joint, not the place of the "
    "body you were asked for: `xpos`.",
    ("data.body(body).xpos", "data.qpos[:3]"),
)
_wrong(
    "another_body",
    "You read the row of another body: `body` says which one, and body 0 is the world.",
    ("data.body(body).xpos", "data.xpos[model.body(body).id - 1]"),
)
_wrong(
    "another_body",
    "You read the row of a fixed body: `body` says which one.",
    ("data.body(body).xpos", "data.xpos[1]"),
)
_wrong(
    "returns_none",
    "The step is taken but the position is not returned: is there a `return`?",
    ("    return data", "    data"),
)
_wrong(
    "integrates_by_hand",
    "You integrate by hand: mj_step also does what the model's integrator asks for (damping, "
    "activations, RK4). Call mj_step.",
    (
        _STEP,
        _FORWARD
        + "    data.qvel[:] += model.opt.timestep * data.qacc\n"
        + "    mujoco.mj_integratePos(model, data.qpos, data.qvel, model.opt.timestep)\n"
        + "    data.time += model.opt.timestep\n",
    ),
)

_right = variants(exercise)
_right(
    "by_kinematics",
    """\
def body_position_after_step(model, data, body):
    mujoco.mj_step(model, data)
    mujoco.mj_kinematics(model, data)
    i = body if isinstance(body, int) else mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    return tuple(data.xpos[i])
""",
)
_right(
    "on_a_fresh_copy",
    """\
import copy

def body_position_after_step(model, data, body):
    mujoco.mj_step(model, data)
    other = copy.copy(data)
    mujoco.mj_fwdPosition(model, other)
    return list(other.body(body).xpos)
""",
)
_right(
    "by_id_only",
    """\
def body_position_after_step(model, data, body):
    mujoco.mj_step(model, data, 1)
    mujoco.mj_step1(model, data)
    return np.array(data.xpos[body])
""",
)
_right(
    "by_name_only",
    """\
def body_position_after_step(model, data, body):
    i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    mujoco.mj_forward(model, data)
    mujoco.mj_step(model, data)
    mujoco.mj_forwardSkip(model, data, mujoco.mjtStage.mjSTAGE_NONE, 1)
    return data.xpos[i]
""",
)
