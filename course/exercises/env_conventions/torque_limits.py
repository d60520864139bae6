"""`torque_limits`: the torque that a motor can give its joint in both directions."""

from __future__ import annotations

import copy
import functools

import mujoco
import numpy as np

from course.exercises import Exercise, call
from course.exercises.env_conventions import rigs

exercise = Exercise("torque_limits", points=3, provides=("joint_force_limits",))


@exercise.reference
def reference():
    def joint_force_limits(model, joint_names):
        """Drive every motor to its limit, both ways, and read what reaches the joints."""
        driven = copy.copy(model)
        driven.opt.disableactuator = ~(1 << 2) & 0x7FFFFFFF
        dofs = [driven.jnt_dofadr[driven.joint(name).id] for name in joint_names]
        reached = []
        for command in (1e9, -1e9):
            data = mujoco.MjData(driven)
            data.ctrl[:] = command
            mujoco.mj_fwdPosition(driven, data)
            mujoco.mj_fwdVelocity(driven, data)
            mujoco.mj_fwdActuation(driven, data)
            reached.append(data.qfrc_actuator[dofs])
        ways = np.sort(reached, axis=0)
        limit = np.minimum(-ways[0], ways[1])
        return np.where(limit > 1e8, np.inf, limit)

    return {"joint_force_limits": joint_force_limits}


def _symmetric(rng, size):
    end = float(rng.uniform(0.3, 3.0) * size)
    return f"{-end} {end}"


def _uneven(rng, size):
    low, high = rng.uniform(0.3, 3.0, 2) * size
    return f"{-low} {high}"


@functools.cache
def _ordinary_rig(seed: int) -> mujoco.MjModel:
    """Every motor has a gear and a control range; some a force range; some joints their own."""
    rng = np.random.default_rng(seed)
    joints = []
    for i in range(6):
        gear = float(rng.choice([0.5, 3.0, 4.0, 10.0, -2.0, -6.0]))
        motor = {"gear": str(gear), "ctrlrange": _symmetric(rng, 1.0)}
        if i in (1, 4):
            motor["forcerange"] = _symmetric(rng, 0.5)
        if i in (2, 4):
            motor["actuatorfrcrange"] = _symmetric(rng, 0.4 * abs(gear))
        joints.append(motor)
    return rigs.torque_rig(joints, order=[int(k) for k in rng.permutation(6)])


@functools.cache
def _edge_rig() -> mujoco.MjModel:
    return rigs.torque_rig(
        [
            {"gear": "4", "ctrlrange": "-1 3"},
            {"gear": "-2", "ctrlrange": "-5 2"},
            {"gear": "3", "forcerange": "-6 2"},
            {"gear": "5", "actuatorfrcrange": "-7 11"},
            {"gear": "2"},
            {"gear": "-3", "ctrlrange": "-4 4", "forcerange": "-2 9", "actuatorfrcrange": "-20 5"},
            {"gear": "8", "ctrlrange": "-2 2", "forcerange": "-3 3"},
            {"gear": "2", "ctrlrange": "-9 9", "forcerange": "-8 8", "actuatorfrcrange": "-30 4"},
            {"gear": "6", "ctrllimited": "false", "ctrlrange": "-1 1"},
            {"gear": "6", "forcelimited": "false", "forcerange": "-1 1", "ctrlrange": "-2 3"},
            {"gear": "1", "ctrlrange": "-1.5 1.5"},
        ],
        order=[3, 0, 10, 1, 5, 2, 4, 9, 8, 7, 6],
    )


@exercise.part("ordinary joints", points=1.5)
def ordinary():
    cases = []
    for seed in (401, 402, 403, 404):
        model = _ordinary_rig(seed)
        names = [f"h{i}" for i in range(6)]
        cases += [
            call("joint_force_limits", model, names, label="all joints"),
            call("joint_force_limits", model, [names[i] for i in (4, 0, 2)], label="three joints"),
        ]
    return cases


