"""`finite_difference_velocity`: velocities from a recorded trajectory of `qpos`."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import configuration, scene, zoo
from mjcourse.models import load

exercise = Exercise(
    "finite_difference_velocity",
    points=3,
    provides=("finite_difference_velocity",),
    uses=("joint_layout", "quat_velocity"),
)


@exercise.reference
def reference():
    def finite_difference_velocity(model, qpos_traj, dt):
        velocities = np.zeros((len(qpos_traj) - 1, model.nv))
        for row, before, after in zip(velocities, qpos_traj[:-1], qpos_traj[1:], strict=True):
            mujoco.mj_differentiatePos(model, row, dt, before, after)
        return velocities

    return {"finite_difference_velocity": finite_difference_velocity}


def trajectory(model: mujoco.MjModel, rng: np.random.Generator, rows: int, dt: float) -> np.ndarray:
    """`(rows, nq)`: a random walk on the model's configurations."""
    qpos = configuration(model, rng)
    recorded = [qpos.copy()]
    for _ in range(rows - 1):
        mujoco.mj_integratePos(model, qpos, rng.uniform(-2, 2, model.nv), dt)
        recorded.append(qpos.copy())
    return np.array(recorded)


def walk(
    model: mujoco.MjModel, label: str, seed: int, rows: int = 6, unchanged: bool = False
) -> Case:
    rng = np.random.default_rng(seed)
    dt = rng.uniform(0.03, 0.2)
    return call(
        "finite_difference_velocity",
        model,
        trajectory(model, rng, rows, dt),
        dt,
        label=label,
        compare=close(1e-9),
        unchanged=unchanged,
    )


@exercise.part("recorded walks", points=2)
def ordinary():
    return [
        walk(zoo(), "joint_zoo", 50, 12),
        walk(load("pick_place"), "pick_place", 51),
        walk(scene("h-h-b", "f", seed=52), "a ball joint below hinges", 52),
        walk(scene("h-h-s", seed=53), "no quaternion anywhere", 53),
        walk(scene("f", "f", "s", seed=54), "two free joints", 54),
    ]


@exercise.part("edge cases: one or two rows", points=1)
def edges():
    model = scene("f", "b-h", seed=55)
    return [
        walk(zoo(), "joint_zoo", 56, 9, unchanged=True),
        walk(zoo(), "two rows", 57, 2, unchanged=True),
        walk(model, "two rows", 58, 2),
        walk(zoo(), "one row", 59, 1),
        walk(model, "one row", 60, 1),
    ]


GOOD = """\
def finite_difference_velocity(model, qpos_traj, dt):
    rows = np.zeros((len(qpos_traj) - 1, model.nv))
    for t in range(len(rows)):
        mujoco.mj_differentiatePos(model, rows[t], dt, qpos_traj[t], qpos_traj[t + 1])
    return rows
"""
_wrong = exercise.slips(GOOD)
_RESULT = "return rows"
_START = "    rows = np.zeros"
_ALL = "np.zeros((len(qpos_traj) - 1, model.nv))"
_PAIR = "dt, qpos_traj[t], qpos_traj[t + 1]"

_PLAIN = (
    "You take `np.diff` of `qpos`: that has nq columns, and the four of a quaternion are no "
    "angular velocity. Call `mj_differentiatePos` for each pair of rows."
)
for _rates in (
    "np.diff(qpos_traj, axis=0) / dt",
    "np.gradient(qpos_traj, dt, axis=0)",
    "np.diff(qpos_traj, axis=0)",
    "np.diff(qpos_traj, axis=0)[:, -model.nv :] / dt",
    "(np.diff(qpos_traj, axis=0) / dt)[:, : model.nv]",
):
    _wrong("plain_difference", _PLAIN, (_RESULT, f"return {_rates}"))
for _factor in (1, 2):
    _wrong(
        "plain_difference",
        _PLAIN,
        (
            _RESULT,
            "rates = np.diff(qpos_traj, axis=0) / dt\n"
            "    joints = zip(model.jnt_type, model.jnt_qposadr)\n"
            "    w = [q + 3 * (kind == 0) for kind, q in joints if kind < 2]\n"
            "    for at in w:\n"
            f"        rates[:, at : at + 4] *= {_factor}\n"
            "    return np.delete(rates, w, axis=1)",
        ),
    )

