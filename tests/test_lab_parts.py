"""The parts of a lab: controls, read-outs, charts, camera, overlays, video, the stage."""

from __future__ import annotations

import io
import math
import re
import threading
import time
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from PIL import Image

from mjcourse.lab.camera import Camera
from mjcourse.lab.charts import Strip, StripChart
from mjcourse.lab.controls import Select, Slider, Toggle
from mjcourse.lab.pace import ASK_AT_FIRST, Pace
from mjcourse.lab.readouts import (
    Readout,
    Table,
    number_text,
    readouts_html,
    rows_of,
    table_html,
    text_of,
)
from mjcourse.lab.record import SECONDS, Recorder, encode
from mjcourse.lab.scenery import options, sensible_overlays
from mjcourse.lab.stage import Stage, frame_period
from mjcourse.models import load
from mjcourse.rendering import encode_jpeg

# Controls -----------------------------------------------------------------------------------


def test_a_slider_keeps_its_first_value_beside_the_present_one():
    slider = Slider("pitch", low=-90, high=90, value=10)
    slider.value = 30.0
    assert slider.initial == 10.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"low": 1, "high": 1}, "low 1 is not below high 1"),
        ({"low": 0, "high": 1, "value": 2}, "not 2"),
        ({"low": 0, "high": 1, "value": math.nan}, "not nan"),
    ],
)
def test_a_slider_with_a_wrong_range_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Slider("pitch", **arguments)


def test_a_select_takes_its_first_option_and_refuses_what_it_does_not_offer():
    select = Select("integrator", options=["Euler", "RK4"])
    assert select.value == "Euler"
    with pytest.raises(ValueError, match="implicit"):
        select.checked("implicit")
    with pytest.raises(ValueError, match="no options"):
        Select("empty")


def test_a_toggle_holds_a_bool():
    assert Toggle("row", value=1).value is True  # type: ignore[arg-type]


# Read-outs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.70710678, 4, "0.7071"),
        (-0.00001, 3, "0.000"),
        (1.5e9, 3, "1.50e+09"),
        (math.nan, 3, "not a number"),
        (-math.inf, 3, "-infinite"),
    ],
)
def test_a_number_is_printed_with_fixed_decimals(value, digits, text):
    assert number_text(value, digits) == text


def test_a_tiny_number_can_be_printed_with_its_power_of_ten():
    assert text_of(2.2e-16, 2, scientific=True) == "2.2e-16"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.50"),
        (np.int32(13), "13"),
        (np.array([3, 4]), "3 4"),
        ([0.5, -1], "0.50 -1.00"),
        (np.eye(2), "1.00 0.00; 0.00 1.00"),
        (True, "yes"),
        ("stale", "stale"),
        (None, ""),
    ],
)
def test_a_value_of_any_kind_has_a_line_of_text(value, text):
    assert text_of(value, 2) == text


def test_what_cannot_be_printed_is_refused():
    with pytest.raises(ValueError, match=re.escape("(2, 2, 2)")):
        rows_of(np.zeros((2, 2, 2)), 3)


def test_labels_units_and_texts_are_escaped():
    page = readouts_html([(Readout("<q>", lambda m, d: "<i>", unit="<m>"), "<i>")], time=1.234)
    assert "<q>" not in page
    assert "<i>" not in page
    assert "&lt;m&gt;" in page
    assert "1.23" in page
    table = table_html(Table("<t>", lambda m, d: [], columns=("<c>",)), [("<script>", -0.5)])
    assert "<script>" not in table
    assert "&lt;t&gt;" in table
    assert "\u22120.500" in table


def test_positive_and_negative_numbers_have_the_same_width():
    positive = readouts_html([(Readout("q", lambda m, d: 0), 0.5)])
    negative = readouts_html([(Readout("q", lambda m, d: 0), -0.5)])
    assert len(positive) == len(negative)


