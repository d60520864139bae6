"""`integrate_positions`: carry a whole `qpos` along a `qvel`, joint by joint."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import canonical, configuration, scene, zoo
from course.exercises.implementation import Implementation
from course.grading.door import Outcome
from mjcourse.models import load

exercise = Exercise(
    "integrate_positions",
    points=4,
    provides=("integrate_positions",),
    by_hand=True,
    uses=("joint_layout", "integrate_quat"),
)


@exercise.reference
def reference():
    def integrate_positions(model, qpos, qvel, dt):
        out = np.array(qpos, float)
        mujoco.mj_integratePos(model, out, np.array(qvel, float), float(dt))
        return out

    return {"integrate_positions": integrate_positions}


def _numbers(model: mujoco.MjModel) -> dict[str, list[int]]:
    """Which numbers of `qpos` are what: a mistake often spoils one kind and spares the others."""
    found: dict[str, list[int]] = {}
    for kind, start in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        at = int(start)
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            found.setdefault("positions of free joints", []).extend(range(at, at + 3))
            found.setdefault("orientations of free joints", []).extend(range(at + 3, at + 7))
        elif kind == mujoco.mjtJoint.mjJNT_BALL:
            found.setdefault("ball joints", []).extend(range(at, at + 4))
        elif kind == mujoco.mjtJoint.mjJNT_SLIDE:
            found.setdefault("slides", []).append(at)
        else:
            found.setdefault("hinges", []).append(at)
    return found


def step(
    model: mujoco.MjModel,
    qpos: np.ndarray,
    qvel: np.ndarray,
    dt: float,
    label: str,
    *,
    numbers: list[int] | None = None,
    unchanged: bool = False,
) -> Case:
    """One step, of which the given numbers of `qpos` are looked at (all when None)."""

    def look(outcome: Outcome) -> object:
        value = canonical(model, outcome.value)
        if numbers is None or np.shape(value) != (model.nq,):
            return value
        return np.asarray(value)[numbers]

    return call(
        "integrate_positions",
        model,
        qpos,
        qvel,
        dt,
        label=label,
        observe=look,
        compare=close(1e-9),
        unchanged=unchanged,
    )


def steps(model: mujoco.MjModel, label: str, seed: int, count: int = 1) -> list[Case]:
    rng = np.random.default_rng(seed)
    cases = []
    for _ in range(count):
        state = configuration(model, rng), rng.uniform(-2, 2, model.nv), rng.uniform(0.05, 0.4)
        for what, numbers in _numbers(model).items():
            cases.append(step(model, *state, f"{label}, {what}", numbers=numbers))
    return cases


@exercise.part("the models of the lesson", points=2)
def lesson_models():
    return [*steps(zoo(), "joint_zoo", 40, 3), *steps(load("pick_place"), "pick_place", 41, 1)]


@exercise.part("models you have not seen", points=1)
def unseen():
    return [
        *steps(scene("h-h-s", seed=42), "no quaternion anywhere", 42),
        *steps(scene("f", "h", "f", "f", seed=43), "several free joints", 43, 2),
        *steps(scene("h-b-h", "s", seed=44), "a ball joint below a hinge", 44, 2),
        *steps(scene("hs-h", "sb", "f-b", seed=45), "several joints on one body", 45),
        *steps(scene("b", "b-b", seed=46), "ball joints alone", 46),
        *steps(scene("f", seed=47), "one free joint", 47),
    ]


@exercise.part("edge cases: joints at rest, inputs left alone", points=1)
def edges():
    rng = np.random.default_rng(48)
    model = scene("h", "f", "b", "s", "f", seed=48)
    cases = steps(model, "free, ball, slide and hinge in another order", 49)
    for label in ("all at rest", "at rest, too"):
        qpos = configuration(model, rng)
        cases.append(step(model, qpos, np.zeros(model.nv), 0.1, label, unchanged=True))
    for j in range(model.njnt):
        qvel = np.zeros(model.nv)
        start = int(model.jnt_dofadr[j])
        end = int(model.jnt_dofadr[j + 1]) if j + 1 < model.njnt else model.nv
        qvel[start:end] = rng.uniform(-2, 2, end - start)
        label = f"only joint {j} moves"
        cases.append(step(model, configuration(model, rng), qvel, 0.2, label, unchanged=True))
    qpos, qvel = configuration(model, rng), rng.uniform(-2, 2, model.nv)
    qpos[0], qvel[0] = 3.0, 2.0
    cases.append(step(model, qpos, qvel, 0.5, "a hinge beyond half a turn"))
    qvel = rng.uniform(-2, 2, model.nv)
    qvel[1:7] *= 5
    cases.append(step(model, configuration(model, rng), qvel, 1.0, "more than a turn"))
    return cases


# Most mistakes are one line of the right answer, put wrong.
RIGHT = {
    "copy": "out = np.array(qpos, float)",
    "joints": "range(model.njnt)",
    "q": "model.jnt_qposadr[j]",
    "v": "model.jnt_dofadr[j]",
    "angle": "np.linalg.norm(phi)",
    "rest": "if angle < 1e-15:\n        return quat",
    "turn": "mul(quat, np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle])",
    "free_position": "out[q : q + 3] = out[q : q + 3] + dt * qvel[v : v + 3]",
    "free_turn": "out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])",
    "ball": "out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])",
    "slide": "out[q] += dt * qvel[v]",
    "hinge": "out[q] += dt * qvel[v]",
}

CELL = """\
def mul(a, b):
    w, x, y, z = a
    left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return left @ b