@exercise.part("edge cases: uneven ranges, force limits, joint limits, no limit", points=1)
def edges():
    model = _edge_rig()
    labels = {
        "h0": "an uneven control range",
        "h1": "an uneven control range and a negative gear",
        "h2": "a force range only",
        "h3": "the joint's own limit only",
        "h4": "no limit at all",
        "h5": "three uneven limits and a negative gear",
        "h6": "a force range within the control range",
        "h7": "three limits, the joint's own binds",
        "h8": "a ctrlrange that does not count (ctrllimited false)",
        "h9": "a forcerange that does not count (forcelimited false)",
        "h10": "gear 1",
    }
    cases = [
        call("joint_force_limits", model, [name], label=label) for name, label in labels.items()
    ]
    cases.append(call("joint_force_limits", model, list(labels), label="all of them"))
    cases.append(call("joint_force_limits", _ordinary_rig(405), [f"h{i}" for i in range(6)]))
    return cases


@exercise.part("contract: order of the names, model unchanged, unknown names refused", points=0.5)
def contract():
    model = _ordinary_rig(406)
    return [
        call("joint_force_limits", model, ["h5", "h1", "h3"], unchanged=True),
        call("joint_force_limits", model, ("h0", "h4"), label="a tuple of names"),
        call("joint_force_limits", _edge_rig(), ["h7", "h0"], unchanged=True),
        call("joint_force_limits", model, ["h0", "shoulder"], label="unknown", raises="KeyError"),
    ]


@exercise.variant("step by step")
def step_by_step():
    def joint_force_limits(model, joint_names):
        limits = []
        for name in joint_names:
            j = model.joint(name).id
            on_joint = model.actuator_trnid[:, 0] == j
            i = np.flatnonzero(on_joint & (model.actuator_group == 2))[0]
            gear = abs(model.actuator_gear[i, 0])
            sides = [np.inf]
            if model.actuator_ctrllimited[i]:
                sides += list(gear * abs(model.actuator_ctrlrange[i]))
            if model.actuator_forcelimited[i]:
                sides += list(gear * abs(model.actuator_forcerange[i]))
            if model.jnt_actfrclimited[j]:
                sides += list(abs(model.jnt_actfrcrange[j]))
            limits.append(min(sides))
        return np.array(limits)


@exercise.variant("intervals, intersected")
def by_intervals():
    def _interval(limited, ends, scale):
        if not limited:
            return np.array([-np.inf, np.inf])
        return np.sort(scale * np.asarray(ends, float))

    def joint_force_limits(model, joint_names):
        out = []
        for name in joint_names:
            joint = model.joint(name)
            [motor] = [
                a
                for a in map(model.actuator, range(model.nu))
                if a.group[0] == 2 and a.trnid[0] == joint.id
            ]
            spans = np.array(
                [
                    _interval(motor.ctrllimited[0], motor.ctrlrange, motor.gear[0]),
                    _interval(motor.forcelimited[0], motor.forcerange, motor.gear[0]),
                    _interval(
                        model.jnt_actfrclimited[joint.id], model.jnt_actfrcrange[joint.id], 1
                    ),
                ]
            )
            low, high = spans[:, 0].max(), spans[:, 1].min()
            out.append(float(min(-low, high)))
        return out


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_RANGES = (
    "model.actuator_ctrlrange[i]",
    "model.actuator_forcerange[i]",
    "model.jnt_actfrcrange[j]",
)
_CTRL = "if model.actuator_ctrllimited[i]:"
_FORCE = "if model.actuator_forcelimited[i]:"
_JOINT = "if model.jnt_actfrclimited[j]:"


def _of_each_range(taken: str) -> list[tuple[str, str]]:
    """Edits: `taken` of every range in place of the sizes of its two ends."""
    return [(f"abs({span})", f"np.array({taken.format(span)})") for span in _RANGES]


