"""Models and configurations for the hidden tests: scenes that the student has not seen."""

from __future__ import annotations

import mujoco
import numpy as np

from mjcourse.models import load, model_path

_FREE, _BALL = (kind.value for kind in (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL))
_TYPES = {"b": "ball", "s": "slide", "h": "hinge"}


def scene(*trees: str, seed: int = 0, unnamed: tuple[int, ...] = ()) -> mujoco.MjModel:
    """Compile a weightless scene from a sketch.

    Args:
      trees: one word for each kinematic tree, a letter for each joint (free, ball, slide, hinge),
        bodies from the root on separated by `-`: `"f"` is a floating box, `"hh-b"` a body with
        two hinges that carries a body on a ball joint.
      seed: of the axes and places.
      unnamed: numbers of the joints that get no name; the others are called `f0`, `b1`, ... by
        letter and number; the body that the first of them moves is called `body_f0`.
    """
    rng = np.random.default_rng(seed)
    number = 0
    text = ['<mujoco><option gravity="0 0 0"/><size memory="1M"/><worldbody>']
    for tree in trees:
        bodies = tree.split("-")
        for letters in bodies:
            place = " ".join(f"{x:.3f}" for x in rng.uniform(-1, 1, 3))
            text.append(f'<body name="body_{letters[0]}{number}" pos="{place}">')
            for letter in letters:
                name = "" if number in unnamed else f'name="{letter}{number}"'
                axis = " ".join(f"{x:.3f}" for x in rng.normal(size=3))
                if letter == "f":
                    text.append(f"<freejoint {name}/>")
                else:
                    text.append(f'<joint {name} type="{_TYPES[letter]}" axis="{axis}"/>')
                number += 1
            text.append('<geom size="0.05 0.08 0.11" type="box" contype="0" conaffinity="0"/>')
        text.append("</body>" * len(bodies))
    text.append("</worldbody></mujoco>")
    return mujoco.MjModel.from_xml_string("".join(text))


def zoo() -> mujoco.MjModel:
    """`joint_zoo`, the model of the lesson."""
    return load("joint_zoo")


def two_boxes() -> mujoco.MjModel:
    """`joint_zoo` with a second free joint `free2` inserted right after `free`."""
    text = model_path("joint_zoo").read_text()
    box = '<body name="free2"><freejoint name="free2"/><geom size="0.1"/></body>'
    return mujoco.MjModel.from_xml_string(
        text.replace('<body name="ball"', f'{box}<body name="ball"')
    )


def unit(rng: np.random.Generator, size: int = 4) -> np.ndarray:
    """A random unit vector; of size 4 a random rotation."""
    v = rng.normal(size=size)
    return v / np.linalg.norm(v)


def turned(quat: np.ndarray, phi: np.ndarray) -> np.ndarray:
    """`quat` turned by the rotation vector `phi` (rad, body frame)."""
    out = np.array(quat, float)
    mujoco.mju_quatIntegrate(out, np.asarray(phi, float), 1.0)
    return out


def configuration(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """A random `qpos` `(nq,)` with unit quaternions, none of them near the identity."""
    qpos = rng.uniform(-1, 1, model.nq)
    mujoco.mj_normalizeQuat(model, qpos)
    return qpos


def quaternion_starts(model: mujoco.MjModel) -> list[int]:
    """Where the quaternions of free and ball joints start in `qpos`."""
    starts = []
    kinds, addresses = model.jnt_type.tolist(), model.jnt_qposadr.tolist()
    for kind, address in zip(kinds, addresses, strict=True):
        if kind == _FREE:
            starts.append(address + 3)
        elif kind == _BALL:
            starts.append(address)
    return starts


def canonical(model: mujoco.MjModel, qpos: object) -> object:
    """`qpos` with every quaternion given the sign that makes its largest entry positive.

    So that `q` and `-q`, which are the same rotation, compare as equal. What does not have the
    shape `(nq,)` comes back as it is.
    """
    out = np.array(qpos)
    if out.shape != (model.nq,) or out.dtype.kind not in "iuf":
        return qpos
    out = out.astype(float)
    for start in quaternion_starts(model):
        quat = out[start : start + 4]
        # A half percent in favour of the earlier entry: no tie is decided by rounding.
        largest = int(np.argmax(np.abs(quat) * (1.005 ** -np.arange(4))))
        if quat[largest] < 0:
            out[start : start + 4] = -quat
    return out


def data_at(
    model: mujoco.MjModel, qpos: np.ndarray, qvel: np.ndarray | None = None, forward: bool = True
) -> mujoco.MjData:
    """An `MjData` at this state; derived quantities up to date unless `forward` is False."""
    data = mujoco.MjData(model)
    if forward is False:
        mujoco.mj_forward(model, data)
    data.qpos[:] = qpos
    if qvel is not None:
        data.qvel[:] = qvel
    if forward:
        mujoco.mj_forward(model, data)
    return data
