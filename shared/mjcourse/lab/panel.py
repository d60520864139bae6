"""The lab's widgets: core ipywidgets only, the same under versions 7.7.1 and 8."""

from __future__ import annotations

import base64
import html
import itertools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from mjcourse.lab.controls import Button, Control, Select, Slider, Toggle, Valued
from mjcourse.lab.stage import stage
from mjcourse.lab.style import CSS

if TYPE_CHECKING:
    from mjcourse.lab.lab import Lab

_WIDE = 560  # a picture wider than this has no room beside it
_SIDE = 340  # width of the column of controls and read-outs, in pixels
_SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)
_NAMES = {
    "frames": "body frames",
    "joints": "joint axes",
    "contacts": "contact points",
    "forces": "contact forces",
}


class Panel:
    """What is on the page for one lab.

    Its methods are called on the stage, except `display` and `close`; what a student does only
    posts a message to the lab.
    """

    def __init__(self, lab: Lab, post: Callable[..., None]) -> None:
        self._lab = lab
        self._post = post
        self._playing = False
        longest = max(
            (len(_caption(c)) for c in lab.controls if not isinstance(c, Button)), default=0
        )
        self._label_width = min(max(7 * longest + 8, 90), 190)
        self._made: list[Any] = []
        self._by_label: dict[str, Any] = {}
        self._last: dict[str, str] = {}
        self._picture = self._make(
            widgets.Image,
            format="jpeg",
            layout={
                "width": f"{lab.picture_width}px",
                "height": f"{lab.height}px",
                "object_fit": "fill",
            },
        )
        self._text = {
            name: self._make(widgets.HTML, value="", layout={"margin": "0"})
            for name in ("message", "note", "charts", "readouts", "tables", "video", "speech")
        }
        self._play = self._button("Play", "play", "play", lambda: not self._playing, width="78px")
        self._asked, self._answered = self._make(widgets.IntText), self._make(widgets.IntText)
        self._answered.observe(lambda event: post("seen", "", event["new"]), "value")
        self._made.append(widgets.jsdlink((self._asked, "value"), (self._answered, "value")))
        self.root = self._arrange()
        self.show_message(None, "")

    # Laid out once ------------------------------------------------------------------------

    def _arrange(self) -> Any:
        lab, text = self._lab, self._text
        head = self._make(
            widgets.HTML, value=f"{CSS}<h4 class='mjl-title'>{html.escape(lab.title)}</h4>"
        )
        left = [self._picture, text["speech"]]
        if len(lab.simulations) > 1:
            left.insert(0, self._titles())
        if lab.physics:
            left.append(self._transport())
        left += [text["message"], text["note"], text["charts"], text["video"]]
        controls = [*self._control_rows()]
        looks = [self._overlays(), self._views()]
        figures = [text["readouts"], text["tables"]]
        if lab.picture_width > _WIDE:  # controls and figures go below, beside each other
            columns = [[*controls, *looks], figures]
        else:
            columns = [[*controls, *figures, *looks]]
        wide = {"width": f"{lab.picture_width + 4}px", "margin": "0 20px 0 0"}
        side = {"width": f"{_SIDE}px", "margin": "0 16px 8px 0" if len(columns) > 1 else "0"}
        body = self._make(
            widgets.HBox,
            [
                self._make(widgets.VBox, left, layout=wide),
                *(self._make(widgets.VBox, column, layout=side) for column in columns),
            ],
            layout={"flex_flow": "row wrap"},
        )
        root = self._make(widgets.VBox, [head, body])
        root.add_class("mjl")
        return root

    def _titles(self) -> Any:
        cells = "".join(f"<span>{html.escape(s.title)}</span>" for s in self._lab.simulations)
        return self._make(widgets.HTML, value=f"<div class='mjl-pair'>{cells}</div>")

    def _transport(self) -> Any:
        lab = self._lab
        options = [(f"{s:g}x", s) for s in sorted({*_SPEEDS, lab.speed})]
        speed = self._make(
            widgets.SelectionSlider,
            options=options,
            value=lab.speed,
            description="speed",
            continuous_update=True,
            style={"description_width": "42px"},
            layout={
                "width": f"{min(max(lab.picture_width - 352, 148), 420)}px",
                "margin": "2px 0 2px 8px",
            },
        )
        speed.add_class("mjl-speed")
        self._on_value(speed, "speed", "")
        row = [
            self._play,
            self._button("Step", "step", "step-forward", width="68px"),
            self._button("Reset", "reset", "undo", width="74px"),
            self._button("Record", "record", "video-camera", width="84px"),
            speed,
        ]
        return self._make(widgets.HBox, row, layout={"flex_flow": "row wrap", "margin": "4px 0 0"})

    def _control_rows(self) -> list[Any]:
        """The controls in their order; neighbouring buttons, and toggles, share a row."""
        rows: list[Any] = []
        for kind, group in itertools.groupby(self._lab.controls, type):
            made = [self._control(control) for control in group]
            if kind in (Button, Toggle):
                made = [self._make(widgets.HBox, made, layout={"flex_flow": "row wrap"})]
            rows += made
        return rows

    def _control(self, control: Control) -> Any:
        wide, style = {"width": f"{_SIDE - 8}px"}, {"description_width": f"{self._label_width}px"}
        if isinstance(control, Button):
            widget = self._make(
                widgets.Button,
                description=control.label,
                layout={"width": "auto", "min_width": f"{_SIDE // 2 - 8}px", "flex": "1 1 auto"},
            )
            widget.on_click(lambda _: self._post("press", control.label, None))
        elif isinstance(control, Slider):
            widget = self._make(
                widgets.FloatSlider,
                value=control.value,
                min=control.low,
                max=control.high,
                step=control.step,
                description=_caption(control),
                readout_format=f".{_decimals(control.step)}f",
                continuous_update=True,
                style=style,
                layout=wide,
            )
            self._on_value(widget, "move", control.label)
        elif isinstance(control, Toggle):
            widget = self._make(
                widgets.Checkbox,
                value=control.value,
                description=control.label,
                indent=False,
                layout={"width": "auto", "margin": "2px 16px 2px 2px"},
            )
            self._on_value(widget, "move", control.label)
        else:
            assert isinstance(control, Select)
            widget = self._make(
                widgets.Dropdown,
                options=[(str(option), option) for option in control.options],
                value=control.value,
                description=control.label,
                style=style,
                layout=wide,
            )
            self._on_value(widget, "move", control.label)
        self._by_label[control.label] = widget
        return widget

    def _overlays(self) -> Any:
        boxes = []
        for name in self._lab.overlays:
            box = self._make(
                widgets.Checkbox,
                value=name in self._lab.show,
                description=_NAMES[name],
                indent=False,
                layout={"width": "150px"},
            )
            self._on_value(box, "overlay", name)
            boxes.append(box)
        return self._make(widgets.HBox, boxes, layout={"flex_flow": "row wrap"})

    def _views(self) -> Any:
        """The camera: sliders that orbit, tilt and move it, folded away at first."""
        camera = self._lab.simulations[0].camera
        far = camera.distance
        home = {"azimuth": _wrapped(camera.azimuth), "elevation": camera.elevation, "distance": far}
        # The browser moves a value to the nearest step: steps are counted so that home is one.
        ranges = {
            "azimuth": ("orbit", -180, 180, 1),
            "elevation": ("tilt", -89, 89, 1),
            "distance": ("distance", far / 4, far * 4, far / 40),
        }
        sliders = {}
        for name, (label, low, high, step) in ranges.items():
            sliders[name] = self._make(
                widgets.FloatSlider,
                value=home[name],
                min=low,
                max=high,
                step=step,
                description=label,
                readout=False,
                continuous_update=True,
                style={"description_width": "60px"},
                layout={"width": f"{_SIDE - 40}px"},
            )
            self._on_value(sliders[name], "view", name)

        def go_home(_: Any) -> None:
            for name, slider in sliders.items():
                slider.value = home[name]

        back = self._make(widgets.Button, description="Reset the view", icon="home")
        back.on_click(go_home)
        box = self._make(widgets.VBox, [*sliders.values(), back])
        fold = self._make(widgets.Accordion, [box], selected_index=None)
        fold.set_title(0, "Camera")
        return fold

    def _button(
        self, label: str, kind: str, icon: str, value: Any = None, width: str = "auto"
    ) -> Any:
        button = self._make(
            widgets.Button,
            description=label,
            icon=icon,
            layout={"width": width, "padding": "0 8px", "margin": "2px 4px 2px 0"},
        )
        button.on_click(lambda _: self._post(kind, "", value() if value else None))
        return button

    def _on_value(self, widget: Any, kind: str, name: str) -> None:
        def changed(event: Any) -> None:
            if not stage().here:  # what the stage itself sets is no news to it
                self._post(kind, name, event["new"])

        widget.observe(changed, "value")

    def _make(self, kind: Any, *args: Any, **kwargs: Any) -> Any:
        widget = kind(*args, **kwargs)
        self._made.append(widget)
        return widget

    # Shown again and again ----------------------------------------------------------------

    def show_picture(self, jpeg: bytes) -> None:
        """Replace the picture."""
        self._picture.value = jpeg

    def ask_back(self, number: int) -> None:
        """Have the page send `number` back once it has come so far (see `pace`)."""
        self._asked.value = number

    def show_charts(self, svg: str) -> None:
        """Replace the strip charts."""
        self._put("charts", svg)

    def show_readouts(self, readouts: str, tables: str) -> None:
        """Replace the read-outs and the tables."""
        self._put("readouts", readouts)
        self._put("tables", tables)

    def show_message(self, message: str | None, unwritten: str) -> None:
        """One line of trouble, and the note with what the student has not written yet."""
        trouble = html.escape(message or "")
        self._put("message", f"<div class='mjl-line mjl-trouble' role='alert'>{trouble}</div>")
        lines = [line for line in (self._lab.note, unwritten) if line]
        self._put(
            "note",
            "".join(f"<div class='mjl-line mjl-note'>{html.escape(line)}</div>" for line in lines),
        )

    def speak(self, text: str) -> None:
        """The text alternative, read out by a screen reader when it changes."""
        self._put(
            "speech",
            f"<div class='mjl-speech' role='status' aria-live='polite'>{html.escape(text)}</div>",
        )

    def show_playing(self, playing: bool) -> None:
        """Play or Pause on the button."""
        self._playing = playing
        self._play.description = "Pause" if playing else "Play"
        self._play.icon = "pause" if playing else "play"

    def show_value(self, control: Valued) -> None:
        """Move the widget of a control that was moved by a program."""
        self._by_label[control.label].value = control.value

    def show_video(self, content: bytes, mime: str) -> None:
        """A recorded clip, with its download."""
        data = f"data:{mime};base64,{base64.b64encode(content).decode()}"
        name = "lab.mp4" if mime.startswith("video") else "lab.webp"
        width = self._lab.picture_width
        tag = (
            f"<video controls loop autoplay muted width='{width}' src='{data}'></video>"
            if mime.startswith("video")
            else f"<img width='{width}' src='{data}' alt='The last seconds of the lab'>"
        )
        self._put("video", f"{tag}<br><a download='{name}' href='{data}'>Save this clip</a>")

    def _put(self, name: str, value: str) -> None:
        if self._last.get(name) != value:
            self._last[name] = value
            self._text[name].value = value

    # On the page and off it ---------------------------------------------------------------

    def display(self) -> None:
        """Show the panel in the cell that runs now; a page without widgets gets a line of text."""
        from IPython.display import display

        view = {"version_major": 2, "version_minor": 0, "model_id": self.root.model_id}
        text = f"Live lab: {self._lab.title}. Run this cell to use it."
        display({"application/vnd.jupyter.widget-view+json": view, "text/plain": text}, raw=True)

    def close(self) -> None:
        """Remove the panel's widgets, with their layouts and styles, from page and kernel."""
        for widget in self._made:
            for part in ("layout", "style"):
                if hasattr(widget, part) and getattr(widget, part) is not None:
                    getattr(widget, part).close()
            widget.close()
        self._made.clear()


def _caption(control: Control) -> str:
    unit = getattr(control, "unit", "")
    return f"{control.label} ({unit})" if unit else control.label


def _decimals(step: float) -> int:
    return max(0, math.ceil(-math.log10(step) - 1e-9)) if step < 1 else 0


def _wrapped(angle: float) -> float:
    return (angle + 180) % 360 - 180
