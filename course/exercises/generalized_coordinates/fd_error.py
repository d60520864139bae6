"""`fd_error`: how far finite differences are from the velocity at the start of an interval."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Exercise, answer
from course.exercises.generalized_coordinates.scenes import zoo
from course.exercises.implementation import with_helpers
from mjcourse.models import load


def tumbled():
    model = load("joint_zoo")
    data = mujoco.MjData(model)
    data.qvel[3:6] = 0.5, 1.0, 2.0
    recorded = [(data.qpos.copy(), data.qvel.copy())]
    for _ in range(500):
        mujoco.mj_step(model, data)
        recorded.append((data.qpos.copy(), data.qvel.copy()))
    return model, recorded


exercise = Exercise(
    "fd_error",
    points=2,
    provides=("error_2ms", "error_20ms"),
    manual_points=2,
    helpers=(tumbled,),
)


def tumble() -> tuple[mujoco.MjModel, np.ndarray, np.ndarray]:
    """The box of the lesson over 1 s: the model, `qpos` `(501, nq)`, `qvel` `(501, nv)`."""
    model = zoo()
    data = mujoco.MjData(model)
    data.qvel[3:6] = 0.5, 1.0, 2.0
    qpos, qvel = [data.qpos.copy()], [data.qvel.copy()]
    for _ in range(500):
        mujoco.mj_step(model, data)
        qpos.append(data.qpos.copy())
        qvel.append(data.qvel.copy())
    return model, np.array(qpos), np.array(qvel)


def angular_errors(stride: int, *, against: int = 0) -> np.ndarray:
    """Errors `(T, 3)` in rad/s of differences over `stride` steps.

    Args:
      against: 0 for the simulated velocity at the start of an interval, 1 for that at its end.
    """
    model, qpos, qvel = tumble()
    qpos, qvel = qpos[::stride], qvel[::stride]
    estimate = np.zeros(model.nv)
    rows = []
    for t in range(len(qpos) - 1):
        dt = model.opt.timestep * stride
        mujoco.mj_differentiatePos(model, estimate, dt, qpos[t], qpos[t + 1])
        rows.append((estimate - qvel[t + against])[3:6])
    return np.array(rows)


@exercise.reference
def reference():
    return {
        "error_2ms": float(np.abs(angular_errors(1)).max()),
        "error_20ms": float(np.abs(angular_errors(10)).max()),
    }


@exercise.part("over one step", points=1)
def one_step():
    return [answer("error_2ms", compare=close(atol=0.0, rtol=0.05))]


@exercise.part("over ten steps", points=1)
def ten_steps():
    return [answer("error_20ms", compare=close(atol=0.0, rtol=0.05))]


GOOD = """\
model, recorded = tumbled()


def error(stride):
    rows = []
    for (q1, v1), (q2, v2) in zip(recorded[::stride], recorded[stride::stride]):
        v = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, v, 0.002 * stride, q1, q2)
        rows.append((v - v1)[3:6])
    return np.abs(rows).max()


