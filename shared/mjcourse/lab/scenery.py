"""What is drawn beside the bodies: overlays, and decoration that a lab's `draw` adds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import mujoco
import numpy as np

OVERLAYS = ("frames", "joints", "contacts", "forces")
_FLAGS = {
    "joints": (mujoco.mjtVisFlag.mjVIS_JOINT,),
    "contacts": (mujoco.mjtVisFlag.mjVIS_CONTACTPOINT,),
    "forces": (mujoco.mjtVisFlag.mjVIS_CONTACTFORCE,),
}
Colour = Sequence[float]


def options(show: Iterable[str]) -> mujoco.MjvOption:
    """Visualisation options with these overlays on, and every other one off.

    Raises:
      ValueError: there is no such overlay.
    """
    option = mujoco.MjvOption()
    for name in show:
        if name == "frames":
            option.frame = mujoco.mjtFrame.mjFRAME_BODY.value
        elif name in _FLAGS:
            for flag in _FLAGS[name]:
                option.flags[flag] = True
        else:
            raise ValueError(f"there is no overlay {name!r}; the overlays are {OVERLAYS}")
    return option


def sensible_overlays(model: mujoco.MjModel) -> tuple[str, ...]:
    """Those that can show something in this model."""
    names = ["frames"]
    if model.njnt:
        names.append("joints")
    collides = np.count_nonzero((model.geom_contype != 0) | (model.geom_conaffinity != 0))
    if collides > 1 and not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CONTACT:
        names += ["contacts", "forces"]
    return tuple(names)


def marker(
    scene: mujoco.MjvScene,
    pos: Sequence[float],
    size: float = 0.02,
    rgba: Colour = (0.9, 0.6, 0.0, 1.0),
) -> None:
    """Add a sphere of radius `size` (m) at the world point `pos` (3,)."""
    _add(scene, mujoco.mjtGeom.mjGEOM_SPHERE, (size, size, size), pos, np.eye(3), rgba)


def arrow(
    scene: mujoco.MjvScene,
    start: Sequence[float],
    end: Sequence[float],
    radius: float = 0.01,
    rgba: Colour = (0.9, 0.6, 0.0, 1.0),
) -> None:
    """Add an arrow from `start` to `end`, world points (3,); nothing where they coincide."""
    tail, head = np.asarray(start, float), np.asarray(end, float)
    if np.linalg.norm(head - tail) < 1e-9:
        return
    geom = _add(scene, mujoco.mjtGeom.mjGEOM_ARROW, (1, 1, 1), tail, np.eye(3), rgba)
    if geom is not None:
        # An arrow is drawn half as long as `mjv_connector` makes it (measured, MuJoCo 4.0).
        twice = 2 * head - tail
        mujoco.mjv_connector(geom, mujoco.mjtGeom.mjGEOM_ARROW.value, radius, tail, twice)


def ghost_body(
    scene: mujoco.MjvScene,
    model: mujoco.MjModel,
    data: mujoco.MjData,
    body: str | int,
    pos: Sequence[float],
    quat_wxyz: Sequence[float],
    rgba: Colour = (0.2, 0.5, 0.8, 0.35),
) -> None:
    """Add a translucent copy of a body and of everything attached to it, at another pose.

    Args:
      body: name or id; its descendants keep their present pose relative to it.
      pos: (3,) world position of the body's frame in the copy.
      quat_wxyz: (4,) world orientation, scalar first.

    Raises:
      KeyError: there is no such body.
    """
    root = model.body(body).id
    turn, here = np.empty(9), data.xmat[root].reshape(3, 3)
    mujoco.mju_quat2Mat(turn, np.asarray(quat_wxyz, float))
    change = turn.reshape(3, 3) @ here.T
    for geom in range(model.ngeom):
        if not _is_under(model, model.geom_bodyid[geom], root) or model.geom_group[geom] > 2:
            continue
        place = np.asarray(pos, float) + change @ (data.geom_xpos[geom] - data.xpos[root])
        turned = change @ data.geom_xmat[geom].reshape(3, 3)
        kind = mujoco.mjtGeom(int(model.geom_type[geom]))
        added = _add(scene, kind, model.geom_size[geom], place, turned, rgba)
        if added is not None and kind == mujoco.mjtGeom.mjGEOM_MESH:
            added.dataid = 2 * int(model.geom_dataid[geom])


def _is_under(model: mujoco.MjModel, body: int, root: int) -> bool:
    while body != root and body != 0:
        body = model.body_parentid[body]
    return bool(body == root)


def _add(
    scene: mujoco.MjvScene,
    kind: mujoco.mjtGeom,
    size: Sequence[float],
    pos: Sequence[float] | np.ndarray,
    mat: np.ndarray,
    rgba: Colour,
) -> mujoco.MjvGeom | None:
    """The next free geom of the scene, initialised; None when the scene is full."""
    if scene.ngeom >= scene.maxgeom:
        return None
    geom = scene.geoms[scene.ngeom]
    mujoco.mjv_initGeom(
        geom,
        kind.value,
        np.asarray(size, float),
        np.asarray(pos, float),
        np.asarray(mat, float).ravel(),
        np.asarray(rgba, np.float32),
    )
    geom.category = mujoco.mjtCatBit.mjCAT_DECOR.value
    scene.ngeom += 1
    return geom
