"""`save_restore`: what a run must keep to resume to the last bit."""

import mujoco
import numpy as np

from course.exercises.compare import close, each, identical
from course.exercises.exercise import Exercise, script
from course.exercises.pipeline.scenes import (
    arrays,
    asked,
    disturbed,
    refuse,
    run_on,
    scene,
    taken_over,
    variants,
)

exercise = Exercise("save_restore", points=4, provides=("save_state", "restore_state"), core=True)

GOOD = """\
def save_state(model, data):
    spec = mujoco.mjtState.mjSTATE_INTEGRATION
    state = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, state, spec)
    return state


def restore_state(model, data, state):
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_forward(model, data)
"""


@exercise.reference
def reference():
    spec = mujoco.mjtState.mjSTATE_INTEGRATION

    def save_state(model, data):
        state = np.empty(mujoco.mj_stateSize(model, spec))
        mujoco.mj_getState(model, data, state, spec)
        return state

    def restore_state(model, data, state):
        mujoco.mj_setState(model, data, state, spec)
        mujoco.mj_forward(model, data)

    return {"save_state": save_state, "restore_state": restore_state}


def _running(name, seed, steps, *, inputs):
    """A run in full swing: the clutter as it fell, other scenes from a state at random."""
    model = scene(name)
    if name == "clutter":
        data = mujoco.MjData(model)
        if inputs:
            rng = np.random.default_rng(seed)
            data.act[:] = -0.5
            data.xfrc_applied[1:, :3] = rng.normal(scale=0.02, size=(model.nbody - 1, 3))
            data.qfrc_applied[0] = 0.02
    else:
        data = disturbed(model, seed, inputs=inputs)
    data.ctrl[:] = 0.7
    data = run_on(model, data, steps)
    if name == "clutter" and inputs:  # the hand leans on the ball, 5 mm deep
        data.mocap_pos[0] = data.qpos[model.joint("ball").qposadr[0] :][:3] - (0, 0.08, 0)
    return model, data


def _restored(door, running, target):
    """Save `running`, (model, data); restore into `target`; what the second call left of it."""
    model, _ = running
    state = asked(door, "save_state", running).result()
    try:
        flat = np.asarray(state, dtype=float)
    except (TypeError, ValueError):
        raise refuse("save_state must return one array of numbers") from None
    if flat.ndim != 1 or flat.size == 0:
        raise refuse(f"save_state must return one array of shape (n,), not {flat.shape}")
    outcome = door.call("restore_state", model, target, state)
    outcome.result()
    return outcome.args_after[1]


def _resumes(name, label, seed, *, into, inputs, steps=120, further=30):
    """Save, restore into another MjData, run on; the answer is where that ends."""

    running = model, data = _running(name, seed, steps, inputs=inputs)
    target = mujoco.MjData(model) if into == "fresh" else run_on(model, data, 37)

    def run(door):
        after = _restored(door, running, target)
        end = taken_over(target, after)
        for _ in range(further):
            mujoco.mj_step(model, end)
        return arrays(end, "qpos", "qvel", "act", "time")

    return script(label, run, compare=each(identical()))


@exercise.part("the run resumes to the last bit", points=2)
def resumes():
    return [
        _resumes("double_pendulum", "a double pendulum, rewound", 1, into="later", inputs=False),
        _resumes("servo_arm", "filtered actuators, rewound", 2, into="later", inputs=False),
        _resumes("clutter", "clutter in contact, rewound", 3, into="later", inputs=False),
        _resumes("mobile", "all joint types, rewound", 5, into="later", inputs=False),
    ]


@exercise.part("also with applied forces and a mocap body, into a fresh MjData", points=1)
def inputs():
    return [
        _resumes("pendulum", "a pendulum, fresh MjData", 10, into="fresh", inputs=False),
        _resumes("mobile", "applied forces, fresh MjData", 12, into="fresh", inputs=True),
        _resumes("clutter", "contacts, mocap, forces, fresh MjData", 13, into="fresh", inputs=True),
    ]


_DERIVED = (
    "xpos xquat xipos site_xpos qfrc_bias qfrc_passive actuator_force qfrc_actuator qacc_smooth "
    "qacc qfrc_constraint cvel sensordata"
).split()


def _fresh_after(name, label, seed, *, inputs):
    """Restore, and look at quantities derived from the state at once."""

    running = _running(name, seed, 80, inputs=inputs)
    target = run_on(*running, 25)

    def run(door):
        after = _restored(door, running, target)
        return arrays(after, "qpos", "qvel", *_DERIVED)

    return script(label, run, compare=each(close(atol=1e-9, rtol=1e-9)))


