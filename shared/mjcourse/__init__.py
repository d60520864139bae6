"""mjcourse: what every notebook of the course imports.

Importing this package does one thing: it chooses an OpenGL back end for MuJoCo (`MUJOCO_GL`)
when `mujoco` is not loaded yet and nothing is set. Everything else is imported when it is first
asked for.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mjcourse import opengl

if TYPE_CHECKING:
    import mjcourse.lab as lab
    import mjcourse.style as style
    from mjcourse.checks import visible_check
    from mjcourse.experiments import experiment
    from mjcourse.grading_mode import under_grading
    from mjcourse.lab import (
        Button,
        Lab,
        Readout,
        Select,
        Simulation,
        Slider,
        StripChart,
        Table,
        Toggle,
    )
    from mjcourse.lesson import begin
    from mjcourse.models import load, model_path
    from mjcourse.overview import progress
    from mjcourse.quiz import ask
    from mjcourse.submission import submit

__version__ = "1.0.0"

# Where each public name lives. A module is imported when its name is first asked for (PEP 562).
_HOME = {
    "Button": "lab",
    "Lab": "lab",
    "Readout": "lab",
    "Select": "lab",
    "Simulation": "lab",
    "Slider": "lab",
    "StripChart": "lab",
    "Table": "lab",
    "Toggle": "lab",
    "ask": "quiz",
    "begin": "lesson",
    "experiment": "experiments",
    "load": "models",
    "model_path": "models",
    "progress": "overview",
    "submit": "submission",
    "under_grading": "grading_mode",
    "visible_check": "checks",
}
_MODULES = ("lab", "style")

__all__ = [
    "Button",
    "Lab",
    "Readout",
    "Select",
    "Simulation",
    "Slider",
    "StripChart",
    "Table",
    "Toggle",
    "ask",
    "begin",
    "experiment",
    "lab",
    "load",
    "model_path",
    "progress",
    "style",
    "submit",
    "under_grading",
    "visible_check",
]

opengl.choose_backend()


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"mjcourse.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"mjcourse.{name}")
    else:
        raise AttributeError(f"module 'mjcourse' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