def test_a_long_row_takes_several_lines():
    narrow = readouts_html([(Readout("q", lambda m, d: 0), np.zeros(3))])
    wide = readouts_html([(Readout("q", lambda m, d: 0), np.zeros(12))])
    assert narrow.count("<tr>") == 1
    assert wide.count("<tr>") == 3
    assert wide.count("<td>") == 12


# Charts -------------------------------------------------------------------------------------


def strip(**arguments: object) -> Strip:
    chart = StripChart("q", {"a": lambda m, d: 0.0, "b": lambda m, d: 0.0}, **arguments)  # type: ignore[arg-type]
    return Strip(chart, 480)


def traces(svg: str) -> list[str]:
    """The paths of the traces, without those of the legend."""
    paths = re.findall(r'<path class="s" d="([^"]+)"', svg)
    return [path for path in paths if "h20" not in path]


def test_a_chart_is_well_formed_and_tells_what_it_shows():
    chart = strip(limits=(-1, 1), unit="rad")
    chart.add(0.0, [0.0, 0.5])
    chart.add(1.0, [1.0, -0.5])
    root = ElementTree.fromstring(chart.svg())
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == ("Chart q, last 6 seconds. a 1 rad, b -0.5 rad.")
    assert len(traces(chart.svg())) == 2


def test_traces_differ_in_colour_and_in_dashes():
    chart = StripChart("q", {name: lambda m, d: 0.0 for name in "abcd"})
    root = ElementTree.fromstring(Strip(chart, 480).svg())
    legend = [p for p in root.iter("path") if p.attrib["class"] == "s"]
    looks = {(p.attrib["stroke"], p.attrib.get("stroke-dasharray")) for p in legend}
    assert len({colour for colour, _ in looks}) == 4
    assert len({dash for _, dash in looks}) == 4


def test_a_legend_that_does_not_fit_beside_the_title_goes_below_it():
    names = ["filter (Euler)", "filterexact", "the exact solution", "your function", "control"]

    def places(width: int) -> list[tuple[str, float, float]]:
        chart = StripChart("activation of the servo", {n: lambda m, d: 0.0 for n in names})
        root = ElementTree.fromstring(Strip(chart, width).svg())
        texts = [t for t in root.iter("text") if t.attrib["class"] in "tl"]
        return [(t.text or "", float(t.attrib["x"]), float(t.attrib["y"])) for t in texts]

    assert {y for _, _, y in places(900)} == {13.0}
    narrow = places(360)
    assert next(y for text, _, y in narrow if text in names) > 13
    assert all(x + 6 * len(text) < 372 for text, x, _ in narrow)


def test_only_the_window_is_kept_and_shown():
    chart = strip(window=2.0)
    for step in range(100):
        chart.add(0.1 * step, [step, -step])
    times, values = chart.samples()
    assert times[0] >= 9.9 - 2.0 * 1.05 - 1e-9
    assert values.shape == (2, times.size)
    xs = [float(x) for x in re.findall(r"[ML](-?[\d.]+) ", traces(chart.svg())[0])]
    assert min(xs) >= 45
    assert max(xs) == pytest.approx(472, abs=0.1)


def test_values_outside_the_limits_run_along_the_edge():
    chart = strip(limits=(-1, 1))
    chart.add(0.0, [5.0, 0.0])
    chart.add(1.0, [5.0, 0.0])
    ys = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", traces(chart.svg())[0])]
    assert ys == [22.0, 22.0]


def test_a_value_that_is_not_finite_leaves_a_gap():
    chart = strip(limits=(-1, 1))
    for time_, value in enumerate((0.0, 0.1, math.nan, 0.2, 0.3)):
        chart.add(float(time_), [value, 0.0])
    assert traces(chart.svg())[0].count("M") == 2
    ElementTree.fromstring(chart.svg())


def test_a_time_that_went_back_starts_the_chart_afresh():
    chart = strip()
    chart.add(5.0, [1.0, 1.0])
    chart.add(0.0, [2.0, 2.0])
    assert chart.samples()[0].tolist() == [0.0]


