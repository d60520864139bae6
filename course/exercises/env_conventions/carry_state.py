"""`carry_state`: what survives when the scene is compiled anew."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, same
from course.exercises.env_conventions.rebuilds import model_of

exercise = Exercise("carry_state", points=5, provides=("carry_state",), core=True)


def old_data(seed: int, model: mujoco.MjModel) -> mujoco.MjData:
    """A moving state with commands, activations and applied forces, everything evaluated."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    data.time = float(rng.uniform(1, 9))
    data.qvel[:] = rng.uniform(-1, 1, model.nv)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-0.8, 0.8, model.nv), 1.0)
    data.ctrl[:] = rng.uniform(-1, 1, model.nu)
    if model.na:
        data.act[:] = rng.uniform(-1, 1, model.na)
    data.qfrc_applied[:] = rng.uniform(-1, 1, model.nv)
    data.xfrc_applied[1:] = rng.uniform(-1, 1, (model.nbody - 1, 6))
    mujoco.mj_forward(model, data)
    return data


@exercise.reference
def reference():
    def carry_state(old_model, old_data, new_model, new_data):
        new_data.time = old_data.time
        sizes = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}
        joints = {new_model.joint(i).name: i for i in range(new_model.njnt)}
        for i in range(old_model.njnt):
            name, kind = old_model.joint(i).name, int(old_model.jnt_type[i])
            j = joints.get(name) if name else None
            if j is None or new_model.jnt_type[j] != kind:
                continue
            nq, nv = sizes[kind]
            q, p = old_model.jnt_qposadr[i], new_model.jnt_qposadr[j]
            v, u = old_model.jnt_dofadr[i], new_model.jnt_dofadr[j]
            new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]
            new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]
        actuators = {new_model.actuator(i).name: i for i in range(new_model.nu)}
        for i in range(old_model.nu):
            name = old_model.actuator(i).name
            j = actuators.get(name) if name else None
            if j is None:
                continue
            new_data.ctrl[j] = old_data.ctrl[i]
            n = old_model.actuator_actnum[i]
            if n and n == new_model.actuator_actnum[j]:
                a, b = old_model.actuator_actadr[i], new_model.actuator_actadr[j]
                new_data.act[b : b + n] = old_data.act[a : a + n]
        mujoco.mj_forward(new_model, new_data)

    return {"carry_state": carry_state}


STATE = ("time", "qpos", "qvel", "act", "ctrl")
DERIVED = ("xpos", "xquat", "site_xpos", "sensordata", "actuator_force", "qfrc_actuator", "qacc")
APPLIED = ("qfrc_applied", "xfrc_applied")


def _carry(seed, old, new, fields=STATE, label=""):
    old_model, new_model = model_of(old), model_of(new)

    def observe(outcome):
        old_model_after, old_after, new_model_after, new_after = outcome.args_after
        seen = {name: np.array(getattr(new_after, name)) for name in fields}
        seen["spoiled"] = bool(
            old_model_after.changed | old_after.changed | new_model_after.changed
        )
        return seen

    comparators = {name: close(1e-8, rtol=1e-9) for name in fields}
    return call(
        "carry_state",
        old_model,
        old_data(seed, old_model),
        new_model,
        mujoco.MjData(new_model),
        label=label or f"from ({old}) to ({new})",
        observe=observe,
        compare=each({**comparators, "spoiled": same()}),
    )


@exercise.part("ordinary: an object inserted, removed, moved in the order", points=2)
def ordinary():
    pairs = [
        ("arm", "box, arm"),
        ("lid, box, arm", "box, arm"),
        ("box, arm", "arm"),
        ("box, arm", "arm, box"),
        ("lid, box, arm", "reordered"),
        ("arm", "arm"),
    ]
    return [_carry(1000 + i, old, new) for i, (old, new) in enumerate(pairs)]


