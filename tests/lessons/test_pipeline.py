"""The lesson `pipeline`: its figures, labs and scenes, and what its exercises promise."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from course.exercises import lesson
from course.exercises.implementation import Implementation
from course.exercises.pipeline import scenes, semi_implicit_step
from course.grading.door import LocalDoor
from course.grading.score import prepare, score
from course.run import run_lesson
from mjcourse import load

LESSON = lesson("pipeline")
SCENES = (
    "two_mass",
    "pendulum",
    "double_pendulum",
    "stiff_servo",
    "stiff_spring",
    "servo_arm",
    "clutter",
)
INTEGRATORS = ("Euler", "RK4", "implicit", "implicitfast", "discrete")


@pytest.fixture(scope="module")
def run():
    """The instructor's notebook, run once; its labs are closed at the end."""
    found = run_lesson("pipeline")
    yield found
    for name, thing in found.names.items():
        if name.startswith("lab_"):
            thing.close()


@pytest.fixture(scope="module")
def names(run):
    return run.names


def graded(id, cell, record=False):
    """The result of a solution cell given as text."""
    answer = Implementation("answer", "", cell).namespace()
    with np.errstate(all="ignore"):
        return score(prepare(LESSON.exercise(id)), LocalDoor(answer, record=record))


# The puzzle ---------------------------------------------------------------------------------


def test_writing_qpos_leaves_xpos_where_it_was(names):
    told = names["lifted_box"]
    in_qpos, in_xpos = told["written"]
    assert in_qpos - in_xpos == pytest.approx(0.2)
    assert told["evaluated"][0] == told["evaluated"][1]


def test_after_mj_step_every_stage_is_one_instant_old_and_under_rk4_of_none(names):
    told = names["status_boards"]
    assert set(told["mj_forward"].values()) == {"now"}
    assert set(told["mj_step"].values()) == {"before"}
    assert set(told["mj_step under RK4"].values()) == {"neither"}


def test_sensors_and_contacts_lag_by_one_step(names):
    lag = names["one_step_lag"]
    assert lag["Euler"] == {"xpos": "before", "sensordata": "before", "contacts": "before"}
    assert lag["RK4"]["xpos"] == lag["RK4"]["contacts"] == "neither"


def test_four_statements_of_the_mathematics_are_measured(names):
    found = names["four_claims"]
    assert found["quadratic"] < 1e-12
    assert found["rows"][0] < found["rows"][1]
    assert found["powers"][0] == pytest.approx(found["powers"][1], abs=1e-12)
    assert np.all(np.diff(np.abs(found["growth"])) > 0)


# The state ----------------------------------------------------------------------------------


def test_the_integration_state_is_the_full_physics_the_inputs_and_the_warm_start(names):
    sizes = names["state_sizes"]
    parts = sizes["FULLPHYSICS"] + sizes["USER"] + sizes["WARMSTART"]
    assert sizes["INTEGRATION"] == parts
    assert sizes["FULLPHYSICS"] == sizes["PHYSICS"] + 1


def test_a_resume_is_bit_exact_with_the_integration_state_only(names):
    drift = names["resume_drift"]
    assert drift["INTEGRATION"] == 0.0
    assert drift["PHYSICS"] > 1e-3
    assert drift["FULLPHYSICS"] > 1e-3
    assert 0 < drift["all but the warm start"] < drift["FULLPHYSICS"]


def test_the_clutter_is_in_contact_when_it_is_saved(names):
    model, data = names["running_clutter"]()
    mujoco.mj_forward(model, data)
    hand = model.geom("hand_ball").id
    assert data.ncon >= 10
    assert (data.contact.geom == hand).any()
    assert np.abs(data.qvel).max() > 0.1


def test_the_warm_start_alone_makes_the_last_bit_differ(names):
    model, data = names["running_clutter"]()
    spec = int(mujoco.mjtState.mjSTATE_INTEGRATION) & ~int(mujoco.mjtState.mjSTATE_WARMSTART)
    state = np.empty(mujoco.mj_stateSize(model, spec))
    mujoco.mj_getState(model, data, state, spec)
    cold = mujoco.MjData(model)
    mujoco.mj_setState(model, cold, state, spec)
    for _ in range(100):
        mujoco.mj_step(model, data)
        mujoco.mj_step(model, cold)
    assert not np.array_equal(data.qpos, cold.qpos)


# Callbacks and the split step ---------------------------------------------------------------


def test_the_control_callback_runs_once_but_four_times_in_an_rk4_step(names):
    counts = names["callback_counts"]
    assert counts.pop("mj_step, RK4") == 4
    assert counts.pop("mj_step2") == 0
    assert set(counts.values()) == {1}


