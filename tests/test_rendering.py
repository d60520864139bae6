"""Pictures: one OpenGL context, fast and full frames, and a readable word where there is none."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import mujoco
import numpy as np
import pytest
from PIL import Image

from mjcourse import opengl, rendering
from mjcourse.lab.stage import stage
from mjcourse.models import load
from mjcourse.rendering import OpenGLMissing, Painter, encode_jpeg, shrink, snapshot


@pytest.fixture(scope="module")
def scene() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = load("joint_zoo")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


VIEW = {"azimuth": -90, "elevation": -12, "distance": 1.8, "lookat": (0, 0, 0.45)}


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `code` in a fresh Python, with these variables."""
    clean = {k: v for k, v in os.environ.items() if k not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_a_picture_of_a_scene_is_no_flat_field_and_is_the_right_way_up(scene):
    picture = snapshot(*scene, camera=VIEW)
    assert picture.shape == (360, 480, 3)
    assert picture.std() > 15
    sky, floor = picture[:40].astype(float).mean((0, 1)), picture[-40:].astype(float).mean((0, 1))
    assert sky[2] - sky[0] > floor[2] - floor[0] + 3  # the sky is blue, the floor is grey


def test_a_snapshot_shows_overlays_and_takes_its_size(scene):
    plain = snapshot(*scene, camera=VIEW, width=320, height=240)
    framed = snapshot(*scene, camera=VIEW, width=320, height=240, show=("frames", "joints"))
    assert plain.shape == (240, 320, 3)
    assert (np.abs(plain.astype(int) - framed).max(2) > 60).sum() > 100


def test_a_full_frame_is_twice_as_fine_and_has_shadows(scene):
    from mjcourse.lab.camera import Camera

    model, data = scene
    view = Camera(model, VIEW).view()
    painter = stage().painter
    fast = stage().call(lambda: painter.draw(model, data, view, full=False))
    full = stage().call(lambda: painter.draw(model, data, view, full=True))
    assert fast.shape == (360, 480, 3)
    assert full.shape == (720, 960, 3)
    darker = fast.astype(int).min(2) - shrink(full).min(2) > 30
    assert darker.sum() > 500  # the shadows


def test_settings_of_the_model_are_as_before_after_drawing(scene):
    model, data = scene
    scale, quality, size = model.vis.scale, model.vis.quality, model.vis.global_

    def settings() -> tuple[float, ...]:
        return (
            scale.framelength,
            scale.jointwidth,
            quality.offsamples,
            quality.shadowsize,
            size.offwidth,
        )

    before = settings()
    snapshot(model, data, show=("frames",))
    assert settings() == before


def test_frames_have_the_same_size_on_the_screen_in_a_large_and_in_a_small_scene():
    shares = []
    for scale in (0.1, 10.0):
        model = mujoco.MjModel.from_xml_string(
            f"<mujoco><statistic extent='{scale}' center='0 0 0'/><worldbody>"
            f"<geom type='plane' size='{100 * scale} {100 * scale} 1' pos='0 0 {-scale}'/>"
            f"<body><geom size='{0.02 * scale}'/></body></worldbody></mujoco>"
        )
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        view = {"azimuth": 120, "elevation": -20, "distance": 1.5 * scale, "lookat": (0, 0, 0)}
        with_, without = (
            snapshot(model, data, camera=view, show=show).astype(int) for show in (("frames",), ())
        )
        shares.append((np.abs(with_ - without).max(2) > 60).mean())
    assert shares[0] == pytest.approx(shares[1], rel=0.15)
    assert shares[0] > 0.001


def test_only_a_few_contexts_are_kept_and_closing_frees_them_all():
    def work() -> list[int]:
        painter, counts = Painter(), []
        for _ in range(5):
            model = mujoco.MjModel.from_xml_string(
                "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"
            )
            data = mujoco.MjData(model)
            mujoco.mj_forward(model, data)
            painter.draw(model, data, mujoco.MjvCamera(), width=64, height=48)
            counts.append(painter.contexts)
        painter.close()
        return [*counts, painter.contexts]

    # In a thread of its own: one thread has one current context.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(work).result() == [1, 2, 3, 3, 3, 0]


def test_shrinking_averages_blocks():
    fine = np.zeros((4, 4, 3), np.uint8)
    fine[:2, :2] = 100
    fine[0, 2] = 200
    assert shrink(fine)[..., 0].tolist() == [[100, 50], [0, 0]]


def test_a_jpeg_is_near_the_picture_and_the_full_one_nearer(scene):
    picture = snapshot(*scene, camera=VIEW, show=("frames",))

    def error(content: bytes) -> float:
        decoded = np.asarray(Image.open(io.BytesIO(content))).astype(float)
        return float(np.abs(decoded - picture).mean())

    assert error(encode_jpeg(picture, full=True)) < error(encode_jpeg(picture)) < 4


# Back ends ----------------------------------------------------------------------------------


def test_linux_gets_egl_before_osmesa(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delitem(sys.modules, "mujoco", raising=False)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    monkeypatch.setattr(opengl, "available", lambda name: True)
    assert opengl.choose_backend() == "egl"
    monkeypatch.delenv("MUJOCO_GL")
    monkeypatch.setattr(opengl, "available", lambda name: name == "osmesa")
    assert opengl.choose_backend() == "osmesa"
    assert os.environ["MUJOCO_GL"] == "osmesa"


def test_a_value_that_was_set_is_kept_where_it_works(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delitem(sys.modules, "mujoco", raising=False)
    monkeypatch.setattr(opengl, "available", lambda name: True)
    for value in ("osmesa", "glfw", "disable"):
        monkeypatch.setenv("MUJOCO_GL", value)
        assert opengl.choose_backend() == value


def test_a_value_without_its_library_is_replaced_with_a_word(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delitem(sys.modules, "mujoco", raising=False)
    monkeypatch.setenv("MUJOCO_GL", "osmesa")
    monkeypatch.setattr(opengl, "available", lambda name: name == "egl")
    with pytest.warns(UserWarning, match="its library is not installed; using 'egl'"):
        assert opengl.choose_backend() == "egl"
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setattr(opengl, "available", lambda name: False)
    with pytest.warns(UserWarning, match="pictures will be missing"):
        assert opengl.choose_backend() is None
    assert "MUJOCO_GL" not in os.environ


def test_nothing_is_touched_on_other_systems_or_after_mujoco(monkeypatch):
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    assert "mujoco" in sys.modules
    assert opengl.choose_backend() is None
    monkeypatch.delitem(sys.modules, "mujoco")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert opengl.choose_backend() is None
    assert "MUJOCO_GL" not in os.environ


@pytest.mark.parametrize(
    ("platform", "words"),
    [("linux", "libegl1 libgl1"), ("darwin", "logged-in"), ("win32", "pip install glfw")],
)
def test_the_advice_names_what_to_install(monkeypatch, platform, words):
    monkeypatch.setattr(sys, "platform", platform)
    assert words in opengl.advice()


DRAW = """
import mujoco, mjcourse
from mjcourse.rendering import snapshot
model = mjcourse.load("joint_zoo")
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)
print(snapshot(model, data).std() > 15)
"""


def test_every_back_end_of_linux_draws_and_leaves_without_a_word():
    for backend in ("egl", "osmesa"):
        done = run(DRAW.replace("import mujoco, mjcourse", "import mjcourse, mujoco"),
                   MUJOCO_GL=backend)  # fmt: skip
        assert (done.stdout, done.stderr) == ("True\n", ""), (backend, done.stderr)


def test_pictures_work_where_mujoco_was_imported_first():
    done = run(DRAW)
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_without_opengl_the_error_names_the_package_and_is_not_sought_again(monkeypatch):
    tries: list[int] = []

    def broken() -> None:
        tries.append(1)
        raise AttributeError("'NoneType' object has no attribute 'glGetError'")

    monkeypatch.setattr(rendering, "_gl_context_class", broken)
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    painter = Painter()
    for _ in range(2):
        with pytest.raises(OpenGLMissing, match="no picture without OpenGL: install EGL"):
            painter.draw(model, mujoco.MjData(model), mujoco.MjvCamera())
    assert len(tries) == 1