@exercise.part("edge cases: other types, unnamed things, activations", points=2)
def edges():
    pairs = [
        ("box, arm", "joint two is a slide, box a hinge"),
        ("joint two is a slide, box a hinge", "box, arm"),
        ("box, arm", "joint two and box are balls"),
        ("joint two and box are balls", "lid, box, arm"),
        ("unnamed", "unnamed, more"),
        ("unnamed, more", "unnamed"),
        ("filtered", "filtered, box"),
        ("filtered", "three not filtered"),
        ("three not filtered", "filtered"),
        ("filtered, box", "three has two"),
        ("three has two", "filtered, box"),
        ("three has two", "box has two"),
        ("bob, arm", "box, arm, bob"),
        ("box, arm, bob", "bob, arm"),
        ("box, arm", "lid, box, arm"),
    ]
    return [_carry(1100 + i, old, new) for i, (old, new) in enumerate(pairs)]


@exercise.part("contract: fresh derived quantities, applied forces left behind", points=1)
def contract():
    pairs = [
        ("arm", "box, arm"),
        ("box, arm", "lid, box, arm"),
        ("filtered", "filtered, box"),
        ("lid, box, arm", "reordered"),
    ]
    fields = (*STATE, *DERIVED, *APPLIED)
    return [
        _carry(1200 + i, old, new, fields, f"everything, from ({old}) to ({new})")
        for i, (old, new) in enumerate(pairs)
    ]


@exercise.variant("one loop for each kind of thing")
def plain():
    def carry_state(old_model, old_data, new_model, new_data):
        new_data.time = old_data.time
        for i in range(old_model.njnt):
            name = old_model.joint(i).name
            kind = old_model.jnt_type[i]
            j = mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_JOINT, name) if name else -1
            if j < 0:
                continue
            if new_model.jnt_type[j] != kind:
                continue
            nq, nv = [(7, 6), (4, 3), (1, 1), (1, 1)][kind]
            q, p = old_model.jnt_qposadr[i], new_model.jnt_qposadr[j]
            v, u = old_model.jnt_dofadr[i], new_model.jnt_dofadr[j]
            new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]
            new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]
        for i in range(old_model.nu):
            name = old_model.actuator(i).name
            j = mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_ACTUATOR, name) if name else -1
            if j < 0:
                continue
            new_data.ctrl[j] = old_data.ctrl[i]
            n = old_model.actuator_actnum[i]
            if n == new_model.actuator_actnum[j] and n > 0:
                a, b = old_model.actuator_actadr[i], new_model.actuator_actadr[j]
                new_data.act[b : b + n] = old_data.act[a : a + n]
        mujoco.mj_forward(new_model, new_data)


@exercise.variant("from the new side")
def from_the_new_side():
    def carry_state(old_model, old_data, new_model, new_data):
        new_data.time = old_data.time
        ids = range(old_model.njnt)
        joints = {old_model.joint(i).name: i for i in ids if old_model.joint(i).name}
        for j in range(new_model.njnt):
            i = joints.get(new_model.joint(j).name)
            if i is None or old_model.jnt_type[i] != new_model.jnt_type[j]:
                continue
            nq, nv = [(7, 6), (4, 3), (1, 1), (1, 1)][new_model.jnt_type[j]]
            q, p = old_model.jnt_qposadr[i], new_model.jnt_qposadr[j]
            v, u = old_model.jnt_dofadr[i], new_model.jnt_dofadr[j]
            new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]
            new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]
        ids = range(old_model.nu)
        actuators = {old_model.actuator(i).name: i for i in ids if old_model.actuator(i).name}
        for j in range(new_model.nu):
            i = actuators.get(new_model.actuator(j).name)
            if i is None:
                continue
            new_data.ctrl[j] = old_data.ctrl[i]
            n = old_model.actuator_actnum[i]
            if n == new_model.actuator_actnum[j] and n > 0:
                a, b = old_model.actuator_actadr[i], new_model.actuator_actadr[j]
                new_data.act[b : b + n] = old_data.act[a : a + n]
        mujoco.mj_forward(new_model, new_data)