@exercise.part("derived quantities belong to the restored state", points=1)
def derived():
    return [
        _fresh_after("double_pendulum", "a double pendulum", 20, inputs=False),
        _fresh_after("mobile", "all joint types", 22, inputs=True),
        _fresh_after("clutter", "clutter in contact", 23, inputs=False),
    ]


_wrong = exercise.slips(GOOD)
_ALL = "mujoco.mjtState.mjSTATE_INTEGRATION"
_FORWARD = "    mujoco.mj_forward(model, data)\n"


def _without(*components):
    """The edit that leaves these components out of what is saved and restored."""
    kept = [f"int({_ALL})", *(f"~int(mujoco.mjtState.mjSTATE_{c})" for c in components)]
    return _ALL, " & ".join(kept)


_wrong(
    "physics_only",
    "You save mjSTATE_PHYSICS: positions, velocities and activations, but neither the time nor the "
    "inputs (controls, applied forces, mocap) nor the warm start. Save mjSTATE_INTEGRATION.",
    ("mjSTATE_INTEGRATION", "mjSTATE_PHYSICS"),
)
_FULL_PHYSICS = (
    "full_physics_only",
    "You save the full physics without the inputs: controls, applied forces, mocap poses and the "
    "solver's warm start are then those of the other instant. Save mjSTATE_INTEGRATION.",
)
_wrong(*_FULL_PHYSICS, ("mjSTATE_INTEGRATION", "mjSTATE_FULLPHYSICS"))
_wrong(
    "no_forward",
    "You restore the state but do not evaluate it: positions of bodies, forces and sensors still "
    "belong to the old state. Call mj_forward after mj_setState.",
    (_FORWARD, ""),
)
_wrong(
    "no_warm_start",
    "Everything is saved but `qacc_warmstart`: the contact solver then starts elsewhere, ends a "
    "rounding error away, and the run drifts from the original.",
    _without("WARMSTART"),
)
_wrong(
    "no_activation",
    "The activation `act` of filtered actuators is part of the state; yours is not restored.",
    _without("ACT"),
)
_wrong(
    "no_time",
    "`time` is part of the state; after your restore the clock shows another instant.",
    _without("TIME"),
)
for _components in (("XFRC_APPLIED", "QFRC_APPLIED"), ("XFRC_APPLIED",)):
    _wrong(
        "no_applied_forces",
        "`xfrc_applied` and `qfrc_applied` are inputs of the step and must be saved too.",
        _without(*_components),
    )
_wrong(
    "no_mocap",
    "The pose of a mocap body is an input of the step: it must be saved too.",
    _without("MOCAP_POS", "MOCAP_QUAT"),
)
_wrong(
    "no_control",
    "`ctrl` is an input of the step: a resumed run needs the control of that instant.",
    _without("CTRL"),
)
for _less in ("mj_kinematics", "mj_fwdPosition"):
    _wrong(
        "kinematics_only",
        "mj_kinematics refreshes the poses only; velocities of bodies, forces and sensors stay "
        "old. Call mj_forward.",
        ("mj_forward", _less),
    )
_wrong(
    "steps_on",
    "Your restore takes a step: the run resumes one step too late. mj_forward evaluates without "
    "moving the time.",
    ("mj_forward", "mj_step"),
)

_partial = exercise.slips("""\
def save_state(model, data):
    return np.concatenate([SAVED])


def restore_state(model, data, state):
    start = 0
    for field in [FIELDS]:
        field[:] = state[start:start + field.size].reshape(field.shape)
        start += field.size
    mujoco.mj_forward(model, data)
""")


def _saves(names, mistake, *edits):
    """A mistake that saves these fields one after the other."""
    fields = [f"data.{name}" for name in names]
    saved = [f"{field}.ravel()" for field in fields]
    _partial(*mistake, ("SAVED", ", ".join(saved)), ("FIELDS", ", ".join(fields)), *edits)


_QPOS_QVEL = (
    "qpos_qvel_only",
    "You save `qpos` and `qvel` only. A resumed run also needs the activations, the time, the "
    "inputs (controls, applied forces, mocap) and the warm start: mjSTATE_INTEGRATION.",
)
_saves(["qpos", "qvel"], _QPOS_QVEL)
_saves(["qpos", "qvel"], _QPOS_QVEL, (_FORWARD, ""))
_saves(["qpos", "qvel", "ctrl"], _QPOS_QVEL)
_saves(["qpos", "qvel", "act", "ctrl"], _FULL_PHYSICS)
_SAVES_QACC = (
    "saves_qacc",
    "`qacc` is a result, not a state: saving it does not help. Missing are activations, time, "
    "inputs and the warm start: mjSTATE_INTEGRATION.",
)
_saves(["qpos", "qvel", "qacc"], _SAVES_QACC)

