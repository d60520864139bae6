"""What the exercises of this lesson share: scenes, states, and wrong cells made by one edit."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from course.exercises.exercise import Exercise
from course.exercises.implementation import Implementation
from course.grading.door import AnswerFailed, Door, Error, Outcome
from mjcourse.models import load

# Everything that a step of MuJoCo starts from (mjSTATE_INTEGRATION), as fields of MjData.
STATE = (
    "time qpos qvel act history qacc_warmstart ctrl qfrc_applied xfrc_applied eq_active "
    "mocap_pos mocap_quat userdata plugin_state plastic"
).split()

# A scene that students do not see: every joint type, a mass away from its body's origin, springs,
# dampers, a fixed tendon, two actuators on one joint, a row between two joints. Nothing touches.
_MOBILE = """
<mujoco model="mobile">
  <option timestep="0.005" gravity="0.4 -0.3 -9.81"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="boom" pos="0 0 2">
      <joint name="turn" axis="0 0 1" damping="0.4" stiffness="3" springref="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.5 0.1 0" size="0.03" mass="1.2"/>
      <body name="jib" pos="0.5 0.1 0">
        <joint name="lift" axis="0 1 0.2" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0.2" size="0.025" mass="0.8"/>
        <site name="tool" pos="0.3 0 0.2"/>
        <body name="bell" pos="0.3 0 0.2">
          <joint name="swing" type="ball" damping="0.05"/>
          <geom type="box" size="0.05 0.03 0.12" pos="0.04 0.02 -0.15" mass="0.6"/>
        </body>
      </body>
    </body>
    <body name="crate" pos="-1 0.5 1">
      <freejoint name="crate"/>
      <geom type="box" size="0.1 0.15 0.2" pos="0.08 -0.05 0.1" mass="2"/>
      <geom type="sphere" size="0.06" pos="-0.2 0.1 0" mass="1"/>
    </body>
    <body name="cart" pos="1 -1 0.5">
      <joint name="run" type="slide" axis="1 0.3 0.1" damping="0.7" stiffness="20"/>
      <geom type="box" size="0.1 0.1 0.05" pos="0 0.07 0.02" mass="1.5"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="belt"><joint joint="turn" coef="0.7"/><joint joint="lift" coef="-1.1"/></fixed>
  </tendon>
  <equality>
    <joint name="gear" joint1="run" joint2="turn" polycoef="0 0.3 0 0 0" solref="0.1 1"/>
  </equality>
  <actuator>
    <motor name="turn" joint="turn" gear="2"/>
    <motor name="belt" tendon="belt"/>
    <position name="lift" joint="lift" kp="8" kv="0.3"/>
    <general name="run" joint="run" dyntype="filter" dynprm="0.05" gainprm="4"/>
  </actuator>
  <sensor>
    <framepos objtype="site" objname="tool"/>
    <framelinvel objtype="site" objname="tool"/>
    <jointvel joint="turn"/>
    <actuatorfrc actuator="lift"/>
    <jointactuatorfrc joint="turn"/>
  </sensor>
</mujoco>
"""


def scene(name: str) -> mujoco.MjModel:
    """The scene of that name, the caller's own: one of the course, or the unseen `mobile`."""
    return copy.copy(_compiled(name))


@functools.cache
def _compiled(name: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(_MOBILE) if name == "mobile" else load(name)


def disturbed(model: mujoco.MjModel, seed: int, *, inputs: bool = True) -> mujoco.MjData:
    """A state away from rest, with the model's inputs set at random; nothing is evaluated yet."""
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    speed = rng.normal(scale=0.6, size=model.nv)
    mujoco.mj_integratePos(model, data.qpos, rng.normal(scale=0.5, size=model.nv), 1.0)
    data.qvel[:] = speed
    if inputs:
        new_inputs(model, data, rng)
    return data


def new_inputs(model: mujoco.MjModel, data: mujoco.MjData, rng: np.random.Generator) -> None:
    """Set activations, controls and applied forces at random."""
    data.act[:] = rng.uniform(-0.8, 0.8, model.na)
    data.ctrl[:] = rng.uniform(-0.9, 0.9, model.nu)
    data.qfrc_applied[:] = rng.normal(scale=0.3, size=model.nv)
    data.xfrc_applied[1:] = rng.normal(scale=0.4, size=(model.nbody - 1, 6))


def run_on(model: mujoco.MjModel, data: mujoco.MjData, steps: int) -> mujoco.MjData:
    """A copy of `data`, `steps` steps later."""
    later = copy.copy(data)
    for _ in range(steps):
        mujoco.mj_step(model, later)
    return later


def asked(door: Door, function: str, args: tuple[Any, ...]) -> Outcome:
    """What `function(*args)` gives; the same tuple in every grading crosses the door packed."""
    return door.call_many(function, [args])[0]


def taken_over(data: mujoco.MjData, after: Any) -> mujoco.MjData:
    """A copy of `data` with the integration state that a call left in it."""
    mine = copy.copy(data)
    after.apply_to(mine, fields=STATE)
    return mine


def arrays(data: Any, *names: str) -> dict[str, np.ndarray]:
    """Copies of fields of an `MjData` (or of what a call left of one) by name."""
    return {name: np.array(getattr(data, name), dtype=float) for name in names}


def refuse(text: str) -> AnswerFailed:
    """The failure of an answer that cannot be used further."""
    return AnswerFailed(Error(("TypeError", "Exception"), text))


def number(value: Any) -> Any:
    """A value of one entry as a number, in whatever array it came; anything else as it is."""
    if isinstance(value, (list, tuple, np.ndarray)):
        try:
            array = np.asarray(value)
        except ValueError:
            return value
        if array.size == 1 and array.dtype != object:
            return array.reshape(()).item()
    return value


def numbers(outcome: Outcome) -> Any:
    """The entries of a returned tuple, each of one entry as a number."""
    value = outcome.value
    if isinstance(value, (list, tuple, np.ndarray)):
        return [number(v) for v in value]
    return value


def variants(exercise: Exercise) -> Callable[[str, str], None]:
    """`right(id, cell)`: a right cell, written differently."""

    def right(id: str, cell: str) -> None:
        exercise.variants.append(Implementation(id, "", cell))

    return right