# Misconceptions: the cells above with one thing changed.
_TIME = "    new_data.time = old_data.time\n"
_JOINT = "mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_JOINT, name) if name else -1"
_MISSING = "        if j < 0:\n            continue\n"
_TYPE = "        if new_model.jnt_type[j] != kind:\n            continue\n"
_SIZES = "[(7, 6), (4, 3), (1, 1), (1, 1)][kind]"
_QPOS = "        new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]\n"
_QVEL = "        new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]\n"
_ACTUATOR = _JOINT.replace("JOINT", "ACTUATOR")
_CTRL = "        new_data.ctrl[j] = old_data.ctrl[i]\n"
_COUNT = "        if n == new_model.actuator_actnum[j] and n > 0:\n"
_ACT = "            new_data.act[b : b + n] = old_data.act[a : a + n]\n"
_FORWARD = "    mujoco.mj_forward(new_model, new_data)\n"
_NO_JOINTS, _NO_ACTUATORS = ((f"range(old_model.{count})", "range(0)") for count in ("njnt", "nu"))


def _blocks(*fields: str) -> str:
    """Lines that copy whole fields, as far as they fit."""
    return f"""\
    for field in {fields!r}:
        old, new = getattr(old_data, field), getattr(new_data, field)
        new[: len(old)] = old[: len(new)]
"""


slip = exercise.slips(exercise.variants[0].cell)

# Copied by index
_BY_INDEX = (
    "The state is copied by index. An object added before the arm moves every address: match "
    "joints and actuators by name."
)
_WHOLE = "".join(f"    new_data.{f}[:] = old_data.{f}\n" for f in ("qpos", "qvel", "act", "ctrl"))
for _block in (_blocks("qpos", "qvel", "ctrl", "act"), _WHOLE):
    slip("by_index", _BY_INDEX, (_TIME, _TIME + _block), _NO_JOINTS, _NO_ACTUATORS)
slip(
    "by_index",
    _BY_INDEX,
    (_JOINT, "i if i < new_model.njnt else -1"),
    (_FORWARD, _blocks("ctrl", "act") + _FORWARD),
    _NO_ACTUATORS,
)
_CTRL_BY_INDEX = (
    "ctrl_by_index",
    "Commands are copied by index; an actuator added before moves them. Match by name.",
)
slip(*_CTRL_BY_INDEX, (_CTRL, _CTRL.replace("[j]", "[i % new_model.nu]")))
slip(*_CTRL_BY_INDEX, (_CTRL, ""), (_FORWARD, _blocks("ctrl") + _FORWARD))
slip(*_CTRL_BY_INDEX, (_CTRL, ""), (_FORWARD, "    new_data.ctrl[:] = old_data.ctrl\n" + _FORWARD))
slip(
    "act_by_index",
    "Activations are copied as one block: an actuator added before moves their addresses.",
    (_ACT, "            pass\n"),
    (_FORWARD, _blocks("act") + _FORWARD),
)
slip(
    "act_by_actuator_id",
    "The actuator's id is used as an address into `act`. Only actuators with an internal state "
    "have one: its address is `actuator_actadr`.",
    ("old_model.actuator_actadr[i]", "min(i, old_model.na - n)"),
    ("new_model.actuator_actadr[j]", "min(j, new_model.na - n)"),
)
slip(
    "same_address_in_both",
    "The old addresses are used in the new model too. Look the address up in each model.",
    ("new_model.jnt_qposadr[j]", "min(old_model.jnt_qposadr[i], new_model.nq - nq)"),
    ("new_model.jnt_dofadr[j]", "min(old_model.jnt_dofadr[i], new_model.nv - nv)"),
)
slip(
    "qpos_address_for_qvel",
    "The address into qpos is used for qvel. A free joint before takes 7 entries of one and 6 of "
    "the other: velocities live at `jnt_dofadr`.",
    ("old_model.jnt_dofadr[i]", "min(q, old_model.nv - nv)"),
    ("new_model.jnt_dofadr[j]", "min(p, new_model.nv - nv)"),
)

