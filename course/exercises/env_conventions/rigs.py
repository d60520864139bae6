"""The models that the hidden tests of this lesson run on: small, contact-free, awkward on purpose.

Free bodies come before the arm, joints are asked for in another order than they are declared, gears
are not 1, centres of mass lie away from body frames. All of them are compiled once in a process.
"""

from __future__ import annotations

import functools

import mujoco
import numpy as np

_ARM = """
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.002"><flag contact="disable"/></option>
  <worldbody>
    <body name="parcel" pos="1 0 0.5">
      <freejoint name="parcel"/>
      <geom type="box" size="0.1 0.05 0.08" pos="0.04 0.02 -0.03" density="400"/>
    </body>
    <body name="bob" pos="-1 0 1">
      <joint name="bob" type="ball" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0.05 0.1 -0.3" size="0.03"/>
    </body>
    <body name="base" pos="0.1 -0.2 0.3" quat="0.9 0.1 -0.2 0.3">
      <body name="column" pos="0 0 0.1">
        <joint name="turn" axis="0 0 1" armature="0.1"/>
        <geom type="box" size="0.05 0.04 0.15" pos="0.02 0.01 0.15"/>
        <site name="column" pos="0.05 0 0.2" quat="0.6 0.2 0.7 -0.1"/>
        <body name="carriage" pos="0.05 0 0.3" quat="0.8 0 0.5 0.2">
          <joint name="lift" type="slide" axis="0 0 1" armature="0.1"/>
          <geom type="box" size="0.06 0.03 0.03" pos="0 0.05 0.02" quat="0.7 0.3 0.1 0.2"/>
          <body name="elbow" pos="0.1 0.05 0">
            <joint name="bend" axis="0 1 0" armature="0.1" actuatorfrcrange="-9 7"/>
            <geom type="capsule" fromto="0 0 0 0.3 0.02 0.05" size="0.04"/>
            <body name="wrist" pos="0.3 0 0.02" quat="0.5 0.5 0.5 0.5">
              <joint name="roll" axis="1 0 0" armature="0.05"/>
              <joint name="nod" axis="0 1 0" armature="0.05"/>
              <geom type="box" size="0.04 0.02 0.08" pos="0.01 0.03 0.05"/>
              <body name="tool" pos="0.02 0.01 0.12" quat="0.3 -0.4 0.8 0.1">
                <geom type="box" size="0.02 0.03 0.1" pos="0.03 -0.02 0.09"/>
                <site name="ft" pos="0 0 0.01" quat="0.9 0.3 0.1 -0.2"/>
                <site name="tcp" pos="0.02 0.01 0.2" quat="0.2 0.9 -0.3 0.1"/>
              </body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="nod_motor" joint="nod" gear="4" ctrlrange="-3 2" group="2"/>
    <position name="nod_servo" joint="nod" gear="0.5" kp="20" kv="1" group="0"/>
    <motor name="turn_motor" joint="turn" gear="-2" ctrlrange="-2.5 1.5" forcerange="-1 1"
           group="2"/>
    <motor name="bend_motor" joint="bend" gear="8" ctrlrange="-2 2" group="2"/>
    <velocity name="bend_servo" joint="bend" gear="2" kv="3" group="1"/>
    <motor name="lift_motor" joint="lift" group="2"/>
    <motor name="roll_motor" joint="roll" gear="0.25" ctrllimited="false" ctrlrange="-1 1"
           group="2"/>
    <position name="lift_servo" joint="lift" gear="-3" kp="50" kv="4" group="0"/>
    <general name="filtered" joint="roll" dyntype="filter" dynprm="0.1" gear="1.5" group="4"/>
  </actuator>
  <sensor>
    <framepos name="tcp_pos" objtype="site" objname="tcp"/>
    <jointpos name="nod_pos" joint="nod"/>
    <torque name="ft_torque" site="ft"/>
    <gyro name="gyro" site="tcp"/>
    <force name="ft_force" site="ft"/>
    <accelerometer name="acc" site="tcp"/>
    <force name="column_force" site="column"/>
    <torque name="column_torque" site="column"/>
    <touch name="pad" site="tcp"/>
    <velocimeter name="speed" site="tcp"/>
    <jointactuatorfrc name="bend_torque" joint="bend"/>
  </sensor>
</mujoco>
"""


@functools.cache
def arm() -> mujoco.MjModel:
    """Free body and ball joint first, five arm joints, motors and servos with gears."""
    return mujoco.MjModel.from_xml_string(_ARM)


def moving(seed: int, model: mujoco.MjModel | None = None) -> mujoco.MjData:
    """Data of `model` (the arm) in a random, moving state, with `mj_forward` done."""
    model = arm() if model is None else model
    rng = np.random.default_rng(seed)
    data = mujoco.MjData(model)
    data.qvel[:] = rng.uniform(-1.5, 1.5, model.nv)
    mujoco.mj_integratePos(model, data.qpos, rng.uniform(-1.2, 1.2, model.nv), 1.0)
    data.ctrl[:] = rng.uniform(-1.4, 1.4, model.nu)
    if model.na:
        data.act[:] = rng.uniform(-1, 1, model.na)
    data.qfrc_applied[:] = rng.uniform(-0.5, 0.5, model.nv)
    data.xfrc_applied[1:] = rng.uniform(-0.5, 0.5, (model.nbody - 1, 6))
    data.time = float(rng.uniform(0.5, 9.0))
    mujoco.mj_forward(model, data)
    return data


