"""A lab at work: it acts on messages, plays, and shows frames. Everything here runs on the stage,
except `Running.post`, which leaves a message from any thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from mjcourse.lab.charts import Strip
from mjcourse.lab.controls import Button, Valued, Which
from mjcourse.lab.notebook import unwritten
from mjcourse.lab.pace import Pace
from mjcourse.lab.readouts import Readout, Table, readouts_html, rows_of, table_html, text_of
from mjcourse.lab.record import Recorder, encode
from mjcourse.lab.scenery import options
from mjcourse.lab.simulation import Diverged, Simulation
from mjcourse.lab.stage import FRAMES_PER_SECOND, frame_period, stage
from mjcourse.rendering import SUPERSAMPLE, OpenGLMissing, encode_jpeg

if TYPE_CHECKING:
    from mjcourse.lab.lab import Lab
    from mjcourse.lab.panel import Panel

GAP = 4  # pixels between two pictures
_GAP_GREY = 128
IDLE_SECONDS = 300.0  # Play pauses after this long without input
_REST_AFTER = (0.25, 1.5)  # seconds of rest before a full-quality frame, least and most
_TEXT_EVERY = 0.125  # seconds between two changes of the read-outs while playing
_SPEAK_EVERY = 5.0  # seconds between two changes of the text alternative while playing
_WAIT = 0.02  # seconds between two looks whether the page has caught up
_PHYSICS_SHARE = 0.6  # of a frame's time; a scene that needs more runs slower than real time


class Running:
    """The state of a lab that changes: what plays, what is shown, what went wrong."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.simulations = lab.simulations
        self.strips = [Strip(chart, lab.picture_width) for chart in lab.charts]
        self.recorder = Recorder()
        self.pace = Pace()
        self.panel: Panel | None = None
        self.playing = False
        self.speed = lab.speed
        self.show = set(lab.show)
        self.values: dict[str, Any] = {}
        self.rows: dict[str, Any] = {}
        self._mail: list[tuple[str, str, Any]] = []
        self._mail_lock = threading.Lock()
        self._started = self._closed = self._diverged = False
        self._message: str | None = None
        self._faults: dict[str, str] = {}
        self._no_pictures: str | None = None
        self._dirty = self._rough = False
        self._next_frame = self._moved_at = self._input_at = 0.0
        self._text_at = self._spoken_at = 0.0
        self._rest_after = _REST_AFTER[0]
        self._anchor = (0.0, 0.0)
        self._born = time.perf_counter()

    # Messages -----------------------------------------------------------------------------

    def post(self, kind: str, name: str = "", value: Any = None) -> None:
        """Leave a message, from any thread; of a moved control only the last one counts."""
        with self._mail_lock:
            if self._mail and kind in ("move", "view") and self._mail[-1][:2] == (kind, name):
                self._mail[-1] = (kind, name, value)
            else:
                self._mail.append((kind, name, value))
        stage().unstick()
        stage().wake()

    def turn(self, now: float) -> float | None:
        """What is due at `now`: messages, a piece of the play, a frame. See `stage.Actor`."""
        self._read_mail(now)
        if not self._started or self._closed:
            return None
        if self.playing and now - self._input_at > IDLE_SECONDS:
            self._pause("paused after five minutes without input: press Play to go on")
        if (self.playing or self._dirty) and now < self._next_frame:
            return self._next_frame
        if self.pace.behind(now):
            return now + _WAIT
        if self.playing:
            self._play(now)
        if self._dirty:
            period = frame_period(sum(getattr(a, "playing", False) for a in stage().actors))
            self._next_frame = max(self._next_frame + period, now + 0.5 * period)
            self._dirty, self._moved_at = False, now
            self._show(now, full=False)
            return self._next_frame if self.playing else now + self._rest_after
        if self._rough and not self.playing:
            if now - self._moved_at < self._rest_after:
                return self._moved_at + self._rest_after
            self._show(now, full=True)
            # Where such a frame is slow it comes later, so that it seldom meets the next move.
            cost = time.perf_counter() - now
            self._rest_after = min(max(3 * cost, _REST_AFTER[0]), _REST_AFTER[1])
        return None

    def driven(self, action: Callable[[Running], None]) -> None:
        """`action` on behalf of a program: as if it came from a student's hand."""
        self._start()
        self._message = None
        action(self)

    def _read_mail(self, now: float) -> None:
        with self._mail_lock:
            mail, self._mail = self._mail, []
        for kind, name, value in mail:
            if kind == "seen":  # by the page, not a student's hand
                self.pace.seen(value, now)
                continue
            self._input_at = now
            self._receive(kind, name, value)

    def _receive(self, kind: str, name: str, value: Any) -> None:
        control: Any = self.lab.control(name) if kind in ("press", "move") else None
        match kind:
            case "start":
                self._start()
                self._dirty = True
            case "press":
                self.press(control)
            case "move":
                self.move(control, value)
            case "play":
                self._play_from_here() if value else self._pause()
            case "step":
                self._single_step()
            case "reset":
                self.reset()
            case "speed":
                self.speed = value
                self._anchor_here()
            case "overlay":
                (self.show.add if value else self.show.discard)(name)
                self._dirty = True
            case "view":
                for simulation in self.simulations:
                    setattr(simulation.camera, name, value)
                self._dirty = True
            case "record":
                self._record()

    # What a hand does ---------------------------------------------------------------------

    def press(self, control: Button) -> None:
        """A button's action."""
        self._message = None
        self._try(control.label, control.on_click, *self._subject(control.of))
        self._settle()
        if control.play:
            self._play_from_here()

    def move(self, control: Valued, value: Any, *, by_hand: bool = True) -> None:
        """A control's new value; its widget follows unless it was moved by hand."""
        self._message = None
        control.value = value
        if not by_hand and self.panel is not None:
            self.panel.show_value(control)
        self._change(control)
        self._settle()

    def reset(self) -> None:
        """Every simulation from its start, under the present values of the controls."""
        self._message, self._diverged = None, False
        for simulation in self.simulations:
            self._try("reset", simulation.restart)
        for control in self.lab.controls:
            if isinstance(control, Valued) and control.reapply:
                self._change(control)
        for strip in self.strips:
            strip.clear()
        self._born = time.perf_counter()
        self._settle()

    def _start(self) -> None:
        if not self._started:
            self._started = True
            self.reset()
            if self.lab.playing and self.panel is not None:
                self._play_from_here()

    def _change(self, control: Valued) -> None:
        self._try(control.label, control.on_change, *self._subject(control.of), control.value)

    def _settle(self) -> None:
        """After a change by hand: everything derived is fresh, and the charts have a sample."""
        for simulation in self.simulations:
            if simulation.settle:
                simulation.forward()
        self._anchor_here()
        self._sample()
        self._dirty = True

    # Time ---------------------------------------------------------------------------------

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset, of the first simulation."""
        return self.simulations[0].time

    def advance(self, seconds: float) -> None:
        """Simulate `seconds` as fast as possible, with a sample for the charts at every frame."""
        target = self.time
        end = target + seconds
        while self._message is None and target < end - 1e-9:
            # The clock of the frames goes on where a step is longer than a frame.
            target = min(target + 1 / FRAMES_PER_SECOND, end)
            self._run_to(target, budget=float("inf"))
        self._anchor_here()
        self._dirty = True

    def _play(self, now: float) -> None:
        wall, simulated = self._anchor
        target = simulated + (now - wall) * self.speed
        if not self._run_to(target, _PHYSICS_SHARE / FRAMES_PER_SECOND):
            self._anchor_here()
        self._dirty = True

    def _run_to(self, target: float, budget: float) -> bool:
        """Advance every simulation to `target`; a failure stops the play and is shown."""
        reached = True
        for simulation in self.simulations:
            try:
                reached &= simulation.advance_to(target, budget)
            except Exception as error:
                self._fail(error)
                return False
        self._sample()
        return reached

    def _single_step(self) -> None:
        self._pause()
        for simulation in self.simulations:
            try:
                simulation.single_step()
            except Exception as error:
                self._fail(error)
                return
        self._sample()
        self._anchor_here()

    def _play_from_here(self) -> None:
        if self.lab.physics and not self._diverged:
            self._message = None
            self.playing = True
            self._anchor_here()
        if self.panel is not None:
            self.panel.show_playing(self.playing)

    def _pause(self, why: str | None = None) -> None:
        self.playing = False
        self._dirty = True
        self._message = why
        if self.panel is not None:
            self.panel.show_playing(False)

    def _anchor_here(self) -> None:
        """Real time is counted from this instant on."""
        self._anchor = (time.perf_counter(), self.time)

    # What goes wrong ----------------------------------------------------------------------

    @property
    def trouble(self) -> str | None:
        """The line of trouble now shown, if any."""
        return self._message or next(iter(self._faults.values()), None)

    def _try(self, name: str, action: Callable[..., Any] | None, *args: Any) -> None:
        """Call a declared callable; its exception becomes the lab's message."""
        if action is None:
            return
        try:
            action(*args)
        except Exception as error:
            self._message = _one_line(name, error)

    @contextmanager
    def _noted(self, name: str) -> Iterator[None]:
        """Note the failure of something that is evaluated all the time, until it works again."""
        try:
            yield
        except Exception as error:
            self._faults[name] = _one_line(name, error)
        else:
            self._faults.pop(name, None)

    def _fail(self, error: Exception) -> None:
        """A step failed: pause, and after a divergence wait for Reset."""
        self._diverged = isinstance(error, Diverged)
        self._pause(str(error) if self._diverged else _one_line("step", error))

    # What is seen -------------------------------------------------------------------------

    def measure(self) -> None:
        """Evaluate read-outs and tables."""
        entries: list[Readout | Table] = [*self.lab.readouts, *self.lab.tables]
        for entry in entries:
            into = self.values if isinstance(entry, Readout) else self.rows
            with self._noted(entry.label):
                value = entry.of_state(*self._subject(entry.of))
                if isinstance(value, np.ndarray):
                    value = value.copy()  # a view would follow the simulation
                if isinstance(entry, Readout):
                    rows_of(value, entry.digits)  # refuses what cannot be printed
                into[entry.label] = value
            if entry.label in self._faults:
                into[entry.label] = "error" if isinstance(entry, Readout) else []

    def draw(self, *, full: bool) -> np.ndarray:
        """All pictures side by side, `SUPERSAMPLE` times the size where `full`.

        Raises:
          OpenGLMissing: there is no OpenGL.
        """
        option = options(self.show)
        pictures = [self._draw_one(simulation, option, full) for simulation in self.simulations]
        if len(pictures) == 1:
            return pictures[0]
        gap = GAP * (SUPERSAMPLE if full else 1)
        space = np.full((pictures[0].shape[0], gap, 3), _GAP_GREY, np.uint8)
        return np.hstack([part for picture in pictures for part in (space, picture)][1:])

    def description(self) -> str:
        """The text alternative: what is shown, the time, the read-outs, any trouble."""
        state = "playing" if self.playing else "paused"
        parts = [f"{self.lab.title}: {state} at {self.time:.2f} seconds"]
        if not self.lab.physics:
            parts = [self.lab.title]
        for readout in self.lab.readouts:
            value = text_of(self.values.get(readout.label), readout.digits, readout.scientific)
            parts.append(f"{readout.label} {value} {readout.unit}".strip())
        if self.trouble:
            parts.append(self.trouble)
        return ". ".join(parts) + "."

    def release(self) -> None:
        """Stop for good, and free what is large: IPython's `Out` may keep the lab itself alive."""
        self._closed, self.playing = True, False
        self.panel = None
        self.recorder.clear()
        self.strips.clear()
        shared = {
            simulation.assets
            for actor in stage().actors
            if isinstance(actor, Running) and actor is not self
            for simulation in actor.simulations
        }
        for simulation in self.simulations:
            if simulation.assets not in shared:
                stage().painter.release(simulation.assets)
            simulation.unload()

    def _draw_one(self, simulation: Simulation, option: mujoco.MjvOption, full: bool) -> np.ndarray:
        def decorate(scene: mujoco.MjvScene) -> None:
            if simulation.draw is not None:
                with self._noted("draw"):
                    simulation.draw(simulation.model, simulation.data, scene)

        return stage().painter.draw(
            simulation.model,
            simulation.data,
            simulation.camera.view(),
            width=self.lab.width,
            height=self.lab.height,
            option=option,
            full=full,
            decorate=decorate,
            assets=simulation.assets,
        )

    def _show(self, now: float, *, full: bool) -> None:
        """Send a frame, the charts and, less often while playing, the words."""
        self._rough = not full
        panel = self.panel
        if panel is None:
            return
        jpeg = self._frame(full)
        if jpeg is not None:
            panel.show_picture(jpeg)
            stamp = self.pace.sent(now)
            if stamp is not None:
                panel.ask_back(stamp)
            if not full:
                self.recorder.add(now, jpeg)
        if self.strips and not full:
            panel.show_charts("".join(strip.svg() for strip in self.strips))
        if not self.playing or now - self._text_at >= _TEXT_EVERY:
            self._text_at = now
            self._show_words()
        if (full and not self.playing) or now - self._spoken_at >= _SPEAK_EVERY:
            self._spoken_at = now
            panel.speak(self.description())

    def _show_words(self) -> None:
        assert self.panel is not None
        self.measure()
        entries = [(r, self.values[r.label]) for r in self.lab.readouts]
        self.panel.show_readouts(
            readouts_html(entries, self.time if self.lab.physics else None),
            "".join(table_html(t, self.rows[t.label]) for t in self.lab.tables),
        )
        self.panel.show_message(self.trouble or self._no_pictures, unwritten(self.lab.student))

    def _frame(self, full: bool) -> bytes | None:
        if self._no_pictures is not None:
            return None
        try:
            return encode_jpeg(self.draw(full=full), full=full)
        except OpenGLMissing as error:
            self._no_pictures = str(error)
            return None

    def _record(self) -> None:
        """Turn the frames shown lately into a clip, beside the stage: it takes a second or two."""
        panel, frames = self.panel, self.recorder.frames()
        if panel is None:
            return

        def work() -> None:
            try:
                panel.show_video(*encode(frames))
            except Exception as error:
                panel.show_message(_one_line("Record", error), "")

        threading.Thread(target=work, name="mjcourse record", daemon=True).start()

    def _sample(self) -> None:
        """One sample for each strip chart."""
        now = self.time if self.lab.physics else time.perf_counter() - self._born
        for strip in self.strips:
            subject = self._subject(strip.chart.of)
            values = []
            for name, trace in strip.chart.traces.items():
                value = float("nan")
                with self._noted(name):
                    value = float(trace(*subject))
                values.append(value)
            strip.add(now, values)

    def _subject(self, of: Which) -> tuple[Any, ...]:
        """What a callable gets first: `(model, data)`, or the list of simulations."""
        if of == "all":
            return (self.simulations,)
        simulation = self.simulations[of]
        return simulation.model, simulation.data


def _one_line(name: str, error: BaseException) -> str:
    """`Spin the box: KeyError: ...`, without line breaks."""
    text = " ".join(str(error).split())
    return f"{name}: {type(error).__name__}" + (f": {text}" if text else "")
