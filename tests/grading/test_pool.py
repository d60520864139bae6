"""A class graded side by side: every notebook once, also when workers die."""

from __future__ import annotations

import copy
import os
import signal
import threading
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from course.exercises import lesson
from course.exercises.implementation import SETUP
from course.grading import pool
from course.grading.executor import GradedNotebook
from course.grading.pool import WorkerDied, grade_all
from tests.grading import yard

# A lesson of the course, since a worker looks its lesson up by name; one of its cheap exercises.
LESSON, EXERCISE = "generalized_coordinates", "integrate_quat"


def submission(answer: int) -> dict:
    """One of two submissions: right (an even number) or wrong, told apart by a printed number."""
    exercise = lesson(LESSON).exercise(EXERCISE)
    right, wrong = exercise.variants[0].cell, exercise.misconceptions[0].cell
    cells = [
        yard.cell(SETUP.split("from mjcourse")[0], grade_id="header_setup", locked=True),
        yard.cell(right if answer % 2 == 0 else wrong, grade_id=EXERCISE, solution=True),
        yard.cell(f"print('number', {answer})"),
        yard.cell("", grade_id=f"test_{EXERCISE}", grade=True, locked=True),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def jobs(count: int):
    return [(number, submission(number), LESSON) for number in range(count)]


def assert_each_is_graded_once(graded, count: int) -> None:
    keys = [key for key, _ in graded]
    assert sorted(keys) == list(range(count))
    for number, result in graded:
        assert isinstance(result, GradedNotebook), result
        assert f"number {number}\\n" in yard.shown(result)
        points = yard.points(result)[EXERCISE]
        most = lesson(LESSON).exercise(EXERCISE).points
        assert points == most if number % 2 == 0 else points < most


def _workers(parent: int) -> list[int]:
    """Processes that `parent` started and that run workers (not its resource tracker)."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    commands = {int(c): Path(f"/proc/{c}/cmdline").read_bytes() for c in children}
    return [child for child, command in commands.items() if b"spawn_main" in command]


def test_two_processes_grade_each_notebook_once_and_one_of_them_is_killed():
    def kill_one():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and len(done) < 3:
            time.sleep(0.05)
        victim = _workers(os.getpid())
        assert victim
        killed.append(victim[0])
        os.kill(victim[0], signal.SIGKILL)

    done: list = []
    killed: list[int] = []
    killer = threading.Thread(target=kill_one)
    killer.start()
    for item in grade_all(jobs(16), workers=2):
        done.append(item)
        time.sleep(0.05)  # so that the killing falls into the middle
    killer.join()
    assert killed
    assert_each_is_graded_once(done, 16)


def test_one_worker_needs_no_pool():
    assert_each_is_graded_once(list(grade_all(jobs(2), workers=1)), 2)


def test_jobs_are_taken_only_as_fast_as_they_are_graded(monkeypatch):
    taken = []

    def endless():
        for number in range(10**9):
            taken.append(number)
            yield number, {}, LESSON

    monkeypatch.setattr(pool, "grade_one", lambda *a: "graded")
    graded = pool._graded(endless(), lambda: ThreadPoolExecutor(2), 2, False, pool.LIMITS)
    for _ in range(5):
        next(graded)
    graded.close()
    assert len(taken) < 20


class Fragile(Executor):
    """A pool that breaks whenever one notebook is graded in it."""

    broken: bool = False

    def submit(self, function, notebook, *args):
        future: Future = Future()
        if self.broken:
            raise BrokenProcessPool("broken")
        if notebook.get("deadly"):
            self.broken = True
        if self.broken:
            future.set_exception(BrokenProcessPool("broken"))
        else:
            future.set_result(("graded", notebook["n"]))
        return future


def test_a_notebook_that_always_kills_its_worker_is_named_and_the_others_are_graded():
    class_ = [(n, {"n": n, "deadly": n == 3}, LESSON) for n in range(8)]
    graded = dict(pool._graded(class_, Fragile, 4, False, pool.LIMITS))
    assert isinstance(graded.pop(3), WorkerDied)
    assert graded == {n: ("graded", n) for n in range(8) if n != 3}


def test_a_failure_of_one_notebook_is_given_back_and_stops_nothing():
    broken = copy.deepcopy(submission(0))
    del broken["cells"]
    graded = dict(grade_all([("a", broken, LESSON), ("b", submission(0), LESSON)], workers=1))
    assert isinstance(graded["a"], KeyError)
    assert isinstance(graded["b"], GradedNotebook)


def test_what_comes_from_a_worker_holds_no_hidden_case():
    (_, graded), *_ = grade_all([("a", submission(1), LESSON)], workers=1)
    assert [part.failed for result in graded.results for part in result.parts] == [
        [] for result in graded.results for _ in result.parts
    ]


@pytest.mark.slow
def test_a_dask_cluster_grades_each_notebook_once_and_one_worker_is_killed():
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        done = []
        for item in grade_all(jobs(14), dask=cluster.scheduler_address):
            done.append(item)
            if len(done) == 3:
                victim = next(iter(cluster.workers.values()))
                os.kill(victim.process.pid, signal.SIGKILL)
    assert_each_is_graded_once(done, 14)
