"""One simulation of a lab: its model and data, how it steps, resets, and when it has failed."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np

from mjcourse import models
from mjcourse.lab.camera import Camera

Hook = Callable[[mujoco.MjModel, mujoco.MjData], None]
Draw = Callable[[mujoco.MjModel, mujoco.MjData, mujoco.MjvScene], None]

_BAD = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
    mujoco.mjtWarning.mjWARN_BADCTRL,
)
_BLOCK = 20  # steps between two looks at the clock


class Diverged(Exception):
    """The simulation left the finite numbers; the message says where and what to try."""


class Simulation:
    """A scene with its own `MjData`, and how a lab runs it.

    Args:
      scene: the name of a scene of the course, or an `MjModel`.
      title: printed over its picture when there are several.
      step: `(model, data) -> None`, instead of `mj_step`; called as often as real time asks. A
        step that leaves `data.time` alone counts as one timestep.
      reset: `(model, data) -> None`, called after `mj_resetData` (or keyframe 0, where the model
        has one) and before `mj_forward`.
      draw: `(model, data, scene) -> None`, adds decoration (see `marker`, `arrow`, `ghost_body`).
      camera: see `Camera`; the lab's where None.
      settle: call `mj_forward` after each change by hand; False where a lab shows what is stale.

    Attributes:
      model, data: what the callables get.

    Raises:
      KeyError: there is no such scene.
    """

    def __init__(
        self,
        scene: str | mujoco.MjModel,
        title: str = "",
        *,
        step: Hook | None = None,
        reset: Hook | None = None,
        draw: Draw | None = None,
        camera: Mapping[str, Any] | None = None,
        settle: bool = True,
    ) -> None:
        self.settle = settle
        self.scene = scene
        self.title = title
        self.step = step
        self.on_reset = reset
        self.draw = draw
        self.view = camera
        self.model: mujoco.MjModel
        self.data: mujoco.MjData
        self.camera: Camera
        self._written: int | None = None  # when the scene's file was written
        self._elapsed = 0.0
        self._stepped_by_hand = False

    def load(self, default_view: Mapping[str, Any]) -> None:
        """Compile the scene and create its data."""
        if isinstance(self.scene, str):
            self.model = models.load(self.scene)
            self._written = models.model_path(self.scene).stat().st_mtime_ns
        else:
            self.model = self.scene
        self.data = mujoco.MjData(self.model)
        self.camera = Camera(self.model, default_view if self.view is None else self.view)

    def unload(self) -> None:
        """Let go of model and data."""
        del self.model, self.data

    @property
    def assets(self) -> Hashable:
        """What names this scene's uploads to OpenGL: equal for two simulations of one file."""
        return id(self.scene) if self._written is None else (self.scene, self._written)

    @property
    def time(self) -> float:
        """Simulated seconds since the last reset."""
        return self._elapsed if self._stepped_by_hand else self.data.time

    def restart(self) -> None:
        """Reset the state, then the declared hook. The caller runs `forward`."""
        self._elapsed, self._stepped_by_hand = 0.0, False
        if self.model.nkey:
            mujoco.mj_resetDataKeyframe(self.model, self.data, 0)
        else:
            mujoco.mj_resetData(self.model, self.data)
        if self.on_reset is not None:
            self.on_reset(self.model, self.data)

    def forward(self) -> None:
        """Bring every derived quantity up to date."""
        with quiet_warnings():
            mujoco.mj_forward(self.model, self.data)

    def advance_to(self, target: float, budget: float) -> bool:
        """Step until the time is within half a step of `target`, at most `budget` wall seconds.

        Returns:
          Whether the target was reached in time.

        Raises:
          Diverged: a step met a value that is not finite, or huge.
        """
        deadline = time.perf_counter() + budget
        with quiet_warnings():
            while (missing := self._steps_to(target)) > 0:
                before = self.time
                count = min(missing, _BLOCK)
                if self.step is None:
                    mujoco.mj_step(self.model, self.data, count)
                else:
                    for _ in range(count):
                        self._custom_step()
                self.check()
                if self.time <= before or time.perf_counter() > deadline:
                    return False
        return True

    def single_step(self) -> None:
        """One step. Raises Diverged as `advance_to` does."""
        with quiet_warnings():
            if self.step is None:
                mujoco.mj_step(self.model, self.data)
            else:
                self._custom_step()
        self.check()

    def check(self) -> None:
        """Raise Diverged when MuJoCo warned of bad values or the state is not finite."""
        data = self.data
        warned = [w for w in _BAD if data.warning[w].number]
        finite = np.isfinite(data.qpos).all() and np.isfinite(data.qvel).all()
        if finite and not warned:
            return
        where = self._where(warned)
        for warning in warned:
            data.warning[warning].number = 0
        raise Diverged(
            f"the simulation diverged at {where}: press Reset, then try a smaller step or a "
            "smaller force"
        )

    def _where(self, warned: list[Any]) -> str:
        """The joint whose value went bad, where that is known."""
        data, model = self.data, self.model
        for warning in warned:
            index = data.warning[warning].lastinfo
            if warning == mujoco.mjtWarning.mjWARN_BADCTRL:
                return f"actuator {model.actuator(index).name or index!r}"
            if warning == mujoco.mjtWarning.mjWARN_BADQPOS:
                joint = int(np.searchsorted(model.jnt_qposadr, index, side="right")) - 1
            else:
                joint = int(model.dof_jntid[index])
            return f"joint {model.joint(joint).name or joint!r}"
        return f"{self.time:.3f} s"

    def _steps_to(self, target: float) -> int:
        return round((target - self.time) / self.model.opt.timestep)

    def _custom_step(self) -> None:
        assert self.step is not None
        before = self.data.time
        self.step(self.model, self.data)
        moved = self.data.time - before
        self._stepped_by_hand = self._stepped_by_hand or moved == 0.0
        self._elapsed += moved if moved > 0 else self.model.opt.timestep


@contextmanager
def quiet_warnings() -> Iterator[None]:
    """Keep MuJoCo from writing its warnings to `MUJOCO_LOG.TXT` in the working directory.

    A lab looks at `data.warning` instead and tells the student itself.
    """
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(_ignore)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _ignore(message: str) -> None:
    """Swallow a warning that the lab reports in its own words."""
