"""The lesson `env_conventions`: its figures, its card of conventions, its models and labs."""

from __future__ import annotations

import dataclasses
import time

import mujoco
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from scipy.spatial.transform import Rotation

from course.exercises import lesson
from course.exercises.env_conventions import carry_state, ft_reading, rigs, write_torque
from course.grading.door import LocalDoor
from course.grading.score import prepared, score
from course.paths import truth_path
from course.run import run_lesson
from mjcourse import load
from mjcourse.lab import arrow

LESSON = lesson("env_conventions")


@pytest.fixture(scope="module")
def run():
    """The instructor's notebook, run once; its functions stay at hand for the labs."""
    found = run_lesson("env_conventions")
    shell = InteractiveShell.instance()
    shell.history_manager.enabled = False
    shell.user_ns.update(found.names)
    yield found
    for name, thing in found.names.items():
        if name.startswith("lab_"):
            thing.close()
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def names(run):
    return run.names


@pytest.fixture
def env(names):
    """The arm with its gripper in an otherwise empty scene."""
    return names["Env"](
        [names["RobotSpec"]("arm")], names["SceneSpec"](attachments=(names["GRIPPER"],))
    )


def cycles(env, count):
    for _ in range(count):
        env.update()
        env.step()


# Figures ----------------------------------------------------------------------------------


def test_every_exercise_gets_full_points_from_the_notebooks_own_solutions(run):
    assert set(run.tests) == {exercise.id for exercise in LESSON.exercises}
    for exercise in LESSON.exercises:
        assert f"{exercise.points:g} of {exercise.points:g} points" in run.tests[exercise.id]


def test_the_logged_quaternion_means_45_degrees_and_half_a_turn_for_the_wrong_reader(names):
    values = names["lab_order"].values()
    assert np.round(values["(x, y, z, w)"], 2) == pytest.approx([0, 0, 0.38, 0.92])
    assert values["angle"] == pytest.approx(45, abs=1e-9)
    assert values["angle for the wrong reader"] == pytest.approx(180, abs=1e-9)


def test_the_attach_conflict_is_told_in_this_versions_words_and_names_both_options(names):
    warning = names["attach_conflict"].warning
    assert "Attach conflict when attaching 'gripper'" in warning
    assert "impratio: parent has 1 (default), child has 10, keeping parent value" in warning
    assert "cone: parent has 0 (default), child has 1, keeping parent value" in warning


def test_what_the_gripper_holds_creeps_unless_its_options_are_set_and_again_after_a_rebuild(names):
    speed = names["attach_conflict"].speed
    assert speed["as attached"] == pytest.approx(1.9, abs=0.3)
    assert speed["set in env.opt"] < 0.15
    assert speed["set, then an object added"] == pytest.approx(speed["as attached"], rel=0.05)


def test_a_frame_read_after_mj_step_is_one_step_old_and_after_the_split_step_is_not(names):
    plain, split = names["instants"]["mj_step"], names["instants"]["env_step"]
    assert 1.0 < plain[0] < 4.0
    assert split[0] < 1e-9
    assert split[1] == pytest.approx(plain[1], rel=1e-6)
    assert split[1] > 1e-3


def test_a_split_step_on_data_that_was_never_evaluated_goes_by_without_acceleration(names):
    assert names["instants"]["without mj_forward"] == 0.0
    assert names["instants"]["with mj_forward"] > 1.0


def test_a_push_lasts_until_it_is_cleared(names):
    assert names["push_persists"] == pytest.approx([1.0, 2.0, 2.0], abs=1e-9)


def test_a_rebuild_by_name_moves_nothing_by_index_throws_the_arm_and_a_reset_starts_anew(names):
    result = names["rebuild"]
    assert result["by name"]["time"] == pytest.approx(2.0)
    assert result["by name"]["jump"] < 1e-6
    assert result["by name"]["ctrl"] == pytest.approx(-2.9)
    assert result["by index"]["jump"] > 1.0
    assert result["reset"]["time"] == 0.0
    assert result["reset"]["jump"] == pytest.approx(0.6, abs=1e-6)


