"""`carry_state`: what survives when the scene is compiled anew."""

from __future__ import annotations

import functools

import mujoco
import numpy as np

from course.exercises import Exercise, Implementation, call, close, each, same

exercise = Exercise("carry_state", points=5, provides=("carry_state",), core=True)

_BOB = """<body name="bob" pos="0 {} 1"><joint name="bob" type="ball"/>
<geom size="0.05" pos="0.1 0 0"/></body>"""
_BOX = '<body name="{0}" pos="{1} 0 0.5"><freejoint name="{0}"/><geom size="0.05"/></body>'
_SENSORS = """<sensor><framepos objtype="site" objname="tip"/><jointpos joint="two"/>
<accelerometer site="tip"/><framelinvel objtype="site" objname="tip"/></sensor>"""


def _scene(before: str, actuators: str, after: str = "", two: str = 'axis="0 1 0"') -> str:
    """An arm of three joints with things declared before and after it."""
    return f"""<mujoco><compiler angle="radian"/>
    <option timestep="0.002"><flag contact="disable"/></option><worldbody>
    {before}
    <body name="a" pos="0 0 0.2"><joint name="one" axis="0 0 1" armature="0.1"/>
      <geom size="0.06" pos="0.1 0 0"/>
      <body name="b" pos="0.2 0 0.1"><joint name="two" {two} armature="0.1"/>
        <geom size="0.05" pos="0.1 0 0"/>
        <body name="c" pos="0.2 0 0.1"><joint name="three" type="slide" axis="1 0 0"
          armature="0.1"/>
          <geom size="0.04" pos="0.05 0.02 0"/><site name="tip" pos="0.1 0 0"/></body>
      </body>
    </body>
    {after}</worldbody><actuator>{actuators}</actuator>{_SENSORS}</mujoco>"""


_MOTORS = """<motor name="m_one" joint="one" gear="3"/><position name="p_two" joint="two" kp="9"/>
<motor name="m_three" joint="three"/>"""
_FILTERED = """<motor name="m_two" joint="two"/>
<general name="slow_one" joint="one" dyntype="filter" dynprm="0.2"/>
<general name="slow_three" joint="three" dyntype="{}" {}/>"""
_LAST = """<general name="extra" joint="three" dyntype="integrator"/>"""
_UNNAMED = '<body pos="{} 0 0.5"><freejoint/><geom size="0.05"/></body>'
_HINGED = '<body pos="{} 0 1"><joint axis="0 1 0"/><geom size="0.05" pos="0.1 0 0"/></body>'


@functools.cache
def model_of(kind: str) -> mujoco.MjModel:
    """One of the scenes that a rebuild leads from or to."""
    box, can = _BOX.format("box", 1), _BOX.format("can", -1)
    scenes = {
        "arm": lambda: _scene("", _MOTORS),
        "box, arm": lambda: _scene(box, _MOTORS),
        "can, box, arm": lambda: _scene(can + box, _MOTORS),
        "arm, box": lambda: _scene("", _MOTORS, box),
        "reordered": lambda: _scene(
            can,
            """<motor name="m_three" joint="three"/><motor name="new" joint="two" gear="5"/>
            <position name="p_two" joint="two" kp="9"/>
            <motor name="m_one" joint="one" gear="3"/>""",
            box,
        ),
        "two is a slide": lambda: _scene(box, _MOTORS, two='type="slide" axis="0 1 0"'),
        "two is a ball": lambda: _scene(
            "", _MOTORS.replace("position", "motor").replace('kp="9"', ""), two='type="ball"'
        ).replace('<jointpos joint="two"/>', ""),
        "box is a hinge": lambda: _scene(
            '<body name="box" pos="1 0 0.5"><joint name="box" axis="0 1 0"/>'
            '<geom size="0.05" pos="0.1 0 0"/></body>',
            _MOTORS,
        ),
        "box is a ball": lambda: _scene(
            '<body name="box" pos="1 0 0.5"><joint name="box" type="ball"/>'
            '<geom size="0.05" pos="0.1 0 0"/></body>',
            _MOTORS,
        ),
        "unnamed": lambda: _scene(
            _UNNAMED.format(1) + _HINGED.format(-1),
            _MOTORS + '<motor joint="one"/><motor joint="two"/>',
        ),
        "unnamed, more": lambda: _scene(
            _UNNAMED.format(2) + _HINGED.format(-2),
            _MOTORS + '<motor joint="two"/>',
            _HINGED.format(3),
        ),
        "filtered": lambda: _scene("", _FILTERED.format("filter", 'dynprm="0.1"')),
        "filtered, box": lambda: _scene(box, _LAST + _FILTERED.format("filter", 'dynprm="0.1"')),
        "three not filtered": lambda: _scene(box, _LAST + _FILTERED.format("none", "")),
        "three has two": lambda: _scene("", _FILTERED.format("user", 'actdim="2"') + _LAST),
        "box has two": lambda: _scene(
            box, _LAST + _FILTERED.format("user", 'actdim="2"') + _LAST.replace("extra", "more")
        ),
        "bob, arm": lambda: _scene(_BOB.format(1), _MOTORS),
        "box, arm, bob": lambda: _scene(box, _MOTORS, _BOB.format(2)),
    }
    return mujoco.MjModel.from_xml_string(scenes[kind]())


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
        ("box, arm", "can, box, arm"),
        ("box, arm", "arm"),
        ("can, box, arm", "box, arm"),
        ("box, arm", "arm, box"),
        ("arm, box", "box, arm"),
        ("can, box, arm", "reordered"),
        ("reordered", "arm"),
        ("arm", "arm"),
    ]
    return [_carry(1000 + i, old, new) for i, (old, new) in enumerate(pairs)]


