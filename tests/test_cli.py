"""The command line says what it did, what is wrong, and how to go on."""

import json
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from course import cli
from course.exercises import LESSONS
from course.paths import CHECKOUT, DataFolders
from tests import toy_lesson as toy


@pytest.fixture
def folders(tmp_path, monkeypatch):
    toy.use(monkeypatch)
    monkeypatch.setattr(cli, "LESSONS", (toy.LESSON,))
    return DataFolders(tmp_path)


def run(folders, *arguments):
    verb, *rest = arguments
    return cli.main([verb, *rest, "--root", str(folders.root)])


def outcome(folders, *arguments):
    path = folders.root / "out.json"
    status = run(folders, *arguments, "--json", str(path))
    return status, json.loads(path.read_text(encoding="utf-8"))


def test_the_command_line_knows_the_lessons_of_the_course():
    assert cli.LESSONS == LESSONS


def test_help_comes_at_once_and_names_every_verb():
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "course", "--help"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert time.perf_counter() - start < 2
    for verb in ("release", "adopt", "verify", "run", "collect", "grade", "feedback", "report",
                 "publish", "demo", "lab"):  # fmt: skip
        assert f"\n    {verb} " in done.stdout
    for heavy in ("numpy", "mujoco", "nbformat", "sqlalchemy"):
        assert f" {heavy}\n" not in done.stderr


