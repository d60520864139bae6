"""A live lab in JupyterLab, in a real browser: callbacks arrive in other threads than the cell's,
which no other test shows.
"""

from __future__ import annotations

import base64
import io
import re
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.browser.jupyterlab import Notebook, Server

CELL = """
from mjcourse import Button, Lab, Readout, Slider, StripChart, Toggle

def spin(model, data):
    data.joint("free").qvel[3:6] = 0.5, 1.0, 2.0

def turn(model, data, value):
    data.joint("hinge").qpos[0] = value

def explode(model, data):
    data.qvel[0] = float("nan")

lab = Lab(
    "joint_zoo",
    title="One joint of each type",
    note="The box keeps spinning.",
    camera={"azimuth": -90, "elevation": 12, "distance": 1.6, "lookat": (0, 0, 0.45)},
    controls=[
        Slider("hinge angle", low=-3, high=3, value=0, step=0.1, unit="rad", on_change=turn),
        Button("Spin the box", spin),
        Button("Fail", lambda model, data: {}["missing"]),
        Button("Explode", explode),
    ],
    readouts=[
        Readout("hinge", lambda model, data: data.joint("hinge").qpos[0], unit="rad", digits=2),
        Readout("free qw", lambda model, data: data.joint("free").qpos[3], digits=4),
    ],
    charts=[StripChart("free quaternion", {"qw": lambda model, data: data.qpos[3]})],
    show=("frames",),
)
lab
"""


@pytest.fixture(scope="module")
def opened(browser: Any, jupyterlab: Server) -> Iterator[Notebook]:
    """A notebook with one lab, run once for all tests of this module."""
    context = browser.new_context(viewport={"width": 1280, "height": 1100})
    page = context.new_page()
    page.set_default_timeout(15_000)
    notebook = Notebook(page, jupyterlab, jupyterlab.write_notebook("lab.ipynb", [CELL]))
    notebook.run_all()
    yield notebook
    notebook.close()
    context.close()


@pytest.fixture
def lab(opened: Notebook) -> LabOnPage:
    """The lab on the page, paused and reset."""
    shown = LabOnPage(opened.page)
    shown.picture.wait_for()
    if shown.button("Pause").count():
        shown.pause()
    shown.reset()
    return shown


