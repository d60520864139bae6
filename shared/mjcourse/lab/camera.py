"""Where a lab looks from: azimuth, elevation, distance and the point looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

_KEYS = ("azimuth", "elevation", "distance", "lookat")


class Camera:
    """A free camera that orbits `lookat`.

    Args:
      model: gives the view where a key is missing (`<visual><global azimuth elevation>`, `stat`).
      view: `azimuth` and `elevation` of the line of sight in degrees, as MuJoCo counts them
        (azimuth 90 looks along +y, elevation -20 looks down), `distance` in metres, `lookat`
        (3,) in the world.

    Raises:
      ValueError: `view` has a key that a camera does not have.
    """

    def __init__(self, model: mujoco.MjModel, view: Mapping[str, Any]) -> None:
        unknown = set(view) - set(_KEYS)
        if unknown:
            raise ValueError(f"a camera has no {sorted(unknown)}; it has {list(_KEYS)}")
        free = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(model, free)
        home = {key: view.get(key, getattr(free, key)) for key in _KEYS}
        self.azimuth, self.elevation = float(home["azimuth"]), float(home["elevation"])
        self.distance = float(home["distance"])
        self.lookat = np.array(home["lookat"], float)

    def view(self) -> mujoco.MjvCamera:
        """The camera for `mjv_updateScene`."""
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FREE.value
        camera.azimuth, camera.elevation = self.azimuth, self.elevation
        camera.distance, camera.lookat = self.distance, self.lookat
        return camera