def test_misuse_of_a_port_or_a_slot_is_refused_in_words(names):
    assert set(names["misuse"]) == {"one_element", "too_short", "not_free"}
    assert "read-only" in names["misuse"]["one_element"]


# The card: each row against the code ------------------------------------------------------


def card_rows():
    """What the card at the end of the lesson has in its first column."""
    text = truth_path("env_conventions").read_text()
    card = text[text.index("One page to keep beside the keyboard") :]
    lines = [line[2:] for line in card.splitlines() if line.startswith("# |")]
    return [line.split("|")[1].strip() for line in lines[2:]]


CARD = {}


def row(name):
    """Decorator: the check of the row called `name`; it gets the lesson's names and an Env."""

    def register(check):
        CARD[name] = check
        return check

    return register


def test_every_row_of_the_card_has_a_check_and_every_check_a_row():
    assert card_rows() == list(CARD)


def test_each_row_of_the_card_is_what_the_code_does(names, env, subtests):
    for name, check in CARD.items():
        with subtests.test(row=name):
            env.reset()
            check(names, env)


@row("units")
def _(names, env):
    held = names["SceneObject"]("kilo", mass=1.0, pos=(0.6, 0.3, 0.5))
    env.add_object(held)
    before = env.data.joint("kilo").qpos[2]
    cycles(env, 100)  # 0.2 s of free fall: metres, seconds
    fallen = before - env.data.joint("kilo").qpos[2]
    assert fallen == pytest.approx(0.5 * 9.81 * 0.2**2, rel=0.02)
    assert env.model.joint("arm_joint_1").range[1] == pytest.approx(2.9)  # radians
    env.remove_object("kilo")


@row("set by eye")
def _(names, env):
    env.set_free_camera((0, 0, 0.5), 2.0, 90.0, -30.0)
    assert (env.view.azimuth, env.view.elevation) == (90.0, -30.0)
    seen = names["CameraSpec"]("eye", fovy=60.0)
    scene = names["SceneSpec"](cameras=(seen,))
    assert names["Env"]([names["RobotSpec"]("arm")], scene).model.camera("eye").fovy[0] == 60.0


@row("quaternion outside")
def _(names, env):
    assert names["IDENTITY"] == (0, 0, 0, 1)
    _, quat = env.body_frame("arm_base")
    assert quat == pytest.approx([0, 0, 0, 1])
    turned = Rotation.from_euler("xyz", [0.3, -0.4, 0.5]).as_quat()
    env.add_object(names["SceneObject"]("turned", quat=tuple(turned)))
    assert env.object_pose["turned"][1] == pytest.approx(turned)
    env.remove_object("turned")


@row("quaternion inside MuJoCo")
def _(names, env):
    _, quat = env.body_frame("arm_flange")
    assert np.roll(quat, 1) == pytest.approx(env.data.body("arm_flange").xquat)


@row("body, site, free-body pose")
def _(names, env):
    robot = names["RobotSpec"]("arm", pos=(0.5, 0.0, 0.0), quat=(0, 0, 1, 0))
    moved = names["Env"]([robot])
    here, there = env.body_frame("arm_flange")[0], moved.body_frame("arm_flange")[0]
    assert there == pytest.approx([0.5 - here[0], -here[1], here[2]])
    pos, quat = moved.site_frame("arm_tcp")
    assert pos == pytest.approx(moved.data.site("arm_tcp").xpos)
    axes = moved.data.site("arm_tcp").xmat.reshape(3, 3)
    assert Rotation.from_quat(quat).as_matrix() == pytest.approx(axes)
    moved.add_object(names["SceneObject"]("loose"))
    moved.set_body_pose("loose", (0.1, 0.2, 0.9), (0, 0, 0, 1))
    assert moved.data.body("loose").xpos == pytest.approx([0.1, 0.2, 0.9])


