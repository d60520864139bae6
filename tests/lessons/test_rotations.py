"""The lesson `rotations`: its figures, its labs, its models, and what its exercises promise."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from course.exercises import lesson
from course.exercises.rotations import draws
from course.grading.door import LocalDoor
from course.grading.score import prepare, score
from course.run import run_lesson
from mjcourse import load

LESSON = lesson("rotations")


@pytest.fixture(scope="module")
def run():
    """The instructor's notebook, run once; its labs are closed at the end."""
    found = run_lesson("rotations")
    yield found
    for name, thing in found.names.items():
        if name.startswith("lab_"):
            thing.close()


@pytest.fixture(scope="module")
def names(run):
    return run.names


def exercise(id):
    return LESSON.exercise(id)


def graded(id, cell, record=False):
    """The result of a solution cell given as text."""
    names = exercise(id).misconceptions[0].namespace()  # what the set-up cell gives, and more
    exec(compile(cell, "<answer>", "exec"), names)
    with np.errstate(all="ignore"):
        return score(prepare(exercise(id)), LocalDoor(names, record=record))


# The toolbox ------------------------------------------------------------------------------


def test_conversions_agree_with_mujoco_and_scipy_to_1e_14(names):
    errors = names["rounding"]["errors"]
    libraries = ("MuJoCo", "SciPy")
    compared = {name: e for name, e in errors.items() if name.endswith(libraries)}
    assert len(compared) == 10
    assert max(compared.values()) <= 1e-14


def test_the_round_trip_of_euler_angles_holds_to_1e_12_away_from_the_lock(names):
    assert names["rounding"]["errors"]["mat_to_euler_zyx round trip (rad)"] <= 1e-12


def test_a_thousand_compositions_drift_by_about_1e_14(names):
    assert 1e-15 < names["rounding"]["drift"] < 1e-13


def test_both_signs_of_a_quaternion_give_exactly_one_matrix(names):
    assert names["rounding"]["errors"]["R(-q) vs R(q)"] == 0.0


def test_a_product_of_quaternions_is_a_product_of_matrices_in_the_same_order(names):
    assert names["rounding"]["errors"]["R(a b) vs R(a) R(b)"] < 1e-14


def test_half_a_turn_about_x_comes_from_the_x_branch(names):
    assert names["rounding"]["half turn"].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_arctan2_keeps_the_digits_that_arccos_loses(names):
    for size, errors in names["small_angles"].items():
        assert errors["yours"] < 1e-14
        assert errors["MuJoCo (arctan2)"] < 1e-14
        if size <= 1e-6:
            assert errors["2 arccos"] > 1e-10


@pytest.mark.parametrize(
    ("id", "mistake", "words"),
    [
        ("active_passive", "swapped", "this is the passive reading"),
        ("quat_mul", "swapped_order", "the other order"),
        ("quat_mul", "scalar_last", "takes the scalar part as the last number"),
        ("quat_mul", "sign_error", "has the wrong sign"),
        ("quat_rotate", "passive", "this turns backwards"),
        ("quat_rotate", "one_side", "only one side is multiplied"),
        ("quat_to_mat", "transpose", "this is the transpose"),
        ("axis_angle_to_quat", "no_half_angle", "must be halved"),
        ("axis_angle_to_quat", "degrees", "not in degrees"),
        ("axis_angle_to_mat", "elementwise_square", "K @ K is meant"),
        ("axis_angle_to_mat", "sine_cosine_swapped", "are exchanged"),
        ("mat_to_quat", "four_roots", "no sign to give"),
        ("mat_to_quat", "negative_w", "return -q there"),
        ("euler_zyx_to_mat", "extrinsic", "the extrinsic sequence"),
        ("euler_zyx_to_mat", "argument_order", "an angle in the wrong factor"),
        ("mat_to_euler_zyx", "lock_ignored", "nothing to go by"),
        ("euler_rate_matrix", "column_order", "the columns are for yaw', pitch', roll'"),
        ("euler_rate_matrix", "world_rates", "rates about the world's axes"),
        ("slerp", "no_sign_check", "the long way round"),
        ("slerp", "lerp", "its length is not 1"),
        ("slerp", "lerp_normalised", "it does not turn evenly"),
        ("quat_angle", "no_absolute", "take the absolute value"),
        ("interp_branch", "never_flips", "the farther triple"),
    ],
)
def test_a_visible_check_names_the_mistake(names, monkeypatch, capsys, id, mistake, words):
    wrong = next(m for m in exercise(id).misconceptions if m.id == mistake).namespace()
    for name in exercise(id).provides:
        monkeypatch.setitem(names["from_mujoco"].__globals__, name, wrong[name])
    with np.errstate(all="ignore"):
        assert not names[f"check_{id}"]()
    assert words in capsys.readouterr().out


