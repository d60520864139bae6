"""`control_mode`: let one group of actuators act, with the arm holding still at the switch."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, same
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
        ((0, 2), "torque"),
        ((0, 1), "position"),
        ((0, 1), "velocity"),
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
    ]


@exercise.part("contract: an unknown mode changes nothing", points=0.5)
def contract():
    cases = []
    for i, mode in enumerate(("impedance", "Position", "")):
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


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_REFUSAL = "    if mode not in modes:\n        raise ValueError(mode)\n"
_BITS = "(bits | 7) & ~(1 << k)"
_EVERY = "    for i in range(model.nu):"
_HELD = "gear * data.qpos[model.jnt_qposadr[model.actuator_trnid[i, 0]]]"
_DOF = "model.jnt_dofadr[model.actuator_trnid[i, 0]]"
_VELOCITY = "        if group == 1:\n            data.ctrl[i] = 0\n"
_TORQUE = "        if group == 2:\n            data.ctrl[i] = 0\n"


def _commanded(line: str, value: str) -> tuple[str, str]:
    """An edit: this value in place of the 0 that the velocity or torque command becomes."""
    return line, line.replace("= 0", f"= {value}")


# Bits
_SWITCHED_OFF = (
    "disables_the_mode",
    "The wrong bits are set: in `disableactuator` a set bit *disables* its group. Here the chosen "
    "mode is switched off.",
)
for _bits in ("(bits & ~7) | (1 << k)", "1 << k"):
    slip(*_SWITCHED_OFF, (_BITS, _bits))
for _bits in ("k", "1 << k", "2 ** k"):
    slip(
        "not_a_mask",
        "`disableactuator` is a bit field: a set bit k disables group k. The number of the mode, "
        "or its bit alone, is not the mask of the *others*.",
        (_BITS, _bits),
    )
slip(
    "wrong_group",
    "Two modes are exchanged: the groups are 0 position, 1 velocity, 2 torque.",
    ('"velocity", "torque"', '"torque", "velocity"'),
)
for _bits in ("(bits | 14) & ~(2 << k)", "(bits & ~7) | (7 & ~(2 << k))"):
    slip(
        "off_by_one",
        "The bits are off by one: group k is bit k, `1 << k`, counted from 0.",
        (_BITS, _bits),
    )
slip(
    "overwrites_other_bits",
    "The bits of other groups are overwritten: a gripper or lamp that was disabled acts again, or "
    "the other way round. Change bits 0 to 2 and keep the rest.",
    (_BITS, "7 & ~(1 << k)"),
)
slip(
    "disables_everything_else",
    "Every group but the chosen one is disabled, the gripper's too. Only groups 0 to 2 are modes.",
    (_BITS, "0x7FFFFFFF & ~(1 << k)"),
)
slip(
    "never_enables",
    "The other modes are disabled, but the chosen one is never enabled again: clear its bit.",
    (_BITS, "bits | (7 & ~(1 << k))"),
)
slip(
    "never_disables",
    "The chosen mode is enabled, but the others are not disabled: they act against each other.",
    (_BITS, "bits & ~(1 << k)"),
)
slip(
    "enables_everything",
    "All groups act at once: position, velocity and torque actuators pull against each other.",
    (_BITS, "0"),
)
slip(
    "enables_everything",
    "All three modes act at once: they pull against each other. Disable the two others.",
    (_BITS, "bits & ~7"),
)
slip(
    "disables_all_modes",
    "All three modes are disabled: nothing drives the arm. Clear the bit of the chosen one.",
    (_BITS, "bits | 7"),
)
slip(
    "leaves_the_bits",
    "The commands are seeded, but `opt.disableactuator` stays as it was: the old mode goes on.",
    (_BITS, "bits"),
)
slip(
    "toggles_the_bit",
    "The bit of the mode is toggled: what comes out depends on what was there. Set the bits.",
    (_BITS, "bits ^ (1 << k)"),
)

# Commands that hold still
slip(
    "leaves_old_commands",
    "The old commands are left as they were: at the switch the arm jumps to whatever was commanded "
    "last in that mode. Seed them: gear x position, 0, 0.",
    ("range(model.nu)", "range(0)"),
)
slip(
    "seeds_the_active_mode_only",
    "Only the commands of the new mode are seeded. All of groups 0 to 2 get theirs, so that no old "
    "command waits for the next switch.",
    ("if group ==", "if group == k =="),
)
slip(
    "position_command_left",
    "The position commands are left as they were: back in position mode the arm drives to where it "
    "was commanded before.",
    ("if group == 0:", "if group == -1:"),
)
slip(
    "velocity_command_left",
    "The velocity commands are left as they were: they wait for the next switch. Seed all three "
    "groups.",
    (_VELOCITY, ""),
)
slip(
    "torque_command_left",
    "The torque commands are left as they were: they wait for the next switch. Seed all three "
    "groups.",
    (_TORQUE, ""),
)
slip(
    "position_without_the_gear",
    "The position command is the joint's position without the gear. A position actuator compares "
    "its command with gear x position.",
    ("gear * data", "data"),
)
slip(
    "divides_by_the_gear",
    "The position is divided by the gear. An actuator's length is gear x joint position: multiply.",
    ("gear * data", "1 / gear * data"),
)
slip(
    "absolute_gear",
    "The gear's sign is lost: with gear -2 the servo drives to the mirrored position.",
    ("gear * data", "abs(gear) * data"),
)
slip(
    "all_commands_zero",
    "All commands become 0, the position command too: the arm drives to its zero pose. A position "
    "command that holds is gear x current position.",
    (_HELD, "0"),
)
for _address in ("model.actuator_trnid[i, 0]", _DOF):
    slip(
        "wrong_address",
        "The joint's id, or the dof address, is used as address into qpos. A free body before the "
        "arm moves the addresses: use `jnt_qposadr`.",
        ("model.jnt_qposadr[model.actuator_trnid[i, 0]]", _address),
    )
slip(
    "hold_at_another_joint",
    "The position commands are read from the wrong entries of `qpos`. An actuator's index is not "
    "its joint's address: actuator_trnid, then jnt_qposadr.",
    (_HELD, "gear * data.qpos[i % model.nq]"),
)
slip(
    "keeps_moving",
    "The velocity and torque commands continue what was measured. The arm has to hold still: both "
    "become 0.",
    _commanded(_VELOCITY, f"gear * data.qvel[{_DOF}]"),
    _commanded(_TORQUE, f"data.qfrc_actuator[{_DOF}] / gear"),
)
slip(
    "keeps_moving",
    "The velocity command continues the measured velocity. The arm has to hold still: it becomes "
    "0.",
    _commanded(_VELOCITY, f"gear * data.qvel[{_DOF}]"),
)
slip(
    "keeps_moving",
    "The velocity command continues the velocity that was measured. The arm has to hold still: it "
    "becomes 0.",
    _commanded(_VELOCITY, f"data.qvel[{_DOF}]"),
)
for _torque in (
    "data.qfrc_actuator[{}] / gear",
    "data.qfrc_actuator[{}]",
    "data.actuator_force[i]",
):
    slip(
        "keeps_moving",
        "The torque command continues the torque that was measured. The arm has to hold still: it "
        "becomes 0.",
        _commanded(_TORQUE, _torque.format(_DOF)),
    )
for _torque in ("data.qfrc_bias[{}] / gear", "data.qfrc_bias[{}]"):
    slip(
        "compensates_gravity",
        "The torque command carries the weight of the links (`qfrc_bias`). What is asked for is 0: "
        "compensation is a controller's work, and the arm of this lesson has its own.",
        _commanded(_TORQUE, _torque.format(_DOF)),
    )

# More than was asked for
slip(
    "clears_all_commands",
    "Every command is set, also those of other groups: the gripper opens when the arm changes its "
    "mode. Touch groups 0 to 2 only.",
    (_EVERY, f"    data.ctrl[:] = 0\n{_EVERY}"),
)
slip(
    "gripper_as_position",
    "Actuators of other groups are seeded too: the gripper's command changes. Touch groups 0 to 2.",
    ("if group == 0:", "if group in (0, 3):"),
)
_FIRST = (
    "first_seven",
    "Only the first seven entries are looked at, as if one arm stood alone in the scene. Go "
    "through all actuators: the group says what each is, `actuator_trnid` which joint it drives.",
)
slip(*_FIRST, ("range(model.nu)", "range(7)"))
for _first in ("data.qpos[:7]", "model.actuator_gear[:7, 0] * data.qpos[:7]"):
    for _rest in ("", "    data.ctrl[7:] = 0\n"):
        _block = f"    data.ctrl[:7] = {_first}\n{_rest}"
        slip(*_FIRST, (_EVERY, _block + _EVERY), ("range(model.nu)", "range(0)"))
slip(
    "stops_the_arm_by_hand",
    "The state of the arm is changed (`qvel` set to zero). Holding still is the servo's work: "
    "write commands and bits only.",
    (_EVERY, f"    data.qvel[:] = 0\n{_EVERY}"),
)
_RESET = "    mujoco.mj_resetData(model, data)\n"
for _edit in ((_EVERY, _RESET + _EVERY), (_TORQUE, _TORQUE + _RESET)):
    slip(
        "resets",
        "The data is reset at the switch: the arm is back in its zero pose, and the time at 0. "
        "Write commands and bits only.",
        _edit,
    )
slip(
    "takes_a_step",
    "A step is taken at the switch: time and state move. Write commands and bits only.",
    (_TORQUE, _TORQUE + "    mujoco.mj_step(model, data)\n"),
)

# Unknown modes
slip(
    "unknown_mode_key_error",
    "An unknown mode is refused, but with a KeyError: it is a bad value, so a ValueError is asked "
    "for. A dictionary look-up raises KeyError by itself; test the mode first.",
    *((_REFUSAL, ""), ("modes.index(mode)", "dict(zip(modes, range(3)))[mode]")),
)
slip(
    "refuses_too_late",
    "An unknown mode is refused too late: commands or bits have changed by then. Test it first.",
    (
        _REFUSAL,
        "    data.ctrl[model.actuator_group < 3] = 0\n"
        f"    model.opt.disableactuator |= 7\n{_REFUSAL}",
    ),
)
slip(
    "unknown_mode_accepted",
    "An unknown mode is accepted without a word: raise a ValueError.",
    *((_REFUSAL, ""), ("modes.index(mode)", "modes.index(mode) if mode in modes else 2")),
)
slip(
    "unknown_mode_accepted",
    "An unknown mode returns without an error, so a typing mistake is never found: raise a "
    "ValueError.",
    ("raise ValueError(mode)", "return"),
)


# More right answers.
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
