"""The traps of nbgrader 0.9.6: each is graded rightly, or named in the problems.

Every test hands a submission in and grades it the whole way, through the gradebook.
"""

import copy

import pytest

from course.classwork import grade_class, read_graded
from course.gradebook import Gradebook
from course.paths import DataFolders
from tests import toy_lesson as toy


@pytest.fixture
def folders(tmp_path, monkeypatch):
    toy.use(monkeypatch)
    return DataFolders(tmp_path)


def graded(folders, notebook):
    """Points in the gradebook by exercise, and the kinds of the problems."""
    toy.hand_in(folders.root, "ada", notebook)
    outcome = grade_class([toy.LESSON], folders)
    assert outcome.lost == []
    with Gradebook(folders.gradebook) as gradebook:
        sheet = gradebook.sheet("ada", toy.LESSON)
    points = {id.removeprefix("test_"): g.auto_score for id, g in sheet.grades.items()}
    told = {r.exercise: r.points for r in outcome.records}
    assert told == {**points, "triple_explain": None}
    return points, [p.kind for p in outcome.problems]


FULL = {"double": 3.0, "triple": 1.0, "six_nines": 1.0, "triple_explain": None}


def test_stderr_costs_nothing(folders):
    noisy = "import sys, warnings\ndef double(x):\n    print('hm', file=sys.stderr)\n"
    noisy += "    warnings.warn('hm')\n    return x + x\nprint('loaded', file=sys.stderr)"
    assert graded(folders, toy.solved(double=noisy)) == (FULL, [])


def test_a_warning_of_numpy_costs_nothing(folders):
    warns = "import numpy as np\ndef double(x):\n    np.float64(1) / np.float64(0)\n"
    warns += "    np.log(np.array(-1.0))\n    return x + x"
    assert graded(folders, toy.solved(double=warns)) == (FULL, [])


def test_a_warning_of_mujoco_during_a_simulation_costs_nothing(folders, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    diverges = (
        "import mujoco\n"
        "body = '<body><freejoint/><geom size=\".1\"/></body>'\n"
        "xml = f'<mujoco><worldbody>{body}</worldbody></mujoco>'\n"
        "def double(x):\n"
        "    model = mujoco.MjModel.from_xml_string(xml)\n"
        "    data = mujoco.MjData(model)\n"
        "    data.qvel[0] = float('nan')\n"
        "    mujoco.mj_step(model, data)\n"
        "    return x + x\n"
        "double(1.0)"
    )
    assert graded(folders, toy.solved(double=diverges)) == (FULL, [])
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


@pytest.mark.parametrize("value", ["np.float64(54)", "np.int32(54)", "np.array(54)", "54.0"])
def test_numpy_scalars_are_as_good_as_pythons(folders, value):
    points, _ = graded(folders, toy.solved(six_nines=f"import numpy as np\nproduct = {value}"))
    assert points["six_nines"] == 1.0


def test_a_score_is_written_as_a_plain_number(folders):
    graded(folders, toy.solved(double="def double(x):\n    return 2 * abs(x)"))
    cell = toy.find(read_graded(folders, "ada", toy.LESSON), "test_double")
    results = [o for o in cell["outputs"] if o["output_type"] == "execute_result"]
    assert [o["data"]["text/plain"] for o in results] == ["2.0"]
    assert not [o for o in cell["outputs"] if o.get("name") == "stderr"]


@pytest.mark.parametrize("score", ["np.float64(0.5)", "float('nan')", "-1", "1e9", "'full'"])
def test_a_score_in_the_students_test_cell_is_no_score(folders, score):
    given = toy.release()
    toy.find(given, "test_double")["source"] = f"import numpy as np\n{score}"
    points, kinds = graded(folders, given)
    assert points["double"] == 0.0
    assert "locked_cell_edited" in kinds


def test_a_copied_answer_has_one_grade(folders):
    given = toy.solved()
    at = given["cells"].index(toy.find(given, "double"))
    wrong = copy.deepcopy(given["cells"][at])
    wrong["source"], wrong["id"] = "def double(x):\n    return 0", "old"
    given["cells"].insert(at, wrong)
    assert graded(folders, given) == (FULL, ["duplicate_cell"])


def test_a_copied_stub_below_the_answer_does_not_undo_it(folders):
    given = toy.solved()
    at = given["cells"].index(toy.find(given, "double"))
    stub = copy.deepcopy(toy.find(toy.release(), "double"))
    stub["id"] = "stub"
    given["cells"].insert(at + 1, stub)
    assert graded(folders, given) == (FULL, ["duplicate_cell"])


def test_a_copied_test_is_counted_once(folders):
    given = toy.solved()
    again = copy.deepcopy(toy.find(given, "test_double"))
    again["id"] = "again"
    given["cells"].append(again)
    assert graded(folders, given) == (FULL, ["duplicate_cell"])


@pytest.mark.parametrize("gone", ["test_double", "test_triple", "check_double"])
def test_a_deleted_graded_cell_is_restored_and_graded(folders, gone):
    given = toy.solved()
    given["cells"].remove(toy.find(given, gone))
    assert graded(folders, given) == (FULL, ["cell_restored"])


def test_all_tests_deleted_is_still_graded(folders):
    given = toy.solved()
    for id in ("test_double", "test_triple", "test_six_nines"):
        given["cells"].remove(toy.find(given, id))
    assert graded(folders, given) == (FULL, ["cell_restored"])


@pytest.mark.parametrize("points", [0, 100, -5, "many", None])
def test_points_in_the_metadata_have_no_effect(folders, points):
    given = toy.solved()
    toy.find(given, "test_double")["metadata"]["nbgrader"]["points"] = points
    assert graded(folders, given) == (FULL, ["points_changed"])


def test_another_kernel_is_graded_with_ours(folders):
    given = toy.solved()
    given["metadata"]["kernelspec"] = {"name": "julia-1.9", "language": "julia"}
    assert graded(folders, given) == (FULL, ["kernel"])


@pytest.mark.parametrize("minor", [0, 4, 5])
def test_missing_cell_ids_cost_nothing(folders, minor):
    given = toy.solved()
    given["nbformat_minor"] = minor
    for cell in given["cells"]:
        del cell["id"]
    assert graded(folders, given) == (FULL, ["cell_ids"])


def test_stripped_metadata_cost_nothing(folders):
    given = toy.solved()
    for cell in given["cells"]:
        cell["metadata"] = {}
    assert graded(folders, given) == (FULL, ["metadata_lost"])


def test_an_answer_without_a_score_gets_none(folders):
    """Stock nbgrader gives full marks to a graded cell without an output."""
    points, _ = graded(folders, toy.solved(double="def double(x):\n    pass"))
    assert points["double"] == 0.0


def test_one_bad_submission_among_others_stops_nobody(folders):
    toy.hand_in(folders.root, "aaa", b"\x00\xff")
    toy.hand_in(folders.root, "zzz", b'{"cells": [{"metadata": {"nbgrader": 5}}]}')
    assert graded(folders, toy.solved())[0] == FULL
