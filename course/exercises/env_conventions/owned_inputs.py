"""`owned_inputs`: write the inputs that the environment owns, and nothing else."""

from __future__ import annotations

import numpy as np

from course.exercises import Exercise, call, each, identical, same
from course.exercises.env_conventions import rigs

exercise = Exercise("owned_inputs", points=2, provides=("write_owned",))


@exercise.reference
def reference():
    def write_owned(model, data, ctrl, wrenches):
        actuators = {model.actuator(name).id: value for name, value in ctrl.items()}
        bodies = {model.body(name).id: wrench for name, wrench in wrenches.items()}
        for i, value in actuators.items():
            if model.actuator_ctrllimited[i]:
                value = np.clip(value, *model.actuator_ctrlrange[i])
            data.ctrl[i] = value
        for i, wrench in bodies.items():
            data.xfrc_applied[i] = wrench

    return {"write_owned": write_owned}


def _written(outcome):
    model, data = outcome.args_after[:2]
    others = (data.changed - {"ctrl", "xfrc_applied", "qfrc_applied"}) | model.changed
    inputs = (np.array(getattr(data, name)) for name in ("ctrl", "xfrc_applied", "qfrc_applied"))
    return *inputs, not others


WRITTEN = each([identical(), identical(), identical(), same()])


def _write(seed, ctrl, wrenches, label=""):
    return call(
        "write_owned",
        rigs.arm(),
        rigs.moving(seed),
        ctrl,
        wrenches,
        label=label,
        observe=_written,
        compare=WRITTEN,
    )


def _wrench(seed):
    return np.random.default_rng(seed).uniform(-5, 5, 6)


@exercise.part("ordinary: commands and wrenches by name, clamped", points=1)
def ordinary():
    rng = np.random.default_rng(900)
    cases = []
    for i in range(2):
        a, b, c = rng.uniform(-1.4, 1.4, 3)
        cases += [
            _write(901 + i, {"nod_motor": float(a), "turn_motor": float(b)}, {"tool": _wrench(i)}),
            _write(
                911 + i,
                {"lift_motor": float(c)},
                {"elbow": _wrench(9 + i), "parcel": _wrench(20 + i)},
            ),
        ]
    cases += [
        _write(921, {"nod_motor": 9.0, "bend_motor": -7.5}, {}, "beyond the control range"),
        _write(922, {"turn_motor": -3.0, "nod_motor": 2.5}, {}, "beyond the range"),
        _write(923, {"lift_motor": 44.0}, {}, "an actuator without limits"),
        _write(924, {"roll_motor": -6.0}, {}, "a ctrlrange that does not count"),
    ]
    return cases


@exercise.part("edge cases: zero wrenches, nothing else touched, unknown names", points=1)
def edges():
    return [
        _write(931, {}, {"tool": np.zeros(6)}, "a zero wrench clears the row"),
        _write(
            932, {"nod_motor": 0.0}, {"parcel": np.zeros(6), "bob": _wrench(3)}, "a zero wrench"
        ),
        _write(933, {}, {}, "nothing to write"),
        _write(934, {"nod_motor": 1}, {"wrist": [1, 2, 3, 4, 5, 6]}, "integers and lists"),
        _write(935, {"turn_motor": np.float64(0.25)}, {"tool": tuple(range(6))}, "a tuple"),
        _write(936, {"bend_servo": 0.5}, {"tool": _wrench(5)}),
        call(
            "write_owned",
            rigs.arm(),
            rigs.moving(937),
            {"gripper": 0.3},
            {},
            label="an unknown actuator",
            raises="KeyError",
            unchanged=True,
        ),
        call(
            "write_owned",
            rigs.arm(),
            rigs.moving(938),
            {},
            {"hand": _wrench(6)},
            label="an unknown body",
            raises="KeyError",
            unchanged=True,
        ),
    ]


@exercise.variant("step by step")
def step_by_step():
    def write_owned(model, data, ctrl, wrenches):
        actuators = {model.actuator(name).id: value for name, value in ctrl.items()}
        bodies = {model.body(name).id: wrench for name, wrench in wrenches.items()}
        for i, value in actuators.items():
            low, high = -np.inf, np.inf
            if model.actuator_ctrllimited[i]:
                low, high = model.actuator_ctrlrange[i]
            data.ctrl[i] = np.clip(value, low, high)
        for i, wrench in bodies.items():
            data.xfrc_applied[i] = wrench


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_EACH = "    for i, value in actuators"
_CTRL, _ROW = "data.ctrl[i] = np.clip(value, low, high)", "data.xfrc_applied[i] = wrench"
_LIMITED = "if model.actuator_ctrllimited[i]:"

