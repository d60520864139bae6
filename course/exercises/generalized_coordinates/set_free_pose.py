"""`set_free_pose`: put a floating body somewhere, whatever else is in the scene."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import (
    canonical,
    configuration,
    data_at,
    scene,
    two_boxes,
    unit,
    zoo,
)
from course.exercises.implementation import Implementation
from course.grading.door import Outcome
from mjcourse.models import load

exercise = Exercise("set_free_pose", points=2, provides=("set_free_pose",), uses=("joint_layout",))


@exercise.reference
def reference():
    def set_free_pose(model, data, joint, pos, quat):
        if model.joint(joint).type[0] != mujoco.mjtJoint.mjJNT_FREE:
            raise ValueError(f"joint {joint!r} is not free")
        norm = np.linalg.norm(quat)
        if norm == 0:
            raise ValueError("quat has no length")
        start = int(model.joint(joint).qposadr[0])
        data.qpos[start : start + 3] = pos
        data.qpos[start + 3 : start + 7] = np.asarray(quat) / norm

    return {"set_free_pose": set_free_pose}


PARTS = ("position", "quaternion", "the rest of qpos", "the inputs", "the model")


def part_of(model: mujoco.MjModel, joint: str, part: str):
    """What is looked at: one part of `qpos` after the call, or the two inputs as they were left."""
    start = int(model.joint(joint).qposadr[0])

    def look(outcome: Outcome) -> object:
        outcome.result()
        after, data, _, pos, quat = outcome.args_after
        qpos = np.asarray(canonical(model, data.qpos))
        return {
            "position": qpos[start : start + 3],
            "quaternion": qpos[start + 3 : start + 7],
            "the rest of qpos": np.r_[qpos[:start], qpos[start + 7 :]],
            "the inputs": np.r_[pos, quat],
            "the model": after.qpos0,
        }[part]

    return look


def put(
    model: mujoco.MjModel,
    joint: str,
    seed: int,
    label: str,
    length: float = 1.0,
    parts: tuple[str, ...] = PARTS[:3],
) -> list[Case]:
    """Set a pose; what became of each part is a case."""
    rng = np.random.default_rng(seed)
    data = data_at(model, configuration(model, rng))
    pos, quat = rng.uniform(-1, 1, 3), unit(rng) * length
    return [
        call(
            "set_free_pose",
            model,
            data,
            joint,
            pos,
            quat,
            label=f"{label}: {part}",
            observe=part_of(model, joint, part),
            compare=close(1e-9),
        )
        for part in parts
    ]


def refused(model: mujoco.MjModel, joint: str, quat: np.ndarray, error: str, label: str) -> Case:
    rng = np.random.default_rng(120)
    data = data_at(model, configuration(model, rng))
    pos = rng.uniform(-1, 1, 3)
    return call(
        "set_free_pose", model, data, joint, pos, quat, label=label, raises=error, unchanged=True
    )


@exercise.part("the right place in qpos", points=1)
def places():
    several = scene("f", "h", "f", "b-s", "f", seed=110)
    cases = [
        *put(zoo(), "free", 110, "joint_zoo"),
        *put(zoo(), "free", 111, "joint_zoo, a quaternion of norm 2", 2.0),
        *put(two_boxes(), "free2", 112, "a box inserted before"),
        *put(two_boxes(), "free", 113, "a box inserted after", 0.5),
    ]
    for seed, joint in enumerate(("red_cube", "green_brick", "yellow_can"), 114):
        cases += put(load("pick_place"), joint, seed, f"{joint} of pick_place")
    for seed, joint in enumerate(("f0", "f2", "f5"), 117):
        cases += put(several, joint, seed, "several free joints", 1.3)
    return cases


@exercise.part("what must be refused", points=1)
def refusals():
    turn = np.array([0.6, 0.0, 0.8, 0.0])
    zero = np.zeros(4)
    return [
        *put(zoo(), "free", 121, "joint_zoo", parts=PARTS),
        *put(load("pick_place"), "green_brick", 122, "green_brick of pick_place", 3.0, PARTS),
        refused(zoo(), "free", zero, "ValueError", "a quaternion of norm 0"),
        refused(load("pick_place"), "red_cube", zero, "ValueError", "a quaternion of norm 0"),
        refused(zoo(), "hinge", turn, "ValueError", "the joint is a hinge"),
        refused(zoo(), "ball", turn, "ValueError", "the joint is a ball joint"),
        refused(zoo(), "slide", turn, "ValueError", "the joint is a slide"),
        refused(zoo(), "nowhere", turn, "KeyError", "there is no such joint"),
    ]


_HARD = (
    "The address in your code is fixed (`qpos[0:7]`) or counted by hand. An object inserted "
    "before moves it: read `model.joint(name).qposadr`."
)


@exercise.misconception(_HARD, id="hard_coded")
def hard_coded():
    def set_free_pose(model, data, joint, pos, quat):
        if model.joint(joint).type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        data.qpos[0:3] = pos
        data.qpos[3:7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(_HARD, id="hard_coded")
def seven_times_the_number():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = 7 * j.id
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(_HARD, id="hard_coded")
def counted_by_free_joints():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = 7 * int(np.sum(model.jnt_type[: j.id] == 0))
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "You write into `qpos` at the joint's velocity address (`jnt_dofadr`); positions lie at "
    "`jnt_qposadr`."
)
def velocity_address():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = j.dofadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "You write at the joint's number instead of its address: `joint.id` counts joints, "
    "`joint.qposadr` counts numbers in `qpos`."
)
def joint_number_for_address():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        data.qpos[j.id : j.id + 3] = pos
        data.qpos[j.id + 3 : j.id + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "The quaternion is written without being normalised; `qpos` must hold unit quaternions."
)
def not_normalised():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = quat


@exercise.misconception(
    "A quaternion of norm zero is not refused (or NaN is written into `qpos`): raise `ValueError` "
    "before anything is written."
)
def accepts_zero_quaternion():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "A quaternion of norm zero is not refused (or NaN is written into `qpos`): raise `ValueError` "
    "before anything is written.",
    id="accepts_zero_quaternion",
)
def zero_quaternion_becomes_identity():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        new = np.array(quat, float)
        mujoco.mju_normalize4(new)
        data.qpos[a + 3 : a + 7] = new


@exercise.misconception(
    "The position is already written when your code finds that the quaternion is bad. Check "
    "first, then write: a refused call changes nothing."
)
def writes_before_it_checks():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


_TYPE = (
    "A joint that is not free is not refused, and its neighbours' numbers are overwritten. Look "
    "at `jnt_type` and raise `ValueError`."
)


@exercise.misconception(_TYPE, id="accepts_other_joints")
def accepts_other_joints():
    def set_free_pose(model, data, joint, pos, quat):
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = model.joint(joint).qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(_TYPE, id="accepts_other_joints")
def accepts_other_joints_to_the_end():
    def set_free_pose(model, data, joint, pos, quat):
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = model.joint(joint).qposadr[0]
        pose = np.r_[pos, np.asarray(quat) / np.linalg.norm(quat)]
        for i in range(min(7, model.nq - a)):
            data.qpos[a + i] = pose[i]


@exercise.misconception(
    "The errors have the wrong class: an unknown name is a `KeyError`, a bad value a `ValueError`.",
    id="wrong_classes",
)
def refuses_by_assertion():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        assert j.type[0] == 0
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(_TYPE, id="accepts_other_joints")
def ignores_other_joints():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            return
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


_UNKNOWN = (
    "An unknown joint must raise `KeyError`; yours is accepted or raises something else. "
    "`mj_name2id` returns -1 there, which Python takes for the last joint; `model.joint(name)` "
    "raises by itself."
)


@exercise.misconception(_UNKNOWN, id="unknown_joint_accepted")
def unknown_joint_is_the_last():
    def set_free_pose(model, data, joint, pos, quat):
        j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if model.jnt_type[j] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = model.jnt_qposadr[j]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(_UNKNOWN, id="unknown_joint_accepted")
def unknown_joint_is_ignored():
    def set_free_pose(model, data, joint, pos, quat):
        j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if j < 0:
            return
        if model.jnt_type[j] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = model.jnt_qposadr[j]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


_LAST = (
    "The quaternion is written with the scalar part last (or its order is changed on the way); "
    "`qpos` holds (w, x, y, z), as it is given."
)


@exercise.misconception(_LAST, id="scalar_last")
def scalar_last():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.roll(quat, -1) / np.linalg.norm(quat)


@exercise.misconception(_LAST, id="scalar_last")
def scalar_last_taken():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.roll(quat, 1) / np.linalg.norm(quat)


@exercise.misconception("Quaternion and position are swapped: the position comes first in `qpos`.")
def quaternion_first():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = j.qposadr[0]
        data.qpos[a : a + 4] = np.asarray(quat) / np.linalg.norm(quat)
        data.qpos[a + 4 : a + 7] = pos


@exercise.misconception(
    "The pose does not arrive in `data.qpos`: it is written somewhere else (a copy, `xpos` and "
    "`xquat`, which are derived) or not at all."
)
def writes_derived_quantities():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        b = j.bodyid[0]
        data.xpos[b] = pos
        data.xquat[b] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "Your function normalises the caller's quaternion in place; leave inputs as they are: "
    "`quat / np.linalg.norm(quat)` makes a new array."
)
def normalises_the_input():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        norm = np.linalg.norm(quat)
        if norm == 0:
            raise ValueError("quat has no length")
        quat /= norm
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = quat


_RESETS = (
    "Setting one pose changes others: the data is reset on the way. Write the seven numbers of the "
    "joint and nothing else."
)


@exercise.misconception(_RESETS, id="resets_the_rest")
def resets_the_rest():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        mujoco.mj_resetData(model, data)
        a = j.qposadr[0]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "The pose is added to where the body is; it is to be set there: assign, without `+=`."
)
def adds_to_the_pose():
    def set_free_pose(model, data, joint, pos, quat):
        j = model.joint(joint)
        if j.type[0] != 0:
            raise ValueError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        a = j.qposadr[0]
        data.qpos[a : a + 3] += pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "The errors have the wrong class: an unknown name is a `KeyError`, a bad value a `ValueError`."
)
def wrong_classes():
    def set_free_pose(model, data, joint, pos, quat):
        j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if j < 0:
            raise ValueError(f"no joint {joint}")
        if model.jnt_type[j] != 0:
            raise TypeError(f"{joint} is not free")
        if np.linalg.norm(quat) == 0:
            raise ZeroDivisionError("quat has no length")
        a = model.jnt_qposadr[j]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


@exercise.misconception(
    "The joint is looked for among the bodies. Here they share names; the question is about a "
    "joint: `model.joint(name)`."
)
def looks_among_bodies():
    def set_free_pose(model, data, joint, pos, quat):
        body = model.body(joint)
        if np.linalg.norm(quat) == 0:
            raise ValueError("quat has no length")
        if model.jnt_type[body.jntadr[0]] != 0:
            raise ValueError(f"{joint} is not free")
        a = model.jnt_qposadr[body.jntadr[0]]
        data.qpos[a : a + 3] = pos
        data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.linalg.norm(quat)


# More mistakes: the checks and the two lines of the right answer, put wrong one at a time.
CELL = """\
def set_free_pose(model, data, joint, pos, quat):
    {unknown}
    j = model.joint(joint)
    {kind}
    norm = np.linalg.norm(quat)
    {zero}
    a = int(j.qposadr[0])
    {place}
    {turn}
