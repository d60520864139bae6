"""`read_ports`: measured position, velocity and torque, in the order of the names."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, each, same, script
from course.exercises.env_conventions import rigs

exercise = Exercise("read_ports", points=4, provides=("read_joint_ports",), core=True)

PORTS = each()
CHAIN = ("turn", "lift", "bend", "roll", "nod")


@exercise.reference
def reference():
    def read_joint_ports(model, data, joint_names):
        qpos = [model.jnt_qposadr[model.joint(name).id] for name in joint_names]
        dofs = [model.jnt_dofadr[model.joint(name).id] for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[qpos],
            "jnt_vel_msr": data.qvel[dofs],
            "jnt_trq_msr": data.qfrc_actuator[dofs],
        }

    return {"read_joint_ports": read_joint_ports}


def _read(seed, names, **more):
    model = rigs.arm()
    data = rigs.moving(seed)
    return call("read_joint_ports", model, data, names, compare=PORTS, **more)


@exercise.part("ordinary: the arm behind a free body", points=2)
def ordinary():
    cases = [_read(200 + i, list(CHAIN), label="all joints, base to tip") for i in range(2)]
    cases += [
        _read(210 + i, [name], label=f"the joint {name!r} alone") for i, name in enumerate(CHAIN)
    ]
    return cases


@exercise.part("edge cases: names in another order", points=1)
def reordered():
    rng = np.random.default_rng(220)
    cases = [
        _read(221 + i, [str(n) for n in rng.permutation(CHAIN)], label="names in another order")
        for i in range(3)
    ]
    cases += [
        _read(226, tuple(reversed(CHAIN)), label="tip to base"),
        _read(227, ["nod", "turn"], label="two of the joints"),
    ]
    return cases


def _refusal(name, names):
    """What an unknown joint brings: a KeyError that names it."""

    def run(door):
        outcome = door.call("read_joint_ports", rigs.arm(), rigs.moving(230), names)
        if outcome.error is None:
            return "no error"
        if outcome.error.is_a("NotImplementedError"):
            outcome.result()
        if not outcome.error.is_a("KeyError"):
            return outcome.error.kinds[0]
        return "KeyError, named" if name in outcome.error.message else "KeyError, not named"

    return script(f"an unknown joint, {name!r}", run, compare=same(), expected="KeyError, named")


@exercise.part("contract: copies, nothing changed, unknown names refused", points=1)
def contract():
    return [
        _read(231, list(CHAIN), label="copies", fresh=True, unchanged=True),
        _read(232, ["lift"], label="copies", fresh=True, unchanged=True),
        _refusal("joint_99", ["turn", "joint_99"]),
        _refusal("nod_motor", ["nod_motor"]),
    ]


@exercise.variant("address arrays")
def by_addresses():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        q, v = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        pos, vel, trq = data.qpos[q], data.qvel[v], data.qfrc_actuator[v]
        return {"jnt_pos_msr": pos, "jnt_vel_msr": vel, "jnt_trq_msr": trq}


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_IDS = "[model.joint(name).id for name in joint_names]"
_VALUES = "data.qpos[q], data.qvel[v], data.qfrc_actuator[v]"
_PORTS = '{"jnt_pos_msr": pos, "jnt_vel_msr": vel, "jnt_trq_msr": trq}'
_TORQUE = "data.qfrc_actuator[v]"


def _entries(chosen: str) -> tuple[str, str]:
    """An edit: copies of these entries of the three arrays."""
    arrays = (f"data.{field}[{chosen}].copy()" for field in ("qpos", "qvel", "qfrc_actuator"))
    return _VALUES, ", ".join(arrays)


# Which entries
slip(
    "first_n_entries",
    "These are the first n entries of the arrays. A free body stands before the arm: ask the model "
    "for each joint's address (`jnt_qposadr`, `jnt_dofadr`).",
    _entries(": len(ids)"),
)
slip(
    "last_n_entries",
    "These are the last n entries of the arrays: that holds only when nothing comes after the arm "
    "and the names are in the model's order. Ask for the addresses.",
    _entries("-len(ids) :"),
)
slip(
    "all_of_the_arrays",
    "These are the whole arrays: every joint of the scene, free bodies included. Pick the entries "
    "of the named joints.",
    _entries(":"),
)
slip(
    "block_from_the_first",
    "The joints are read as one block, from the first joint's address on: that is the model's "
    "order, not the order of `joint_names`.",
    (
        "    pos, vel",
        "    q, v = (min(first) + np.arange(len(ids)) for first in (q, v))\n    pos, vel",
    ),
)
slip(
    "model_order",
    "The values come in the model's order; they must come in the order of `joint_names`.",
    (_IDS, f"sorted({_IDS})"),
)
for _id, _order, _text in (
    (
        "alphabetical",
        "sorted",
        "in the alphabetical order of the names; they must come in the order given.",
    ),
    ("backwards", "reversed", "in the reverse of the order of `joint_names`."),
):
    slip(_id, f"The values come {_text}", ("in joint_names", f"in {_order}(joint_names)"))
_FOR_QVEL = (
    "qpos_address_for_qvel",
    "The qpos address is used for qvel too. A free joint before the arm takes 7 entries of qpos "
    "and 6 of qvel, so the two addresses differ: velocities and torques live at `jnt_dofadr`.",
)
slip(*_FOR_QVEL, ("model.jnt_dofadr[ids]", "np.minimum(model.jnt_qposadr[ids], model.nv - 1)"))
slip(*_FOR_QVEL, ("jnt_dofadr", "jnt_qposadr"))
slip(*_FOR_QVEL, ("data.qvel[v]", "data.qvel[q]"))
slip(
    "qpos_address_for_torque",
    "The qpos address is used for the torque. `qfrc_actuator` has one entry for each degree of "
    "freedom: its address is `jnt_dofadr`.",
    (_TORQUE, "data.qfrc_actuator[np.minimum(q, model.nv - 1)]"),
)
slip(
    "dof_address_for_qpos",
    "The dof address is used for qpos. A free or ball joint before the arm takes one entry more in "
    "qpos than in qvel: positions live at `jnt_qposadr`.",
    ("jnt_qposadr", "jnt_dofadr"),
)
slip(
    "id_as_address",
    "The joint's id is used as an address. The id counts joints; its place in qpos is "
    "`jnt_qposadr[id]`, in qvel `jnt_dofadr[id]`.",
    ("model.jnt_qposadr[ids], model.jnt_dofadr[ids]", "ids, ids"),
)

# Which torque
_ON_JOINT = "[np.flatnonzero(model.actuator_trnid[:, 0] == j) for j in ids]"
_FIRST_ON_JOINT = f"np.array([data.{{}}[a[0]] if len(a) else 0.0 for a in {_ON_JOINT}])"
for _force in (
    _FIRST_ON_JOINT.format("actuator_force"),
    "data.actuator_force[ids]",
    "data.actuator_force[np.minimum(v, model.nu - 1)]",
    "data.actuator_force[: len(ids)].copy()",
):
    slip(
        "actuator_force_for_torque",
        "The torque is read from `actuator_force`: that is counted by actuator and lies before the "
        "gear. The drive torque at the joint is `qfrc_actuator`.",
        (_TORQUE, _force),
    )
_SUM_ON_JOINT = f"np.array([({{}})[a].sum() for a in {_ON_JOINT}])"
slip(
    "actuator_force_for_torque",
    "The torque is the sum of the actuators' forces without their gears. The moment that reaches "
    "the joint is gear times force, clamped to the joint's own limit: read `qfrc_actuator`.",
    (_TORQUE, _SUM_ON_JOINT.format("data.actuator_force")),
)
slip(
    "gear_times_force",
    "Gear times force is right for the actuators, but the joint's own limit (`actuatorfrcrange`) "
    "clamps what reaches it. `qfrc_actuator` holds the torque after that.",
    (_TORQUE, _SUM_ON_JOINT.format("data.actuator_force * model.actuator_gear[:, 0]")),
)
slip(
    "commanded_torque",
    "The torque is the commanded one (`ctrl`). Measured is what the drives exert: `qfrc_actuator`.",
    (_TORQUE, _FIRST_ON_JOINT.format("ctrl")),
)
slip(
    "commanded_torque",
    "The torque is computed from the commands (`ctrl` times gear). Measured is what the drives "
    "exert: `qfrc_actuator`.",
    (_TORQUE, _SUM_ON_JOINT.format("data.ctrl * model.actuator_gear[:, 0]")),
)
slip(
    "command_for_torque",
    "`ctrl` is what was commanded, in the actuator's own units; the measured torque is "
    "`qfrc_actuator` at the joint's dof.",
    (_TORQUE, "data.ctrl[: len(ids)].copy()"),
)
_OTHERS = (
    "another force at the joint, not the drives': `qfrc_applied` is what you add, `qfrc_bias` "
    "gravity and Coriolis, `qfrc_passive` springs and dampers, `qfrc_constraint` contacts and "
    "limits. The drives' is `qfrc_actuator`."
)
for _field in ("qfrc_applied", "qfrc_bias", "qfrc_smooth"):
    slip("applied_force", f"This is {_OTHERS}", ("qfrc_actuator", _field))
for _field in ("qfrc_passive", "qfrc_constraint", "qfrc_inverse"):
    slip("applied_force", f"`{_field}` is {_OTHERS}", ("qfrc_actuator", _field))
slip(
    "torque_of_the_wrong_sign",
    "The torque has the wrong sign: `qfrc_actuator` is what the drives exert on the joints.",
    (_TORQUE, f"-{_TORQUE}"),
)

# Which quantity, which form
slip(
    "acceleration_for_velocity",
    "The velocity port holds accelerations (`qacc`); the measured velocity is `qvel`.",
    ("data.qvel", "data.qacc"),
)
slip(
    "position_and_velocity_exchanged",
    "The ports of position and velocity are exchanged.",
    ("data.qpos[q], data.qvel[v]", "data.qvel[v], data.qpos[q]"),
)
slip(
    "in_degrees",
    "The positions are in degrees; inside and at the interface angles are in radians.",
    ("data.qpos[q]", "np.degrees(data.qpos[q])"),
)
slip(
    "column_vectors",
    "The ports are arrays of shape (n, 1): one row for each joint. A port is a vector, shape (n,): "
    "take the number out of `data.joint(name).qpos`, which is an array of one entry.",
    (_VALUES, "data.qpos[q, None], data.qvel[v, None], data.qfrc_actuator[v, None]"),
)
slip(
    "views",
    "The ports are views into `data`: they change under the reader's hands at the next step. "
    "Return copies.",
    (
        "    pos, vel",
        "    if (np.diff(q) == 1).all():\n"
        "        q, v = slice(q[0], q[-1] + 1), slice(v[0], v[-1] + 1)\n    pos, vel",
    ),
)
for _keys in (("pos", "vel", "trq"), ("position", "velocity", "torque"), ("qpos", "qvel", "tau")):
    slip(
        "wrong_keys",
        "The ports are called `jnt_pos_msr`, `jnt_vel_msr` and `jnt_trq_msr`; whoever reads them "
        "looks for these keys.",
        (_PORTS, f"dict(zip({_keys}, (pos, vel, trq)))"),
    )
for _other in ("pos, vel, trq", "np.array([pos, vel, trq])", "np.concatenate([pos, vel, trq])"):
    slip(
        "not_a_dict",
        "The result is not a dict: return one with the keys `jnt_pos_msr`, `jnt_vel_msr` and "
        "`jnt_trq_msr`.",
        (_PORTS, _other),
    )
slip(
    "keyed_by_joint",
    "The dict has one entry for each joint; it is asked for by port: three arrays over all joints.",
    (_PORTS, "dict(zip(joint_names, zip(pos, vel, trq)))"),
)
slip(
    "a_port_is_missing",
    "A port is missing: positions, velocities and torques are asked for.",
    (', "jnt_trq_msr": trq', ""),
)

# Unknown names
_BY_ID = (_IDS, "[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in joint_names]")
slip(
    "unknown_name_accepted",
    "An unknown name becomes id -1, which reads the model's last joint: a plausible number from "
    "the wrong place. `mj_name2id` returns -1 for it; raise a KeyError that names it.",
    _BY_ID,
)
for _id, _error, _text in (
    (
        "refuses_with_value_error",
        'ValueError(f"unknown joint {joint_names[ids.index(-1)]}")',
        "An unknown joint is refused, but not with a KeyError; a name that does not exist is a "
        "missing key.",
    ),
    (
        "refuses_without_the_name",
        'KeyError("unknown joint")',
        "The KeyError does not say which joint is unknown. Put the name into the message: whoever "
        "mistyped it has to find it.",
    ),
):
    slip(_id, _text, _BY_ID, ("    q, v", f"    if -1 in ids:\n        raise {_error}\n    q, v"))
slip(
    "unknown_name_skipped",
    "An unknown joint is skipped without a word: the port comes out shorter.",
    (
        "in joint_names]",
        "in joint_names if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, name) >= 0]",
    ),
)


# More right answers.
@exercise.variant("named access, one joint at a time, lists returned")
def by_names():
    def read_joint_ports(model, data, joint_names):
        ports = {"jnt_pos_msr": [], "jnt_vel_msr": [], "jnt_trq_msr": []}
        for name in joint_names:
            joint = data.joint(name)
            ports["jnt_pos_msr"].append(float(joint.qpos[0]))
            ports["jnt_vel_msr"].append(joint.qvel.item())
            ports["jnt_trq_msr"].append(joint.qfrc_actuator[0])
        return ports


@exercise.variant("a selection matrix")
def by_matrix():
    def read_joint_ports(model, data, joint_names):
        names = [model.joint(i).name for i in range(model.njnt)]
        S = np.zeros((len(joint_names), model.nv))
        P = np.zeros((len(joint_names), model.nq))
        for row, name in enumerate(joint_names):
            if name not in names:
                raise KeyError(f"no joint is called {name!r}")
            i = names.index(name)
            P[row, model.jnt_qposadr[i]] = S[row, model.jnt_dofadr[i]] = 1
        return dict(
            jnt_pos_msr=P @ data.qpos, jnt_vel_msr=S @ data.qvel, jnt_trq_msr=S @ data.qfrc_actuator
        )


@exercise.variant("a class that maps names to addresses, tuples returned")
def by_class():
    class Address(dict):
        def __missing__(self, name):
            raise KeyError(name)

    def read_joint_ports(model, data, joint_names):
        at = Address()
        for i in range(model.njnt):
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, i)
            at[name] = (model.jnt_qposadr[i], model.jnt_dofadr[i])
        pairs = [at[name] for name in joint_names]
        return {
            "jnt_pos_msr": tuple(data.qpos[q] for q, _ in pairs),
            "jnt_vel_msr": tuple(data.qvel[v] for _, v in pairs),
            "jnt_trq_msr": np.array([data.qfrc_actuator[v] for _, v in pairs]),
        }


@exercise.variant("one table, its rows returned")
def by_table():
    def read_joint_ports(model, data, joint_names):
        out = np.empty((3, len(joint_names)))
        for k, name in enumerate(joint_names):
            joint = model.joint(name)
            out[:, k] = (
                data.qpos[joint.qposadr[0]],
                data.qvel[joint.dofadr[0]],
                data.joint(name).qfrc_actuator[0],
            )
        return dict(zip(("jnt_pos_msr", "jnt_vel_msr", "jnt_trq_msr"), out, strict=True))
