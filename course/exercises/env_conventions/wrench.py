"""`wrench`: a force at a point, as the wrench at the centre of mass that MuJoCo applies."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, same
from course.exercises.env_conventions import rigs

exercise = Exercise("wrench", points=4, provides=("wrench_at_com", "apply_wrench"))

BODIES = ("parcel", "tool", "elbow", "wrist", "bob", "carriage")


@exercise.reference
def reference():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point, float) - data.xipos[model.body(body).id]
        force = np.asarray(force, float)
        return np.concatenate([force, np.asarray(torque, float) + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        row = wrench_at_com(model, data, body, force, torque, point)
        data.xfrc_applied[model.body(body).id] = row

    return {"wrench_at_com": wrench_at_com, "apply_wrench": apply_wrench}


def _joint_forces(model, data, body, wrench):
    """What a wrench in that body's row does to all joints, by MuJoCo."""
    qfrc = np.zeros(model.nv)
    i = model.body(body).id
    mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], data.xipos[i], i, qfrc)
    return qfrc


def _wrench(seed, body, label="", **given):
    model, data = rigs.arm(), rigs.moving(seed)
    rng = np.random.default_rng(seed + 5000)
    force, torque = rng.uniform(-20, 20, 3), rng.uniform(-3, 3, 3)
    point = data.body(body).xpos + rng.uniform(-0.3, 0.3, 3)
    args = {"force": force, "torque": torque, "point": point}
    for key, value in given.items():
        args[key] = value(model, data) if callable(value) else value
    return model, data, body, args["force"], args["torque"], args["point"]


def _at_com(seed, body, label="", unchanged=False, **given):
    return call("wrench_at_com", *_wrench(seed, body, **given), label=label, unchanged=unchanged)


def _applied(outcome):
    data = outcome.args_after[1]
    kept = [np.array(getattr(data, n)) for n in ("qfrc_applied", "ctrl", "qpos", "qvel")]
    return np.array(data.xfrc_applied), kept, outcome.value


APPLIED = each([close(), each([close(0)] * 4), same()])


def _apply(seed, body, label="", **given):
    return call(
        "apply_wrench",
        *_wrench(seed, body, **given),
        label=label or f"applied to {body!r}",
        observe=_applied,
        compare=APPLIED,
    )


@exercise.part("wrench_at_com: ordinary", points=1.5)
def ordinary():
    return [_at_com(600 + i, body, label=f"on {body!r}") for i, body in enumerate(BODIES * 2)]


@exercise.part("wrench_at_com: edge cases", points=1)
def edges():
    def com(body):
        return lambda model, data: np.array(data.body(body).xipos)

    def frame(body):
        return lambda model, data: np.array(data.body(body).xpos)

    zero = np.zeros(3)
    return [
        _at_com(620, "tool", "the point is the centre of mass", point=com("tool")),
        _at_com(621, "parcel", "the point is the centre of mass", point=com("parcel")),
        _at_com(622, "tool", "the point is the body frame's origin", point=frame("tool")),
        _at_com(623, "elbow", "the point is the body frame's origin", point=frame("elbow")),
        _at_com(624, "wrist", "a torque alone", force=zero),
        _at_com(625, "wrist", "a force alone", torque=zero),
        _at_com(626, "carriage", "the point is the world's origin", point=zero),
        _at_com(627, "bob", "nothing", force=zero, torque=zero),
        _at_com(628, "tool", "lists", force=[1, 2, -3], torque=(0.5, 0, 1), point=[0.1, 0, 0.7]),
        _at_com(629, "parcel"),
    ]


@exercise.part("apply_wrench", points=1)
def applied():
    cases = [_apply(640 + i, body) for i, body in enumerate(BODIES)]
    cases.append(_apply(650, "tool", "lists", force=[1, 2, 3], torque=[0, 0, 1], point=[0, 0, 1]))
    cases.append(
        _apply(651, "tool", "a zero wrench clears the row", force=np.zeros(3), torque=np.zeros(3))
    )
    return cases