# What belongs to others
_ALL_FIRST = (
    "zeroes_all_first",
    "All inputs are zeroed before yours are written: commands and pushes that belong to others (a "
    "viewer's drag, another robot) are lost. Write the named entries only.",
)
_NO_CTRL = "    data.ctrl[:] = 0\n"
_NO_WRENCHES, _NO_FORCES = (_NO_CTRL.replace("ctrl", f) for f in ("xfrc_applied", "qfrc_applied"))
slip(*_ALL_FIRST, (_EACH, _NO_CTRL + _NO_WRENCHES + _EACH))
slip(*_ALL_FIRST, (_EACH, _NO_CTRL + _NO_WRENCHES + _NO_FORCES + _EACH))
slip(
    "zeroes_wrenches_first",
    "All rows of `xfrc_applied` are zeroed first: a push that belongs to somebody else is lost.",
    (_EACH, _NO_WRENCHES + _EACH),
)
slip(
    "zeroes_commands_first",
    "All of `ctrl` is zeroed first: actuators that were not named lose their commands.",
    (_EACH, _NO_CTRL + _EACH),
)
slip(
    "clears_joint_forces",
    "`qfrc_applied` is cleared. The environment never writes it; it belongs to whoever set it.",
    (_EACH, _NO_FORCES + _EACH),
)

# Commands
slip(
    "commands_added",
    "Commands are added to what was there; they replace it.",
    ("data.ctrl[i] = ", "data.ctrl[i] += "),
)
slip("not_clamped", "Commands are not clamped to `ctrlrange`.", (_CTRL, "data.ctrl[i] = value"))
for _end in ("min(value, high)", "max(value, low)"):
    slip(
        "one_end_only",
        "Only one end of `ctrlrange` is kept.",
        ("np.clip(value, low, high)", _end),
    )
slip(
    "symmetric_range",
    "The range is taken as symmetric: `ctrlrange` has two ends of its own.",
    ("np.clip(value, low, high)", "np.clip(value, -high, high)"),
)
slip(
    "unlimited_clamped",
    "Actuators without limits are clamped to their stored range. `ctrlrange` counts only where "
    "`ctrllimited` says so.",
    (_LIMITED, "if True:"),
)
slip(
    "limited_by_nonzero_range",
    "An actuator counts as limited where its range is not (0, 0). Ask `ctrllimited`.",
    (_LIMITED, "if np.any(model.actuator_ctrlrange[i]):"),
)
slip(
    "clamped_to_forcerange",
    "Commands are clamped to `forcerange`; a command's range is `ctrlrange`.",
    *(("ctrllimited", "forcelimited"), ("ctrlrange", "forcerange")),
)
for _id, _verb, _sign in (("divides", "divided", "/"), ("multiplies", "multiplied", "*")):
    slip(
        f"{_id}_by_the_gear",
        f"Commands are {_verb} by the gear. A scene actuator's command is in its own `ctrl` units, "
        "before the gear: write it as it is.",
        ("np.clip(value,", f"np.clip(value {_sign} model.actuator_gear[i, 0],"),
    )
slip(
    "wrenches_only",
    "Commands are not written at all: each goes to its actuator's place in `ctrl`.",
    (_CTRL, "pass"),
)

# Wrenches
slip(
    "commands_only",
    "Wrenches are not written at all: each goes into its body's row of `xfrc_applied`.",
    (_ROW, "pass"),
)
slip(
    "wrenches_need_commands",
    "Without commands the wrenches are not written: the two are independent of each other.",
    ("    for i, wrench in", "    if not ctrl:\n        return\n    for i, wrench in"),
)
slip(
    "zero_wrench_skipped",
    "A zero wrench is skipped, so the old push goes on for ever. Zero is a value like any other: "
    "write it.",
    (_ROW, f"if np.any(wrench):\n            {_ROW}"),
)
slip(
    "wrenches_added",
    "Wrenches are added to what was there; they replace it.",
    (_ROW, "data.xfrc_applied[i] += wrench"),
)
for _half, _done, _left in ((":3", "force", "torque"), ("3:", "torque", "force")):
    slip(
        "half_of_the_wrench",
        f"Only the {_done} is written; the {_left} of an earlier push stays. Write all six "
        "numbers.",
        (_ROW, f"data.xfrc_applied[i, {_half}] = wrench[{_half}]"),
    )
