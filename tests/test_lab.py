"""A live lab, driven without a browser: what a lesson declares is what a student gets."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from mjcourse.lab import (
    Button,
    Lab,
    LabError,
    Readout,
    Select,
    Simulation,
    Slider,
    StripChart,
    Table,
    Toggle,
    arrow,
    ghost_body,
    marker,
    student,
)
from mjcourse.lab import running as running_module
from mjcourse.lab.notebook import unwritten
from mjcourse.lab.panel import Panel
from mjcourse.lab.stage import stage

PENDULUM = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="pivot" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor name="motor" joint="pivot" gear="1"/></actuator>
</mujoco>
"""


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(PENDULUM)


@pytest.fixture
def make() -> Iterator[Callable[..., Lab]]:
    """Builds labs and closes them."""
    labs: list[Lab] = []

    def build(*args: Any, **kwargs: Any) -> Lab:
        labs.append(Lab(*args, **kwargs))
        return labs[-1]

    yield build
    for lab in labs:
        lab.close()


def angle(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    return float(data.qpos[0])


def set_angle(model: mujoco.MjModel, data: mujoco.MjData, value: float) -> None:
    data.qpos[0] = value


def set_torque(model: mujoco.MjModel, data: mujoco.MjData, value: float) -> None:
    data.ctrl[0] = value


def explode(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    data.qvel[0] = np.nan


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait for what happens on the stage."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.01)


class Screen:
    """Stands in for the widgets: keeps what the lab shows last."""

    def __init__(self) -> None:
        self.pictures: list[bytes] = []
        self.message: str | None = None
        self.note = ""
        self.speech: list[str] = []
        self.playing = False
        self.charts = self.readouts = self.tables = ""
        self.video: tuple[bytes, str] | None = None

    def show_picture(self, jpeg: bytes) -> None:
        self.pictures.append(jpeg)

    def ask_back(self, number: int) -> None:
        """A page that never answers."""

    def show_charts(self, svg: str) -> None:
        self.charts = svg

    def show_readouts(self, readouts: str, tables: str) -> None:
        self.readouts, self.tables = readouts, tables

    def show_message(self, message: str | None, unwritten: str) -> None:
        self.message, self.note = message, unwritten

    def speak(self, text: str) -> None:
        self.speech.append(text)

    def show_playing(self, playing: bool) -> None:
        self.playing = playing

    def show_value(self, control: Any) -> None:
        """A real panel moves its widget here."""

    def show_video(self, content: bytes, mime: str) -> None:
        self.video = (content, mime)

    def close(self) -> None:
        """Nothing to remove."""


@pytest.fixture
def live(make: Callable[..., Lab]) -> Callable[..., tuple[Lab, Any, Screen]]:
    """A lab that runs on the stage as in a notebook, with a `Screen` for its widgets."""

    def build(*args: Any, **kwargs: Any) -> tuple[Lab, Any, Screen]:
        lab, screen = make(*args, **kwargs), Screen()
        run = lab._run
        assert run is not None
        run.panel = screen  # type: ignore[assignment]
        stage().add(run)
        run.post("start")
        until(lambda: bool(screen.pictures))
        return lab, run, screen

    return build


# Controls and read-outs -------------------------------------------------------------------


def test_a_slider_poses_the_scene_and_the_derived_quantities_follow(make, model):
    lab = make(
        model,
        physics=False,
        controls=[Slider("angle", low=-1, high=1, on_change=set_angle)],
        readouts=[Readout("height", lambda m, d: d.geom_xpos[0, 2])],
    )
    lab.set("angle", 1.0)
    assert lab.values()["height"] == pytest.approx(1 - 0.25 * np.cos(1.0))


def test_a_slider_starts_by_setting_its_first_value(make, model):
    slider = Slider("angle", low=-1, high=1, value=0.5, on_change=set_angle)
    lab = make(model, controls=[slider], readouts=[Readout("angle now", angle)])
    assert lab.values() == {"angle now": 0.5}


def test_a_button_acts_and_time_goes_on(make, model):
    def push(model: mujoco.MjModel, data: mujoco.MjData) -> None:
        data.qvel[0] = 2.0

    lab = make(model, controls=[Button("Push", push)], readouts=[Readout("angle", angle)])
    lab.act("Push")
    lab.advance(0.1)
    assert lab.time == pytest.approx(0.1)
    assert 0.1 < lab.values()["angle"] < 0.2


def test_toggle_and_select_hand_over_their_values(make, model):
    seen: list[Any] = []
    note: Callable[..., None] = lambda m, d, value: seen.append(value)  # noqa: E731
    lab = make(
        model,
        controls=[
            Toggle("row", value=True, on_change=note),
            Select("integrator", options=["Euler", "RK4"], on_change=note),
        ],
    )
    lab.set("row", False)
    lab.set("integrator", "RK4")
    assert seen == [True, "Euler", False, "RK4"]


def test_reset_starts_again_under_the_present_values_of_the_controls(make, model):
    lab = make(
        model,
        controls=[Slider("torque", low=-5, high=5, on_change=set_torque)],
        readouts=[Readout("angle", angle), Readout("ctrl", lambda m, d: d.ctrl[0])],
    )
    lab.set("torque", 3.0)
    lab.advance(0.5)
    lab.reset()
    assert lab.time == 0.0
    assert lab.values() == {"angle": 0.0, "ctrl": 3.0}


def test_reset_uses_the_keyframe_and_then_the_hook():
    xml = PENDULUM.replace("</mujoco>", "<keyframe><key qpos='0.3'/></keyframe></mujoco>")
    keyed = mujoco.MjModel.from_xml_string(xml)
    with Lab(
        keyed,
        reset=lambda m, d: d.qpos.__setitem__(0, d.qpos[0] * 2),
        readouts=[Readout("angle", angle)],
    ) as lab:
        lab.advance(0.2)
        lab.reset()
        assert lab.values()["angle"] == pytest.approx(0.6)


def test_a_step_of_its_own_replaces_the_physics(make, model):
    def turn(model: mujoco.MjModel, data: mujoco.MjData) -> None:
        data.qpos[0] += model.opt.timestep
        mujoco.mj_forward(model, data)

    lab = make(model, step=turn, readouts=[Readout("angle", angle)])
    lab.advance(0.5)
    assert lab.time == pytest.approx(0.5)
    assert lab.values()["angle"] == pytest.approx(0.5)


def test_two_simulations_keep_the_same_time_and_are_reached_by_number_or_together(make, model):
    other = mujoco.MjModel.from_xml_string(PENDULUM.replace("0.005", "0.01"))
    lab = make(
        [Simulation(model, "fine"), Simulation(other, "coarse")],
        controls=[
            Slider("start", low=-1, high=1, value=0.4, of="all", on_change=_set_all),
        ],
        readouts=[
            Readout("fine", angle, of=0),
            Readout("coarse", angle, of=1),
            Readout("apart", lambda both: both[0].data.qpos[0] - both[1].data.qpos[0], of="all"),
        ],
    )
    lab.advance(1.0)
    values = lab.values()
    assert [s.data.time for s in lab.simulations] == pytest.approx([1.0, 1.0])
    assert values["apart"] == pytest.approx(values["fine"] - values["coarse"])
    assert values["apart"] != 0


def _set_all(simulations: list[Simulation], value: float) -> None:
    for simulation in simulations:
        simulation.data.qpos[0] = value


def test_tables_and_charts_follow_the_simulation(make, model):
    lab = make(
        model,
        tables=[Table("stages", lambda m, d: [("time", f"{d.time:.1f}")], columns=("what", "now"))],
        charts=[StripChart("angle", {"q": angle, "twice": lambda m, d: 2 * d.qpos[0]})],
        controls=[Slider("angle", low=-1, high=1, value=0.5, on_change=set_angle)],
    )
    lab.advance(0.2)
    assert lab.rows() == {"stages": [("time", "0.2")]}
    traces = lab.traces()["angle"]
    assert traces["twice"] == pytest.approx(2 * traces["q"])


def test_a_readout_keeps_its_value_when_the_simulation_goes_on(make, model):
    slider = Slider("angle", low=-1, high=1, value=0.5, on_change=set_angle)
    lab = make(model, readouts=[Readout("q", lambda m, d: d.qpos)], controls=[slider])
    before = lab.values()["q"]
    lab.advance(0.5)
    assert before[0] == 0.5


# Declarations that are refused --------------------------------------------------------------


def test_an_unknown_scene_is_named():
    with pytest.raises(KeyError, match="no_such_scene"):
        Lab("no_such_scene")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"controls": [Button("a"), Button("a")]}, "two controls"),
        ({"readouts": [Readout("a", angle), Readout("a", angle)]}, "two read-outs"),
        ({"readouts": [Readout("a", angle, of=1)]}, "of=1"),
        ({"show": ("shadows",)}, "no overlay 'shadows'"),
        ({"camera": {"roll": 3}}, "roll"),
        ({"speed": 0.0}, "speed"),
    ],
)
def test_a_wrong_declaration_says_what_is_wrong(model, arguments, words):
    with pytest.raises(ValueError, match=words):
        Lab(model, **arguments)