# The gear
slip(
    "ignores_gear",
    "The gear is left out: `ctrlrange` and `forcerange` are in the actuator's units; the joint "
    "feels gear times that.",
    ("gear * ", ""),
)
slip(
    "divides_by_the_gear",
    "The limits are divided by the gear. Joint torque = gear x actuator force: multiply.",
    ("gear * ", "1 / gear * "),
)
slip(
    "negative_for_a_negative_gear",
    "A negative gear makes the limit negative. The size of the torque is asked for: use |gear|.",
    ("abs(model.actuator_gear[i, 0])", "model.actuator_gear[i, 0]"),
    *_of_each_range("[min(abs({}))]"),
)
slip(
    "ctrlrange_before_the_gear",
    "`ctrlrange` is compared without the gear. It limits the command: the joint feels gear times "
    "that.",
    ("gear * abs(model.actuator_ctrlrange[i])", "abs(model.actuator_ctrlrange[i])"),
)
slip(
    "forcerange_after_the_gear",
    "`forcerange` is compared after the gear. It limits the actuator's own force: multiply it by "
    "the gear too.",
    ("gear * abs(model.actuator_forcerange[i])", "abs(model.actuator_forcerange[i])"),
)
slip(
    "gear_on_the_joints_limit",
    "The joint's own limit is multiplied by the gear. `jnt_actfrcrange` is a joint torque already.",
    ("abs(model.jnt_actfrcrange[j])", "gear * abs(model.jnt_actfrcrange[j])"),
)
slip(
    "joint_limit_divided",
    "The joint's own limit is divided by the gear. `jnt_actfrcrange` is a joint torque already.",
    ("abs(model.jnt_actfrcrange[j])", "abs(model.jnt_actfrcrange[j]) / gear"),
)

# Two sides
_LARGER = (
    "takes_the_larger_side",
    "The larger side of an uneven range is taken. Available in *both* directions is the smaller.",
)
slip(*_LARGER, *_of_each_range("[max(abs({}))]"))
slip(
    "upper_end_only",
    "Only the upper end of each range is used; the lower end binds in the other direction.",
    *_of_each_range("{}[1:]"),
)
slip(
    "lower_end_only",
    "Only the lower end of each range is used; the upper end binds in the other direction.",
    *_of_each_range("-{}[:1]"),
)
slip(
    "half_the_width",
    "Half the width of the range is used. For an uneven range that is more than the weaker side "
    "can give.",
    *_of_each_range("[np.ptp({}) / 2]"),
)
slip(
    "largest_of_the_limits",
    "The largest of the limits is taken; all of them hold at once, so the smallest binds.",
    ("min(sides)", "max(sides[1:] or sides)"),
)

# Limits left out, or not in force
slip(
    "ignores_forcerange",
    "`forcerange` is left out: it limits the actuator's force before the gear.",
    (_FORCE, "if False:"),
)
slip(
    "ignores_ctrlrange",
    "`ctrlrange` is left out: a limited command limits the force too (gain 1).",
    (_CTRL, "if False:"),
)
slip(
    "ignores_the_joints_limit",
    "The joint's own limit (`jnt_actfrcrange`, where `jnt_actfrclimited`) is left out: it clamps "
    "what all drives together do to the joint.",
    (_JOINT, "if False:"),
)
slip(
    "ctrlrange_only",
    "Only `ctrlrange` times gear is used: `forcerange` and the joint's own limit count too.",
    *((_FORCE, "if False:"), (_JOINT, "if False:")),
)
slip(
    "forcerange_only",
    "Only `forcerange` times gear is used: `ctrlrange` and the joint's own limit count too.",
    *((_CTRL, "if False:"), (_JOINT, "if False:")),
)
slip(
    "joint_limit_only",
    "Only the joint's own limit is used: the motor's `ctrlrange` and `forcerange`, times the gear, "
    "count too.",
    *((_CTRL, "if False:"), (_FORCE, "if False:")),
)
_ZERO = (
    "unlimited_is_zero",
    "An unlimited range counts as 0: without a limit the torque is unlimited, `np.inf`. Look at "
    "`actuator_ctrllimited`, `actuator_forcelimited`, `jnt_actfrclimited` before the ranges.",
)
slip(*_ZERO, *((asked, "if True:") for asked in (_CTRL, _FORCE, _JOINT)))
slip(*_ZERO, ("min(sides)", "min(sides[1:] or [0.0])"))
slip(
    "limited_by_nonzero_range",
    "A range counts as a limit where it is not (0, 0). Whether it counts is said by "
    "`actuator_ctrllimited`, `actuator_forcelimited` and `jnt_actfrclimited`.",
    *zip((_CTRL, _FORCE, _JOINT), (f"if np.any({span}):" for span in _RANGES), strict=True),
)
for _large in ("min(min(sides), 1e10)", "min(sides) if len(sides) > 1 else np.nan"):
    slip(
        "unlimited_is_not_inf",
        "A joint without any limit gets a large number or NaN; it is `np.inf`.",
        ("min(sides)", _large),
    )