@exercise.part("edge cases: other types, unnamed things, activations", points=2)
def edges():
    pairs = [
        ("box, arm", "two is a slide"),
        ("two is a slide", "arm"),
        ("arm", "two is a ball"),
        ("two is a ball", "box, arm"),
        ("box, arm", "box is a hinge"),
        ("box is a hinge", "box, arm"),
        ("box, arm", "box is a ball"),
        ("box is a ball", "can, box, arm"),
        ("unnamed", "unnamed, more"),
        ("unnamed, more", "unnamed"),
        ("filtered", "filtered, box"),
        ("filtered, box", "filtered"),
        ("filtered", "three not filtered"),
        ("three not filtered", "filtered"),
        ("filtered, box", "three has two"),
        ("three has two", "filtered, box"),
        ("three has two", "box has two"),
        ("box has two", "three has two"),
        ("bob, arm", "box, arm, bob"),
        ("box, arm, bob", "bob, arm"),
        ("box, arm", "can, box, arm"),
    ]
    return [_carry(1100 + i, old, new) for i, (old, new) in enumerate(pairs)]


@exercise.part("contract: fresh derived quantities, applied forces left behind", points=1)
def contract():
    pairs = [
        ("arm", "box, arm"),
        ("box, arm", "arm"),
        ("box, arm", "can, box, arm"),
        ("filtered", "filtered, box"),
        ("can, box, arm", "reordered"),
    ]
    return [
        _carry(
            1200 + i, old, new, (*STATE, *DERIVED, *APPLIED), f"everything, from ({old}) to ({new})"
        )
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


_BY_INDEX = (
    "The state is copied by index. An object added before the arm moves every address: match "
    "joints and actuators by name."
)
for _body in (
    """
    n, m = min(old_model.nq, new_model.nq), min(old_model.nv, new_model.nv)
    new_data.qpos[:n], new_data.qvel[:m] = old_data.qpos[:n], old_data.qvel[:m]
    k, l = min(old_model.nu, new_model.nu), min(old_model.na, new_model.na)
    new_data.ctrl[:k], new_data.act[:l] = old_data.ctrl[:k], old_data.act[:l]
""",
    """
    new_data.qpos[:] = old_data.qpos
    new_data.qvel[:] = old_data.qvel
    new_data.act[:] = old_data.act
    new_data.ctrl[:] = old_data.ctrl
""",
    """
    for i in range(min(old_model.njnt, new_model.njnt)):
        if old_model.jnt_type[i] == new_model.jnt_type[i]:
            nq, nv = [(7, 6), (4, 3), (1, 1), (1, 1)][old_model.jnt_type[i]]
            q, p = old_model.jnt_qposadr[i], new_model.jnt_qposadr[i]
            v, u = old_model.jnt_dofadr[i], new_model.jnt_dofadr[i]
            new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]
            new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]
    k, l = min(old_model.nu, new_model.nu), min(old_model.na, new_model.na)
    new_data.ctrl[:k], new_data.act[:l] = old_data.ctrl[:k], old_data.act[:l]
""",
):
    exercise.misconceptions.append(
        Implementation(
            "by_index",
            _BY_INDEX,
            "def carry_state(old_model, old_data, new_model, new_data):\n"
            f"    new_data.time = old_data.time{_body}"
            "    mujoco.mj_forward(new_model, new_data)\n",
        )
    )

_QPOS = "        new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]\n"
_QVEL = "        new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]\n"
_CTRL = "        new_data.ctrl[j] = old_data.ctrl[i]\n"
_ACT = "            new_data.act[b : b + n] = old_data.act[a : a + n]\n"
_TYPE = "        if new_model.jnt_type[j] != kind:\n            continue\n"
_TIME = "    new_data.time = old_data.time\n"
_FORWARD = "    mujoco.mj_forward(new_model, new_data)\n"

_wrong = exercise.slips(exercise.variants[0].cell)
_wrong(
    "resets_time",
    "The time starts again at 0. A rebuild is not a reset: carry `time` over.",
    (_TIME, ""),
)
_wrong(
    "forgets_act_and_ctrl",
    "Neither commands nor activations are carried: the actuators start from nothing. Carry `ctrl` "
    "and `act` by actuator name.",
    (_CTRL, ""),
    (_ACT, "            pass\n"),
)
_wrong(
    "forgets_ctrl",
    "The commands (`ctrl`) are not carried: after the rebuild the arm drives to 0.",
    (_CTRL, ""),
)
_wrong(
    "forgets_act",
    "The activations (`act`) are not carried: a filtered actuator starts from 0 again.",
    (_ACT, "            pass\n"),
)
_wrong(
    "forgets_velocities",
    "The velocities are not carried: everything stops for an instant.",
    (_QVEL, ""),
)
_wrong(
    "forgets_positions",
    "The positions are not carried: everything jumps to its place in the model.",
    (_QPOS, ""),
)
_wrong(
    "ignores_the_type",
    "A joint of the same name but of another type is carried. A hinge's angle is no slide's metre: "
    "compare `jnt_type` first.",
    (_TYPE, ""),
)
_wrong(
    "ignores_the_type",
    "A joint of the same name but of another type is carried as far as it fits. A hinge's angle is "
    "no slide's metre: compare `jnt_type` first.",
    (_TYPE, ""),
    (
        "        nq, nv = [(7, 6), (4, 3), (1, 1), (1, 1)][kind]\n",
        "        sizes = [(7, 6), (4, 3), (1, 1), (1, 1)]\n"
        "        nq, nv = map(min, sizes[kind], sizes[new_model.jnt_type[j]])\n",
    ),
)
_wrong(
    "compares_sizes_not_types",
    "Joints count as the same type when their sizes agree: but a hinge and a slide both have one "
    "coordinate, an angle and a length. Compare `jnt_type`.",
    (
        "        if new_model.jnt_type[j] != kind:",
        "        if max(new_model.jnt_type[j], 2) != max(kind, 2):",
    ),
)
_wrong(
    "matches_unnamed",
    "Unnamed joints and actuators are matched with each other by their empty names. They cannot be "
    "told apart, so they are not carried.",
    (
        "mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_JOINT, name) if name else -1",
        "{new_model.joint(k).name: k for k in range(new_model.njnt)}.get(name, -1)",
    ),
    (
        "mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_ACTUATOR, name) if name else -1",
        "{new_model.actuator(k).name: k for k in range(new_model.nu)}.get(name, -1)",
    ),
)
_wrong(
    "matches_unnamed",
    "Unnamed joints and actuators are matched with each other by their empty names. They cannot be "
    "told apart, so they are not carried.",
    (
        "mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_JOINT, name) if name else -1",
        "([k for k in range(new_model.njnt) if new_model.joint(k).name == name] + [-1])[0]",
    ),
    (
        "mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_ACTUATOR, name) if name else -1",
        "([k for k in range(new_model.nu) if new_model.actuator(k).name == name] + [-1])[0]",
    ),
)
_wrong(
    "missing_name_accepted",
    "What is gone in the new model becomes id -1 and is written into the last joint or actuator. "
    "`mj_name2id` returns -1 for it: skip it.",
    ("        if j < 0:\n            continue\n", ""),
    (" if name else -1", ""),
)
_wrong(
    "act_without_the_count",
    "Activations are copied although the two actuators do not have equally many. Compare "
    "`actuator_actnum` before you copy.",
    (
        "        if n == new_model.actuator_actnum[j] and n > 0:\n",
        "        n = min(n, new_model.actuator_actnum[j])\n        if n > 0:\n",
    ),
)
_wrong(
    "act_without_the_count",
    "Activations are copied although the two actuators do not have equally many. Compare "
    "`actuator_actnum` before you copy.",
    (
        "        if n == new_model.actuator_actnum[j] and n > 0:\n",
        "        if n > 0:\n",
    ),
)
_wrong(
    "act_by_actuator_id",
    "The actuator's id is used as an address into `act`. Only actuators with an internal state "
    "have one: its address is `actuator_actadr`.",
    (
        "a, b = old_model.actuator_actadr[i], new_model.actuator_actadr[j]",
        "a, b = min(i, old_model.na - n), min(j, new_model.na - n)",
    ),
)
_wrong(
    "act_by_index",
    "Activations are copied as one block: an actuator added before moves their addresses.",
    (
        "        n = old_model.actuator_actnum[i]\n",
        "        n = min(old_model.na, new_model.na)\n"
        "        new_data.act[:n] = old_data.act[:n]\n        n = 0\n",
    ),
)
_wrong(
    "ctrl_by_index",
    "Commands are copied by index; an actuator added before moves them. Match by name.",
    (_CTRL, "        if i < new_model.nu:\n            new_data.ctrl[i] = old_data.ctrl[i]\n"),
)
_wrong(
    "same_address_in_both",
    "The old addresses are used in the new model too. Look the address up in each model.",
    ("new_model.jnt_qposadr[j]", "min(old_model.jnt_qposadr[i], new_model.nq - nq)"),
    ("new_model.jnt_dofadr[j]", "min(old_model.jnt_dofadr[i], new_model.nv - nv)"),
)
_wrong(
    "qpos_address_for_qvel",
    "The address into qpos is used for qvel. A free joint before takes 7 entries of one and 6 of "
    "the other: velocities live at `jnt_dofadr`.",
    (
        "old_model.jnt_dofadr[i], new_model.jnt_dofadr[j]",
        "min(q, old_model.nv - nv), min(p, new_model.nv - nv)",
    ),
)
_wrong(
    "one_number_for_each_joint",
    "Only the first number of each joint is carried: a free joint has 7 positions and 6 "
    "velocities, a ball joint 4 and 3.",
    ("nq, nv = [(7, 6), (4, 3), (1, 1), (1, 1)][kind]", "nq, nv = 1, 1"),
)
_wrong(
    "arm_only",
    "Only hinges and slides are carried: loose objects jump back to where the model puts them.",
    (_TYPE, "        if new_model.jnt_type[j] != kind or kind < 2:\n            continue\n"),
)
_wrong(
    "carries_applied_forces",
    "Applied forces are carried too. A push belongs to whoever applies it; after a rebuild it is "
    "gone until it is applied again.",
    (
        _FORWARD,
        "    for i in range(1, old_model.nbody):\n"
        "        name = old_model.body(i).name\n"
        "        j = mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_BODY, name) if name else -1\n"
        "        if j > 0:\n"
        "            new_data.xfrc_applied[j] = old_data.xfrc_applied[i]\n" + _FORWARD,
    ),
)
_wrong(
    "carries_applied_forces",
    "Joint forces (`qfrc_applied`) are carried too. They belong to whoever applies them; after a "
    "rebuild they are gone until they are applied again.",
    (_QVEL, _QVEL + _QVEL.replace("qvel", "qfrc_applied")),
)
_wrong(
    "carries_applied_forces",
    "Applied forces are carried too. A push belongs to whoever applies it; after a rebuild it is "
    "gone until it is applied again.",
    (_QVEL, _QVEL + _QVEL.replace("qvel", "qfrc_applied")),
    (
        _FORWARD,
        "    for i in range(1, old_model.nbody):\n"
        "        name = old_model.body(i).name\n"
        "        j = mujoco.mj_name2id(new_model, mujoco.mjtObj.mjOBJ_BODY, name) if name else -1\n"
        "        if j > 0:\n"
        "            new_data.xfrc_applied[j] = old_data.xfrc_applied[i]\n" + _FORWARD,
    ),
)
_wrong(
    "derived_not_computed",
    "Frames and sensors of the new data are those of an empty scene: call `mj_forward` once the "
    "state is in place.",
    (_FORWARD, ""),
)
_wrong(
    "forward_too_early",
    "`mj_forward` runs before the state is in place: frames and sensors describe the model's own "
    "pose.",
    (_TIME, _TIME + _FORWARD),
    (_ACT + _FORWARD, _ACT),
)
_wrong(
    "kinematics_only",
    "Only frames are computed anew; sensors, forces and accelerations are stale. `mj_forward` "
    "computes them all.",
    (_FORWARD, "    mujoco.mj_kinematics(new_model, new_data)\n"),
)
_wrong(
    "takes_a_step",
    "A step is taken at the end: time and state move on. `mj_forward` computes without moving.",
    (_FORWARD, "    mujoco.mj_step(new_model, new_data)\n"),
)
_wrong(
    "resets_afterwards",
    "The new data is reset after the copying, which clears what was carried.",
    (_FORWARD, "    mujoco.mj_resetData(new_model, new_data)\n" + _FORWARD),
)
_wrong(
    "spoils_the_old",
    "`old_data` is changed. Whoever holds it may still read it: leave it as it is.",
    (_FORWARD, _FORWARD + "    mujoco.mj_resetData(old_model, old_data)\n"),
)
_wrong(
    "spoils_the_old",
    "`old_data` is changed: its applied forces are cleared. Leave it as it is.",
    (
        _FORWARD,
        _FORWARD + "    old_data.xfrc_applied[:] = 0\n    old_data.qfrc_applied[:] = 0\n",
    ),
)
_wrong(
    "spoils_the_old",
    "`old_data` is changed: it was stepped. Leave it as it is.",
    (_FORWARD, _FORWARD + "    mujoco.mj_step(old_model, old_data)\n"),
)
_wrong(
    "copies_backwards",
    "The state is copied from new to old: source and target are exchanged.",
    (_QPOS, "        old_data.qpos[q : q + nq] = new_data.qpos[p : p + nq]\n"),
    (_QVEL, "        old_data.qvel[v : v + nv] = new_data.qvel[u : u + nv]\n"),
    (_CTRL, "        old_data.ctrl[i] = new_data.ctrl[j]\n"),
)


for _count in ("n == new_model.actuator_actnum[j] == 1", "n == new_model.actuator_actnum[j]"):
    _wrong(
        "one_activation_only",
        "Only one activation of each actuator is carried. An actuator may have several: "
        "`actuator_actnum` says how many.",
        ("n == new_model.actuator_actnum[j] and n > 0", f"{_count} and n > 0"),
        ("new_data.act[b : b + n] = old_data.act[a : a + n]", "new_data.act[b] = old_data.act[a]"),
    )
for _sizes in ("(3, 3)", "(3, 4)", "(1, 1)"):
    _wrong(
        "wrong_size_of_a_ball",
        "A ball joint is carried with the wrong sizes: it has 4 positions (a quaternion) and 3 "
        "velocities.",
        ("(4, 3)", _sizes),
    )
_wrong(
    "skips_ball_joints",
    "Ball joints are not carried: they have a name and a type like any other.",
    (_TYPE, _TYPE.replace("!= kind:", "!= kind or kind == 1:")),
)
for _kind, _words in ((2, "Slides"), (3, "Hinges")):
    _wrong(
        "skips_a_type",
        f"{_words} are not carried: every joint that has a name and the same type is.",
        (_TYPE, _TYPE.replace("!= kind:", f"!= kind or kind == {_kind}:")),
    )
_wrong(
    "wrong_size_of_a_free_joint",
    "A free joint is carried with the wrong sizes: it has 7 positions and 6 velocities.",
    ("(7, 6)", "(6, 6)"),
)
_wrong(
    "wrong_size_of_a_free_joint",
    "Only the position of a free joint is carried: its seven numbers hold the orientation too.",
    ("(7, 6)", "(3, 3)"),
)
_wrong(
    "free_velocities_forgotten",
    "The velocities of loose objects are not carried: a falling box stops in the air.",
    (_QVEL, _QVEL.replace("old_data.qvel[v : v + nv]", "old_data.qvel[v : v + nv] * (kind > 0)")),
)
_wrong(
    "moves_the_time",
    "The time is one step ahead: nothing was stepped, so it stays as it was.",
    (_TIME, _TIME.replace("old_data.time", "old_data.time + new_model.opt.timestep")),
)
_wrong(
    "only_half_evaluated",
    "Positions and velocities are computed anew, forces and accelerations are not: `mj_step1` is "
    "half of `mj_forward`.",
    (_FORWARD, _FORWARD.replace("mj_forward", "mj_step1")),
)
_wrong(
    "only_half_evaluated",
    "Only positions are computed anew: velocities, forces and accelerations are stale. "
    "`mj_forward` computes them all.",
    (_FORWARD, _FORWARD.replace("mj_forward", "mj_fwdPosition")),
)
for _field, _size in (("xfrc_applied", "nbody"), ("qfrc_applied", "nv")):
    _wrong(
        "carries_applied_forces",
        f"`{_field}` is carried too. A push belongs to whoever applies it; after a rebuild it is "
        "gone until it is applied again.",
        (
            _FORWARD,
            f"    k = min(old_model.{_size}, new_model.{_size})\n"
            f"    new_data.{_field}[:k] = old_data.{_field}[:k]\n" + _FORWARD,
        ),
    )
exercise.misconceptions.append(
    Implementation(
        "carries_nothing",
        "Nothing is carried over: the new data stays at the model's own pose and at time 0.",
        "def carry_state(old_model, old_data, new_model, new_data):\n"
        "    mujoco.mj_forward(new_model, new_data)\n",
    )
)


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


_UNNAMED_TOO = (
    "matches_unnamed",
    "Unnamed joints and actuators are matched with each other by their empty names. They cannot be "
    "told apart, so they are not carried.",
)
_FROM_NEW_SIDE = """\
def carry_state(old_model, old_data, new_model, new_data):
    new_data.time = old_data.time
    joints = {old_model.joint(i).name: i for i in range(old_model.njnt)%s}
    for j in range(new_model.njnt):
        i = joints.get(new_model.joint(j).name)
        if i is None or old_model.jnt_type[i] != new_model.jnt_type[j]:
            continue
        nq, nv = [(7, 6), (4, 3), (1, 1), (1, 1)][new_model.jnt_type[j]]
        q, p = old_model.jnt_qposadr[i], new_model.jnt_qposadr[j]
        v, u = old_model.jnt_dofadr[i], new_model.jnt_dofadr[j]
        new_data.qpos[p : p + nq] = old_data.qpos[q : q + nq]
        new_data.qvel[u : u + nv] = old_data.qvel[v : v + nv]
    actuators = {old_model.actuator(i).name: i for i in range(old_model.nu)%s}
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
"""
for _joints, _actuators in (
    ("", " if old_model.actuator(i).name"),
    (" if old_model.joint(i).name", ""),
    ("", ""),
):
    exercise.misconceptions.append(
        Implementation(*_UNNAMED_TOO, _FROM_NEW_SIDE % (_joints, _actuators))
    )
_wrong(
    "part_of_the_coordinates",
    "A free joint has seven coordinates, a ball joint four; you carry the first of them only.",
    ("[(7, 6), (4, 3), (1, 1), (1, 1)]", "[(3, 6), (4, 3), (1, 1), (1, 1)]"),
)
_wrong(
    "the_wrong_way",
    "The state is copied from the new data into the old: `old_data` is the source.",
    ("old_model", "X_model"),
    ("new_model", "old_model"),
    ("X_model", "new_model"),
    ("old_data", "X_data"),
    ("new_data", "old_data"),
    ("X_data", "new_data"),
    ("(new_model, new_data, old_model, old_data)", "(old_model, old_data, new_model, new_data)"),
)
_wrong(
    "stops_at_a_missing_name",
    "Everything after the first name that one model lacks is left behind: skip it and go on.",
    ("            continue\n        if new", "            break\n        if new"),
)
