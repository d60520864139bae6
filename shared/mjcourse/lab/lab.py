"""The live lab: a MuJoCo scene in a notebook that follows the hand."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from mjcourse.lab.charts import Strip, StripChart
from mjcourse.lab.controls import Button, Control, Valued, Which
from mjcourse.lab.readouts import (
    Readout,
    Table,
    readouts_html,
    rows_of,
    table_html,
    text_of,
)
from mjcourse.lab.record import Recorder, encode
from mjcourse.lab.scenery import OVERLAYS, options, sensible_overlays
from mjcourse.lab.simulation import Diverged, Draw, Hook, Simulation
from mjcourse.lab.stage import frame_period, stage
from mjcourse.lab.student import unwritten
from mjcourse.rendering import OpenGLMissing, encode_jpeg, shrink

if TYPE_CHECKING:
    from mjcourse.lab.panel import Panel

IDLE_SECONDS = 300.0  # Play pauses after this long without input
_REST_AFTER = 0.25  # a full-quality frame follows when nothing has moved for so long
_TEXT_EVERY = 0.125  # read-outs need not follow every frame
_SPEAK_EVERY = 5.0  # the text alternative while playing
_GAP = 6  # pixels between two pictures


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
        self.simulations = _simulations(scenes, step, reset, draw)
        self.title = title or _first_name(scenes)
        self.note = note
        self.controls = tuple(controls)
        self.readouts = tuple(readouts)
        self.charts = tuple(charts)
        self.tables = tuple(tables)
        self.physics = physics
        self.student = tuple(student)
        several = len(self.simulations) > 1
        self.height = height or (288 if several else 360)
        self.width = width or (384 if several else 480)
        self.speed = speed
        self.show = set(show)
        self.playing = False
        self.error: str | None = None
        self.closed = False
        self.place = ("", "")
        self.graded = "NBGRADER_EXECUTION" in os.environ
        self._check_declaration(show, overlays)
        self.overlays: tuple[str, ...] = tuple(overlays or ())
        self.strips = [Strip(chart, self.picture_width) for chart in self.charts]
        self.recorder = Recorder()
        self._play_at_start = playing and physics
        self._panel: Panel | None = None
        self._mail: list[tuple[str, str, Any]] = []
        self._mail_lock = threading.Lock()
        self._started = False
        self._diverged = False
        self._pictures_missing: str | None = None
        self._values: dict[str, Any] = {}
        self._rows: dict[str, Any] = {}
        self._dirty = self._rough = False
        self._next_frame = self._moved_at = self._input_at = 0.0
        self._text_at = self._spoken_at = 0.0
        self._anchor = (0.0, 0.0)
        if not self.graded:
            for simulation in self.simulations:
                simulation.load(camera or {})
            if overlays is None:
                offered = sensible_overlays(self.simulations[0].model)
                self.overlays = tuple(o for o in OVERLAYS if o in offered or o in self.show)

    # Driven by a program ------------------------------------------------------------------

    def act(self, name: str) -> None:
        """Press the button `name`. Raises KeyError, and LabError where its callable fails."""
        control = self._control(name)
        if not isinstance(control, Button):
            raise KeyError(f"{name!r} is not a button: use set({name!r}, value)")
        self._drive(lambda: self._press(control))

    def set(self, name: str, value: Any) -> None:
        """Move the control `name` to `value`. Raises KeyError, ValueError, LabError."""
        control = self._control(name)
        if isinstance(control, Button) or not isinstance(control, Valued):
            raise KeyError(f"{name!r} is a button: use act({name!r})")
        checked = control.checked(value)
        self._drive(lambda: self._move(control, checked, from_hand=False))

    def advance(self, seconds: float) -> None:
        """Simulate `seconds`, whether or not the lab is playing. Raises LabError."""
        self._drive(lambda: self._advance_by(seconds))

    def reset(self) -> None:
        """Press Reset."""
        self._drive(self._reset)

    def values(self) -> dict[str, Any]:
        """The read-outs now: label -> value as the callable gave it."""
        self._drive(self._measure)
        return dict(self._values)

    def rows(self) -> dict[str, Any]:
        """The tables now: label -> rows."""
        self._drive(self._measure)
        return dict(self._rows)

    def picture(self) -> np.ndarray:
        """The full-quality picture now, `(height, width, 3)` uint8. Raises OpenGLMissing."""
        if self.graded:
            return np.zeros((self.height, self.picture_width, 3), np.uint8)
        self._drive(lambda: None)
        return shrink(stage().call(lambda: self._draw(full=True)))

    def close(self) -> None:
        """Stop, and free what the lab holds. A closed lab cannot be used again."""
        if self.closed:
            return
        self.closed = True
        if self.graded:
            return
        stage().remove(self)
        if self._started:
            stage().call(self._release)
        if self._panel is not None:
            self._panel.close()

    def __enter__(self) -> Lab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def picture_width(self) -> int:
        """Width of all pictures side by side, in pixels."""
        count = len(self.simulations)
        return count * self.width + (count - 1) * _GAP

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset, of the first simulation."""
        return 0.0 if self.graded else self.simulations[0].time

    # Shown in a notebook ------------------------------------------------------------------

    def _ipython_display_(self) -> None:
        if self.graded:
            return
        from mjcourse.lab.panel import Panel, retire_earlier

        retire_earlier(self)
        if self._panel is None:
            self._panel = Panel(self)
        self._panel.display()
        self.post("start", "", None)
        stage().add(self)

    def post(self, kind: str, name: str, value: Any) -> None:
        """Leave a message for the stage, from any thread; of a moved control the last one wins."""
        with self._mail_lock:
            if self._mail and kind in ("move", "view") and self._mail[-1][:2] == (kind, name):
                self._mail[-1] = (kind, name, value)
            else:
                self._mail.append((kind, name, value))
        stage().wake()

    # On the stage -------------------------------------------------------------------------

    def turn(self, now: float) -> float | None:
        """What is due at `now`: messages, a step of the play, a frame. See `Actor`."""
        with self._mail_lock:
            mail, self._mail = self._mail, []
        for kind, name, value in mail:
            self._input_at = now
            self._receive(kind, name, value)
        if not self._started or self.closed:
            return None
        if self.playing and now - self._input_at > IDLE_SECONDS:
            self._pause("paused after five minutes without input: press Play to go on")
        if (self.playing or self._dirty) and now < self._next_frame:
            return self._next_frame
        if self.playing:
            self._play(now)
        if self._dirty:
            period = frame_period(sum(getattr(a, "playing", False) for a in stage().actors))
            self._next_frame = max(self._next_frame + period, now + 0.5 * period)
            self._dirty = False
            self._moved_at = now
            self._show(now, full=False)
            return self._next_frame if self.playing else now + _REST_AFTER
        if self._rough and not self.playing:
            if now - self._moved_at < _REST_AFTER:
                return self._moved_at + _REST_AFTER
            self._show(now, full=True)
        return None

    def _receive(self, kind: str, name: str, value: Any) -> None:
        if kind == "start":
            self._start()
        elif kind == "press":
            self._press(self._control(name))
        elif kind == "move":
            self._move(self._control(name), value, from_hand=True)
        elif kind == "play":
            self._play_from_here() if value else self._pause()
        elif kind == "step":
            self._pause()
            self._single_step()
        elif kind == "reset":
            self._reset()
        elif kind == "speed":
            self.speed = value
            self._anchor_here()
        elif kind == "overlay":
            (self.show.add if value else self.show.discard)(name)
            self._dirty = True
        elif kind == "view":
            for simulation in self.simulations:
                setattr(simulation.camera, name, value)
            self._dirty = True
        elif kind == "view home":
            for simulation in self.simulations:
                simulation.camera.reset()
            self._dirty = True
        elif kind == "record":
            self._record()

    def _start(self) -> None:
        if not self._started:
            self._started = True
            self._reset()
            if self._play_at_start:
                self._play_from_here()
        self._dirty = True

    def _reset(self) -> None:
        self.error = None
        self._diverged = False
        for simulation in self.simulations:
            self._try("reset", simulation.restart)
        for control in self.controls:
            if isinstance(control, Valued) and control.reapply:
                self._change(control)
        for simulation in self.simulations:
            simulation.forward()
        for strip in self.strips:
            strip.clear()
        self._anchor_here()
        self._sample()
        self._dirty = True

    def _press(self, control: Control) -> None:
        assert isinstance(control, Button)
        self.error = None
        if control.on_click is not None:
            click, subject = control.on_click, self._subject(control.of)
            self._try(control.label, lambda: click(*subject))
        self._settle()
        if control.play:
            self._play_from_here()

    def _move(self, control: Control, value: Any, *, from_hand: bool) -> None:
        assert isinstance(control, Valued)
        self.error = None
        control.value = value
        if not from_hand and self._panel is not None:
            self._panel.show_value(control)
        self._change(control)
        self._settle()

    def _change(self, control: Valued) -> None:
        if control.on_change is not None:
            change, subject = control.on_change, self._subject(control.of)
            self._try(control.label, lambda: change(*subject, control.value))

    def _settle(self) -> None:
        """After a change by hand: everything derived is fresh, and the charts have a sample."""
        for simulation in self.simulations:
            simulation.forward()
        self._anchor_here()
        self._sample()
        self._dirty = True

    def _play_from_here(self) -> None:
        if self.physics and not self._diverged:
            self.playing = True
            self._anchor_here()
        if self._panel is not None:
            self._panel.show_playing(self.playing)

    def _pause(self, why: str | None = None) -> None:
        self.playing = False
        self._dirty = True
        if why is not None:
            self.error = why
        if self._panel is not None:
            self._panel.show_playing(False)

    def _anchor_here(self) -> None:
        """Real time is counted from this instant on."""
        self._anchor = (time.perf_counter(), self.simulations[0].time)

    def _play(self, now: float) -> None:
        wall, simulated = self._anchor
        target = simulated + (now - wall) * self.speed
        reached = self._run(target, budget=0.6 * frame_period())
        if not reached:
            self._anchor_here()
        self._dirty = True

    def _run(self, target: float, budget: float) -> bool:
        """Advance every simulation to `target`; a failure stops the play and is shown."""
        reached = True
        for simulation in self.simulations:
            try:
                reached &= simulation.advance_to(target, budget)
            except Exception as error:
                self._fail("step", error)
                return False
        self._sample()
        return reached

    def _advance_by(self, seconds: float) -> None:
        period = 1 / 24
        end = self.time + seconds
        while self.error is None and self.time < end - 1e-9:
            before = self.time
            self._run(min(before + period, end), budget=3600.0)
            if self.time <= before:
                break
        self._anchor_here()
        self._dirty = True

    def _single_step(self) -> None:
        for simulation in self.simulations:
            try:
                simulation.single_step()
            except Exception as error:
                self._fail("step", error)
        self._sample()
        self._anchor_here()
        self._dirty = True

    def _fail(self, name: str, error: Exception) -> None:
        self._pause(str(error) if isinstance(error, Diverged) else _one_line(name, error))
        self._diverged = True

    def _try(self, name: str, action: Callable[[], Any]) -> None:
        """Run a declared callable; its exception becomes the lab's message."""
        try:
            action()
        except Exception as error:
            self.error = _one_line(name, error)

    def _subject(self, of: Which) -> tuple[Any, ...]:
        if of == "all":
            return (self.simulations,)
        simulation = self.simulations[of]
        return simulation.model, simulation.data

    # What is seen -------------------------------------------------------------------------

    def _sample(self) -> None:
        """One sample for each strip chart."""
        for strip in self.strips:
            subject = self._subject(strip.chart.of)
            values = []
            for name, trace in strip.chart.traces.items():
                try:
                    values.append(float(trace(*subject)))
                except Exception as error:
                    values.append(float("nan"))
                    self.error = _one_line(name, error)
            now = self.time if self.physics else time.perf_counter() - self._anchor[0]
            strip.add(now, values)

    def _measure(self) -> None:
        """Evaluate read-outs and tables."""
        entries: list[Readout | Table] = [*self.readouts, *self.tables]
        for entry in entries:
            into = self._values if isinstance(entry, Readout) else self._rows
            try:
                value = entry.of_state(*self._subject(entry.of))
                if isinstance(value, np.ndarray):
                    value = value.copy()
                rows_of(value, entry.digits) if isinstance(entry, Readout) else None
                into[entry.label] = value
            except Exception as error:
                into[entry.label] = "error" if isinstance(entry, Readout) else []
                self.error = _one_line(entry.label, error)

    def _draw(self, *, full: bool) -> np.ndarray:
        """All pictures side by side, at twice the size where `full`."""
        option, pictures = options(self.show), []
        for simulation in self.simulations:
            model, data, draw = simulation.model, simulation.data, simulation.draw

            def decorate(scene: Any, simulation: Simulation = simulation) -> None:
                if simulation.draw is not None:
                    hook = simulation.draw
                    self._try("draw", lambda: hook(simulation.model, simulation.data, scene))

            pictures.append(
                stage().painter.draw(
                    model,
                    data,
                    simulation.camera.view(),
                    width=self.width,
                    height=self.height,
                    option=option,
                    full=full,
                    decorate=None if draw is None else decorate,
                )
            )
        if len(pictures) == 1:
            return pictures[0]
        gap = np.full((pictures[0].shape[0], _GAP * (2 if full else 1), 3), 255, np.uint8)
        return np.hstack([p for picture in pictures for p in (gap, picture)][1:])

    def _show(self, now: float, *, full: bool) -> None:
        """Send a frame, the charts and, less often, the read-outs."""
        panel = self._panel
        if panel is None:
            return
        jpeg = self._frame(full)
        if jpeg is not None:
            panel.show_picture(jpeg)
            if not full:
                self.recorder.add(now, jpeg)
        self._rough = not full
        if self.strips and not full:
            panel.show_charts("".join(strip.svg() for strip in self.strips))
        at_rest = not self.playing
        if at_rest or now - self._text_at >= _TEXT_EVERY:
            self._text_at = now
            self._measure()
            entries = [(r, self._values[r.label]) for r in self.readouts]
            clock = self.time if self.physics else None
            panel.show_readouts(
                readouts_html(entries, clock),
                "".join(table_html(t, self._rows[t.label]) for t in self.tables),
            )
        panel.show_message(self.error or self._pictures_missing, unwritten(self.student))
        if (at_rest and full) or now - self._spoken_at >= _SPEAK_EVERY:
            self._spoken_at = now
            panel.speak(self.description())

    def _frame(self, full: bool) -> bytes | None:
        if self._pictures_missing is not None:
            return None
        try:
            return encode_jpeg(self._draw(full=full), 90 if full else 85)
        except OpenGLMissing as error:
            self._pictures_missing = str(error)
            return None

    def description(self) -> str:
        """The text alternative: what is shown, the time, the read-outs, any message."""
        parts = [f"{self.title}: {'playing' if self.playing else 'paused'}"]
        if self.physics:
            parts[0] += f" at {self.time:.2f} seconds"
        parts += [
            f"{r.label} {text_of(self._values.get(r.label), r.digits)} {r.unit}".strip()
            for r in self.readouts
        ]
        if self.error:
            parts.append(self.error)
        return ". ".join(parts) + "."

    def _record(self) -> None:
        panel, frames = self._panel, self.recorder.frames()
        if panel is None:
            return

        def work() -> None:
            try:
                panel.show_video(*encode(frames))
            except Exception as error:
                panel.show_message(_one_line("Record", error), "")

        threading.Thread(target=work, name="mjcourse record", daemon=True).start()

    def _release(self) -> None:
        self.playing = False
        self.recorder.clear()
        for simulation in self.simulations:
            stage().painter.release(simulation.model)

    # Small things -------------------------------------------------------------------------

    def _control(self, name: str) -> Control:
        for control in self.controls:
            if control.label == name:
                return control
        known = ", ".join(repr(c.label) for c in self.controls) or "none"
        raise KeyError(f"lab {self.title!r} has no control {name!r}; it has {known}")

    def _drive(self, action: Callable[[], None]) -> None:
        """Run `action` on the stage and raise what a declared callable raised there."""
        if self.graded:
            return
        if self.closed:
            raise LabError(f"lab {self.title!r} is closed")

        def run() -> str | None:
            if not self._started:
                self._started = True
                self._reset()
            else:
                self.error = None
            action()
            return self.error

        message = stage().call(run)
        if self._panel is not None:
            stage().wake()
        if message is not None:
            raise LabError(message)

    def _check_declaration(self, show: Sequence[str], overlays: Sequence[str] | None) -> None:
        for what, labels in (
            ("controls", [c.label for c in self.controls]),
            ("read-outs", [r.label for r in self.readouts]),
            ("charts", [c.title for c in self.charts]),
            ("tables", [t.label for t in self.tables]),
        ):
            twice = {label for label in labels if labels.count(label) > 1}
            if twice:
                raise ValueError(f"two {what} of lab {self.title!r} are called {sorted(twice)}")
        options((*show, *(overlays or ())))
        for entry in (*self.controls, *self.readouts, *self.charts, *self.tables):
            of = getattr(entry, "of", 0)
            if of != "all" and not 0 <= of < len(self.simulations):
                raise ValueError(f"of={of!r}: the lab has {len(self.simulations)} simulation(s)")
        if self.speed <= 0:
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


def _first_name(scenes: Any) -> str:
    return scenes.replace("_", " ") if isinstance(scenes, str) else "Live lab"


def _one_line(name: str, error: BaseException) -> str:
    """`Spin the box: KeyError: ...`, without line breaks."""
    text = " ".join(str(error).split())
    return f"{name}: {type(error).__name__}" + (f": {text}" if text else "")