def test_a_change_at_the_same_time_replaces_the_sample():
    chart = strip()
    chart.add(0.0, [1.0, 1.0])
    chart.add(0.0, [2.0, 3.0])
    assert chart.last == {"a": 2.0, "b": 3.0}
    assert chart.samples()[0].size == 1


def test_limits_follow_the_traces_where_none_are_given():
    chart = strip()
    chart.add(0.0, [10.0, -3.0])
    chart.add(1.0, [20.0, -3.0])
    ticks = re.findall(r'<text class="y"[^>]*>([^<]+)<', chart.svg())
    assert {"0", "10", "20"} <= set(ticks)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"traces": {}}, "no traces"),
        ({"window": 0.0}, "window"),
        ({"limits": (1.0, -1.0)}, "limits"),
    ],
)
def test_a_chart_that_can_show_nothing_is_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        StripChart("q", **{"traces": {"a": lambda m, d: 0.0}, **arguments})


# Camera and overlays ------------------------------------------------------------------------


def test_a_camera_is_where_mujocos_angles_say_and_else_the_models():
    model = load("joint_zoo")
    view = Camera(model, {"azimuth": 90, "elevation": -20, "lookat": (0, 0, 0.5)}).view()
    free = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, free)
    assert (view.azimuth, view.elevation, view.distance) == (90, -20, free.distance)
    assert view.lookat.tolist() == [0, 0, 0.5]


def test_an_overlay_turns_on_its_flag_alone():
    plain, joints = options(()), options(("joints",))
    differs = np.flatnonzero(plain.flags != joints.flags)
    assert differs.tolist() == [mujoco.mjtVisFlag.mjVIS_JOINT.value]
    assert options(("frames",)).frame == mujoco.mjtFrame.mjFRAME_BODY.value


def test_contacts_are_offered_where_two_things_can_touch():
    apart = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    floor = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body><freejoint/>"
        "<geom size='1'/></body></worldbody></mujoco>"
    )
    assert sensible_overlays(apart) == ("frames", "joints")
    assert sensible_overlays(floor) == ("frames", "joints", "contacts", "forces")


# Video --------------------------------------------------------------------------------------


def jpeg(shade: int) -> bytes:
    return encode_jpeg(np.full((36, 48, 3), shade, np.uint8))


def test_a_clip_has_an_even_rate_and_its_pauses_are_short():
    recorder = Recorder()
    recorder.add(0.0, jpeg(0))
    recorder.add(0.25, jpeg(100))
    recorder.add(60.0, jpeg(200))  # a minute of standing still
    frames = recorder.frames()
    assert len(frames) == round(24 * (0.25 + 0.5)) + 1
    assert frames[0] == jpeg(0)
    assert frames[-1] == jpeg(200)


def test_only_the_last_seconds_are_kept():
    recorder = Recorder()
    for index in range(40 * 24):
        recorder.add(index / 24, jpeg(0))
    assert len(recorder.frames()) == pytest.approx(24 * SECONDS, abs=2)


def test_nothing_to_show_yet_is_said():
    with pytest.raises(ValueError, match="press Play"):
        encode(Recorder().frames())


def test_a_clip_is_h264_where_ffmpeg_is_and_webp_where_not(monkeypatch):
    frames = [jpeg(shade) for shade in range(0, 250, 10)]
    content, mime = encode(frames)
    assert mime == "video/mp4"
    assert content[4:8] == b"ftyp"

    import mediapy

    def none_installed(*_: object, **__: object) -> None:
        raise RuntimeError("Program 'ffmpeg' is not found")

    monkeypatch.setattr(mediapy, "compress_video", none_installed)
    content, mime = encode(frames)
    assert mime == "image/webp"
    assert Image.open(io.BytesIO(content)).n_frames == len(frames)  # type: ignore[attr-defined]


# Pace ---------------------------------------------------------------------------------------


def test_a_page_that_never_answers_is_only_capped():
    pace = Pace()
    for frame in range(100):
        pace.sent(frame / 24)
    assert not pace.behind(100 / 24)


