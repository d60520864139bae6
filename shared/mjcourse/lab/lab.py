"""The live lab: a MuJoCo scene in a notebook that follows the hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np

from mjcourse.grading_mode import under_grading
from mjcourse.lab.charts import StripChart
from mjcourse.lab.controls import Button, Control, Valued
from mjcourse.lab.readouts import Readout, Table
from mjcourse.lab.running import GAP, Running
from mjcourse.lab.scenery import OVERLAYS, options, sensible_overlays
from mjcourse.lab.simulation import Draw, Hook, Simulation
from mjcourse.lab.stage import stage
from mjcourse.rendering import shrink


class LabError(RuntimeError):
    """A callable of a lab failed while it was driven by a program; the message names it."""


class Lab:
    """A live lab, shown as the last expression of a cell.

    Everything that a student sees is named here; callables get `(model, data)` and run in a
    thread of the library, one at a time. An exception of a callable is shown in one line with its
    control's name, and the lab goes on. A simulation that diverges stops with a message, and
    Reset brings it back.

    Args:
      scenes: the name of a scene of the course, an `MjModel`, a `Simulation`, or several
        `Simulation` shown side by side.
      title: heading over the lab.
      note: one line under the picture.
      camera: `azimuth`, `elevation` of the line of sight in degrees, as MuJoCo counts them
        (elevation -20 looks down), `distance` (m), `lookat` (3,).
      controls: `Slider`, `Button`, `Toggle`, `Select`.
      readouts, charts, tables: `Readout`, `StripChart`, `Table`.
      show: overlays that are on at first: `"frames"`, `"joints"`, `"contacts"`, `"forces"`.
      overlays: those offered as switches; all that can show something when None.
      step, reset, draw: of the simulation, where `scenes` is a name or a model; see `Simulation`.
      playing: start playing.
      speed: simulated seconds per second.
      physics: False for a scene that is only posed by its controls: no Play, `mj_forward` after
        each change.
      height, width: of each picture, in pixels; 360 x 480, or 288 x 384 where there are several.
      student: names of functions that the lab takes from the notebook when they exist (see
        `mjcourse.lab.student`); the note says which do not yet.

    Raises:
      KeyError: there is no such scene.
      ValueError: two controls or two read-outs share a label, or an argument is out of range.

    Under grading (`NBGRADER_EXECUTION` is set) a lab does nothing at all.
    """

    def __init__(
        self,
        scenes: str | mujoco.MjModel | Simulation | Sequence[Simulation],
        title: str = "",
        *,
        note: str = "",
        camera: Mapping[str, Any] | None = None,
        controls: Sequence[Control] = (),
        readouts: Sequence[Readout] = (),
        charts: Sequence[StripChart] = (),
        tables: Sequence[Table] = (),
        show: Sequence[str] = (),
        overlays: Sequence[str] | None = None,
        step: Hook | None = None,
        reset: Hook | None = None,
        draw: Draw | None = None,
        playing: bool = False,
        speed: float = 1.0,
        physics: bool = True,
        height: int | None = None,
        width: int | None = None,
        student: Sequence[str] = (),
    ) -> None:
        self.title = title or (scenes.replace("_", " ") if isinstance(scenes, str) else "Live lab")
        self.note = note
        self.controls = tuple(controls)
        self.readouts = tuple(readouts)
        self.charts = tuple(charts)
        self.tables = tuple(tables)
        self.show = frozenset(show)
        self.overlays = tuple(overlays or ())
        self.playing = playing and physics
        self.speed = speed
        self.physics = physics
        self.student = tuple(student)
        self.closed = False
        self._panel: Any = None
        self._run: Running | None = None  # None under grading: nothing is loaded, nothing runs
        if under_grading():
            return
        self.simulations = _simulations(scenes, step, reset, draw)
        several = len(self.simulations) > 1
        self.height = height or (288 if several else 360)
        self.width = width or (384 if several else 480)
        self._check_declaration()
        for simulation in self.simulations:
            simulation.load(camera or {})
        if overlays is None:
            offered = {*sensible_overlays(self.simulations[0].model), *show}
            self.overlays = tuple(name for name in OVERLAYS if name in offered)
        self._run = Running(self)

    @property
    def picture_width(self) -> int:
        """Width of all pictures side by side, in pixels."""
        count = len(self.simulations)
        return count * self.width + (count - 1) * GAP

    def control(self, name: str) -> Control:
        """The control called `name`. Raises KeyError."""
        for control in self.controls:
            if control.label == name:
                return control
        known = ", ".join(repr(c.label) for c in self.controls) or "none"
        raise KeyError(f"lab {self.title!r} has no control {name!r}; it has {known}")

    # Driven by a program ------------------------------------------------------------------

    def act(self, name: str) -> None:
        """Press the button `name`. Raises KeyError, and LabError where its callable fails."""
        control = self.control(name)
        if not isinstance(control, Button):
            raise KeyError(f"{name!r} is not a button: use set({name!r}, value)")
        self._drive(lambda run: run.press(control))

    def set(self, name: str, value: Any) -> None:
        """Move the control `name` to `value`. Raises KeyError, ValueError, LabError."""
        control = self.control(name)
        if not isinstance(control, Valued):
            raise KeyError(f"{name!r} is a button: use act({name!r})")
        checked = control.checked(value)
        self._drive(lambda run: run.move(control, checked, by_hand=False))

    def advance(self, seconds: float) -> None:
        """Simulate `seconds`, whether or not the lab is playing. Raises LabError."""
        self._drive(lambda run: run.advance(seconds))

    def reset(self) -> None:
        """Press Reset. Raises LabError where a hook fails."""
        self._drive(lambda run: run.reset())

    def values(self) -> dict[str, Any]:
        """The read-outs now: label -> value as the callable gave it. Raises LabError."""
        self._drive(lambda run: run.measure())
        return dict(self._run.values) if self._run else {}

    def rows(self) -> dict[str, Any]:
        """The tables now: label -> rows. Raises LabError."""
        self._drive(lambda run: run.measure())
        return dict(self._run.rows) if self._run else {}

    def traces(self) -> dict[str, dict[str, float]]:
        """The latest sample of each chart: title -> trace -> value. Raises LabError."""
        self._drive(lambda run: None)
        return {strip.chart.title: strip.last for strip in self._run.strips} if self._run else {}

    def picture(self) -> np.ndarray:
        """The full-quality picture now, `(height, width, 3)` uint8.

        Raises:
          OpenGLMissing: there is no OpenGL.
          LabError: `draw` fails, or the lab is closed.
        """
        found: list[np.ndarray] = []
        self._drive(lambda run: found.append(shrink(run.draw(full=True))))
        return found[0] if found else np.zeros((0, 0, 3), np.uint8)

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset, of the first simulation."""
        return self.simulations[0].time if self._run and not self.closed else 0.0

    @property
    def trouble(self) -> str | None:
        """The line of trouble that the lab shows, if any."""
        return self._run.trouble if self._run else None

    def close(self) -> None:
        """Stop, and free what the lab holds. A closed lab cannot be used again."""
        if self.closed:
            return
        self.closed = True
        if self._run is not None:
            stage().remove(self._run)
            stage().call(self._run.release)
        if self._panel is not None:
            self._panel.close()
            self._panel = None

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _drive(self, action: Callable[[Running], None]) -> None:
        """Run `action` on the stage, and raise what a declared callable raised there."""
        run = self._run
        if run is None:
            return
        if self.closed:
            raise LabError(f"lab {self.title!r} is closed")
        stage().call(lambda: run.driven(action))
        stage().wake()
        if run.trouble is not None:
            raise LabError(run.trouble)

    # Shown in a notebook ------------------------------------------------------------------

    def _ipython_display_(self) -> None:
        if self._run is None or self.closed:
            return
        from mjcourse.lab.panel import Panel
        from mjcourse.lab.reruns import retire_earlier

        stage().add(self._run)  # first, so that a scene's uploads pass from the old lab to this one
        retire_earlier(self)
        if self._panel is None:
            self._panel = Panel(self, self._run.post)
            self._run.panel = self._panel
        self._panel.display()
        self._run.post("start")

    def _check_declaration(self) -> None:
        for what, labels in (
            ("controls", [c.label for c in self.controls]),
            ("read-outs", [r.label for r in self.readouts]),
            ("charts", [c.title for c in self.charts]),
            ("tables", [t.label for t in self.tables]),
        ):
            twice = sorted({label for label in labels if labels.count(label) > 1})
            if twice:
                raise ValueError(f"two {what} of lab {self.title!r} are called {twice}")
        options((*self.show, *self.overlays))
        for entry in (*self.controls, *self.readouts, *self.charts, *self.tables):
            of = getattr(entry, "of", 0)
            if of != "all" and not 0 <= of < len(self.simulations):
                raise ValueError(f"of={of!r}: the lab has {len(self.simulations)} simulation(s)")
        if not self.speed > 0:
            raise ValueError(f"speed {self.speed} is not positive")


def _simulations(
    scenes: Any, step: Hook | None, reset: Hook | None, draw: Draw | None
) -> list[Simulation]:
    if isinstance(scenes, str | mujoco.MjModel):
        return [Simulation(scenes, step=step, reset=reset, draw=draw)]
    found = [scenes] if isinstance(scenes, Simulation) else list(scenes)
    if not found or not all(isinstance(s, Simulation) for s in found):
        raise ValueError("a lab shows a scene's name, an MjModel, a Simulation or several of them")
    if step or reset or draw:
        raise ValueError("give step, reset and draw to each Simulation")
    return found