def test_hooks_belong_to_the_simulation_where_one_is_given(model):
    with pytest.raises(ValueError, match="give step, reset and draw to each Simulation"):
        Lab(Simulation(model), step=lambda m, d: None)


def test_an_unknown_control_is_named_with_those_that_exist(make, model):
    lab = make(model, controls=[Button("Push")])
    with pytest.raises(KeyError, match="Push"):
        lab.act("Pull")
    with pytest.raises(KeyError, match="use act"):
        lab.set("Push", 1)


def test_a_value_outside_the_slider_is_refused(make, model):
    lab = make(model, controls=[Slider("angle", low=-1, high=1)])
    with pytest.raises(ValueError, match="angle"):
        lab.set("angle", 2)


# What goes wrong ------------------------------------------------------------------------------


def test_a_failing_callback_is_named_and_the_lab_goes_on(make, model):
    lab = make(
        model,
        controls=[Button("Fail", lambda m, d: 1 / 0), Button("Push", lambda m, d: None)],
        readouts=[Readout("angle", angle)],
    )
    with pytest.raises(LabError, match="Fail: ZeroDivisionError: division by zero"):
        lab.act("Fail")
    lab.act("Push")
    lab.advance(0.1)
    assert lab.trouble is None
    assert lab.time == pytest.approx(0.1)


