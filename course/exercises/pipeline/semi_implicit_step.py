"""`semi_implicit_step`: velocity first, then position with the new velocity."""

import mujoco
import numpy as np

from course.exercises.compare import close, each
from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import disturbed, scene, variants

exercise = Exercise("semi_implicit_step", points=3, provides=("semi_implicit_step",), core=True)


@exercise.reference
def reference():
    def semi_implicit_step(model, qpos, qvel, qacc, dt):
        new_qvel = qvel + dt * qacc
        new_qpos = np.array(qpos, dtype=float)
        mujoco.mj_integratePos(model, new_qpos, new_qvel, dt)
        return new_qpos, new_qvel

    return {"semi_implicit_step": semi_implicit_step}


def _quaternions(model):
    """Addresses in `qpos` of the quaternions of free and ball joints."""
    free, ball = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
    kinds = [int(kind) for kind in model.jnt_type]
    return [
        int(model.jnt_qposadr[j]) + (3 if kind == free else 0)
        for j, kind in enumerate(kinds)
        if kind in (free, ball)
    ]


def _up_to_sign(model):
    """Look at (qpos, qvel) with the sign of each quaternion fixed: both signs are one rotation."""
    addresses = _quaternions(model)

    def observe(outcome):
        value = outcome.value
        if not isinstance(value, (list, tuple)) or len(value) != 2:
            return value
        try:
            qpos = np.array(value[0], dtype=float)
        except (TypeError, ValueError):
            return value
        if qpos.shape != (model.nq,):
            return value
        for start in addresses:
            quat = qpos[start : start + 4]
            if quat[np.argmax(np.abs(quat))] < 0:
                qpos[start : start + 4] = -quat
        return [qpos, value[1]]

    return observe


def _case(name, seed, label="", *, dt=None, qvel=None, qacc=None, unchanged=False):
    model = scene(name)
    data = disturbed(model, seed)
    rng = np.random.default_rng(seed + 500)
    step = float(rng.uniform(0.005, 0.08)) if dt is None else dt
    velocity = rng.normal(scale=1.5, size=model.nv) if qvel is None else np.full(model.nv, qvel)
    change = rng.normal(scale=8, size=model.nv) if qacc is None else np.full(model.nv, qacc)
    args = (model, data.qpos.copy(), velocity, change, step)
    return call(
        "semi_implicit_step",
        *args,
        label=label or name,
        compare=each((close(1e-9), close(1e-9))),
        observe=_up_to_sign(model),
        unchanged=unchanged,
    )


@exercise.part("hinges and slides", points=1)
def scalar_joints():
    return [
        *(_case("pendulum", s, "a pendulum") for s in range(1, 4)),
        *(_case("double_pendulum", s, "a double pendulum") for s in range(4, 8)),
        *(_case("two_mass", s, "two wagons") for s in range(8, 11)),
        _case("two_mass", 11, "from rest", dt=0.1, qvel=0.0),
    ]


@exercise.part("free and ball joints", points=1)
def quaternions():
    return [
        _case("double_pendulum", 20, "a double pendulum"),
        *(_case("mobile", s, "all joint types") for s in range(21, 27)),
        *(_case("clutter", s, "eight free bodies") for s in range(27, 30)),
        _case("mobile", 30, "a long step", dt=0.7),
        _case("mobile", 31, "at rest, no acceleration", qvel=0.0, qacc=0.0),
    ]


@exercise.part("contract: the arrays given are left as they were", points=1)
def contract():
    return [
        *(_case("double_pendulum", s, "a double pendulum", unchanged=True) for s in (40, 41)),
        *(_case("two_mass", s, "two wagons", unchanged=True) for s in (42, 43)),
        _case("mobile", 44, "all joint types", unchanged=True),
        _case("clutter", 45, "eight free bodies", unchanged=True),
    ]