# Which actuator, which joint, what form
slip(
    "wrong_actuator",
    "The first actuator on the joint is used, which is the position servo. The torque actuator is "
    "the one in group 2.",
    ("on_joint & (model.actuator_group == 2)", "on_joint"),
)
slip(
    "in_order_of_declaration",
    "The motors are taken in the order in which they are declared; which motor drives a joint is "
    "said by `actuator_trnid`.",
    ("(on_joint & (model.actuator_group == 2))[0]", "(model.actuator_group == 2)[len(limits)]"),
)
slip(
    "alphabetical",
    "The limits come in alphabetical order; they must come in the order of `joint_names`.",
    ("for name in joint_names", "for name in sorted(joint_names)"),
)
slip(
    "one_number",
    "One number comes back; each joint has its own limit: shape (n,).",
    ("np.array(limits)", "min(limits)"),
)
slip(
    "a_dict",
    "A dict comes back; an array of shape (n,) in the order of the names is asked for.",
    ("np.array(limits)", "dict(zip(joint_names, limits))"),
)
_ID = "mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name)"
slip(
    "unknown_name_accepted",
    "An unknown joint becomes id -1, the last joint. Raise a KeyError where `mj_name2id` gives -1.",
    ("model.joint(name).id", f"{_ID} % model.njnt"),
)
slip(
    "unknown_name_skipped",
    "An unknown joint is skipped without a word: raise a KeyError.",
    ("model.joint(name).id", f"{_ID}\n        if j < 0:\n            continue"),
)

# The same of whole intervals.
interval_slip = exercise.slips(exercise.variants[1].cell)
interval_slip(*_LARGER, ("min(-low, high)", "max(-low, high)"))
interval_slip(
    "pairs",
    "The limits come as (low, high) pairs; one number for each joint is asked for.",
    *(("float(min(-low, high))", "(low, high)"), ("return out", "return np.array(out)")),
)


# More right answers.
@exercise.variant("whole arrays at once")
def by_arrays():
    def joint_force_limits(model, joint_names):
        joints = np.array([model.joint(n).id for n in joint_names])
        motors = np.flatnonzero(model.actuator_group == 2)
        which = {int(model.actuator_trnid[m, 0]): m for m in motors}
        m = np.array([which[int(j)] for j in joints])
        gear = np.abs(model.actuator_gear[m, 0])
        force = np.full(len(m), np.inf)
        for limited, span in (
            (model.actuator_ctrllimited, model.actuator_ctrlrange),
            (model.actuator_forcelimited, model.actuator_forcerange),
        ):
            own = np.where(limited[m] != 0, np.abs(span[m]).min(axis=1), np.inf)
            force = np.minimum(force, own)
        cap = np.where(
            model.jnt_actfrclimited[joints] != 0,
            np.abs(model.jnt_actfrcrange[joints]).min(axis=1),
            np.inf,
        )
        return np.minimum(gear * force, cap)


@exercise.variant("MuJoCo driven to the limit, motor by motor")
def by_driving():
    def joint_force_limits(model, joint_names):
        out = ()
        for name in joint_names:
            joint = model.joint(name)
            reached = []
            for sign in (1, -1):
                d = mujoco.MjData(model)
                for a in range(model.nu):
                    if model.actuator_trnid[a, 0] == joint.id and model.actuator_group[a] == 2:
                        d.ctrl[a] = sign * 1e9
                mujoco.mj_forward(model, d)
                reached.append(abs(float(d.qfrc_actuator[joint.dofadr[0]])))
            smaller = min(reached)
            out += (float("inf") if smaller > 1e8 else smaller,)
        return out