# Names
_UNNAMED = (
    "matches_unnamed",
    "Unnamed joints and actuators are matched with each other by their empty names. They cannot be "
    "told apart, so they are not carried.",
)
_LISTED = "[k for k in range(new_model.{0}) if new_model.{1}(k).name == name]"
for _found in ("([-1] + {})[-1]", "({} + [-1])[0]"):  # the last such name, the first
    _in_joints, _in_actuators = (
        _found.format(_LISTED.format(*kind)) for kind in (("njnt", "joint"), ("nu", "actuator"))
    )
    slip(*_UNNAMED, (_JOINT, _in_joints), (_ACTUATOR, _in_actuators))
_unnamed_slip = exercise.slips(exercise.variants[1].cell)
_IF_JOINT, _IF_ACTUATOR = " if old_model.joint(i).name}", " if old_model.actuator(i).name}"
_unnamed_slip(*_UNNAMED, (_IF_JOINT, "}"))
_unnamed_slip(*_UNNAMED, (_IF_ACTUATOR, "}"))
_unnamed_slip(*_UNNAMED, (_IF_JOINT, "}"), (_IF_ACTUATOR, "}"))
slip(
    "missing_name_accepted",
    "What is gone in the new model becomes id -1 and is written into the last joint or actuator. "
    "`mj_name2id` returns -1 for it: skip it.",
    (_MISSING, ""),
    (" if name else -1", ""),
)
for _unknown in ("j < 0", "name and j < 0"):
    slip(
        "missing_name_raises",
        "A name that the new model lacks ends it with an error. An object was removed, which is "
        "nothing unusual: skip the name and go on.",
        (_MISSING, f"        if {_unknown}:\n            raise KeyError(name)\n{_MISSING}"),
    )
_STOPS = "stops_at_a_missing_name"
slip(
    _STOPS,
    "Everything after the first name that one model lacks is left behind: skip it and go on.",
    (_MISSING + "        if new", _MISSING.replace("continue", "break") + "        if new"),
)
for _stop in ("break", "return mujoco.mj_forward(new_model, new_data)", "return"):
    slip(
        _STOPS,
        "The first name that one model lacks ends the copying (a `try` around the whole loop does "
        "that too): everything after it is left behind. Skip that name and go on.",
        (_MISSING, _MISSING.replace("continue", _stop)),
    )
for _match in (
    "new.startswith(name)",
    "name.startswith(new)",
    "name.split('_')[0] == new.split('_')[0]",
    "name.split('_')[-1] == new.split('_')[-1]",
):
    _name_of = (
        "next((k for k in range(new_model.{0}) for new in [new_model.{1}(k).name]"
        f" if name and new and {_match}), -1)"
    )
    slip(
        "part_of_the_name",
        "Names are compared in part: `box` then stands for `box_lid` too. The whole name counts.",
        (_JOINT, _name_of.format("njnt", "joint")),
        (_ACTUATOR, _name_of.format("nu", "actuator")),
    )

# Types and sizes
slip(
    "ignores_the_type",
    "A joint of the same name but of another type is carried. A hinge's angle is no slide's metre: "
    "compare `jnt_type` first.",
    (_TYPE, ""),
)
slip(
    "ignores_the_type",
    "A joint of the same name but of another type is carried as far as it fits. A hinge's angle is "
    "no slide's metre: compare `jnt_type` first.",
    (_TYPE, ""),
    (_SIZES, f"np.minimum({_SIZES}, {_SIZES.replace('kind', 'new_model.jnt_type[j]')})"),
)
slip(
    "ignores_the_type",
    "A joint of the same name but of another type is carried wherever the assignment does not "
    "fail. A hinge's angle is no slide's metre: compare `jnt_type` first.",
    (_TYPE, ""),
    (
        _QPOS + _QVEL,
        "        try:\n"
        "            new_data.joint(name).qpos[:] = old_data.joint(name).qpos\n"
        "            new_data.joint(name).qvel[:] = old_data.joint(name).qvel\n"
        "        except ValueError:\n            pass\n",
    ),
)
slip(
    "compares_sizes_not_types",
    "Joints count as the same type when their sizes agree: but a hinge and a slide both have one "
    "coordinate, an angle and a length. Compare `jnt_type`.",
    ("new_model.jnt_type[j] != kind", "max(new_model.jnt_type[j], 2) != max(kind, 2)"),
)
slip(
    "arm_only",
    "Only hinges and slides are carried: loose objects jump back to where the model puts them.",
    ("!= kind:", "!= kind or kind < 2:"),
)
slip(
    "skips_ball_joints",
    "Ball joints are not carried: they have a name and a type like any other.",
    ("!= kind:", "!= kind or kind == 1:"),
)
for _kind, _words in ((2, "Slides"), (3, "Hinges")):
    slip(
        "skips_a_type",
        f"{_words} are not carried: every joint that has a name and the same type is.",
        ("!= kind:", f"!= kind or kind == {_kind}:"),
    )
