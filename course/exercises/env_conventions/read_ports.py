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
    cases = [_read(200 + i, list(CHAIN), label="all joints, base to tip") for i in range(4)]
    cases += [
        _read(210 + i, [name], label=f"the joint {name!r} alone") for i, name in enumerate(CHAIN)
    ]
    return cases


@exercise.part("edge cases: names in another order", points=1)
def reordered():
    rng = np.random.default_rng(220)
    cases = [
        _read(221 + i, [str(n) for n in rng.permutation(CHAIN)], label="names in another order")
        for i in range(4)
    ]
    cases += [
        _read(226, tuple(reversed(CHAIN)), label="tip to base"),
        _read(227, ["nod", "turn"], label="two of the joints"),
        _read(228, list(CHAIN)),
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


@exercise.misconception(
    "These are the first n entries of the arrays. A free body stands before the arm: ask the model "
    "for each joint's address (`jnt_qposadr`, `jnt_dofadr`)."
)
def first_n_entries():
    def read_joint_ports(model, data, joint_names):
        n = len(joint_names)
        for name in joint_names:
            model.joint(name)
        return {
            "jnt_pos_msr": data.qpos[:n].copy(),
            "jnt_vel_msr": data.qvel[:n].copy(),
            "jnt_trq_msr": data.qfrc_actuator[:n].copy(),
        }


@exercise.misconception(
    "The joints are read as one block, from the first joint's address on: that is the model's "
    "order, not the order of `joint_names`."
)
def block_from_the_first():
    def read_joint_ports(model, data, joint_names):
        n = len(joint_names)
        q = min(model.jnt_qposadr[model.joint(name).id] for name in joint_names)
        v = min(model.jnt_dofadr[model.joint(name).id] for name in joint_names)
        return {
            "jnt_pos_msr": data.qpos[q : q + n].copy(),
            "jnt_vel_msr": data.qvel[v : v + n].copy(),
            "jnt_trq_msr": data.qfrc_actuator[v : v + n].copy(),
        }


@exercise.misconception(
    "The values come in the model's order; they must come in the order of `joint_names`."
)
def model_order():
    def read_joint_ports(model, data, joint_names):
        ids = sorted(model.joint(name).id for name in joint_names)
        q, v = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[q],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@exercise.misconception(
    "The qpos address is used for qvel too. A free joint before the arm takes 7 entries of qpos "
    "and 6 of qvel, so the two addresses differ: velocities and torques live at `jnt_dofadr`."
)
def qpos_address_for_qvel():
    def read_joint_ports(model, data, joint_names):
        q = np.array([model.jnt_qposadr[model.joint(name).id] for name in joint_names])
        at = np.minimum(q, model.nv - 1)
        return {
            "jnt_pos_msr": data.qpos[q],
            "jnt_vel_msr": data.qvel[at],
            "jnt_trq_msr": data.qfrc_actuator[at],
        }


@exercise.misconception(
    "The qpos address is used for qvel too. A free joint before the arm takes 7 entries of qpos "
    "and 6 of qvel, so the two addresses differ: velocities and torques live at `jnt_dofadr`.",
    id="qpos_address_for_qvel",
)
def qpos_address_for_qvel_unguarded():
    def read_joint_ports(model, data, joint_names):
        q = [model.jnt_qposadr[model.joint(name).id] for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[q],
            "jnt_vel_msr": data.qvel[q],
            "jnt_trq_msr": data.qfrc_actuator[q],
        }


@exercise.misconception(
    "The qpos address is used for qvel too. A free joint before the arm takes 7 entries of qpos "
    "and 6 of qvel, so the two addresses differ: velocities and torques live at `jnt_dofadr`.",
    id="qpos_address_for_qvel",
)
def qpos_address_for_qvel_only():
    def read_joint_ports(model, data, joint_names):
        q = [model.jnt_qposadr[model.joint(name).id] for name in joint_names]
        v = [model.jnt_dofadr[model.joint(name).id] for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[q],
            "jnt_vel_msr": data.qvel[q],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@exercise.misconception(
    "The qpos address is used for the torque. `qfrc_actuator` has one entry for each degree of "
    "freedom: its address is `jnt_dofadr`."
)
def qpos_address_for_torque():
    def read_joint_ports(model, data, joint_names):
        q = np.array([model.jnt_qposadr[model.joint(name).id] for name in joint_names])
        v = [model.jnt_dofadr[model.joint(name).id] for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[q],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[np.minimum(q, model.nv - 1)],
        }


@exercise.misconception(
    "The dof address is used for qpos. A free or ball joint before the arm takes one entry more in "
    "qpos than in qvel: positions live at `jnt_qposadr`."
)
def dof_address_for_qpos():
    def read_joint_ports(model, data, joint_names):
        v = [model.jnt_dofadr[model.joint(name).id] for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[v],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@exercise.misconception(
    "The joint's id is used as an address. The id counts joints; its place in qpos is "
    "`jnt_qposadr[id]`, in qvel `jnt_dofadr[id]`."
)
def id_as_address():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[ids],
            "jnt_vel_msr": data.qvel[ids],
            "jnt_trq_msr": data.qfrc_actuator[ids],
        }


def _with_torque(text, id=""):
    return exercise.misconception(text, id=id)


@_with_torque(
    "The torque is read from `actuator_force`: that is counted by actuator and lies before the "
    "gear. The drive torque at the joint is `qfrc_actuator`."
)
def actuator_force_for_torque():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        v = model.jnt_dofadr[ids]
        force = []
        for joint in ids:
            found = np.flatnonzero(model.actuator_trnid[:, 0] == joint)
            force.append(data.actuator_force[found[0]] if len(found) else 0.0)
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": np.array(force),
        }


@_with_torque(
    "The torque is read from `actuator_force`: that is counted by actuator and lies before the "
    "gear. The drive torque at the joint is `qfrc_actuator`.",
    id="actuator_force_for_torque",
)
def actuator_force_by_id():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[model.jnt_dofadr[ids]],
            "jnt_trq_msr": data.actuator_force[ids],
        }


