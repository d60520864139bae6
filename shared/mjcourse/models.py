"""The scenes of the course by name: the same call in a checkout, from the wheel and in Colab."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mujoco


def model_path(name: str) -> Path:
    """Path of the MJCF file of the scene `name` (`"joint_zoo"` or `"joint_zoo.xml"`).

    Raises:
      KeyError: there is no such scene; the message lists those that exist.
    """
    from mjcourse import scenes

    folder = Path(next(iter(scenes.__path__)))
    path = folder / f"{name.removesuffix('.xml')}.xml"
    if path.parent != folder or not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.xml")))
        raise KeyError(f"no scene is called {name!r}; the course has: {known}")
    return path


def load(name: str) -> mujoco.MjModel:
    """Compile the scene `name` into an `MjModel`.

    Raises:
      KeyError: there is no such scene.
    """
    import mujoco

    return mujoco.MjModel.from_xml_path(str(model_path(name)))
