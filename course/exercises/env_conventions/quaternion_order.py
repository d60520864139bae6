"""`quaternion_order`: the one pair of functions between (x, y, z, w) and (w, x, y, z)."""

from __future__ import annotations

import numpy as np

from course.exercises import Exercise, call, quaternion

exercise = Exercise(
    "quaternion_order",
    points=3,
    provides=("wxyz_from_xyzw", "xyzw_from_wxyz"),
    core=True,
)

BOTH = ("wxyz_from_xyzw", "xyzw_from_wxyz")


def _unit(rng, *shape):
    quats = rng.normal(size=(*shape, 4))
    return quats / np.linalg.norm(quats, axis=-1, keepdims=True)


@exercise.reference
def reference():
    from scipy.spatial.transform import Rotation

    def reorder(quat, scalar_first_in, scalar_first_out):
        quat = np.asarray(quat, float)
        turned = Rotation.from_quat(quat.reshape(-1, 4), scalar_first=scalar_first_in)
        return turned.as_quat(scalar_first=scalar_first_out).reshape(quat.shape)

    return {
        "wxyz_from_xyzw": lambda quat: reorder(quat, False, True),
        "xyzw_from_wxyz": lambda quat: reorder(quat, True, False),
    }


@exercise.part("single quaternions", points=1)
def single():
    rng = np.random.default_rng(61)
    cases = []
    for function in BOTH:
        cases += [call(function, _unit(rng), compare=quaternion()) for _ in range(8)]
        cases += [
            call(function, np.array(q), label=label, compare=quaternion())
            for q, label in (
                ([0.0, 0.0, 0.0, 1.0], "one of the two identities"),
                ([1.0, 0.0, 0.0, 0.0], "one of the two identities"),
                ([0.0, 0.0, np.sin(np.pi / 8), np.cos(np.pi / 8)], "45 degrees about z"),
            )
        ]
    return cases


@exercise.part("batches, lists and integers", points=1)
def shapes():
    rng = np.random.default_rng(62)
    cases = []
    for function in BOTH:
        cases += [
            call(function, _unit(rng, 5, 2), label="a batch (5, 2, 4)", compare=quaternion()),
            call(function, _unit(rng, 7), label="a batch (7, 4)", compare=quaternion()),
            call(function, _unit(rng, 4), label="a batch (4, 4)", compare=quaternion()),
            call(function, _unit(rng, 1), label="a batch (1, 4)", compare=quaternion()),
            call(function, _unit(rng).tolist(), label="a list", compare=quaternion()),
            call(function, tuple(_unit(rng).tolist()), label="a tuple", compare=quaternion()),
            call(function, _unit(rng, 3).tolist(), label="a list of lists", compare=quaternion()),
            call(function, np.array([0, 1, 0, 0]), label="integers", compare=quaternion()),
            call(function, [1, 0, 0, 0], label="a list of integers", compare=quaternion()),
            call(function, _unit(rng), compare=quaternion()),
        ]
    return cases


@exercise.part("contract: copies, the input left as it was", points=1)
def contract():
    rng = np.random.default_rng(63)
    return [
        call(
            function,
            _unit(rng, *shape),
            label="a new array",
            compare=quaternion(),
            unchanged=True,
            fresh=True,
        )
        for function in BOTH
        for shape in ((), (3,), (2, 3), ())
    ]


# Misconceptions: one right cell with something changed.
slip = exercise.slips(
    """\
def wxyz_from_xyzw(quat):
    return np.roll(np.asarray(quat, float), 1, axis=-1)


def xyzw_from_wxyz(quat):
    return np.roll(np.asarray(quat, float), -1, axis=-1)
"""
)

_IN, _OUT = (f"np.roll(np.asarray(quat, float), {places}, axis=-1)" for places in (1, -1))
_ARRAY = "np.asarray(quat, float)"

# The order
slip(
    "rolls_the_wrong_way",
    "The two functions are exchanged: the roll goes the wrong way. From (x, y, z, w) to "
    "(w, x, y, z) the last entry moves to the front.",
    (" 1, axis", " 0 - 1, axis"),
    (" -1, axis", " 1, axis"),
)
for _same in ((" -1, axis", " 1, axis"), (" 1, axis", " -1, axis")):
    slip(
        "same_roll_twice",
        "Both functions roll the same way. They are inverses: one moves the last entry to the "
        "front, the other moves the first to the end.",
        _same,
    )
slip(
    "reverses_all_four",
    "All four entries are reversed: that also exchanges x and z. Only the scalar changes its "
    "place; x, y, z keep their order.",
    *((way, f"{_ARRAY}[..., ::-1].copy()") for way in (_IN, _OUT)),
)
slip(
    "swaps_the_ends",
    "The first and the last entry are exchanged, which puts x, y, z in the order (y, z, x) or "
    "(z, x, y). The scalar moves; the other three keep their order.",
    *((way, f"{_ARRAY}[..., [3, 1, 2, 0]]") for way in (_IN, _OUT)),
)
slip(
    "changes_nothing",
    "The order is not changed at all: what comes in goes out.",
    *((way, "np.array(quat, float)") for way in (_IN, _OUT)),
)
slip(
    "one_direction_only",
    "One of the two directions is missing or returns its argument; both are needed: one for what "
    "goes in, one for what comes out.",
    (_OUT, "np.array(quat, float)"),
)
slip(
    "conjugates",
    "The order is right, but the vector part changes its sign: that is the conjugate, the inverse "
    "rotation.",
    *((_IN, f"{_IN} * [1, -1, -1, -1]"), (_OUT, f"{_OUT} * [-1, -1, -1, 1]")),
)