_wrong(
    "divides_twice",
    "You divide by dt twice: `mj_differentiatePos` is given dt and has divided already.",
    (_RESULT, "return rows / dt"),
)
_wrong(
    "forgets_dt",
    "The result is not divided by dt: it is the step, not the velocity. Give dt to "
    "`mj_differentiatePos`.",
    ("dt, qpos", "1.0, qpos"),
)
_wrong(
    "multiplies_by_dt",
    "The result is multiplied by dt, or by dt too often; a velocity is a step divided by a time.",
    ("dt, qpos", "1.0, qpos"),
    (_RESULT, "return rows * dt"),
)
_wrong(
    "uses_the_models_timestep",
    "Your code divides by the model's own time step instead of the `dt` of the recording.",
    ("dt, qpos", "model.opt.timestep, qpos"),
)
_wrong(
    "half_as_large",
    "Your velocities are half as large as they should be: the time between two rows is dt.",
    (_RESULT, "return rows / 2"),
)
_wrong(
    "swapped_order",
    "Your rows have the opposite sign: the two configurations are swapped. The earlier one is "
    "`qpos1`, the later one `qpos2`.",
    (_PAIR, "dt, qpos_traj[t + 1], qpos_traj[t]"),
)
_wrong(
    "swapped_and_divided_twice",
    "Two mistakes: the configurations are swapped (the sign), and you divide by dt twice.",
    (_RESULT, "return -rows / dt"),
)
_wrong(
    "rows_reversed",
    "The rows are in reverse order of time, though each is right.",
    (_RESULT, "return rows[::-1]"),
)
for _rows in (
    "np.roll(rows, 1, axis=0)",
    "np.roll(rows, -1, axis=0)",
    "np.vstack([np.zeros(model.nv), rows])[:-1]",
):
    _wrong(
        "shifted_by_a_row",
        "Your rows are shifted by one: row t is the velocity from row t to row t + 1.",
        (_RESULT, f"return {_rows}"),
    )

for _rows in (
    "np.vstack([np.zeros(model.nv), rows])",
    "np.vstack([rows, np.zeros(model.nv)])",
    "np.vstack([rows, rows[-1:] if len(rows) else np.zeros(model.nv)])",
    "rows[:-1]",
):
    _wrong(
        "wrong_number_of_rows",
        "T rows of `qpos` have T - 1 gaps between them: your result has another number of rows (a "
        "row of zeros or a repeated one, or one gap left out).",
        (_RESULT, f"return {_rows}"),
    )
_wrong(
    "last_gap_is_zero",
    "The last row of your result stays zero: the loop ends one gap early. T rows have T - 1 gaps.",
    ("range(len(rows))", "range(len(rows) - 1)"),
)
_wrong(
    "central_differences",
    "Differences are taken over two steps (central differences); row t is asked to be the "
    "velocity from row t to row t + 1.",
    (_PAIR, "dt * (1 + (t > 0)), qpos_traj[max(t - 1, 0)], qpos_traj[t + 1]"),
)
_END = "qpos_traj[min(t + 2, len(rows))]"
_wrong(
    "central_differences",
    "Differences are taken over two steps; row t is asked to be the velocity from row t to "
    "row t + 1.",
    (_PAIR, f"2 * dt, qpos_traj[t], {_END}"),
)
_wrong(
    "pairs_two_apart",
    "Your differences reach over two intervals; row t carries row t of the trajectory to row "
    "t + 1.",
    (_PAIR, f"dt, qpos_traj[t], {_END}"),
)
_wrong(
    "always_from_the_first_row",
    "Each row is the velocity from the first row on: the earlier configuration never moves on.",
    (_PAIR, "dt, qpos_traj[0], qpos_traj[t + 1]"),
)
_wrong(
    "one_buffer_for_all_rows",
    "All rows of your result are the last one: `mj_differentiatePos` writes in place, and one "
    "buffer was appended again and again. Append a copy, or write into row t.",
    (_RESULT, "rows[:] = rows[-1:]\n    return rows"),
)

_ONE_VELOCITY = (
    "Your result is one velocity for the whole recording; one for each gap between rows is asked "
    "for."
)
for _row in (
    "rows.mean(axis=0)",
    "rows[0] if len(rows) else rows",
    "rows[-1] if len(rows) else rows",
):
    _wrong("one_velocity_for_all", _ONE_VELOCITY, (_RESULT, f"return {_row}"))
_wrong(
    "one_velocity_for_all",
    _ONE_VELOCITY,
    (_ALL, "np.zeros((1, model.nv))"),
    (_PAIR, "dt, qpos_traj[0], qpos_traj[-1]"),
    (_RESULT, "return rows[0]"),
)
for _rows in ("np.diff(rows, axis=0) / dt", "np.diff(rows, axis=0)"):
    _wrong(
        "differences_of_differences",
        "You difference twice: that is the acceleration, with one row less.",
        (_RESULT, f"return {_rows} if len(rows) else rows"),
    )