def test_the_split_step_ignores_rk4_to_the_last_bit(names):
    worst = names["split_step"]
    assert worst["same as Euler"]
    assert worst["mj_step1 + mj_step2, RK4 selected"] > 50 * worst["mj_step, RK4 selected"]


def test_a_control_written_between_the_halves_overrides_the_callback():
    model = load("two_mass")
    data = mujoco.MjData(model)

    def seven(model, data):
        data.ctrl[:] = 7

    mujoco.set_mjcb_control(seven)
    try:
        mujoco.mj_step1(model, data)
        assert data.ctrl.tolist() == [7, 7]
        data.ctrl[:] = (4, -2)
        mujoco.mj_step2(model, data)
    finally:
        mujoco.set_mjcb_control(None)
    assert data.actuator_force == pytest.approx([4, -2])


# The worked example -------------------------------------------------------------------------


def test_the_worked_example_comes_out_of_mujoco_array_by_array(names):
    found = names["worked_example"]
    assert found["qfrc_actuator"] == pytest.approx([3, -2], abs=1e-9)
    assert found["qacc_smooth"] == pytest.approx([1, -2], abs=1e-8)
    assert found["efc_b"] == pytest.approx(-3, abs=1e-8)
    assert found["y"] == pytest.approx([-0.5, 1])
    assert found["A"] == pytest.approx(1.5)
    assert found["R"] == pytest.approx(1.5e-4, rel=0.01)


def test_the_students_pipeline_gives_the_ideal_row(names):
    found = names["worked_example"]
    assert found["force"] == pytest.approx(2)
    assert found["qacc"] == pytest.approx([0, 0], abs=1e-12)
    assert found["row_forces"] == pytest.approx([-2, 2])


def test_mujocos_row_is_within_a_thousandth_and_the_default_solimp_gives_nine_tenths(names):
    assert names["worked_example"]["mujoco_force"] == pytest.approx(2, abs=1e-3)
    assert names["variations"]["default solimp, 0.9"] == pytest.approx(1.8, abs=1e-6)


def test_with_equal_forces_the_pair_moves_with_four_thirds(names):
    found = names["variations"]
    assert found["smooth"] == pytest.approx([1, 2], abs=1e-8)
    assert found["common"] == pytest.approx([4 / 3, 4 / 3], abs=1e-3)


def test_the_cable_has_no_rate_and_its_two_powers_cancel(names):
    found = names["variations"]
    assert found["rates"] == pytest.approx([1, 0], abs=1e-12)
    assert found["powers"][0].sum() == pytest.approx(4)
    assert found["powers"][1] == pytest.approx([-1, 1])


def test_the_first_step_from_rest_and_the_stale_cache_after_it(names):
    found = names["variations"]
    assert found["v"] == pytest.approx([0.1, -0.2], abs=1e-9)
    assert found["q"] == pytest.approx([0.01, -0.02], abs=1e-9)
    assert found["cached"] == pytest.approx([0, 0], abs=1e-12)
    assert found["fresh"] == pytest.approx([0.01, -0.02], abs=1e-9)


def test_the_activation_after_one_time_constant(names):
    figures = names["after_one_time_constant"]
    assert figures["exact"] == pytest.approx(0.632, abs=5e-4)
    assert figures[100] == pytest.approx(0.634, abs=5e-4)
    assert figures[10] == pytest.approx(0.651, abs=5e-4)
    assert figures["exact"] < figures[100] < figures[10] < figures[3]


# The integrators ----------------------------------------------------------------------------


def test_who_survives_the_stiff_servo_and_the_stiff_spring(names):
    survived = names["who_survives"]
    servo = {name for name in INTEGRATORS if survived["stiff_servo", name]}
    spring = {name for name in INTEGRATORS if survived["stiff_spring", name]}
    assert servo == {"implicit", "implicitfast", "discrete"}
    assert spring == {"discrete"}


def test_three_integrators_coincide_on_the_undamped_pendulum(names):
    worst = names["energy_drift"]["worst"]
    for dt in (0.0025, 0.005, 0.01, 0.02):
        assert worst["Euler", dt] == worst["implicitfast", dt] == worst["discrete", dt]
        assert worst["RK4", dt] < 0.02 * worst["Euler", dt]
    assert worst["implicit", 0.01] != worst["Euler", 0.01]


def test_halving_the_step_halves_eulers_error_and_shrinks_rk4s_much_faster(names):
    worst = names["energy_drift"]["worst"]
    assert worst["Euler", 0.0025] == pytest.approx(0.5 * worst["Euler", 0.005], rel=0.1)
    assert worst["RK4", 0.0025] < 0.2 * worst["RK4", 0.005]


def test_rk4_costs_a_few_times_as_much_per_step(names):
    cost = names["energy_drift"]["cost"]
    assert 1.5 < cost["RK4", 0.0025] / cost["Euler", 0.0025] < 8


