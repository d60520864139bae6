"""`servo_force`: a position servo with its two clamps."""

import mujoco
import numpy as np

from course.exercises.exercise import Exercise, call
from course.exercises.pipeline.scenes import number, variants

exercise = Exercise("servo_force", points=3, provides=("position_servo_force",))

_SLIDER = """
<mujoco>
  <worldbody><body><joint name="j" type="slide"/><geom size="0.1" mass="1"/></body></worldbody>
  <actuator><position name="servo" joint="j" kp="1"/></actuator>
</mujoco>
"""


@exercise.reference
def reference():
    def position_servo_force(ctrl, length, velocity, kp, kd, ctrlrange, forcerange):
        model = mujoco.MjModel.from_xml_string(_SLIDER)
        model.actuator_gainprm[0, 0] = kp
        model.actuator_biasprm[0, :3] = (0, -kp, -kd)
        for name, limits in (("ctrl", ctrlrange), ("force", forcerange)):
            getattr(model, f"actuator_{name}limited")[0] = limits is not None
            getattr(model, f"actuator_{name}range")[0] = (0, 0) if limits is None else limits
        data = mujoco.MjData(model)
        data.ctrl[0], data.qpos[0], data.qvel[0] = ctrl, length, velocity
        mujoco.mj_forward(model, data)
        return float(data.actuator_force[0])

    return {"position_servo_force": position_servo_force}


def _case(*args, label=""):
    return call(
        "position_servo_force", *args, label=label, observe=lambda outcome: number(outcome.value)
    )


def _servo(rng):
    """Position, velocity and gains at random; the control is a metre or so away."""
    ctrl, length, velocity = rng.uniform(-1.5, 1.5, 3)
    return [float(x) for x in (ctrl, length, velocity, rng.uniform(5, 80), rng.uniform(0.5, 9))]


WIDE = (-1e3, 1e3)


@exercise.part("the force of the servo", points=1)
def ordinary():
    rng = np.random.default_rng(1)
    cases = [_case(*_servo(rng), None, None, label="no ranges") for _ in range(12)]
    cases += [_case(*_servo(rng), WIDE, WIDE, label="ranges not reached") for _ in range(6)]
    cases += [_case(*_servo(rng), None, WIDE, label="no control range") for _ in range(3)]
    cases += [_case(*_servo(rng), WIDE, None, label="no force range") for _ in range(3)]
    cases.append(_case(0.4, 0.4, 0.0, 20.0, 3.0, None, None, label="at rest at its goal"))
    return cases


@exercise.part("each clamp alone", points=1)
def one_clamp():
    rng = np.random.default_rng(2)
    cases = [_case(*_servo(rng), None, None) for _ in range(3)]
    for _ in range(6):
        _, length, *rest = _servo(rng)
        # Beyond the ranges of the control: who clamps the length is then seen to.
        rest = [length + float(np.copysign(0.9, length)), *rest]
        cases.append(_case(2.3, *rest, (-0.6, 0.9), None, label="control above its range"))
        cases.append(_case(-2.1, *rest, (-0.6, 0.9), None, label="control below its range"))
        cases.append(_case(0.2, *rest, (0.5, 1.5), None, label="a range that leaves out 0"))
    for _ in range(8):
        length, velocity = rng.uniform(-0.4, 0.4, 2)
        push = (1.4, float(length), float(velocity), 60.0, 6.0)
        cases.append(_case(*push, None, (-4.0, 7.0), label="force above its range"))
        pull = (-1.4, float(length), float(velocity), 60.0, 6.0)
        cases.append(_case(*pull, None, (-4.0, 7.0), label="force below its range"))
    cases.append(_case(0.1, 0.1, 3.0, 10.0, 5.0, None, (-4.0, 7.0), label="damping alone clamped"))
    return cases