@_with_torque(
    "The torque is read from `actuator_force`: that is counted by actuator and lies before the "
    "gear. The drive torque at the joint is `qfrc_actuator`.",
    id="actuator_force_for_torque",
)
def actuator_force_by_dof():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.actuator_force[np.minimum(v, model.nu - 1)],
        }


@_with_torque(
    "The torque is read from `actuator_force`: that is counted by actuator and lies before the "
    "gear. The drive torque at the joint is `qfrc_actuator`.",
    id="actuator_force_for_torque",
)
def actuator_force_first_n():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[model.jnt_dofadr[ids]],
            "jnt_trq_msr": data.actuator_force[: len(ids)].copy(),
        }


@_with_torque(
    "The torque is the sum of the actuators' forces without their gears. The moment that reaches "
    "the joint is gear times force, clamped to the joint's own limit: read `qfrc_actuator`.",
    id="actuator_force_for_torque",
)
def actuator_force_sum():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        force = [data.actuator_force[model.actuator_trnid[:, 0] == j].sum() for j in ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[model.jnt_dofadr[ids]],
            "jnt_trq_msr": np.array(force),
        }


@_with_torque(
    "Gear times force is right for the actuators, but the joint's own limit (`actuatorfrcrange`) "
    "clamps what reaches it. `qfrc_actuator` holds the torque after that."
)
def gear_times_force():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        moment = data.actuator_force * model.actuator_gear[:, 0]
        force = [moment[model.actuator_trnid[:, 0] == j].sum() for j in ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[model.jnt_dofadr[ids]],
            "jnt_trq_msr": np.array(force),
        }


@_with_torque(
    "The torque is the commanded one (`ctrl`). Measured is what the drives exert: `qfrc_actuator`."
)
def commanded_torque():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        command = []
        for joint in ids:
            found = np.flatnonzero(model.actuator_trnid[:, 0] == joint)
            command.append(data.ctrl[found[0]] if len(found) else 0.0)
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[model.jnt_dofadr[ids]],
            "jnt_trq_msr": np.array(command),
        }


@_with_torque(
    "This is another force at the joint, not the drives': `qfrc_applied` is what you add, "
    "`qfrc_bias` gravity and Coriolis, `qfrc_passive` springs and dampers, `qfrc_constraint` "
    "contacts and limits. The drives' is `qfrc_actuator`."
)
def applied_force():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_applied[v],
        }