_MODES = """
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option><flag contact="disable"/></option>
  <worldbody>
    <body name="parcel" pos="1 0 0.5"><freejoint name="parcel"/><geom size="0.1"/></body>
    <body name="a">
      <joint name="one" axis="0 0 1" armature="0.2"/><geom size="0.1" pos="0.1 0 0"/>
      <body name="b" pos="0.2 0 0">
        <joint name="two" axis="0 1 0" armature="0.2"/><geom size="0.1" pos="0.1 0 0"/>
        <body name="c" pos="0.2 0 0">
          <joint name="three" type="slide" axis="1 0 0" armature="0.2"/><geom size="0.05"/>
          <body name="finger"><joint name="finger" axis="0 1 0" armature="0.1"/>
            <geom size="0.02" pos="0 0 0.1"/></body>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="finger_servo" joint="finger" kp="5" group="3" ctrlrange="0 0.82"/>
    <motor name="three_t" joint="three" gear="-5" ctrlrange="-9 9" group="2"/>
    <position name="two_p" joint="two" gear="2.5" kp="30" group="0"/>
    <velocity name="one_v" joint="one" gear="2" kv="4" group="1"/>
    <position name="three_p" joint="three" gear="-2" kp="40" group="0"/>
    <motor name="one_t" joint="one" gear="4" ctrlrange="-9 9" group="2"/>
    <motor name="lamp" joint="finger" gear="0.1" group="5"/>
    <velocity name="two_v" joint="two" gear="-1" kv="4" group="1"/>
    <position name="one_p" joint="one" gear="0.5" kp="25" group="0"/>
    <motor name="two_t" joint="two" gear="10" group="2"/>
    <velocity name="three_v" joint="three" kv="4" group="1"/>
  </actuator>
</mujoco>
"""


def modes(disabled_groups: tuple[int, ...]) -> mujoco.MjModel:
    """A three-joint arm with three modes (groups 0 to 2), a finger in group 3, a lamp in 5."""
    return _modes(sum(1 << group for group in disabled_groups))


@functools.cache
def _modes(bits: int) -> mujoco.MjModel:
    model = mujoco.MjModel.from_xml_string(_MODES)
    model.opt.disableactuator = bits
    return model


_MOTORS = """
<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0 0 0"><flag contact="disable"/></option>
  <worldbody>
    <body name="parcel" pos="0 0 2"><freejoint name="parcel"/><geom size="0.1"/></body>
    <body name="a"><joint name="a" axis="0 1 0" armature="1"/><geom size="0.1"/></body>
    <body name="b"><joint name="b" axis="0 1 0" armature="1"/><geom size="0.1"/></body>
    <body name="c"><joint name="c" axis="0 1 0" armature="1"/><geom size="0.1"/></body>
    <body name="d"><joint name="d" axis="0 1 0" armature="1"/><geom size="0.1"/></body>
    <body name="e"><joint name="e" axis="0 1 0" armature="1"/><geom size="0.1"/></body>
    <body name="f"><joint name="f" axis="0 1 0" armature="1"/><geom size="0.1"/></body>
  </worldbody>
  <actuator>
    <motor name="free_range" joint="e" gear="4"/>
    <motor name="geared" joint="c" gear="4" ctrlrange="-3 3"/>
    <motor name="reversed" joint="a" gear="-2" ctrlrange="-1.5 4"/>
    <motor name="direct" joint="d" ctrlrange="-2 5"/>
    <motor name="weak" joint="b" gear="8" ctrlrange="-2 2" forcerange="-0.5 0.5"/>
    <motor name="ignored_range" joint="f" gear="-0.5" ctrllimited="false" ctrlrange="-1 1"/>
  </actuator>
</mujoco>
"""


@functools.cache
def motors() -> mujoco.MjModel:
    """Six hinges, each with a motor; the motors are declared in another order than the hinges."""
    return mujoco.MjModel.from_xml_string(_MOTORS)


def torque_rig(joints: list[dict[str, str]], order: list[int] | None = None) -> mujoco.MjModel:
    """Hinges side by side, each with a servo in group 0 and a motor in group 2.

    Args:
      joints: for each joint the attributes of its motor; "actuatorfrcrange" goes to the joint.
      order: in which the motors are declared; first to last unless given.
    """
    bodies, servos, motors = "", "", []
    for i, given in enumerate(joints):
        attributes = dict(given)
        own = attributes.pop("actuatorfrcrange", None)
        limit = f'actuatorfrcrange="{own}"' if own else ""
        bodies += (
            f'<body pos="{i} 0 1"><joint name="h{i}" axis="0 1 0" armature="1" {limit}/>'
            '<geom size="0.1"/></body>'
        )
        servos += f'<position joint="h{i}" kp="3" group="0" gear="7" ctrlrange="-11 11"/>'
        text = " ".join(f'{key}="{value}"' for key, value in attributes.items())
        motors.append(f'<motor name="m{i}" joint="h{i}" group="2" {text}/>')
    listed = "".join(motors[i] for i in (order or range(len(motors))))
    return mujoco.MjModel.from_xml_string(
        f"""<mujoco><compiler angle="radian" autolimits="true"/>
        <option gravity="0 0 0"><flag contact="disable"/></option><worldbody>
        <body name="parcel"><freejoint name="parcel"/><geom size="0.1"/></body>{bodies}</worldbody>
        <actuator>{servos}{listed}</actuator></mujoco>"""
    )
