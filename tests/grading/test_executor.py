"""Grading one notebook: what runs where, what a stop costs, what comes out."""

from __future__ import annotations

import copy
import subprocess
import sys
import time

import numpy as np
import pytest

from course.grading import apart
from course.grading.apart import Limits
from tests.grading import yard


def test_a_right_submission_gets_all_points(grade):
    graded = grade(yard.notebook())
    assert graded.points == yard.FULL, graded.results
    assert graded.problems == []


def test_a_wrong_submission_gets_none_and_is_told_why(grade):
    swapped = yard.lesson().exercise("quat_mul").misconceptions[0].cell
    graded = grade(yard.notebook({**yard.WRONG, "quat_mul": swapped}))
    assert graded.points == 0.0
    assert "other order" in yard.messages(graded, "quat_mul")


def test_the_notebook_given_is_not_changed(grade):
    notebook = yard.notebook()
    before = copy.deepcopy(notebook)
    grade(notebook)
    assert notebook == before


def test_a_graded_cell_shows_its_points_as_nbgrader_reads_them(grade):
    from nbformat import from_dict
    from nbgrader.utils import determine_grade

    graded = grade(yard.notebook({"kinetic": yard.WRONG["kinetic"]}))
    for cell in graded.notebook["cells"]:
        about = cell["metadata"].get("nbgrader", {})
        if about.get("grade"):
            exercise = yard.lesson().exercise(about["grade_id"].removeprefix("test_"))
            about["points"] = exercise.points
            score, most = determine_grade(from_dict(cell))
            assert (score, most) == (yard.points(graded)[exercise.id], exercise.points)


def test_the_graded_cell_of_the_submission_is_never_run(grade):
    notebook = yard.notebook(yard.WRONG)
    for cell in notebook["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = "print('forged')\n3.0"
    graded = grade(notebook)
    assert graded.points == 0.0
    assert "forged" not in yard.shown(graded)
    assert "forged" not in "".join(c["source"] for c in graded.notebook["cells"])


def test_a_test_that_does_not_call_grade_scores_nothing(grade):
    graded = grade(yard.notebook(), tests={"test_kinetic": "2.0"})
    assert yard.points(graded)["kinetic"] == 0.0
    assert any("test_kinetic does not grade" in problem for problem in graded.problems)


def test_a_test_that_grades_another_exercise_scores_nothing(grade):
    other = 'from course.grading import grade\ngrade("yard", "sizes")'
    graded = grade(yard.notebook(), tests={"test_kinetic": other})
    assert yard.points(graded)["kinetic"] == 0.0
    assert graded.problems


def test_a_graded_cell_that_was_deleted_is_graded_all_the_same(grade):
    notebook = yard.notebook()
    cells = notebook["cells"]
    notebook["cells"] = [c for c in cells if not yard.grade_id(c).startswith("test_")]
    graded = grade(notebook)
    assert graded.points == yard.FULL
    assert len(graded.problems) == len(yard.lesson().exercises)


def test_a_cell_that_raises_shows_the_students_own_line_and_stops_nothing(grade):
    graded = grade(yard.notebook(first="def f():\n    return 1 / 0\nf()"))
    assert graded.points == yard.FULL
    error = graded.notebook["cells"][1]["outputs"][0]
    assert error["ename"] == "ZeroDivisionError"
    assert error["traceback"] == [
        "cell 2, line 3: f()",
        "cell 2, line 2, in f: return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("while True: pass", "TimeLimit"),
        ("import os; os._exit(0)", "ProcessEnded"),
        ("import ctypes; ctypes.string_at(0)", "ProcessEnded"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "ProcessEnded"),
    ],
)
def test_a_cell_that_is_stopped_costs_nothing_else(grade, source, kind):
    graded = grade(yard.notebook(first=source), limits=Limits(cell_s=0.5))
    assert graded.points == yard.FULL
    error = graded.notebook["cells"][1]["outputs"][0]
    assert error["ename"] == kind
    assert "graded without it" in error["evalue"]


@pytest.mark.parametrize(
    "body",
    [
        "while True: pass",
        "import os; os._exit(0)",
        "import ctypes; ctypes.string_at(0)",
        "raise SystemExit",
        "return np.zeros(200_000_000_000)",
    ],
)
def test_a_call_that_is_stopped_costs_its_own_exercise_only(grade, body):
    graded = grade(
        yard.notebook({"kinetic": f"def kinetic(model, data):\n    {body}\n"}),
        limits=Limits(call_s=0.5),
    )
    assert yard.points(graded) == {
        **{e.id: e.points for e in yard.lesson().exercises},
        "kinetic": 0.0,
    }
    assert yard.messages(graded, "kinetic")


