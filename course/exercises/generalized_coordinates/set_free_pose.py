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


GOOD = """\
def set_free_pose(model, data, joint, pos, quat):
    j = model.joint(joint)
    if j.type[0] != 0:
        raise ValueError(f"{joint} is not free")
    norm = np.linalg.norm(quat)
    if norm == 0:
        raise ValueError("quat has no length")
    a = j.qposadr[0]
    data.qpos[a : a + 3] = pos
    data.qpos[a + 3 : a + 7] = np.asarray(quat) / norm
"""
_wrong = exercise.slips(GOOD)
_FIND = "    j = model.joint(joint)\n"
_KIND = '    if j.type[0] != 0:\n        raise ValueError(f"{joint} is not free")\n'
_ZERO = '    if norm == 0:\n        raise ValueError("quat has no length")\n'
_PLACE = "    data.qpos[a : a + 3] = pos\n"
_TURN = "    data.qpos[a + 3 : a + 7] = np.asarray(quat) / norm\n"

for _address in ("0", "7 * j.id", "7 * int(np.sum(model.jnt_type[: j.id] == 0))"):
    _wrong(
        "hard_coded",
        "The address in your code is fixed (`qpos[0:7]`) or counted by hand. An object inserted "
        "before moves it: read `model.joint(name).qposadr`.",
        ("j.qposadr[0]", _address),
    )
_wrong(
    "velocity_address",
    "You write into `qpos` at the joint's velocity address (`jnt_dofadr`); positions lie at "
    "`jnt_qposadr`.",
    ("j.qposadr[0]", "j.dofadr[0]"),
)
_wrong(
    "joint_number_for_address",
    "You write at the joint's number instead of its address: `joint.id` counts joints, "
    "`joint.qposadr` counts numbers in `qpos`.",
    ("j.qposadr[0]", "j.id"),
)
_wrong(
    "looks_among_bodies",
    "The joint is looked for among the bodies. Here they share names; the question is about a "
    "joint: `model.joint(name)`.",
    ("model.joint(joint)", "model.joint(model.body(joint).jntadr[0])"),
)

_wrong(
    "not_normalised",
    "The quaternion is written without being normalised; `qpos` must hold unit quaternions.",
    ("np.asarray(quat) / norm", "quat"),
)
for _norm in ("np.dot(quat, quat)", "np.sum(quat)", "np.sum(np.abs(quat))", "np.max(np.abs(quat))"):
    _wrong(
        "divides_by_another_norm",
        "The quaternion is divided by something else than its norm (the square of it, a sum, the "
        "largest entry). Use `np.linalg.norm(quat)`.",
        ("/ norm", f"/ {_norm}"),
    )
for _order in ("np.roll(quat, -1)", "np.roll(quat, 1)"):
    _wrong(
        "scalar_last",
        "The quaternion is written with the scalar part last (or its order is changed on the way); "
        "`qpos` holds (w, x, y, z), as it is given.",
        ("np.asarray(quat)", _order),
    )
_wrong(
    "conjugated",
    "The conjugate of the quaternion is written: that is the inverse turn.",
    ("np.asarray(quat)", "np.asarray(quat) * [1, -1, -1, -1]"),
)
_wrong(
    "quaternion_first",
    "Quaternion and position are swapped: the position comes first in `qpos`.",
    ("a : a + 3", "a + 4 : a + 7"),
    ("a + 3 : a + 7", "a : a + 4"),
)
_wrong("position_forgotten", "The position of the joint is not set: `qpos[a:a + 3]`.", (_PLACE, ""))
_wrong(
    "quaternion_forgotten",
    "The orientation of the joint is not set: `qpos[a + 3:a + 7]`.",
    (_TURN, ""),
)
_wrong(
    "writes_derived_quantities",
    "The pose does not arrive in `data.qpos`: it is written somewhere else (a copy, `xpos` and "
    "`xquat`, which are derived) or not at all.",
    ("data.qpos[a : a + 3]", "data.xpos[j.bodyid[0]]"),
    ("data.qpos[a + 3 : a + 7]", "data.xquat[j.bodyid[0]]"),
)
_wrong(
    "normalises_the_input",
    "Your function normalises the caller's quaternion in place; leave inputs as they are: "
    "`quat / np.linalg.norm(quat)` makes a new array.",
    (_TURN, "    quat /= norm\n    data.qpos[a + 3 : a + 7] = quat\n"),
)
_wrong(
    "resets_the_rest",
    "Setting one pose changes others: the data is reset on the way. Write the seven numbers of the "
    "joint and nothing else.",
    (_PLACE, "    mujoco.mj_resetData(model, data)\n" + _PLACE),
)
_wrong(
    "adds_to_the_pose",
    "The pose is added to where the body is; it is to be set there: assign, without `+=`.",
    ("= pos", "+= pos"),
)

