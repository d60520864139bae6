"""`smooth_acceleration`: Newton's law with every force but the constraint's."""

import mujoco
import numpy as np

from course.exercises.compare import close, each, same
from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import disturbed, scene, variants

exercise = Exercise(
    "smooth_acceleration",
    points=5,
    provides=("smooth_acceleration",),
    core=True,
    forbids=(
        "mj_step",
        "mj_step1",
        "mj_step2",
        "mj_forward",
        "mj_forwardSkip",
        "mj_fwdAcceleration",
        "mj_fwdConstraint",
    ),
)

# The results that the answer must not start from; the cases hold wrong numbers there.
_SPOILT = ("qacc_smooth", "qfrc_smooth", "qacc", "qacc_warmstart", "qfrc_inverse")
_KEPT = frozenset(
    "qpos qvel act ctrl qfrc_applied xfrc_applied qfrc_passive qfrc_bias qfrc_actuator "
    "qfrc_constraint mocap_pos mocap_quat".split()
)


def _truth(model, data):
    """`qacc_smooth` of MuJoCo on a copy: the cases hold another number in that field."""
    whole = mujoco.MjData(model)
    for name in ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied"):
        getattr(whole, name)[:] = getattr(data, name)
    for name in ("mocap_pos", "mocap_quat"):
        getattr(whole, name)[:] = getattr(data, name)
    mujoco.mj_forward(model, whole)
    return whole.qacc_smooth.copy()


@exercise.reference
def reference():
    return {"smooth_acceleration": _truth}


def _evaluated(name, seed, *, cartesian="none", settle=0):
    """A scene in a state at random, evaluated, then spoilt where the answer must not look."""
    model = scene(name)
    if name == "clutter":
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.8
        for _ in range(settle):
            mujoco.mj_step(model, data)
    else:
        data = disturbed(model, seed)
    rng = np.random.default_rng(seed + 1000)
    push = rng.normal(scale=2, size=(model.nbody, 6))
    push[0] = 0
    keep = {"none": (0, 0), "force": (1, 0), "torque": (0, 1), "both": (1, 1)}[cartesian]
    data.xfrc_applied[:, :3] = keep[0] * push[:, :3]
    data.xfrc_applied[:, 3:] = keep[1] * push[:, 3:]
    if cartesian != "none" and name == "clutter":
        data.xfrc_applied[:] *= 0.1
    mujoco.mj_forward(model, data)
    for field in _SPOILT:
        getattr(data, field)[:] = 12.5 + np.arange(model.nv)
    return model, data


def _case(name, seed, label, **how):
    model, data = _evaluated(name, seed, **how)
    return call("smooth_acceleration", model, data, label=label, compare=close(1e-8, 1e-9))


@exercise.part("without Cartesian forces", points=2)
def ordinary():
    return [
        _case("pendulum", 1, "a pendulum"),
        _case("double_pendulum", 2, "a double pendulum"),
        _case("two_mass", 3, "two wagons, with a row"),
        _case("servo_arm", 4, "three levers"),
        *(_case("mobile", seed, "all joint types") for seed in range(5, 8)),
        _case("clutter", 10, "clutter in contact", settle=120),
    ]


@exercise.part("with Cartesian forces and torques", points=2)
def cartesian():
    return [
        _case("double_pendulum", 20, "no Cartesian force"),
        _case("double_pendulum", 21, "forces on the rods", cartesian="force"),
        _case("servo_arm", 22, "torques on the levers", cartesian="torque"),
        *(_case("mobile", s, "forces, masses off centre", cartesian="force") for s in (23,)),
        *(_case("mobile", s, "torques, free body and ball", cartesian="torque") for s in (25,)),
        *(_case("mobile", s, "forces and torques", cartesian="both") for s in range(27, 30)),
        _case("clutter", 31, "clutter pushed", cartesian="both", settle=60),
    ]


def _changed(outcome):
    """Names of the fields that the call changed and must not."""
    return sorted(outcome.args_after[1].changed & _KEPT)


