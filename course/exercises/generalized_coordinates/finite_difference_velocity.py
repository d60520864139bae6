"""`finite_difference_velocity`: velocities from a recorded trajectory of `qpos`."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import configuration, scene, zoo
from course.exercises.implementation import Implementation
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


_DIFF = (
    "You take `np.diff` of `qpos`: that has nq columns, and the four of a quaternion are no "
    "angular velocity. Call `mj_differentiatePos` for each pair of rows."
)


@exercise.misconception(_DIFF, id="plain_difference")
def plain_difference():
    def finite_difference_velocity(model, qpos_traj, dt):
        return np.diff(qpos_traj, axis=0) / dt


@exercise.misconception(_DIFF, id="plain_difference")
def plain_gradient():
    def finite_difference_velocity(model, qpos_traj, dt):
        return np.gradient(qpos_traj, dt, axis=0)


@exercise.misconception(_DIFF, id="plain_difference")
def plain_difference_without_dt():
    def finite_difference_velocity(model, qpos_traj, dt):
        return np.diff(qpos_traj, axis=0)


@exercise.misconception(_DIFF, id="plain_difference")
def plain_difference_of_the_last_columns():
    def finite_difference_velocity(model, qpos_traj, dt):
        return np.diff(qpos_traj, axis=0)[:, -model.nv :] / dt


@exercise.misconception(_DIFF, id="plain_difference")
def plain_difference_cut_to_nv():
    def finite_difference_velocity(model, qpos_traj, dt):
        return (np.diff(qpos_traj, axis=0) / dt)[:, : model.nv]


@exercise.misconception(_DIFF, id="plain_difference")
def plain_difference_without_w():
    def finite_difference_velocity(model, qpos_traj, dt):
        rates = np.diff(qpos_traj, axis=0) / dt
        drop = []
        for j in range(model.njnt):
            if model.jnt_type[j] == 0:
                drop.append(model.jnt_qposadr[j] + 3)
            elif model.jnt_type[j] == 1:
                drop.append(model.jnt_qposadr[j])
        return np.delete(rates, drop, axis=1)


@exercise.misconception(_DIFF, id="plain_difference")
def twice_the_plain_difference():
    def finite_difference_velocity(model, qpos_traj, dt):
        rates = np.diff(qpos_traj, axis=0) / dt
        drop = []
        for j in range(model.njnt):
            if model.jnt_type[j] == 0:
                at = model.jnt_qposadr[j] + 3
            elif model.jnt_type[j] == 1:
                at = model.jnt_qposadr[j]
            else:
                continue
            rates[:, at : at + 4] *= 2
            drop.append(at)
        return np.delete(rates, drop, axis=1)


@exercise.misconception(
    "You divide by dt twice: `mj_differentiatePos` is given dt and has divided already."
)
def divides_twice():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out / dt


@exercise.misconception(
    "The result is not divided by dt: it is the step, not the velocity. Give dt to "
    "`mj_differentiatePos`."
)
def forgets_dt():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], 1.0, qpos_traj[t], qpos_traj[t + 1])
        return out


@exercise.misconception(
    "The result is multiplied by dt, or by dt too often; a velocity is a step divided by a time."
)
def multiplies_by_dt():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], 1.0, qpos_traj[t], qpos_traj[t + 1])
        return out * dt


@exercise.misconception(
    "Your rows have the opposite sign: the two configurations are swapped. The earlier one is "
    "`qpos1`, the later one `qpos2`."
)
def swapped_order():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t + 1], qpos_traj[t])
        return out


@exercise.misconception(
    "The rows are in reverse order of time, though each is right.",
)
def rows_reversed():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out[::-1]


@exercise.misconception(
    "Your code divides by the model's own time step instead of the `dt` of the recording."
)
def uses_the_models_timestep():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            step = model.opt.timestep
            mujoco.mj_differentiatePos(model, out[t], step, qpos_traj[t], qpos_traj[t + 1])
        return out


_ROWS = (
    "T rows of `qpos` have T - 1 gaps between them: your result has another number of rows (a row "
    "of zeros or a repeated one, or one gap left out)."
)


@exercise.misconception(_ROWS, id="wrong_number_of_rows")
def a_row_of_zeros_first():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj), model.nv))
        for t in range(1, len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t - 1], qpos_traj[t])
        return out


@exercise.misconception(_ROWS, id="wrong_number_of_rows")
def a_row_of_zeros_last():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj), model.nv))
        for t in range(len(out) - 1):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out


@exercise.misconception(_ROWS, id="wrong_number_of_rows")
def last_row_repeated():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj), model.nv))
        for t in range(len(out) - 1):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        if len(out) > 1:
            out[-1] = out[-2]
        return out


@exercise.misconception(_ROWS, id="wrong_number_of_rows")
def one_gap_left_out():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((max(len(qpos_traj) - 2, 0), model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out


@exercise.misconception(
    "The last row of your result stays zero: the loop ends one gap early. T rows have T - 1 gaps."
)
def last_gap_is_zero():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out) - 1):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out


@exercise.misconception(
    "Differences are taken over two steps (central differences); row t is asked to be the "
    "velocity from row t to row t + 1."
)
def central_differences():
    def finite_difference_velocity(model, qpos_traj, dt):
        n = len(qpos_traj) - 1
        out = np.zeros((n, model.nv))
        for t in range(n):
            a, b = max(t - 1, 0), t + 1
            step = dt * (b - a)
            mujoco.mj_differentiatePos(model, out[t], step, qpos_traj[a], qpos_traj[b])
        return out


@exercise.misconception(
    "Each row is the velocity from the first row on: the earlier configuration never moves on."
)
def always_from_the_first_row():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[0], qpos_traj[t + 1])
        return out


@exercise.misconception(
    "All rows of your result are the last one: `mj_differentiatePos` writes in place, and one "
    "buffer was appended again and again. Append a copy, or write into row t."
)
def one_buffer_for_all_rows():
    def finite_difference_velocity(model, qpos_traj, dt):
        v = np.zeros(model.nv)
        rows = []
        for t in range(len(qpos_traj) - 1):
            mujoco.mj_differentiatePos(model, v, dt, qpos_traj[t], qpos_traj[t + 1])
            rows.append(v)
        return np.array(rows).reshape(-1, model.nv)


_ONE_ROW = (
    "For a single row your result has not the shape (0, nv): no gap, no rows, but nv columns all "
    "the same (`np.zeros((T - 1, model.nv))`)."
)


@exercise.misconception(_ONE_ROW, id="one_row")
def one_row_gives_an_empty_list():
    def finite_difference_velocity(model, qpos_traj, dt):
        rows = []
        for t in range(len(qpos_traj) - 1):
            v = np.zeros(model.nv)
            mujoco.mj_differentiatePos(model, v, dt, qpos_traj[t], qpos_traj[t + 1])
            rows.append(v)
        return np.array(rows)


@exercise.misconception(_ONE_ROW, id="one_row")
def one_row_raises():
    def finite_difference_velocity(model, qpos_traj, dt):
        rows = []
        for t in range(len(qpos_traj) - 1):
            v = np.zeros(model.nv)
            mujoco.mj_differentiatePos(model, v, dt, qpos_traj[t], qpos_traj[t + 1])
            rows.append(v)
        return np.stack(rows)


@exercise.misconception(_ONE_ROW, id="one_row")
def one_row_gives_a_row_of_zeros():
    def finite_difference_velocity(model, qpos_traj, dt):
        if len(qpos_traj) < 2:
            return np.zeros((1, model.nv))
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out


@exercise.misconception(_ONE_ROW, id="one_row")
def one_row_gives_nq_columns():
    def finite_difference_velocity(model, qpos_traj, dt):
        if len(qpos_traj) < 2:
            return np.zeros((0, model.nq))
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out


@exercise.misconception(
    "Your result is transposed: (nv, T - 1). A row for each gap is asked for, (T - 1, nv)."
)
def transposed():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
        return out.T


@exercise.misconception(
    "Angular velocities come out in the world frame; `qvel` holds them in the body's frame."
)
def world_frame():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
            for j in range(model.njnt):
                if model.jnt_type[j] < 2:
                    q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
                    if model.jnt_type[j] == 0:
                        q, v = q + 3, v + 3
                    w = np.zeros(3)
                    mujoco.mju_rotVecQuat(w, out[t, v : v + 3].copy(), qpos_traj[t, q : q + 4])
                    out[t, v : v + 3] = w
        return out


@exercise.misconception(
    "The trajectory that was given is changed by your code; leave inputs as they are."
)
def changes_the_trajectory():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[t + 1])
            qpos_traj[t] = 0
        return out


# More mistakes: the right rows, of which something else is returned.
CELL = """\
def finite_difference_velocity(model, qpos_traj, dt):
    {first}
    rows = np.zeros((len(qpos_traj) - 1, model.nv))
    for t in range(len(rows)):
        mujoco.mj_differentiatePos(model, rows[t], dt, qpos_traj[t], qpos_traj[t + 1])
    return {result}
