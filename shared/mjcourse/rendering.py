"""Draw MuJoCo scenes: one OpenGL context for everyone, fast frames and full ones, JPEG.

A `Painter` belongs to the thread that draws with it first. Labs and `snapshot` share the painter
of the stage (`mjcourse.lab.stage`), so a kernel never holds more than one OpenGL context.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from mjcourse import opengl

MAX_GEOMS = 4000  # decoration included; a scene of the course has below 200
SUPERSAMPLE = 2  # a full frame is drawn at twice the size: smoother than multisampling, no buffer
_KEPT = 3  # drawing contexts kept ready, about 30 MB each; another one takes 3 to 15 ms to make
_SHADOW_SIZE = 2048

Decorate = Callable[[mujoco.MjvScene], None]


class OpenGLMissing(RuntimeError):
    """Nothing can be drawn on this machine; the message names the package to install."""


@dataclass
class _Drawing:
    """What is needed to draw one model: uploaded assets and the list of geoms to draw."""

    model: mujoco.MjModel  # held, so that its id is not given to another model
    context: Any
    scene: mujoco.MjvScene
    width: int
    height: int


class Painter:
    """Draws any model with one OpenGL context. Use it from a single thread.

    Nothing is created before the first `draw`. Drawing contexts of the last few models are kept.
    """

    def __init__(self) -> None:
        self._gl: Any = None
        self._drawings: OrderedDict[Hashable, _Drawing] = OrderedDict()
        self._failure: str | None = None

    @property
    def contexts(self) -> int:
        """Number of drawing contexts now alive."""
        return len(self._drawings)

    def draw(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        camera: mujoco.MjvCamera,
        *,
        width: int = 480,
        height: int = 360,
        option: mujoco.MjvOption | None = None,
        full: bool = True,
        decorate: Decorate | None = None,
        assets: Hashable = None,
    ) -> np.ndarray:
        """Draw `data`, whose derived quantities must be up to date.

        Args:
          camera: where to look from.
          width, height: size of the picture in pixels.
          option: what is shown (frames, joints, contacts); MuJoCo's default when None.
          full: with shadow and reflection, at `SUPERSAMPLE` times the size in each direction;
            otherwise fast, at the size asked for.
          decorate: called with the `MjvScene` before it is drawn, to add geoms.
          assets: a name of what is uploaded to OpenGL; models compiled from the same file can
            share it. The model itself when None.

        Returns:
          `(height, width, 3)` uint8, or that times `SUPERSAMPLE` where `full`.

        Raises:
          OpenGLMissing: there is no OpenGL; the message says what to install.
        """
        scale = SUPERSAMPLE if full else 1
        rows, columns = height * scale, width * scale
        key = id(model) if assets is None else assets
        drawing = self._drawing(key, model, width * SUPERSAMPLE, height * SUPERSAMPLE)
        scene = drawing.scene
        with visible_sizes(model):
            mujoco.mjv_updateScene(
                model,
                data,
                option or mujoco.MjvOption(),
                None,
                camera,
                mujoco.mjtCatBit.mjCAT_ALL.value,
                scene,
            )
        if decorate is not None:
            decorate(scene)
        scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = full
        scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = full
        rect = mujoco.MjrRect(0, 0, columns, rows)
        pixels = np.empty((rows, columns, 3), np.uint8)
        # Each drawing context has a buffer of its own; the last one that was made is bound.
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, drawing.context)
        mujoco.mjr_render(rect, scene, drawing.context)
        mujoco.mjr_readPixels(pixels, None, rect, drawing.context)
        return pixels[::-1]  # OpenGL's first row is the lowest

    def release(self, assets: Hashable) -> None:
        """Free what was kept for these assets (a name, or a model)."""
        key = id(assets) if isinstance(assets, mujoco.MjModel) else assets
        drawing = self._drawings.pop(key, None)
        if drawing is not None:
            drawing.context.free()

    def close(self) -> None:
        """Free every context. The painter can be used again."""
        for key in list(self._drawings):
            self.release(key)
        if self._gl is not None:
            self._gl.free()
            self._gl = None

    def _drawing(self, key: Hashable, model: mujoco.MjModel, width: int, height: int) -> _Drawing:
        known = self._drawings.get(key)
        if known is not None and known.width >= width and known.height >= height:
            self._drawings.move_to_end(key)
            return known
        self.release(key)
        while len(self._drawings) >= _KEPT:
            self.release(next(iter(self._drawings)))
        self._start_opengl(width, height)
        try:
            with _buffer_of(model, width, height):
                context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_150.value)
                mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        except mujoco.FatalError as error:
            raise self._give_up(error) from error
        drawing = _Drawing(model, context, mujoco.MjvScene(model, MAX_GEOMS), width, height)
        self._drawings[key] = drawing
        return drawing

    def _start_opengl(self, width: int, height: int) -> None:
        if self._failure is not None:
            raise OpenGLMissing(self._failure)
        if self._gl is not None:
            return
        try:
            self._gl = _gl_context_class()(width, height)
            self._gl.make_current()
        except Exception as error:
            # Each back end fails in its own way: ImportError, AttributeError, its own GLError.
            self._gl = None
            raise self._give_up(error) from error

    def _give_up(self, error: Exception) -> OpenGLMissing:
        self._failure = f"no picture without OpenGL: {opengl.advice()} ({error})"
        return OpenGLMissing(self._failure)


def _gl_context_class() -> Any:
    """MuJoCo's context class for this machine.

    Where `mujoco` was imported before a back end was chosen, its default on Linux (GLFW) cannot
    draw without a display; the classes for EGL and OSMesa can be had all the same.
    """
    if "MUJOCO_GL" not in os.environ and sys.platform.startswith("linux"):
        for backend in ("egl", "osmesa"):
            if opengl.available(backend):
                return importlib.import_module(f"mujoco.{backend}").GLContext
    return importlib.import_module("mujoco.rendering.classic.gl_context").GLContext


@contextmanager
def visible_sizes(model: mujoco.MjModel) -> Iterator[None]:
    """Scale frames, joint axes, contacts and forces to the scene's extent, for one drawing.

    MuJoCo scales them with the mean size of the geoms, so that a large floor or a small gripper
    makes them too large or too small. The model's own settings are put back afterwards.
    """
    scale, stat = model.vis.scale, model.stat
    names = _SIZES.keys()
    before = {name: getattr(scale, name) for name in names}
    unit = stat.extent / max(stat.meansize, 1e-9)
    try:
        for name in names:
            setattr(scale, name, _SIZES[name] * unit)
        yield
    finally:
        for name, value in before.items():
            setattr(scale, name, value)


# Lengths and widths as fractions of the scene's extent.
_SIZES = {
    "framelength": 0.18,
    "framewidth": 0.007,
    "jointlength": 0.16,
    "jointwidth": 0.009,
    "contactwidth": 0.02,
    "contactheight": 0.006,
    "forcewidth": 0.01,
}


@contextmanager
def _buffer_of(model: mujoco.MjModel, width: int, height: int) -> Iterator[None]:
    """Ask for an off-screen buffer of this size, without multisampling, while one is created."""
    size, quality = model.vis.global_, model.vis.quality
    before = (size.offwidth, size.offheight, quality.offsamples, quality.shadowsize)
    size.offwidth, size.offheight = width, height
    quality.offsamples, quality.shadowsize = 0, min(quality.shadowsize, _SHADOW_SIZE)
    try:
        yield
    finally:
        size.offwidth, size.offheight, quality.offsamples, quality.shadowsize = before


def shrink(pixels: np.ndarray, factor: int = SUPERSAMPLE) -> np.ndarray:
    """Average blocks of `factor` x `factor` pixels: `(h, w, 3)` becomes `(h/f, w/f, 3)` uint8."""
    rows, columns, _ = pixels.shape
    blocks = pixels.reshape(rows // factor, factor, columns // factor, factor, 3)
    return (blocks.mean(axis=(1, 3), dtype=np.float32) + 0.5).astype(np.uint8)


def encode_jpeg(pixels: np.ndarray, *, full: bool = False) -> bytes:
    """JPEG bytes of an `(h, w, 3)` uint8 picture; `full` keeps thin coloured lines sharp."""
    from PIL import Image

    buffer = io.BytesIO()
    picture = Image.fromarray(np.ascontiguousarray(pixels))
    if full:
        picture.save(buffer, "JPEG", quality=92, subsampling=0)
    else:
        picture.save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def snapshot(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    *,
    camera: dict[str, Any] | None = None,
    width: int = 480,
    height: int = 360,
    show: tuple[str, ...] = (),
) -> np.ndarray:
    """A still picture of `data`, `(height, width, 3)` uint8, for a figure in the text.

    Args:
      camera: `azimuth`, `elevation` (degrees), `distance` (m), `lookat` (3,); the model's free
        camera where a key is missing.
      show: overlays out of `"frames"`, `"joints"`, `"contacts"`, `"forces"`.

    Raises:
      OpenGLMissing: there is no OpenGL.
    """
    from mjcourse.lab.camera import Camera
    from mjcourse.lab.scenery import options
    from mjcourse.lab.stage import stage

    view, option = Camera(model, camera or {}).view(), options(show)

    def draw(painter: Painter) -> np.ndarray:
        return painter.draw(model, data, view, width=width, height=height, option=option)

    return shrink(stage().call(lambda: draw(stage().painter)))