def _and_what_changed(outcome):
    return outcome.value, _changed(outcome)


@exercise.part("contract: state and forces are left as they were", points=1)
def contract():
    cases = []
    for seed, name in ((40, "servo_arm"), (41, "mobile"), (42, "two_mass")):
        model, data = _evaluated(name, seed)
        cases.append(
            call(
                "smooth_acceleration",
                model,
                data,
                label=name,
                observe=_and_what_changed,
                compare=each((close(1e-8, 1e-9), same())),
            )
        )
    for seed, name in ((44, "servo_arm"), (45, "mobile")):
        model, data = _evaluated(name, seed, cartesian="both")
        label = f"{name}, pushed: what is left of data"
        cases.append(
            call("smooth_acceleration", model, data, label=label, observe=_changed, compare=same())
        )
    return cases


GOOD = """\
def smooth_acceleration(model, data):
    tau = data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator
    for body in range(1, model.nbody):
        force, torque = data.xfrc_applied[body, :3], data.xfrc_applied[body, 3:]
        jacp, jacr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBodyCom(model, data, jacp, jacr, body)
        tau += jacp.T @ force + jacr.T @ torque
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    return np.linalg.solve(M, tau)
"""
_TAU = "data.qfrc_passive - data.qfrc_bias + data.qfrc_applied + data.qfrc_actuator"
_CART = "        tau += jacp.T @ force + jacr.T @ torque\n"
_TURN = "data.xmat[body].reshape(3, 3)"
_wrong = exercise.slips(GOOD)
_NO_CARTESIAN = (_CART, "        pass\n")
_wrong(
    "forgets_cartesian_forces",
    "`xfrc_applied` is missing: add J_x^T F + J_w^T T of every body, with the Jacobian of its "
    "centre of mass.",
    _NO_CARTESIAN,
)
for _more in ((), (_NO_CARTESIAN,)):
    _wrong(
        "bias_sign",
        "The bias stands on the other side of M a + c = tau: subtract `qfrc_bias`.",
        ("- data.qfrc_bias", "+ data.qfrc_bias"),
        *_more,
    )
    _wrong(
        "adds_constraint",
        "You add the constraint force; the smooth acceleration is the one without it.",
        (_TAU, _TAU + " + data.qfrc_constraint"),
        *_more,
    )
_wrong(
    "no_bias",
    "`qfrc_bias` (gravity, Coriolis, centripetal) is missing: subtract it.",
    (" - data.qfrc_bias", ""),
)
_wrong(
    "force_at_body_origin",
    "You apply the Cartesian force at the origin of the body frame. MuJoCo applies `xfrc_applied` "
    "at the body's centre of mass: mj_jacBodyCom, or the point `xipos`.",
    ("mj_jacBodyCom", "mj_jacBody"),
)
_wrong(
    "force_at_subtree_com",
    "You apply the Cartesian force at the centre of mass of the body's whole subtree. It acts at "
    "the centre of mass of the body alone, `xipos`.",
    (
        "mj_jacBodyCom(model, data, jacp, jacr, body)",
        "mj_jac(model, data, jacp, jacr, data.subtree_com[body], body)",
    ),
)
_wrong(
    "force_torque_exchanged",
    "Force and torque are exchanged: a row of `xfrc_applied` is (force, torque).",
    ("jacp.T @ force + jacr.T @ torque", "jacp.T @ torque + jacr.T @ force"),
)
_wrong(
    "no_torque",
    "The torque of `xfrc_applied` is missing: its last three entries go through J_w^T.",
    (" + jacr.T @ torque", ""),
)
_wrong(
    "no_force",
    "The force of `xfrc_applied` is missing: its first three entries go through J_x^T.",
    ("jacp.T @ force + jacr.T @ torque", "jacr.T @ torque"),
)
_wrong(
    "body_frame_force",
    "You turn the Cartesian force into the body frame; `xfrc_applied` and the Jacobians are both "
    "in world axes.",
    ("@ force", f"@ ({_TURN}.T @ force)"),
    ("@ torque", f"@ ({_TURN}.T @ torque)"),
)
_wrong(
    "body_frame_force",
    "You turn the Cartesian force by the body's orientation; `xfrc_applied` and the Jacobians are "
    "both in world axes.",
    ("@ force", f"@ ({_TURN} @ force)"),
    ("@ torque", f"@ ({_TURN} @ torque)"),
)
for _result in ("data.qacc_smooth.copy()", "np.linalg.solve(M, data.qfrc_smooth)"):
    _wrong(
        "reads_the_result",
        "Your acceleration comes from `qacc_smooth` (or `qacc`, `qfrc_smooth`) instead of from the "
        "forces; build it from M, passive, bias, applied, actuator and Cartesian forces.",
        ("np.linalg.solve(M, tau)", _result),
    )
