"""`control_mode`: let one group of actuators act, with the arm holding still at the switch."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, Implementation, call, close, each, same
from course.exercises.env_conventions import rigs

exercise = Exercise("control_mode", points=3, provides=("set_control_mode",))

MODES = ("position", "velocity", "torque")


def _data(seed, model):
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    data.qpos[7:] = rng.uniform(-0.8, 0.8, model.nq - 7)
    data.qvel[6:] = rng.uniform(-0.5, 0.5, model.nv - 6)
    data.ctrl[:] = rng.uniform(-1, 1, model.nu)
    data.qfrc_applied[:] = rng.uniform(-1, 1, model.nv)
    data.time = float(rng.uniform(1, 5))
    mujoco.mj_forward(model, data)
    return data


def _switched(outcome):
    """Which groups act, all commands, and that nothing else of the state moved."""
    model, data = outcome.args_after[:2]
    others = sorted(model.changed - {"opt.disableactuator"})
    state = [np.array(getattr(data, n)) for n in ("qpos", "qvel", "qfrc_applied", "time")]
    return int(model.opt.disableactuator), np.array(data.ctrl), others, state


SWITCHED = each([same(), close(), same(), each([close(0)] * 4)])


def _switch(seed, disabled, mode, label=""):
    model = rigs.modes(disabled)
    return call(
        "set_control_mode",
        model,
        _data(seed, model),
        mode,
        label=label or f"to {mode}",
        observe=_switched,
        compare=SWITCHED,
    )


@exercise.reference
def reference():
    def set_control_mode(model, data, mode):
        if mode not in MODES:
            raise ValueError(f"unknown mode {mode!r}; there are: {', '.join(MODES)}")
        active = MODES.index(mode)
        bits = int(model.opt.disableactuator)
        model.opt.disableactuator = (bits | 0b111) & ~(1 << active)
        for i in range(model.nu):
            group = model.actuator_group[i]
            if group == 0:
                address = model.jnt_qposadr[model.actuator_trnid[i, 0]]
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[address]
            elif group in (1, 2):
                data.ctrl[i] = 0.0

    return {"set_control_mode": set_control_mode}


@exercise.part("ordinary: from one mode to another", points=1.5)
def ordinary():
    switches = [
        ((1, 2), "position"),
        ((1, 2), "velocity"),
        ((1, 2), "torque"),
        ((0, 2), "torque"),
        ((0, 1), "position"),
        ((0, 1), "velocity"),
        ((), "position"),
        ((), "torque"),
        ((0, 1, 2), "velocity"),
    ]
    return [_switch(500 + i, disabled, mode) for i, (disabled, mode) in enumerate(switches)]


@exercise.part("edge cases: other groups' bits, the same mode again", points=1)
def edges():
    return [
        _switch(520, (1, 2, 5), "torque", "with group 5 disabled: it stays so"),
        _switch(521, (0, 2, 3, 5), "position", "with groups 3 and 5 disabled: they stay so"),
        _switch(522, (3, 30), "velocity", "with groups 3 and 30 disabled: they stay so"),
        _switch(523, (0, 1), "torque", "the mode that acts already"),
        _switch(524, (1, 2), "position", "the mode that acts already"),
    ]


@exercise.part("contract: an unknown mode changes nothing", points=0.5)
def contract():
    cases = []
    for i, mode in enumerate(("impedance", "Position", "", "torques")):
        model = rigs.modes((1, 2))
        cases.append(
            call(
                "set_control_mode",
                model,
                _data(530 + i, model),
                mode,
                label=f"the mode {mode!r}",
                raises="ValueError",
                unchanged=True,
            )
        )
    return [*cases, _switch(540, (1, 2), "torque")]


@exercise.misconception(
    "The wrong bits are set: in `disableactuator` a set bit *disables* its group. Here the chosen "
    "mode is switched off."
)
def disables_the_mode():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        bits = int(model.opt.disableactuator) & ~0b111
        model.opt.disableactuator = bits | (1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "The wrong bits are set: in `disableactuator` a set bit *disables* its group. Here the chosen "
    "mode is switched off.",
    id="disables_the_mode",
)
def disables_the_mode_only():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = 1 << k
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception("Two modes are exchanged: the groups are 0 position, 1 velocity, 2 torque.")
def wrong_group():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "torque", "velocity").index(mode)
        bits = int(model.opt.disableactuator) | 0b111
        model.opt.disableactuator = bits & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception("The bits are off by one: group k is bit k, `1 << k`, counted from 0.")
def off_by_one():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = 1 + ("position", "velocity", "torque").index(mode)
        bits = int(model.opt.disableactuator) | 0b1110
        model.opt.disableactuator = bits & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "The bits of other groups are overwritten: a gripper or lamp that was disabled acts again, or "
    "the other way round. Change bits 0 to 2 and keep the rest."
)
def overwrites_other_bits():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = 0b111 & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "Every group but the chosen one is disabled, the gripper's too. Only groups 0 to 2 are modes."
)
def disables_everything_else():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = 0x7FFFFFFF & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "The other modes are disabled, but the chosen one is never enabled again: clear its bit."
)
def never_enables():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = int(model.opt.disableactuator) | (0b111 & ~(1 << k))
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "The chosen mode is enabled, but the others are not disabled: they act against each other."
)
def never_disables():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = int(model.opt.disableactuator) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "The old commands are left as they were: at the switch the arm jumps to whatever was commanded "
    "last in that mode. Seed them: gear x position, 0, 0."
)
def leaves_old_commands():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)


@exercise.misconception(
    "The position command is the joint's position without the gear. A position actuator compares "
    "its command with gear x position."
)
def position_without_the_gear():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "The position is divided by the gear. An actuator's length is gear x joint position: multiply."
)
def divides_by_the_gear():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = data.qpos[model.jnt_qposadr[j]] / model.actuator_gear[i, 0]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "Every command is set, also those of other groups: the gripper opens when the arm changes its "
    "mode. Touch groups 0 to 2 only."
)
def clears_all_commands():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        data.ctrl[:] = 0
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]


@exercise.misconception(
    "All commands become 0, the position command too: the arm drives to its zero pose. A position "
    "command that holds is gear x current position."
)
def all_commands_zero():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        data.ctrl[np.isin(model.actuator_group, (0, 1, 2))] = 0


@exercise.misconception(
    "Only the commands of the new mode are seeded. All of groups 0 to 2 get theirs, so that no old "
    "command waits for the next switch."
)
def seeds_the_active_mode_only():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == k == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] == k:
                data.ctrl[i] = 0


@exercise.misconception(
    "The velocity and torque commands continue what was measured. The arm has to hold still: both "
    "become 0."
)
def keeps_moving():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j, gear = model.actuator_trnid[i, 0], model.actuator_gear[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = gear * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] == 1:
                data.ctrl[i] = gear * data.qvel[model.jnt_dofadr[j]]
            elif model.actuator_group[i] == 2:
                data.ctrl[i] = data.qfrc_actuator[model.jnt_dofadr[j]] / gear


@exercise.misconception(
    "The velocity command continues the measured velocity. The arm has to hold still: it becomes "
    "0.",
    id="keeps_moving",
)
def keeps_the_velocity():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j, gear = model.actuator_trnid[i, 0], model.actuator_gear[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = gear * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] == 1:
                data.ctrl[i] = gear * data.qvel[model.jnt_dofadr[j]]
            elif model.actuator_group[i] == 2:
                data.ctrl[i] = 0


@exercise.misconception(
    "The joint's id, or the dof address, is used as address into qpos. A free body before the arm "
    "moves the addresses: use `jnt_qposadr`."
)
def wrong_address():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[j]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "The joint's id, or the dof address, is used as address into qpos. A free body before the arm "
    "moves the addresses: use `jnt_qposadr`.",
    id="wrong_address",
)
def dof_address():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_dofadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "An unknown mode is refused, but with a KeyError: it is a bad value, so a ValueError is asked "
    "for. A dictionary look-up raises KeyError by itself; test the mode first."
)
def unknown_mode_key_error():
    def set_control_mode(model, data, mode):
        k = {"position": 0, "velocity": 1, "torque": 2}[mode]
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "An unknown mode is refused too late: commands or bits have changed by then. Test it first."
)
def refuses_too_late():
    def set_control_mode(model, data, mode):
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0
        model.opt.disableactuator = int(model.opt.disableactuator) | 0b111
        if mode not in ("position", "velocity", "torque"):
            raise ValueError(mode)
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = int(model.opt.disableactuator) & ~(1 << k)


@exercise.misconception("An unknown mode is accepted without a word: raise a ValueError.")
def unknown_mode_accepted():
    def set_control_mode(model, data, mode):
        k = 0 if mode == "position" else 1 if mode == "velocity" else 2
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.misconception(
    "An unknown mode returns without an error, so a typing mistake is never found: raise a "
    "ValueError.",
    id="unknown_mode_accepted",
)
def unknown_mode_ignored():
    def set_control_mode(model, data, mode):
        if mode not in ("position", "velocity", "torque"):
            return
        k = ("position", "velocity", "torque").index(mode)
        model.opt.disableactuator = (int(model.opt.disableactuator) | 0b111) & ~(1 << k)
        for i in range(model.nu):
            j = model.actuator_trnid[i, 0]
            if model.actuator_group[i] == 0:
                data.ctrl[i] = model.actuator_gear[i, 0] * data.qpos[model.jnt_qposadr[j]]
            elif model.actuator_group[i] in (1, 2):
                data.ctrl[i] = 0


@exercise.variant("actuator lengths, masks")
def by_lengths():
    def set_control_mode(model, data, mode):
        masks = {"position": 6, "velocity": 5, "torque": 3}
        if mode not in masks:
            raise ValueError(f"mode {mode!r}?")
        model.opt.disableactuator = (model.opt.disableactuator >> 3 << 3) | masks[mode]
        group = model.actuator_group
        data.ctrl[group == 0] = data.actuator_length[group == 0]
        data.ctrl[(group == 1) | (group == 2)] = 0


@exercise.variant("bit by bit, named access, a subclass of ValueError")
def by_names():
    class UnknownMode(ValueError):
        pass

    def set_control_mode(model, data, mode):
        names = ["position", "velocity", "torque"]
        try:
            active = names.index(mode)
        except ValueError:
            raise UnknownMode(mode) from None
        for group in range(3):
            if group == active:
                model.opt.disableactuator &= ~(1 << group)
            else:
                model.opt.disableactuator |= 1 << group
        for i in range(model.nu):
            handle = model.actuator(i)
            if handle.group[0] == 0:
                joint = data.joint(int(handle.trnid[0]))
                data.ctrl[i] = handle.gear[0] * joint.qpos[0]
            elif handle.group[0] < 3:
                data.ctrl[i] = 0.0


@exercise.variant("the transmission's moment, a dictionary of sets")
def by_sets():
    def set_control_mode(model, data, mode):
        others = {"position": {1, 2}, "velocity": {0, 2}, "torque": {0, 1}}.get(mode)
        if others is None:
            raise ValueError("unknown mode " + repr(mode))
        disabled = {g for g in range(31) if model.opt.disableactuator & (1 << g)}
        disabled = (disabled - {0, 1, 2}) | others
        model.opt.disableactuator = sum(1 << g for g in disabled)
        for i, group in enumerate(model.actuator_group.tolist()):
            if group in {0, 1, 2}:
                address = model.jnt_qposadr[model.actuator_trnid[i][0]]
                data.ctrl[i] = (group == 0) * model.actuator_gear[i][0] * data.qpos[address]
        mujoco.mj_forward(model, data)


@exercise.variant("step by step")
def step_by_step():
    def set_control_mode(model, data, mode):
        modes = ("position", "velocity", "torque")
        if mode not in modes:
            raise ValueError(mode)
        k = modes.index(mode)
        bits = int(model.opt.disableactuator)
        model.opt.disableactuator = (bits | 7) & ~(1 << k)
        for i in range(model.nu):
            group, gear = model.actuator_group[i], model.actuator_gear[i, 0]
            if group == 0:
                data.ctrl[i] = gear * data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]
            if group == 1:
                data.ctrl[i] = 0
            if group == 2:
                data.ctrl[i] = 0


_wrong = exercise.slips(exercise.variants[-1].cell)


_BITS = "(bits | 7) & ~(1 << k)"
_wrong(
    "enables_everything",
    "All groups act at once: position, velocity and torque actuators pull against each other.",
    (_BITS, "0"),
)
_wrong(
    "enables_everything",
    "All three modes act at once: they pull against each other. Disable the two others.",
    (_BITS, "bits & ~7"),
)
_wrong(
    "disables_all_modes",
    "All three modes are disabled: nothing drives the arm. Clear the bit of the chosen one.",
    (_BITS, "bits | 7"),
)
_wrong(
    "leaves_the_bits",
    "The commands are seeded, but `opt.disableactuator` stays as it was: the old mode goes on.",
    (_BITS, "bits"),
)
for _bits in ("k", "1 << k", "2 ** k"):
    _wrong(
        "not_a_mask",
        "`disableactuator` is a bit field: a set bit k disables group k. The number of the mode, "
        "or its bit alone, is not the mask of the *others*.",
        (_BITS, _bits),
    )
_wrong(
    "toggles_the_bit",
    "The bit of the mode is toggled: what comes out depends on what was there. Set the bits.",
    (_BITS, "bits ^ (1 << k)"),
)
_wrong(
    "velocity_command_left",
    "The velocity commands are left as they were: they wait for the next switch. Seed all three "
    "groups.",
    (
        "    if group == 1:\n            data.ctrl[i] = 0\n",
        "    if group == 1:\n            pass\n",
    ),
)
_wrong(
    "torque_command_left",
    "The torque commands are left as they were: they wait for the next switch. Seed all three "
    "groups.",
    (
        "    if group == 2:\n            data.ctrl[i] = 0\n",
        "    if group == 2:\n            pass\n",
    ),
)
_wrong(
    "position_command_left",
    "The position commands are left as they were: back in position mode the arm drives to where it "
    "was commanded before.",
    ("if group == 0:", "if group == -1:"),
)
_wrong(
    "absolute_gear",
    "The gear's sign is lost: with gear -2 the servo drives to the mirrored position.",
    ("gear * data.qpos", "abs(gear) * data.qpos"),
)
_wrong(
    "stops_the_arm_by_hand",
    "The state of the arm is changed (`qvel` set to zero). Holding still is the servo's work: "
    "write commands and bits only.",
    ("    for i in range(model.nu):", "    data.qvel[:] = 0\n    for i in range(model.nu):"),
)
exercise.misconceptions.append(
    Implementation(
        "takes_a_step",
        "A step is taken at the switch: time and state move. Write commands and bits only.",
        exercise.variants[-1].cell + "    mujoco.mj_step(model, data)\n",
    )
)
_wrong(
    "gripper_as_position",
    "Actuators of other groups are seeded too: the gripper's command changes. Touch groups 0 to 2.",
    ("if group == 0:", "if group in (0, 3):"),
)
_wrong(
    "keeps_moving",
    "The torque command continues the torque that was measured. The arm has to hold still: it "
    "becomes 0.",
    (
        "    if group == 2:\n            data.ctrl[i] = 0\n",
        "    if group == 2:\n            dof = model.jnt_dofadr[model.actuator_trnid[i, 0]]\n"
        "            data.ctrl[i] = data.qfrc_actuator[dof] / gear\n",
    ),
)
_wrong(
    "all_commands_zero",
    "All commands become 0, the position command too: the arm drives to its zero pose. A position "
    "command that holds is gear x current position.",
    ("gear * data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]", "0"),
)


_wrong(
    "hold_at_another_joint",
    "The position commands are read from the wrong entries of `qpos`. An actuator's index is not "
    "its joint's address: actuator_trnid, then jnt_qposadr.",
    ("data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]", "data.qpos[i % model.nq]"),
)
_wrong(
    "keeps_moving",
    "The velocity command continues the velocity that was measured. The arm has to hold still: it "
    "becomes 0.",
    (
        "    if group == 1:\n            data.ctrl[i] = 0\n",
        "    if group == 1:\n"
        "            data.ctrl[i] = data.qvel[model.jnt_dofadr[model.actuator_trnid[i, 0]]]\n",
    ),
)
_wrong(
    "off_by_one",
    "The bits are off by one: group k is bit k, `1 << k`, counted from 0.",
    (_BITS, "(bits & ~7) | (7 & ~(1 << (k + 1)))"),
)