slip(
    "one_number_for_each_joint",
    "Only the first number of each joint is carried: a free joint has 7 positions and 6 "
    "velocities, a ball joint 4 and 3.",
    (_SIZES, "(1, 1)"),
)
slip(
    "part_of_the_coordinates",
    "A free joint has seven coordinates, a ball joint four; you carry the first of them only.",
    ("(7, 6)", "(3, 6)"),
)
slip(
    "wrong_size_of_a_free_joint",
    "A free joint is carried with the wrong sizes: it has 7 positions and 6 velocities.",
    ("(7, 6)", "(6, 6)"),
)
slip(
    "wrong_size_of_a_free_joint",
    "Only the position of a free joint is carried: its seven numbers hold the orientation too.",
    ("(7, 6)", "(3, 3)"),
)
for _ball in ("(3, 3)", "(3, 4)", "(1, 1)"):
    slip(
        "wrong_size_of_a_ball",
        "A ball joint is carried with the wrong sizes: it has 4 positions (a quaternion) and 3 "
        "velocities.",
        ("(4, 3)", _ball),
    )
slip(
    "free_velocities_forgotten",
    "The velocities of loose objects are not carried: a falling box stops in the air.",
    ("old_data.qvel[v : v + nv]", "old_data.qvel[v : v + nv] * (kind > 0)"),
)
for _count in ("        n = min(n, new_model.actuator_actnum[j])\n        if n > 0:\n", None):
    slip(
        "act_without_the_count",
        "Activations are copied although the two actuators do not have equally many. Compare "
        "`actuator_actnum` before you copy.",
        (_COUNT, _count or "        if n > 0:\n"),
    )
for _count in (" == 1 and n > 0", " and n > 0"):
    slip(
        "one_activation_only",
        "Only one activation of each actuator is carried. An actuator may have several: "
        "`actuator_actnum` says how many.",
        (" and n > 0", _count),
        ("[b : b + n] = old_data.act[a : a + n]", "[b] = old_data.act[a]"),
    )

# Forgotten
slip(
    "resets_time",
    "The time starts again at 0. A rebuild is not a reset: carry `time` over.",
    (_TIME, ""),
)
slip(
    "moves_the_time",
    "The time is one step ahead: nothing was stepped, so it stays as it was.",
    ("old_data.time\n", "old_data.time + new_model.opt.timestep\n"),
)
slip(
    "forgets_positions",
    "The positions are not carried: everything jumps to its place in the model.",
    (_QPOS, ""),
)
slip(
    "forgets_velocities",
    "The velocities are not carried: everything stops for an instant.",
    (_QVEL, ""),
)
slip(
    "forgets_act_and_ctrl",
    "Neither commands nor activations are carried: the actuators start from nothing. Carry `ctrl` "
    "and `act` by actuator name.",
    _NO_ACTUATORS,
)
slip(
    "forgets_ctrl",
    "The commands (`ctrl`) are not carried: after the rebuild the arm drives to 0.",
    (_CTRL, ""),
)
slip(
    "forgets_act",
    "The activations (`act`) are not carried: a filtered actuator starts from 0 again.",
    (_ACT, "            pass\n"),
)
slip(
    "carries_nothing",
    "Nothing is carried over: the new data stays at the model's own pose and at time 0.",
    *((_TIME, ""), _NO_JOINTS, _NO_ACTUATORS),
)

