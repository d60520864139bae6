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
    return [_at_com(600 + i, body, label=f"on {body!r}") for i, body in enumerate(BODIES)]


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
        _at_com(624, "wrist", "a torque alone", force=zero),
        _at_com(625, "wrist", "a force alone", torque=zero),
        _at_com(626, "carriage", "the point is the world's origin", point=zero),
        _at_com(627, "bob", "nothing", force=zero, torque=zero),
        _at_com(628, "tool", "lists", force=[1, 2, -3], torque=(0.5, 0, 1), point=[0.1, 0, 0.7]),
        _at_com(629, "parcel"),
    ]


@exercise.part("apply_wrench", points=1)
def applied():
    cases = [_apply(640 + i, body) for i, body in enumerate(BODIES[:4])]
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
        *(
            call(
                *(function, rigs.arm(), rigs.moving(662), "hand", *np.ones((3, 3))),
                label="an unknown body",
                raises="KeyError",
                unchanged=True,
            )
            for function in exercise.provides
        ),
        _apply(664, "wrist"),
    ]


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


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_ARGUMENTS = "F, M = np.array(force, float), np.array(torque, float)"
_LEVER = "lever = np.array(point, float) - data.xipos[i]"
_RESULT = "np.concatenate([F, moment])"
_WRITE = "data.xfrc_applied[i] = row"

# The lever arm
slip(
    "lever_from_the_body_frame",
    "The lever arm starts at the body's frame (`xpos`). The wrench acts at the centre of mass: "
    "start at `xipos`.",
    ("data.xipos", "data.xpos"),
)
slip(
    "lever_from_the_origin",
    "The lever arm is the point itself, measured from the world's origin. Measure it from the "
    "body's centre of mass.",
    (" - data.xipos[i]", ""),
)
slip(
    "lever_from_the_subtree",
    "The lever arm starts at the centre of mass of the whole subtree (`subtree_com`). The wrench "
    "acts at this body's own: `xipos`.",
    ("data.xipos", "data.subtree_com"),
)
slip(
    "lever_from_a_local_com",
    "The lever arm starts at `body_ipos`, which is given in the body's frame. The point is a world "
    "point: use `data.xipos`.",
    ("data.xipos", "model.body_ipos"),
)
slip(
    "another_bodys_com",
    "The lever arm starts at another body's centre of mass (the parent's).",
    ("data.xipos[i]", "data.xipos[model.body_parentid[i]]"),
)
slip(
    "point_ignored",
    "The moment does not depend on the point: the lever arm goes from the centre of mass to the "
    "point where the force acts.",
    ("np.array(point, float)", "data.xpos[i]"),
)
slip(
    "no_lever",
    "The point has no effect: a force off the centre of mass turns the body too. Add lever x "
    "force.",
    (" + np.cross(lever, F)", ""),
)

# The moment
slip(
    "cross_product_reversed",
    "The cross product has the wrong sign: the moment is lever x force, not force x lever.",
    ("np.cross(lever, F)", "np.cross(F, lever)"),
)
slip(
    "cross_product_reversed",
    "The lever arm points the wrong way: it goes from the centre of mass to the point. With it "
    "reversed the moment changes its sign.",
    (_LEVER, "lever = data.xipos[i] - np.array(point, float)"),
)
slip(
    "cross_product_reversed",
    "The moment is subtracted: it is torque + lever x force.",
    ("M + np.cross", "M - np.cross"),
)
slip(
    "torque_forgotten",
    "The given torque is left out: the moment at the centre of mass is torque + lever x force.",
    ("M + np.cross", "np.cross"),
)
slip(
    "moment_twice",
    "The moment of the lever arm is counted twice (or scaled): it is torque + lever x force.",
    ("M + np.cross", "M + 2 * np.cross"),
)
slip(
    "dot_for_cross",
    "The moment is no cross product: an entry-by-entry product of lever and force has no meaning "
    "here.",
    ("np.cross(lever, F)", "lever * F"),
)

# Order, axes, form
slip(
    "torque_first",
    "The torque comes first. In `xfrc_applied`, and here, the order is force, then torque.",
    ("[F, moment]", "[moment, F]"),
)
slip(
    "body_axes",
    "The wrench is turned into the body's axes. `xfrc_applied` is given along the world's axes.",
    (_RESULT, "np.ravel(np.array([F, moment]) @ data.xmat[i].reshape(3, 3))"),
)
slip(
    "turns_into_the_world",
    "Force and torque are taken as given along the body's axes and turned into the world. They "
    "are given along the world's axes already.",
    (_ARGUMENTS, "F, M = np.array([force, torque]) @ data.xmat[i].reshape(3, 3).T"),
)
for _pair, _form in (("np.array([F, moment])", "two"), ("(F, moment)", "a pair of")):
    slip(
        "not_six_numbers",
        f"The wrench comes as {_form} vectors; it is one of shape (6,): force, then torque.",
        (_RESULT, _pair),
        (_WRITE, "data.xfrc_applied[i] = np.ravel(row)"),
    )