@row("floor height; arrows and traces in the picture")
def _(names, env):
    robot = names["RobotSpec"]("arm", pos=(0.0, 0.0, 0.2))
    low = names["Env"]([robot], names["SceneSpec"](floor_z=-0.3))
    assert low.data.geom("arm_floor").xpos[2] == pytest.approx(-0.3)
    assert low.data.body("arm_base").xpos[2] == pytest.approx(0.2)
    picture = mujoco.MjvScene(low.model, maxgeom=4)
    tip = low.data.site("arm_tcp").xpos
    arrow(picture, tip, tip + 0.1, 0.01, (1, 0, 0, 1))
    assert picture.geoms[0].pos == pytest.approx(tip, abs=1e-6)


@row("`pos`, `quat` of a spec")
def _(names, env):
    site = names["SiteSpec"]("probe", "arm_link_4", pos=(0.1, 0.0, 0.0))
    scene = names["SceneSpec"](sites=(site,))
    with_site = names["Env"]([names["RobotSpec"]("arm")], scene)
    assert with_site.model.site("probe").pos == pytest.approx([0.1, 0, 0])
    offset = with_site.data.site("probe").xpos - with_site.data.body("arm_link_4").xpos
    axis = with_site.data.body("arm_link_4").xmat.reshape(3, 3)[:, 0]
    assert offset == pytest.approx(0.1 * axis)


@row("results of a chain")
def _(names, env):
    robot = names["RobotSpec"]("arm", pos=(0.5, -0.2, 0.1), quat=(0, 0, 0.6, 0.8))
    moved = names["Env"]([robot])
    assert moved.tip_pose("arm")[0] == pytest.approx(env.tip_pose("arm")[0])
    assert moved.tcp_pose("arm")[1] == pytest.approx(env.tcp_pose("arm")[1])


@row("tip to TCP")
def _(names, env):
    base = names["body_pose_in"](env.model, env.data, "world", "arm_base")
    in_world = names["compose_pose"](base, env.tcp_pose("arm"))
    assert in_world[0] == pytest.approx(env.site_frame("arm_tcp")[0])
    env.tip_T_tcp["arm"] = ((0.0, 0.0, 0.0), names["IDENTITY"])
    assert env.tcp_pose("arm")[0] == pytest.approx(env.tip_pose("arm")[0])


@row("applied wrench")
def _(names, env):
    body = env.data.body("arm_link_5")
    point = body.xipos + np.array([0.0, 0.1, 0.0])
    env.push("arm_link_5", (3.0, 0.0, 0.0), point=point)
    env.update()
    assert body.xfrc_applied == pytest.approx([3, 0, 0, 0, 0, -0.3])


@row("force/torque reading")
def _(names, env):
    cycles(env, 300)
    beyond = [env.model.body(i) for i in range(env.model.nbody)]
    mass = sum(
        float(b.mass[0]) for b in beyond if b.name == "arm_flange" or b.name.startswith("gripper")
    )
    down = -(env.data.site("arm_ft").xmat.reshape(3, 3)[2])  # the world's down, sensor's axes
    load = env.ft_wrench("arm")
    assert load[:3] == pytest.approx(mass * 9.81 * down, abs=1e-3)
    assert load[:3] == pytest.approx(-env.data.sensor("arm_ft_force").data)
    turned = env.ft_wrench("arm", "arm_tcp")
    for half in (slice(0, 3), slice(3, 6)):  # turned, not moved
        assert np.linalg.norm(turned[half]) == pytest.approx(np.linalg.norm(load[half]))