def rotate(quat, v):
    return v + 2 * np.cross(quat[1:], np.cross(quat[1:], v) + quat[0] * v)


def unit(quat):
    return quat / np.linalg.norm(quat)


def turn(quat, phi):
    angle = {angle}
    {rest}
    return {turn}


def integrate_positions(model, qpos, qvel, dt):
    {copy}
    for j in {joints}:
        kind, q, v = model.jnt_type[j], {q}, {v}
        if kind == 0:
            {free_position}
            {free_turn}
        elif kind == 1:
            {ball}
        elif kind == 2:
            {slide}
        else:
            {hinge}
    return out
"""


def _mistake(id: str, text: str, *changes: dict[str, str], cells: tuple[str, ...] = ()) -> None:
    """A misconception: the right answer with lines exchanged, once for each of `changes`."""
    for change in changes:
        cell = CELL.format(**(RIGHT | change))
        exercise.misconceptions.append(Implementation(id, text, cell))
    for cell in cells:
        exercise.misconceptions.append(Implementation(id, text, cell))


_mistake(
    "adds_plainly",
    "You add dt * qvel to qpos entry by entry. The two arrays do not line up after the first "
    "quaternion, and a quaternion is not moved by adding: treat each joint by its type.",
    cells=(
        """\
def integrate_positions(model, qpos, qvel, dt):
    out = np.array(qpos, float)
    out[: model.nv] += dt * np.asarray(qvel)
    return out
""",
        """\
def integrate_positions(model, qpos, qvel, dt):
    out = np.array(qpos, float)
    out[model.nq - model.nv :] += dt * np.asarray(qvel)
    return out
""",
        """\
def integrate_positions(model, qpos, qvel, dt):
    return np.asarray(qpos) + dt * np.asarray(qvel)
""",
        """\
def integrate_positions(model, qpos, qvel, dt):
    out = np.array(qpos, float)
    out[: model.nv] += dt * np.asarray(qvel)
    mujoco.mj_normalizeQuat(model, out)
    return out
""",
        """\
def integrate_positions(model, qpos, qvel, dt):
    return (np.asarray(qpos)[: model.nv] + dt * np.asarray(qvel))