# Conventions ------------------------------------------------------------------------------


def test_the_same_letters_mean_another_rotation_in_scipy(names):
    assert names["conventions"]["same letters"] == pytest.approx(2.0, abs=0.01)
    assert names["conventions"]["other case"] < 1e-14


def test_two_quarter_turns_in_the_other_order_are_120_deg_apart(names):
    assert names["conventions"]["apart"] == pytest.approx(120.0, abs=1e-9)


def test_one_matrix_reads_actively_and_passively(names):
    assert names["conventions"]["active"].tolist() == [0.0, 1.0, 0.0]
    assert names["conventions"]["passive"].tolist() == [0.0, -1.0, 0.0]


def test_mujoco_reads_urdf_angles_with_the_extrinsic_sequence():
    quat = np.empty(4)
    roll, pitch, yaw = 0.3, -0.7, 1.1
    mujoco.mju_euler2Quat(quat, np.array([roll, pitch, yaw]), "XYZ")
    urdf = Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_matrix()
    assert draws.matrix(quat) == pytest.approx(urdf, abs=1e-12)


# The lock ---------------------------------------------------------------------------------


def test_two_pairs_of_yaw_and_roll_become_one_pose(names):
    assert names["lock_pairs"][89.0] == pytest.approx(3.2e-3, abs=0.05e-3)
    assert names["lock_pairs"][90.0] < 1e-15


@pytest.mark.parametrize(
    ("pitch", "det", "smallest", "cond"),
    [
        (0.0, 1.0, 1.0, 1.0),
        (60.0, 0.5, 0.366, 3.732),
        (80.0, 0.174, 0.123, 11.43),
        (89.0, 0.0175, 0.0123, 114.6),
    ],
)
def test_the_rate_map_is_as_bad_as_the_table_says(names, pitch, det, smallest, cond):
    row = names["rate_table"][pitch]
    assert row[0] == pytest.approx(det, rel=3e-3)
    assert row[1] == pytest.approx(smallest, rel=4e-3)
    assert row[2] == pytest.approx(cond, rel=5e-4)


def test_close_to_the_lock_the_condition_number_grows_tenfold_with_each_digit(names):
    table = names["rate_table"]
    assert round(table[89.9][2]) == 1146
    assert round(table[89.99][2]) == 11459
    assert table[90.0][2] == np.inf


def test_needed_euler_rates_are_those_of_the_spec(names):
    needed = {0.0: 1.0, 60.0: 2.6, 80.0: 8.1, 85.0: 16.2, 89.0: 81.0, 89.9: 810.3, 89.99: 8102.8}
    found = {pitch: round(names["rate_table"][pitch][3], 1) for pitch in needed}
    assert found == needed


def test_the_reference_rate_map_agrees_with_central_differences_of_mujocos_matrices():
    E = exercise("euler_rate_matrix").reference_names()["euler_rate_matrix"]
    matrix = exercise("euler_zyx_to_mat").reference_names()["euler_zyx_to_mat"]
    h = 1e-5
    for yaw, pitch, roll in np.random.default_rng(3).uniform(-1.57, 1.57, (40, 3)):
        pose = np.array([yaw, pitch, roll])
        columns = []
        for k in (2, 1, 0):
            step = h * np.eye(3)[k]
            W = matrix(*pose).T @ (matrix(*pose + step) - matrix(*pose - step)) / (2 * h)
            columns.append([W[2, 1], W[0, 2], W[1, 0]])
        assert E(pitch, roll) == pytest.approx(np.array(columns).T, abs=1e-9)
        assert np.linalg.det(E(pitch, roll)) == pytest.approx(np.cos(pitch), abs=1e-12)


def test_the_reference_rate_map_is_the_jacobian_of_the_gimbal():
    E = exercise("euler_rate_matrix").reference_names()["euler_rate_matrix"]
    model = load("gimbal")
    data, jacobian = mujoco.MjData(model), np.empty((3, 3))
    for pose in np.random.default_rng(4).uniform(-3, 3, (20, 3)):
        data.qpos[:] = pose
        mujoco.mj_forward(model, data)
        mujoco.mj_jacBody(model, data, None, jacobian, model.body("camera").id)
        body = data.body("camera").xmat.reshape(3, 3).T @ jacobian
        assert E(pose[1], pose[2]) == pytest.approx(body[:, ::-1], abs=1e-12)


# Interpolation ----------------------------------------------------------------------------

