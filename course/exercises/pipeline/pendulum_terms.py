"""`pendulum_terms`: inertia and bias of the simplest mechanism."""

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import numbers, scene, variants

exercise = Exercise("pendulum_terms", points=2, provides=("pendulum_terms",))


@exercise.reference
def reference():
    def pendulum_terms(theta, length, mass, gravity):
        model = scene("pendulum")
        bob = model.body("bob").id
        model.body_ipos[bob] = (0, 0, -length)
        model.body_mass[bob] = mass
        model.body_inertia[bob] = 1e-15
        model.opt.gravity[:] = (0, 0, -gravity)
        data = mujoco.MjData(model)
        data.qpos[0] = theta
        mujoco.mj_forward(model, data)
        inertia = np.empty((1, 1))
        mujoco.mj_fullM(model, data, inertia)
        return float(inertia[0, 0]), float(data.qfrc_bias[0])

    return {"pendulum_terms": pendulum_terms}


def _entry(k):
    """Look at the inertia (0) or the bias (1) alone, so that a mistake in either is recognised."""

    def observe(outcome):
        value = numbers(outcome)
        return value[k] if isinstance(value, list) and len(value) == 2 else value

    return observe


def _case(theta, length, mass, gravity, label=""):
    args = (float(theta), float(length), float(mass), float(gravity))
    for k, name in enumerate(("M", "c")):
        told = f"{name}, {label}" if label else name
        yield call("pendulum_terms", *args, label=told, observe=_entry(k))


def _random(seed, count):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield from _case(
            rng.uniform(-3, 3), rng.uniform(0.2, 1.8), rng.uniform(0.3, 3), rng.uniform(1.5, 12)
        )


@exercise.part("any angle, any pendulum", points=1)
def ordinary():
    return [*_random(1, 25), *_case(0.7, 0.6, 0.8, 9.81, "the pendulum of the lesson")]


@exercise.part("edge cases: hanging, upright, level", points=1)
def edge():
    return [
        *_random(2, 3),
        *_case(0, 0.6, 0.8, 9.81, "hanging, theta = 0"),
        *_case(np.pi, 0.6, 0.8, 9.81, "upright, theta = pi"),
        *_case(np.pi / 2, 1.4, 0.5, 9.81, "level"),
        *_case(-np.pi / 2, 1.4, 0.5, 9.81, "level on the other side"),
        *_case(1.1, 0.5, 2, 0, "no gravity"),
        *_case(7.5, 0.5, 2, 3.7, "more than a turn"),
    ]


GOOD = """\
def pendulum_terms(theta, length, mass, gravity):
    M = mass * length**2
    c = mass * gravity * length * np.sin(theta)
    return M, c
"""
_wrong = exercise.slips(GOOD)
_wrong(
    "sign_of_c",
    "The sign of your `c` is that of the torque of gravity. The bias stands on the other side of "
    "`M a + c = tau`: c = +m g l sin(theta).",
    ("c = mass", "c = -mass"),
)
_wrong(
    "inertia_m_l",
    "Your inertia is m l; a point mass at distance l has m l^2.",
    ("length**2", "length"),
)
_COSINE = (
    "cosine",
    "You take the cosine. With theta = 0 hanging straight down, the lever arm is l sin(theta).",
)
_wrong(*_COSINE, ("np.sin", "np.cos"))
_ROD_INERTIA = (
    "rod_inertia",
    "m l^2 / 3 is a uniform rod about its end; here all mass sits at the tip: m l^2.",
)
_wrong(*_ROD_INERTIA, ("length**2", "length**2 / 3"))
_wrong(*_ROD_INERTIA, ("length**2", "length**2 / 12"))
_wrong(
    "half_lever",
    "Your `c` has the mass half-way along the rod; here it sits at the tip, at distance l.",
    ("length * np.sin", "length / 2 * np.sin"),
)
_wrong(
    "no_length_in_c",
    "Your `c` is a force, m g sin(theta); the torque about the hinge has the lever arm l too.",
    ("gravity * length *", "gravity *"),
)
_wrong(
    "small_angle",
    "sin(theta) is not theta: the small-angle formula fails away from hanging.",
    ("np.sin(theta)", "theta"),
)
_wrong(
    "degrees",
    "Angles are in radians: do not convert theta.",
    ("np.sin(theta)", "np.sin(np.radians(theta))"),
)
_wrong("swapped", "Your two values are exchanged: return (M, c).", ("return M, c", "return c, M"))
_wrong(
    "no_mass_in_c",
    "Your `c` is an acceleration times a length; the torque of gravity has the mass in it.",
    ("mass * gravity", "gravity"),
)
_wrong(
    "acceleration",
    "Your second value is c / M, an acceleration; the bias is the torque m g l sin(theta).",
    ("return M, c", "return M, c / M"),
)
_wrong(
    "fixed_gravity",
    "You use 9.81 m/s^2 instead of the gravity that is given.",
    ("mass * gravity", "mass * 9.81"),
)
_wrong(
    "inertia_without_mass", "Your inertia lacks the mass: m l^2.", ("mass * length**2", "length**2")
)
_wrong(
    "mass_squared",
    "Square the length, not the mass: m l^2.",
    ("mass * length**2", "mass**2 * length"),
)

_wrong(
    "length_squared_in_c",
    "Your `c` has l^2; the torque of gravity is force times lever arm, m g l sin(theta).",
    ("gravity * length", "gravity * length**2"),
)
_wrong(*_COSINE, ("c = mass", "c = -mass"), ("np.sin", "np.cos"))
_wrong(
    "potential_energy",
    "Your `c` is the potential energy; the bias is its derivative, m g l sin(theta).",
    ("np.sin(theta)", "(1 - np.cos(theta))"),
)
_wrong(
    "sign_of_gravity",
    "`gravity` is given as a positive number; you turn its sign once more.",
    ("M = mass * length**2", "M = mass * length**2\n    gravity = -abs(gravity)"),
)

_wrong(
    "a_rod",
    "These are the terms of a uniform rod; here the whole mass sits at the distance `length`.",
    ("M = mass * length**2", "M = mass * length**2 / 3"),
    ("c = mass * gravity * length", "c = mass * gravity * length / 2"),
)

_right = variants(exercise)
_right(
    "by_lambda",
    "pendulum_terms = lambda theta, length, mass, gravity: (mass * length * length,"
    " -mass * -gravity * length * np.cos(np.pi / 2 - theta))\n",
)
_right(
    "from_energies",
    """\
def pendulum_terms(theta, length, mass, gravity):
    # kinetic energy at unit speed is M / 2; the bias is the gradient of the potential
    kinetic = 0.5 * mass * (length * 1.0) ** 2
    z = 1j
    slope = (np.exp(z * theta)).imag
    return np.array([2 * kinetic, mass * gravity * length * slope])
""",
)
_right(
    "as_arrays",
    """\
from math import sin

def pendulum_terms(theta, length, mass, gravity):
    J = np.array([[length * np.cos(theta)], [length * np.sin(theta)]])
    M = J.T @ (mass * np.eye(2)) @ J
    force = np.array([0.0, -mass * gravity])
    return [M, -(J.T @ force)]
""",
)
