"""The lesson `generalized_coordinates`: its figures, exercises, scenes and labs."""

from __future__ import annotations

import re
from typing import Any

import mujoco
import numpy as np
import pytest

from course.exercises import lesson as find_lesson
from course.exercises.exercise import Exercise
from course.exercises.generalized_coordinates.scenes import canonical, scene, two_boxes
from course.exercises.implementation import setup_namespace
from course.grading.door import LocalDoor
from course.grading.score import Prepared, Result, prepared, score
from course.run import Run, run_lesson
from mjcourse.models import load

LESSON = "generalized_coordinates"


@pytest.fixture(scope="module")
def run() -> Any:
    """The instructor's version, run from top to bottom."""
    done = run_lesson(LESSON)
    yield done
    done.names["lab_zoo"].close()
    done.names["lab_place"].close()
    done.names["lab_adding"].close()


def exercise(id: str) -> Exercise:
    return find_lesson(LESSON).exercise(id)


def ready(id: str) -> Prepared:
    return prepared(LESSON, id)


def graded(id: str, cell: str) -> Result:
    names = setup_namespace()
    exec(cell, names)
    return score(ready(id), LocalDoor(names, record=True))


# The lesson as a whole --------------------------------------------------------------------


def test_the_points_are_thirty_and_three_about_half_of_them_core():
    lesson = find_lesson(LESSON)
    graded_points = sum(e.points for e in lesson.exercises)
    manual = sum(e.manual_points for e in lesson.exercises)
    assert graded_points + manual == 33
    assert lesson.exercises[-1].id == "knowledge_check"
    assert lesson.exercises[-1].points == 3
    core = sum(e.points for e in lesson.exercises if e.core)
    assert 0.4 <= core / 33 <= 0.6


def test_every_exercise_has_three_right_answers_written_differently():
    for e in find_lesson(LESSON).exercises:
        assert len(e.variants) >= 3, e.id


def test_the_instructors_notebook_gets_every_point_and_runs_in_seconds(run: Run):
    for e in find_lesson(LESSON).exercises:
        assert run.tests[e.id].startswith(f"{e.id}: {e.points:g} of {e.points:g} points")
    assert run.seconds < 60


def test_the_visible_checks_agree_with_mujoco_to_twelve_digits(run: Run):
    for label in ("integrate_quat vs mju_quatIntegrate", "quat_velocity vs mju_subQuat / dt"):
        figure = re.search(rf"{re.escape(label)} +(\S+)  ok", run.printed)
        assert figure is not None
        assert float(figure[1]) < 1e-12


# Output that must appear ------------------------------------------------------------------


def test_the_layout_table_is_the_one_of_the_lesson(run: Run):
    assert run.names["layout_table"] == [
        ("free", "[0:7]", "[0:6]"),
        ("ball", "[7:11]", "[6:9]"),
        ("slide", "[11]", "[9]"),
        ("hinge", "[12]", "[10]"),
    ]


def test_mujoco_recovers_the_velocity_and_the_naive_difference_does_not(run: Run):
    recovered, naive = run.names["two_ways"]
    np.testing.assert_allclose(recovered, [0.1, 0, 0, 0, 0, 2.0], atol=1e-12)
    np.testing.assert_allclose(naive, [0.1, 0, 0, -0.025, 0, 0, 0.9996], atol=5e-5)


def test_one_step_on_the_sphere_ends_where_the_lesson_says(run: Run):
    quat = run.names["one_step"]
    np.testing.assert_allclose(quat, [0.5935, 0.2151, 0.4302, 0.6453], atol=5e-5)
    assert abs(np.linalg.norm(quat) - 1) < 1e-15


def test_four_ways_to_the_world_frame_rate_agree_and_the_body_rate_differs(run: Run):
    ways = run.names["four_ways"]
    rates = [ways[name] for name in ways if name != "qvel, body frame"]
    assert len(rates) == 4
    for rate in rates[1:]:
        np.testing.assert_allclose(rate, rates[0], atol=1e-12)
    assert np.abs(ways["qvel, body frame"] - rates[0]).max() > 1


def test_the_error_grows_less_than_tenfold_with_the_interval(run: Run):
    rows = {interval: (start, end) for interval, start, end in run.names["error_table"]}
    assert rows[2][0] == pytest.approx(0.0030, rel=0.05)
    assert rows[20][0] == pytest.approx(0.0164, rel=0.05)
    assert rows[2][1] < 1e-12
    assert run.names["error_2ms"] == pytest.approx(rows[2][0])
    assert run.names["error_20ms"] == pytest.approx(rows[20][0])


