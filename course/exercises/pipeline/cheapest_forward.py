"""`cheapest_forward`: run the stages that a change made stale, and no other."""

import mujoco
import numpy as np

from course.exercises.compare import close, each, same
from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import arrays, disturbed, scene, variants

exercise = Exercise("cheapest_forward", points=3, provides=("refresh",))


@exercise.reference
def reference():
    def refresh(model, data, changed):
        if not changed:
            return
        stage = mujoco.mjtStage.mjSTAGE_VEL
        if "qvel" in changed:
            stage = mujoco.mjtStage.mjSTAGE_POS
        if "qpos" in changed:
            stage = mujoco.mjtStage.mjSTAGE_NONE
        mujoco.mj_forwardSkip(model, data, stage, 0)

    return {"refresh": refresh}


_RESULTS = (
    "xpos xquat xipos actuator_length actuator_velocity cvel qfrc_passive qfrc_bias "
    "actuator_force qfrc_actuator act_dot qacc_smooth qfrc_constraint qacc sensordata"
).split()
_INPUTS = ("qpos", "qvel", "ctrl", "qfrc_applied", "xfrc_applied")
# Arrays that a stage writes and that no later stage reads: a false number left there is seen to be
# overwritten, and harms nothing.
_FOOTPRINTS = {
    "position": ("xanchor", "light_xpos"),
    "velocity": ("qfrc_spring", "qfrc_damper"),
    "acceleration": ("qfrc_smooth", "qacc_smooth"),
}
_FALSE = 7.25e3


def _evaluated(name, seed):
    model = scene(name)
    if name == "clutter":
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.5
        for _ in range(60):
            mujoco.mj_step(model, data)
    else:
        data = disturbed(model, seed)
    mujoco.mj_forward(model, data)
    return model, data


def _change(model, data, changed, seed):
    rng = np.random.default_rng(seed)
    if "qpos" in changed:
        mujoco.mj_integratePos(model, data.qpos, rng.normal(scale=0.05, size=model.nv), 1.0)
    for name in sorted(changed - {"qpos"}):
        field = getattr(data, name)
        field[:] = rng.normal(scale=0.2, size=field.shape)
        if name == "xfrc_applied":
            field[0] = 0


def _refresh(label, model, data, changed, observe, compare):
    return call("refresh", model, data, set(changed), label=label, observe=observe, compare=compare)


def _values(name, seed, *changed):
    """Change, refresh; every result that mj_forward computes."""
    model, data = _evaluated(name, seed)
    _change(model, data, set(changed), seed)
    # The accelerometer of the clutter is left out: run by hand, the stages refresh it only
    # after mj_rnePostConstraint, which mj_forward calls on its own.
    results = [r for r in _RESULTS if (name, r) != ("clutter", "sensordata")]

    def observe(outcome):
        return arrays(outcome.args_after[1], *_INPUTS, *results, "time")

    label = f"{name}, {', '.join(changed) or 'nothing'} changed"
    return _refresh(label, model, data, changed, observe, each(close(1e-9, 1e-9)))


def _stages(name, seed, *changed):
    """Change, plant false numbers, refresh; which stages ran, from the numbers overwritten."""
    model, data = _evaluated(name, seed)
    _change(model, data, set(changed), seed)
    for fields in _FOOTPRINTS.values():
        for field in fields:
            getattr(data, field)[:] = _FALSE

    def observe(outcome):
        after = outcome.args_after[1]
        ran = {
            stage: bool(any(np.any(np.asarray(getattr(after, f)) != _FALSE) for f in fields))
            for stage, fields in _FOOTPRINTS.items()
        }
        ran["the set is left as it was"] = set(outcome.args_after[2]) == set(changed)
        if not changed:
            ran["anything"] = bool(after.changed)
        return ran

    label = f"stages run, {', '.join(changed) or 'nothing'} changed ({name})"
    return _refresh(label, model, data, changed, observe, same())


@exercise.part("the results are those of mj_forward", points=1.5)
def values():
    return [
        *(_values("mobile", 1, key) for key in _INPUTS),
        _values("servo_arm", 1, "ctrl"),
        _values("mobile", 2, "qpos", "ctrl"),
        _values("mobile", 3, "qvel", "xfrc_applied"),
        _values("mobile", 4, "qpos", "qvel"),
        _values("mobile", 5, *_INPUTS),
        _values("mobile", 6, "ctrl", "qfrc_applied", "xfrc_applied"),
        _values("mobile", 8),
        _values("clutter", 9, "qpos"),
        _values("clutter", 11, "ctrl"),
    ]


@exercise.part("only the stages that are needed run", points=1.5)
def stages():
    return [
        *(_stages("mobile", 20, key) for key in _INPUTS),
        _stages("mobile", 21),
        _stages("mobile", 22, "qvel", "ctrl"),
        _stages("mobile", 23, "ctrl", "qfrc_applied"),
        _stages("mobile", 24, "qpos", "qfrc_applied"),
        _stages("mobile", 25, "qpos", "qvel", "ctrl"),
        _stages("mobile", 26, "qvel", "xfrc_applied", "qfrc_applied"),
        _stages("clutter", 27, "ctrl"),
    ]