class LabOnPage:
    """What a student sees of a lab and does to it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.root = page.locator(".mjl").last
        self.picture = self.root.locator("img").first

    def button(self, name: str) -> Any:
        # An icon is part of a button's accessible name.
        return self.root.get_by_role("button", name=re.compile(rf"{re.escape(name)}$"))

    def press(self, name: str) -> None:
        self.button(name).click()

    def play(self) -> None:
        self.press("Play")
        self.button("Pause").wait_for()

    def pause(self) -> None:
        self.press("Pause")
        self.button("Play").wait_for()
        self.settle()

    def reset(self) -> None:
        self.press("Reset")
        self.until_readout("time", "0.00")
        self.settle()

    def settle(self) -> None:
        """Wait until nothing moves and the full-quality picture, twice as fine, is there."""
        self.page.wait_for_timeout(400)
        self.until("() => [...document.querySelectorAll('.mjl img')].at(-1).naturalWidth === 960")

    def slider(self, label: str) -> Any:
        row = self.root.locator(".widget-slider", has_text=label)
        return row.locator("[role=slider]")

    def readout(self, label: str) -> str:
        row = self.root.locator(".mjl-row").filter(
            has=self.page.locator(".mjl-name").get_by_text(label, exact=True)
        )
        text = row.locator(".mjl-value").inner_text()
        return text.replace("\u2212", "-").replace("\u2007", "").strip()

    def pixels(self) -> np.ndarray:
        """The picture as it is shown, `(360, 480, 3)`."""
        data = self.picture.evaluate(
            """async image => {
                await image.decode();
                const canvas = document.createElement('canvas');
                canvas.width = 480; canvas.height = 360;
                canvas.getContext('2d').drawImage(image, 0, 0, 480, 360);
                return canvas.toDataURL('image/png').split(',')[1];
            }"""
        )
        picture = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
        return np.asarray(picture).astype(int)

    def until(self, condition: str, argument: Any = None) -> None:
        self.page.wait_for_function(condition, arg=argument, timeout=15_000)

    def until_readout(self, label: str, text: str) -> None:
        """Wait until the read-out `label` says `text`."""
        deadline = time.monotonic() + 15
        while self.readout(label) != text:
            assert time.monotonic() < deadline, f"{label} is {self.readout(label)}, not {text}"
            self.page.wait_for_timeout(50)

    def trouble(self) -> str:
        return self.root.locator(".mjl-trouble").inner_text()


def changed(before: np.ndarray, after: np.ndarray) -> int:
    """Number of pixels that differ clearly."""
    return int((np.abs(before - after).max(axis=2) > 40).sum())


def test_the_picture_is_there_and_has_something_in_it(lab):
    assert lab.pixels().std() > 15
    assert lab.root.locator("h4").inner_text() == "One joint of each type"


def test_a_slider_moved_by_keyboard_changes_picture_and_readout(lab):
    before = lab.pixels()
    lab.slider("hinge angle").focus()
    lab.page.keyboard.press("Home")
    lab.until_readout("hinge", "-3.00")
    for _ in range(40):
        lab.page.keyboard.press("ArrowRight")
    lab.until_readout("hinge", "1.00")
    lab.settle()
    assert changed(before, lab.pixels()) > 200


def test_a_slider_dragged_by_mouse_changes_picture_and_readout(lab):
    before, value = lab.pixels(), float(lab.readout("hinge"))
    box = lab.slider("hinge angle").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    lab.page.mouse.move(x, y)
    lab.page.mouse.down()
    for step in range(1, 11):
        lab.page.mouse.move(x - 4 * step, y)
    lab.page.mouse.up()
    lab.settle()
    assert abs(float(lab.readout("hinge")) - value) > 0.5
    assert changed(before, lab.pixels()) > 200


def test_play_moves_the_scene_pause_holds_it_and_reset_brings_the_start_back(lab):
    start = lab.pixels()
    lab.press("Spin the box")
    lab.play()
    lab.page.wait_for_timeout(1500)
    lab.pause()
    held, when = lab.pixels(), float(lab.readout("time"))
    assert 0.8 < when < 4
    assert changed(start, held) > 1000
    lab.page.wait_for_timeout(400)
    assert float(lab.readout("time")) == when
    assert changed(held, lab.pixels()) == 0
    lab.reset()
    assert changed(start, lab.pixels()) < 50


def test_step_advances_one_timestep(lab):
    for _ in range(5):
        lab.press("Step")
        lab.page.wait_for_timeout(50)
    lab.until_readout("time", "0.01")


def test_frames_keep_coming_while_a_cell_computes(lab, opened):
    lab.press("Spin the box")
    lab.play()
    lab.page.evaluate(
        """() => {
            window.frames_seen = 0;
            document.querySelector('.mjl img').addEventListener(
                'load', () => { window.frames_seen += 1; });
        }"""
    )
    opened.evaluate("import time\nend = time.time() + 2\nwhile time.time() < end: pass")
    seen = lab.page.evaluate("() => window.frames_seen")
    lab.pause()
    assert seen > 5


def test_a_page_that_cannot_follow_is_sent_fewer_frames(lab, opened):
    opened.evaluate(
        """