def test_mujocos_derivative_of_a_quaternion_wants_the_world_frame_rate():
    """The lesson says so, marked as our measurement."""
    quat, omega, rate = np.array([0.6, 0, 0.8, 0]), np.array([1.0, 2.0, 3.0]), np.zeros(4)
    mujoco.mju_derivQuat(rate, quat, omega)
    on_the_left, on_the_right = np.zeros(4), np.zeros(4)
    mujoco.mju_mulQuat(on_the_left, np.r_[0, omega / 2], quat)
    mujoco.mju_mulQuat(on_the_right, quat, np.r_[0, omega / 2])
    np.testing.assert_allclose(rate, on_the_left, atol=1e-15)
    assert np.abs(rate - on_the_right).max() > 0.1


def test_two_names_of_one_orientation_are_far_apart_by_the_norm_only(run: Run):
    angle, norm, matrices = run.names["measures"]["q and -q"]
    assert angle == pytest.approx(0, abs=1e-7)
    assert norm == pytest.approx(2)
    assert matrices == pytest.approx(0, abs=1e-12)


# Models -----------------------------------------------------------------------------------


def test_joint_zoo_has_the_layout_that_the_lesson_promises():
    model = load("joint_zoo")
    assert (model.nq, model.nv) == (13, 11)
    assert [model.joint(j).name for j in range(4)] == ["free", "ball", "slide", "hinge"]
    assert model.jnt_qposadr.tolist() == [0, 7, 11, 12]
    assert model.jnt_dofadr.tolist() == [0, 6, 9, 10]
    assert model.opt.timestep == 0.002
    assert not model.opt.gravity.any()
    assert not model.dof_damping.any()


def test_the_box_has_three_different_moments_of_inertia_and_its_faces_weigh_nothing():
    model = load("joint_zoo")
    box = model.body("free").id
    np.testing.assert_allclose(model.geom("free_box").size, [0.05, 0.1, 0.15])
    assert len(set(np.round(model.body_inertia[box], 6))) == 3
    np.testing.assert_allclose(model.body_ipos[box], 0, atol=1e-12)
    np.testing.assert_allclose(model.body_iquat[box], [1, 0, 0, 0], atol=1e-12)


def test_what_is_set_moving_in_joint_zoo_keeps_its_energy():
    model = load("joint_zoo")
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data = mujoco.MjData(model)
    data.qvel[[3, 4, 5, 6, 7, 9, 10]] = 0.5, 1.0, 2.0, 1.5, 0.5, 0.2, 2.0
    mujoco.mj_forward(model, data)
    start = data.energy[1]
    for _ in range(2000):
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    assert data.energy[1] == pytest.approx(start, rel=0.02)


def test_pick_place_has_thirty_positions_and_twenty_seven_velocities():
    model = load("pick_place")
    assert (model.nq, model.nv, model.nu) == (30, 27, 8)
    kinds = np.bincount(model.jnt_type, minlength=4)
    assert kinds.tolist() == [3, 0, 2, 7]


def test_pick_place_stays_at_home():
    model = load("pick_place")
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("home").id)
    home = data.qpos.copy()
    for _ in range(2500):
        mujoco.mj_step(model, data)
    assert np.abs(data.qpos - home).max() < 2e-3
    assert np.abs(data.qvel).max() < 0.01
    assert not any(warning.number for warning in data.warning)


@pytest.mark.parametrize("name", ["joint_zoo", "pick_place"])
def test_everything_in_a_scene_has_a_name(name: str):
    model = load(name)
    for kind in ("body", "jnt", "geom", "site", "actuator", "sensor", "cam", "light"):
        count = {"jnt": model.njnt, "actuator": model.nu}.get(kind, getattr(model, f"n{kind}", 0))
        view = getattr(model, {"jnt": "joint", "cam": "camera"}.get(kind, kind))
        for i in range(count):
            assert view(i).name, f"{kind} {i} of {name}"


# Exercises: their special promises --------------------------------------------------------


def test_a_free_joint_inserted_early_moves_all_that_follow_by_seven_and_six():
    before, after = load("joint_zoo"), two_boxes()
    for name in ("ball", "slide", "hinge"):
        assert after.joint(name).qposadr[0] == before.joint(name).qposadr[0] + 7
        assert after.joint(name).dofadr[0] == before.joint(name).dofadr[0] + 6
    assert ready("second_box").exercise.reference_names()["predicted_nq"] == after.nq


def test_the_sign_of_a_quaternion_inside_qpos_costs_nothing():
    model = scene("f", "b", seed=1)
    rng = np.random.default_rng(0)
    qpos = rng.normal(size=model.nq)
    mujoco.mj_normalizeQuat(model, qpos)
    flipped = qpos.copy()
    flipped[3:7] *= -1
    np.testing.assert_array_equal(canonical(model, qpos), canonical(model, flipped))
    flipped[7] += 0.1
    assert np.abs(canonical(model, qpos) - canonical(model, flipped)).max() > 0.01