# Carried too much, evaluated too little, the wrong way round
_ROWS = """\
    for i in range(1, old_model.nbody):
        name = old_model.body(i).name
        j = mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_BODY, name) if name else -1
        if j > 0:
            new_data.xfrc_applied[j] = old_data.xfrc_applied[i]
"""
_PUSHES = (
    "A push belongs to whoever applies it; after a rebuild it is gone until it is applied again."
)
_with_rows = (_FORWARD, _ROWS + _FORWARD)
_with_joint_forces = (_QVEL, _QVEL + _QVEL.replace("qvel", "qfrc_applied"))
for _text, *_edits in (
    (f"Applied forces are carried too. {_PUSHES}", _with_rows),
    (
        "Joint forces (`qfrc_applied`) are carried too. They belong to whoever applies them; after "
        "a rebuild they are gone until they are applied again.",
        _with_joint_forces,
    ),
    (f"Applied forces are carried too. {_PUSHES}", _with_joint_forces, _with_rows),
    *(
        (f"`{_field}` is carried too. {_PUSHES}", (_FORWARD, _blocks(_field) + _FORWARD))
        for _field in ("xfrc_applied", "qfrc_applied")
    ),
):
    slip("carries_applied_forces", _text, *_edits)
slip(
    "forward_too_early",
    "`mj_forward` runs before the state is in place: frames and sensors describe the model's own "
    "pose.",
    *((_FORWARD, ""), (_TIME, _TIME + _FORWARD)),
)
slip(
    "derived_not_computed",
    "Frames and sensors of the new data are those of an empty scene: call `mj_forward` once the "
    "state is in place.",
    (_FORWARD, ""),
)
slip(
    "kinematics_only",
    "Only frames are computed anew; sensors, forces and accelerations are stale. `mj_forward` "
    "computes them all.",
    ("mj_forward", "mj_kinematics"),
)
slip(
    "only_half_evaluated",
    "Positions and velocities are computed anew, forces and accelerations are not: `mj_step1` is "
    "half of `mj_forward`.",
    ("mj_forward", "mj_step1"),
)
slip(
    "only_half_evaluated",
    "Only positions are computed anew: velocities, forces and accelerations are stale. "
    "`mj_forward` computes them all.",
    ("mj_forward", "mj_fwdPosition"),
)
slip(
    "takes_a_step",
    "A step is taken at the end: time and state move on. `mj_forward` computes without moving.",
    ("mj_forward", "mj_step"),
)
slip(
    "resets_afterwards",
    "The new data is reset after the copying, which clears what was carried.",
    (_FORWARD, _FORWARD.replace("mj_forward", "mj_resetData") + _FORWARD),
)
slip(
    "spoils_the_old",
    "`old_data` is changed. Whoever holds it may still read it: leave it as it is.",
    (_FORWARD, _FORWARD + "    mujoco.mj_resetData(old_model, old_data)\n"),
)
slip(
    "spoils_the_old",
    "`old_data` is changed: its applied forces are cleared. Leave it as it is.",
    (_FORWARD, _FORWARD + "    old_data.xfrc_applied[:] = 0\n    old_data.qfrc_applied[:] = 0\n"),
)
slip(
    "spoils_the_old",
    "`old_data` is changed: it was stepped. Leave it as it is.",
    (_FORWARD, _FORWARD + "    mujoco.mj_step(old_model, old_data)\n"),
)
slip(
    "copies_backwards",
    "The state is copied from new to old: source and target are exchanged.",
    *(
        (line.strip(), " = ".join(line.strip().split(" = ")[::-1]))
        for line in (_QPOS, _QVEL, _CTRL)
    ),
)
slip(
    "the_wrong_way",
    "The state is copied from the new data into the old: `old_data` is the source.",
    ("(old_model, old_data, new_model, new_data)", "(new_model, new_data, old_model, old_data)"),
)