"""
RIGHT = {
    "unknown": "pass",
    "kind": "if j.type[0] != 0: raise ValueError(joint)",
    "zero": "if norm == 0: raise ValueError('quat')",
    "place": "data.qpos[a : a + 3] = pos",
    "turn": "data.qpos[a + 3 : a + 7] = np.asarray(quat) / norm",
}


def _mistake(id: str, text: str, *changes: dict[str, str]) -> None:
    for change in changes:
        cell = CELL.format(**(RIGHT | change))
        exercise.misconceptions.append(Implementation(id, text, cell))


_mistake(
    "position_forgotten",
    "The position of the joint is not set: `qpos[a:a + 3]`.",
    {"place": "pass"},
)
_mistake(
    "quaternion_forgotten",
    "The orientation of the joint is not set: `qpos[a + 3:a + 7]`.",
    {"turn": "pass"},
)
_mistake(
    "conjugated",
    "The conjugate of the quaternion is written: that is the inverse turn.",
    {"turn": "data.qpos[a + 3 : a + 7] = np.asarray(quat) * [1, -1, -1, -1] / norm"},
)
_mistake(
    "divides_by_another_norm",
    "The quaternion is divided by something else than its norm (the square of it, a sum, the "
    "largest entry). Use `np.linalg.norm(quat)`.",
    {"turn": "data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.dot(quat, quat)"},
    {"turn": "data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.sum(quat)"},
    {"turn": "data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.sum(np.abs(quat))"},
    {"turn": "data.qpos[a + 3 : a + 7] = np.asarray(quat) / np.max(np.abs(quat))"},
)
_mistake(
    "refuses_without_raising",
    "A call that cannot be done returns (or prints) instead of raising: the caller goes on as if "
    "the pose were set. Raise `ValueError`.",
    {"kind": "if j.type[0] != 0: return", "zero": "if norm == 0: return"},
    {"zero": "if norm == 0: return"},
)
_mistake(
    "wrong_classes",
    "The errors have the wrong class: an unknown name is a `KeyError`, a bad value a `ValueError`.",
    {
        "kind": "if j.type[0] != 0: raise Exception(joint)",
        "zero": "if norm == 0: raise Exception()",
    },
    {"kind": "if j.type[0] != 0: raise TypeError(joint)"},
    {"kind": "if j.type[0] != 0: raise KeyError(joint)"},
    {"zero": "if norm == 0: raise ZeroDivisionError()"},
    {"zero": "if norm == 0: raise KeyError('quat')"},
    {"kind": "assert j.type[0] == 0", "zero": "assert norm > 0"},
    {"zero": "assert norm > 0"},
)
_mistake(
    "unknown_joint_accepted",
    _UNKNOWN,
    {
        "unknown": "if joint not in [model.joint(i).name for i in range(model.njnt)]: "
        "raise ValueError(joint)"
    },
    {
        "unknown": "if joint not in [model.joint(i).name for i in range(model.njnt)]: "
        "raise NameError(joint)"
    },
    {"unknown": "if joint not in [model.joint(i).name for i in range(model.njnt)]: return"},
)
_mistake(
    "accepts_zero_quaternion",
    "A quaternion of norm zero is not refused (or NaN is written into `qpos`): raise `ValueError` "
    "before anything is written.",
    {"zero": "norm = norm or 1.0"},
    {"zero": "if norm == 0: quat, norm = [1, 0, 0, 0], 1.0"},
)
_mistake("accepts_other_joints", _TYPE, {"kind": "if j.type[0] > 1: raise ValueError(joint)"})
_mistake(
    "accepts_everything",
    "Nothing is refused: a joint that is not free and a quaternion of norm zero must raise "
    "`ValueError` before anything is written.",
    {"kind": "pass", "zero": "pass"},
    {"kind": "pass", "zero": "pass", "turn": "data.qpos[a + 3 : a + 7] = quat"},
    {
        "kind": "pass",
        "zero": "pass",
        "place": "data.joint(joint).qpos[:3] = pos",
        "turn": "data.joint(joint).qpos[3:] = np.asarray(quat) / norm",
    },
)


@exercise.variant("through the joint's own view of qpos")
def by_view():
    def set_free_pose(model, data, joint, pos, quat):
        view = data.joint(joint)
        if model.joint(joint).type != mujoco.mjtJoint.mjJNT_FREE:
            raise ValueError(f"joint {joint!r} is a {model.joint(joint).type}")
        length = np.linalg.norm(quat)
        if not length > 0:
            raise ValueError(f"quat {quat} has no length")
        view.qpos = np.hstack([pos, np.divide(quat, length)])


@exercise.variant("its own errors, the other sign of the quaternion, forward at the end")
def own_errors():
    class NoSuchJoint(KeyError):
        pass

    class NotFree(ValueError):
        pass

    def set_free_pose(model, data, joint, pos, quat):
        j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if j == -1:
            raise NoSuchJoint(joint)
        if model.jnt_type[j] != mujoco.mjtJoint.mjJNT_FREE:
            raise NotFree(joint)
        if not np.any(quat):
            raise NotFree("quat")
        a = model.jnt_qposadr[j]
        q = -np.array(quat, float)
        mujoco.mju_normalize4(q)
        data.qpos[a : a + 7] = [*pos, *q]
        mujoco.mj_forward(model, data)


@exercise.variant("a loop over the joints by name")
def by_loop():
    import math

    def set_free_pose(model, data, joint, pos, quat):
        names = {model.joint(i).name: i for i in range(model.njnt)}
        i = names[joint]
        if int(model.jnt_type[i]):
            raise ValueError("only free joints have a pose")
        n = math.sqrt(sum(float(c) * float(c) for c in quat))
        if n < 1e-12:
            raise ValueError("zero quaternion")
        start = int(model.jnt_qposadr[i])
        for k in range(3):
            data.qpos[start + k] = pos[k]
        for k in range(4):
            data.qpos[start + 3 + k] = quat[k] / n
        return data