GOOD = """\
def semi_implicit_step(model, qpos, qvel, qacc, dt):
    new_qvel = qvel + dt * qacc
    new_qpos = qpos.copy()
    mujoco.mj_integratePos(model, new_qpos, new_qvel, dt)
    return new_qpos, new_qvel
"""
_INTEGRATE = "    mujoco.mj_integratePos(model, new_qpos, new_qvel, dt)\n"
_ADD = """\
    for j in range(model.njnt):
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        if kind == 0:
            new_qpos[q:q + 3] += dt * new_qvel[v:v + 3]
            new_qpos[q + 4:q + 7] += dt * new_qvel[v + 3:v + 6]
        elif kind == 1:
            new_qpos[q + 1:q + 4] += dt * new_qvel[v:v + 3]
        else:
            new_qpos[q] += dt * new_qvel[v]
"""
_wrong = exercise.slips(GOOD)
_wrong(
    "old_velocity",
    "You move the position with the old velocity (explicit Euler). Semi-implicit: velocity first, "
    "then the position with the new velocity.",
    ("new_qpos, new_qvel, dt)", "new_qpos, qvel, dt)"),
)
_ADDS_TO_QUATERNIONS = (
    "adds_to_quaternions",
    "You add the velocity to the entries of `qpos`. For free and ball joints qpos and qvel differ "
    "in size and meaning: use mj_integratePos.",
)
_wrong(*_ADDS_TO_QUATERNIONS, (_INTEGRATE, "    new_qpos = qpos + dt * new_qvel\n"))
_wrong(*_ADDS_TO_QUATERNIONS, (_INTEGRATE, "    new_qpos[:model.nv] += dt * new_qvel\n"))
_wrong(*_ADDS_TO_QUATERNIONS, (_INTEGRATE, _ADD))
_wrong(
    "adds_and_normalises",
    "You add q_dot dt to the quaternion and normalise: that is right to first order in the step "
    "only. mj_integratePos turns by the exact angle.",
    (
        _INTEGRATE,
        """\
    for j in range(model.njnt):
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        if kind == 0:
            new_qpos[q:q + 3] += dt * new_qvel[v:v + 3]
            q, v = q + 3, v + 3
        if kind in (0, 1):
            rate = np.zeros(4)
            mujoco.mju_derivQuat(rate, new_qpos[q:q + 4], new_qvel[v:v + 3])
            new_qpos[q:q + 4] += dt * rate
            new_qpos[q:q + 4] /= np.linalg.norm(new_qpos[q:q + 4])
        else:
            new_qpos[q] += dt * new_qvel[v]
""",
    ),
)
_wrong(
    "world_rates",
    "You multiply the turn from the left, as if angular velocities were in world axes; those of "
    "free and ball joints are in the body's.",
    (
        _INTEGRATE,
        """\
    for j in range(model.njnt):
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        kind = model.jnt_type[j]
        if kind == 0:
            new_qpos[q:q + 3] += dt * new_qvel[v:v + 3]
            q, v = q + 3, v + 3
        if kind in (0, 1):
            turn = np.array([1.0, 0, 0, 0])
            mujoco.mju_quatIntegrate(turn, new_qvel[v:v + 3].copy(), dt)
            product = np.zeros(4)
            mujoco.mju_mulQuat(product, turn, new_qpos[q:q + 4].copy())
            new_qpos[q:q + 4] = product
        else:
            new_qpos[q] += dt * new_qvel[v]
""",
    ),
)
_CHANGES_ITS_INPUT = (
    "changes_its_input",
    "You change `qpos` or `qvel` in place (mj_integratePos and += do); start from copies.",
)
_wrong(*_CHANGES_ITS_INPUT, ("new_qpos = qpos.copy()", "new_qpos = qpos"))
_wrong(
    *_CHANGES_ITS_INPUT,
    ("new_qvel = qvel + dt * qacc", "new_qvel = qvel\n    new_qvel += dt * qacc"),
)
_wrong(
    *_CHANGES_ITS_INPUT,
    ("new_qvel = qvel + dt * qacc", "new_qvel = qvel\n    new_qvel += dt * qacc"),
    ("new_qpos = qpos.copy()", "new_qpos = qpos"),
)
_wrong(
    "mean_velocity",
    "You move with the mean of old and new velocity (as under a constant acceleration). "
    "Semi-implicit Euler moves with the new one.",
    ("new_qpos, new_qvel, dt)", "new_qpos, (qvel + new_qvel) / 2, dt)"),
)
_wrong(
    "adds_half_a_t_squared",
    "There is no a dt^2/2 on top: the position moves with the new velocity alone.",
    ("new_qpos, new_qvel, dt)", "new_qpos, new_qvel + 0.5 * dt * qacc, dt)"),
)
_MODEL_TIMESTEP = (
    "model_timestep",
    "You use model.opt.timestep; the step to take is `dt`.",
)
_wrong(
    *_MODEL_TIMESTEP,
    ("qvel + dt * qacc", "qvel + model.opt.timestep * qacc"),
    ("new_qvel, dt)", "new_qvel, model.opt.timestep)"),
)
_wrong(*_MODEL_TIMESTEP, ("new_qvel, dt)", "new_qvel, model.opt.timestep)"))
_wrong(
    "velocity_not_updated",
    "You return the old velocity.",
    ("return new_qpos, new_qvel", "return new_qpos, qvel.copy()"),
)
_wrong(
    "velocity_without_dt",
    "You add the whole acceleration; the velocity changes by dt qacc.",
    ("dt * qacc", "qacc"),
)
_wrong(
    "exchanged",
    "Your two values are exchanged: return (qpos, qvel).",
    ("return new_qpos, new_qvel", "return new_qvel, new_qpos"),
)
_wrong(
    "position_not_moved",
    "Your position does not move.",
    (_INTEGRATE, ""),
)

