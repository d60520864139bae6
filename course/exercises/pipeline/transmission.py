"""`transmission`: actuator forces to generalized forces, velocities back, and equal power."""

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import disturbed, scene, variants

exercise = Exercise(
    "transmission",
    points=2,
    provides=("actuator_generalized_force", "transmission_velocity"),
    core=True,
)


@exercise.reference
def reference():
    def actuator_generalized_force(moment, force):
        return np.einsum("ij,i->j", moment, force)

    def transmission_velocity(moment, qvel):
        return np.einsum("ij,j->i", moment, qvel)

    return {
        "actuator_generalized_force": actuator_generalized_force,
        "transmission_velocity": transmission_velocity,
    }


def _pairs(seed, shapes):
    """For each shape (nu, nv) one case of either function, inputs to be left as they were."""
    rng = np.random.default_rng(seed)
    cases = []
    for nu, nv in shapes:
        P = rng.normal(size=(nu, nv))
        label = f"{nu} actuator{'s' * (nu > 1)}, {nv} dof{'s' * (nv > 1)}"
        force, qvel = rng.normal(size=nu), rng.normal(size=nv)
        cases.append(call("actuator_generalized_force", P, force, label=label, unchanged=True))
        cases.append(call("transmission_velocity", P, qvel, label=label, unchanged=True))
    return cases


def _from_mujoco(name, seed):
    """MuJoCo's own moment, forces and velocities of a scene; the values are MuJoCo's too."""
    model = scene(name)
    data = disturbed(model, seed)
    mujoco.mj_forward(model, data)
    P = np.zeros((model.nu, model.nv))
    mujoco.mju_sparse2dense(
        P, data.actuator_moment, data.moment_rownnz, data.moment_rowadr, data.moment_colind
    )
    force = data.actuator_force.copy()
    return [
        call("actuator_generalized_force", P, force, label=name, expected=P.T @ force),
        call(
            "transmission_velocity",
            P,
            data.qvel.copy(),
            label=name,
            expected=data.actuator_velocity.copy(),
        ),
    ]


@exercise.part("as many actuators as dofs", points=1)
def square():
    worked = np.array([[1.0, 0.0], [0.5, 1.0]])
    force, qvel = np.array([4.0, -2.0]), np.array([1.0, -0.5])
    return [
        call("actuator_generalized_force", worked, force, label="the worked example"),
        call("transmission_velocity", worked, qvel, label="the worked example"),
        *_pairs(1, [(2, 2), (3, 3), (4, 4), (6, 6), (1, 1)]),
    ]


@exercise.part("more actuators than dofs, or fewer", points=1)
def oblong():
    shapes = [(2, 2), (3, 2), (5, 3), (2, 4), (1, 6), (4, 1), (7, 2)]
    return [*_pairs(2, shapes), *_from_mujoco("mobile", 5), *_from_mujoco("servo_arm", 6)]


GOOD = """\
def actuator_generalized_force(moment, force):
    return moment.T @ force


def transmission_velocity(moment, qvel):
    return moment @ qvel
"""
_wrong = exercise.slips(GOOD)
_wrong(
    "p_times_f",
    "You multiply the force by P; each row of P belongs to an actuator, so the generalized force "
    "is P^T f (then the power (P v) . f is v . P^T f).",
    ("moment.T @ force", "moment @ force"),
)
_wrong(
    "transposed_velocity",
    "You multiply the velocity by P^T; the transmission velocity is P v: lengths change with the "
    "joints, rows are actuators.",
    ("moment @ qvel", "moment.T @ qvel"),
)
_wrong(
    "both_transposed",
    "Both are transposed: forces go with P^T, velocities with P.",
    ("moment.T @ force", "moment @ force"),
    ("moment @ qvel", "moment.T @ qvel"),
)
_wrong(
    "inverse_instead_of_transpose",
    "You use the inverse (or pseudo-inverse) of P. Forces map by the transpose: that is what keeps "
    "the power the same on both sides.",
    ("moment.T @ force", "np.linalg.pinv(moment) @ force"),
)
_wrong(
    "elementwise",
    "You multiply entry by entry; a sum over the actuators (or dofs) is missing.",
    ("moment.T @ force", "(moment.T * force)"),
    ("moment @ qvel", "(moment * qvel)"),
)
_wrong(
    "diagonal_only",
    "You take only the diagonal of P: an actuator may push several dofs.",
    ("moment.T @ force", "np.diag(moment) * force"),
    ("moment @ qvel", "np.diag(moment) * qvel"),
)

_right = variants(exercise)
_right(
    "row_vector",
    """\
actuator_generalized_force = lambda moment, force: force @ moment
transmission_velocity = lambda moment, qvel: qvel @ moment.T
""",
)
_right(
    "by_loops",
    """\
def actuator_generalized_force(moment, force):
    total = [0.0] * len(moment[0])
    for row, f in zip(moment, force):
        for j, arm in enumerate(row):
            total[j] += arm * f
    return total

def transmission_velocity(moment, qvel):
    return tuple(sum(a * v for a, v in zip(row, qvel)) for row in moment)
""",
)
_right(
    "by_mujoco",
    """\
def actuator_generalized_force(moment, force):
    result = np.zeros(np.shape(moment)[1])
    mujoco.mju_mulMatTVec(result, np.ascontiguousarray(moment, dtype=float), np.array(force, float))
    return result

def transmission_velocity(moment, qvel):
    return np.dot(np.asarray(moment), np.asarray(qvel).reshape(-1, 1)).ravel()
""",
)