@pytest.mark.parametrize(
    ("state", "share", "stopped"),
    [
        ("R", 0.0, False),  # waits for a processor
        ("R", 0.05, False),  # gets a twentieth of one
        ("R", 1.0, True),  # works
        ("S", 0.0, True),  # sleeps
    ],
)
def test_a_busy_machine_stops_nothing(monkeypatch, state, share, stopped):
    """Time counts while the process works or sleeps, not while it waits for a processor."""
    now = [100.0]
    monkeypatch.setattr(apart.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(apart.Clock, "_look", lambda self: (state, share * (now[0] - 100.0)))
    clock = apart.Clock(1, limit=5.0)
    for _ in range(120):
        now[0] += 0.05
        over = clock.over()
    assert over is stopped
    # The work of the first tick is free: the process was not looked at before it.
    assert clock.used == pytest.approx(6.0 if state == "S" else 5.95 * share)


def test_a_clock_sees_a_process_sleep_and_work():
    sleeper = subprocess.Popen(["sleep", "30"])
    worker = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        clocks = [apart.Clock(process.pid, 0.3) for process in (sleeper, worker)]
        deadline = time.monotonic() + 60
        while not all(clock.over() for clock in clocks) and time.monotonic() < deadline:
            time.sleep(0.02)
    finally:
        for process in (sleeper, worker):
            process.kill()
            process.wait()
    assert all(clock.used >= 0.3 for clock in clocks)


def test_what_the_student_typed_before_a_stop_is_still_there_after_it(grade):
    graded = grade(
        yard.notebook(first="mark = 41\nmark += 1", last="import os; os._exit(0)"),
    )
    after = grade(yard.notebook(first="mark = 41\nmark += 1", last="print(mark)"))
    assert graded.points == after.points == yard.FULL


def test_all_of_a_submission_has_one_time_limit(grade):
    loops = yard.notebook(dict.fromkeys(yard.SOLUTIONS, "while True: pass"))
    graded = grade(loops, limits=Limits(cell_s=0.4, total_s=1.0))
    assert graded.points == 0.0
    assert "used up all of its time" in yard.shown(graded)


def test_an_earlier_mistake_costs_its_own_points_only(grade):
    graded = grade(yard.notebook({"quat_mul": yard.WRONG["quat_mul"]}))
    assert yard.points(graded)["quat_mul"] == 0.0
    assert yard.points(graded)["square"] == 2.0
    assert "Follow-through" in yard.messages(graded, "square")


def test_follow_through_survives_an_earlier_answer_that_never_ends(grade):
    endless = "def quat_mul(a, b):\n    while True: pass\n"
    graded = grade(yard.notebook({"quat_mul": endless}), limits=Limits(call_s=0.5))
    assert yard.points(graded)["square"] == 2.0


def test_students_have_ipython(grade):
    source = (
        "%matplotlib inline\nimport asyncio\nawait asyncio.sleep(0)\n"
        "from IPython.display import HTML, display\n"
        "display(HTML('<b>bold</b><script>x</script>'))\n"
        "%timeit -n1 -r1 None\n[1, 2]"
    )
    graded = grade(yard.notebook(first=source))
    outputs = graded.notebook["cells"][1]["outputs"]
    assert outputs[0]["data"]["text/html"] == "<b>bold</b>"
    assert outputs[-1]["data"]["text/plain"] == "[1, 2]"
    assert not [o for o in outputs if o["output_type"] == "error"]


def test_visible_checks_and_pictures_are_not_run(grade):
    notebook = yard.notebook()
    check = yard.cell("print('checked')", grade_id="check_kinetic", locked=True, solution=False)
    notebook["cells"].insert(2, check)
    assert "checked" not in yard.shown(grade(notebook))


def test_no_address_path_or_folder_reaches_an_output(grade):
    source = "import os\nprint(object(), os.getcwd())\nopen('/nowhere/at/all/x')"
    text = yard.shown(grade(yard.notebook(first=source)))
    assert " at 0x" not in text.replace("0x…", "")
    assert "mjcourse-" not in text
    assert "/nowhere/at" not in text


def test_a_flood_of_output_is_cut(grade):
    graded = grade(yard.notebook(first="print('y' * 10**7)"))
    assert len(yard.shown(graded)) < 500_000
    assert graded.points == yard.FULL


def test_warnings_while_grading_reach_no_output(grade, capfd):
    noisy = (
        "def kinetic(model, data):\n    import warnings\n    warnings.warn('w')\n"
        "    np.zeros(1) / 0\n    return data.qvel[0] ** 2\n"
    )
    graded = grade(yard.notebook({"kinetic": noisy}))
    assert yard.points(graded)["kinetic"] == 2.0
    assert "stderr" not in yard.shown(graded)
    assert capfd.readouterr() == ("", "")


# By hand


@pytest.mark.parametrize(
    "body",
    [
        "out = np.empty(4); mujoco.mju_mulQuat(out, a, b); return out",
        "out = np.empty(4); getattr(mujoco, 'mju_' + 'mulQuat')(out, a, b); return out",
        "from mujoco import mju_mulQuat as f; out = np.empty(4); f(out, a, b); return out",
        "from mujoco._functions import mju_mulQuat as f; o = np.empty(4); f(o, a, b); return o",
        "o = np.empty(4); functools.partial(mujoco.mju_mulQuat, o)(a, b); return o",
        "o = np.empty(4); list(map(mujoco.mju_mulQuat, [o], [a], [b])); return o",
        "return PRODUCT(a, b)",
        "from scipy.spatial.transform import Rotation as R\n"
        "    n = np.linalg.norm(a) * np.linalg.norm(b)\n"
        "    c = R.from_quat(a, scalar_first=True) * R.from_quat(b, scalar_first=True)\n"
        "    return n * c.as_quat(scalar_first=True)",
        "f = mujoco.mju_mulQuat.__closure__\n"
        "    g = next(c.cell_contents for c in f if type(c.cell_contents) is type(len))\n"
        "    o = np.empty(4); g(o, a, b); return o",
        "import threading\n    o = np.empty(4)\n"
        "    t = threading.Thread(target=mujoco.mju_mulQuat, args=(o, a, b)); t.start(); t.join()\n"
        "    return o",
        "class Lazy(list):\n"
        "        def __iter__(self):\n"
        "            o = np.empty(4); mujoco.mju_mulQuat(o, a, b); return iter(o)\n"
        "    return Lazy([1, 2, 3, 4])",
    ],
)
def test_a_forbidden_routine_is_noticed_however_it_is_called(grade, body):
    source = (
        "import functools\n_hidden = functools.partial(mujoco.mju_mulQuat)\n"
        "def PRODUCT(a, b):\n    o = np.empty(4)\n    _hidden(o, a, b)\n    return o\n"
        f"def quat_mul(a, b):\n    a, b = np.array(a, float), np.array(b, float)\n    {body}\n"
    )
    graded = grade(yard.notebook({"quat_mul": source}))
    assert yard.points(graded)["quat_mul"] == 0.0
    text = yard.messages(graded, "quat_mul")
    assert "mju_mulQuat" in text or "Rotation" in text, text


def test_switching_off_the_watch_costs_the_exercise(grade):
    source = (
        "import sys\ndef quat_mul(a, b):\n    sys.setprofile(None)\n"
        "    f = mujoco.mju_mulQuat.__closure__\n"
        "    g = next(c.cell_contents for c in f if type(c.cell_contents) is type(len))\n"
        "    o = np.empty(4); g(o, np.array(a), np.array(b)); return o\n"
    )
    graded = grade(yard.notebook({"quat_mul": source}))
    assert yard.points(graded)["quat_mul"] == 0.0
    assert "reaches around" in yard.messages(graded, "quat_mul")


@pytest.mark.parametrize(
    "extra",
    [
        "    # mujoco.mju_mulQuat would do, sys.setprofile(None)\n",
        '    """Like mju_mulQuat, without ctypes and setprofile."""\n',
        "    if False:\n        return mujoco.mju_mulQuat(a, b)\n",
    ],
)
def test_a_comment_a_docstring_or_dead_code_costs_nothing(grade, extra):
    head, _, body = yard.SOLUTIONS["quat_mul"].partition("\n")
    graded = grade(yard.notebook({"quat_mul": f"{head}\n{extra}{body}"}))
    assert yard.points(graded)["quat_mul"] == 3.0


def test_comparing_with_mujoco_outside_the_function_is_free(grade):
    check = (
        "out = np.empty(4)\nmujoco.mju_mulQuat(out, np.eye(4)[0], np.eye(4)[1])\n"
        "print(out, quat_mul(np.eye(4)[0], np.eye(4)[1]))"
    )
    graded = grade(yard.notebook(last=check))
    assert yard.points(graded)["quat_mul"] == 3.0


def test_an_input_changed_in_place_is_noticed(grade):
    source = yard.SOLUTIONS["quat_mul"].replace("    w, x", "    a[0] += 0.0\n    w, x", 1)
    assert yard.points(grade(yard.notebook({"quat_mul": source})))["quat_mul"] == 3.0
    spoiled = (
        source.replace("    return", "    out =").rstrip() + "\n    b[:] = 0\n    return out\n"
    )
    graded = grade(yard.notebook({"quat_mul": spoiled}))
    assert yard.points(graded)["quat_mul"] == 2.0
    assert "changed its argument number 2" in yard.messages(graded, "quat_mul")


def test_a_view_of_an_input_is_noticed(grade):
    source = (
        yard.SOLUTIONS["quat_mul"].replace("    return np", "    out = np").rstrip()
        + "\n    a[:], kept = out, a.copy()\n    return a\n"
    )
    graded = grade(yard.notebook({"quat_mul": source}))
    assert yard.points(graded)["quat_mul"] == 2.0


def test_data_changed_in_place_is_noticed(grade):
    source = (
        "def kinetic(model, data):\n    v = data.qvel[0]\n"
        "    mujoco.mj_step(model, data)\n    return v ** 2\n"
    )
    graded = grade(yard.notebook({"kinetic": source}))
    assert yard.points(graded)["kinetic"] == 1.0


def test_numpy_results_of_the_grader_are_plain_floats(grade):
    for result in grade(yard.notebook()).results:
        assert type(result.points) is float
        assert np.isfinite(result.points)