slip(
    "torque_first",
    "The wrench's halves are exchanged: force first, then torque, as in `xfrc_applied`.",
    (_ROW, "data.xfrc_applied[i] = np.roll(wrench, 3)"),
)
slip(
    "negative_wrench",
    "The wrench is written with the wrong sign: it is the load *on* the body, as given.",
    (_ROW, "data.xfrc_applied[i] = np.negative(wrench)"),
)
slip(
    "every_bodys_row",
    "The wrench is written into every body's row; it belongs to the named body.",
    (_ROW, "data.xfrc_applied[:] = wrench"),
)
for _row in ("i - 1", "(i + 1) % model.nbody"):
    slip(
        "another_bodys_row",
        "The wrench lands in another body's row: rows are counted by body id, the world is row 0.",
        (_ROW, f"data.xfrc_applied[{_row}] = wrench"),
    )
slip(
    "joint_forces_written",
    "The wrench is turned into joint forces (`mj_applyFT` into `qfrc_applied`). It belongs into "
    "the body's row of `xfrc_applied`.",
    (
        _ROW,
        "w = np.array(wrench, float)\n"
        "        mujoco.mj_applyFT(model, data, w[:3], w[3:], data.xipos[i], i, data.qfrc_applied)",
    ),
)

# Names, and what follows the writing
slip(
    "by_position",
    "Values are written in the order of the dictionary, not at the place of the named actuator or "
    "body.",
    ("in actuators.items()", "in enumerate(actuators.values())"),
    ("in bodies.items()", "in enumerate(bodies.values(), 1)"),
)
_ACTUATOR, _BODY = (
    f"mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_{kind}, name)" for kind in ("ACTUATOR", "BODY")
)
slip(
    "unknown_name_accepted",
    "An unknown name becomes id -1: the last actuator or body is written. Raise a KeyError.",
    *(("model.actuator(name).id", _ACTUATOR), ("model.body(name).id", _BODY)),
)
slip(
    "unknown_name_accepted",
    "Unknown names are skipped without a word: raise a KeyError.",
    ("in ctrl.items()", f"in ctrl.items() if {_ACTUATOR} >= 0"),
    ("in wrenches.items()", f"in wrenches.items() if {_BODY} >= 0"),
)
slip(
    "evaluates_afterwards",
    "Everything is computed anew after the writing (`mj_forward`): derived quantities change. This "
    "function writes inputs and nothing else.",
    (_ROW, f"{_ROW}\n    mujoco.mj_forward(model, data)"),
)
slip(
    "evaluates_afterwards",
    "A step or an evaluation follows the writing. This function writes inputs and nothing else.",
    (_ROW, f"{_ROW}\n    mujoco.mj_step(model, data)"),
)


# More right answers.
@exercise.variant("copies that are assigned at the end")
def by_copies():
    def write_owned(model, data, ctrl, wrenches):
        commands, rows = data.ctrl.copy(), data.xfrc_applied.copy()
        for name, value in ctrl.items():
            handle = model.actuator(name)
            if handle.ctrllimited[0]:
                value = max(handle.ctrlrange[0], min(handle.ctrlrange[1], value))
            commands[handle.id] = value
        for name in wrenches:
            rows[model.body(name).id] = wrenches[name]
        data.ctrl[:] = commands
        data.xfrc_applied[:] = rows


@exercise.variant("infinite limits where there are none")
def by_infinite_limits():
    def write_owned(model, data, ctrl, wrenches):
        limited = model.actuator_ctrllimited.astype(bool)[:, None]
        ranges = np.where(limited, model.actuator_ctrlrange, [-np.inf, np.inf])
        a = [model.actuator(n).id for n in ctrl]
        b = [model.body(n).id for n in wrenches]
        if a:
            data.ctrl[a] = np.clip(list(ctrl.values()), ranges[a, 0], ranges[a, 1])
        if b:
            data.xfrc_applied[b] = np.array(list(wrenches.values()), float)


@exercise.variant("handles first, then writing through them")
def by_handles():
    def write_owned(model, data, ctrl, wrenches):
        todo = []
        for name, value in dict(ctrl).items():
            a = model.actuator(name)
            low, high = a.ctrlrange if a.ctrllimited[0] else (-float("inf"), float("inf"))
            todo.append((data.actuator(name).ctrl, min(max(value, low), high)))
        for name, wrench in dict(wrenches).items():
            todo.append((data.body(name).xfrc_applied, np.asarray(wrench)))
        for target, value in todo:
            target[:] = value


@exercise.variant("one name after the other")
def name_by_name():
    def write_owned(model, data, ctrl, wrenches):
        for name, v in ctrl.items():
            i = model.actuator(name).id
            limited = model.actuator_ctrllimited[i]
            data.ctrl[i] = np.clip(v, *model.actuator_ctrlrange[i]) if limited else v
        for name, w in wrenches.items():
            data.xfrc_applied[model.body(name).id] = w