def test_under_discrete_qacc_is_the_step_and_not_the_acceleration(names):
    found = names["meaning_of_qacc"]
    assert found["implicitfast"][0] == pytest.approx(found["continuous"])
    assert found["discrete"][0] == pytest.approx(found["discrete"][1])
    assert abs(found["discrete"][0]) < 0.2 * abs(found["continuous"])


def test_a_push_that_is_not_cleared_acts_again(names):
    found = names["persisting_push"]
    assert found["left"] > 1.5 * found["cleared"] > 0


# The labs -----------------------------------------------------------------------------------


def statuses(lab, names):
    simulation = lab.simulations[0]
    told = names["instants"](simulation.model, simulation.data, names["instant_state"].before)
    return list(told.values())


def test_the_first_lab_leaves_stale_what_a_call_leaves_stale(names):
    lab = names["lab_instant"]
    lab.set("integrator", "Euler")
    lab.reset()
    assert statuses(lab, names) == ["now"] * 5
    lab.act("set qpos")
    assert lab.values()["distance apart"] == pytest.approx(134.2, abs=0.1)
    lab.act("mj_forward")
    assert lab.values()["distance apart"] == 0
    lab.act("mj_step")
    assert statuses(lab, names) == ["before"] * 5
    assert lab.values()["distance apart"] > 10
    lab.act("mj_step1")
    assert statuses(lab, names) == ["now", "now", "before", "before", "before"]
    lab.act("mj_step2")
    assert statuses(lab, names) == ["before"] * 5


def test_under_rk4_the_first_lab_shows_arrays_of_no_instant(names):
    lab = names["lab_instant"]
    lab.reset()
    lab.set("integrator", "RK4")
    lab.act("mj_step")
    assert statuses(lab, names) == ["neither"] * 5
    board = next(iter(lab.rows().values()))
    assert board.count("stale: of no instant") >= 5
    assert "<svg" in board


def test_the_wagons_lab_brings_the_row_to_rest_as_the_fraction_grows(names):
    lab = names["lab_wagons"]
    lab.reset()
    left = []
    for fraction in (0, 0.5, 1):
        lab.set("fraction of the row", fraction)
        left.append(lab.values()["J qacc"])
    assert left == pytest.approx([-3, -1.5, 0], abs=1e-3)
    assert lab.values()["row force"] == pytest.approx(lab.values()["MuJoCo's efc_force"], abs=1e-6)
    lab.set("impedance", 90)
    assert lab.values()["row force"] == pytest.approx(1.8, abs=1e-6)
    lab.set("row", False)
    assert lab.values()["row force"] == 0


def test_the_activation_lab_runs_the_students_filter_beside_mujocos(names):
    lab = names["lab_activation"]
    lab.act("control to 1")
    lab.advance(0.2)
    traces = lab.traces()["activation"]
    assert traces["yours"] == pytest.approx(traces["filter"], abs=1e-9)
    assert traces["filterexact"] == pytest.approx(traces["exact"], abs=1e-9)
    assert traces["filter"] > traces["filterexact"]


def test_the_integrators_lab_tells_who_diverged(names):
    lab = names["lab_integrators"]
    lab.set("step", 10)
    lab.reset()
    lab.advance(0.5)
    rows = {name: cells for name, *cells in lab.rows()["cost"]}
    assert rows["Euler"][1:] == ["diverged", "diverged"]
    assert "diverged" not in rows["discrete"]
    lab.set("step", 1)
    lab.reset()
    lab.advance(0.2)
    assert not any("diverged" in cells for _, *cells in lab.rows()["cost"])


@pytest.mark.parametrize("name", ["instant", "wagons", "activation", "integrators"])
def test_every_lab_shows_a_picture(names, name):
    picture = names[f"lab_{name}"].picture()
    assert picture.dtype == np.uint8
    assert picture.std() > 10


# The scenes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SCENES)
def test_every_part_of_a_scene_has_a_name(name):
    model = load(name)
    counts = {
        "body": model.nbody,
        "joint": model.njnt,
        "geom": model.ngeom,
        "site": model.nsite,
        "tendon": model.ntendon,
        "actuator": model.nu,
        "sensor": model.nsensor,
    }
    for kind, count in counts.items():
        for index in range(count):
            assert getattr(model, kind)(index).name, f"{name}: {kind} {index} has no name"


def test_the_clutter_settles_in_its_tray():
    model = load("clutter")
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 2000)
    for body in range(1, model.nbody):
        x, y, z = data.xpos[body]
        assert abs(x) < 0.33, model.body(body).name
        assert abs(y) < 0.33, model.body(body).name
        assert 0 < z < 0.2, model.body(body).name
    assert not any(warning.number for warning in data.warning)