error_2ms, error_20ms = error(1), error(10)
"""
_wrong = exercise.slips(with_helpers(GOOD, exercise.helpers))
_LARGEST = "np.abs(rows).max()"

_wrong(
    "against_the_end",
    "You compared with `qvel` at the end of each interval. A step of `mj_step` moves `qpos` with "
    "the new velocity, so there the difference over one step is exact (1e-13); the question is "
    "about the velocity at the start.",
    ("v - v1", "v - v2"),
)
_wrong(
    "plain_differences",
    "You took plain differences of the quaternion: their vector part is about half the angular "
    "velocity, so the error is about half of 2 rad/s. Use `mj_differentiatePos`.",
    ("(v - v1)[3:6]", "(q2 - q1)[4:7] / (0.002 * stride) - v1[3:6]"),
)
_wrong(
    "divides_by_one_step",
    "You divide the step over ten intervals by 2 ms: ten steps of 2 ms last 20 ms.",
    ("0.002 * stride", "0.002"),
)
_wrong(
    "swapped",
    "The two answers are swapped: the longer interval has the larger error.",
    ("error(1), error(10)", "error(10), error(1)"),
)
for _measure, _entries in (
    ("np.sqrt(np.mean(np.square(rows)))", "[3:6]"),
    ("np.mean(np.abs(rows))", "[3:6]"),
    ("np.mean(np.abs(rows))", ""),
):
    _wrong(
        "another_measure",
        "Your figure is another measure of the error (a mean, a root mean square, the last value). "
        "Asked for is the largest absolute error of any of the three components.",
        (_LARGEST, _measure),
        ("(v - v1)[3:6]", f"(v - v1){_entries}"),
    )
_wrong(
    "degrees",
    "Your figures are in degrees a second; rad/s is asked for.",
    (_LARGEST, f"np.degrees({_LARGEST})"),
)

_TEN = (
    "Your error over 20 ms is ten times that over 2 ms: guessed, or simulated with a time step of "
    "20 ms. Keep the 2 ms of the model and take every tenth row: over one step the difference is "
    "the velocity at the end, a whole step late; over ten it is a mean, about half of ten late."
)
_wrong("ten_times", _TEN, ("error(1), error(10)", "error(1), 10 * error(1)"))


@exercise.misconception(_TEN, id="ten_times")
def larger_time_step():
    def error(timestep):
        model = load("joint_zoo")
        model.opt.timestep = timestep
        data = mujoco.MjData(model)
        data.qvel[3:6] = 0.5, 1.0, 2.0
        worst, v = 0.0, np.zeros(model.nv)
        for _ in range(round(1 / timestep)):
            before, rate = data.qpos.copy(), data.qvel.copy()
            mujoco.mj_step(model, data)
            mujoco.mj_differentiatePos(model, v, timestep, before, data.qpos)
            worst = max(worst, np.abs(v - rate)[3:6].max())
        return worst

    error_2ms, error_20ms = error(0.002), error(0.02)


@exercise.misconception(
    "An error of zero is not what comes out: the velocity changes during the interval, and the "
    "difference does not give the one at its start."
)
def zero():
    error_2ms = error_20ms = 0.0


@exercise.variant("typed as read from the table, to three figures")
def typed():
    error_2ms = 0.00298
    error_20ms = np.float64(0.0164)


@exercise.variant("from the velocities alone, for one step")
def from_the_velocities():
    model = load("joint_zoo")
    data = mujoco.MjData(model)
    data.qvel[3:6] = 0.5, 1.0, 2.0
    rates, poses = [data.qvel[3:6].copy()], [data.qpos[3:7].copy()]
    for _ in range(500):
        mujoco.mj_step(model, data)
        rates.append(data.qvel[3:6].copy())
        poses.append(data.qpos[3:7].copy())
    error_2ms = np.abs(np.diff(rates, axis=0)).max()
    worst = []
    for k in range(0, 500, 10):
        v = np.zeros(3)
        mujoco.mju_subQuat(v, poses[k + 10], poses[k])
        worst.append(np.max(np.abs(v / 0.02 - rates[k])))
    error_20ms = max(worst)


@exercise.variant("with SciPy's rotations")
def with_scipy():
    from scipy.spatial.transform import Rotation

    model = load("joint_zoo")
    data = mujoco.MjData(model)
    data.qvel[3:6] = 0.5, 1.0, 2.0
    states = np.zeros((501, 7))
    states[0] = np.r_[data.qpos[3:7], data.qvel[3:6]]
    for k in range(1, 501):
        mujoco.mj_step(model, data)
        states[k] = np.r_[data.qpos[3:7], data.qvel[3:6]]
    found = []
    for n in (1, 10):
        R = Rotation.from_quat(states[::n, :4], scalar_first=True)
        rate = (R[:-1].inv() * R[1:]).as_rotvec() / (0.002 * n)
        found.append(float(np.abs(rate - states[:-1:n, 4:]).max()))
    error_2ms, error_20ms = found