@exercise.part("contract: inputs left as they were, unknown names refused", points=0.5)
def contract():
    return [
        _at_com(660, "tool", unchanged=True),
        _at_com(661, "parcel", unchanged=True),
        call(
            "wrench_at_com",
            rigs.arm(),
            rigs.moving(662),
            "hand",
            np.ones(3),
            np.ones(3),
            np.ones(3),
            label="an unknown body",
            raises="KeyError",
        ),
        call(
            "apply_wrench",
            rigs.arm(),
            rigs.moving(663),
            "hand",
            np.ones(3),
            np.ones(3),
            np.ones(3),
            label="an unknown body",
            raises="KeyError",
            unchanged=True,
        ),
        _apply(664, "wrist"),
    ]


@exercise.misconception(
    "The lever arm starts at the body's frame (`xpos`). The wrench acts at the centre of mass: "
    "start at `xipos`."
)
def lever_from_the_body_frame():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xpos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The cross product has the wrong sign: the moment is lever x force, not force x lever."
)
def cross_product_reversed():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(force, lever)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The torque comes first. In `xfrc_applied`, and here, the order is force, then torque."
)
def torque_first():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([torque + np.cross(lever, force), force])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The point has no effect: a force off the centre of mass turns the body too. Add lever x force."
)
def no_lever():
    def wrench_at_com(model, data, body, force, torque, point):
        model.body(body)
        return np.concatenate([np.asarray(force, float), np.asarray(torque, float)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The given torque is left out: the moment at the centre of mass is torque + lever x force."
)
def torque_forgotten():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The lever arm is the point itself, measured from the world's origin. Measure it from the "
    "body's centre of mass."
)
def lever_from_the_origin():
    def wrench_at_com(model, data, body, force, torque, point):
        model.body(body)
        return np.concatenate([force, torque + np.cross(np.asarray(point), force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The lever arm starts at the centre of mass of the whole subtree (`subtree_com`). The wrench "
    "acts at this body's own: `xipos`."
)
def lever_from_the_subtree():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).subtree_com
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The lever arm starts at `body_ipos`, which is given in the body's frame. The point is a world "
    "point: use `data.xipos`."
)
def lever_from_a_local_com():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - model.body(body).ipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The wrench is turned into the body's axes. `xfrc_applied` is given along the world's axes."
)
def body_axes():
    def wrench_at_com(model, data, body, force, torque, point):
        R = data.body(body).xmat.reshape(3, 3)
        lever = np.asarray(point) - data.body(body).xipos
        moment = torque + np.cross(lever, force)
        return np.concatenate([R.T @ force, R.T @ moment])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "Force and torque are taken as given along the body's axes and turned into the world. They "
    "are given along the world's axes already."
)
def turns_into_the_world():
    def wrench_at_com(model, data, body, force, torque, point):
        R = data.body(body).xmat.reshape(3, 3)
        force, torque = R @ force, R @ torque
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The lever arm points the wrong way: it goes from the centre of mass to the point."
    " With it reversed the moment changes its sign.",
    id="cross_product_reversed",
)
def lever_reversed():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = data.body(body).xipos - np.asarray(point)
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The moment is subtracted: it is torque + lever x force.", id="cross_product_reversed"
)
def moment_subtracted():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque - np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The wrench is added to what the row held. A push stays until it is overwritten, so adding at "
    "every call lets it grow: assign the row."
)
def accumulates():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] += wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The rows of all other bodies are cleared. Only this body's row is yours to write."
)
def clears_other_bodies():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        row = wrench_at_com(model, data, body, force, torque, point)
        data.xfrc_applied[:] = 0
        data.body(body).xfrc_applied[:] = row


@exercise.misconception(
    "The wrench is written into every body's row. Only the named body's row is asked for."
)
def writes_every_row():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "The force goes into `qfrc_applied` (by `mj_applyFT`). The environment writes the body's row "
    "of `xfrc_applied` and never `qfrc_applied`."
)
def writes_joint_forces():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        mujoco.mj_applyFT(
            model,
            data,
            np.array(force, float),
            np.array(torque, float),
            np.array(point, float),
            model.body(body).id,
            data.qfrc_applied,
        )


@exercise.misconception(
    "`apply_wrench` writes force and torque as given, without the moment of the lever arm: use "
    "`wrench_at_com` for the row."
)
def applies_without_the_lever():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = np.concatenate([force, torque])