def test_the_servo_arm_has_its_three_clamps_and_both_filters():
    model = load("servo_arm")
    data = mujoco.MjData(model)
    data.ctrl[0], data.qpos[0] = 5.0, -1.0
    mujoco.mj_forward(model, data)
    assert data.actuator_force[0] == 3.0  # forcerange
    assert data.qfrc_actuator[0] == 2.5  # the joint's actuatorfrcrange
    assert list(model.actuator_dyntype[1:]) == [
        mujoco.mjtDyn.mjDYN_FILTER,
        mujoco.mjtDyn.mjDYN_FILTEREXACT,
    ]


# What exercises promise ---------------------------------------------------------------------


def test_the_core_exercises_are_about_half_of_the_points():
    points = sum(e.points for e in LESSON.exercises)
    core = sum(e.points for e in LESSON.exercises if e.core)
    assert points == 45
    assert 0.4 * points <= core <= 0.6 * points


def test_the_reference_of_the_step_is_mj_step_without_damping():
    model = load("double_pendulum")
    data = scenes.disturbed(model, 1)
    mujoco.mj_forward(model, data)
    step = semi_implicit_step.exercise.reference_names()["semi_implicit_step"]
    qpos, qvel = step(model, data.qpos.copy(), data.qvel.copy(), data.qacc.copy(), 0.01)
    mujoco.mj_step(model, data)
    assert qpos == pytest.approx(data.qpos, abs=1e-12)
    assert qvel == pytest.approx(data.qvel, abs=1e-12)


def test_running_the_pipeline_again_earns_no_smooth_acceleration():
    result = graded(
        "smooth_acceleration",
        "def smooth_acceleration(model, data):\n"
        "    mujoco.mj_forward(model, data)\n"
        "    return data.qacc_smooth.copy()\n",
        record=True,
    )
    assert result.points == 0
    assert result.misconceptions[0] == "forbidden_routine"


def test_refreshing_everything_gets_half():
    result = graded(
        "cheapest_forward",
        "def refresh(model, data, changed):\n    mujoco.mj_forward(model, data)\n",
    )
    assert result.points == 1.5
    assert result.misconceptions == ["always_everything"]


def test_a_body_may_be_taken_by_name_or_by_id():
    for read in ("data.body(body).xpos", "data.xpos[model.body(body).id]", "data.xpos[body]"):
        cell = (
            "def body_position_after_step(model, data, body):\n"
            "    mujoco.mj_step(model, data)\n"
            "    mujoco.mj_kinematics(model, data)\n"
            f"    return {read}.copy()\n"
        )
        assert graded("fresh_position", cell).full


def test_the_sign_of_a_quaternion_is_free_in_the_step():
    cell = semi_implicit_step.GOOD.replace(
        "    return new_qpos, new_qvel",
        "    for j in range(model.njnt):\n"
        "        if model.jnt_type[j] == 1:\n"
        "            a = model.jnt_qposadr[j]\n"
        "            new_qpos[a:a + 4] *= -1\n"
        "    return new_qpos, new_qvel",
    )
    assert graded("semi_implicit_step", cell).full


def test_a_state_of_another_layout_is_as_good():
    cell = LESSON.exercise("save_restore").variants[1].cell
    assert graded("save_restore", cell).full


def test_a_state_that_is_no_array_is_refused():
    result = graded(
        "save_restore",
        "import copy\n"
        "def save_state(model, data):\n    return {'qpos': data.qpos.copy()}\n"
        "def restore_state(model, data, state):\n    data.qpos[:] = state['qpos']\n",
    )
    assert result.points == 0
    assert any("one array" in message for message in result.messages)


def test_a_pipeline_that_compares_by_identity_is_told_to_compare_by_value():
    result = graded("staged_pipeline", LESSON.exercise("staged_pipeline").misconceptions[2].cell)
    assert result.points < result.max_points
    assert "recomputes_all" in result.misconceptions


def test_a_mistake_in_the_inertia_and_one_in_the_bias_are_both_named():
    result = graded(
        "pendulum_terms",
        "def pendulum_terms(theta, length, mass, gravity):\n"
        "    return mass * length, mass * gravity * length * np.cos(theta)\n",
    )
    assert set(result.misconceptions) == {"inertia_m_l", "cosine"}


@pytest.mark.parametrize(
    ("exercise", "mistake"),
    [("smooth_acceleration", "forgets_cartesian_forces"), ("servo_force", "clamps_only_force")],
)
def test_what_an_answer_does_not_do_is_not_said_of_it(exercise, mistake):
    (cell, *_) = [i.cell for i in LESSON.exercise(exercise).misconceptions if i.id == mistake]
    assert graded(exercise, cell).misconceptions == [mistake]
