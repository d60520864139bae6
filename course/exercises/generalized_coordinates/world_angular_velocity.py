"""`world_angular_velocity`: a floating body's angular velocity in world axes."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import configuration, data_at, scene, zoo
from mjcourse.models import load

exercise = Exercise(
    "world_angular_velocity", points=3, provides=("world_angular_velocity",), core=True
)


@exercise.reference
def reference():
    def world_angular_velocity(model, data, body):
        now = mujoco.MjData(model)
        now.qpos[:], now.qvel[:] = data.qpos, data.qvel
        mujoco.mj_forward(model, now)
        velocity = np.zeros(6)
        kind, number = mujoco.mjtObj.mjOBJ_BODY, model.body(body).id
        mujoco.mj_objectVelocity(model, now, kind, number, velocity, 0)
        return velocity[:3]

    return {"world_angular_velocity": world_angular_velocity}


def ask(
    model: mujoco.MjModel,
    body: str,
    seed: int,
    forward: bool,
    label: str,
    unchanged: bool = False,
) -> Case:
    rng = np.random.default_rng(seed)
    data = data_at(model, configuration(model, rng), rng.uniform(-3, 3, model.nv), forward)
    return call(
        "world_angular_velocity",
        model,
        data,
        body,
        label=label,
        compare=close(1e-9),
        unchanged=unchanged,
    )


@exercise.part("up-to-date data", points=1)
def ordinary():
    several = scene("h", "f", "b", "f", "f-h", seed=80)
    cases = [ask(zoo(), "free", seed, True, "joint_zoo") for seed in range(80, 86)]
    for seed, body in enumerate(("red_cube", "green_brick", "yellow_can"), 86):
        cases.append(ask(load("pick_place"), body, seed, True, f"{body} of pick_place"))
    for seed, body in enumerate(("body_f1", "body_f3", "body_f4"), 90):
        cases.append(ask(several, body, seed, True, "several free bodies"))
    return cases


@exercise.part("stale data: qpos set, mj_forward not called", points=1)
def stale():
    several = scene("s", "f", "h-b", "f", seed=93)
    cases = [ask(zoo(), "free", seed, True, "joint_zoo, up to date") for seed in (93, 94)]
    cases += [ask(zoo(), "free", seed, False, "joint_zoo, stale") for seed in range(95, 99)]
    for seed, body in enumerate(("body_f1", "body_f4"), 99):
        cases.append(ask(several, body, seed, False, "several free bodies, stale"))
    return cases


@exercise.part("contract: data is left as it was", points=1)
def contract():
    rng = np.random.default_rng(103)
    model = zoo()
    data = data_at(model, configuration(model, rng), np.zeros(model.nv))
    rest = call("world_angular_velocity", model, data, "free", label="at rest", unchanged=True)
    several = scene("f", "f", "b", seed=104)
    return [
        ask(model, "free", 101, True, "joint_zoo", True),
        ask(model, "free", 102, False, "joint_zoo, stale", True),
        ask(several, "body_f1", 104, False, "the second free body, stale", True),
        rest,
    ]


GOOD = """\
def mul(a, b):
    w, x, y, z = a
    left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return left @ b


def rotate(quat, v):
    return mul(mul(quat, np.r_[0, v]), quat * [1, -1, -1, -1])[1:]


def matrix(quat):
    w, x, y, z = quat
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def object_velocity(model, data, body, local=0):
    both = np.zeros(6)
    kind, number = mujoco.mjtObj.mjOBJ_BODY, model.body(body).id
    mujoco.mj_objectVelocity(model, data, kind, number, both, local)
    return both


def on_a_copy(model, data, body):
    now = mujoco.MjData(model)
    now.qpos[:], now.qvel[:] = data.qpos, data.qvel
    mujoco.mj_forward(model, now)
    return object_velocity(model, now, body)


def world_angular_velocity(model, data, body):
    number = model.body(body).id
    joint = model.body_jntadr[number]
    q, v = model.jnt_qposadr[joint], model.jnt_dofadr[joint]
    quat, w = data.qpos[q + 3 : q + 7], data.qvel[v + 3 : v + 6]
    return rotate(quat, w)