_wrong(
    "writes_before_it_checks",
    "The position is already written when your code finds that the quaternion is bad. Check "
    "first, then write: a refused call changes nothing.",
    (_ZERO, ""),
    (_PLACE, _PLACE + _ZERO),
)
_ZERO_TAKEN = (
    "A quaternion of norm zero is not refused (or NaN is written into `qpos`): raise `ValueError` "
    "before anything is written."
)
_wrong("accepts_zero_quaternion", _ZERO_TAKEN, (_ZERO, ""))
_wrong("accepts_zero_quaternion", _ZERO_TAKEN, (_ZERO, "    norm = norm or 1.0\n"))
_wrong(
    "accepts_zero_quaternion",
    _ZERO_TAKEN,
    (_ZERO, "    if norm == 0:\n        quat, norm = [1, 0, 0, 0], 1.0\n"),
)
_wrong(
    "accepts_zero_quaternion",
    _ZERO_TAKEN,
    (_ZERO, "    quat = np.array(quat, float)\n    mujoco.mju_normalize4(quat)\n"),
    (" / norm", ""),
)

_OTHERS_TAKEN = (
    "A joint that is not free is not refused, and its neighbours' numbers are overwritten. Look "
    "at `jnt_type` and raise `ValueError`."
)
_wrong("accepts_other_joints", _OTHERS_TAKEN, (_KIND, ""))
_wrong("accepts_other_joints", _OTHERS_TAKEN, ("j.type[0] != 0", "j.type[0] > 1"))
_wrong("accepts_other_joints", _OTHERS_TAKEN, (_KIND, "    if j.type[0] != 0:\n        return\n"))
_wrong(
    "accepts_other_joints",
    _OTHERS_TAKEN,
    (_KIND, ""),
    (_PLACE, "    pose = np.r_[pos, np.asarray(quat) / norm]\n"),
    (_TURN, "    for i in range(min(7, model.nq - a)):\n        data.qpos[a + i] = pose[i]\n"),
)

_EVERYTHING = (
    "Nothing is refused: a joint that is not free and a quaternion of norm zero must raise "
    "`ValueError` before anything is written."
)
_wrong("accepts_everything", _EVERYTHING, (_KIND, ""), (_ZERO, ""))
_wrong("accepts_everything", _EVERYTHING, (_KIND, ""), (_ZERO, ""), (" / norm", ""))
_wrong(
    "accepts_everything",
    _EVERYTHING,
    (_KIND, ""),
    (_ZERO, ""),
    ("data.qpos[a : a + 3]", "data.joint(joint).qpos[:3]"),
    ("data.qpos[a + 3 : a + 7]", "data.joint(joint).qpos[3:]"),
)

_RAISE_KIND = 'raise ValueError(f"{joint} is not free")'
_RAISE_ZERO = 'raise ValueError("quat has no length")'
_SILENT = (
    "A call that cannot be done returns (or prints) instead of raising: the caller goes on as if "
    "the pose were set. Raise `ValueError`."
)
_wrong("refuses_without_raising", _SILENT, (_RAISE_KIND, "return"), (_RAISE_ZERO, "return"))
_wrong("refuses_without_raising", _SILENT, (_RAISE_ZERO, "return"))
for _edits in (
    [(_RAISE_KIND, "raise Exception(joint)"), (_RAISE_ZERO, "raise Exception()")],
    [(_RAISE_KIND, "raise TypeError(joint)")],
    [(_RAISE_KIND, "raise KeyError(joint)")],
    [(_RAISE_KIND, "raise AssertionError(joint)")],
    [(_RAISE_ZERO, "raise ZeroDivisionError()")],
    [(_RAISE_ZERO, "raise KeyError('quat')")],
    [(_RAISE_ZERO, "raise AssertionError()")],
    [(_RAISE_KIND, "raise AssertionError(joint)"), (_RAISE_ZERO, "raise AssertionError()")],
    [
        (_FIND, f"    try:\n    {_FIND}    except KeyError:\n        raise ValueError\n"),
        (_RAISE_KIND, "raise TypeError(joint)"),
        (_RAISE_ZERO, "raise ZeroDivisionError()"),
    ],
):
    _wrong(
        "wrong_classes",
        "The errors have the wrong class: an unknown name is a `KeyError`, a bad value a "
        "`ValueError`.",
        *_edits,
    )

_UNKNOWN = (
    "An unknown joint must raise `KeyError`; yours is accepted or raises something else. "
    "`mj_name2id` returns -1 there, which Python takes for the last joint; `model.joint(name)` "
    "raises by itself."
)
_BY_NUMBER = (
    ("j.type[0]", "model.jnt_type[j]"),
    ("j.qposadr[0]", "model.jnt_qposadr[j]"),
)
_NUMBER = "    j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)\n"
_wrong("unknown_joint_accepted", _UNKNOWN, (_FIND, _NUMBER), *_BY_NUMBER)
_wrong(
    "unknown_joint_accepted",
    _UNKNOWN,
    (_FIND, _NUMBER + "    if j < 0:\n        return\n"),
    *_BY_NUMBER,
)
for _refusal in ("raise ValueError(joint)", "raise NameError(joint)", "return"):
    _wrong(
        "unknown_joint_accepted",
        _UNKNOWN,
        (
            _FIND,
            "    if joint not in [model.joint(i).name for i in range(model.njnt)]:\n"
            f"        {_refusal}\n{_FIND}",
        ),
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
