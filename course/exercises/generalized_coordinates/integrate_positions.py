"""`integrate_positions`: carry a whole `qpos` along a `qvel`, joint by joint."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import close
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.quaternions import written_out
from course.exercises.generalized_coordinates.scenes import canonical, configuration, scene, zoo
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


# Product, rotation and normalising are helpers of their own (`quaternions.py`).
GOOD = """\
def turn(quat, phi):
    angle = np.linalg.norm(phi)
    if angle < 1e-15:
        return quat
    step = np.r_[np.cos(angle / 2), np.sin(angle / 2) * phi / angle]
    return mul(quat, step)


def integrate_positions(model, qpos, qvel, dt):
    out = np.array(qpos, float)
    for j in range(model.njnt):
        kind, q, v = model.jnt_type[j], model.jnt_qposadr[j], model.jnt_dofadr[j]
        if kind == 0:
            out[q : q + 3] += dt * qvel[v : v + 3]
            out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])
        elif kind == 1:
            out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])
        elif kind == 2:
            out[q] += dt * qvel[v]  # slide
        else:
            out[q] += dt * qvel[v]  # hinge
    return out
"""
_wrong = exercise.slips(written_out(GOOD))

# The lines that are put wrong.
_COPY = "out = np.array(qpos, float)"
_JOINTS = "range(model.njnt)"
_Q, _V = "model.jnt_qposadr[j]", "model.jnt_dofadr[j]"
_MOVE = "out[q : q + 3] += dt * qvel[v : v + 3]"
_TURN = "out[q + 3 : q + 7] = turn(out[q + 3 : q + 7], dt * qvel[v + 3 : v + 6])"
_BALL = "out[q : q + 4] = turn(out[q : q + 4], dt * qvel[v : v + 3])"
_SLIDE, _HINGE = "out[q] += dt * qvel[v]  # slide", "out[q] += dt * qvel[v]  # hinge"
_REST = "    if angle < 1e-15:\n        return quat\n"
_PRODUCT = "mul(quat, step)"
_LOOP = GOOD[GOOD.index("    for j in") : GOOD.index("    return out")]

_PLAIN = (
    "You add dt * qvel to qpos entry by entry. The two arrays do not line up after the first "
    "quaternion, and a quaternion is not moved by adding: treat each joint by its type."
)
for _sum in (
    "out[: model.nv] += dt * qvel",
    "out[model.nq - model.nv :] += dt * qvel",
    "out = out + dt * qvel",
    "out[: model.nv] += dt * qvel\n    mujoco.mj_normalizeQuat(model, out)",
    "out = out[: model.nv] + dt * qvel",
):
    _wrong("adds_plainly", _PLAIN, (_LOOP, f"    {_sum}\n"))
for _rest in (
    "    n = min(model.nq - 7, model.nv - 6)\n    out[7 : 7 + n] += dt * qvel[6 : 6 + n]\n",
    "    out[7:] += dt * qvel[6:]\n",
):
    _wrong(
        "floating_base_only",
        "One free joint at the front is taken for granted: the rest is treated as hinges and "
        "slides, or left alone. Go through the joints by type.",
        (
            _LOOP,
            "    out[0:3] += dt * qvel[0:3]\n"
            f"    out[3:7] = turn(out[3:7], dt * qvel[3:6])\n{_rest}",
        ),
    )

_ROTATED = (
    "The linear velocity of the free joint is turned into the body's frame before it is added. "
    "It is already in world axes: only the angular part is in the body frame."
)
_MOVE_ROTATED = "out[q : q + 3] += dt * rotate(out[q + 3 : q + 7], qvel[v : v + 3])"
_BACK = "out[q + 3 : q + 7] * [1, -1, -1, -1]"
_wrong("linear_velocity_rotated", _ROTATED, (_MOVE, _MOVE_ROTATED))
_wrong(
    "linear_velocity_rotated",
    _ROTATED,
    (_MOVE, f"out[q : q + 3] += dt * rotate({_BACK}, qvel[v : v + 3])"),
)
_wrong(
    "linear_velocity_rotated",
    _ROTATED,
    (f"{_MOVE}\n            {_TURN}", f"{_TURN}\n            {_MOVE_ROTATED}"),
)
_wrong(
    "two_frames_wrong",
    "Two mistakes with frames: a free joint's linear velocity is in the world frame already, and "
    "its angular velocity in the body's, so that the increment stands on the right.",
    (_MOVE, _MOVE_ROTATED),
    ("dt * qvel[v + 3 : v + 6]", f"dt * rotate({_BACK}, qvel[v + 3 : v + 6])"),
)
_wrong(
    "halves_swapped",
    "The two halves of a free joint's velocity are swapped: linear comes first, angular second.",
    (_MOVE, _MOVE.replace("v : v + 3", "v + 3 : v + 6")),
    (_TURN, _TURN.replace("v + 3 : v + 6", "v : v + 3")),
)
_wrong(
    "quaternion_before_position",
    "In a free joint's `qpos` the position comes first and the quaternion after it; you take them "
    "the other way round.",
    (_MOVE, _MOVE.replace("q : q + 3", "q + 4 : q + 7")),
    (_TURN, _TURN.replace("q + 3 : q + 7", "q : q + 4")),
)

_wrong(
    "position_address_for_velocities",
    "You index `qvel` with addresses of `qpos`. After the first quaternion they differ: use "
    "`jnt_dofadr` for velocities.",
    (_V, _Q),
)
_wrong(
    "velocity_address_for_positions",
    "You index `qpos` with addresses of `qvel`. After the first quaternion they differ: use "
    "`jnt_qposadr` for positions.",
    (_Q, _V),
)
for _edits in ([(_Q, "j"), (_V, "j")], [(_V, "j")], [(_Q, "j")]):
    _wrong(
        "joint_number_for_address",
        "You index `qpos` and `qvel` with the number of the joint. A free joint alone takes 7 and "
        "6 entries: the addresses are `jnt_qposadr` and `jnt_dofadr`.",
        *_edits,
    )
for _address, _widths in (
    (_Q, "{0: 7, 1: 3}"),
    (_Q, "{0: 6, 1: 4}"),
    (_V, "{0: 6, 1: 4}"),
    (_V, "{0: 7, 1: 3}"),
):
    _wrong(
        "running_index_slips",
        "Your running index into `qpos` advances by the wrong amount: 7 for a free joint, 4 for a "
        "ball joint, 1 for the others (6, 3 and 1 in `qvel`).",
        (_address, f"sum({_widths}.get(int(k), 1) for k in model.jnt_type[:j])"),
    )
_wrong(
    "hard_coded",
    "The layout of `joint_zoo` is written into your code. Read types and addresses from the model.",
    (_JOINTS, "range(4)"),
    (_Q, "(0, 7, 11, 12)[j]"),
    (_V, "(0, 6, 9, 10)[j]"),
)
_KINDS = "list(model.jnt_type)"
for _joints in (
    f"[{_KINDS}.index(k) for k in dict.fromkeys(model.jnt_type)]",
    f"[j for j in range(model.njnt) if {_KINDS}[j] != 0 or j == {_KINDS}.index(0)]",
):
    _wrong(
        "first_of_each_kind",
        "Only the first free (or ball) joint of the model is moved; there can be several.",
        (_JOINTS, _joints),
    )
_wrong(
    "one_joint_a_body",
    "Your code goes through the bodies and takes one joint from each. A body can have several "
    "joints, or none: go through `range(model.njnt)`.",
    (_JOINTS, "[j for j in model.body_jntadr if j >= 0]"),
)
_wrong(
    "last_joint_left_out",
    "The last joint of the model is not moved: the loop ends one joint early.",
    (_JOINTS, "range(model.njnt - 1)"),
)

_wrong(
    "world_frame",
    "The angular velocity is applied in the world frame (the increment multiplies from the left). "
    "Free and ball joints hold it in the body's frame: q * exp.",
    (_PRODUCT, "mul(step, quat)"),
)
for _edits in (
    [("angle / 2", "angle")],
    [("angle / 2", "angle"), (_PRODUCT, "mul(step, quat)")],
    [("sin(angle / 2)", "sin(angle)"), (_PRODUCT, f"normalised({_PRODUCT})")],
):
    _wrong(
        "missing_half_angle",
        "The half angle is missing in your quaternion update: orientations turn twice as far.",
        *_edits,
    )
for _product in ("mul(quat, step)", "mul(step, quat)"):
    _wrong(
        "turns_backward",
        "Orientations turn backward: a sign is wrong in your quaternion update.",
        ("* phi / angle", "* -phi / angle"),
        (_PRODUCT, _product),
    )
for _sum in (
    "normalised(quat + 0.5 * mul(quat, np.r_[0.0, phi]))",
    "quat + 0.5 * mul(quat, np.r_[0.0, phi])",
    "normalised(quat + mul(quat, np.r_[0.0, phi]))",
    "normalised(quat + 0.5 * mul(np.r_[0.0, phi], quat))",
    "quat + 0.5 * mul(np.r_[0.0, phi], quat)",
    "normalised(quat + np.r_[0.0, phi])",
    "quat + np.r_[0.0, phi]",
    "normalised(quat + 0.5 * np.r_[0.0, phi])",
    "quat + 0.5 * np.r_[0.0, phi]",
):
    _wrong(
        "adds_quaternion_rate",
        "Orientations are moved by adding the quaternion's rate (and normalising, or not): the "
        "error grows with the step. Multiply by the exponential of the turn.",
        (_PRODUCT, _sum),
    )
_LAST = "Your quaternions hold the scalar part last; `qpos` holds (w, x, y, z)."
_wrong("scalar_last", _LAST, (_PRODUCT, "np.roll(mul(np.roll(quat, 1), step), -1)"))
_wrong("scalar_last", _LAST, (_PRODUCT, "mul(quat, np.roll(step, -1))"))
_wrong(
    "returns_the_increment",
    "Orientations come back as the turn alone: multiply the old orientation by it.",
    (_PRODUCT, "step"),
)
for _rest in ("", "    1 / float(angle)\n"):
    _wrong(
        "divides_by_zero_at_rest",
        "A joint at rest gives NaN (or an error): your quaternion update divides by the angle of "
        "no turn.",
        (_REST, _rest),
    )
_wrong(
    "rest_becomes_identity",
    "A joint at rest comes back as the identity: no turn means that its orientation stays.",
    ("        return quat\n", "        return np.array([1.0, 0, 0, 0])\n"),
)

for _ball in ("pass", "out[q] += dt * qvel[v]"):
    _wrong(
        "ball_forgotten",
        "Ball joints are left where they are, or moved like hinges: they hold a quaternion, too, "
        "and three velocities.",
        (_BALL, _ball),
    )
for _ball in (_TURN, _BALL.replace("v : v + 3", "v + 3 : v + 6")):
    _wrong(
        "ball_read_like_a_free_joint",
        "In a ball joint your code looks for the numbers of a free joint: a ball joint has no "
        "position, its quaternion starts at the address itself.",
        (_BALL, _ball),
    )
for _ball in (
    "out[q : q + 4] = normalised(out[q : q + 4] + dt * np.r_[qvel[v : v + 3], 0])",
    "out[q : q + 4] = normalised(out[q : q + 4] + dt * np.r_[0, qvel[v : v + 3]])",
    "out[q : q + 4] = out[q : q + 4] + dt * np.r_[0, qvel[v : v + 3]]",
    "out[q : q + 3] = out[q : q + 3] + dt * qvel[v : v + 3]",
):
    _wrong(
        "ball_by_addition",
        "You move the ball's quaternion by adding `dt * qvel` to its entries; it is moved by the "
        "product with exp(dt/2 (0, w)), as the free joint's is.",
        (_BALL, _ball),
    )
_wrong(
    "free_position_forgotten",
    "The free joint's orientation is turned but its position is not moved: it has both, three "
    "numbers and a quaternion.",
    (_MOVE, "pass"),
)
for _edits in ([(_TURN, "pass")], [(_TURN, "pass"), (_BALL, "pass")]):
    _wrong(
        "free_orientation_forgotten",
        "The free joint's position is moved but its orientation is not turned: it has both, three "
        "numbers and a quaternion.",
        *_edits,
    )
for _edits in ([(_SLIDE, "pass")], [(_HINGE, "pass")], [(_SLIDE, "pass"), (_HINGE, "pass")]):
    _wrong(
        "slides_or_hinges_forgotten",
        "Slides or hinges stay where they are: each has one number, which moves by dt times its "
        "velocity.",
        *_edits,
    )
for _wrapped in (
    "out[q] = (out[q] + dt * qvel[v] + np.pi) % (2 * np.pi) - np.pi",
    "out[q] = (out[q] + dt * qvel[v]) % (2 * np.pi)",
):
    _wrong(
        "hinge_wrapped",
        "You wrap the hinge's angle into one turn: `qpos` counts turns, it simply becomes q + dt "
        "v.",
        (_HINGE, _wrapped),
    )

_wrong(
    "writes_into_the_input",
    "Your code writes into the `qpos` that it was given. Work on a copy: `np.array(qpos, float)`.",
    (_COPY, "out = qpos"),
)
_wrong(
    "nothing_moves",
    "The configuration comes back as it was given: nothing has moved.",
    (_LOOP, ""),
)
_wrong(
    "returns_the_change",
    "Positions come back as the change alone (dt times the velocity): add it to where they were.",
    ("+= dt", "= dt"),
)
_wrong(
    "goes_backward",
    "The configuration moves backward: positions are diminished by dt times the velocity.",
    (_COPY, "out, dt = np.array(qpos, float), -dt"),
)
_wrong(
    "uses_the_models_timestep",
    "Your code steps with the model's own time step instead of the `dt` that it is given.",
    (_COPY, "out, dt = np.array(qpos, float), model.opt.timestep"),
)
for _edits in ([("dt * ", "")], [(", dt * ", ", ")], [("+= dt * ", "+= ")]):
    _wrong(
        "forgets_dt",
        "The time step is left out, for all or for some: positions move by `dt` times the "
        "velocity, and a turn is `dt` times the rate.",
        *_edits,
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