def test_frames_in_flight_are_few_and_an_answer_lets_more_go():
    pace = Pace()
    stamps = [pace.sent(frame / 24) for frame in range(ASK_AT_FIRST)]
    assert stamps == [None] * (ASK_AT_FIRST - 1) + [ASK_AT_FIRST]
    now, unseen = ASK_AT_FIRST / 24, 0
    pace.seen(0, now)  # it can answer, and has not come to this one
    while not pace.behind(now):
        assert pace.sent(now) is None  # one question at a time
        now, unseen = now + 1 / 24, unseen + 1
    assert 8 <= unseen <= 12
    pace.seen(ASK_AT_FIRST, now)
    assert not pace.behind(now)


def questions(delay: float, seconds: int = 10) -> int:
    """How often a page is asked that answers after `delay` seconds."""
    pace, answers, asked = Pace(), [], 0
    for frame in range(24 * seconds):
        now = frame / 24
        for number, at in [answer for answer in answers if answer[1] <= now]:
            pace.seen(number, now)
            answers.remove((number, at))
        number = pace.sent(now)
        if number is not None:
            asked += 1
            answers.append((number, now + delay))
    return asked


def test_a_page_that_answers_promptly_is_asked_less_often_than_a_slow_one():
    assert 18 <= questions(0.05) <= 22
    assert questions(0.3) > 26


def test_a_lost_answer_does_not_stop_the_play():
    pace = Pace()
    pace.seen(0, 0.0)
    for frame in range(40):
        pace.sent(frame / 24)
    assert pace.behind(40 / 24)
    assert not pace.behind(40 / 24 + 2)
    assert pace.sent(40 / 24 + 2) == 41  # and it is asked again
    assert pace.behind(40 / 24 + 2.1)  # one frame, not a queue


# The stage ----------------------------------------------------------------------------------


@pytest.fixture
def own_stage():
    stage = Stage()
    yield stage
    stage.close()


def test_a_call_runs_on_the_stage_and_brings_back_value_or_error(own_stage):
    assert own_stage.call(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        own_stage.call(lambda: 1 / 0)
    with pytest.raises(TimeoutError, match="mine"):
        own_stage.call(lambda: (_ for _ in ()).throw(TimeoutError("mine")))
    assert own_stage.call(lambda: own_stage.call(lambda: own_stage.here)) is True
    assert own_stage.here is False


def test_an_actor_is_called_when_it_asked_to_be(own_stage):
    times: list[float] = []

    class Ticks:
        def turn(self, now: float) -> float | None:
            times.append(now)
            return now + 0.05 if len(times) < 5 else None

    own_stage.add(Ticks())
    time.sleep(0.6)
    assert len(times) == 5
    assert np.diff(times).min() > 0.045


def test_an_actor_that_fails_is_dropped_and_the_others_go_on(own_stage, caplog):
    turns: list[float] = []

    class Breaks:
        def turn(self, now: float) -> float | None:
            raise RuntimeError("ours")

    class Goes:
        def turn(self, now: float) -> float | None:
            turns.append(now)
            return None

    breaks, goes = Breaks(), Goes()
    own_stage.add(breaks)
    own_stage.add(goes)
    own_stage.call(lambda: None)
    time.sleep(0.1)
    assert own_stage.actors == (goes,)
    assert turns
    assert "ours" in caplog.text


def test_a_closed_stage_ends_its_thread():
    stage = Stage()
    stage.call(lambda: None)
    thread = stage._thread
    stage.close()
    assert thread is not None
    assert not thread.is_alive()


def test_labs_that_play_share_the_frames_and_the_cap_counts(monkeypatch):
    assert frame_period() == pytest.approx(1 / 24)
    assert frame_period(2) == pytest.approx(2 / 24)
    monkeypatch.setenv("MJCOURSE_MAX_FPS", "10")
    assert frame_period() == pytest.approx(0.1)
    monkeypatch.setenv("MJCOURSE_MAX_FPS", "many")
    assert frame_period() == pytest.approx(1 / 24)