# Batches
_ONE = (
    "only_one_dimension",
    "This works for a single quaternion only. The entries lie along the last axis: index with "
    "`quat[..., i]`, or roll along `axis=-1`, and any batch works.",
)
slip(
    *_ONE,
    (_IN, "np.array([quat[i] for i in (3, 0, 1, 2)], float)"),
    (_OUT, "np.array([quat[i] for i in (1, 2, 3, 0)], float)"),
)
slip(
    *_ONE,
    (f"return {_IN}", "x, y, z, w = quat\n    return np.array([w, x, y, z], float)"),
    (f"return {_OUT}", "w, x, y, z = quat\n    return np.array([x, y, z, w], float)"),
)
slip(*_ONE, (", axis=-1", ""))
slip(*_ONE, ("axis=-1", "axis=0"))
slip(*_ONE, (_IN, f"{_ARRAY}[[3, 0, 1, 2]]"), (_OUT, f"{_ARRAY}[[1, 2, 3, 0]]"))
_TO_TWO = f"{_ARRAY}[{{0}}] if np.ndim(quat) == 1 else {_ARRAY}[:, {{0}}]"
slip(
    "up_to_two_dimensions",
    "This handles a list of quaternions but not one of more axes: `quat[..., i]` works for any "
    "number of leading axes.",
    *((_IN, _TO_TWO.format([3, 0, 1, 2])), (_OUT, _TO_TWO.format([1, 2, 3, 0]))),
)

# What comes in
slip(
    "arrays_only",
    "This fails on a list or tuple: turn the argument into an array with `np.asarray` first.",
    *((_IN, "quat[..., [3, 0, 1, 2]]"), (_OUT, "quat[..., [1, 2, 3, 0]]")),
)
slip(
    "works_in_place",
    "The entries are moved inside the argument: the caller's quaternion changes too. Return a "
    "copy.",
    *(
        (
            f"return np.roll({_ARRAY}, {places}, axis=-1)",
            "quat = np.asarray(quat)\n"
            f"    quat[...] = np.roll(quat, {places}, axis=-1)\n    return quat",
        )
        for places in (1, -1)
    ),
)


@exercise.variant("np.roll along the last axis")
def by_roll():
    def wxyz_from_xyzw(quat):
        return np.roll(quat, 1, axis=-1)

    def xyzw_from_wxyz(quat):
        return np.roll(quat, -1, axis=-1)


@exercise.variant("permutation matrices, lambdas")
def by_matrix():
    P = np.eye(4)[[3, 0, 1, 2]]
    wxyz_from_xyzw = lambda quat: np.einsum("ij,...j->...i", P, np.asarray(quat, float))  # noqa: E731
    xyzw_from_wxyz = lambda quat: np.asarray(quat, float) @ P  # noqa: E731


@exercise.variant("lists, recursively")
def by_recursion():
    def _walk(quat, order):
        if np.ndim(quat) == 1:
            return [float(quat[i]) for i in order]
        return [_walk(q, order) for q in quat]

    def wxyz_from_xyzw(quat):
        return _walk(quat, (3, 0, 1, 2))

    def xyzw_from_wxyz(quat):
        return _walk(quat, (1, 2, 3, 0))


@exercise.variant("concatenate, one from the other")
def three_times():
    def wxyz_from_xyzw(quat):
        q = np.array(quat, dtype=float)
        return np.concatenate([q[..., 3:], q[..., :3]], axis=-1)

    def xyzw_from_wxyz(quat):
        for _ in range(3):
            quat = wxyz_from_xyzw(quat)
        return quat


@exercise.variant("SciPy's scalar_first")
def by_scipy():
    from scipy.spatial.transform import Rotation

    def wxyz_from_xyzw(quat):
        q = np.asarray(quat, float)
        turned = Rotation.from_quat(q.reshape(-1, 4))
        return turned.as_quat(scalar_first=True).reshape(q.shape)

    def xyzw_from_wxyz(quat):
        q = np.asarray(quat, float)
        turned = Rotation.from_quat(q.reshape(-1, 4), scalar_first=True)
        return turned.as_quat(canonical=True).reshape(q.shape)


@exercise.variant("moveaxis and stack")
def by_stack():
    def wxyz_from_xyzw(quat):
        x, y, z, w = np.moveaxis(np.asarray(quat), -1, 0)
        return np.stack((w, x, y, z), axis=-1)

    def xyzw_from_wxyz(quat):
        w, x, y, z = np.moveaxis(np.asarray(quat), -1, 0)
        return np.stack((x, y, z, w), axis=-1)
