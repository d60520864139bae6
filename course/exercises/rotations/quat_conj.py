"""`quat_conj`: the conjugate of a quaternion, component by component."""

import itertools

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.rotations import draws

exercise = Exercise("quat_conj", points=1, provides=("quat_conj",), core=True, by_hand=True)


@exercise.reference
def reference():
    def quat_conj(q):
        result = np.empty(4)
        mujoco.mju_negQuat(result, q)
        return result

    return {"quat_conj": quat_conj}


def _quats(seed, count):
    """One in three with a negative scalar part, so that a habit with signs can be told apart."""
    drawn = draws.quats(seed, count)
    return [np.copysign(1.0, q[0]) * q * (-1 if k % 3 == 2 else 1) for k, q in enumerate(drawn)]


@exercise.part("unit quaternions of both signs", points=0.5)
def ordinary():
    cases = [call("quat_conj", q) for q in _quats(10, 20)]
    return [*cases, call("quat_conj", np.array([1.0, 0, 0, 0]), label="the identity")]


@exercise.part("contract: the input is left as it was", points=0.5)
def contract():
    return [call("quat_conj", q, unchanged=True) for q in _quats(20, 6)]


_SIGNED = {
    (-1, -1, -1, -1): (
        "negates_all",
        "You negate all four entries: `-q` is the same rotation as `q`. The inverse keeps `w` and "
        "negates the vector part.",
    ),
    (-1, 1, 1, 1): (
        "negates_w",
        "You negate `w` only: as a rotation that is the inverse, but with the other sign; this "
        "exercise asks for `(w, -x, -y, -z)`.",
    ),
    (-1, -1, -1, 1): (
        "scalar_last",
        "You keep the last entry, as if the scalar part came last. Here `w` is the first: "
        "`(w, -x, -y, -z)`.",
    ),
    (1, 1, 1, 1): ("unchanged", "You return `q` itself; the conjugate negates `x`, `y` and `z`."),
}
_wrong = exercise.slips("""\
def quat_conj(q):
    return np.asarray(q) * np.array([1, -1, -1, -1])
""")
for _signs in itertools.product((1, -1), repeat=4):
    if _signs == (1, -1, -1, -1):
        continue
    _id, _text = _SIGNED.get(
        _signs,
        ("wrong_signs", "Some signs are wrong: keep `w`, negate `x`, `y` and `z`, all three."),
    )
    _wrong(_id, _text, ("[1, -1, -1, -1]", str(list(_signs))))


@exercise.misconception("You write into the argument `q`; work on a copy.", id="modifies_input")
def modifies_input():
    def quat_conj(q):
        q[1:] *= -1
        return q


@exercise.misconception("You write into the argument `q`; work on a copy.", id="modifies_input")
def modifies_input_and_copies():
    def quat_conj(q):
        q[1:] = -q[1:]
        return q.copy()


@exercise.misconception(
    "You turn the result so that `w >= 0`. The conjugate keeps `w` as it is, whatever its sign.",
    id="canonical_sign",
)
def canonical_sign():
    def quat_conj(q):
        c = np.array([q[0], -q[1], -q[2], -q[3]])
        return -c if c[0] < 0 else c


@exercise.misconception(
    "You turn the result so that `w >= 0`. The conjugate keeps `w` as it is, whatever its sign.",
    id="canonical_sign",
)
def absolute_w():
    def quat_conj(q):
        return np.array([abs(q[0]), -q[1], -q[2], -q[3]])


@exercise.misconception(
    "The entries come back in another order; the conjugate is `(w, -x, -y, -z)`.",
    id="reordered",
)
def reversed_order():
    def quat_conj(q):
        return np.asarray(q)[::-1]


@exercise.misconception(
    "The scalar part is last in what you return; here `w` comes first: `(w, -x, -y, -z)`.",
    id="returned_scalar_last",
)
def returned_scalar_last():
    def quat_conj(q):
        return np.array([-q[1], -q[2], -q[3], q[0]])


@exercise.variant("a product with signs")
def signs():
    quat_conj = lambda q: np.multiply(q, (1, -1, -1, -1))


@exercise.variant("a tuple, unpacked")
def unpacked():
    def quat_conj(q):
        w, *xyz = q
        return (w, *[-c for c in xyz])


@exercise.variant("a diagonal matrix")
def diagonal():
    def quat_conj(q):
        return np.diag([1.0, -1, -1, -1]) @ np.array(q)


@exercise.variant("a copy, then a loop")
def copied():
    def quat_conj(q):
        out = list(q)
        for k in range(1, 4):
            out[k] = 0 - out[k]
        return out


@exercise.variant("twice the scalar part, minus q")
def reflected():
    def quat_conj(q):
        out = np.zeros(4)
        out[0] = 2 * q[0]
        return out - q


@exercise.variant("the inverse, which is the same for a unit quaternion")
def inverse():
    def quat_conj(q):
        q = np.asarray(q, dtype=float)
        return np.concatenate((q[:1], -q[1:])) / np.dot(q, q)
