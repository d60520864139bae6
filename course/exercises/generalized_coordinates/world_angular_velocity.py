"""`world_angular_velocity`: a floating body's angular velocity in world axes."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import configuration, data_at, scene, zoo
from course.exercises.implementation import Implementation
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


_BODY = (
    "You return the body-frame rate as `qvel` holds it. To read it in world axes turn it by the "
    "body's orientation: R w."
)


@exercise.misconception(_BODY, id="body_frame")
def body_frame():
    def world_angular_velocity(model, data, body):
        v = model.jnt_dofadr[model.body(body).jntadr[0]]
        return data.qvel[v + 3 : v + 6].copy()


@exercise.misconception(_BODY, id="body_frame")
def body_frame_of_the_first_joint():
    def world_angular_velocity(model, data, body):
        return data.qvel[3:6].copy()


@exercise.misconception(
    "Your rate is rotated the wrong way: world to body instead of body to world. The columns of "
    "R are the body's axes in the world: R w, not R^T w."
)
def wrong_way():
    def world_angular_velocity(model, data, body):
        j = model.body(body).jntadr[0]
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, data.qpos[q + 3 : q + 7])
        return R.reshape(3, 3).T @ data.qvel[v + 3 : v + 6]


_STALE = (
    "Your answer reads what the last `mj_forward` left (`xmat`, `xquat`, `cvel`, a sensor, "
    "`mj_objectVelocity`). When `qpos` has been set since, that is stale: rotate with the "
    "quaternion in `qpos`."
)


@exercise.misconception(_STALE, id="stale_orientation")
def stale_xmat():
    def world_angular_velocity(model, data, body):
        v = model.jnt_dofadr[model.body(body).jntadr[0]]
        return data.body(body).xmat.reshape(3, 3) @ data.qvel[v + 3 : v + 6]


@exercise.misconception(_STALE, id="stale_orientation")
def stale_object_velocity():
    def world_angular_velocity(model, data, body):
        out = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_BODY
        mujoco.mj_objectVelocity(model, data, kind, model.body(body).id, out, 0)
        return out[:3]


@exercise.misconception(_STALE, id="stale_orientation")
def stale_sensor():
    def world_angular_velocity(model, data, body):
        return data.sensordata[:3].copy()


@exercise.misconception(
    "`mj_objectVelocity` is asked for the body's own axes (or `xmat` is transposed twice over); "
    "world axes are asked for: the last argument is 0. And it reads what the last `mj_forward` "
    "left.",
    id="body_frame",
)
def local_object_velocity():
    def world_angular_velocity(model, data, body):
        out = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_BODY
        mujoco.mj_objectVelocity(model, data, kind, model.body(body).id, out, 1)
        return out[:3]


_LINEAR = (
    "Your answer is made from the linear velocity: of a free joint's six numbers the first three "
    "are linear, the last three angular."
)


@exercise.misconception(_LINEAR, id="linear_velocity")
def linear_velocity():
    def world_angular_velocity(model, data, body):
        v = model.jnt_dofadr[model.body(body).jntadr[0]]
        return data.qvel[v : v + 3].copy()


@exercise.misconception(_LINEAR, id="linear_velocity")
def linear_velocity_rotated():
    def world_angular_velocity(model, data, body):
        j = model.body(body).jntadr[0]
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        out = np.zeros(3)
        mujoco.mju_rotVecQuat(out, data.qvel[v : v + 3], data.qpos[q + 3 : q + 7])
        return out


@exercise.misconception(_LINEAR, id="linear_velocity")
def linear_object_velocity():
    def world_angular_velocity(model, data, body):
        now = mujoco.MjData(model)
        now.qpos[:], now.qvel[:] = data.qpos, data.qvel
        mujoco.mj_forward(model, now)
        out = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_BODY
        mujoco.mj_objectVelocity(model, now, kind, model.body(body).id, out, 0)
        return out[3:]


_FIRST = (
    "The addresses in your code are those of the first free body: `qpos[3:7]`, `qvel[3:6]`. Read "
    "them from the model, for the body that is named."
)


@exercise.misconception(_FIRST, id="hard_coded")
def hard_coded():
    def world_angular_velocity(model, data, body):
        out = np.zeros(3)
        mujoco.mju_rotVecQuat(out, data.qvel[3:6], data.qpos[3:7])
        return out


@exercise.misconception(_FIRST, id="hard_coded")
def counted_from_the_body_number():
    def world_angular_velocity(model, data, body):
        i = model.body(body).id - 1
        out = np.zeros(3)
        quat = data.qpos[7 * i + 3 : 7 * i + 7]
        if len(quat) < 4:
            raise IndexError("no such address")
        mujoco.mju_rotVecQuat(out, data.qvel[6 * i + 3 : 6 * i + 6], quat)
        return out


@exercise.misconception(
    "Positions and velocities are read at one and the same address. After the first quaternion "
    "they differ: `jnt_qposadr` for `qpos`, `jnt_dofadr` for `qvel`."
)
def one_address_for_both():
    def world_angular_velocity(model, data, body):
        q = model.jnt_qposadr[model.body(body).jntadr[0]]
        out = np.zeros(3)
        mujoco.mju_rotVecQuat(out, np.resize(data.qvel[q + 3 : q + 6], 3), data.qpos[q + 3 : q + 7])
        return out


@exercise.misconception(
    "Positions and velocities are read at one and the same address. After the first quaternion "
    "they differ: `jnt_qposadr` for `qpos`, `jnt_dofadr` for `qvel`.",
    id="one_address_for_both",
)
def velocity_address_for_both():
    def world_angular_velocity(model, data, body):
        v = model.jnt_dofadr[model.body(body).jntadr[0]]
        out = np.zeros(3)
        mujoco.mju_rotVecQuat(out, data.qvel[v + 3 : v + 6], data.qpos[v + 3 : v + 7])
        return out


_CHANGES = (
    "Your function changes `data` (it runs `mj_forward` or `mj_kinematics`, or writes into an "
    "array). Asking for a velocity must leave the simulation as it was: `qpos` and `qvel` are "
    "enough."
)


@exercise.misconception(_CHANGES, id="changes_data")
def calls_mj_forward():
    def world_angular_velocity(model, data, body):
        mujoco.mj_forward(model, data)
        v = model.jnt_dofadr[model.body(body).jntadr[0]]
        return data.body(body).xmat.reshape(3, 3) @ data.qvel[v + 3 : v + 6]


@exercise.misconception(_CHANGES, id="changes_data")
def calls_mj_kinematics():
    def world_angular_velocity(model, data, body):
        mujoco.mj_kinematics(model, data)
        v = model.jnt_dofadr[model.body(body).jntadr[0]]
        return data.body(body).xmat.reshape(3, 3) @ data.qvel[v + 3 : v + 6]


@exercise.misconception(_CHANGES, id="changes_data")
def rotates_qvel_in_place():
    def world_angular_velocity(model, data, body):
        j = model.body(body).jntadr[0]
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        w = data.qvel[v + 3 : v + 6]
        mujoco.mju_rotVecQuat(w, w.copy(), data.qpos[q + 3 : q + 7])
        return w


@exercise.misconception(
    "The quaternion is read as (x, y, z, w); `qpos` holds it as (w, x, y, z). SciPy needs "
    "`scalar_first=True`."
)
def scalar_last():
    from scipy.spatial.transform import Rotation

    def world_angular_velocity(model, data, body):
        j = model.body(body).jntadr[0]
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        return Rotation.from_quat(data.qpos[q + 3 : q + 7]).apply(data.qvel[v + 3 : v + 6])


@exercise.misconception(
    "Your slices start at the joint's address itself: three linear numbers come first, in `qpos` "
    "and in `qvel`. The quaternion is `qpos[q + 3:q + 7]`, the rate `qvel[v + 3:v + 6]`."
)
def forgets_the_offset():
    def world_angular_velocity(model, data, body):
        j = model.body(body).jntadr[0]
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        quat = data.qpos[q : q + 4] / np.linalg.norm(data.qpos[q : q + 4])
        out = np.zeros(3)
        mujoco.mju_rotVecQuat(out, data.qvel[v + 3 : v + 6], quat)
        return out


@exercise.misconception(
    "Your rotation of a vector multiplies by the quaternion once; q (0, w) q^-1 needs both sides."
)
def multiplies_once():
    def world_angular_velocity(model, data, body):
        j = model.body(body).jntadr[0]
        q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
        out = np.zeros(4)
        mujoco.mju_mulQuat(out, data.qpos[q + 3 : q + 7], np.r_[0, data.qvel[v + 3 : v + 6]])
        return out[1:]


@exercise.misconception(
    "Your result has six numbers; the angular velocity is three (`mj_objectVelocity` gives "
    "angular first, then linear)."
)
def six_numbers():
    def world_angular_velocity(model, data, body):
        now = mujoco.MjData(model)
        now.qpos[:], now.qvel[:] = data.qpos, data.qvel
        mujoco.mj_forward(model, now)
        out = np.zeros(6)
        kind = mujoco.mjtObj.mjOBJ_BODY
        mujoco.mj_objectVelocity(model, now, kind, model.body(body).id, out, 0)
        return out


# More mistakes: q, v are the addresses in `qpos` and `qvel`, quat the orientation, w the body rate.
CELL = """\
def mul(a, b):
    w, x, y, z = a
    left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return left @ b


