"""`write_torque`: a joint torque through an actuator with a gear and a limited control."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, same, script
from course.exercises.env_conventions import rigs

exercise = Exercise("write_torque", points=4, provides=("write_torque",))

rig = rigs.motors


def _data(seed: int) -> mujoco.MjData:
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(rig())
    data.ctrl[:] = rng.uniform(-1, 1, rig().nu)
    data.qfrc_applied[:] = rng.uniform(-1, 1, rig().nv)
    mujoco.mj_forward(rig(), data)
    return data


def _effect(outcome):
    """The flag, the torque that reaches every hinge at the next step, and the commands.

    Commands are taken as MuJoCo takes them, within their range: what counts here is what the joint
    receives. Words in place of a flag are all alike.
    """
    after = outcome.args_after[1]
    flag = "words" if isinstance(outcome.value, str) else outcome.value
    data = mujoco.MjData(rig())
    data.ctrl[:] = after.ctrl
    mujoco.mj_forward(rig(), data)
    others = [np.array(getattr(after, name)) for name in ("qpos", "qvel", "qfrc_applied")]
    low, high = rig().actuator_ctrlrange.T
    within = np.where(rig().actuator_ctrllimited, np.clip(after.ctrl, low, high), after.ctrl)
    return flag, data.qfrc_actuator.copy(), within, others


EFFECT = each([same(), close(), close(), each([close(0), close(0), close(0)])])


def _write(seed, actuator, torque, label=""):
    return call(
        "write_torque",
        rig(),
        _data(seed),
        actuator,
        torque,
        label=label or f"{torque:g} N m through {actuator!r}",
        observe=_effect,
        compare=EFFECT,
    )


@exercise.reference
def reference():
    def write_torque(model, data, actuator, torque):
        i = model.actuator(actuator).id
        command = torque / model.actuator_gear[i, 0]
        low, high = model.actuator_ctrlrange[i]
        clamped = np.clip(command, low, high) if model.actuator_ctrllimited[i] else command
        data.ctrl[i] = clamped
        return bool(clamped != command)

    return {"write_torque": write_torque}


@exercise.part("ordinary: torques within reach and beyond", points=2)
def ordinary():
    rng = np.random.default_rng(300)
    within = [("geared", 1, 11), ("geared", -11, -1), ("direct", -1.9, 4.9)]
    within += [("reversed", 0.5, 2.5), ("reversed", -7.5, -0.5)]
    beyond = [("geared", 40.0), ("geared", -13.0), ("direct", 6), ("direct", -3.25)]
    asked = [(name, float(rng.uniform(low, high))) for name, low, high in within]
    asked += [*beyond, ("direct", 0.0)]
    return [_write(301 + i, name, torque) for i, (name, torque) in enumerate(asked)]


@exercise.part("edge cases: negative gear, exact limits, forces, unlimited control", points=1.5)
def edges():
    return [
        _write(361, "reversed", 3.5, "3.5 N m through gear -2, whose control stops at -1.5"),
        _write(362, "reversed", -9.0, "-9 N m through gear -2, whose control stops at 4"),
        _write(363, "reversed", 3.0, "exactly at the lower control limit"),
        _write(364, "reversed", -8.0, "exactly at the upper control limit"),
        _write(365, "geared", 12.0, "exactly at the upper control limit"),
        _write(366, "geared", -12.0, "exactly at the lower control limit"),
        _write(368, "weak", 10.0, "more than forcerange lets through, within ctrlrange"),
        _write(369, "weak", -6.5, "more than forcerange lets through, within ctrlrange"),
        _write(370, "weak", 24.0, "beyond ctrlrange and forcerange"),
        _write(371, "free_range", 100.0, "unlimited control"),
        _write(373, "ignored_range", 7.0, "a ctrlrange that does not count (ctrllimited false)"),
        _write(375, "reversed", 1.25),
    ]


def _refusal(door):
    data = _data(380)
    outcome = door.call("write_torque", rig(), data, "a", 1.0)
    if outcome.error is not None and outcome.error.is_a("NotImplementedError"):
        outcome.result()
    kind = "no error" if outcome.error is None else outcome.error.kinds[0]
    if outcome.error is not None and outcome.error.is_a("KeyError"):
        kind = "KeyError"
    return kind, np.array(outcome.args_after[1].ctrl) - data.ctrl


@exercise.part(
    "contract: ctrl within its range, all else left alone, unknown names refused", points=0.5
)
def contract():
    def untouched(outcome):
        model, data = outcome.args_after[:2]
        kept = [np.array(getattr(data, n)) for n in ("xfrc_applied", "qfrc_applied", "qpos")]
        return model.changed == frozenset(), kept, np.array(data.ctrl)

    compare = each([same(), each([close(0), close(0), close(0)]), close()])
    asked = ((7.0, "all controls, within reach"), (50.0, "all controls, beyond ctrlrange"))
    return [
        *(
            call(
                *("write_torque", rig(), _data(390), "geared", torque),
                label=label,
                observe=untouched,
                compare=compare,
            )
            for torque, label in asked
        ),
        script("an actuator that does not exist", _refusal, compare=each([same(), close(0)])),
    ]


@exercise.variant("step by step")
def step_by_step():
    def write_torque(model, data, actuator, torque):
        i = model.actuator(actuator).id
        low, high = -np.inf, np.inf
        if model.actuator_ctrllimited[i]:
            low, high = model.actuator_ctrlrange[i]
        wanted = torque / model.actuator_gear[i, 0]
        data.ctrl[i] = np.clip(wanted, low, high)
        return bool(data.ctrl[i] != wanted)


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_WANTED = "torque / model.actuator_gear[i, 0]"
_LIMITED = "if model.actuator_ctrllimited[i]:"
_WRITE, _FLAG = "data.ctrl[i] = np.clip(wanted, low, high)", "bool(data.ctrl[i] != wanted)"
_OUTSIDE = (_FLAG, "bool(wanted < low or wanted > high)")
_TORQUE_OUTSIDE = (_FLAG, "bool(torque < low or torque > high)")

# The gear
slip(
    "no_gear",
    "The gear is left out: the torque is written as if the actuator passed it on one to one. "
    "With gear 4 the joint receives four times as much. Divide by the gear.",
    (_WANTED, "torque"),
)
slip(
    "multiplies_by_the_gear",
    "The torque is multiplied by the gear. The actuator multiplies already: joint torque = gear x "
    "ctrl, so the command is torque / gear.",
    ("torque / model", "torque * model"),
)
slip(
    "gear_twice",
    "The gear is divided out twice: joint torque = gear x ctrl, so divide once.",
    ("model.actuator_gear[i, 0]", "model.actuator_gear[i, 0] ** 2"),
)
slip(
    "absolute_gear",
    "The gear's sign is lost: with gear -2 the torque comes out with the wrong sign. Divide by the "
    "gear as it is.",
    ("model.actuator_gear[i, 0]", "abs(model.actuator_gear[i, 0])"),
)
slip(
    "gear_of_another",
    "The gear is a number of one actuator; read `model.actuator_gear`.",
    (_WANTED, "torque / 50"),
)
slip(
    "sign_of_the_torque",
    "The torque comes out with the wrong sign: the command is torque / gear.",
    (_WANTED, f"-{_WANTED}"),
)
slip(
    "whole_numbers",
    "The command is rounded to a whole number: divide with `/`, not `//`.",
    ("torque / model", "torque // model"),
)

# The limits
slip(
    "clamps_before_dividing",
    "The torque is clamped before it is divided by the gear. `ctrlrange` is in the actuator's own "
    "units: divide first, then clamp.",
    (_WRITE, "data.ctrl[i] = np.clip(torque, low, high) / model.actuator_gear[i, 0]"),
    _TORQUE_OUTSIDE,
)
slip(
    "limits_not_exchanged",
    "Limits in joint torque are built as gear x ctrlrange without exchanging them for a negative "
    "gear: the lower limit then lies above the upper.",
    ("= model.actuator_ctrlrange[i]", "= model.actuator_ctrlrange[i] * model.actuator_gear[i, 0]"),
    (_WRITE, "data.ctrl[i] = np.clip(torque, low, high) / model.actuator_gear[i, 0]"),
    _TORQUE_OUTSIDE,
)
slip(
    "upper_limit_only",
    "Only the upper limit is kept; a command below the lower limit passes.",
    (_WRITE, "data.ctrl[i] = min(wanted, high)"),
)
slip(
    "lower_limit_only",
    "Only the lower limit is kept; a command above the upper limit passes.",
    (_WRITE, "data.ctrl[i] = max(wanted, low)"),
)
slip(
    "symmetric_range",
    "The range is taken as symmetric: the command is clamped to plus and minus the upper limit. "
    "`ctrlrange` has two ends.",
    ("np.clip(wanted, low, high)", "np.clip(wanted, -high, high)"),
)
slip(
    "clamped_inside_the_limit",
    "The command is clamped to a range that is narrower than `ctrlrange`.",
    ("np.clip(wanted, low, high)", "np.clip(wanted, 0.99 * low, 0.99 * high)"),
)
slip(
    "unlimited_clamped",
    "An actuator without limits is clamped to its stored range (0 to 0 where none is given). "
    "`ctrlrange` counts only where `ctrllimited` says so.",
    (_LIMITED, "if True:"),
)
slip(
    "limited_by_nonzero_range",
    "An actuator counts as limited where its range is not (0, 0). Whether the range counts is what "
    "`ctrllimited` says.",
    (_LIMITED, "if np.any(model.actuator_ctrlrange[i]):"),
)
slip(
    "clamps_to_forcerange",
    "The command itself is clamped to `forcerange`. The command's range is `ctrlrange`; MuJoCo "
    "applies the force limit by itself.",
    (
        "    wanted =",
        "    if model.actuator_forcelimited[i]:\n"
        "        least, most = model.actuator_forcerange[i]\n"
        "        low, high = max(low, least), min(high, most)\n    wanted =",
    ),
)
_NOT_CLAMPED = (
    "not_clamped",
    "The command is not clamped: `ctrl` then holds a value that the actuator never sees, and every "
    "reader of the command port is misled. MuJoCo clamps a copy.",
)
slip(*_NOT_CLAMPED, (_WRITE, "data.ctrl[i] = wanted"), _OUTSIDE)
slip(*_NOT_CLAMPED, (_WRITE, "data.ctrl[i] = wanted"), (_FLAG, "False"))
for _instead in ("0.0", "data.ctrl[i]"):
    slip(
        "gives_up_beyond_the_limit",
        "Beyond the limit nothing useful is written. The joint is to receive as much as the limits "
        "allow: clamp the command.",
        (_WRITE, f"data.ctrl[i] = wanted if low <= wanted <= high else {_instead}"),
        _OUTSIDE,
    )
slip(
    "refuses_beyond_the_limit",
    "Beyond the limit it raises an error. A torque that is out of reach is clamped, and the flag "
    "says so.",
    (_WRITE, "assert low <= wanted <= high\n    " + _WRITE),
)

# The flag
slip(
    "flag_at_the_limit",
    "The flag is wrong at the exact limit: a command that equals the limit passes unchanged, so "
    "nothing was clamped. Use < and >, not <= and >=.",
    (_FLAG, "bool(wanted <= low or wanted >= high)"),
)
for _side, _flag in (("upper", "bool(wanted > high)"), ("lower", "bool(wanted < low)")):
    slip(
        "flag_of_one_limit",
        f"The flag knows the {_side} limit only: a command cut at the other end is cut as well.",
        (_FLAG, _flag),
    )
slip(
    "flag_counts_forcerange",
    "The flag also counts `forcerange`. It says whether the command was clamped to `ctrlrange`; "
    "what the actuator's force limit cuts later is another matter.",
    (
        f"    return {_FLAG}",
        "    if model.actuator_forcelimited[i]:\n"
        "        least, most = model.actuator_forcerange[i]\n"
        "        low, high = max(low, least), min(high, most)\n"
        "    return bool(wanted < low or wanted > high)",
    ),
)
slip(
    "flag_of_the_torque",
    "The flag compares the torque, not the command, with `ctrlrange`: the limit is in the "
    "actuator's units, before the gear.",
    _TORQUE_OUTSIDE,
)
slip(
    "flag_inverted",
    "The flag is the wrong way round: True must mean that it was clamped.",
    ("!= wanted", "== wanted"),
)
slip(
    "flag_never_set",
    "The flag is always False: it must say whether the command was clamped. Compare the command "
    "before and after clamping.",
    (_FLAG, "False"),
)
slip(
    "flag_always_set",
    "The flag is always True: it must say whether *this* command was clamped.",
    (_FLAG, "True"),
)
slip(
    "returns_nothing",
    "Nothing is returned: the caller needs the flag that says whether the command was clamped.",
    (_FLAG, "None"),
)
slip(
    "returns_the_command",
    "The clamped command is returned instead of the flag.",
    (_FLAG, "float(data.ctrl[i])"),
)
slip(
    "flag_is_no_bool",
    "The flag is not a bool: return True or False.",
    (_FLAG, "'clamped' if data.ctrl[i] != wanted else ''"),
)
slip(
    "flag_is_no_bool",
    "The flag comes together with something else: return the bool alone.",
    (_FLAG, "(data.ctrl[i], bool(data.ctrl[i] != wanted))"),
)

# Where it is written
slip(
    "accumulates",
    "The command is added to what was there. `ctrl` stays until it is overwritten: assign it.",
    ("data.ctrl[i] = ", "data.ctrl[i] += "),
    _OUTSIDE,
)
slip(
    "clears_the_others",
    "All other commands are set to zero. Write the one entry that belongs to this actuator.",
    (_WRITE, "data.ctrl[:] = 0\n    " + _WRITE),
)
slip(
    "index_of_the_joint",
    "The command is written at the index of the joint. `ctrl` is counted by actuator, in the order "
    "in which actuators are declared.",
    (_WRITE, _WRITE.replace("[i]", "[model.actuator_trnid[i, 0] - 1]")),
    _OUTSIDE,
)
for _place in ("0", "i - 1", "model.actuator_trnid[i, 0] % model.nu"):
    slip(
        "another_actuators_control",
        "The command lands at another actuator. Its place in `ctrl` is the id of the named "
        "actuator.",
        (_WRITE, _WRITE.replace("[i]", f"[{_place}]")),
        _OUTSIDE,
    )
slip(
    "every_control",
    "The command is written to every actuator: write the named one.",
    (_WRITE, _WRITE.replace("[i]", "[:]")),
)
_AT_THE_JOINT = "data.qfrc_applied[model.jnt_dofadr[model.actuator_trnid[i, 0]]]"
_REACHED = "np.clip(wanted, low, high) * model.actuator_gear[i, 0]"
_FLAGS = (_OUTSIDE[1], "False", "None")
for _written, _flags in (
    (f"{_AT_THE_JOINT} = torque", _FLAGS),
    (f"{_AT_THE_JOINT} += torque", _FLAGS),
    (f"{_AT_THE_JOINT} = {_REACHED}", _FLAGS[:2]),
    (f"{_AT_THE_JOINT} = torque\n    data.ctrl[i] = 0", _FLAGS[:2]),
):
    for _flag in _flags:
        slip(
            "applies_a_joint_force",
            "The torque is applied as `qfrc_applied`, past the actuator and its limits, and nobody "
            "clears it. The environment never writes that; the drive receives its command through "
            "`ctrl`.",
            *((_WRITE, _written), (_FLAG, _flag)),
        )
slip(
    "steps_too",
    "It takes a step; it has to write the command and nothing else.",
    (_WRITE, _WRITE + "\n    mujoco.mj_step(model, data)"),
)
slip(
    "unknown_name_accepted",
    "An unknown actuator becomes id -1: the last actuator gets the command. Raise a KeyError when "
    "`mj_name2id` returns -1.",
    (
        "model.actuator(actuator).id",
        "mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_ACTUATOR, actuator)",
    ),
)


# More right answers.
@exercise.variant("branches, a NumPy flag")
def by_branches():
    def write_torque(model, data, actuator, torque):
        handle = model.actuator(actuator)
        command = torque / handle.gear[0]
        saturated = np.bool_(False)
        if handle.ctrllimited[0]:
            if command < handle.ctrlrange[0]:
                command, saturated = handle.ctrlrange[0], np.True_
            elif command > handle.ctrlrange[1]:
                command, saturated = handle.ctrlrange[1], np.True_
        data.actuator(actuator).ctrl[0] = command
        return saturated


@exercise.variant("clamped in joint torque, then divided")
def in_joint_torque():
    def write_torque(model, data, actuator, torque):
        a = model.actuator(actuator)
        gear = float(a.gear[0])
        limited = bool(a.ctrllimited[0])
        ends = sorted(gear * float(r) for r in a.ctrlrange) if limited else [-np.inf, np.inf]
        reachable = max(ends[0], min(ends[1], float(torque)))
        data.ctrl[a.id] = reachable / gear
        return reachable != torque


@exercise.variant("a default argument and a sorted median, 0 or 1 returned as bool")
def by_median():
    def write_torque(model, data, actuator, torque, *, kind=mujoco.mjtObj.mjOBJ_ACTUATOR):
        i = mujoco.mj_name2id(model, kind, actuator)
        if i < 0:
            raise KeyError(f"no actuator is called {actuator!r}")
        wanted = torque / model.actuator_gear[i][0]
        if not model.actuator_ctrllimited[i]:
            data.ctrl[i] = wanted
            return False
        data.ctrl[i] = sorted([wanted, *model.actuator_ctrlrange[i]])[1]
        return abs(wanted - data.ctrl[i]) > 1e-12