@_with_torque(
    "This is another force at the joint, not the drives': `qfrc_applied` is what you add, "
    "`qfrc_bias` gravity and Coriolis, `qfrc_passive` springs and dampers, `qfrc_constraint` "
    "contacts and limits. The drives' is `qfrc_actuator`.",
    id="applied_force",
)
def bias_force():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_bias[v],
        }


@_with_torque(
    "This is another force at the joint, not the drives': `qfrc_applied` is what you add, "
    "`qfrc_bias` gravity and Coriolis, `qfrc_passive` springs and dampers, `qfrc_constraint` "
    "contacts and limits. The drives' is `qfrc_actuator`.",
    id="applied_force",
)
def smooth_force():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_smooth[v],
        }


@_with_torque("The velocity port holds accelerations (`qacc`); the measured velocity is `qvel`.")
def acceleration_for_velocity():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qacc[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@_with_torque(
    "The ports are arrays of shape (n, 1): one row for each joint. A port is a vector, shape (n,): "
    "take the number out of `data.joint(name).qpos`, which is an array of one entry."
)
def column_vectors():
    def read_joint_ports(model, data, joint_names):
        joints = [data.joint(name) for name in joint_names]
        return {
            "jnt_pos_msr": np.array([j.qpos for j in joints]),
            "jnt_vel_msr": np.array([j.qvel for j in joints]),
            "jnt_trq_msr": np.array([j.qfrc_actuator for j in joints]),
        }


@_with_torque(
    "The ports are views into `data`: they change under the reader's hands at the next step. "
    "Return copies."
)
def views():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        q, v = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        if len(ids) and (np.diff(q) == 1).all():
            q, v = slice(q[0], q[0] + len(ids)), slice(v[0], v[0] + len(ids))
        return {
            "jnt_pos_msr": data.qpos[q],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@_with_torque(
    "An unknown name becomes id -1, which reads the model's last joint: a plausible number from "
    "the wrong place. `mj_name2id` returns -1 for it; raise a KeyError that names it."
)
def unknown_name_accepted():
    def read_joint_ports(model, data, joint_names):
        ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in joint_names]
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@_with_torque(
    "An unknown joint is refused, but not with a KeyError; a name that does not exist is a missing "
    "key."
)
def refuses_with_value_error():
    def read_joint_ports(model, data, joint_names):
        ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in joint_names]
        if -1 in ids:
            raise ValueError(f"unknown joint {joint_names[ids.index(-1)]}")
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@_with_torque(
    "The KeyError does not say which joint is unknown. Put the name into the message: whoever "
    "mistyped it has to find it."
)
def refuses_without_the_name():
    def read_joint_ports(model, data, joint_names):
        ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, n) for n in joint_names]
        if -1 in ids:
            raise KeyError("unknown joint")
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


@_with_torque("An unknown joint is skipped without a word: the port comes out shorter.")
def unknown_name_skipped():
    def read_joint_ports(model, data, joint_names):
        known = {model.joint(i).name for i in range(model.njnt)}
        ids = [model.joint(name).id for name in joint_names if name in known]
        v = model.jnt_dofadr[ids]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[v],
            "jnt_trq_msr": data.qfrc_actuator[v],
        }


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


@exercise.variant("address arrays")
def by_addresses():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        q, v = model.jnt_qposadr[ids], model.jnt_dofadr[ids]
        pos, vel, trq = data.qpos[q], data.qvel[v], data.qfrc_actuator[v]
        return {"jnt_pos_msr": pos, "jnt_vel_msr": vel, "jnt_trq_msr": trq}


_wrong = exercise.slips(exercise.variants[-1].cell)


_RETURN = 'return {"jnt_pos_msr": pos, "jnt_vel_msr": vel, "jnt_trq_msr": trq}'
for _keys in (("pos", "vel", "trq"), ("position", "velocity", "torque"), ("qpos", "qvel", "tau")):
    _wrong(
        "wrong_keys",
        "The ports are called `jnt_pos_msr`, `jnt_vel_msr` and `jnt_trq_msr`; whoever reads them "
        "looks for these keys.",
        (_RETURN, f'return {{"{_keys[0]}": pos, "{_keys[1]}": vel, "{_keys[2]}": trq}}'),
    )