import time
sent, show = [], lab._panel.show_picture
lab._panel.show_picture = lambda jpeg: (sent.append(time.time()), show(jpeg))
"""
    )
    lab.press("Spin the box")
    lab.play()
    lab.page.wait_for_timeout(1500)
    since = time.time()
    lab.page.evaluate("() => { const end = Date.now() + 3000; while (Date.now() < end); }")
    until = time.time()
    lab.pause()
    counted = opened.evaluate(
        f"print(sum({since} < t < {until} for t in sent),"
        f" sum({since} - 1 < t < {since} for t in sent))"
    )
    opened.evaluate("lab._panel.show_picture = show")
    during, before = map(int, counted.split())
    assert before >= 10
    assert during < 30  # of 72 that a queue would have taken


def test_a_failing_callback_is_told_in_one_line_and_the_lab_goes_on(lab):
    lab.press("Fail")
    lab.until("() => document.querySelector('.mjl-trouble').innerText !== ''")
    assert lab.trouble() == "Fail: KeyError: 'missing'"
    lab.slider("hinge angle").focus()
    lab.page.keyboard.press("ArrowRight")
    lab.until("() => document.querySelector('.mjl-trouble').innerText === ''")


def test_a_diverged_simulation_says_so_and_reset_brings_it_back(lab):
    lab.press("Explode")
    lab.press("Play")
    lab.until("() => document.querySelector('.mjl-trouble').innerText.includes('diverged')")
    assert "press Reset" in lab.trouble()
    lab.press("Reset")
    lab.until("() => document.querySelector('.mjl-trouble').innerText === ''")
    lab.play()
    lab.page.wait_for_timeout(600)
    lab.pause()
    assert float(lab.readout("time")) > 0.1


def test_an_overlay_and_the_camera_change_the_view(lab):
    with_frames = lab.pixels()
    box = lab.root.get_by_label("body frames")
    box.uncheck()
    lab.settle()
    without = lab.pixels()
    assert changed(with_frames, without) > 100
    lab.root.get_by_text("Camera", exact=True).click()
    lab.slider("orbit").focus()
    for _ in range(20):
        lab.page.keyboard.press("ArrowRight")
    lab.settle()
    assert changed(without, lab.pixels()) > 1000
    lab.press("Reset the view")
    box.check()
    lab.settle()
    assert changed(with_frames, lab.pixels()) < 50


def test_the_text_alternative_follows_the_readouts(lab):
    region = lab.root.locator("[role=status][aria-live=polite]")
    assert "hinge" in region.inner_text()
    lab.slider("hinge angle").focus()
    lab.page.keyboard.press("Home")
    lab.until(
        "() => document.querySelector('.mjl [role=status]').innerText.includes('hinge -3.00 rad')"
    )
    assert "Chart free quaternion" in lab.root.locator("svg.mjl-chart").get_attribute("aria-label")


def test_every_control_is_reached_by_keyboard(lab):
    lab.button("Play").focus()
    reached = []
    for _ in range(14):
        reached.append(
            lab.page.evaluate(
                """() => document.activeElement.innerText.trim()
                    || document.activeElement.getAttribute('role')
                    || document.activeElement.type"""
            )
        )
        lab.page.keyboard.press("Tab")
    for name in ("Play", "Step", "Reset", "Record", "slider", "Spin the box", "checkbox"):
        assert name in reached, reached


def test_record_shows_the_last_seconds_as_a_video(lab):
    lab.press("Spin the box")
    lab.play()
    lab.page.wait_for_timeout(1200)
    lab.pause()
    lab.press("Record")
    video = lab.root.locator("video")
    video.wait_for(timeout=20_000)
    lab.until("() => document.querySelector('.mjl video').duration > 0.8")
    assert video.evaluate("v => [v.videoWidth, v.videoHeight, v.error]") == [480, 360, None]
    assert lab.root.get_by_text("Save this clip").get_attribute("download") == "lab.mp4"


def test_nothing_on_the_page_jumps_when_values_change(lab):
    def places() -> list[float]:
        return lab.root.evaluate(
            """root => [...root.querySelectorAll('button, img, .mjl-row, svg.mjl-chart')]
                .map(e => Math.round(e.getBoundingClientRect().top
                                     - root.getBoundingClientRect().top))"""
        )

    before = places()
    lab.press("Spin the box")
    lab.play()
    lab.page.wait_for_timeout(800)
    lab.press("Fail")
    lab.page.wait_for_timeout(400)
    during = places()
    lab.pause()
    assert during == before


def test_running_the_cell_again_leaves_one_lab_and_one_context(lab, opened):
    opened.run_cell(0)
    again = LabOnPage(opened.page)
    again.picture.wait_for()
    again.settle()
    count = """
from mjcourse.lab.stage import stage
import ipywidgets
print(len(stage().actors), stage().call(lambda: stage().painter.contexts),
      len(ipywidgets.widgets.widget._instances))
"""
    first = opened.evaluate(count).split()
    for _ in range(5):
        opened.run_cell(0)
    assert first[:2] == ["1", "1"]
    assert opened.evaluate(count).split() == first
    again = LabOnPage(opened.page)
    again.picture.wait_for()
    again.slider("hinge angle").focus()
    opened.page.keyboard.press("End")
    again.until_readout("hinge", "3.00")
