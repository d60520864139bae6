"""`relative_pose`: where one body is, seen from another."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, quaternion
from course.exercises.env_conventions import rigs
from course.exercises.env_conventions.poses import slips_in_the_pair

exercise = Exercise(
    "relative_pose",
    points=3,
    provides=("body_pose_in",),
    uses=("quaternion_order", "compose_pose"),
)

POSE = each([close(), quaternion()])


@exercise.reference
def reference():
    def body_pose_in(model, data, base, body):
        inverse_pos, inverse_quat = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(inverse_pos, inverse_quat, data.body(base).xpos, data.body(base).xquat)
        pos, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(
            pos, quat, inverse_pos, inverse_quat, data.body(body).xpos, data.body(body).xquat
        )
        return pos, np.roll(quat, -1)

    return {"body_pose_in": body_pose_in}


def _case(seed, base, body, label="", **more):
    label = label or f"{body!r} seen from {base!r}"
    arguments = (rigs.arm(), rigs.moving(seed), base, body)
    return call("body_pose_in", *arguments, label=label, compare=POSE, **more)


@exercise.part("ordinary pairs of bodies", points=1.5)
def ordinary():
    pairs = [
        ("base", "tool"),
        ("tool", "base"),
        ("carriage", "tool"),
        ("parcel", "tool"),
        ("tool", "parcel"),
        ("bob", "elbow"),
    ]
    return [_case(100 + i, base, body) for i, (base, body) in enumerate(pairs)]


@exercise.part("edge cases: the same body, the world", points=1)
def edges():
    return [
        _case(110, "tool", "tool", label="base and body are the same"),
        _case(112, "world", "tool", label="base is the world"),
        _case(113, "world", "parcel", label="base is the world"),
        _case(114, "tool", "world", label="body is the world"),
        _case(115, "base", "elbow"),
        _case(116, "wrist", "bob"),
    ]


@exercise.part("contract: nothing changed, unknown names refused", points=0.5)
def contract():
    return [
        _case(120, "base", "tool", unchanged=True),
        _case(121, "elbow", "column", unchanged=True),
        _case(122, "base", "hand", label="an unknown body", raises="KeyError"),
        _case(123, "shoulder", "tool", label="an unknown base", raises="KeyError"),
    ]


@exercise.variant("SciPy rotations")
def by_rotations():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        B = Rotation.from_quat(b.xquat, scalar_first=True)
        T = Rotation.from_quat(t.xquat, scalar_first=True)
        pos = B.inv().apply(t.xpos - b.xpos)
        quat = (B.inv() * T).as_quat()
        return pos, quat


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_DIFFERENCE = "t.xpos - b.xpos"
_POS, _QUAT = f"B.inv().apply({_DIFFERENCE})", "(B.inv() * T)"

# The position
slip(
    "difference_in_world_axes",
    "The position is the difference along the world's axes. Turn it by the inverse of the base's "
    "rotation: the answer is given along the base's own axes.",
    (_POS, _DIFFERENCE),
)
slip(
    "rotated_by_the_base_itself",
    "The difference of positions is turned by the base's rotation; it takes the inverse to bring a "
    "world vector into the base's frame.",
    ("B.inv().apply", "B.apply"),
)
slip(
    "rotated_by_the_base_itself",
    "Position and orientation are both turned by the base's rotation; it takes the inverse to "
    "bring what is given in the world into the base's frame.",
    ("B.inv()", "B"),
)
for _turn in ("T.inv().apply", "T.apply"):
    slip(
        "rotated_by_the_body",
        "The difference is turned by the body's rotation; it has to come along the *base's* axes.",
        ("B.inv().apply", _turn),
    )
slip(
    "forgets_the_bases_position",
    "The position is turned into the base's frame, but the base's own position is not subtracted.",
    (_DIFFERENCE, "t.xpos"),
)
slip(
    "difference_reversed",
    "The difference of positions is taken the wrong way round: it is the body's minus the base's.",
    (_DIFFERENCE, "b.xpos - t.xpos"),
)
slip(
    "positions_added",
    "The positions are added; it is the body's minus the base's.",
    (_DIFFERENCE, "t.xpos + b.xpos"),
)
slip(
    "position_in_the_world",
    "The quaternion is relative, but the position is the body's in the world.",
    (_POS, "t.xpos.copy()"),
)
slip(
    "frames_of_the_com",
    "These are the frames of the centres of mass (`xipos`); a body's own frame is `xpos`, `xquat`.",
    ("xpos", "xipos"),
    *(
        (f"from_quat({x}.xquat, scalar_first=True)", f"from_matrix({x}.ximat.reshape(3, 3))")
        for x in "bt"
    ),
)
slip(
    "frames_of_the_com",
    "These are the frames of the centres of mass (`xipos`); a body's own frame is `xpos`, `xquat`.",
    ("xpos", "xipos"),
)
slip(
    "centre_of_mass",
    "`xipos` is the centre of mass; the pose of a body is that of its frame, `xpos`.",
    ("t.xpos", "t.xipos"),
)

# The quaternion
slip(
    "quaternion_inverse",
    "The position is right, the quaternion is that of the base seen from the body: the inverse "
    "rotation.",
    (_QUAT, "(T.inv() * B)"),
)
slip(
    "product_reversed",
    "The quaternions are multiplied in the wrong order: the inverse of the base's stands on the "
    "left of the body's.",
    (_QUAT, "(T * B.inv())"),
)
slip(
    "base_not_inverted",
    "The base's quaternion is not inverted in the product: base times body is no relative "
    "rotation.",
    (_QUAT, "(B * T)"),
)
slip(
    "body_inverted",
    "The body's rotation is inverted instead of the base's: the inverse of the base's stands on "
    "the left of the body's as it is.",
    (_QUAT, "(B * T.inv())"),
)
slip(
    "body_inverted",
    "Both rotations are inverted: only the base's is.",
    (_QUAT, "(B.inv() * T.inv())"),
)
slip(
    "quaternion_in_the_world",
    "The position is right, but the quaternion is the body's in the world: take the base's "
    "rotation out of it.",
    (_QUAT, "T"),
)
slip(
    "rotation_vectors_subtracted",
    "The rotations are subtracted as rotation vectors. Rotations in three dimensions do not "
    "subtract: multiply by the inverse quaternion.",
    (_QUAT, "Rotation.from_rotvec(T.as_rotvec() - B.as_rotvec())"),
)
slip(
    "returns_scalar_first",
    "The quaternion comes out as (w, x, y, z), MuJoCo's order. Poses leave through the boundary as "
    "(x, y, z, w).",
    ("as_quat()", "as_quat(scalar_first=True)"),
)
_SCALAR_LAST = (
    "reads_scalar_last",
    "MuJoCo's quaternions (w, x, y, z) are read as (x, y, z, w). Change the order when they come "
    "out of `data`.",
)
slip(*_SCALAR_LAST, (", scalar_first=True", ""))
slip(*_SCALAR_LAST, (", scalar_first=True", ""), ("B.inv().apply(", "b.xmat.reshape(3, 3).T @ ("))

# Both
slip(
    "inverse_the_wrong_way",
    "Your result is the pose of the base seen from the body: the inverse of what is asked for.",
    ("data.body(base), data.body(body)", "data.body(body), data.body(base)"),
)
slip(
    "pose_in_the_world",
    "The base is ignored: your result is the body's pose in the world.",
    ("data.body(base)", "data.body(0)"),
)
slip(
    "one_base_for_all",
    "The base is always body 1 in your result; `base` says which body it is.",
    ("    B =", "    b = data.body(1)\n    B ="),
)
_RELATIVE = ("model.body(body).parentid", "model.body(body).rootid")
for _base in ('"base"', *(f"int({id}[0])" for id in _RELATIVE)):
    for _edit in ("data.body({})", "(data.body(base), data.body({}))[1]"):  # unknown names refused
        slip(
            "one_base_for_all",
            "`base` has no effect: the body is always seen from the arm's base, from its parent or "
            "from the root of its tree. `base` says which body to look from.",
            ("data.body(base)", _edit.format(_base)),
        )
slip(
    "nothing_turned",
    "Neither half is brought into the base's frame: the position is a difference along the world's "
    "axes and the quaternion is the body's in the world.",
    *((_POS, _DIFFERENCE), (_QUAT, "T")),
)
slip(
    "composes_instead",
    "The pose is composed (base times body), as if the body's world pose were given in the base's "
    "frame. The base has to be inverted.",
    *((_POS, "b.xpos + B.apply(t.xpos)"), (_QUAT, "(B * T)")),
)
slip(
    "model_constants",
    "These are the constants of the model (`body_pos`, `body_quat`), relative to the body's parent "
    "and for the joints at zero. The pose now is in `data.xpos` and `data.xquat`.",
    ("return pos, quat", "return model.body(body).pos.copy(), np.roll(model.body(body).quat, -1)"),
)
slip(
    "world_is_not_a_base",
    "With the world as base the pose comes out in another order of the quaternion. The world is a "
    "body like the others: its frame is the identity.",
    ("    B =", '    if base == "world":\n        return t.xpos.copy(), t.xquat.copy()\n    B ='),
)

# The form, and unknown names
slips_in_the_pair(slip)
slip(
    "unknown_name_accepted",
    "An unknown name becomes id -1, which reads the last body. `mj_name2id` returns -1 for a name "
    "that does not exist: raise a KeyError then.",
    *(
        (
            f"data.body({x})",
            f"data.body(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, {x}) % model.nbody)",
        )
        for x in ("base", "body")
    ),
)


# More right answers.
@exercise.variant("rotation matrices")
def by_matrices():
    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        R = b.xmat.reshape(3, 3).T @ t.xmat.reshape(3, 3)
        quat = np.empty(4)
        mujoco.mju_mat2Quat(quat, R.flatten())
        w, x, y, z = quat
        return (t.xpos - b.xpos) @ b.xmat.reshape(3, 3), [x, y, z, w]


@exercise.variant("4 x 4 matrices and a linear solve, lists returned")
def by_solve():
    from scipy.spatial.transform import Rotation

    def _T(d):
        T = np.eye(4)
        T[:3, :3] = d.xmat.reshape(3, 3)
        T[:3, 3] = d.xpos
        return T

    def body_pose_in(model, data, base, body):
        T = np.linalg.solve(_T(data.body(base)), _T(data.body(body)))
        return [list(T[:3, 3]), list(-Rotation.from_matrix(T[:3, :3]).as_quat())]


@exercise.variant("quaternion routines of MuJoCo, names looked up with a check")
def by_quaternions():
    def _id(model, name):
        found = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY.value, name)
        if found < 0:
            raise KeyError(name)
        return found

    def body_pose_in(model, data, base, body):
        i, j = _id(model, base), _id(model, body)
        back = np.zeros(4)
        mujoco.mju_negQuat(back, data.xquat[i])
        pos, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_rotVecQuat(pos, data.xpos[j] - data.xpos[i], back)
        mujoco.mju_mulQuat(quat, back, data.xquat[j])
        return pos, quat[[1, 2, 3, 0]]