GOOD = """\
def refresh(model, data, changed):
    if not changed:
        return
    if "qpos" in changed:
        mujoco.mj_forward(model, data)
    elif "qvel" in changed:
        mujoco.mj_forwardSkip(model, data, mujoco.mjtStage.mjSTAGE_POS, 0)
    else:
        mujoco.mj_forwardSkip(model, data, mujoco.mjtStage.mjSTAGE_VEL, 0)
"""
BY_STAGES = """\
def refresh(model, data, changed):
    position = "qpos" in changed
    velocity = position or "qvel" in changed
    if position:
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_sensorPos(model, data)
    if velocity:
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_sensorVel(model, data)
    if velocity or len(changed) > 0:
        for stage in (mujoco.mj_fwdActuation, mujoco.mj_fwdAcceleration,
                      mujoco.mj_fwdConstraint, mujoco.mj_sensorAcc):
            stage(model, data)
"""
_EMPTY = "    if not changed:\n        return\n"
_QPOS = '    if "qpos" in changed:\n        mujoco.mj_forward(model, data)\n    elif'
_POS = "mujoco.mj_forwardSkip(model, data, mujoco.mjtStage.mjSTAGE_POS, 0)"
_VEL = "mujoco.mj_forwardSkip(model, data, mujoco.mjtStage.mjSTAGE_VEL, 0)"
_FULL = "mujoco.mj_forward(model, data)"
_wrong = exercise.slips(GOOD)
_ALWAYS_EVERYTHING = (
    "always_everything",
    "You always run everything. The results are right, but after a change of `ctrl` alone the "
    "position and the velocity stage need not run: mj_forwardSkip.",
)
_wrong(*_ALWAYS_EVERYTHING, (_EMPTY, ""), (_POS, _FULL), (_VEL, _FULL))
_wrong(*_ALWAYS_EVERYTHING, (_POS, _FULL), (_VEL, _FULL))
_POSITION_SKIPPED_AFTER_QPOS = (
    "position_skipped_after_qpos",
    "You skip the position stage although `qpos` changed: everything depends on it.",
)
_wrong(*_POSITION_SKIPPED_AFTER_QPOS, (_FULL, _POS))
_wrong(*_POSITION_SKIPPED_AFTER_QPOS, (_FULL, _VEL))
_wrong(
    "skips_exchanged",
    "The skips are exchanged: `skipstage` names the last stage that is skipped. After `qvel` skip "
    "the position stage (mjSTAGE_POS), after `ctrl` the velocity stage too (mjSTAGE_VEL).",
    ("mjSTAGE_POS", "X"),
    ("mjSTAGE_VEL", "mjSTAGE_POS"),
    ("mjtStage.X", "mjtStage.mjSTAGE_VEL"),
)
_wrong(
    "velocity_skipped_after_qvel",
    "You skip the velocity stage although `qvel` changed.",
    (_POS, _VEL),
)
_wrong(
    "velocity_run_after_ctrl",
    "After a change of inputs only, the velocity stage need not run either: mjSTAGE_VEL.",
    (_VEL, _POS),
)
_wrong(
    "position_run_after_qvel",
    "After a change of `qvel` the position stage need not run: mjSTAGE_POS.",
    (_POS, _FULL),
)
_wrong(
    "empty_set_runs",
    "With nothing changed there is nothing to run: return at once.",
    (_EMPTY, ""),
)
_wrong(
    "sensors_skipped",
    "`skipsensor` leaves old values in `sensordata`; mj_forward would have refreshed them: pass 0.",
    ("mjSTAGE_POS, 0", "mjSTAGE_POS, 1"),
    ("mjSTAGE_VEL, 0", "mjSTAGE_VEL, 1"),
)
_wrong(
    "qvel_before_qpos",
    "With both `qpos` and `qvel` changed the position stage must run: ask for `qpos` first.",
    (
        GOOD.split("        return\n")[1],
        '    if "qvel" in changed:\n'
        f"        {_POS}\n"
        '    elif "qpos" in changed:\n'
        f"        {_FULL}\n"
        "    else:\n"
        f"        {_VEL}\n",
    ),
)
_wrong(
    "whole_set_compared",
    "You compare the whole set; several names may have changed at once: ask what is in it.",
    ('"qpos" in changed', 'changed == {"qpos"}'),
    ('"qvel" in changed', 'changed == {"qvel"}'),
)
_wrong(
    "ctrl_before_others",
    "With `ctrl` and `qpos` (or `qvel`) changed you skip stages that must run: the earliest stage "
    "decides.",
    (
        GOOD.split("        return\n")[1],
        '    if changed & {"ctrl", "qfrc_applied", "xfrc_applied"}:\n'
        f"        {_VEL}\n"
        '    elif "qpos" in changed:\n'
        f"        {_FULL}\n"
        "    else:\n"
        f"        {_POS}\n",
    ),
)
_wrong(
    "applied_forces_ignored",
    "Applied forces change the accelerations: `qfrc_applied` and `xfrc_applied` need the last "
    "stages too.",
    ("    else:\n", '    elif "ctrl" in changed:\n'),
)
_wrong(
    "accelerations_left_stale",
    "You refresh the stage of what changed and stop there: the later stages depend on it.",
    (_POS, "mujoco.mj_fwdVelocity(model, data)"),
    (_VEL, "mujoco.mj_fwdActuation(model, data)"),
    (_FULL, "mujoco.mj_fwdPosition(model, data)"),
)
_wrong(
    "actuation_only",
    "You run the actuation only; accelerations and sensors depend on it: mj_forwardSkip with "
    "mjSTAGE_VEL.",
    (_VEL, "mujoco.mj_fwdActuation(model, data)"),
)
_wrong(
    "steps",
    "You step: time moves. mj_forward and mj_forwardSkip do not.",
    (_FULL, "mujoco.mj_step(model, data)"),
)
_wrong("does_nothing", "Nothing is evaluated.", (_FULL, "pass"), (_POS, "pass"), (_VEL, "pass"))