# start pitch: median, p95, max (deg), median path / 60, pairs over 90 deg
SPEC_300 = {
    0: (3.7, 6.4, 7.0, 1.01, 0),
    30: (4.3, 14.0, 21.0, 1.01, 0),
    60: (7.6, 23.0, 179.8, 1.04, 7),
    85: (15.0, 178.0, 180.0, 1.15, 22),
    89: (17.0, 178.5, 180.0, 1.19, 24),
}


@pytest.mark.parametrize("pitch", SPEC_300)
def test_the_table_of_300_pairs_comes_out_within_sampling_noise(names, pitch):
    median, p95, largest, path, longest, over = names["interpolation"][pitch]
    want = SPEC_300[pitch]
    assert median == pytest.approx(want[0], rel=0.10)
    assert p95 == pytest.approx(want[1], rel=0.15)
    assert largest == pytest.approx(want[2], rel=0.10)
    assert path == pytest.approx(want[3], abs=0.04)
    assert abs(over - want[4]) <= 3 * np.sqrt(max(want[4], 1)) * (want[4] > 0)
    if want[4]:
        assert 5.3 <= longest <= 5.85


@pytest.mark.parametrize(
    ("pitch", "median", "p95", "largest", "path", "over"),
    [
        (30, 4.0, 13.1, 21.6, None, 0),
        (60, 7.1, 23.0, None, None, 73),
        (85, 14.1, 178.8, None, None, 237),
        (89, 15.9, 178.9, None, 1.17, 262),
    ],
)
def test_3000_pairs_confirm_the_table(names, pitch, median, p95, largest, path, over):
    deviation, paths = names["race"](pitch, pairs=3000, seed=5)
    assert np.median(deviation) == pytest.approx(median, rel=0.10)
    assert np.percentile(deviation, 95) == pytest.approx(p95, rel=0.10)
    assert (deviation > 90).sum() == pytest.approx(over, rel=0.20)
    if largest is not None:
        assert deviation.max() == pytest.approx(largest, rel=0.10)
    if path is not None:
        assert np.median(paths) == pytest.approx(path, rel=0.10)


def test_the_table_is_what_the_students_functions_trace(names):
    assert names["same_paths"] < 1e-6


def test_the_nearer_branch_removes_the_jump_but_not_the_bend(names):
    assert names["with_branch"]["without the branch"][1] > 170
    median, largest = names["with_branch"]["with the branch"]
    assert largest == pytest.approx(23, abs=3)
    assert median == pytest.approx(8, abs=1.5)


def test_the_nearer_branch_ends_at_the_same_orientation(names):
    path = names["naive_euler_path"]
    for e0, e1 in np.random.default_rng(5).uniform(-1.5, 1.5, (50, 2, 3)):
        ends = path(e0, e1, [0.0, 1.0])
        same = Rotation.from_euler("ZYX", ends[1]) * Rotation.from_euler("ZYX", e1).inv()
        assert same.magnitude() < 1e-12


def test_without_the_sign_check_slerp_travels_up_to_300_deg(names):
    found = names["sign_check"]
    assert found["with"] == pytest.approx(np.full(300, 60.0), abs=1e-6)
    assert found["without"].max() == pytest.approx(300.0, abs=1e-6)
    assert found["without"].min() >= 60.0 - 1e-6
    assert 120 <= found["negative"] <= 180
    assert (found["without"] > 180).sum() == found["negative"]


def test_the_notebook_prints_its_setting_and_seeds(run):
    for text in ("MuJoCo 4", "NumPy", "SciPy", "seed 9", "of 300 pairs have q0 . q1 < 0"):
        assert text in run.printed


def test_every_exercise_of_the_instructors_notebook_gets_full_points(run):
    assert set(run.tests) == {e.id for e in LESSON.exercises}
    for e in LESSON.exercises:
        assert f"{e.id}: {e.points:g} of {e.points:g} points" in run.tests[e.id]


# Models -----------------------------------------------------------------------------------


def test_the_gimbal_turns_its_camera_by_yaw_pitch_roll():
    model = load("gimbal")
    assert [model.joint(j).name for j in range(model.njnt)] == ["yaw", "pitch", "roll"]
    data = mujoco.MjData(model)
    data.qpos[:] = 0.4, -0.9, 1.3
    mujoco.mj_forward(model, data)
    right = Rotation.from_euler("ZYX", data.qpos).as_matrix()
    assert data.body("camera").xmat.reshape(3, 3) == pytest.approx(right, abs=1e-12)
    assert data.sensor("orientation").data == pytest.approx(data.body("camera").xquat, abs=1e-12)


