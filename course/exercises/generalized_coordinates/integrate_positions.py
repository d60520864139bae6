"""`integrate_positions`: carry a whole `qpos` along a `qvel`, joint by joint."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import canonical, configuration, scene, zoo
from course.grading.door import Outcome
from mjcourse.models import load


def turn(q, phi):
    angle = np.linalg.norm(phi)
    if angle < 1e-15:
        return q
    w, x, y, z = q
    left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return left @ np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]


exercise = Exercise(
    "integrate_positions",
    points=4,
    provides=("integrate_positions",),
    by_hand=True,
    uses=("joint_layout", "integrate_quat"),
    helpers=(turn,),
)


@exercise.reference
def reference():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        mujoco.mj_integratePos(model, out, np.array(qvel, float), float(dt))
        return out

    return {"integrate_positions": integrate_positions}


def step(model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray, dt: float, label: str) -> Case:
    def look(outcome: Outcome) -> object:
        return canonical(model, outcome.value)

    return call(
        "integrate_positions",
        model,
        qpos,
        qvel,
        dt,
        label=label,
        observe=look,
        compare=close(1e-9),
        unchanged=True,
    )


def steps(model: mujoco.MjModel, label: str, seed: int, count: int = 3) -> list[Case]:
    rng = np.random.default_rng(seed)
    return [
        step(
            model,
            configuration(model, rng),
            rng.uniform(-2, 2, model.nv),
            rng.uniform(0.05, 0.4),
            label,
        )
        for _ in range(count)
    ]


@exercise.part("the models of the lesson", points=2)
def lesson_models():
    return [*steps(zoo(), "joint_zoo", 40, 6), *steps(load("pick_place"), "pick_place", 41, 3)]


@exercise.part("models you have not seen", points=1)
def unseen():
    return [
        *steps(scene("h-h-s", seed=42), "no quaternion anywhere", 42),
        *steps(scene("f", "h", "f", "f", seed=43), "several free joints", 43),
        *steps(scene("h-b-h", "s", seed=44), "a ball joint below a hinge", 44),
        *steps(scene("hs-h", "sb", "f-b", seed=45), "several joints on one body", 45),
        *steps(scene("b", "b-b", seed=46), "ball joints alone", 46),
        *steps(scene("f", seed=47), "one free joint", 47),
    ]


@exercise.part("edge cases: joints at rest, inputs left alone", points=1)
def edges():
    rng = np.random.default_rng(48)
    model = scene("h", "f", "b", "s", "f", seed=48)
    cases = steps(model, "free, ball, slide and hinge in another order", 49, 4)
    cases.append(step(model, configuration(model, rng), np.zeros(model.nv), 0.1, "all at rest"))
    for j in range(model.njnt):
        qvel = np.zeros(model.nv)
        start = int(model.jnt_dofadr[j])
        end = int(model.jnt_dofadr[j + 1]) if j + 1 < model.njnt else model.nv
        qvel[start:end] = rng.uniform(-2, 2, end - start)
        label = f"only joint {j} moves"
        cases.append(step(model, configuration(model, rng), qvel, 0.2, label))
    qvel = rng.uniform(-2, 2, model.nv)
    qvel[1:7] *= 5
    cases.append(step(model, configuration(model, rng), qvel, 1.0, "more than a turn"))
    return cases


_PLAIN = (
    "You add dt * qvel to qpos entry by entry. The two arrays do not line up after the first "
    "quaternion, and a quaternion is not moved by adding: treat each joint by its type."
)


@exercise.misconception(_PLAIN, id="adds_plainly")
def adds_on_the_first_nv():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        out[: model.nv] += dt * np.asarray(qvel)
        return out


@exercise.misconception(_PLAIN, id="adds_plainly")
def adds_on_the_last_nv():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        out[model.nq - model.nv :] += dt * np.asarray(qvel)
        return out


@exercise.misconception(_PLAIN, id="adds_plainly")
def adds_whole_arrays():
    def integrate_positions(model, qpos, qvel, dt):
        return np.asarray(qpos) + dt * np.asarray(qvel)


@exercise.misconception(_PLAIN, id="adds_plainly")
def adds_a_padded_array():
    def integrate_positions(model, qpos, qvel, dt):
        padded = np.zeros(model.nq)
        padded[: model.nv] = qvel
        out = np.asarray(qpos) + dt * padded
        for j in range(model.njnt):
            kind, q = model.jnt_type[j], model.jnt_qposadr[j]
            if kind < 2:
                at = q + 3 if kind == 0 else q
                out[at : at + 4] /= np.linalg.norm(out[at : at + 4])
        return out


@exercise.misconception(
    "The linear velocity of the free joint is turned into the body's frame before it is added. "
    "It is already in world axes: only the angular part is in the body frame."
)
def linear_velocity_rotated():
    def rotate(q, v):
        return v + 2 * np.cross(q[1:], np.cross(q[1:], v) + q[0] * v)

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * rotate(out[q + 3 : q + 7], qvel[v : v + 3])
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "The linear velocity of the free joint is turned into the body's frame before it is added. "
    "It is already in world axes: only the angular part is in the body frame.",
    id="linear_velocity_rotated",
)
def linear_velocity_rotated_back():
    def rotate(q, v):
        return v + 2 * np.cross(-q[1:], np.cross(-q[1:], v) + q[0] * v)

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * rotate(out[q + 3 : q + 7], qvel[v : v + 3])
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


_ADDRESS = (
    "You index `qvel` with addresses of `qpos`. After the first quaternion they differ: use "
    "`jnt_dofadr` for velocities."
)


@exercise.misconception(_ADDRESS, id="position_address_for_velocities")
def position_address_for_velocities():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_qposadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "You index `qpos` with addresses of `qvel`. After the first quaternion they differ: use "
    "`jnt_qposadr` for positions."
)
def velocity_address_for_positions():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_dofadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "The angular velocity is applied in the world frame (the increment multiplies from the left). "
    "Free and ball joints hold it in the body's frame: q * exp."
)
def world_frame():
    def turn(q, phi):
        angle = np.linalg.norm(phi)
        if angle < 1e-15:
            return q
        w, x, y, z = q
        right = np.array([[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]])
        return right @ np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "The half angle is missing in your quaternion update: orientations turn twice as far."
)
def missing_half_angle():
    def turn(q, phi):
        angle = np.linalg.norm(phi)
        if angle < 1e-15:
            return q
        w, x, y, z = q
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return left @ np.r_[np.cos(angle), np.sin(angle) * phi / angle]

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


_ADDS = (
    "Orientations are moved by adding the quaternion's rate (and normalising, or not): the error "
    "grows with the step. Multiply by the exponential of the turn."
)


@exercise.misconception(_ADDS, id="adds_quaternion_rate")
def adds_quaternion_rate():
    def turn(q, phi):
        w, x, y, z = q
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        out = q + 0.5 * left @ np.r_[0.0, phi]
        return out / np.linalg.norm(out)

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(_ADDS, id="adds_quaternion_rate")
def adds_quaternion_rate_unnormalised():
    def turn(q, phi):
        w, x, y, z = q
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return q + 0.5 * left @ np.r_[0.0, phi]

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(_ADDS, id="adds_quaternion_rate")
def adds_to_the_vector_part():
    def turn(q, phi):
        out = np.array(q)
        out[1:] += phi
        return out / np.linalg.norm(out)

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "Ball joints are left where they are, or moved like hinges: they hold a quaternion, too, and "
    "three velocities."
)
def ball_forgotten():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind > 1:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "Ball joints are left where they are, or moved like hinges: they hold a quaternion, too, and "
    "three velocities.",
    id="ball_forgotten",
)
def ball_as_hinge():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "The free joint's orientation is turned but its position is not moved (or the other way "
    "round): it has both, three numbers and a quaternion."
)
def free_position_forgotten():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "The free joint's orientation is turned but its position is not moved (or the other way "
    "round): it has both, three numbers and a quaternion.",
    id="free_position_forgotten",
)
def orientations_forgotten():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
            elif kind > 1:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "The two halves of a free joint's velocity are swapped: linear comes first, angular second."
)
def halves_swapped():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v + 3 : v + 6]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v : v + 3])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "The layout of `joint_zoo` is written into your code. Read types and addresses from the model."
)
def hard_coded():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        out[0:3] += dt * qvel[0:3]
        out[3:7] = turn(out[3:7], dt * qvel[3:6])
        out[7:11] = turn(out[7:11], dt * qvel[6:9])
        out[11] += dt * qvel[9]
        out[12] += dt * qvel[10]
        return out


@exercise.misconception(
    "One free joint at the front is taken for granted: the rest is treated as hinges and slides. "
    "Go through the joints by type."
)
def floating_base_only():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        out[0:3] += dt * qvel[0:3]
        out[3:7] = turn(out[3:7], dt * qvel[3:6])
        n = min(model.nq - 7, model.nv - 6)
        out[7 : 7 + n] += dt * qvel[6 : 6 + n]
        return out


@exercise.misconception(
    "Your code writes into the `qpos` that it was given. Work on a copy: `np.array(qpos, float)`."
)
def writes_into_the_input():
    def integrate_positions(model, qpos, qvel, dt):
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                qpos[q : q + 3] += dt * qvel[v : v + 3]
                qpos[q + 3 : q + 7] = turn(qpos[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                qpos[q : q + 4] = turn(qpos[q : q + 4], dt * qvel[v : v + 3])
            else:
                qpos[q] += dt * qvel[v]
        return qpos


@exercise.misconception(
    "A joint at rest gives NaN: your quaternion update divides by the angle of no turn."
)
def divides_by_zero_at_rest():
    def turn(q, phi):
        angle = np.linalg.norm(phi)
        w, x, y, z = q
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        return left @ np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]

    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception("The time step is left out: positions move by `dt` times the velocity.")
def forgets_dt():
    def integrate_positions(model, qpos, qvel, dt):
        dt = 1.0
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.misconception(
    "Your code steps with the model's own time step instead of the `dt` that it is given."
)
def uses_the_models_timestep():
    def integrate_positions(model, qpos, qvel, dt):
        dt = model.opt.timestep
        out = np.array(qpos, float)
        for j in range(model.njnt):
            kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
            if kind == 0:
                out[q : q + 3] += dt * qvel[v : v + 3]
                out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
            elif kind == 1:
                out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
            else:
                out[q] += dt * qvel[v]
        return out


@exercise.variant("matrix of the product, a list comes back")
def by_matrix():
    def integrate_positions(model, qpos, qvel, dt):
        def turn(quat, w):
            a, b, c = 0.5 * dt * w
            n = np.sqrt(a * a + b * b + c * c)
            k = np.sinc(n / np.pi)
            right = np.cos(n) * np.eye(4) + k * np.array(
                [[0, -a, -b, -c], [a, 0, c, -b], [b, -c, 0, a], [c, b, -a, 0]]
            )
            return right @ quat

        out = []
        qpos, qvel = np.asarray(qpos), np.asarray(qvel)
        for j in range(model.njnt):
            joint = model.joint(j)
            q, v = int(joint.qposadr[0]), int(joint.dofadr[0])
            if joint.type == mujoco.mjtJoint.mjJNT_FREE:
                out += list(qpos[q : q + 3] + dt * qvel[v : v + 3])
                out += list(turn(qpos[q + 3 : q + 7], qvel[v + 3 : v + 6]))
            elif joint.type == mujoco.mjtJoint.mjJNT_BALL:
                out += list(-turn(qpos[q : q + 4], qvel[v : v + 3]))
            else:
                out.append(qpos[q] + dt * qvel[v])
        return out


@exercise.variant("two running indices, recursion over the joints")
def recursive():
    def integrate_positions(model, qpos, qvel, dt):
        def turn(q, w):
            angle = np.linalg.norm(w) * dt
            if angle == 0:
                return np.array(q)
            u = w / np.linalg.norm(w) * np.sin(angle / 2)
            c = np.cos(angle / 2)
            return np.r_[c * q[0] - u @ q[1:], c * q[1:] + q[0] * u + np.cross(q[1:], u)]

        def walk(kinds, q, v):
            if len(kinds) == 0:
                return []
            if kinds[0] == 0:
                head, a, b = [q[:3] + dt * v[:3], turn(q[3:7], v[3:6])], 7, 6
            elif kinds[0] == 1:
                head, a, b = [turn(q[:4], v[:3])], 4, 3
            else:
                head, a, b = [q[:1] + dt * v[:1]], 1, 1
            return head + walk(kinds[1:], q[a:], v[b:])

        return np.concatenate(walk(model.jnt_type, np.array(qpos), np.array(qvel)))


@exercise.variant("hinges and slides at once, quaternions by the matrix exponential")
def vectorised():
    from scipy.linalg import expm

    def integrate_positions(model, qpos, qvel, dt):
        new = np.array(qpos, dtype=np.float64)
        one = model.jnt_type >= 2
        new[model.jnt_qposadr[one]] += dt * np.asarray(qvel)[model.jnt_dofadr[one]]
        for j in np.flatnonzero(~one):
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            if model.jnt_type[j] == 0:
                new[q : q + 3] += dt * qvel[v : v + 3]
                q, v = q + 3, v + 3
            a, b, c = qvel[v : v + 3]
            rate = np.array([[0, -a, -b, -c], [a, 0, c, -b], [b, -c, 0, a], [c, b, -a, 0]])
            new[q : q + 4] = expm(0.5 * dt * rate) @ new[q : q + 4]
        return new