slip(
    "lists_refused",
    "Lists are not accepted: turn force, torque and point into arrays with `np.asarray` first.",
    (_ARGUMENTS, "F, M = force * 1.0, torque * 1.0"),
)
slip(
    "adds_in_place",
    "The argument `torque` is changed by `+=`: the caller's array grows. Make a new array.",
    ("np.array(torque, float)", "np.asarray(torque, float)"),
    ("moment = M + ", "moment = M\n    moment += "),
)
slip(
    "unknown_name_accepted",
    "An unknown body becomes id -1, the last body. Raise a KeyError where `mj_name2id` gives -1.",
    ("model.body(body).id", "mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)"),
)

# What `apply_wrench` does with a right wrench
slip(
    "accumulates",
    "The wrench is added to what the row held. A push stays until it is overwritten, so adding at "
    "every call lets it grow: assign the row.",
    (_WRITE, "data.xfrc_applied[i] += row"),
)
slip(
    "clears_other_bodies",
    "The rows of all other bodies are cleared. Only this body's row is yours to write.",
    (_WRITE, f"data.xfrc_applied[:] = 0\n    {_WRITE}"),
)
slip(
    "writes_every_row",
    "The wrench is written into every body's row. Only the named body's row is asked for.",
    (_WRITE, "data.xfrc_applied[:] = row"),
)
for _row in ("i - 1", "(i + 1) % model.nbody", "0"):
    slip(
        "another_bodys_row",
        "`wrench_at_com` is right, but `apply_wrench` writes another body's row: rows of "
        "`xfrc_applied` are counted by body id, the world is row 0.",
        (_WRITE, f"data.xfrc_applied[{_row}] = row"),
    )
slip(
    "writes_joint_forces",
    "The force goes into `qfrc_applied` (by `mj_applyFT`). The environment writes the body's row "
    "of `xfrc_applied` and never `qfrc_applied`.",
    (
        _WRITE,
        "mujoco.mj_applyFT(model, data, row[:3], row[3:], data.xipos[i], i, data.qfrc_applied)",
    ),
)
slip(
    "clears_joint_forces",
    "`apply_wrench` clears `qfrc_applied`, which belongs to somebody else.",
    (_WRITE, f"{_WRITE}\n    data.qfrc_applied[:] = 0"),
)
slip(
    "applies_without_the_lever",
    "`apply_wrench` writes force and torque as given, without the moment of the lever arm: use "
    "`wrench_at_com` for the row.",
    (_WRITE, "data.xfrc_applied[i] = np.concatenate([force, torque])"),
)
slip(
    "applies_torque_first",
    "`wrench_at_com` is right, but `apply_wrench` writes torque before force. `xfrc_applied` holds "
    "force first.",
    (_WRITE, "data.xfrc_applied[i] = [*row[3:], *row[:3]]"),
)
slip(
    "applies_the_negative",
    "`apply_wrench` writes the negative: `xfrc_applied` is the force *on* the body.",
    (_WRITE, "data.xfrc_applied[i] = -row"),
)
for _half, _done, _left in ((":3", "force", "torque"), ("3:", "torque", "force")):
    slip(
        "applies_half_of_it",
        f"`apply_wrench` writes the {_done} and leaves the {_left} of an earlier push in place: "
        "overwrite the whole row.",
        (_WRITE, f"data.xfrc_applied[i, {_half}] = row[{_half}]"),
    )
slip(
    "zero_wrench_skipped",
    "`apply_wrench` skips a zero wrench, so the old push goes on. Zero is a value like any other.",
    (_WRITE, f"if np.any(row):\n        {_WRITE}"),
)
slip(
    "not_applied",
    "`apply_wrench` computes the wrench but does not write it: assign it to the body's row of "
    "`data.xfrc_applied`.",
    (_WRITE, "pass"),
)
slip(
    "nothing_written",
    "`apply_wrench` works the wrench out but does not write it: it belongs into the body's row of "
    "`data.xfrc_applied`.",
    (_WRITE, "return row"),
)
slip(
    "returns_what_it_applies",
    "`apply_wrench` returns the wrench; it is asked to write it and to return None.",
    (_WRITE, f"{_WRITE}\n    return row"),
)
slip(
    "steps_as_well",
    "`apply_wrench` takes a step: it is asked to write the row and nothing else.",
    (_WRITE, f"{_WRITE}\n    mujoco.mj_step(model, data)"),
)


# More right answers.
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
