"""`compose_pose`: a pose given in a parent's frame, said in the parent's parent's."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, quaternion

exercise = Exercise(
    "compose_pose",
    points=3,
    provides=("compose_pose",),
    core=True,
    uses=("quaternion_order",),
)

POSE = each([close(), quaternion()])
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def _pose(rng):
    quat = rng.normal(size=4)
    return rng.uniform(-1, 1, 3), quat / np.linalg.norm(quat)


@exercise.reference
def reference():
    def compose_pose(parent, child):
        """Nest two bodies with these poses and ask MuJoCo where the inner one is."""
        spec = mujoco.MjSpec()
        body = spec.worldbody
        for pos, quat in (parent, child):
            body = body.add_body(pos=np.asarray(pos, float), quat=np.roll(quat, 1))
        model = spec.compile()
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        return data.xpos[2].copy(), np.roll(data.xquat[2], -1)

    return {"compose_pose": compose_pose}


@exercise.part("ordinary poses", points=1.5)
def ordinary():
    rng = np.random.default_rng(71)
    return [call("compose_pose", _pose(rng), _pose(rng), compare=POSE) for _ in range(12)]


@exercise.part("edge cases: identities, half turns", points=1)
def edges():
    rng = np.random.default_rng(72)
    half_x, half_z = np.array([1.0, 0, 0, 0]), np.array([0, 0, 1.0, 0])
    tilted = np.array([0.6, 0.0, 0.8, 0.0])
    zero = np.zeros(3)
    a, b, c = _pose(rng), _pose(rng), _pose(rng)
    pairs = [
        ((zero, IDENTITY), a, "the parent is the identity"),
        (a, (zero, IDENTITY), "the child is the identity"),
        ((b[0], IDENTITY), c, "the parent is only shifted"),
        ((zero, b[1]), c, "the parent is only turned"),
        (c, (b[0], IDENTITY), "the child is only shifted"),
        (c, (zero, b[1]), "the child is only turned"),
        ((b[0], half_z), c, "the parent makes half a turn about z"),
        ((b[0], half_x), (c[0], half_z), "two half turns"),
        ((a[0], tilted), (b[0], half_x), "half a turn about a tilted axis"),
        (b, c, ""),
    ]
    return [call("compose_pose", p, q, label=label, compare=POSE) for p, q, label in pairs]


@exercise.part("contract: lists accepted, inputs left as they were", points=0.5)
def contract():
    rng = np.random.default_rng(73)
    cases = []
    for _ in range(3):
        (p, q), (r, s) = _pose(rng), _pose(rng)
        cases += [
            call("compose_pose", (p, q), (r, s), compare=POSE, unchanged=True),
            call(
                "compose_pose",
                (p.tolist(), q.tolist()),
                (tuple(r.tolist()), tuple(s.tolist())),
                label="lists and tuples",
                compare=POSE,
            ),
        ]
    cases.append(
        call(
            "compose_pose",
            ([1, 2, 3], [0, 0, 1, 0]),
            ([1, 0, 0], [0, 0, 0, 1]),
            label="integers",
            compare=POSE,
        )
    )
    return cases


@exercise.misconception(
    "Parent and child are exchanged: your result is the parent composed into the child. The "
    "child's position is turned by the parent's quaternion, and the parent's quaternion stands on "
    "the left."
)
def swapped():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = child, parent
        turn = Rotation.from_quat(pq)
        return np.asarray(pp) + turn.apply(cp), (turn * Rotation.from_quat(cq)).as_quat()


@exercise.misconception(
    "The child's position is added without being turned: it is given along the parent's axes, so "
    "it has to be turned by the parent's quaternion first."
)
def position_not_rotated():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turned = Rotation.from_quat(pq) * Rotation.from_quat(cq)
        return np.asarray(pp, float) + np.asarray(cp, float), turned.as_quat()


@exercise.misconception(
    "The quaternions are used as (w, x, y, z): MuJoCo's routines were given the interface's "
    "(x, y, z, w). Change the order at the boundary, on the way in and on the way out."
)
def scalar_first_inside():
    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        pos, quat = np.zeros(3), np.zeros(4)
        mujoco.mju_mulPose(
            pos,
            quat,
            np.array(pp, float),
            np.array(pq, float),
            np.array(cp, float),
            np.array(cq, float),
        )
        return pos, quat


@exercise.misconception(
    "The position is right, but the quaternions are multiplied as (w, x, y, z); they are "
    "(x, y, z, w) here.",
    id="scalar_first_inside",
)
def scalar_first_product():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        quat = np.zeros(4)
        mujoco.mju_mulQuat(quat, np.array(pq, float), np.array(cq, float))
        return np.asarray(pp) + Rotation.from_quat(pq).apply(cp), quat


@exercise.misconception(
    "The position is turned with the parent's quaternion read as (w, x, y, z); it is (x, y, z, w).",
    id="scalar_first_inside",
)
def scalar_first_position():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        pos = np.zeros(3)
        mujoco.mju_rotVecQuat(pos, np.array(cp, float), np.array(pq, float))
        turned = Rotation.from_quat(pq) * Rotation.from_quat(cq)
        return np.asarray(pp) + pos, turned.as_quat()


@exercise.misconception(
    "The result's quaternion comes out as (w, x, y, z). It was right inside; put the scalar last "
    "again before you return it."
)
def returns_scalar_first():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq)
        quat = (turn * Rotation.from_quat(cq)).as_quat()
        return np.asarray(pp) + turn.apply(cp), np.roll(quat, 1)


@exercise.misconception(
    "The position is right, but the quaternions are multiplied in the other order: it is parent "
    "times child."
)
def product_reversed():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq)
        return np.asarray(pp) + turn.apply(cp), (Rotation.from_quat(cq) * turn).as_quat()


@exercise.misconception(
    "The child's position is turned by the inverse of the parent's rotation. A vector given in the "
    "parent's frame is brought out of it by the rotation itself."
)
def rotated_by_the_inverse():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq)
        pos = np.asarray(pp) + turn.inv().apply(cp)
        return pos, (turn * Rotation.from_quat(cq)).as_quat()


@exercise.misconception(
    "The parent is inverted before it is used: your result is the child seen from somewhere else, "
    "not brought out of the parent's frame."
)
def parent_inverted():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq).inv()
        return turn.apply(np.subtract(cp, pp)), (turn * Rotation.from_quat(cq)).as_quat()


@exercise.misconception(
    "The child's position is turned by its own quaternion. Its position is given in the parent's "
    "frame: only the parent's quaternion turns it."
)
def rotated_by_the_child():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        own = Rotation.from_quat(cq)
        pos = np.asarray(pp) + own.apply(cp)
        return pos, (Rotation.from_quat(pq) * own).as_quat()


@exercise.misconception(
    "The child's position is turned by the product of both quaternions: the child's own turn "
    "happens after its position is reached, so only the parent's counts for it."
)
def rotated_by_the_product():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        both = Rotation.from_quat(pq) * Rotation.from_quat(cq)
        return np.asarray(pp) + both.apply(cp), both.as_quat()


@exercise.misconception(
    "The parent's position is turned too. It is already given in the outer frame; only the child's "
    "position is turned."
)
def turns_the_parents_position():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq)
        pos = turn.apply(np.add(pp, cp))
        return pos, (turn * Rotation.from_quat(cq)).as_quat()


@exercise.misconception("The parent's position is left out of the sum.")
def forgets_the_parents_position():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq)
        return turn.apply(cp), (turn * Rotation.from_quat(cq)).as_quat()


@exercise.misconception(
    "The result has the child's own quaternion: the parent's rotation is not composed into it."
)
def keeps_the_childs_quaternion():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        return np.asarray(pp) + Rotation.from_quat(pq).apply(cp), np.array(cq, float)


@exercise.misconception(
    "The quaternions are added or multiplied entry by entry. Rotations compose by the quaternion "
    "product."
)
def entrywise_sum():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        quat = np.add(pq, cq)
        pos = np.asarray(pp) + Rotation.from_quat(pq).apply(cp)
        return pos, quat / max(np.linalg.norm(quat), 1e-12)


@exercise.misconception(
    "The quaternions are added or multiplied entry by entry. Rotations compose by the quaternion "
    "product.",
    id="entrywise_sum",
)
def entrywise_product():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        return np.asarray(pp) + Rotation.from_quat(pq).apply(cp), np.multiply(pq, cq)


@exercise.misconception("The result is (quat, pos); a pose is (pos, quat).")
def quat_before_pos():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq)
        return (turn * Rotation.from_quat(cq)).as_quat(), np.asarray(pp) + turn.apply(cp)


@exercise.misconception(
    "The parent's position is changed by `+=` inside your function: work on a copy."
)
def adds_in_place():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        turn = Rotation.from_quat(pq)
        pp = np.asarray(pp)
        if pp.dtype == float:
            pp += turn.apply(cp)
        else:
            pp = pp + turn.apply(cp)
        return pp, (turn * Rotation.from_quat(cq)).as_quat()


@exercise.variant("MuJoCo's pose product, order changed at the boundary")
def by_mujoco():
    def compose_pose(parent, child):
        pos, quat = np.empty(3), np.empty(4)
        mujoco.mju_mulPose(
            pos,
            quat,
            np.array(parent[0], float),
            np.roll(np.array(parent[1], float), 1),
            np.array(child[0], float),
            np.roll(np.array(child[1], float), 1),
        )
        return pos, np.roll(quat, -1)


@exercise.variant("4 x 4 matrices, lists returned")
def by_matrices():
    from scipy.spatial.transform import Rotation

    def _matrix(pose):
        T = np.eye(4)
        T[:3, :3] = Rotation.from_quat(pose[1]).as_matrix()
        T[:3, 3] = pose[0]
        return T

    def compose_pose(parent, child):
        T = _matrix(parent) @ _matrix(child)
        return [T[:3, 3].tolist(), Rotation.from_matrix(T[:3, :3]).as_quat().tolist()]


@exercise.variant("Hamilton's product by hand, scalar last")
def by_hand():
    def _times(p, q):
        (x1, y1, z1, w1), (x2, y2, z2, w2) = p, q
        return np.array(
            [
                w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
                w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
                w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
                w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            ]
        )

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        conjugate = (-pq[0], -pq[1], -pq[2], pq[3])
        v = _times(_times(pq, (*cp, 0.0)), conjugate)[:3]
        return (np.array(pp, float) + v, -_times(pq, cq))


@exercise.variant("SciPy's rigid transforms")
def by_rigid_transform():
    from scipy.spatial.transform import RigidTransform, Rotation

    def compose_pose(parent, child):
        def make(pose):
            return RigidTransform.from_components(
                np.asarray(pose[0], float), Rotation.from_quat(pose[1])
            )

        both = make(parent) * make(child)
        return both.translation, both.rotation.as_quat()


@exercise.variant("SciPy, one expression for each half")
def by_rotations():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        P, C = Rotation.from_quat(pq), Rotation.from_quat(cq)
        pos = np.asarray(pp) + P.apply(cp)
        quat = (P * C).as_quat()
        return pos, quat


_wrong = exercise.slips(exercise.variants[-1].cell)


for _product in ("P * C.inv()", "P.inv() * C", "P.inv() * C.inv()", "C * P.inv()", "C.inv() * P"):
    _wrong(
        "inverts_a_quaternion",
        "The position is right, but one of the quaternions is inverted (conjugated) in the "
        "product: it is parent times child as they are.",
        ("P * C)", f"{_product})"),
    )
_wrong(
    "conjugate_of_the_product",
    "The resulting quaternion is the conjugate of the right one: the inverse rotation.",
    ("(P * C)", "(P * C).inv()"),
)
_wrong(
    "keeps_the_parents_quaternion",
    "The result has the parent's own quaternion: the child's rotation is not composed into it.",
    ("(P * C)", "P"),
)
_wrong(
    "rotation_vectors_added",
    "The rotations are added as rotation vectors (or angles). Rotations in three dimensions do not "
    "add: multiply the quaternions.",
    ("(P * C)", "Rotation.from_rotvec(P.as_rotvec() + C.as_rotvec())"),
)
_wrong(
    "rotation_vectors_added",
    "The rotations are added as Euler angles. Rotations in three dimensions do not add: multiply "
    "the quaternions.",
    ("(P * C)", 'Rotation.from_euler("xyz", P.as_euler("xyz") + C.as_euler("xyz"))'),
)
_wrong(
    "position_subtracted",
    "The turned position of the child is subtracted: the child lies at the parent's position "
    "*plus* its own, turned.",
    ("+ P.apply", "- P.apply"),
)
_wrong(
    "swapped_position",
    "The quaternion is right; in the position parent and child are exchanged: the parent's "
    "position stays as it is, the child's is turned by the parent's quaternion.",
    ("np.asarray(pp) + P.apply(cp)", "np.asarray(cp) + C.apply(pp)"),
)
_wrong(
    "swapped_position",
    "The quaternion is right; in the position the parent's is turned instead of the child's.",
    ("np.asarray(pp) + P.apply(cp)", "P.apply(pp) + np.asarray(cp)"),
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
    "a_matrix_for_the_quaternion",
    "The rotation comes as Euler angles or a rotation vector; a pose here is `(pos, quat)`.",
    (".as_quat()", ".as_rotvec()"),
)
_wrong(
    "order_changed_the_wrong_way",
    "The order of the quaternion is changed the wrong way: from (x, y, z, w) to (w, x, y, z) the "
    "last entry moves to the front.",
    ("Rotation.from_quat(pq)", "Rotation.from_quat(np.roll(pq, -1), scalar_first=True)"),
    ("Rotation.from_quat(cq)", "Rotation.from_quat(np.roll(cq, -1), scalar_first=True)"),
    ("(P * C).as_quat()", "np.roll((P * C).as_quat(scalar_first=True), 1)"),
)
_wrong(
    "not_in_the_sum",
    "The child's position is left out: the result lies at the parent's origin.",
    (" + P.apply(cp)", ""),
)


@exercise.misconception(
    "The child's position is not turned by the parent, and the quaternions are multiplied in the "
    "wrong order: the parent's comes first.",
    id="position_not_rotated",
)
def nothing_in_its_place():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        turn = Rotation.from_quat(child[1]) * Rotation.from_quat(parent[1])
        return np.add(parent[0], child[0]), turn.as_quat()


@exercise.misconception(
    "You use the inverse of the parent's rotation: it leads from the outer frame to the parent's, "
    "and the child has to go the other way."
)
def inverse_of_the_parent():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        turn = Rotation.from_quat(parent[1]).inv()
        return parent[0] + turn.apply(child[0]), (turn * Rotation.from_quat(child[1])).as_quat()


@exercise.misconception("A pose is a position and a quaternion; you return the position alone.")
def position_alone():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        return parent[0] + Rotation.from_quat(parent[1]).apply(child[0])