_BUFFER = (
    "Your rows have nq entries; a velocity has nv. `mj_differentiatePos` needs a buffer of nv "
    "numbers, and refuses another."
)
_wrong("buffer_of_nq_entries", _BUFFER, ("model.nv", "model.nq"))
_wrong(
    "buffer_of_nq_entries",
    _BUFFER,
    (_RESULT, "return np.hstack([rows, np.zeros((len(rows), model.nq - model.nv))])"),
)

_ONE_ROW = (
    "For a single row your result has not the shape (0, nv): no gap, no rows, but nv columns all "
    "the same (`np.zeros((T - 1, model.nv))`)."
)
_wrong("one_row", _ONE_ROW, (_RESULT, "return np.array(list(rows))"))
_wrong("one_row", _ONE_ROW, (_RESULT, "return np.stack(list(rows))"))
for _answer in (
    "return np.zeros((1, model.nv))",
    "return np.zeros((0, model.nq))",
    "return np.zeros(model.nv)",
    "return []",
    "return np.array([[]])",
    'raise ValueError("one row")',
):
    _wrong(
        "one_row",
        _ONE_ROW,
        (_START, f"    if len(qpos_traj) < 2:\n        {_answer}\n{_START}"),
    )
for _rows in ("rows.squeeze()", "rows[0] if len(rows) == 1 else rows"):
    _wrong(
        "squeezed",
        "For two rows your result loses an axis: the shape is (1, nv) there, not (nv,).",
        (_RESULT, f"return {_rows}"),
    )
_wrong(
    "flat",
    "Your result is one long row; a row for each gap is asked for, (T - 1, nv).",
    (_RESULT, "return rows.ravel()"),
)
_wrong(
    "transposed",
    "Your result is transposed: (nv, T - 1). A row for each gap is asked for, (T - 1, nv).",
    (_RESULT, "return rows.T"),
)
_wrong(
    "changes_the_trajectory",
    "The trajectory that was given is changed by your code; leave inputs as they are.",
    (_RESULT, "qpos_traj[:-1] = 0\n    return rows"),
)


@exercise.misconception(
    "Angular velocities come out in the world frame; `qvel` holds them in the body's frame."
)
def world_frame():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
            for kind, q, v in zip(model.jnt_type, model.jnt_qposadr, model.jnt_dofadr):
                if kind < 2:
                    q, v = q + 3 * (kind == 0), v + 3 * (kind == 0)
                    w = np.zeros(3)
                    mujoco.mju_rotVecQuat(w, out[t, v : v + 3].copy(), qpos_traj[t, q : q + 4])
                    out[t, v : v + 3] = w
        return out


@exercise.variant("rows stacked, a guard for a single row")
def stacked():
    def finite_difference_velocity(model, qpos_traj, dt):
        def one(a, b):
            v = np.empty(model.nv)
            mujoco.mj_differentiatePos(model, v, dt, a, b)
            return v

        rows = [one(a, b) for a, b in zip(qpos_traj[:-1], qpos_traj[1:])]
        return np.array(rows).reshape(-1, model.nv)


@exercise.variant("by hand, with SciPy's rotations, all rows at once")
def with_scipy():
    from scipy.spatial.transform import Rotation

    def finite_difference_velocity(model, qpos_traj, dt):
        steps = np.asarray(qpos_traj)
        T = len(steps)
        out = np.empty((T - 1, model.nv))
        if T == 1:
            return out
        for j in range(model.njnt):
            q, v, kind = model.jnt_qposadr[j], model.jnt_dofadr[j], model.jnt_type[j]
            if kind == 0:
                out[:, v : v + 3] = np.diff(steps[:, q : q + 3], axis=0) / dt
                q, v = q + 3, v + 3
            if kind < 2:
                R = Rotation.from_quat(steps[:, q : q + 4], scalar_first=True)
                out[:, v : v + 3] = (R[:-1].inv() * R[1:]).as_rotvec() / dt
            else:
                out[:, v] = np.diff(steps[:, q]) / dt
        return out


@exercise.variant("a unit step, divided once")
def divided_once():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((qpos_traj.shape[0] - 1, model.nv))
        t = 0
        while t < out.shape[0]:
            mujoco.mj_differentiatePos(model, out[t], 1, qpos_traj[t], qpos_traj[t + 1])
            t += 1
        out /= dt
        return out


@exercise.variant("filled from the end, swapped and negated")
def swapped_and_negated():
    def finite_difference_velocity(model, qpos_traj, dt):
        n = qpos_traj.shape[0] - 1
        out = np.full((n, model.nv), np.nan)
        for t in reversed(range(n)):
            buffer = np.zeros((model.nv, 1))
            mujoco.mj_differentiatePos(model, buffer, -dt, qpos_traj[t + 1], qpos_traj[t])
            out[t] = buffer.ravel()
        return out