@exercise.part("both clamps, and where they meet", points=1)
def both_clamps():
    rng = np.random.default_rng(3)
    cases = [_case(*_servo(rng), None, None) for _ in range(3)]
    for _ in range(10):
        _, length, velocity, kp, kd = _servo(rng)
        ctrl = float(rng.choice([-2.5, 2.5]))
        args = (ctrl, length, velocity, kp, kd, (-0.8, 0.5), (-9.0, 12.0))
        cases.append(_case(*args, label="both ranges"))
    both = (2.0, 0.0, 0.0, 30.0, 2.0, (-1.0, 0.3), (-5.0, 5.0))
    cases.append(_case(*both, label="the clamped control needs more than the force allows"))
    brought = (2.0, 0.3, 1.0, 30.0, 2.0, (-1.0, 0.35), (-5.0, 5.0))
    cases.append(_case(*brought, label="the clamped control brings the force into its range"))
    return cases


GOOD = """\
def position_servo_force(ctrl, length, velocity, kp, kd, ctrlrange, forcerange):
    if ctrlrange is not None:
        ctrl = np.clip(ctrl, *ctrlrange)
    force = kp * (ctrl - length) - kd * velocity
    if forcerange is not None:
        force = np.clip(force, *forcerange)
    return float(force)
"""
_CTRL = "    if ctrlrange is not None:\n        ctrl = np.clip(ctrl, *ctrlrange)\n"
_FORCE = "    if forcerange is not None:\n        force = np.clip(force, *forcerange)\n"

_wrong = exercise.slips(GOOD)
_wrong(
    "clamps_only_force",
    "You clamp the force but not the control: first `ctrl` is clamped to its range, then the "
    "force.",
    (_CTRL, ""),
)
_wrong(
    "clamps_only_control",
    "You clamp the control but not the force: the result is clamped to `forcerange` too.",
    (_FORCE, ""),
)
_wrong("clamps_nothing", "Neither range is applied.", (_CTRL, ""), (_FORCE, ""))
_wrong(
    "clamps_error",
    "You clamp the error `ctrl - length`; `ctrlrange` is a range of the control itself.",
    (_CTRL, ""),
    (
        "force = kp * (ctrl - length) - kd * velocity",
        "error = ctrl - length\n"
        "    if ctrlrange is not None:\n"
        "        error = np.clip(error, *ctrlrange)\n"
        "    force = kp * error - kd * velocity",
    ),
)
_DAMPING_SIGN = (
    "damping_sign",
    "Your damping pushes along with the motion; it must oppose it: `- kd * velocity`.",
)
_wrong(*_DAMPING_SIGN, ("- kd", "+ kd"))
_wrong(
    "error_sign",
    "Your servo pushes away from its goal: the error is `ctrl - length`.",
    ("(ctrl - length)", "(length - ctrl)"),
)
_wrong("no_damping", "The damping term `- kd * velocity` is missing.", (" - kd * velocity", ""))
_wrong(
    "damping_times_kp",
    "`kp` multiplies the error only, not the damping.",
    ("kp * (ctrl - length) - kd * velocity", "kp * (ctrl - length - kd * velocity)"),
)
_wrong(
    "damping_on_error_rate",
    "The damping acts on the velocity, not on the position: `- kd * velocity`.",
    ("- kd * velocity", "- kd * length"),
)
_wrong(
    "damping_after_clamp",
    "You clamp the spring's part and add the damping afterwards; the whole force is clamped.",
    (" - kd * velocity", ""),
    ("return float(force)", "return float(force - kd * velocity)"),
)
_wrong(
    "clamps_in_wrong_order",
    "You clamp with the ranges exchanged: `ctrlrange` belongs to the control, `forcerange` to the "
    "force.",
    ("*ctrlrange", "*CTRL"),
    ("*forcerange", "*ctrlrange"),
    ("*CTRL", "*forcerange"),
    ("if ctrlrange", "if IFCTRL"),
    ("if forcerange", "if ctrlrange"),
    ("if IFCTRL", "if forcerange"),
)
_wrong(
    "symmetric_range",
    "You use the upper bound for both sides; the two ends of a range may differ.",
    ("*ctrlrange", "-ctrlrange[1], ctrlrange[1]"),
    ("*forcerange", "-forcerange[1], forcerange[1]"),
)
_wrong(
    "upper_bound_only",
    "You clamp from above only; a range has two ends.",
    ("np.clip(ctrl, *ctrlrange)", "min(ctrl, ctrlrange[1])"),
    ("np.clip(force, *forcerange)", "min(force, forcerange[1])"),
)
_wrong(
    "none_not_handled",
    "A range may be `None`: then there is no clamp.",
    ("if ctrlrange is not None", "if True"),
    ("if forcerange is not None", "if True"),
)
_wrong(
    "no_position_feedback",
    "`kp * ctrl` is a motor: the servo's force is proportional to `ctrl - length`.",
    ("(ctrl - length)", "ctrl"),
)