def test_a_failing_readout_is_named_until_it_works_again(make, model):
    broken = [True]

    def value(model: mujoco.MjModel, data: mujoco.MjData) -> float:
        if broken[0]:
            raise RuntimeError("two\nlines")
        return 1.0

    lab = make(model, readouts=[Readout("mine", value), Readout("angle", angle)])
    with pytest.raises(LabError, match="mine: RuntimeError: two lines"):
        lab.values()
    broken[0] = False
    assert lab.values() == {"mine": 1.0, "angle": 0.0}


def test_a_diverged_simulation_stops_with_its_joint_and_reset_brings_it_back(make, model):
    lab = make(model, controls=[Button("Explode", explode)], readouts=[Readout("angle", angle)])
    lab.act("Explode")
    with pytest.raises(LabError, match="diverged at joint 'pivot': press Reset"):
        lab.advance(0.1)
    lab.reset()
    lab.advance(0.1)
    assert lab.time == pytest.approx(0.1)


def test_a_step_that_makes_nan_without_a_warning_is_a_divergence_too(make, model):
    lab = make(model, step=lambda m, d: d.qpos.__setitem__(0, np.nan))
    with pytest.raises(LabError, match="diverged"):
        lab.advance(0.1)


def test_a_divergence_leaves_no_log_file(make, model, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    lab = make(model, controls=[Button("Explode", explode)])
    lab.act("Explode")
    with pytest.raises(LabError):
        lab.advance(0.1)
    assert list(tmp_path.iterdir()) == []
    assert "WARNING" not in "".join(capfd.readouterr())


def test_a_callback_may_move_another_control(make, model):
    lab = make(
        model,
        controls=[
            Slider("angle", low=-1, high=1, on_change=set_angle),
            Button("Half", lambda m, d: lab.set("angle", 0.5)),
        ],
        readouts=[Readout("angle now", angle)],
    )
    lab.act("Half")
    assert lab.values()["angle now"] == 0.5
    assert lab.control("angle").value == 0.5


def test_a_closed_lab_says_so(make, model):
    lab = make(model)
    lab.close()
    lab.close()
    with pytest.raises(LabError, match="closed"):
        lab.advance(0.1)


# Playing --------------------------------------------------------------------------------------


def test_play_keeps_real_time_and_pause_stops_it(live, model):
    lab, run, screen = live(model)
    run.post("play", value=True)
    until(lambda: run.playing)
    start, simulated = time.perf_counter(), lab.time
    time.sleep(1.0)
    elapsed = time.perf_counter() - start
    assert lab.time - simulated == pytest.approx(elapsed, abs=0.3)
    run.post("play", value=False)
    until(lambda: not screen.playing)
    stopped = lab.time
    time.sleep(0.2)
    assert lab.time == stopped


def test_speed_is_simulated_seconds_per_second(live, model):
    lab, run, _ = live(model)
    run.post("speed", value=4.0)
    run.post("play", value=True)
    until(lambda: run.playing)
    start, simulated = time.perf_counter(), lab.time
    time.sleep(0.8)
    rate = (lab.time - simulated) / (time.perf_counter() - start)
    assert rate == pytest.approx(4.0, rel=0.25)


def test_frames_in_motion_are_capped_and_a_full_picture_follows_at_rest(live, model):
    _, run, screen = live(
        model, controls=[Slider("angle", low=-1, high=1, on_change=set_angle)], playing=True
    )
    screen.pictures.clear()
    time.sleep(1.0)
    assert 4 <= len(screen.pictures) <= 26
    assert _size(screen.pictures[-1]) == (480, 360)
    run.post("play", value=False)
    until(lambda: _size(screen.pictures[-1]) == (960, 720))
    count = len(screen.pictures)
    time.sleep(0.3)
    assert len(screen.pictures) == count  # and nothing after it


def test_an_environment_variable_caps_the_frames_of_a_whole_hub(live, model, monkeypatch):
    monkeypatch.setenv("MJCOURSE_MAX_FPS", "5")
    lab, _, screen = live(model, playing=True)
    screen.pictures.clear()
    before = lab.time
    time.sleep(1.0)
    assert 2 <= len(screen.pictures) <= 6
    assert lab.time - before == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("settle", [True, False])
def test_a_lab_that_shows_what_is_stale_leaves_derived_values_alone(make, model, settle):
    lab = make(
        Simulation(model, settle=settle),
        controls=[Slider("angle", low=-3, high=3, on_change=set_angle)],
        readouts=[Readout("height", lambda model, data: data.geom_xpos[0, 2])],
    )
    lab.set("angle", 0.0)
    hanging = lab.values()["height"]
    lab.set("angle", 3.0)
    assert (lab.values()["height"] == hanging) is not settle


def test_play_pauses_after_five_minutes_without_input(live, model, monkeypatch):
    assert running_module.IDLE_SECONDS == 300
    monkeypatch.setattr(running_module, "IDLE_SECONDS", 0.3)
    _, _, screen = live(model, playing=True)
    until(lambda: not screen.playing)
    until(lambda: screen.message is not None)
    assert "five minutes without input" in (screen.message or "")


def test_a_page_that_is_behind_gets_no_more_frames_until_it_has_caught_up(live, model):
    _, run, screen = live(model, playing=True)
    asked: list[int] = []
    screen.ask_back = asked.append  # type: ignore[method-assign]
    until(lambda: bool(asked))
    run.post("seen", value=asked[0])
    until(lambda: run.pace.behind(time.perf_counter()))
    count = len(screen.pictures)
    time.sleep(0.5)
    assert len(screen.pictures) <= count + 1
    run.post("seen", value=asked[-1])
    until(lambda: len(screen.pictures) > count + 2)


def test_of_a_flood_of_slider_events_the_last_one_wins(live, model):
    seen: list[float] = []

    def slow(model: mujoco.MjModel, data: mujoco.MjData, value: float) -> None:
        seen.append(value)
        time.sleep(0.05)

    _, run, _ = live(model, controls=[Slider("angle", low=0, high=999, step=1, on_change=slow)])
    for value in range(1, 200):
        run.post("move", "angle", float(value))
    until(lambda: seen[-1] == 199.0)
    assert len(seen) < 10


def test_a_button_between_two_moves_of_a_slider_keeps_its_place(live, model):
    order: list[Any] = []
    _, run, _ = live(
        model,
        controls=[
            Slider("x", low=0, high=9, reapply=False, on_change=lambda m, d, v: order.append(v)),
            Button("b", lambda m, d: order.append("b")),
        ],
    )
    with run._mail_lock:  # all of it is there before the stage looks
        run._mail += [("move", "x", 1.0), ("press", "b", None), ("move", "x", 2.0)]
    stage().wake()
    until(lambda: len(order) == 3)
    assert order == [1.0, "b", 2.0]


def test_callbacks_and_readouts_run_in_one_thread_and_never_in_the_callers(live, model):
    threads: set[int] = set()
    note: Callable[..., float] = lambda *_: float(threads.add(threading.get_ident()) is None)  # noqa: E731
    lab, run, screen = live(
        model,
        controls=[Slider("x", low=0, high=9, on_change=note), Button("b", note)],
        readouts=[Readout("r", note)],
        charts=[StripChart("c", {"t": note})],
        playing=True,
    )
    callers = [threading.Thread(target=run.post, args=("press", "b")) for _ in range(3)]
    for thread in callers:
        thread.start()
    for thread in callers:
        thread.join()
    lab.set("x", 3.0)
    count = len(screen.pictures)
    until(lambda: len(screen.pictures) > count + 2)
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_a_playing_lab_leaves_the_students_cell_its_time(live, model):
    live(model, charts=[StripChart("angle", {"q": angle})], playing=True)
    pauses, last = [], time.perf_counter()
    end = last + 1.5
    while last < end:  # what a student's busy cell does
        now = time.perf_counter()
        if now - last > 1e-3:
            pauses.append(now - last)
        last = now
    # The median, since a busy machine makes single pauses longer than the lab does.
    assert np.median(pauses) < 1 / 24


def test_a_loop_without_an_end_is_ended_by_the_next_action(live, model, monkeypatch):
    monkeypatch.setattr("mjcourse.lab.stage.PATIENCE", 0.3)

    def forever(model: mujoco.MjModel, data: mujoco.MjData) -> None:
        while True:
            pass

    lab, run, screen = live(model, controls=[Button("Forever", forever)])
    run.post("press", "Forever")
    time.sleep(0.5)
    run.post("step")
    until(lambda: lab.time > 0)
    assert lab.trouble is None
    run.post("press", "Forever")
    time.sleep(0.5)
    run.post("view", "azimuth", 10.0)
    until(lambda: screen.message is not None)
    assert "Forever: TookTooLong: did not return within" in (screen.message or "")


def test_the_text_alternative_follows_at_rest_and_is_quiet_while_playing(live, model):
    _, run, screen = live(
        model,
        title="Swing",
        controls=[Slider("angle", low=-1, high=1, step=0.1, on_change=set_angle)],
        readouts=[Readout("angle now", angle, unit="rad", digits=2)],
    )
    run.post("move", "angle", 0.5)
    until(lambda: bool(screen.speech) and "0.50" in screen.speech[-1])
    assert screen.speech[-1] == "Swing: paused at 0.00 seconds. angle now 0.50 rad."
    run.post("play", value=True)
    until(lambda: run.playing)
    screen.speech.clear()
    time.sleep(1.0)
    assert len(screen.speech) <= 1


def test_a_failure_while_playing_is_shown_and_the_play_goes_on(live, model):
    lab, run, screen = live(model, controls=[Button("Fail", lambda m, d: 1 / 0)], playing=True)
    run.post("press", "Fail")
    until(lambda: screen.message == "Fail: ZeroDivisionError: division by zero")
    before = lab.time
    until(lambda: lab.time > before + 0.1)


def test_a_divergence_while_playing_pauses_and_play_waits_for_reset(live, model):
    lab, run, screen = live(model, controls=[Button("Explode", explode)], playing=True)
    run.post("press", "Explode")
    until(lambda: "diverged" in (screen.message or ""))
    assert not screen.playing
    run.post("play", value=True)
    time.sleep(0.2)
    assert not run.playing
    run.post("reset")
    run.post("play", value=True)
    until(lambda: run.playing and lab.time > 0.1)
    assert screen.message is None


def test_record_gives_the_last_seconds_as_a_video(live, model):
    _, run, screen = live(model, playing=True)
    time.sleep(0.8)
    run.post("record")
    until(lambda: screen.video is not None, 20)
    content, mime = screen.video or (b"", "")
    assert mime == "video/mp4"
    assert content[4:8] == b"ftyp"


def test_a_button_that_plays_starts_the_play(live, model):
    _, run, _ = live(model, controls=[Button("Go", lambda m, d: None, play=True)])
    run.post("press", "Go")
    until(lambda: run.playing)


def test_a_scene_without_physics_does_not_play(live, model):
    _, run, _ = live(model, physics=False, playing=True)
    run.post("play", value=True)
    time.sleep(0.2)
    assert not run.playing


# Pictures -------------------------------------------------------------------------------------


def test_the_picture_changes_with_the_pose_and_with_an_overlay(make, model):
    lab = make(model, controls=[Slider("angle", low=-2, high=2, on_change=set_angle)])
    first = lab.picture()
    assert first.shape == (360, 480, 3)
    assert first.dtype == np.uint8
    lab.set("angle", 1.5)
    moved = lab.picture()
    assert np.abs(moved.astype(int) - first).max() > 50
    framed = make(model, show=("frames",)).picture()
    assert np.abs(framed.astype(int) - first).max() > 50


def test_two_simulations_are_drawn_side_by_side(make):
    lab = make([Simulation("joint_zoo", "a"), Simulation("joint_zoo", "b")])
    picture = lab.picture()
    assert picture.shape == (288, 2 * 384 + 4, 3)
    assert np.abs(picture[:, :384].astype(int) - picture[:, -384:]).max() <= 2
    assert (picture[:, 384:388] == 128).all()


def test_draw_adds_markers_arrows_and_ghosts(make, model):
    def decorate(model: mujoco.MjModel, data: mujoco.MjData, scene: mujoco.MjvScene) -> None:
        marker(scene, (0.2, 0, 1), 0.05, (1, 0, 0, 1))
        arrow(scene, (0, 0, 1), (0.3, 0, 1), 0.02, (0, 1, 0, 1))
        arrow(scene, (0, 0, 1), (0, 0, 1))  # of no length: nothing
        ghost_body(scene, model, data, "arm", (0.4, 0, 1), (1, 0, 0, 0))
        counts.append(scene.ngeom)

    counts: list[int] = []
    plain = make(model).picture()
    picture = make(model, draw=decorate).picture().astype(int)
    assert np.abs(picture - plain).max() > 100
    assert ((picture[..., 0] > 150) & (picture[..., 1] < 90)).any()  # the red marker
    assert ((picture[..., 1] > 150) & (picture[..., 0] < 90)).any()  # the green arrow
    make(model).picture()
    assert len(counts) == 1


def test_a_ghost_takes_its_subtree_along(make):
    xml = PENDULUM.replace(
        "</body>", "<body name='tip' pos='0 0 -0.5'><geom size='0.05'/></body></body>"
    )
    tree = mujoco.MjModel.from_xml_string(xml)
    places: list[np.ndarray] = []

    def decorate(model: mujoco.MjModel, data: mujoco.MjData, scene: mujoco.MjvScene) -> None:
        before = scene.ngeom
        ghost_body(scene, model, data, "arm", (1, 0, 1), (0, 1, 0, 0))  # upside down
        places.extend(scene.geoms[i].pos.copy() for i in range(before, scene.ngeom))

    make(tree, draw=decorate).picture()
    np.testing.assert_allclose(places, [(1, 0, 1.25), (1, 0, 1.5)], atol=1e-6)


def test_a_failing_draw_is_named(make, model):
    lab = make(model, draw=lambda m, d, s: s.nothing)
    with pytest.raises(LabError, match="draw: AttributeError"):
        lab.picture()


def test_forty_labs_leave_no_context_and_no_actor_behind(model):
    with Lab(model) as lab:
        lab.picture()
        assert stage().call(lambda: stage().painter.contexts) >= 1
    actors = len(stage().actors)
    contexts = stage().call(lambda: stage().painter.contexts)
    for _ in range(40):
        with Lab("joint_zoo") as lab:
            lab.picture()
    assert len(stage().actors) == actors
    assert stage().call(lambda: stage().painter.contexts) == contexts


# The student's functions -------------------------------------------------------------------------


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A notebook's namespace."""
    names: dict[str, Any] = {}
    monkeypatch.setattr("mjcourse.lab.notebook._names", lambda: names)
    monkeypatch.setattr("mjcourse.lab.notebook._unwritten", {})
    return names


def test_the_students_function_drives_the_lab_once_it_exists(make, model, notebook):
    double = student("double", fallback=lambda x: 2.0 * x, using="NumPy")
    lab = make(model, readouts=[Readout("twice", lambda m, d: double(3))], student=("double",))
    assert lab.values()["twice"] == 6.0
    notebook["double"] = lambda x: x * 2 + 100
    assert lab.values()["twice"] == 106


def test_a_stub_is_not_written_yet_and_the_note_says_what_the_lab_uses(live, model, notebook):
    def stub(x: float) -> float:
        raise NotImplementedError

    notebook["double"] = stub
    double = student("double", fallback=lambda x: 2.0 * x, using="NumPy")
    _, run, screen = live(
        model, readouts=[Readout("twice", lambda m, d: double(3))], student=("double",)
    )
    until(lambda: screen.note != "")
    assert screen.note == "double is not written yet: the lab uses NumPy."
    notebook["double"] = lambda x: 7.0
    run.post("step")
    until(lambda: screen.note == "")


def test_several_that_are_not_written_share_one_sentence(notebook):
    for name in "abcdef":
        student(name, fallback=abs, using="NumPy")
    assert unwritten(tuple("abcdef")) == (
        "Not written yet, with what the lab uses instead: "
        "a (NumPy), b (NumPy), c (NumPy), d (NumPy) and 2 more."
    )
    notebook.update(dict.fromkeys("abcdef", abs))
    for name in "abcdef":
        student(name, fallback=abs)(1)
    assert unwritten(tuple("abcdef")) == ""


def test_an_error_in_the_students_function_is_told_with_the_readouts_name(make, model, notebook):
    notebook["double"] = lambda x: x[0]
    double = student("double", fallback=lambda x: 2.0 * x)
    lab = make(model, readouts=[Readout("twice", lambda m, d: double(3))])
    with pytest.raises(LabError, match="twice: TypeError"):
        lab.values()


# Where there is nothing to show --------------------------------------------------------------


def test_under_grading_a_lab_does_nothing(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    lab = Lab(
        "no_such_scene", controls=[Slider("x", low=0, high=1)], readouts=[Readout("r", angle)]
    )
    lab._ipython_display_()
    lab.set("x", 0.5)
    lab.advance(10)
    assert lab.values() == {}
    assert lab.time == 0.0
    lab.close()
    assert capsys.readouterr().out == ""


def test_without_opengl_readouts_and_charts_live_and_the_package_is_named():
    code = """
import mjcourse
from mjcourse.lab import Lab, Readout, StripChart
from mjcourse.lab.stage import stage
import time
angle = lambda m, d: d.qpos[0]
lab = Lab("joint_zoo", readouts=[Readout("q", angle)], charts=[StripChart("c", {"q": angle})])
lab._ipython_display_()
time.sleep(1.5)
text = lab._panel._text
print(text["message"].value)
print("svg" in text["charts"].value, "q" in text["readouts"].value, lab.values())
"""
    environment = {**os.environ, "MUJOCO_GL": "disable"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120
    )
    assert "no picture without OpenGL" in done.stdout, done.stderr
    assert "libegl1 libgl1" in done.stdout
    assert "True True {'q':" in done.stdout
    assert done.stderr == ""


# Widgets ----------------------------------------------------------------------------------------


def test_the_panel_is_made_of_core_widgets_and_closing_it_leaves_none(make, model):
    import ipywidgets

    registry = ipywidgets.widgets.widget._instances
    before = set(registry)
    lab = make(
        model,
        title="<b>bold</b>",
        controls=[
            Slider("x", low=0, high=1),
            Button("b"),
            Toggle("t"),
            Select("s", options=["<i>"]),
        ],
        charts=[StripChart("c", {"q": angle})],
    )
    panel = Panel(lab, lambda *_: None)
    made = [widget for key, widget in registry.items() if key not in before]
    assert {w._model_module for w in made} <= {"@jupyter-widgets/controls", "@jupyter-widgets/base"}
    assert "<b>bold" not in panel.root.children[0].value
    panel.close()
    assert set(registry) == before


def test_a_widget_only_leaves_a_message(make, model):
    lab = make(model, controls=[Slider("x", low=0, high=9, step=1), Button("b")])
    posted: list[tuple[Any, ...]] = []
    panel = Panel(lab, lambda *message: posted.append(message))
    panel._by_label["x"].value = 3.0
    panel._by_label["b"].click()
    panel._play.click()
    assert posted == [("move", "x", 3.0), ("press", "b", None), ("play", "", True)]
    panel.close()


def _size(jpeg: bytes) -> tuple[int, int]:
    import io

    from PIL import Image

    return Image.open(io.BytesIO(jpeg)).size


def test_importing_the_package_makes_no_thread_and_no_context(tmp_path: Path):
    code = (
        "import threading, mjcourse, mjcourse.lab; "
        "print(threading.active_count(), mjcourse.lab.stage.stage.__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert done.stdout.split()[0] == "1", done.stderr
