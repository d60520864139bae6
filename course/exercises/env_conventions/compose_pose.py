"""`compose_pose`: a pose given in a parent's frame, said in the parent's parent's."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises import Exercise, call, close, each, quaternion
from course.exercises.env_conventions.poses import slips_in_the_pair

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


@exercise.variant("SciPy, one expression for each half")
def by_rotations():
    from scipy.spatial.transform import Rotation

    def compose_pose(parent, child):
        (pp, pq), (cp, cq) = parent, child
        P, C = Rotation.from_quat(pq), Rotation.from_quat(cq)
        pos = np.asarray(pp) + P.apply(cp)
        quat = (P * C).as_quat()
        return pos, quat


# Misconceptions: a cell above with one thing changed.
slip = exercise.slips(exercise.variants[0].cell)

_POS, _QUAT = "np.asarray(pp) + P.apply(cp)", "(P * C)"

# The position
slip(
    "swapped",
    "Parent and child are exchanged: your result is the parent composed into the child. The "
    "child's position is turned by the parent's quaternion, and the parent's quaternion stands on "
    "the left.",
    ("= parent, child", "= child, parent"),
)
slip(
    "position_not_rotated",
    "The child's position is added without being turned: it is given along the parent's axes, so "
    "it has to be turned by the parent's quaternion first.",
    (_POS, "np.add(pp, cp)"),
)
slip(
    "position_not_rotated",
    "The child's position is not turned by the parent, and the quaternions are multiplied in the "
    "wrong order: the parent's comes first.",
    *((_POS, "np.add(pp, cp)"), (_QUAT, "(C * P)")),
)
slip(
    "rotated_by_the_inverse",
    "The child's position is turned by the inverse of the parent's rotation. A vector given in the "
    "parent's frame is brought out of it by the rotation itself.",
    ("P.apply", "P.inv().apply"),
)
slip(
    "rotated_by_the_child",
    "The child's position is turned by its own quaternion. Its position is given in the parent's "
    "frame: only the parent's quaternion turns it.",
    ("P.apply", "C.apply"),
)
slip(
    "rotated_by_the_product",
    "The child's position is turned by the product of both quaternions: the child's own turn "
    "happens after its position is reached, so only the parent's counts for it.",
    ("P.apply", "(P * C).apply"),
)
slip(
    "turns_the_parents_position",
    "The parent's position is turned too. It is already given in the outer frame; only the child's "
    "position is turned.",
    (_POS, "P.apply(np.add(pp, cp))"),
)
slip(
    "swapped_position",
    "The quaternion is right; in the position parent and child are exchanged: the parent's "
    "position stays as it is, the child's is turned by the parent's quaternion.",
    (_POS, "np.asarray(cp) + C.apply(pp)"),
)
slip(
    "swapped_position",
    "The quaternion is right; in the position the parent's is turned instead of the child's.",
    (_POS, "P.apply(pp) + np.asarray(cp)"),
)
slip(
    "position_subtracted",
    "The turned position of the child is subtracted: the child lies at the parent's position "
    "*plus* its own, turned.",
    ("+ P.apply", "- P.apply"),
)
slip(
    "forgets_the_parents_position",
    "The parent's position is left out of the sum.",
    ("np.asarray(pp) + ", ""),
)
slip(
    "not_in_the_sum",
    "The child's position is left out: the result lies at the parent's origin.",
    (" + P.apply(cp)", ""),
)
slip(
    "parent_inverted",
    "The parent is inverted before it is used: your result is the child seen from somewhere else, "
    "not brought out of the parent's frame.",
    *((_POS, "P.inv().apply(np.subtract(cp, pp))"), (_QUAT, "(P.inv() * C)")),
)
slip(
    "inverse_of_the_parent",
    "You use the inverse of the parent's rotation: it leads from the outer frame to the parent's, "
    "and the child has to go the other way.",
    ("Rotation.from_quat(pq)", "Rotation.from_quat(pq).inv()"),
)

# The quaternion
slip(
    "product_reversed",
    "The position is right, but the quaternions are multiplied in the other order: it is parent "
    "times child.",
    (_QUAT, "(C * P)"),
)
for _product in ("P * C.inv()", "P.inv() * C", "P.inv() * C.inv()", "C * P.inv()", "C.inv() * P"):
    slip(
        "inverts_a_quaternion",
        "The position is right, but one of the quaternions is inverted (conjugated) in the "
        "product: it is parent times child as they are.",
        (_QUAT, f"({_product})"),
    )
slip(
    "conjugate_of_the_product",
    "The resulting quaternion is the conjugate of the right one: the inverse rotation.",
    (_QUAT, "(P * C).inv()"),
)
slip(
    "keeps_the_childs_quaternion",
    "The result has the child's own quaternion: the parent's rotation is not composed into it.",
    (_QUAT, "C"),
)
slip(
    "keeps_the_parents_quaternion",
    "The result has the parent's own quaternion: the child's rotation is not composed into it.",
    (_QUAT, "P"),
)
slip(
    "rotation_vectors_added",
    "The rotations are added as rotation vectors (or angles). Rotations in three dimensions do not "
    "add: multiply the quaternions.",
    (_QUAT, "Rotation.from_rotvec(P.as_rotvec() + C.as_rotvec())"),
)
slip(
    "rotation_vectors_added",
    "The rotations are added as Euler angles. Rotations in three dimensions do not add: multiply "
    "the quaternions.",
    (_QUAT, 'Rotation.from_euler("xyz", P.as_euler("xyz") + C.as_euler("xyz"))'),
)
for _entries in (
    "np.add(pq, cq) / max(np.linalg.norm(np.add(pq, cq)), 1e-12)",
    "np.multiply(pq, cq)",
):
    slip(
        "entrywise_sum",
        "The quaternions are added or multiplied entry by entry. Rotations compose by the "
        "quaternion product.",
        ("(P * C).as_quat()", _entries),
    )

# The order of its entries
slip(
    "scalar_first_inside",
    "The quaternions are used as (w, x, y, z): MuJoCo's routines were given the interface's "
    "(x, y, z, w). Change the order at the boundary, on the way in and on the way out.",
    *((f"from_quat({q})", f"from_quat({q}, scalar_first=True)") for q in ("pq", "cq")),
    ("as_quat()", "as_quat(scalar_first=True)"),
)
slip(
    "scalar_first_inside",
    "The position is right, but the quaternions are multiplied as (w, x, y, z); they are "
    "(x, y, z, w) here.",
    (
        "(P * C).as_quat()",
        "np.zeros(4)\n    mujoco.mju_mulQuat(quat, np.array(pq, float), np.array(cq, float))",
    ),
)
slip(
    "scalar_first_inside",
    "The position is turned with the parent's quaternion read as (w, x, y, z); it is (x, y, z, w).",
    ("P.apply", "Rotation.from_quat(pq, scalar_first=True).apply"),
)
slip(
    "returns_scalar_first",
    "The result's quaternion comes out as (w, x, y, z). It was right inside; put the scalar last "
    "again before you return it.",
    ("as_quat()", "as_quat(scalar_first=True)"),
)
slip(
    "order_changed_the_wrong_way",
    "The order of the quaternion is changed the wrong way: from (x, y, z, w) to (w, x, y, z) the "
    "last entry moves to the front.",
    *((f"({q})", f"(np.roll({q}, -1), scalar_first=True)") for q in ("pq", "cq")),
    ("(P * C).as_quat()", "np.roll((P * C).as_quat(scalar_first=True), 1)"),
)

# The form
slips_in_the_pair(slip)
slip(
    "position_alone",
    "A pose is a position and a quaternion; you return the position alone.",
    ("return pos, quat", "return pos"),
)
slip(
    "a_matrix_for_the_quaternion",
    "The rotation comes as Euler angles or a rotation vector; a pose here is `(pos, quat)`.",
    (".as_quat()", ".as_rotvec()"),
)
slip(
    "adds_in_place",
    "The parent's position is changed by `+=` inside your function: work on a copy.",
    (
        f"pos = {_POS}",
        "pos = np.asarray(pp, float)\n    pos += P.apply(cp)",
    ),
)


# More right answers.
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