_wrong(
    "velocity_error",
    "You damp the difference of control and velocity; the control is a position here: "
    "`- kd * velocity`.",
    ("- kd * velocity", "+ kd * (ctrl - velocity)"),
)
_wrong(
    "clamps_length",
    "You clamp the length; `ctrlrange` is a range of the control, and the length is what it is.",
    ("ctrl = np.clip(ctrl, *ctrlrange)", "length = np.clip(length, *ctrlrange)"),
)
_wrong(*_DAMPING_SIGN, ("- kd", "+ kd"), (_CTRL, ""), (_FORCE, ""))
_wrong(*_DAMPING_SIGN, ("- kd", "+ kd"), (_CTRL, ""))
_wrong(
    "force_clamped_by_control_range",
    "You clamp the force to `ctrlrange`; it has a range of its own.",
    (_CTRL, ""),
    ("forcerange is not None", "ctrlrange is not None"),
    ("*forcerange", "*ctrlrange"),
)

_wrong(
    "clamps_length",
    "You clamp the length too; only the control is limited by `ctrlrange`.",
    (_CTRL, _CTRL + "        length = np.clip(length, *ctrlrange)\n"),
)
_wrong(
    "damps_towards_control",
    "The damping is -kd times the velocity; yours compares the velocity with the control.",
    ("- kd * velocity", "- kd * (ctrl - velocity)"),
)
_wrong(
    "gains_exchanged",
    "The gains are exchanged: kp multiplies the position error, kd the velocity.",
    ("kp * (ctrl - length) - kd * velocity", "kd * (ctrl - length) - kp * velocity"),
)

_right = variants(exercise)
_right(
    "by_min_max",
    """\
def clamp(x, limits):
    return x if limits is None else max(limits[0], min(x, limits[1]))

def position_servo_force(ctrl, length, velocity, kp, kd, ctrlrange, forcerange):
    return clamp(kp * clamp(ctrl, ctrlrange) - kp * length - kd * velocity, forcerange)
""",
)
_right(
    "by_mujoco",
    '''\
def position_servo_force(ctrl, length, velocity, kp, kd, ctrlrange=None, forcerange=None):
    limits = ""
    if ctrlrange is not None:
        limits += f' ctrllimited="true" ctrlrange="{ctrlrange[0]!r} {ctrlrange[1]!r}"'
    if forcerange is not None:
        limits += f' forcelimited="true" forcerange="{forcerange[0]!r} {forcerange[1]!r}"'
    model = mujoco.MjModel.from_xml_string(f"""
    <mujoco><worldbody><body><joint name="j" type="slide"/><geom size="1" mass="1"/></body>
    </worldbody><actuator><position joint="j" kp="{kp!r}" kv="{kd!r}"{limits}/></actuator></mujoco>
    """)
    data = mujoco.MjData(model)
    data.ctrl, data.qpos, data.qvel = ctrl, length, velocity
    mujoco.mj_forward(model, data)
    return data.actuator_force[0]
''',
)
_right(
    "with_infinite_ranges",
    """\
def position_servo_force(ctrl, length, velocity, kp, kd, ctrlrange, forcerange):
    lo, hi = (-np.inf, np.inf) if ctrlrange is None else ctrlrange
    flo, fhi = (-np.inf, np.inf) if forcerange is None else forcerange
    u = np.minimum(np.maximum(ctrl, lo), hi)
    gains = np.array([kp, -kp, -kd])
    return np.clip(gains @ np.array([u, length, velocity]), flo, fhi)
""",
)