for _other in ("pos, vel, trq", "np.array([pos, vel, trq])", "np.concatenate([pos, vel, trq])"):
    _wrong(
        "not_a_dict",
        "The result is not a dict: return one with the keys `jnt_pos_msr`, `jnt_vel_msr` and "
        "`jnt_trq_msr`.",
        (_RETURN, f"return {_other}"),
    )
_wrong(
    "keyed_by_joint",
    "The dict has one entry for each joint; it is asked for by port: three arrays over all joints.",
    (_RETURN, "return dict(zip(joint_names, zip(pos, vel, trq)))"),
)
_wrong(
    "a_port_is_missing",
    "A port is missing: positions, velocities and torques are asked for.",
    (', "jnt_trq_msr": trq', ""),
)
_wrong(
    "alphabetical",
    "The values come in the alphabetical order of the names; they must come in the order given.",
    ("for name in joint_names", "for name in sorted(joint_names)"),
)
_wrong(
    "backwards",
    "The values come in the reverse of the order of `joint_names`.",
    ("for name in joint_names", "for name in reversed(joint_names)"),
)
_wrong(
    "torque_of_the_wrong_sign",
    "The torque has the wrong sign: `qfrc_actuator` is what the drives exert on the joints.",
    ("data.qfrc_actuator[v]", "-data.qfrc_actuator[v]"),
)
for _field in ("qfrc_passive", "qfrc_constraint", "qfrc_inverse"):
    _wrong(
        "applied_force",
        f"`{_field}` is another force at the joint, not the drives': `qfrc_applied` is what you "
        "add, `qfrc_bias` gravity and Coriolis, `qfrc_passive` springs and dampers, "
        "`qfrc_constraint` contacts and limits. The drives' is `qfrc_actuator`.",
        ("qfrc_actuator", _field),
    )
_wrong(
    "in_degrees",
    "The positions are in degrees; inside and at the interface angles are in radians.",
    ("pos, vel, trq = data.qpos[q], ", "pos, vel, trq = np.degrees(data.qpos[q]), "),
)
_wrong(
    "position_and_velocity_exchanged",
    "The ports of position and velocity are exchanged.",
    ("data.qpos[q], data.qvel[v]", "data.qvel[v], data.qpos[q]"),
)
_wrong(
    "all_of_the_arrays",
    "These are the whole arrays: every joint of the scene, free bodies included. Pick the entries "
    "of the named joints.",
    (
        "data.qpos[q], data.qvel[v], data.qfrc_actuator[v]",
        "data.qpos.copy(), data.qvel.copy(), data.qfrc_actuator.copy()",
    ),
)
_wrong(
    "last_n_entries",
    "These are the last n entries of the arrays: that holds only when nothing comes after the arm "
    "and the names are in the model's order. Ask for the addresses.",
    (
        "data.qpos[q], data.qvel[v], data.qfrc_actuator[v]",
        "data.qpos[-len(q):].copy(), data.qvel[-len(q):].copy(), "
        "data.qfrc_actuator[-len(q):].copy()",
    ),
)
_wrong(
    "commanded_torque",
    "The torque is computed from the commands (`ctrl` times gear). Measured is what the drives "
    "exert: `qfrc_actuator`.",
    (
        "data.qfrc_actuator[v]",
        "np.array([(data.ctrl * model.actuator_gear[:, 0])[model.actuator_trnid[:, 0] == i].sum()"
        " for i in ids])",
    ),
)


@exercise.misconception(
    "`ctrl` is what was commanded, in the actuator's own units; the measured torque is "
    "`qfrc_actuator` at the joint's dof."
)
def command_for_torque():
    def read_joint_ports(model, data, joint_names):
        ids = [model.joint(name).id for name in joint_names]
        return {
            "jnt_pos_msr": data.qpos[model.jnt_qposadr[ids]],
            "jnt_vel_msr": data.qvel[model.jnt_dofadr[ids]],
            "jnt_trq_msr": data.ctrl[: len(ids)].copy(),
        }