# More right answers.
@exercise.variant("from the new side, by dictionaries of slices")
def by_dictionaries():
    SIZE = {
        mujoco.mjtJoint.mjJNT_FREE: (7, 6),
        mujoco.mjtJoint.mjJNT_BALL: (4, 3),
        mujoco.mjtJoint.mjJNT_SLIDE: (1, 1),
        mujoco.mjtJoint.mjJNT_HINGE: (1, 1),
    }

    def _joints(model):
        found = {}
        for i in range(model.njnt):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i)
            kind = mujoco.mjtJoint(model.jnt_type[i])
            nq, nv = SIZE[kind]
            q, v = int(model.jnt_qposadr[i]), int(model.jnt_dofadr[i])
            if name:
                found[name, kind] = slice(q, q + nq), slice(v, v + nv)
        return found

    def _actuators(model):
        found = {}
        for i in range(model.nu):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, i)
            if name:
                found[name] = i, int(model.actuator_actadr[i]), int(model.actuator_actnum[i])
        return found

    def carry_state(old_model, old_data, new_model, new_data):
        before, after = _joints(old_model), _joints(new_model)
        for key in before.keys() & after.keys():
            new_data.qpos[after[key][0]] = old_data.qpos[before[key][0]]
            new_data.qvel[after[key][1]] = old_data.qvel[before[key][1]]
        before, after = _actuators(old_model), _actuators(new_model)
        for name in sorted(before.keys() & after.keys()):
            (i, a, n), (j, b, m) = before[name], after[name]
            new_data.ctrl[j] = old_data.ctrl[i]
            if n == m:
                new_data.act[b : b + m] = old_data.act[a : a + n]
        new_data.time = old_data.time
        mujoco.mj_forward(new_model, new_data)


@exercise.variant("named access on both sides")
def by_names():
    def carry_state(old_model, old_data, new_model, new_data):
        new_names = {new_model.joint(i).name for i in range(new_model.njnt)} - {""}
        for i in range(old_model.njnt):
            name = old_model.joint(i).name
            if name in new_names and old_model.joint(name).type == new_model.joint(name).type:
                new_data.joint(name).qpos = old_data.joint(name).qpos
                new_data.joint(name).qvel = old_data.joint(name).qvel
        new_names = {new_model.actuator(i).name for i in range(new_model.nu)} - {""}
        for i in range(old_model.nu):
            name = old_model.actuator(i).name
            if name not in new_names:
                continue
            new_data.actuator(name).ctrl = old_data.actuator(name).ctrl
            old, new = old_model.actuator(name), new_model.actuator(name)
            if 0 < old.actnum[0] == new.actnum[0]:
                for k in range(old.actnum[0]):
                    new_data.act[new.actadr[0] + k] = old_data.act[old.actadr[0] + k]
        new_data.time = float(old_data.time)
        mujoco.mj_forward(new_model, new_data)


@exercise.variant("index arrays, one assignment for each kind")
def by_index_arrays():
    def _index(model):
        q, v = {}, {}
        for j in range(model.njnt):
            name, kind = model.joint(j).name, int(model.jnt_type[j])
            if not name:
                continue
            for k in range((7, 4, 1, 1)[kind]):
                q[name, kind, k] = model.jnt_qposadr[j] + k
            for k in range((6, 3, 1, 1)[kind]):
                v[name, kind, k] = model.jnt_dofadr[j] + k
        u, a = {}, {}
        for i in range(model.nu):
            name, n = model.actuator(i).name, int(model.actuator_actnum[i])
            if name:
                u[name] = i
                a.update({(name, n, k): model.actuator_actadr[i] + k for k in range(n)})
        return {"qpos": q, "qvel": v, "ctrl": u, "act": a}

    def carry_state(old_model, old_data, new_model, new_data):
        old, new = _index(old_model), _index(new_model)
        for field in ("qpos", "qvel", "ctrl", "act"):
            keys = [key for key in new[field] if key in old[field]]
            if keys:
                source = getattr(old_data, field)[[old[field][key] for key in keys]]
                getattr(new_data, field)[[new[field][key] for key in keys]] = source
        new_data.time = old_data.time
        mujoco.mj_forward(new_model, new_data)
