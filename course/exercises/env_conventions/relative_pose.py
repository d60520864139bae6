"""`relative_pose`: where one body is, seen from another."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, quaternion
from course.exercises.env_conventions import rigs

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


def _case(seed, base, body, **more):
    return call("body_pose_in", rigs.arm(), rigs.moving(seed), base, body, compare=POSE, **more)


@exercise.part("ordinary pairs of bodies", points=1.5)
def ordinary():
    pairs = [
        ("base", "tool"),
        ("tool", "base"),
        ("base", "wrist"),
        ("carriage", "tool"),
        ("parcel", "tool"),
        ("tool", "parcel"),
        ("bob", "elbow"),
        ("column", "carriage"),
    ]
    return [_case(100 + i, base, body) for i, (base, body) in enumerate(pairs)]


@exercise.part("edge cases: the same body, the world", points=1)
def edges():
    return [
        _case(110, "tool", "tool", label="base and body are the same"),
        _case(111, "base", "base", label="base and body are the same"),
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


@exercise.misconception(
    "Your result is the pose of the base seen from the body: the inverse of what is asked for."
)
def inverse_the_wrong_way():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(t.xquat, scalar_first=True).inv()
        relative = turn * Rotation.from_quat(b.xquat, scalar_first=True)
        return turn.apply(b.xpos - t.xpos), relative.as_quat()


@exercise.misconception(
    "The position is the difference along the world's axes. Turn it by the inverse of the base's "
    "rotation: the answer is given along the base's own axes."
)
def difference_in_world_axes():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True).inv()
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return t.xpos - b.xpos, relative.as_quat()


@exercise.misconception(
    "The difference of positions is turned by the base's rotation; it takes the inverse to bring a "
    "world vector into the base's frame."
)
def rotated_by_the_base_itself():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True)
        relative = turn.inv() * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(t.xpos - b.xpos), relative.as_quat()


@exercise.misconception(
    "The position is turned into the base's frame, but the base's own position is not subtracted."
)
def forgets_the_bases_position():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True).inv()
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(t.xpos), relative.as_quat()


@exercise.misconception(
    "The difference of positions is taken the wrong way round: it is the body's minus the base's."
)
def difference_reversed():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True).inv()
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(b.xpos - t.xpos), relative.as_quat()


@exercise.misconception("The base is ignored: your result is the body's pose in the world.")
def pose_in_the_world():
    def body_pose_in(model, data, base, body):
        return data.body(body).xpos.copy(), np.roll(data.body(body).xquat, -1)


@exercise.misconception(
    "The quaternion comes out as (w, x, y, z), MuJoCo's order. Poses leave through the boundary as "
    "(x, y, z, w)."
)
def returns_scalar_first():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True).inv()
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(t.xpos - b.xpos), relative.as_quat(scalar_first=True)


@exercise.misconception(
    "MuJoCo's quaternions (w, x, y, z) are read as (x, y, z, w). Change the order when they come "
    "out of `data`."
)
def reads_scalar_last():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat).inv()
        return turn.apply(t.xpos - b.xpos), (turn * Rotation.from_quat(t.xquat)).as_quat()


@exercise.misconception(
    "MuJoCo's quaternions (w, x, y, z) are read as (x, y, z, w). Change the order when they come "
    "out of `data`.",
    id="reads_scalar_last",
)
def reads_scalar_last_good_position():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat).inv()
        pos = b.xmat.reshape(3, 3).T @ (t.xpos - b.xpos)
        return pos, (turn * Rotation.from_quat(t.xquat)).as_quat()


@exercise.misconception(
    "The quaternions are multiplied in the wrong order: the inverse of the base's stands on the "
    "left of the body's."
)
def product_reversed():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True).inv()
        relative = Rotation.from_quat(t.xquat, scalar_first=True) * turn
        return turn.apply(t.xpos - b.xpos), relative.as_quat()


@exercise.misconception(
    "The base's quaternion is not inverted in the product: base times body is no relative rotation."
)
def base_not_inverted():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True)
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.inv().apply(t.xpos - b.xpos), relative.as_quat()


@exercise.misconception(
    "The position is right, but the quaternion is the body's in the world: take the base's "
    "rotation out of it."
)
def quaternion_in_the_world():
    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        pos = b.xmat.reshape(3, 3).T @ (t.xpos - b.xpos)
        return pos, np.roll(t.xquat, -1)


@exercise.misconception(
    "The pose is composed (base times body), as if the body's world pose were given in the base's "
    "frame. The base has to be inverted."
)
def composes_instead():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True)
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return b.xpos + turn.apply(t.xpos), relative.as_quat()


@exercise.misconception(
    "These are the constants of the model (`body_pos`, `body_quat`), relative to the body's parent "
    "and for the joints at zero. The pose now is in `data.xpos` and `data.xquat`."
)
def model_constants():
    def body_pose_in(model, data, base, body):
        model.body(base)
        return model.body(body).pos.copy(), np.roll(model.body(body).quat, -1)


@exercise.misconception(
    "These are the frames of the centres of mass (`xipos`); a body's own frame is `xpos`, `xquat`."
)
def frames_of_the_com():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        R = b.ximat.reshape(3, 3)
        relative = Rotation.from_matrix(R.T @ t.ximat.reshape(3, 3))
        return R.T @ (t.xipos - b.xipos), relative.as_quat()


@exercise.misconception(
    "These are the frames of the centres of mass (`xipos`); a body's own frame is `xpos`, `xquat`.",
    id="frames_of_the_com",
)
def positions_of_the_com():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True).inv()
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(t.xipos - b.xipos), relative.as_quat()


@exercise.misconception(
    "An unknown name becomes id -1, which reads the last body. `mj_name2id` returns -1 for a name "
    "that does not exist: raise a KeyError then."
)
def unknown_name_accepted():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        i = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, base)
        j = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
        turn = Rotation.from_quat(data.xquat[i], scalar_first=True).inv()
        relative = turn * Rotation.from_quat(data.xquat[j], scalar_first=True)
        return turn.apply(data.xpos[j] - data.xpos[i]), relative.as_quat()


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


_wrong = exercise.slips(exercise.variants[-1].cell)


_wrong(
    "nothing_turned",
    "Neither half is brought into the base's frame: the position is a difference along the world's "
    "axes and the quaternion is the body's in the world.",
    ("B.inv().apply(t.xpos - b.xpos)", "t.xpos - b.xpos"),
    ("(B.inv() * T)", "T"),
)
_wrong(
    "quaternion_inverse",
    "The position is right, the quaternion is that of the base seen from the body: the inverse "
    "rotation.",
    ("B.inv() * T", "T.inv() * B"),
)
_wrong(
    "rotated_by_the_body",
    "The difference is turned by the body's rotation; it has to come along the *base's* axes.",
    ("B.inv().apply", "T.inv().apply"),
)
_wrong(
    "rotated_by_the_body",
    "The difference is turned by the body's rotation; it has to come along the *base's* axes.",
    ("B.inv().apply", "T.apply"),
)
_wrong(
    "quat_before_pos",
    "The result is (quat, pos); a pose is (pos, quat).",
    ("return pos, quat", "return quat, pos"),
)
_wrong(
    "one_vector_of_seven",
    "The pose comes as one vector of seven numbers; a pose here is a pair `(pos, quat)`.",
    ("return pos, quat", "return np.concatenate([pos, quat])"),
)
_wrong(
    "a_matrix_for_the_quaternion",
    "The rotation comes as a matrix; a pose here is `(pos, quat)`.",
    (".as_quat()", ".as_matrix()"),
)
_wrong(
    "position_in_the_world",
    "The quaternion is relative, but the position is the body's in the world.",
    ("B.inv().apply(t.xpos - b.xpos)", "t.xpos.copy()"),
)
_wrong(
    "positions_added",
    "The positions are added; it is the body's minus the base's.",
    ("t.xpos - b.xpos", "t.xpos + b.xpos"),
)
_wrong(
    "rotation_vectors_subtracted",
    "The rotations are subtracted as rotation vectors. Rotations in three dimensions do not "
    "subtract: multiply by the inverse quaternion.",
    ("(B.inv() * T)", "Rotation.from_rotvec(T.as_rotvec() - B.as_rotvec())"),
)
_wrong(
    "body_inverted",
    "The body's rotation is inverted instead of the base's: the inverse of the base's stands on "
    "the left of the body's as it is.",
    ("B.inv() * T", "B * T.inv()"),
)
_wrong(
    "body_inverted",
    "Both rotations are inverted: only the base's is.",
    ("B.inv() * T", "B.inv() * T.inv()"),
)
_wrong(
    "world_is_not_a_base",
    "With the world as base the pose comes out in another order of the quaternion. The world is a "
    "body like the others: its frame is the identity.",
    (
        "        b, t = data.body(base), data.body(body)\n".replace("        ", "    ", 1),
        "    b, t = data.body(base), data.body(body)\n"
        '    if base == "world":\n        return t.xpos.copy(), t.xquat.copy()\n',
    ),
)


@exercise.misconception(
    "Position and orientation are both turned by the base's rotation; it takes the inverse to "
    "bring what is given in the world into the base's frame.",
    id="rotated_by_the_base_itself",
)
def both_rotated_by_the_base_itself():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True)
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(t.xpos - b.xpos), relative.as_quat()


@exercise.misconception(
    "`xipos` is the centre of mass; the pose of a body is that of its frame, `xpos`.",
    id="centre_of_mass",
)
def centre_of_the_body():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        b, t = data.body(base), data.body(body)
        turn = Rotation.from_quat(b.xquat, scalar_first=True).inv()
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(t.xipos - b.xpos), relative.as_quat()


@exercise.misconception("The base is always body 1 in your result; `base` says which body it is.")
def one_base_for_all():
    from scipy.spatial.transform import Rotation

    def body_pose_in(model, data, base, body):
        data.body(base)
        t = data.body(body)
        turn = Rotation.from_quat(data.xquat[1], scalar_first=True).inv()
        relative = turn * Rotation.from_quat(t.xquat, scalar_first=True)
        return turn.apply(t.xpos - data.xpos[1]), relative.as_quat()