def rotate(quat, v):
    return mul(mul(quat, np.r_[0, v]), quat * [1, -1, -1, -1])[1:]


def matrix(quat):
    w, x, y, z = quat
    diagonal = [1 - 2 * (y * y + z * z), 1 - 2 * (x * x + z * z), 1 - 2 * (x * x + y * y)]
    off = 2 * np.array([[0, x * y, x * z], [x * y, 0, y * z], [x * z, y * z, 0]])
    return np.diag(diagonal) + off + 2 * w * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def spoilt(quat, entry, i, j):
    R = matrix(quat)
    R[i, j] = entry(*quat)
    return R


def world_angular_velocity(model, data, body):
    {before}
    number = model.body(body).id
    j = {joint}
    q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
    quat, w = data.qpos[q + 3 : q + 7], data.qvel[v + 3 : v + 6]
    return {result}
"""
RIGHT = {"before": "pass", "joint": "model.body_jntadr[number]", "result": "rotate(quat, w)"}


def _mistake(id: str, text: str, *changes: dict[str, str]) -> None:
    for change in changes:
        cell = CELL.format(**(RIGHT | change))
        exercise.misconceptions.append(Implementation(id, text, cell))


_mistake(
    "hard_coded",
    _FIRST,
    {"joint": "number - 1"},
    {"joint": "number"},
    {"joint": "list(model.jnt_type).index(0)"},
    {"joint": "0"},
)
_mistake(
    "joint_of_the_bodys_name",
    "You look for a joint with the name of the body. In `joint_zoo` they are the same; in general "
    "find the joint through the body: `model.body(body).jntadr`.",
    {"joint": "model.joint(body).id"},
)
_mistake("linear_velocity", _LINEAR, {"result": "rotate(quat, data.qvel[v : v + 3])"})
_mistake(
    "stale_orientation",
    _STALE,
    {"result": "rotate(data.xquat[number], w)"},
    {"result": "data.ximat[number].reshape(3, 3) @ w"},
    {"result": "data.cvel[number][:3]"},
    {"result": "data.sensor('free_angvel_world').data.copy()"},
)
_mistake(
    "wrong_way",
    "Two mistakes: the rate is rotated the wrong way (the columns of R are the body's axes: R w), "
    "and `xmat` is stale when `qpos` has been set since the last `mj_forward`.",
    {"result": "data.xmat[number].reshape(3, 3).T @ w"},
    {"result": "rotate(data.xquat[number] * [1, -1, -1, -1], w)"},
)
_mistake("linear_velocity", _LINEAR, {"result": "data.cvel[number][3:]"})
_mistake(
    "linear_velocity",
    _LINEAR,
    {"result": "data.xmat[number].reshape(3, 3) @ data.qvel[v : v + 3]"},
)
_mistake("changes_data", _CHANGES, {"before": "mujoco.mj_step(model, data)"})
_mistake(
    "changes_data",
    _CHANGES,
    {"before": "mujoco.mj_step(model, data)", "result": "data.cvel[number][:3].copy()"},
    {"before": "mujoco.mj_forward(model, data)", "result": "data.cvel[number][:3].copy()"},
    {"before": "mujoco.mj_forward(model, data)"},
    {"before": "mujoco.mj_fwdPosition(model, data)"},
)
_mistake(
    "multiplies_once",
    "Your rotation of a vector is no q (0, w) q^-1: it needs the quaternion on the left and its "
    "inverse on the right.",
    {"result": "mul(mul(quat, np.r_[0, w]), quat)[1:]"},
    {"result": "mul(np.r_[0, w], quat)[1:]"},
    {"result": "mul(quat, np.r_[0, w])"},
)
_mistake(
    "speed_only",
    "Your result is the length of the rate; a vector of three numbers is asked for.",
    {"result": "np.linalg.norm(w)"},
)
_mistake(
    "degrees",
    "Your result is in degrees a second; rad/s is the unit everywhere.",
    {"result": "np.degrees(rotate(quat, w))"},
)

_SIGNS = {
    (0, 1): "2 * (x * y {} w * z)",
    (0, 2): "2 * (x * z {} w * y)",
    (1, 0): "2 * (x * y {} w * z)",
    (1, 2): "2 * (y * z {} w * x)",
    (2, 0): "2 * (x * z {} w * y)",
    (2, 1): "2 * (y * z {} w * x)",
}
for (_i, _j), _entry in _SIGNS.items():
    _flipped = _entry.format("+" if (_i, _j) in ((0, 1), (1, 2), (2, 0)) else "-")
    _mistake(
        "sign_in_the_matrix",
        f"One entry of your rotation matrix has a wrong sign: that at [{_i}, {_j}].",
        {"result": f"spoilt(quat, lambda w, x, y, z: {_flipped}, {_i}, {_j}) @ w"},
    )
_mistake(
    "position_as_quaternion",
    "You read the quaternion at the start of the joint's block in `qpos`: the first three numbers "
    "are the position, the quaternion is `qpos[a + 3 : a + 7]`.",
    {"result": "rotate(data.qpos[q : q + 4], w)"},
    {"result": "matrix(data.qpos[q : q + 4]) @ w"},
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