_wrong(
    "no_inertia",
    "You return the generalized force; the acceleration is M^-1 times it.",
    ("np.linalg.solve(M, tau)", "tau"),
)
_wrong(
    "times_inertia",
    "You multiply by M; the acceleration solves M a = tau.",
    ("np.linalg.solve(M, tau)", "M @ tau"),
)
_wrong(
    "diagonal_inertia",
    "You divide by the diagonal of M; joints are coupled: solve with the whole matrix.",
    ("np.linalg.solve(M, tau)", "tau / np.diag(M)"),
)
_wrong(
    "no_passive", "`qfrc_passive` (springs and dampers) is missing.", ("data.qfrc_passive -", "-")
)
_wrong(
    "passive_sign",
    "`qfrc_passive` is a force already, with its sign: add it.",
    ("data.qfrc_passive -", "-data.qfrc_passive -"),
)
_wrong("no_applied", "`qfrc_applied` is missing.", (" + data.qfrc_applied", ""))
_wrong("no_actuator", "`qfrc_actuator` is missing.", (" + data.qfrc_actuator", ""))
_wrong(
    "control_for_force",
    "You add the controls instead of the actuators' generalized force `qfrc_actuator`.",
    ("+ data.qfrc_actuator", "+ np.resize(np.append(data.ctrl, np.zeros(model.nv)), model.nv)"),
)
_IN_PLACE = (
    "changes_its_input",
    "You add into `data.qfrc_...` in place: the fields of `data` are changed. Start from a copy.",
)
_wrong(
    *_IN_PLACE,
    (_TAU, "data.qfrc_passive"),
    (
        "    for body",
        "    tau -= data.qfrc_bias\n"
        "    tau += data.qfrc_applied + data.qfrc_actuator\n    for body",
    ),
)
_wrong(
    *_IN_PLACE,
    (_TAU, "data.qfrc_applied"),
    (
        "    for body",
        "    tau += data.qfrc_passive - data.qfrc_bias + data.qfrc_actuator\n    for body",
    ),
)
_wrong(
    *_IN_PLACE,
    (_CART, _CART.replace("tau +=", "data.qfrc_applied[:] +=")),
    ("    tau = " + _TAU + "\n", ""),
    ("    M = np", "    tau = " + _TAU + "\n    M = np"),
)
_wrong(
    "one_body_only",
    "You project the Cartesian force of one body only; each body has a row in `xfrc_applied`.",
    ("range(1, model.nbody)", "range(1, 2)"),
)
_wrong(
    "one_body_only",
    "You leave out the last body: the loop must reach model.nbody - 1.",
    ("range(1, model.nbody)", "range(1, model.nbody - 1)"),
)
_wrong(
    "cartesian_as_generalized",
    "You add `xfrc_applied` entry by entry; it is Cartesian and must go through the Jacobian's "
    "transpose first.",
    _NO_CARTESIAN,
    (_TAU, _TAU + " + np.resize(data.xfrc_applied[1:].ravel(), model.nv)"),
)
_wrong(
    "sign_of_cartesian_force",
    "You subtract the Cartesian forces; they are applied forces: add them.",
    ("tau += jacp", "tau -= jacp"),
    ("+ jacr.T @ torque", "- jacr.T @ torque"),
    ("tau -= jacp.T @ force - jacr", "tau -= jacp.T @ force + jacr"),
)