@pytest.mark.parametrize("name", ["gimbal", "two_grippers"])
def test_a_scene_left_alone_stays_where_it_is(name):
    model = load(name)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    before = data.xpos.copy(), data.xquat.copy()
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert data.xpos == pytest.approx(before[0], abs=1e-12)
    assert data.xquat == pytest.approx(before[1], abs=1e-12)
    assert not any(w.number for w in data.warning)


@pytest.mark.parametrize("name", ["gimbal", "two_grippers"])
def test_everything_in_a_scene_has_a_name(name):
    model = load(name)
    kinds = (model.body, model.nbody), (model.geom, model.ngeom), (model.joint, model.njnt)
    for get, count in (*kinds, (model.site, model.nsite), (model.sensor, model.nsensor)):
        assert all(get(i).name for i in range(count))


# Labs -------------------------------------------------------------------------------------


def test_the_three_knobs_show_the_numbers_of_the_table(names):
    lab = names["lab_knobs"]
    for pitch, cond in ((0, 1.0), (60, 3.732), (80, 11.430)):
        lab.set("pitch", pitch)
        values = lab.values()
        assert values["cond(E)"] == pytest.approx(cond, abs=1e-3)
        assert values["det E"] == pytest.approx(np.cos(np.deg2rad(pitch)), abs=1e-9)
    lab.set("pitch", 90)
    assert lab.values()["cond(E)"] == np.inf


def test_at_the_lock_yaw_and_roll_turn_the_camera_about_one_line(names):
    lab = names["lab_knobs"]
    poses = []
    for yaw, roll in ((20, 30), (50, 60)):
        for knob, value in (("pitch", 90), ("yaw", yaw), ("roll", roll)):
            lab.set(knob, value)
        poses.append(lab.values()["matrix R"])
    assert poses[0] == pytest.approx(poses[1], abs=1e-12)


def test_a_rate_limit_costs_tracking_near_the_lock_only(names):
    lab = names["lab_lock"]
    errors = {}
    for pitch, limit in ((89, 2), (89, 100), (60, 100)):
        lab.reset()
        lab.set("pitch", pitch)
        lab.set("rate limit", limit)
        lab.act("Command 1 rad/s about the lost direction")
        lab.advance(0.5)
        errors[pitch, limit] = lab.values()["tracking error"]
        asked = lab.values()["peak Euler rates"]
        assert asked == pytest.approx({89: 81.0, 60: 2.6}[pitch], rel=0.02)
    assert errors[89, 2] > 10
    assert errors[89, 100] < 1
    assert errors[60, 100] < 1


def test_the_race_shows_the_jump_and_the_sign_check(names, monkeypatch):
    lab = names["lab_race"]
    lab.set("start pitch", 60)
    lab.act("A goal over the top")
    lab.advance(4.1)
    values = lab.values()
    assert values["largest so far"] > 90
    assert values["slerp (blue) travelled"] == pytest.approx(60, abs=0.5)
    assert values["Euler (orange) travelled"] > 180
    assert values["deviation now"] == pytest.approx(0, abs=1e-6)
    monkeypatch.setattr("mjcourse.lab.notebook._names", lambda: names)  # the branch is theirs
    lab.set("nearer Euler branch", True)
    lab.advance(4.1)
    assert lab.values()["largest so far"] < 90


def test_the_race_without_the_sign_check_takes_the_long_way_where_signs_differ(names):
    lab = names["lab_no_check"]
    seen = set()
    for _ in range(8):
        lab.act("New goal 60 deg away")
        lab.advance(4.1)
        values = lab.values()
        long_way = values["q0 . q1"] < 0
        seen.add(bool(long_way))
        travelled = 300 if long_way else 60
        assert values["slerp (blue) travelled"] == pytest.approx(travelled, abs=1)
    assert seen == {True, False}


@pytest.mark.parametrize("name", ["lab_knobs", "lab_race", "lab_lock", "lab_no_check"])
def test_every_lab_draws_a_picture_that_is_not_empty(names, name):
    picture = names[name].picture()
    assert picture.ndim == 3
    assert picture.std() > 10


# What the exercises promise ---------------------------------------------------------------


def test_the_points_are_40_and_6():
    assert sum(e.points for e in LESSON.exercises) == 46
    assert LESSON.exercise("knowledge_check").points == 6
    core = sum(e.points for e in LESSON.exercises if e.core)
    assert 0.4 <= core / 46 <= 0.6