@exercise.misconception(
    "`apply_wrench` computes the wrench but does not write it: assign it to the body's row of "
    "`data.xfrc_applied`."
)
def not_applied():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "`apply_wrench` returns the wrench; it is asked to write it and to return None."
)
def returns_what_it_applies():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        row = wrench_at_com(model, data, body, force, torque, point)
        data.body(body).xfrc_applied[:] = row
        return row


@exercise.misconception(
    "The argument `torque` is changed by `+=`: the caller's array grows. Make a new array."
)
def adds_in_place():
    def wrench_at_com(model, data, body, force, torque, point):
        lever = np.asarray(point) - data.body(body).xipos
        if isinstance(torque, np.ndarray) and torque.dtype == float:
            torque += np.cross(lever, force)
        else:
            torque = torque + np.cross(lever, force)
        return np.concatenate([force, torque])

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied[:] = wrench_at_com(model, data, body, force, torque, point)


@exercise.misconception(
    "An unknown body becomes id -1, the last body. Raise a KeyError where `mj_name2id` gives -1."
)
def unknown_name_accepted():
    def wrench_at_com(model, data, body, force, torque, point):
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
        lever = np.asarray(point) - data.xipos[i]
        return np.concatenate([force, torque + np.cross(lever, force)])

    def apply_wrench(model, data, body, force, torque, point):
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
        data.xfrc_applied[i] = wrench_at_com(model, data, body, force, torque, point)


@exercise.variant("component by component, a list returned")
def by_components():
    def wrench_at_com(model, data, body, force, torque, point):
        rx, ry, rz = (p - c for p, c in zip(point, data.body(body).xipos, strict=True))
        fx, fy, fz = force
        tx, ty, tz = torque
        return [
            fx,
            fy,
            fz,
            tx + ry * fz - rz * fy,
            ty + rz * fx - rx * fz,
            tz + rx * fy - ry * fx,
        ]

    def apply_wrench(model, data, body, force, torque, point):
        data.body(body).xfrc_applied = wrench_at_com(model, data, body, force, torque, point)


@exercise.variant("the skew matrix")
def by_matrix():
    def _skew(v):
        x, y, z = v
        return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])

    def wrench_at_com(model, data, body, force, torque, point):
        i = model.body(body).id
        r = np.subtract(point, data.xipos[i])
        A = np.block([[np.eye(3), np.zeros((3, 3))], [_skew(r), np.eye(3)]])
        return A @ np.r_[force, torque]

    def apply_wrench(model, data, body, force, torque, point):
        i = model.body(body).id
        data.xfrc_applied[i, :] = wrench_at_com(model, data, body, force, torque, point)
        return None


@exercise.variant("MuJoCo's cross product; apply does its own sum")
def by_mujoco():
    def wrench_at_com(model, data, body, force, torque, point):
        moment = np.zeros(3)
        lever = np.array(point, float) - data.body(body).xipos
        mujoco.mju_cross(moment, lever, np.array(force, float))
        return tuple(np.hstack([force, np.array(torque, float) + moment]))

    def apply_wrench(model, data, body, force, torque, point):
        i = model.body(body).id
        data.xfrc_applied[i, :3] = force
        data.xfrc_applied[i, 3:] = np.asarray(torque) + np.cross(point - data.xipos[i], force)


@exercise.variant("step by step")
def step_by_step():
    def wrench_at_com(model, data, body, force, torque, point):
        i = model.body(body).id
        F, M = np.array(force, float), np.array(torque, float)
        lever = np.array(point, float) - data.xipos[i]
        moment = M + np.cross(lever, F)
        return np.concatenate([F, moment])

    def apply_wrench(model, data, body, force, torque, point):
        i = model.body(body).id
        row = wrench_at_com(model, data, body, force, torque, point)
        data.xfrc_applied[i] = row


_wrong = exercise.slips(exercise.variants[-1].cell)