_FEW = (
    "incomplete_state",
    "You save positions, velocities and some of the rest, but not all that the step starts from: "
    "activations, time, every input (controls, applied forces, mocap) and the warm start. "
    "mjSTATE_INTEGRATION is all of it.",
)
for _names in (
    ["qpos", "qvel", "act"],
    ["qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied"],
    ["qpos", "qvel", "qacc_warmstart"],
    ["qpos", "qvel", "act", "qacc_warmstart"],
):
    _saves(_names, _FEW)
    _saves(_names, _FEW, (_FORWARD, ""))

_timed = exercise.slips("""\
NAMES = FIELDS


def save_state(model, data):
    return np.concatenate([[data.time]] + [getattr(data, n).ravel() for n in NAMES])


def restore_state(model, data, state):
    data.time = state[0]
    start = 1
    for name in NAMES:
        field = getattr(data, name)
        field[:] = state[start:start + field.size].reshape(field.shape)
        start += field.size
    mujoco.mj_forward(model, data)
""")
for _names in (
    ("qpos", "qvel"),
    ("qpos", "qvel", "ctrl"),
    ("qpos", "qvel", "act", "ctrl"),
    ("qpos", "qvel", "act", "ctrl", "qacc_warmstart"),
    ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied"),
):
    _timed(*_FEW, ("FIELDS", repr(_names)))
_RESETS = (
    "resets",
    "You reset after you restored: the run starts from the beginning. Reset first, if at all; then "
    "mj_setState, then mj_forward.",
)
_timed(*_RESETS, ("FIELDS", '("qpos", "qvel")'), ("mj_forward", "mj_resetData"))
_wrong(*_RESETS, ("mj_forward", "mj_resetData"))
_wrong(
    "no_forward",
    "You evaluate before you restore: positions of bodies, forces and sensors belong to the old "
    "state. Call mj_forward after mj_setState.",
    (_FORWARD, ""),
    ("    mujoco.mj_setState", _FORWARD + "    mujoco.mj_setState"),
)
_ROUNDED_STATE = (
    "rounded_state",
    "Your state is kept in fewer digits than the run has (float32 or rounded): it resumes nearby, "
    "not exactly. Keep float64.",
)
_wrong(
    *_ROUNDED_STATE,
    ("return state", "return state.astype(np.float32)"),
    ("data, state, mujoco.mjtState", "data, np.array(state, float), mujoco.mjtState"),
)
_wrong(*_ROUNDED_STATE, ("return state", "return state.round(12)"))

_wrong(
    "warm_start_lost",
    "You clear the solver's warm start: in contact the run differs in the last bits. It is part "
    "of what a bit-exact resume needs.",
    ("    mujoco.mj_forward", "    data.qacc_warmstart[:] = 0\n    mujoco.mj_forward"),
)

_right = variants(exercise)
_right("by_mujoco", GOOD)
_right(
    "field_by_field",
    """\
FIELDS = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied", "mocap_pos",
          "mocap_quat", "qacc_warmstart")

def save_state(model, data):
    return np.concatenate([[data.time]] + [getattr(data, name).ravel() for name in FIELDS])

def restore_state(model, data, state):
    data.time = state[0]
    start = 1
    for name in FIELDS:
        field = getattr(data, name)
        field[...] = np.reshape(state[start:start + field.size], field.shape)
        start += field.size
    mujoco.mj_forward(model, data)
""",
)
_right(
    "a_list_and_a_reset_first",
    """\
SPEC = int(mujoco.mjtState.mjSTATE_INTEGRATION)

def save_state(model, data):
    out = np.zeros(mujoco.mj_stateSize(model, SPEC))
    mujoco.mj_getState(model, data, out, SPEC)
    return out.tolist()

def restore_state(model, data, state):
    mujoco.mj_resetData(model, data)
    mujoco.mj_setState(model, data, np.array(state, dtype=float), SPEC)
    mujoco.mj_forward(model, data)
    mujoco.mj_forward(model, data)
    return data.time
""",
)
_right(
    "in_two_pieces",
    """\
PIECES = [mujoco.mjtState.mjSTATE_FULLPHYSICS, mujoco.mjtState.mjSTATE_USER,
          mujoco.mjtState.mjSTATE_WARMSTART]

def piece(model, data, spec):
    part = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, part, spec)
    return part

def save_state(model, data):
    return np.hstack([piece(model, data, spec) for spec in PIECES])

def restore_state(model, data, state):
    state = np.asarray(state)
    for spec in PIECES:
        size = mujoco.mj_stateSize(model, spec)
        mujoco.mj_setState(model, data, state[:size], spec)
        state = state[size:]
    mujoco.mj_step1(model, data)
    mujoco.mj_forward(model, data)
""",
)