BY_HAND = {
    "quat_mul": (
        "def quat_mul(a, b):\n    r = np.empty(4)\n    mujoco.mju_mulQuat(r, a, b)\n    return r"
    ),
    "quat_rotate": (
        "from scipy.spatial.transform import Rotation as R\n"
        "def quat_rotate(q, v):\n    return R.from_quat(np.roll(q, -1)).apply(v)"
    ),
    "quat_to_mat": (
        "turn = getattr(mujoco, 'mju_quat' + '2Mat')\n"
        "def quat_to_mat(q):\n    m = np.empty(9)\n    turn(m, q)\n    return m.reshape(3, 3)"
    ),
    "slerp": (
        "from scipy.spatial.transform import Rotation, Slerp\n"
        "def slerp(q0, q1, t):\n"
        "    ends = Rotation.from_quat([np.roll(q0, -1), np.roll(q1, -1)])\n"
        "    return np.roll(Slerp([0, 1], ends)(t).as_quat(), 1)"
    ),
}


@pytest.mark.parametrize("id", BY_HAND)
def test_a_library_routine_earns_nothing_where_the_exercise_is_by_hand(id):
    result = graded(id, BY_HAND[id], record=True)
    assert result.points == 0
    assert result.misconceptions[0] == "forbidden_routine"
    assert graded(id, BY_HAND[id]).full


def test_no_exercise_fails_anybody_for_the_sign_of_a_quaternion_but_the_conjugate():
    flipped = (
        "def quat_mul(a, b):\n    u, v = np.array(a[1:]), np.array(b[1:])\n"
        "    vector = a[0] * v + b[0] * u + np.cross(u, v)\n"
        "    return -np.array([a[0] * b[0] - u @ v, *vector])"
    )
    assert graded("quat_mul", flipped).full
    conjugate = "def quat_conj(q):\n    return np.array([-q[0], q[1], q[2], q[3]])"
    assert graded("quat_conj", conjugate).points == 0


def test_a_small_angle_blend_costs_one_part_of_slerp_and_says_why():
    blend = (
        "def slerp(q0, q1, t):\n"
        "    d = q0 @ q1\n"
        "    if d < 0:\n        q1, d = -q1, -d\n"
        "    if d > 0.9995:\n"
        "        q = q0 + t * (q1 - q0)\n        return q / np.linalg.norm(q)\n"
        "    h = np.arccos(d)\n"
        "    return (np.sin((1 - t) * h) * q0 + np.sin(t * h) * q1) / np.sin(h)\n"
    )
    result = graded("slerp", blend)
    assert result.points == 3
    assert result.misconceptions == ["lerp_too_early"]


@pytest.mark.parametrize("turn", [1.0, -1.0])
def test_either_arc_is_right_at_180_deg(turn):
    cell = (
        "def slerp(q0, q1, t):\n"
        "    q0, q1 = np.array(q0), np.array(q1)\n"
        "    d = q0 @ q1\n"
        f"    if abs(d) < 1e-9:\n        q1 = {turn} * q1\n"
        "    elif d < 0:\n        q1 = -q1\n"
        "    aside = q1 - (q0 @ q1) * q0\n"
        "    size = np.linalg.norm(aside)\n"
        "    if size < 1e-15:\n        return q0\n"
        "    h = np.arctan2(size, q0 @ q1)\n"
        "    return np.cos(t * h) * q0 + np.sin(t * h) * aside / size\n"
    )
    assert graded("slerp", cell).full


def test_any_pair_of_yaw_and_roll_is_right_at_the_lock():
    split = (
        "def mat_to_euler_zyx(R):\n"
        "    p = np.arcsin(np.clip(-R[2, 0], -1, 1))\n"
        "    if np.hypot(R[0, 0], R[1, 0]) < 1e-9:\n"
        "        roll = 0.37\n"
        "        total = np.arctan2(-R[0, 1], R[1, 1])\n"
        "        return total + np.sign(p) * roll, p, roll\n"
        "    return np.arctan2(R[1, 0], R[0, 0]), p, np.arctan2(R[2, 1], R[2, 2])\n"
    )
    assert graded("mat_to_euler_zyx", split).full


def test_a_scalar_last_quaternion_is_named():
    cell = (
        "def quat_to_mat(q):\n    x, y, z, w = q\n"
        "    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])\n"
        "    return np.eye(3) + 2 * w * K + 2 * K @ K\n"
    )
    assert graded("quat_to_mat", cell).misconceptions[0] == "scalar_last"


def test_two_arccos_is_accepted_below_1e_3_rad():
    cell = "def quat_angle(q0, q1):\n    return 2 * np.arccos(min(1.0, abs(q0 @ q1)))\n"
    assert graded("quat_angle", cell).full