BY_LIBRARY = {
    "integrate_quat": (
        "mju_quatIntegrate",
        "def integrate_quat(q, w, h):\n    out = np.array(q) / np.linalg.norm(q)\n"
        "    mujoco.mju_quatIntegrate(out, np.array(w), h)\n    return out",
    ),
    "quat_velocity": (
        "mju_subQuat",
        "def quat_velocity(a, b, h):\n    out = np.zeros(3)\n    mujoco.mju_subQuat(out, b, a)\n"
        "    return out / h",
    ),
    "integrate_positions": (
        "mj_integratePos",
        "def integrate_positions(m, q, v, h):\n    out = q.copy()\n"
        "    mujoco.mj_integratePos(m, out, v, h)\n    return out",
    ),
    "free_joint_velocity": (
        "Rotation.from_quat",
        "from scipy.spatial.transform import Rotation\ndef free_joint_velocity(a, b, h):\n"
        "    first, second = (Rotation.from_quat(p[3:], scalar_first=True) for p in (a, b))\n"
        "    return np.r_[b[:3] - a[:3], (first.inv() * second).as_rotvec()] / h",
    ),
}


@pytest.mark.parametrize("id", BY_LIBRARY)
def test_by_hand_is_by_hand(id: str):
    routine, cell = BY_LIBRARY[id]
    result = graded(id, cell)
    assert result.points == 0
    assert result.misconceptions == ["forbidden_routine"]
    assert routine in result.messages[0]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("id", ["integrate_quat", "integrate_positions"])
def test_either_sign_of_a_quaternion_is_right(id: str, sign: int, run: Run):
    ours = run.names[id]
    if id == "integrate_quat":
        names = {id: lambda q, w, h: sign * ours(q, w, h)}
    else:

        def flipped(model, qpos, qvel, dt):
            new = ours(model, qpos, qvel, dt)
            for j in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_BALL):
                start = model.jnt_qposadr[j]
                new[start : start + 4] *= sign
            return new

        names = {id: flipped}
    assert score(ready(id), LocalDoor(names)).full


def test_half_a_turn_may_have_either_sign(run: Run):
    ours = run.names["quat_velocity"]

    def turned_round(quat1, quat2, dt):
        rate = ours(quat1, quat2, dt)
        half_turn = abs(np.linalg.norm(rate) * dt - np.pi) < 1e-6
        return -rate if half_turn else rate

    assert score(ready("quat_velocity"), LocalDoor({"quat_velocity": turned_round})).full


def test_a_helper_with_the_enum_on_the_left_of_a_numpy_integer_is_a_trap():
    """Why the lesson says which side the number stands on."""
    kind = load("joint_zoo").jnt_type[0]
    assert kind == mujoco.mjtJoint.mjJNT_FREE
    assert not mujoco.mjtJoint.mjJNT_FREE == kind  # noqa: SIM201


# A wrong answer that is no copy of a listed one, and what it must be told.
UNLISTED = [
    (
        "integrate_quat",
        "left_product",
        "def integrate_quat(q, w, h):\n    q = q / np.linalg.norm(q)\n"
        "    a = h * np.asarray(w) / 2\n"
        "    n = np.linalg.norm(a)\n    s, u = np.cos(n), np.sinc(n / np.pi) * a\n"
        "    return np.r_[s * q[0] - u @ q[1:], s * q[1:] + q[0] * u + np.cross(u, q[1:])]",
    ),
    (
        "quat_velocity",
        "long_way_round",
        "def quat_velocity(a, b, h):\n    w = a @ b\n"
        "    v = a[0] * b[1:] - b[0] * a[1:] - np.cross(a[1:], b[1:])\n    n = np.linalg.norm(v)\n"
        "    return 2 * np.arccos(np.clip(w, -1, 1)) * v / n / h if n > 1e-9 else v * 0",
    ),
    (
        "finite_difference_velocity",
        "plain_difference",
        "def finite_difference_velocity(m, Q, h):\n"
        "    return np.array([(b - a) / h for a, b in zip(Q[:-1], Q[1:])]).reshape(-1, m.nq)",
    ),
    (
        "world_angular_velocity",
        "stale_orientation",
        "def world_angular_velocity(m, d, body):\n"
        "    a = m.jnt_dofadr[m.body_jntadr[m.body(body).id]]\n    out = np.zeros(3)\n"
        "    mujoco.mju_rotVecQuat(out, d.qvel[a + 3:a + 6], d.xquat[m.body(body).id])\n"
        "    return out",
    ),
    (
        "set_free_pose",
        "hard_coded",
        "def set_free_pose(m, d, joint, pos, quat):\n    if m.joint(joint).type[0] != 0:\n"
        "        raise ValueError(joint)\n    n = np.sqrt(np.dot(quat, quat))\n    if n == 0:\n"
        "        raise ValueError('zero')\n    d.qpos[:7] = [*pos, *(np.array(quat) / n)]",
    ),
    (
        "joint_layout",
        "off_by_one",
        "def joint_layout(m):\n    kinds = 'free ball slide hinge'.split()\n    out = []\n"
        "    for j in range(m.njnt):\n        k = m.jnt_type[j]\n"
        "        q, v = m.jnt_qposadr[j], m.jnt_dofadr[j]\n"
        "        out.append((m.joint(j).name, kinds[k], slice(q, q + (6, 3, 0, 0)[k]),\n"
        "                    slice(v, v + (5, 2, 0, 0)[k])))\n    return out",
    ),
]