_wrong(
    "force_at_world_origin",
    "You let the force act at the world's origin; `xfrc_applied` acts at the body's centre of "
    "mass, `xipos`.",
    (
        "mujoco.mj_jacBodyCom(model, data, jacp, jacr, body)",
        "mujoco.mj_jac(model, data, jacp, jacr, np.zeros(3), body)",
    ),
)
_wrong(
    "torque_in_body_axes",
    "You turn the torque by the body's frame; `xfrc_applied` is given along world axes already.",
    ("@ torque", f"@ ({_TURN} @ torque)"),
)
_wrong(
    "free_bodies_only",
    "You write a body's row into its six dofs: only a free body has them (and not even its own "
    "axes are the world's). Use the Jacobian of the centre of mass.",
    (
        _CART,
        "        joint = model.body_jntadr[body]\n"
        "        if joint >= 0 and model.jnt_type[joint] == 0:\n"
        "            first = model.jnt_dofadr[joint]\n"
        "            tau[first:first + 6] += data.xfrc_applied[body]\n",
    ),
)
_wrong(
    "gravity_twice",
    "You add gravity once more: `qfrc_bias` holds it already.",
    (_CART, _CART + "        tau += jacp.T @ (model.body_mass[body] * model.opt.gravity)\n"),
)

_right = variants(exercise)
_right(
    "by_apply_ft_and_solve_m",
    """\
def smooth_acceleration(model, data):
    tau = np.zeros(model.nv)
    for body in range(model.nbody):
        mujoco.mj_applyFT(model, data, data.xfrc_applied[body, :3], data.xfrc_applied[body, 3:],
                          data.xipos[body], body, tau)
    tau += data.qfrc_passive + data.qfrc_applied + data.qfrc_actuator - data.qfrc_bias
    acceleration = np.zeros((1, model.nv))
    mujoco.mj_solveM(model, data, acceleration, tau.reshape(1, -1))
    return acceleration.ravel()
""",
)
_right(
    "stacked_jacobians",
    """\
def smooth_acceleration(model, data):
    nv = model.nv
    J = np.zeros((model.nbody, 6, nv))
    for body in range(1, model.nbody):
        mujoco.mj_jac(model, data, J[body, :3], J[body, 3:], data.xipos[body], body)
    tau = np.einsum("bij,bi->j", J, data.xfrc_applied)
    for term, sign in (("passive", 1), ("bias", -1), ("applied", 1), ("actuator", 1)):
        tau = tau + sign * getattr(data, "qfrc_" + term)
    M = np.zeros((nv, nv))
    mujoco.mj_fullM(model, data, M)
    return list(scipy.linalg.cho_solve(scipy.linalg.cho_factor(M), tau))
""",
)
_right(
    "recomputes_bias_and_inertia",
    """\
def smooth_acceleration(model, data):
    bias = np.zeros(model.nv)
    mujoco.mj_rne(model, data, 0, bias)
    tau = data.qfrc_spring + data.qfrc_damper + data.qfrc_applied + data.qfrc_actuator - bias
    for i in np.flatnonzero(np.any(data.xfrc_applied, axis=1)):
        jp, jr = np.zeros((3, model.nv)), np.zeros((3, model.nv))
        mujoco.mj_jacBodyCom(model, data, jp, jr, int(i))
        tau = tau + data.xfrc_applied[i] @ np.vstack([jp, jr])
    M = np.eye(model.nv)
    for k in range(model.nv):
        column = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, column, np.eye(model.nv)[k])
        M[:, k] = column
    return np.linalg.inv(M) @ tau
""",
)