_wrong(
    "kinematics_only",
    "mj_kinematics moves the bodies and nothing more: inertia, contacts, velocities and forces "
    "stay old. After `qpos` everything must run: mj_forward.",
    (_FULL, "mujoco.mj_kinematics(model, data)"),
)

_by_stages = exercise.slips(BY_STAGES)
_SENSORS_SKIPPED = (
    "sensors_skipped",
    "The sensors stay old; mj_forward would have refreshed them: each stage has its own "
    "(mj_sensorPos, mj_sensorVel, mj_sensorAcc).",
)
_by_stages(
    *_SENSORS_SKIPPED, ("mujoco.mj_fwdConstraint, mujoco.mj_sensorAcc", "mujoco.mj_fwdConstraint")
)
_by_stages(
    *_SENSORS_SKIPPED,
    ("mujoco.mj_fwdConstraint, mujoco.mj_sensorAcc", "mujoco.mj_fwdConstraint"),
    ("        mujoco.mj_sensorPos(model, data)\n", ""),
    ("        mujoco.mj_sensorVel(model, data)\n", ""),
)
_CONSTRAINT_FORGOTTEN = (
    "constraint_forgotten",
    "The last stage, mj_fwdConstraint, is missing: `qacc` and the constraint forces stay old.",
)
_by_stages(
    *_CONSTRAINT_FORGOTTEN, ("mujoco.mj_fwdConstraint, mujoco.mj_sensorAcc", "mujoco.mj_sensorAcc")
)
_by_stages(*_CONSTRAINT_FORGOTTEN, ("mujoco.mj_fwdConstraint, mujoco.mj_sensorAcc", ""))
_by_stages(
    "velocity_stale_after_qpos",
    "After `qpos` the velocity stage must run too: it depends on the positions.",
    ('velocity = position or "qvel" in changed', 'velocity = "qvel" in changed'),
    ("if velocity or len(changed) > 0", "if len(changed) > 0"),
)
_by_stages(
    *_CONSTRAINT_FORGOTTEN,
    (",\n                      mujoco.mj_fwdConstraint, mujoco.mj_sensorAcc)", ")"),
    ("        mujoco.mj_sensorPos(model, data)\n", ""),
    ("        mujoco.mj_sensorVel(model, data)\n", ""),
)
_wrong(
    "empties_the_set",
    "You take names out of `changed`: it belongs to the caller, leave it as it was.",
    (
        "    if not changed:\n        return\n",
        "    if not changed:\n        return\n    given, changed = changed, set(changed)\n"
        "    given.clear()\n",
    ),
)

_wrong(
    "step1_only",
    "mj_step1 stops after the velocity stage: forces and accelerations stay old, and it runs the "
    "position stage whatever changed.",
    (_FULL, "mujoco.mj_step1(model, data)"),
    (_POS, "mujoco.mj_step1(model, data)"),
    (_VEL, "mujoco.mj_step1(model, data)"),
)

_right = variants(exercise)
_right(
    "as_one_number",
    """\
def refresh(model, data, changed):
    needs = {"qpos": 0, "qvel": 1}
    if changed:
        mujoco.mj_forwardSkip(model, data, min(needs.get(name, 2) for name in changed), 0)
""",
)
_right("stage_by_stage", BY_STAGES)
_right(
    "by_set_arithmetic",
    """\
refresh = lambda model, data, changed: (
    None if changed == set()
    else mujoco.mj_forwardSkip(model, data,
                               2 - len({"qvel", "qpos"} & set(changed)) if "qpos" not in changed
                               else mujoco.mjtStage.mjSTAGE_NONE, False))
""",
)