_wrong(
    "moment_twice",
    "The moment of the lever arm is counted twice (or scaled): it is torque + lever x force.",
    ("M + np.cross", "M + 2 * np.cross"),
)
_wrong(
    "point_ignored",
    "The moment does not depend on the point: the lever arm goes from the centre of mass to the "
    "point where the force acts.",
    ("np.array(point, float)", "data.xpos[i]"),
)
_wrong(
    "another_bodys_com",
    "The lever arm starts at another body's centre of mass (the parent's).",
    ("data.xipos[i]", "data.xipos[model.body_parentid[i]]"),
)
_wrong(
    "dot_for_cross",
    "The moment is no cross product: an entry-by-entry product of lever and force has no meaning "
    "here.",
    ("np.cross(lever, F)", "lever * F"),
)
_wrong(
    "not_six_numbers",
    "The wrench comes as two vectors; it is one of shape (6,): force, then torque.",
    ("np.concatenate([F, moment])", "np.array([F, moment])"),
    ("data.xfrc_applied[i] = row", "data.xfrc_applied[i] = np.ravel(row)"),
)
_wrong(
    "not_six_numbers",
    "The wrench comes as a pair of vectors; it is one of shape (6,): force, then torque.",
    ("np.concatenate([F, moment])", "(F, moment)"),
    ("data.xfrc_applied[i] = row", "data.xfrc_applied[i] = np.ravel(row)"),
)
for _row in ("i - 1", "(i + 1) % model.nbody", "0"):
    _wrong(
        "another_bodys_row",
        "`wrench_at_com` is right, but `apply_wrench` writes another body's row: rows of "
        "`xfrc_applied` are counted by body id, the world is row 0.",
        ("data.xfrc_applied[i] = row", f"data.xfrc_applied[{_row}] = row"),
    )
_wrong(
    "applies_torque_first",
    "`wrench_at_com` is right, but `apply_wrench` writes torque before force. `xfrc_applied` holds "
    "force first.",
    ("data.xfrc_applied[i] = row", "data.xfrc_applied[i] = [*row[3:], *row[:3]]"),
)
_wrong(
    "applies_the_negative",
    "`apply_wrench` writes the negative: `xfrc_applied` is the force *on* the body.",
    ("data.xfrc_applied[i] = row", "data.xfrc_applied[i] = -row"),
)
_wrong(
    "applies_half_of_it",
    "`apply_wrench` writes the force and leaves the torque of an earlier push in place: overwrite "
    "the whole row.",
    ("data.xfrc_applied[i] = row", "data.xfrc_applied[i, :3] = row[:3]"),
)
_wrong(
    "applies_half_of_it",
    "`apply_wrench` writes the torque and leaves the force of an earlier push in place: overwrite "
    "the whole row.",
    ("data.xfrc_applied[i] = row", "data.xfrc_applied[i, 3:] = row[3:]"),
)
_wrong(
    "clears_joint_forces",
    "`apply_wrench` clears `qfrc_applied`, which belongs to somebody else.",
    ("data.xfrc_applied[i] = row", "data.xfrc_applied[i] = row\n    data.qfrc_applied[:] = 0"),
)
_wrong(
    "steps_as_well",
    "`apply_wrench` takes a step: it is asked to write the row and nothing else.",
    (
        "data.xfrc_applied[i] = row",
        "data.xfrc_applied[i] = row\n    mujoco.mj_step(model, data)",
    ),
)
_wrong(
    "zero_wrench_skipped",
    "`apply_wrench` skips a zero wrench, so the old push goes on. Zero is a value like any other.",
    ("    data.xfrc_applied[i] = row", "    if np.any(row):\n        data.xfrc_applied[i] = row"),
)
_wrong(
    "lists_refused",
    "Lists are not accepted: turn force, torque and point into arrays with `np.asarray` first.",
    ("np.array(force, float), np.array(torque, float)", "force * 1.0, torque * 1.0"),
)


@exercise.misconception(
    "`apply_wrench` works the wrench out but does not write it: it belongs into the body's row of "
    "`data.xfrc_applied`."
)
def nothing_written():
    def wrench_at_com(model, data, body, force, torque, point):
        arm = np.subtract(point, data.body(body).xipos)
        return np.concatenate([force, np.add(torque, np.cross(arm, force))])

    def apply_wrench(model, data, body, force, torque, point):
        return wrench_at_com(model, data, body, force, torque, point)