"""
_wrong = exercise.slips(GOOD)
_RESULT = "rotate(quat, w)"
_NUMBER = "    number = model.body(body).id\n    joint"
_JOINT = "model.body_jntadr[number]"
_QUAT = "data.qpos[q + 3 : q + 7]"

for _rate in ("w.copy()", "data.qvel[3:6].copy()"):
    _wrong(
        "body_frame",
        "You return the body-frame rate as `qvel` holds it. To read it in world axes turn it by "
        "the body's orientation: R w.",
        (_RESULT, _rate),
    )
_wrong(
    "body_frame",
    "`mj_objectVelocity` is asked for the body's own axes (or `xmat` is transposed twice over); "
    "world axes are asked for: the last argument is 0. And it reads what the last `mj_forward` "
    "left.",
    (_RESULT, "object_velocity(model, data, body, 1)[:3]"),
)
_wrong(
    "wrong_way",
    "Your rate is rotated the wrong way: world to body instead of body to world. The columns of "
    "R are the body's axes in the world: R w, not R^T w.",
    (_RESULT, "matrix(quat).T @ w"),
)
for _rate in (
    "data.xmat[number].reshape(3, 3).T @ w",
    "rotate(data.xquat[number] * [1, -1, -1, -1], w)",
):
    _wrong(
        "wrong_way",
        "Two mistakes: the rate is rotated the wrong way (the columns of R are the body's axes: "
        "R w), and `xmat` is stale when `qpos` has been set since the last `mj_forward`.",
        (_RESULT, _rate),
    )
for _rate in (
    "data.xmat[number].reshape(3, 3) @ w",
    "object_velocity(model, data, body)[:3]",
    "data.sensordata[:3].copy()",
    "rotate(data.xquat[number], w)",
    "data.ximat[number].reshape(3, 3) @ w",
    "data.cvel[number][:3]",
    "data.sensor('free_angvel_world').data.copy()",
):
    _wrong(
        "stale_orientation",
        "Your answer reads what the last `mj_forward` left (`xmat`, `xquat`, `cvel`, a sensor, "
        "`mj_objectVelocity`). When `qpos` has been set since, that is stale: rotate with the "
        "quaternion in `qpos`.",
        (_RESULT, _rate),
    )
for _rate in (
    "data.qvel[v : v + 3].copy()",
    "rotate(quat, data.qvel[v : v + 3])",
    "matrix(quat) @ data.qvel[v : v + 3]",
    "on_a_copy(model, data, body)[3:]",
    "data.cvel[number][3:]",
    "data.xmat[number].reshape(3, 3) @ data.qvel[v : v + 3]",
):
    _wrong(
        "linear_velocity",
        "Your answer is made from the linear velocity: of a free joint's six numbers the first "
        "three are linear, the last three angular.",
        (_RESULT, _rate),
    )

_FIRST = (
    "The addresses in your code are those of the first free body: `qpos[3:7]`, `qvel[3:6]`. Read "
    "them from the model, for the body that is named."
)
_wrong("hard_coded", _FIRST, (_RESULT, "rotate(data.qpos[3:7], data.qvel[3:6])"))
_wrong(
    "hard_coded",
    _FIRST,
    ("model.jnt_qposadr[joint]", "7 * (number - 1)"),
    ("model.jnt_dofadr[joint]", "6 * (number - 1)"),
)
for _joint in ("number - 1", "number", "list(model.jnt_type).index(0)", "0"):
    _wrong("hard_coded", _FIRST, (_JOINT, _joint))
_wrong(
    "joint_of_the_bodys_name",
    "You look for a joint with the name of the body. In `joint_zoo` they are the same; in general "
    "find the joint through the body: `model.body(body).jntadr`.",
    (_JOINT, "model.joint(body).id"),
)
_ONE = (
    "Positions and velocities are read at one and the same address. After the first quaternion "
    "they differ: `jnt_qposadr` for `qpos`, `jnt_dofadr` for `qvel`."
)
_wrong(
    "one_address_for_both",
    _ONE,
    ("data.qvel[v + 3 : v + 6]", "np.resize(data.qvel[q + 3 : q + 6], 3)"),
)
_wrong("one_address_for_both", _ONE, (_QUAT, "data.qpos[v + 3 : v + 7]"))
_wrong(
    "forgets_the_offset",
    "Your slices start at the joint's address itself: three linear numbers come first, in `qpos` "
    "and in `qvel`. The quaternion is `qpos[q + 3:q + 7]`, the rate `qvel[v + 3:v + 6]`.",
    (_QUAT, "data.qpos[q : q + 4] / np.linalg.norm(data.qpos[q : q + 4])"),
)
for _turn in ("rotate(quat, w)", "matrix(quat) @ w"):
    _wrong(
        "position_as_quaternion",
        "You read the quaternion at the start of the joint's block in `qpos`: the first three "
        "numbers are the position, the quaternion is `qpos[a + 3 : a + 7]`.",
        (_QUAT, "data.qpos[q : q + 4]"),
        (_RESULT, _turn),
    )
_wrong(
    "scalar_last",
    "The quaternion is read as (x, y, z, w); `qpos` holds it as (w, x, y, z). SciPy needs "
    "`scalar_first=True`.",
    (_RESULT, "rotate(np.roll(quat, 1), w)"),
)

_CHANGES = (
    "Your function changes `data` (it runs `mj_forward` or `mj_kinematics`, or writes into an "
    "array). Asking for a velocity must leave the simulation as it was: `qpos` and `qvel` are "
    "enough."
)
for _call in ("mj_forward", "mj_kinematics", "mj_step", "mj_fwdPosition"):
    _wrong("changes_data", _CHANGES, (_NUMBER, f"    mujoco.{_call}(model, data)\n{_NUMBER}"))
for _call, _rate in (
    ("mj_forward", "data.xmat[number].reshape(3, 3) @ w"),
    ("mj_forward", "data.cvel[number][:3].copy()"),
    ("mj_step", "data.cvel[number][:3].copy()"),
):
    _wrong(
        "changes_data",
        _CHANGES,
        (_NUMBER, f"    mujoco.{_call}(model, data)\n{_NUMBER}"),
        (_RESULT, _rate),
    )
_wrong("changes_data", _CHANGES, (f"return {_RESULT}", f"w[:] = {_RESULT}\n    return w"))

_wrong(
    "multiplies_once",
    "Your rotation of a vector multiplies by the quaternion once; q (0, w) q^-1 needs both sides.",
    (_RESULT, "mul(quat, np.r_[0, w])[1:]"),
)
for _rate in (
    "mul(mul(quat, np.r_[0, w]), quat)[1:]",
    "mul(np.r_[0, w], quat)[1:]",
    "mul(quat, np.r_[0, w])",
):
    _wrong(
        "multiplies_once",
        "Your rotation of a vector is no q (0, w) q^-1: it needs the quaternion on the left and "
        "its inverse on the right.",
        (_RESULT, _rate),
    )
_wrong(
    "six_numbers",
    "Your result has six numbers; the angular velocity is three (`mj_objectVelocity` gives "
    "angular first, then linear).",
    (_RESULT, "on_a_copy(model, data, body)"),
)
_wrong(
    "speed_only",
    "Your result is the length of the rate; a vector of three numbers is asked for.",
    (_RESULT, "np.linalg.norm(w)"),
)
_wrong(
    "degrees",
    "Your result is in degrees a second; rad/s is the unit everywhere.",
    (_RESULT, f"np.degrees({_RESULT})"),
)
for _place, _entry in (
    ("[0, 1]", "2 * (x * y - w * z)"),
    ("[0, 2]", "2 * (x * z + w * y)"),
    ("[1, 0]", "2 * (x * y + w * z)"),
    ("[1, 2]", "2 * (y * z - w * x)"),
    ("[2, 0]", "2 * (x * z - w * y)"),
    ("[2, 1]", "2 * (y * z + w * x)"),
):
    _wrong(
        "sign_in_the_matrix",
        f"One entry of your rotation matrix has a wrong sign: that at {_place}.",
        (_RESULT, "matrix(quat) @ w"),
        (_entry, _entry.translate(str.maketrans("+-", "-+"))),
    )


@exercise.variant("by the matrix of the quaternion, by hand")
def by_hand():
    def world_angular_velocity(model, data, body):
        j = model.body_jntadr[model.body(body).id]
        w, x, y, z = data.qpos[model.jnt_qposadr[j] + 3 :][:4]
        rate = data.qvel[model.jnt_dofadr[j] + 3 :][:3]
        R = np.array(
            [
                [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
            ]
        )
        return [sum(R[i, k] * rate[k] for k in range(3)) for i in range(3)]


@exercise.variant("with SciPy, through the joint's own views")
def with_scipy():
    from scipy.spatial.transform import Rotation

    def world_angular_velocity(model, data, body):
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
        joint = model.joint(model.body_jntadr[number])
        q, v = joint.qposadr[0], joint.dofadr[0]
        return Rotation.from_quat(data.qpos[q + 3 : q + 7], scalar_first=True).apply(
            data.qvel[v + 3 : v + 6]
        )


@exercise.variant("on a copy of its own, with mj_objectVelocity")
def on_a_copy():
    import copy

    def world_angular_velocity(model, data, body):
        mine = copy.copy(data)
        mujoco.mj_fwdPosition(model, mine)
        mujoco.mj_fwdVelocity(model, mine)
        out = np.empty((6, 1))
        index = [model.body(i).name for i in range(model.nbody)].index(body)
        mujoco.mj_objectVelocity(model, mine, mujoco.mjtObj.mjOBJ_BODY, index, out, 0)
        return tuple(out[:3, 0])


@exercise.variant("sandwiched between two quaternion products")
def sandwiched():
    def world_angular_velocity(model, data, body):
        i = model.body(body).dofadr[0]
        j = model.dof_jntid[i]
        quat = data.qpos[model.jnt_qposadr[j] + 3 : model.jnt_qposadr[j] + 7].copy()
        pure = np.append(0.0, data.qvel[i + 3 : i + 6])
        half, whole, back = np.zeros(4), np.zeros(4), np.zeros(4)
        mujoco.mju_negQuat(back, quat)
        mujoco.mju_mulQuat(half, quat, pure)
        mujoco.mju_mulQuat(whole, half, back)
        return whole[1:]