"""


def _mistake(id: str, text: str, *results: str, first: str = "pass") -> None:
    for result in results:
        cell = CELL.format(first=first, result=result)
        exercise.misconceptions.append(Implementation(id, text, cell))


_mistake(
    "buffer_of_nq_entries",
    "Your rows have nq entries; a velocity has nv. `mj_differentiatePos` needs a buffer of nv "
    "numbers, and refuses another.",
    "np.hstack([rows, np.zeros((len(rows), model.nq - model.nv))])",
)
exercise.misconceptions.append(
    Implementation(
        "buffer_of_nq_entries",
        exercise.misconceptions[-1].text,
        CELL.format(first="pass", result="rows").replace("model.nv))", "model.nq))"),
    )
)
_mistake(
    "one_velocity_for_all",
    "Your result is one velocity for the whole recording; one for each gap between rows is asked "
    "for.",
    "rows.mean(axis=0)",
    "rows[0] if len(rows) else rows",
    "rows[-1] if len(rows) else rows",
)
exercise.misconceptions.append(
    Implementation(
        "one_velocity_for_all",
        exercise.misconceptions[-1].text,
        """\
def finite_difference_velocity(model, qpos_traj, dt):
    v = np.zeros(model.nv)
    mujoco.mj_differentiatePos(model, v, dt, qpos_traj[0], qpos_traj[-1])
    return v