def test_nbformat_comes_without_the_grammars_that_it_does_not_need():
    code = (
        "import sys; from course.quick import nbformat, nbgrader_api; nbformat(); nbgrader_api(); "
        "print(sorted(m for m in sys.modules if m.split('.')[0] == 'rfc3987_syntax'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_grading_nothing_says_so_and_is_no_failure(folders, capsys):
    status, data = outcome(folders, "grade", toy.LESSON)
    assert status == 0
    assert data == {"results": [], "problems": []}
    assert "Nothing is handed in" in capsys.readouterr().out
    assert not folders.gradebook.exists()


def test_results_and_problems_have_the_agreed_fields(folders):
    toy.hand_in(folders.root, "ada", toy.solved(double="def double(x):\n    return x * x"))
    toy.hand_in(folders.root, "bob", b"{")
    status, data = outcome(folders, "grade", toy.LESSON)
    assert status == 0
    assert set(data) == {"results", "problems"}
    assert [list(r) for r in data["results"]] == 4 * [
        ["student", "lesson", "exercise", "points", "max_points", "misconceptions", "messages"]
    ]
    assert [list(p) for p in data["problems"]] == [["student", "lesson", "kind", "message"]]
    results = {r["exercise"]: r for r in data["results"]}
    assert list(results) == ["double", "triple", "triple_explain", "six_nines"]
    assert results["double"]["misconceptions"] == ["squares"]
    assert results["triple_explain"]["points"] is None
    assert results["triple_explain"]["max_points"] == 2


def test_a_lost_submission_is_a_failure(folders, monkeypatch, capsys):
    toy.hand_in(folders.root, "ada", toy.solved())

    def lose(jobs):
        return ((key, OSError("no")) for key, *_ in jobs)

    monkeypatch.setattr("course.classwork._pool", lambda _: nullcontext(lose))
    status, data = outcome(folders, "grade", toy.LESSON)
    assert status == 1
    assert data["problems"][0]["kind"] == "grader_failed"
    assert "lost: ada" in capsys.readouterr().err


def test_the_whole_way(folders, monkeypatch, capsys):
    import course.report

    monkeypatch.setattr(course.report, "LESSONS", (toy.LESSON,))
    monkeypatch.setattr(course.report, "find_lesson", lambda _id: toy.lesson())
    source = folders.root / "ada.ipynb"
    source.write_text(json.dumps(toy.solved()))
    assert run(folders, "collect", str(source), toy.LESSON) == 0
    assert run(folders, "grade", toy.LESSON) == 0
    status, data = outcome(folders, "feedback", toy.LESSON)
    assert (status, data) == (0, {"pages": ["feedback/ada/toy/toy.html"]})
    status, data = outcome(folders, "report")
    assert status == 0
    assert all((folders.root / name).is_file() for name in data["written"])
    said = capsys.readouterr().out
    assert "Graded 1 of 1 submissions" in said
    assert "grades.csv" in said


def test_feedback_before_grading_says_what_comes_first(folders, capsys):
    assert run(folders, "feedback", toy.LESSON) == 0
    assert "grade` comes first" in capsys.readouterr().out


def test_an_unknown_lesson_is_refused_with_those_that_exist(folders, capsys):
    assert run(folders, "grade", "rotatoins") == 1
    assert "the course has: toy" in capsys.readouterr().err


def test_a_root_that_does_not_exist_is_refused(folders, capsys):
    nowhere = DataFolders(folders.root / "nowhere")
    assert run(nowhere, "grade", toy.LESSON) == 1
    assert "is no folder" in capsys.readouterr().err


def test_a_source_that_does_not_exist_is_refused(folders, capsys):
    assert run(folders, "collect", str(folders.root / "none.zip"), toy.LESSON) == 1
    assert "none.zip does not exist" in capsys.readouterr().err


@pytest.mark.parametrize("workers", ["0", "-1", "many"])
def test_workers_are_a_positive_number(folders, workers, capsys):
    with pytest.raises(SystemExit) as stopped:
        run(folders, "grade", toy.LESSON, "--workers", workers)
    assert stopped.value.code == 2


def test_an_interruption_says_that_the_rest_stands(folders, monkeypatch, capsys):
    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr("course.classwork.grade_class", interrupted)
    assert run(folders, "grade", toy.LESSON) == 130
    assert "run it again" in capsys.readouterr().err


def test_an_error_of_ours_has_no_traceback_unless_asked(folders, monkeypatch, capsys):
    def broken(*_args):
        raise ZeroDivisionError("seven")

    monkeypatch.setattr("course.classwork.grade_class", broken)
    assert run(folders, "grade", toy.LESSON) == 1
    said = capsys.readouterr().err
    assert "ZeroDivisionError: seven" in said
    assert "Traceback" not in said
    monkeypatch.setenv("MJCOURSE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        run(folders, "grade", toy.LESSON)


def test_a_machine_without_a_sandbox_is_told_plainly(folders, monkeypatch, capsys):
    from course.grading.apart import SandboxMissing

    toy.hand_in(folders.root, "ada", toy.solved())

    def missing(_options):
        raise SandboxMissing("Landlock is missing; --trust-submissions runs without")

    monkeypatch.setattr("course.classwork._pool", missing)
    assert run(folders, "grade", toy.LESSON) == 1
    assert "--trust-submissions" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "status"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_an_interrupted_command_leaves_no_process_behind(tmp_path, how, status):
    """The workers are at an endless loop when it happens."""
    from course import demo

    lesson = "generalized_coordinates"
    loop = "while True:\n    pass"
    for student in ("ada", "bob", "cy"):
        path = tmp_path / "submitted" / student / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        notebook = demo.with_answers(demo.released(lesson), {"joint_layout": loop})
        path.write_text(json.dumps(notebook))
    command = [sys.executable, "-m", "course", "grade", lesson, "--workers", "2"]
    with open(tmp_path / "said", "w") as said:
        run = subprocess.Popen(
            [*command, "--root", str(tmp_path)],
            cwd=CHECKOUT,
            stdout=said,
            stderr=said,
            start_new_session=True,
            # A test run started in the background of a script inherits an ignored Ctrl-C.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
    deadline = time.monotonic() + 60
    below = {}
    # The command, its worker, the worker's fork server, the student's process.
    while (3, "R") not in below.values() and time.monotonic() < deadline:
        time.sleep(0.2)
        below = _descendants(run.pid)
    assert (3, "R") in below.values(), "no submission was run"
    run.send_signal(how)
    assert run.wait(20) == status
    deadline = time.monotonic() + 20
    while (left := _alive(below)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert left == []
    assert "Traceback" not in (tmp_path / "said").read_text()


def _processes():
    """`{pid: (parent, state, start)}` of every process."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found[int(path.parent.name)] = (int(fields[1]), fields[0], fields[19])
    return found


def _descendants(leader):
    """`{(pid, start): (how far down, state)}` of the processes below one."""
    processes, found = _processes(), {}
    for pid, (_, state, start) in processes.items():
        depth, above = 0, pid
        while above in processes and above != leader:
            depth, above = depth + 1, processes[above][0]
        if above == leader and depth:
            found[pid, start] = (depth, state)
    return found


def _alive(processes):
    now = _processes()
    return [p for p, start in processes if p in now and now[p][2] == start and now[p][1] != "Z"]