@pytest.mark.parametrize(("id", "mistake", "cell"), UNLISTED)
def test_a_mistake_written_in_other_words_is_still_named(id: str, mistake: str, cell: str):
    result = graded(id, cell)
    assert result.points < result.max_points
    assert result.misconceptions[0] == mistake


# Labs -------------------------------------------------------------------------------------


def test_the_first_lab_counts_up_where_it_should_and_stays_on_the_sphere(run: Run):
    lab = run.names["lab_zoo"]
    lab.reset()
    for button in ("Spin the box", "Swing the ball", "Push the slide", "Turn the hinge"):
        lab.act(button)
    lab.advance(0.5)
    values = lab.values()
    assert (values["nq"], values["nv"]) == (13, 11)
    # The lab plays by itself meanwhile: a little more than half a second.
    assert values["hinge"] == pytest.approx(1.0, abs=0.4)
    assert values["slide"] == pytest.approx(0.1, abs=0.04)
    assert abs(values["|q| of the free body"] - 1) < 1e-12
    assert values["free qw"] < 0.9
    assert values["ball qw"] < 0.99
    assert lab.trouble is None
    traces = lab.traces()["orientation of the free body"]
    assert list(traces) == ["qw", "qx", "qy", "qz"]
    assert max(abs(x) for x in traces.values()) <= 1


def test_adding_stretches_the_quaternion_and_the_sphere_does_not(run: Run):
    lab = run.names["lab_adding"]
    lab.set("step", 20)
    lab.reset()
    lab.advance(5)
    gentle = lab.values()
    lab.set("step", 100)
    lab.reset()
    lab.advance(5)
    rough = lab.values()
    for values in (gentle, rough):
        assert values["|q| on the sphere"] == pytest.approx(1, abs=1e-12)
    assert 1.02 < gentle["|q| by adding"] < rough["|q| by adding"]
    assert gentle["angle between the two"] < 1 < rough["angle between the two"]
    assert lab.trouble is None


def test_the_second_lab_runs_on_the_students_function_and_on_mujocos(run: Run):
    from mjcourse.lab import student

    names = run.names
    quat, omega = np.array([0.6, 0, 0.8, 0]), np.array([1.0, 2, 3])
    stand_in = student("a function that nobody wrote", names["by_mujoco"])
    np.testing.assert_allclose(
        stand_in(quat, omega, 0.1), names["integrate_quat"](quat, omega, 0.1), atol=1e-12
    )


def still(lab: Any) -> np.ndarray:
    """The picture of a lab just after a reset, when nothing in it moves yet."""
    lab.reset()
    return lab.picture().astype(int)


def test_the_cube_goes_where_the_sliders_say_and_falls(run: Run):
    lab = run.names["lab_place"]
    lab.set("x", 0.4)
    lab.set("height", 0.3)
    lab.set("turn", 90)
    placed = lab.values()
    np.testing.assert_allclose(placed["position"], [0.4, -0.12, 0.3], atol=1e-12)
    np.testing.assert_allclose(placed["quaternion"], [0.5**0.5, 0, 0, 0.5**0.5], atol=1e-12)
    lab.advance(1.5)
    assert lab.values()["position"][2] == pytest.approx(0.025, abs=1e-3)
    assert lab.trouble is None


def test_labs_of_different_scenes_do_not_paint_into_each_other(run: Run):
    zoo, adding = run.names["lab_zoo"], run.names["lab_adding"]
    first = still(zoo)
    adding.reset()
    assert adding.picture().shape[2] == 3
    again = still(zoo)
    assert np.abs(first - again).mean() < 0.5
    assert first.std() > 20