""",
    ),
)
_mistake(
    "linear_velocity_rotated",
    "The linear velocity of the free joint is turned into the body's frame before it is added. "
    "It is already in world axes: only the angular part is in the body frame.",
    {"free_position": "out[q : q + 3] += dt * rotate(out[q + 3 : q + 7], qvel[v : v + 3])"},
    {
        "free_position": "back = out[q + 3 : q + 7] * [1, -1, -1, -1]\n"
        "            out[q : q + 3] += dt * rotate(back, qvel[v : v + 3])"
    },
    {
        "free_position": RIGHT["free_turn"],
        "free_turn": "out[q : q + 3] += dt * rotate(out[q + 3 : q + 7], qvel[v : v + 3])",
    },
)
_mistake(
    "position_address_for_velocities",
    "You index `qvel` with addresses of `qpos`. After the first quaternion they differ: use "
    "`jnt_dofadr` for velocities.",
    {"v": "model.jnt_qposadr[j]"},
)
_mistake(
    "velocity_address_for_positions",
    "You index `qpos` with addresses of `qvel`. After the first quaternion they differ: use "
    "`jnt_qposadr` for positions.",
    {"q": "model.jnt_dofadr[j]"},
)
_mistake(
    "joint_number_for_address",
    "You index `qpos` and `qvel` with the number of the joint. A free joint alone takes 7 and 6 "
    "entries: the addresses are `jnt_qposadr` and `jnt_dofadr`.",
    {"q": "j", "v": "j"},
    {"v": "j"},
    {"q": "j"},
)
_ON_THE_LEFT = "mul(np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle], quat)"
_mistake(
    "world_frame",
    "The angular velocity is applied in the world frame (the increment multiplies from the left). "
    "Free and ball joints hold it in the body's frame: q * exp.",
    {"turn": _ON_THE_LEFT},
)
_mistake(
    "missing_half_angle",
    "The half angle is missing in your quaternion update: orientations turn twice as far.",
    {"turn": "mul(quat, np.r_[np.cos(angle), np.sin(angle) * phi / angle])"},
    {"turn": "mul(np.r_[np.cos(angle), np.sin(angle) * phi / angle], quat)"},
    {"turn": "unit(mul(quat, np.r_[np.cos(angle / 2), np.sin(angle) * phi / angle]))"},
)
_mistake(
    "turns_backward",
    "Orientations turn backward: a sign is wrong in your quaternion update.",
    {"turn": "mul(quat, np.r_[np.cos(angle / 2), -np.sin(angle / 2) * phi / angle])"},
    {"turn": "mul(np.r_[np.cos(angle / 2), -np.sin(angle / 2) * phi / angle], quat)"},
)
_mistake(
    "adds_quaternion_rate",
    "Orientations are moved by adding the quaternion's rate (and normalising, or not): the error "
    "grows with the step. Multiply by the exponential of the turn.",
    {"turn": "unit(quat + 0.5 * mul(quat, np.r_[0.0, phi]))"},
    {"turn": "quat + 0.5 * mul(quat, np.r_[0.0, phi])"},
    {"turn": "unit(quat + mul(quat, np.r_[0.0, phi]))"},
    {"turn": "unit(quat + 0.5 * mul(np.r_[0.0, phi], quat))"},
    {"turn": "quat + 0.5 * mul(np.r_[0.0, phi], quat)"},
    {"turn": "unit(quat + np.r_[0.0, phi])"},
    {"turn": "quat + np.r_[0.0, phi]"},
    {"turn": "unit(quat + 0.5 * np.r_[0.0, phi])"},
    {"turn": "quat + 0.5 * np.r_[0.0, phi]"},
)
_mistake(
    "ball_forgotten",
    "Ball joints are left where they are, or moved like hinges: they hold a quaternion, too, and "
    "three velocities.",
    {"ball": "pass"},
    {"ball": "out[q] += dt * qvel[v]"},
    {"ball": "out[q : q + 3] += dt * qvel[v : v + 3]"},
    {"ball": "out[q + 1 : q + 4] += dt * qvel[v : v + 3]"},
)
_mistake(
    "ball_read_like_a_free_joint",
    "In a ball joint your code looks for the numbers of a free joint: a ball joint has no "
    "position, its quaternion starts at the address itself.",
    {"ball": RIGHT["free_turn"]},
    {"ball": "out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v + 3 : v + 6])"},
)
_mistake(
    "free_position_forgotten",
    "The free joint's orientation is turned but its position is not moved: it has both, three "
    "numbers and a quaternion.",
    {"free_position": "pass"},
)
_mistake(
    "free_orientation_forgotten",
    "The free joint's position is moved but its orientation is not turned: it has both, three "
    "numbers and a quaternion.",
    {"free_turn": "pass"},
    {"free_turn": "pass", "ball": "pass"},
)
_mistake(
    "slides_or_hinges_forgotten",
    "Slides or hinges stay where they are: each has one number, which moves by dt times its "
    "velocity.",
    {"slide": "pass"},
    {"hinge": "pass"},
    {"slide": "pass", "hinge": "pass"},
)
_mistake(
    "halves_swapped",
    "The two halves of a free joint's velocity are swapped: linear comes first, angular second.",
    {
        "free_position": "out[q : q + 3] += dt * qvel[v + 3 : v + 6]",
        "free_turn": "out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v : v + 3])",
    },
)
_mistake(
    "quaternion_before_position",
    "In a free joint's `qpos` the position comes first and the quaternion after it; you take them "
    "the other way round.",
    {
        "free_position": "out[q + 4 : q + 7] += dt * qvel[v : v + 3]",
        "free_turn": "out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v + 3 : v + 6])",
    },
)
_mistake(
    "scalar_last",
    "Your quaternions hold the scalar part last; `qpos` holds (w, x, y, z).",
    {
        "turn": "np.roll(mul(np.roll(quat, 1), np.r_[np.cos(angle / 2), "
        "np.sin(angle / 2) * phi / angle]), -1)"
    },
    {"turn": "mul(quat, np.r_[np.sin(angle / 2) * phi / angle, np.cos(angle / 2)])"},
)
_mistake(
    "hard_coded",
    "The layout of `joint_zoo` is written into your code. Read types and addresses from the model.",
    {"joints": "range(4)", "q": "(0, 7, 11, 12)[j]", "v": "(0, 6, 9, 10)[j]"},
)
_mistake(
    "floating_base_only",
    "One free joint at the front is taken for granted: the rest is treated as hinges and slides, "
    "or left alone. Go through the joints by type.",
    cells=(
        CELL.format(**RIGHT).replace(
            CELL[CELL.index("    for j") : CELL.index("    return out")].format(**RIGHT),
            "    out[0:3] += dt * qvel[0:3]\n"
            "    out[3:7] = turn(out[3:7], dt * qvel[3:6])\n"
            "    n = min(model.nq - 7, model.nv - 6)\n"
            "    out[7 : 7 + n] += dt * qvel[6 : 6 + n]\n",
        ),
        CELL.format(**RIGHT).replace(
            CELL[CELL.index("    for j") : CELL.index("    return out")].format(**RIGHT),
            "    out[0:3] += dt * qvel[0:3]\n"
            "    out[3:7] = turn(out[3:7], dt * qvel[3:6])\n"
            "    out[7:] += dt * qvel[6:]\n",
        ),
    ),
)
_mistake(
    "first_of_each_kind",
    "Only the first free (or ball) joint of the model is moved; there can be several.",
    {"joints": "[list(model.jnt_type).index(k) for k in dict.fromkeys(model.jnt_type)]"},
    {
        "joints": "[j for j in range(model.njnt) if model.jnt_type[j] != 0 "
        "or j == list(model.jnt_type).index(0)]"
    },
)
_mistake(
    "one_joint_a_body",
    "Your code goes through the bodies and takes one joint from each. A body can have several "
    "joints, or none: go through `range(model.njnt)`.",
    {"joints": "[j for j in model.body_jntadr if j >= 0]"},
)
_mistake(
    "last_joint_left_out",
    "The last joint of the model is not moved: the loop ends one joint early.",
    {"joints": "range(model.njnt - 1)"},
)
_mistake(
    "running_index_slips",
    "Your running index into `qpos` advances by the wrong amount: 7 for a free joint, 4 for a "
    "ball joint, 1 for the others (6, 3 and 1 in `qvel`).",
    {"q": "sum(({0: 7, 1: 3}.get(int(k), 1)) for k in model.jnt_type[:j])"},
    {"q": "sum(({0: 6, 1: 4}.get(int(k), 1)) for k in model.jnt_type[:j])"},
    {"v": "sum(({0: 6, 1: 4}.get(int(k), 1)) for k in model.jnt_type[:j])"},
    {"v": "sum(({0: 7, 1: 3}.get(int(k), 1)) for k in model.jnt_type[:j])"},
)
_mistake(
    "writes_into_the_input",
    "Your code writes into the `qpos` that it was given. Work on a copy: `np.array(qpos, float)`.",
    {"copy": "out = qpos"},
)
_mistake(
    "divides_by_zero_at_rest",
    "A joint at rest gives NaN (or an error): your quaternion update divides by the angle of no "
    "turn.",
    {"rest": ""},
    {"angle": "float(np.linalg.norm(phi))", "rest": "1 / angle"},
)
_mistake(
    "rest_becomes_identity",
    "A joint at rest comes back as the identity: no turn means that its orientation stays.",
    {"rest": "if angle < 1e-15:\n        return np.array([1.0, 0, 0, 0])"},
)
_mistake(
    "returns_the_increment",
    "Orientations come back as the turn alone: multiply the old orientation by it.",
    {"turn": "np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]"},
)
_mistake(
    "returns_the_change",
    "Positions come back as the change alone (dt times the velocity): add it to where they were.",
    {
        "free_position": "out[q : q + 3] = dt * qvel[v : v + 3]",
        "slide": "out[q] = dt * qvel[v]",
        "hinge": "out[q] = dt * qvel[v]",
    },
)
_mistake(
    "goes_backward",
    "The configuration moves backward: positions are diminished by dt times the velocity.",
    {"copy": "out, dt = np.array(qpos, float), -dt"},
)
_mistake(
    "nothing_moves",
    "The configuration comes back as it was given: nothing has moved.",
    {
        "free_position": "pass",
        "free_turn": "pass",
        "ball": "pass",
        "slide": "pass",
        "hinge": "pass",
    },
)
_mistake(
    "forgets_dt",
    "The time step is left out, for all or for some: positions move by `dt` times the velocity, "
    "and a turn is `dt` times the rate.",
    {"copy": "out, dt = np.array(qpos, float), 1.0"},
    {
        "free_turn": "out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], qvel[v + 3 : v + 6])",
        "ball": "out[q : q + 4] = turn(out[q : q + 4], qvel[v : v + 3])",
    },
    {
        "free_position": "out[q : q + 3] += qvel[v : v + 3]",
        "slide": "out[q] += qvel[v]",
        "hinge": "out[q] += qvel[v]",
    },
)
_mistake(
    "uses_the_models_timestep",
    "Your code steps with the model's own time step instead of the `dt` that it is given.",
    {"copy": "out, dt = np.array(qpos, float), model.opt.timestep"},
)

_mistake(
    "hinge_wrapped",
    "You wrap the hinge's angle into one turn: `qpos` counts turns, it simply becomes q + dt v.",
    {"hinge": "out[q] = (out[q] + dt * qvel[v] + np.pi) % (2 * np.pi) - np.pi"},
    {"hinge": "out[q] = (out[q] + dt * qvel[v]) % (2 * np.pi)"},
)
_mistake(
    "two_frames_wrong",
    "Two mistakes with frames: a free joint's linear velocity is in the world frame already, and "
    "its angular velocity in the body's, so that the increment stands on the right.",
    {
        "free_position": "out[q : q + 3] += dt * rotate(out[q + 3 : q + 7], qvel[v : v + 3])",
        "free_turn": "phi = dt * qvel[v + 3 : v + 6]\n"
        "            phi = rotate(out[q + 3 : q + 7] * [1, -1, -1, -1], phi)\n"
        "            out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], phi)",
    },
)
_mistake(
    "ball_by_addition",
    "You move the ball's quaternion by adding `dt * qvel` to its entries; it is moved by the "
    "product with exp(dt/2 (0, w)), as the free joint's is.",
    {"ball": "out[q : q + 4] = unit(out[q : q + 4] + dt * np.r_[qvel[v : v + 3], 0])"},
    {"ball": "out[q : q + 4] = unit(out[q : q + 4] + dt * np.r_[0, qvel[v : v + 3]])"},
    {"ball": "out[q : q + 4] = out[q : q + 4] + dt * np.r_[0, qvel[v : v + 3]]"},
    {"ball": "out[q : q + 3] = out[q : q + 3] + dt * qvel[v : v + 3]"},
)
_mistake(
    "addresses_of_the_velocities",
    "You index `qpos` with `jnt_dofadr`; the position of joint j starts at `jnt_qposadr[j]`.",
    {"q": "model.jnt_dofadr[j]"},
)


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
