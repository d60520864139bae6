"""The scenes that `carry_state` is asked to lead from and to: an arm, and what stands around it."""

from __future__ import annotations

import functools

import mujoco

_ARM = """<body name="a" pos="0 0 0.2"><joint name="one" axis="0 0 1" armature="0.1"/>
  <geom size="0.06" pos="0.1 0 0"/>
  <body name="b" pos="0.2 0 0.1"><joint name="two" {} armature="0.1"/>
    <geom size="0.05" pos="0.1 0 0"/>
    <body name="c" pos="0.2 0 0.1"><joint name="three" type="slide" axis="1 0 0" armature="0.1"/>
      <geom size="0.04" pos="0.05 0.02 0"/><site name="tip" pos="0.1 0 0"/></body></body></body>"""
_SENSORS = """<sensor><framepos objtype="site" objname="tip"/>{}
<accelerometer site="tip"/><framelinvel objtype="site" objname="tip"/></sensor>"""
_SERVO = '<position name="p_two" joint="two" kp="9"/>'
_MOTORS = f"""<motor name="m_one" joint="one" gear="3"/>{_SERVO}
<motor name="m_three" joint="three"/>"""
_REORDERED = f"""<motor name="m_three" joint="three"/><motor name="new" joint="two" gear="5"/>
{_SERVO}<motor name="m_one" joint="one" gear="3"/>"""
_FILTERED = """<motor name="m_one" joint="one"/>
<general name="slow_one" joint="one" dyntype="filter" dynprm="0.2"/>
<general name="slow_three" joint="three" dyntype="{}"/>"""
_ONE, _NONE, _TWO = (
    _FILTERED.format(kind) for kind in ('filter" dynprm="0.1', "none", 'user" actdim="2')
)
_LAST = '<general name="extra" joint="three" dyntype="integrator"/>'
_MORE = _LAST.replace("extra", "more")


def _body(joint: str, x: float, name: str = "") -> str:
    """A body with this joint; body and joint have the name, or none."""
    called = f'name="{name}"' if name else ""
    return f"""<body {called} pos="{x} 0 0.5"><joint {called} {joint}/>
    <geom size="0.05" pos="0.1 0 0"/></body>"""


_FREE, _BALL, _HINGE = 'type="free"', 'type="ball"', 'axis="0 1 0"'
_BOX, _BOB = _body(_FREE, 1, "box"), _body(_BALL, 2, "bob")
_LID = _body(_FREE, -1, "box_lid")  # its name begins with another's
_NAMELESS = _body(_FREE, 1) + _body(_HINGE, -1)


def _scene(actuators: str, before: str = "", behind: str = "", two: str = _HINGE) -> str:
    """MJCF: the arm, whose joint "two" has this type, with bodies before and behind it."""
    sensors = _SENSORS.format("" if two == _BALL else '<jointpos joint="two"/>')
    return f"""<mujoco><compiler angle="radian"/><option timestep="0.002"><flag contact="disable"/>
    </option><worldbody>{before}{_ARM.format(two)}{behind}</worldbody>
    <actuator>{actuators}</actuator>{sensors}</mujoco>"""


_SCENES = {
    "arm": _scene(_MOTORS),
    "box, arm": _scene(_MOTORS, _BOX),
    "lid, box, arm": _scene(_MOTORS, _LID + _BOX),
    "arm, box": _scene(_MOTORS, "", _BOX),
    "reordered": _scene(_REORDERED, _BOX, _LID),
    "joint two is a slide, box a hinge": _scene(
        _MOTORS, _body(_HINGE, 1, "box"), two='type="slide" axis="0 1 0"'
    ),
    "joint two and box are balls": _scene(
        _MOTORS.replace(_SERVO, '<motor name="p_two" joint="two"/>'),
        _body(_BALL, 1, "box"),
        two=_BALL,
    ),
    "unnamed": _scene(_MOTORS + '<motor joint="one"/><motor joint="two"/>', _NAMELESS),
    "unnamed, more": _scene(_MOTORS + '<motor joint="two"/>', _NAMELESS, _body(_HINGE, 3)),
    "filtered": _scene(_ONE),
    "filtered, box": _scene(_LAST + _ONE, _BOX),
    "three not filtered": _scene(_LAST + _NONE, _BOX),
    "three has two": _scene(_TWO + _LAST),
    "box has two": _scene(_LAST + _TWO + _MORE, _BOX),
    "bob, arm": _scene(_MOTORS, _BOB),
    "box, arm, bob": _scene(_MOTORS, _BOX, _BOB),
}


@functools.cache
def model_of(scene: str) -> mujoco.MjModel:
    """One of the scenes that a rebuild leads from or to."""
    return mujoco.MjModel.from_xml_string(_SCENES[scene])