""",
    )
)
_mistake(
    "differences_of_differences",
    "You difference twice: that is the acceleration, with one row less.",
    "np.diff(rows, axis=0) / dt if len(rows) else rows",
    "np.diff(rows, axis=0) if len(rows) else rows",
)
_mistake(
    "swapped_and_divided_twice",
    "Two mistakes: the configurations are swapped (the sign), and you divide by dt twice.",
    "-rows / dt",
)
_mistake("one_row", _ONE_ROW, "rows", first="if len(qpos_traj) < 2: return np.zeros(model.nv)")
_mistake("one_row", _ONE_ROW, "rows", first="if len(qpos_traj) < 2: return []")
_mistake("one_row", _ONE_ROW, "rows", first="if len(qpos_traj) < 2: return np.array([[]])")
_mistake("one_row", _ONE_ROW, "rows", first='if len(qpos_traj) < 2: raise ValueError("one row")')
_mistake(
    "squeezed",
    "For two rows your result loses an axis: the shape is (1, nv) there, not (nv,).",
    "rows.squeeze()",
    "rows[0] if len(rows) == 1 else rows",
)
_mistake(
    "shifted_by_a_row",
    "Your rows are shifted by one: row t is the velocity from row t to row t + 1.",
    "np.roll(rows, 1, axis=0)",
    "np.roll(rows, -1, axis=0)",
    "np.vstack([np.zeros(model.nv), rows])[:-1]",
)
_mistake(
    "half_as_large",
    "Your velocities are half as large as they should be: the time between two rows is dt.",
    "rows / 2",
)
_mistake(
    "flat",
    "Your result is one long row; a row for each gap is asked for, (T - 1, nv).",
    "rows.ravel()",
)
exercise.misconceptions.append(
    Implementation(
        "central_differences",
        "Differences are taken over two steps; row t is asked to be the velocity from row t to "
        "row t + 1.",
        CELL.format(first="last = len(qpos_traj) - 1", result="rows")
        .replace("rows[t], dt,", "rows[t], 2 * dt,")
        .replace("qpos_traj[t + 1]", "qpos_traj[min(t + 2, last)]"),
    )
)


@exercise.misconception(
    "Your differences reach over two intervals; row t carries row t of the trajectory to row t + 1."
)
def pairs_two_apart():
    def finite_difference_velocity(model, qpos_traj, dt):
        out = np.zeros((len(qpos_traj) - 1, model.nv))
        for t in range(len(out)):
            end = min(t + 2, len(out))
            mujoco.mj_differentiatePos(model, out[t], dt, qpos_traj[t], qpos_traj[end])
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