@row("joint ports")
def _(names, env):
    robot = names["RobotSpec"]("arm", joints=tuple(f"joint_{i}" for i in range(7, 0, -1)))
    backwards = names["Env"]([dataclasses.replace(robot, home=robot.home[::-1])])
    assert backwards.jnt_pos_msr == pytest.approx(env.jnt_pos_msr[::-1])
    with pytest.raises(ValueError, match="read-only"):
        env.jnt_pos_msr[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        env.jnt_pos_cmd[0] = 1.0
    with pytest.raises(ValueError, match="takes 7 values"):
        env.jnt_pos_cmd = np.zeros(6)
    kept = env.jnt_pos_msr
    env.jnt_pos_cmd = env.jnt_pos_cmd + 0.1
    cycles(env, 50)
    assert kept == pytest.approx(env.robots[0].home)


@row("measured torque")
def _(names, env):
    for mode in names["MODES"]:
        env.reset()
        env.set_mode(mode)
        env.jnt_vel_cmd = np.full(7, 0.3)
        env.jnt_trq_cmd = np.full(7, 2.0)
        env.jnt_pos_cmd = env.jnt_pos_msr + 0.01
        cycles(env, 20)
        env.update()
        dofs = [env.model.joint(joint).dofadr[0] for joint in env.joints]
        assert env.jnt_trq_msr == pytest.approx(env.data.qfrc_actuator[dofs])
        assert np.abs(env.jnt_trq_msr).max() > 0.1
    env.set_mode("position")


@row("torque command")
def _(names, env):
    env.set_mode("torque")
    env.jnt_trq_cmd = [10.0, -10.0, 10.0, 10.0, 5.0, 5.0, 500.0]
    env.update()
    ctrl = [env.data.actuator(f"arm_joint_{i}_torque").ctrl[0] for i in range(1, 8)]
    assert ctrl == pytest.approx([0.2, -0.2, -0.25, 0.25, 0.25, -0.25, 3.0])
    assert env.jnt_saturated.tolist() == [False] * 6 + [True]
    mujoco.mj_forward(env.model, env.data)
    env.update()
    assert env.jnt_trq_msr == pytest.approx([10, -10, 10, 10, 5, 5, 30])
    env.set_mode("position")


@row("joint force limits")
def _(names, env):
    assert env.joint_force_limits == pytest.approx([180, 180, 110, 110, 60, 36, 30])
    env.set_mode("torque")
    limits = env.joint_force_limits
    for sign in (1, -1):
        env.jnt_trq_cmd = np.full(7, sign * 1e4)
        env.update()
        mujoco.mj_forward(env.model, env.data)
        env.update()
        assert np.all(sign * env.jnt_trq_msr >= limits - 1e-9)
    assert limits == pytest.approx([180, 180, 110, 110, 60, 36, 30])
    env.set_mode("position")


@row("scene actuator command")
def _(names, env):
    env.actuator_cmd["gripper_gripper"] = 0.6  # an angle in rad
    cycles(env, 500)
    assert env.data.joint("gripper_gripper_angle").qpos[0] == pytest.approx(0.6, abs=1e-3)
    assert not env.saturated["gripper_gripper"]
    env.actuator_cmd["gripper_gripper"] = 2.0
    env.update()
    assert env.saturated["gripper_gripper"]
    assert env.data.actuator("gripper_gripper").ctrl[0] == pytest.approx(0.82)
    env.actuator_cmd.clear()


@row("mode")
def _(names, env):
    env.jnt_pos_cmd = env.jnt_pos_msr + 0.4
    cycles(env, 400)
    for mode, disabled in (("torque", 0b011), ("velocity", 0b101), ("position", 0b110)):
        env.set_mode(mode)
        assert env.opt.disableactuator == disabled
        before = env.jnt_pos_msr
        cycles(env, 500)
        env.update()
        assert env.jnt_pos_msr == pytest.approx(before, abs=2e-3)


@row("options")
def _(names, env):
    assert env.opt.integrator == load("arm").opt.integrator
    assert load("gripper").opt.impratio == 10
    assert env.opt.impratio == 1
    assert any("impratio" in warning for warning in env.attach_warnings)
    scene = names["SceneSpec"](timestep=0.001, gravity_z=-1.62)
    moon = names["Env"]([names["RobotSpec"]("arm")], scene)
    assert moon.opt.timestep == 0.001
    assert moon.opt.gravity == pytest.approx([0, 0, -1.62])


@row("a changed `opt`")
def _(names, env):
    env.opt.impratio = 10.0
    env.reset()
    assert env.opt.impratio == 10.0
    env.add_object(names["SceneObject"]("pebble"))
    assert env.opt.impratio == 1.0
    env.remove_object("pebble")


@row("after a step")
def _(names, env):
    env.jnt_pos_cmd = env.jnt_pos_msr + 0.3
    cycles(env, 20)
    fresh = mujoco.MjData(env.model)
    fresh.qpos[:], fresh.qvel[:] = env.data.qpos, env.data.qvel
    fresh.ctrl[:] = env.data.ctrl
    mujoco.mj_forward(env.model, fresh)
    assert env.data.site("arm_tcp").xpos == pytest.approx(fresh.site("arm_tcp").xpos, abs=1e-12)
    assert env.data.sensor("arm_joint_2 vel").data == pytest.approx(
        fresh.sensor("arm_joint_2 vel").data, abs=1e-12
    )
    late = np.abs(env.data.sensor("arm_ft_force").data - fresh.sensor("arm_ft_force").data)
    assert late.max() > 1e-6


@row("integrator of the split step")
def _(names, env):
    ends = []
    for integrator in ("RK4", "EULER"):
        model = load("arm")
        model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
        data = mujoco.MjData(model)
        data.qvel[:] = 1.0
        mujoco.mj_forward(model, data)
        for _ in range(50):
            names["env_step"](model, data)
        ends.append(data.qpos.copy())
    assert np.array_equal(*ends)


@row("inputs")
def _(names, env):
    env.data.qfrc_applied[:] = 0.01
    env.data.body("arm_link_3").xfrc_applied[:] = 0.5  # somebody else's, a viewer's drag
    other = env.data.actuator("arm_joint_2_velocity")
    other.ctrl[:] = 0.123
    cycles(env, 10)
    assert np.all(env.data.qfrc_applied == 0.01)
    assert np.all(env.data.body("arm_link_3").xfrc_applied == 0.5)
    assert other.ctrl[0] == 0.123


@row("reset")
def _(names, env):
    env.push("arm_flange", (0, 5, 0))
    env.jnt_pos_cmd = env.jnt_pos_cmd + 0.3
    cycles(env, 200)
    wanted = np.array(env.robots[0].home) + 0.05

    def hook(env):
        assert env.data.time == 0.0
        env.jnt_pos_cmd = wanted

    env.reset(hook)
    assert env.jnt_pos_msr == pytest.approx(env.robots[0].home)
    assert env.jnt_pos_cmd == pytest.approx(wanted)  # what the hook commands is kept
    env.update()
    assert not env.data.xfrc_applied.any()
    env.reset()
    env.update()
    mujoco.mj_forward(env.model, env.data)
    assert env.data.qfrc_actuator == pytest.approx(np.zeros(env.model.nv), abs=1e-9)


@row("rebuild")
def _(names, env):
    env.jnt_pos_cmd = env.jnt_pos_msr + 0.3
    env.actuator_cmd["gripper_gripper"] = 0.5
    env.data.body("arm_link_3").xfrc_applied[:] = 0.5
    cycles(env, 30)
    ports = ("jnt_pos_msr", "jnt_vel_msr", "jnt_pos_cmd")
    now = env.data.time
    env._measure()
    before = {port: getattr(env, port) for port in ports}
    address = env.model.joint("arm_joint_1").qposadr[0]
    env.add_object(names["SceneObject"]("box"))
    assert env.model.joint("arm_joint_1").qposadr[0] == address + 7
    assert env.data.time == now
    for port in ports:
        assert getattr(env, port) == pytest.approx(before[port], abs=1e-12)
    assert env.data.actuator("gripper_gripper").ctrl[0] == 0.5
    assert not env.data.body("arm_link_3").xfrc_applied.any()
    env.remove_object("box")
    assert env.jnt_pos_msr == pytest.approx(before["jnt_pos_msr"], abs=1e-12)
    env.actuator_cmd.clear()


@row("pacing")
def _(names, env):
    began = time.perf_counter()
    cycles(env, 50)  # 0.1 simulated seconds
    env.pace_realtime()
    assert env.data.time == pytest.approx(0.1)
    assert time.perf_counter() - began >= 0.05


# The environment without any answer -------------------------------------------------------


def test_the_environment_works_on_stand_ins_while_nothing_is_written(names, run):
    shell = InteractiveShell.instance()
    provided = [name for e in LESSON.exercises for name in e.provides]
    kept = {name: shell.user_ns.pop(name) for name in provided}
    try:
        env = names["Env"](
            [names["RobotSpec"]("arm")], names["SceneSpec"](attachments=(names["GRIPPER"],))
        )
        cycles(env, 100)
        assert env.jnt_pos_msr == pytest.approx(env.robots[0].home, abs=1e-6)
        env.add_object(names["SceneObject"]("box"))
        assert env.data.time == 0.0  # without carry_state a rebuild starts anew
        assert "carry_state is not written yet" in names["stand_ins"]("carry_state")
    finally:
        shell.user_ns.update(kept)


# Models -----------------------------------------------------------------------------------


def test_the_arm_has_three_groups_of_actuators_with_gears_limits_and_a_wrist_sensor():
    model = load("arm")
    assert (model.nq, model.nv, model.nu) == (7, 7, 21)
    assert np.bincount(model.actuator_group).tolist() == [7, 7, 7]
    for group in range(3):
        gears = model.actuator_gear[model.actuator_group == group, 0]
        assert np.any(gears != 1)
        assert np.any(gears < 0)
    assert model.actuator_ctrllimited.all()
    assert model.actuator_forcelimited.any()
    assert model.jnt_actfrclimited.any()
    assert model.sensor("ft_force").dim[0] == model.sensor("ft_torque").dim[0] == 3
    assert model.sensor_objid[model.sensor("ft_force").id] == model.site("ft").id


def test_on_the_turntable_neither_first_entries_nor_model_order_is_the_chain():
    model = load("arm_turntable")
    chain = ["platter", "tilt", *(f"arm_joint_{i}" for i in range(1, 8))]
    addresses = [model.joint(name).qposadr[0] for name in chain]
    assert addresses != sorted(addresses)
    assert min(addresses) == 7


def test_the_gripper_closes_at_its_angle_and_asks_for_elliptic_cones():
    model = load("gripper")
    assert model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC
    assert model.opt.impratio == 10
    assert model.actuator("gripper").ctrlrange == pytest.approx([0, 0.82])
    data = mujoco.MjData(model)
    gap = {}
    for angle in (0.0, 0.82):
        data.ctrl[:] = angle
        mujoco.mj_step(model, data, 1500)
        pads = [data.geom(f"{side}_pad").xpos[0] for side in ("left", "right")]
        gap[angle] = pads[0] - pads[1] - 2 * 0.007
        upright = data.body("left_tip").xmat.reshape(3, 3)
        assert upright == pytest.approx(np.eye(3), abs=0.02)
    assert gap[0.0] > 0.1
    assert abs(gap[0.82]) < 0.004


@pytest.mark.parametrize("scene", ["arm", "gripper", "table_objects", "arm_turntable"])
def test_a_scene_comes_to_rest_and_stays_there(scene):
    model = load(scene)
    data = mujoco.MjData(model)
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_step(model, data, 2000)
    rest = data.qpos.copy()
    mujoco.mj_step(model, data, 1000)
    assert np.abs(data.qpos - rest).max() < 2e-3
    assert not any(warning.number for warning in data.warning)


# Exercises: references against MuJoCo on something else -----------------------------------


def reference(id):
    return LESSON.exercise(id).reference_names()


def test_the_points_are_those_of_the_spec():
    points = {exercise.id: exercise.points for exercise in LESSON.exercises}
    assert points == {
        "quaternion_order": 3,
        "compose_pose": 3,
        "relative_pose": 3,
        "read_ports": 4,
        "write_torque": 4,
        "torque_limits": 3,
        "control_mode": 3,
        "wrench": 4,
        "ft_reading": 4,
        "env_step": 2,
        "owned_inputs": 2,
        "carry_state": 5,
        "knowledge_check": 5,
    }


def test_the_reference_wrench_does_to_the_joints_what_the_force_at_the_point_does():
    model, rng = rigs.arm(), np.random.default_rng(0)
    data = rigs.moving(1)
    for name in ("tool", "elbow", "parcel"):
        i = model.body(name).id
        force, torque, point = rng.normal(size=(3, 3))
        wrench = reference("wrench")["wrench_at_com"](model, data, name, force, torque, point)
        wanted, got = np.zeros(model.nv), np.zeros(model.nv)
        mujoco.mj_applyFT(model, data, force, torque, point, i, wanted)
        mujoco.mj_applyFT(model, data, wrench[:3], wrench[3:], data.xipos[i], i, got)
        assert got == pytest.approx(wanted, abs=1e-12)


def test_the_reference_reads_a_hanging_weight_as_a_load_downwards():
    model, data = ft_reading.hanging(0.7)
    load_on_sensor = reference("ft_reading")["ft_wrench"](model, data, "f", "t", "level")
    # 2 kg at (0.1, 0, -0.05) from the sensor's origin, gravity 10: moment r x F.
    moment = np.cross([0.1, 0, -0.05], [0, 0, -20])
    assert load_on_sensor == pytest.approx([0, 0, -20, *moment], abs=1e-9)


def test_the_reference_pose_composition_is_that_of_homogeneous_matrices():
    rng = np.random.default_rng(2)
    poses = [(rng.normal(size=3), Rotation.random(rng=rng).as_quat()) for _ in range(2)]
    matrices = []
    for pos, quat in poses:
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = Rotation.from_quat(quat).as_matrix(), pos
        matrices.append(matrix)
    product = matrices[0] @ matrices[1]
    pos, quat = reference("compose_pose")["compose_pose"](*poses)
    assert pos == pytest.approx(product[:3, 3])
    assert Rotation.from_quat(quat).as_matrix() == pytest.approx(product[:3, :3])


def test_the_reference_torque_reaches_the_joint_when_the_model_is_stepped():
    model = write_torque.rig()
    write = reference("write_torque")["write_torque"]
    for actuator, joint, torque, reached, clamped in (
        ("geared", "c", 7.0, 7.0, False),
        ("geared", "c", 40.0, 12.0, True),
        ("reversed", "a", 2.5, 2.5, False),
        ("reversed", "a", -9.0, -8.0, True),
        ("weak", "b", 10.0, 4.0, False),
    ):
        data = mujoco.MjData(model)
        assert write(model, data, actuator, torque) is clamped
        mujoco.mj_step(model, data)
        assert data.joint(joint).qfrc_actuator[0] == pytest.approx(reached)


def test_carrying_there_and_back_again_loses_nothing_of_the_arm():
    carry = reference("carry_state")["carry_state"]
    small, large = carry_state.model_of("arm"), carry_state.model_of("lid, box, arm")
    start = carry_state.old_data(3, small)
    middle, end = mujoco.MjData(large), mujoco.MjData(small)
    carry(small, start, large, middle)
    carry(large, middle, small, end)
    for field in ("time", "qpos", "qvel", "ctrl"):
        assert np.array_equal(getattr(end, field), getattr(start, field))


def test_an_unknown_joint_must_be_named_in_the_error():
    exercise = LESSON.exercise("read_ports")
    nameless = next(m for m in exercise.misconceptions if m.id == "refuses_without_the_name")
    result = score(prepared("env_conventions", exercise.id), LocalDoor(nameless.namespace()))
    assert (result.points, result.misconceptions) == (3, ["refuses_without_the_name"])


@pytest.mark.parametrize("exercise", LESSON.exercises, ids=lambda e: e.id)
def test_results_that_cost_no_thought_earn_nothing(exercise):
    ready = prepared("env_conventions", exercise.id)
    for value in (None, np.zeros(6), True):
        answers = {name: (lambda *_, value=value: value) for name in exercise.provides}
        if exercise.id == "knowledge_check":
            answers = dict.fromkeys(exercise.provides, value)
        assert score(ready, LocalDoor(answers)).points == 0


# Labs -------------------------------------------------------------------------------------


def test_the_ghost_of_the_wrong_reader_is_drawn_and_the_pose_follows_the_sliders(names):
    lab = names["lab_order"]
    first = lab.picture()
    lab.set("flange", 120)
    assert lab.values()["angle"] == pytest.approx(120, abs=1e-9)
    assert np.abs(lab.picture().astype(int) - first).max() > 50
    lab.set("flange", 45)


def test_the_two_readers_agree_in_one_pose_where_all_four_numbers_are_equal(names):
    lab = names["lab_order"]
    lab.set("wrist", 90)
    lab.set("flange", 90)
    values = lab.values()
    assert values["(x, y, z, w)"] == pytest.approx([0.5, 0.5, 0.5, 0.5])
    assert values["angle"] == pytest.approx(120)
    assert values["angle for the wrong reader"] == pytest.approx(120)
    lab.set("wrist", 0)
    lab.set("flange", 45)


def test_the_ports_follow_commands_in_every_mode_and_a_push_stays_until_cleared(names):
    lab = names["lab_ports"]
    lab.reset()
    lab.set("joint 4", 0.4)
    lab.advance(2.0)
    joint, commanded, measured, limit = lab.rows()["ports"][3]
    assert commanded == pytest.approx(-1.35)
    assert measured == pytest.approx(-1.35, abs=5e-3)
    assert (joint, limit) == (4, "")
    lab.set("push along y", 20)
    lab.advance(1.0)
    assert abs(lab.values()["force, sensor's axes"]).max() > 10
    lab.act("Clear the push")
    lab.advance(1.0)
    assert np.linalg.norm(lab.values()["force, TCP's axes"]) == pytest.approx(2.81, abs=0.05)
    lab.set("mode", "velocity")
    lab.set("joint 1", 1.0)
    lab.advance(0.3)
    assert lab.rows()["ports"][0][3] == "clamped"
    lab.set("mode", "torque")
    lab.set("joint 2", -0.5)
    lab.advance(0.1)
    assert lab.rows()["ports"][1][2] == pytest.approx(-6.0)
    lab.reset()


def test_boxes_move_the_addresses_and_not_the_arm_unless_the_state_is_carried_by_index(names):
    lab = names["lab_rebuild"]
    lab.reset()
    lab.set("carry over by name", True)
    lab.advance(0.5)
    before = lab.time
    lab.act("Add a box")
    assert lab.time >= before
    assert lab.values()["largest joint error"] < 1e-6
    name, was, now = lab.rows()["address in qpos"][0]
    assert (name, now - was) == ("arm_joint_1", 7)
    lab.act("Remove a box")
    assert lab.values()["boxes"] == 0
    lab.set("carry over by name", False)
    lab.act("Add a box")
    assert lab.values()["largest joint error"] > 0.5
    lab.set("carry over by name", True)
    lab.reset()
    assert lab.values()["boxes"] == 1  # a reset moves the objects back; it removes none
    assert lab.time < 0.5