_wrong(
    "steps_the_model",
    "You call mj_step on data of your own: that uses its own accelerations and time step. Use the "
    "`qacc` and `dt` given.",
    (
        GOOD.split("dt):\n")[1],
        "    data = mujoco.MjData(model)\n"
        "    data.qpos[:], data.qvel[:] = qpos, qvel\n"
        "    mujoco.mj_step(model, data)\n"
        "    return data.qpos.copy(), data.qvel.copy()\n",
    ),
)
_wrong(
    "quaternion_not_moved",
    "Your free and ball joints do not turn: their quaternions must move too (mj_integratePos).",
    (_INTEGRATE, _ADD.replace("new_qpos[q + 4:q + 7] += dt * new_qvel[v + 3:v + 6]", "pass")),
    ("new_qpos[q + 1:q + 4] += dt * new_qvel[v:v + 3]", "pass"),
)

_wrong(
    "velocity_sign",
    "The acceleration adds to the velocity: qvel + dt * qacc.",
    ("qvel + dt * qacc", "qvel - dt * qacc"),
)

_right = variants(exercise)
_right(
    "joint_by_joint",
    """\
def semi_implicit_step(model, qpos, qvel, qacc, dt):
    from scipy.spatial.transform import Rotation
    v = [float(a) + dt * float(b) for a, b in zip(qvel, qacc)]
    q = [float(x) for x in qpos]

    def turn(adr, omega):
        w, x, y, z = q[adr:adr + 4]
        new = Rotation.from_quat([x, y, z, w]) * Rotation.from_rotvec(dt * np.array(omega))
        x, y, z, w = new.as_quat()
        q[adr:adr + 4] = [w, x, y, z]

    for j in range(model.njnt):
        a, d = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE:
            for k in range(3):
                q[a + k] += dt * v[d + k]
            turn(a + 3, v[d + 3:d + 6])
        elif model.jnt_type[j] == mujoco.mjtJoint.mjJNT_BALL:
            turn(a, v[d:d + 3])
        else:
            q[a] += dt * v[d]
    return q, v
""",
)
_right(
    "in_one_array",
    """\
def semi_implicit_step(model, qpos, qvel, qacc, dt):
    state = np.concatenate([qpos, qvel]).astype(float)
    state[model.nq:] += np.multiply(dt, qacc)
    mujoco.mj_integratePos(model, state[:model.nq], state[model.nq:], dt)
    return state[:model.nq], state[model.nq:]
""",
)
_right(
    "displacement_first",
    """\
def semi_implicit_step(model, qpos, qvel, qacc, dt):
    after = np.array(qpos)
    mujoco.mj_integratePos(model, after, dt * (qvel + dt * qacc), 1.0)
    return [after, np.add(qvel, np.asarray(qacc) * dt)]
""",
)
