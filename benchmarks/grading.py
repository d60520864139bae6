"""How fast is a class graded? Stock nbgrader, our executor, and the limit, in one run.

    python benchmarks/grading.py [--json FILE] [--workers 2] [--each 25] [--without-stock]

The same class is graded three times on the same machine: `--each` submissions of each lesson
(right, untouched, half done, and wrong in ways that students go wrong).

- *stock*: `nbgrader autograde` 0.9.6 with no configuration of ours, one lesson after the other.
  Its hidden tests are the same ones, run in the student's kernel in the untrusted mode that a
  course has to ask for by name.
- *ours*: `python -m course grade --workers N`: repair, executor, sandbox, gradebook.
- *limit*: the bare execution of the same student cells and hidden tests in one process where
  everything is imported and worked out already: no sandbox, no second process, no IPython, no
  notebook format, no gradebook.

Memory is the sum over all processes of a run, pages that they share counted once. Times depend on
the machine and on what else it does, processor seconds less so; the ratios travel better.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

ENVIRONMENT = {
    **os.environ,
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": str(ROOT),
    "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}",
}


def submissions(lesson_id: str, count: int) -> Iterator[dict[str, Any]]:
    """A class of that size: the kinds of submission take turns."""
    from course import demo
    from course.exercises import lesson

    full = demo.solved(lesson_id)
    wrong = [demo.with_answers(full, answers) for answers in demo.mistaken(lesson(lesson_id))]
    kinds = [full, wrong[0], full, wrong[1], demo.half_solved(lesson_id), full, wrong[2], full]
    kinds += [demo.released(lesson_id), full]
    for number in range(count):
        yield kinds[number % len(kinds)]


def hand_in(root: Path, lessons: tuple[str, ...], each: int) -> int:
    """Write the class into `submitted/`; returns the number of submissions."""
    for lesson_id in lessons:
        for number, notebook in enumerate(submissions(lesson_id, each)):
            folder = root / "submitted" / f"student{number:03d}" / lesson_id
            folder.mkdir(parents=True)
            (folder / f"{lesson_id}.ipynb").write_text(json.dumps(notebook))
    return len(lessons) * each


class Memory:
    """The largest memory of a process and all that it starts, in megabytes, while it runs."""

    def __init__(self, process_id: int) -> None:
        self.peak_mb = 0.0
        self._root, self._done = process_id, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> float:
        self._done.set()
        self._thread.join()
        return self.peak_mb

    def _watch(self) -> None:
        while not self._done.wait(0.25):
            self.peak_mb = max(self.peak_mb, memory_mb(self._root))


def memory_mb(process_id: int) -> float:
    """Memory of a process and its descendants; what they share is counted once."""
    total, todo = 0, [process_id]
    while todo:
        one = todo.pop()
        with contextlib.suppress(OSError, ValueError):
            for thread in os.listdir(f"/proc/{one}/task"):
                children = Path(f"/proc/{one}/task/{thread}/children").read_text().split()
                todo += map(int, children)
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
    return total / 1024


@dataclass
class Cost:
    """What a run took: seconds, processor seconds of all its processes, megabytes; its points."""

    seconds: float = 0.0
    cpu: float = 0.0
    peak_mb: float = 0.0
    points: float = float("nan")

    def add(self, other: Cost) -> None:
        self.seconds += other.seconds
        self.cpu += other.cpu
        self.peak_mb = max(self.peak_mb, other.peak_mb)


def children_cpu() -> float:
    """Processor seconds of the children of this process that have ended, and of theirs."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command: list[str], cwd: Path, **environment: str) -> Cost:
    """Run a command. Its words appear only when it fails."""
    start, cpu = time.perf_counter(), children_cpu()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        env={**ENVIRONMENT, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    memory = Memory(process.pid)
    said, _ = process.communicate()
    seconds = time.perf_counter() - start
    peak = memory.stop()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{said[-3000:]}")
    return Cost(seconds, children_cpu() - cpu, peak)


def stock(root: Path, lessons: tuple[str, ...], each: int) -> Cost:
    """Grade the class with stock nbgrader."""
    hand_in(root, lessons, each)
    for lesson_id in lessons:
        target = root / "source" / lesson_id
        target.mkdir(parents=True)
        shutil.copy(ROOT / "source" / lesson_id / f"{lesson_id}.ipynb", target)
    nbgrader = str(Path(sys.executable).with_name("nbgrader"))
    for lesson_id in lessons:
        run([nbgrader, "generate_assignment", lesson_id], root)
    cost = Cost()
    for lesson_id in lessons:
        cost.add(run([nbgrader, "autograde", lesson_id], root, MJCOURSE_UNTRUSTED_GRADING="1"))
    cost.points = points(root / "gradebook.db")
    return cost


def ours(root: Path, lessons: tuple[str, ...], each: int, workers: int) -> Cost:
    """Grade the class with `python -m course grade`."""
    hand_in(root, lessons, each)
    command = [sys.executable, "-m", "course", "grade", *lessons, "--root", str(root)]
    cost = run([*command, "--workers", str(workers)], ROOT)
    cost.points = points(root / "gradebook.db")
    return cost


def points(gradebook: Path) -> float:
    """The sum of all automatic scores in a gradebook."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(gradebook)) as database:
        (total,) = database.execute("select sum(auto_score) from grade").fetchone()
    return float(total or 0.0)


def limit(lessons: tuple[str, ...], each: int) -> Cost:
    """The bare execution of every cell and every hidden test, in this process."""
    os.environ.update(NBGRADER_EXECUTION="autograde", MPLBACKEND="Agg", MUJOCO_GL="disable")
    cost = Cost()
    for lesson_id in lessons:
        notebooks = list(submissions(lesson_id, each))
        for notebook in notebooks:  # imports, cases, references, what each mistake gives
            bare(notebook, lesson_id)
        start, cpu = time.perf_counter(), time.process_time()
        for notebook in notebooks:
            bare(notebook, lesson_id)
        cost.seconds += time.perf_counter() - start
        cost.cpu += time.process_time() - cpu
    return cost


def bare(notebook: dict[str, Any], lesson_id: str) -> None:
    """Run the cells of one submission, and its hidden tests on what they define."""
    from course.exercises import lesson
    from course.grading.door import LocalDoor
    from course.grading.score import prepared, score

    names: dict[str, Any] = {"__name__": "__main__"}
    known = {f"test_{e.id}": e.id for e in lesson(lesson_id).exercises if e.parts}
    aside = io.StringIO()
    with (
        contextlib.redirect_stdout(aside),
        contextlib.redirect_stderr(aside),
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as scratch,
        contextlib.chdir(scratch),
    ):
        warnings.simplefilter("ignore")
        for cell in notebook["cells"]:
            about = cell["metadata"].get("nbgrader", {})
            id = about.get("grade_id", "")
            if cell["cell_type"] != "code" or id.startswith("check_"):
                continue
            if id in known:
                score(prepared(lesson_id, known[id]), LocalDoor(names))
                continue
            with contextlib.suppress(Exception):
                exec(compile("".join(cell["source"]), "<cell>", "exec"), names)


def measured(what: str, work: Callable[[Path], Any]) -> Any:
    print(f"{what} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="mjcourse-benchmark-") as folder:
        return work(Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--each", type=int, default=25, metavar="N", help="per lesson")
    parser.add_argument("--without-stock", action="store_true")
    parser.add_argument("--lessons", nargs="*", default=None)
    options = parser.parse_args()

    from course.exercises import LESSONS

    lessons = tuple(options.lessons or LESSONS)
    each, workers = options.each, options.workers
    count = len(lessons) * each
    limit_cost = measured("the limit", lambda _: limit(lessons, each))
    our_cost = measured("ours", lambda root: ours(root, lessons, each, workers))
    stock_cost = Cost(float("nan"), float("nan"), float("nan"))
    if not options.without_stock:
        stock_cost = measured("stock", lambda root: stock(root, lessons, each))

    machine = f"{os.cpu_count()} processors, {platform.system()} {platform.machine()}"
    version = f"Python {platform.python_version()}"
    print(f"{count} submissions of {len(lessons)} lessons, {machine}, {version}")
    print(f"{'':<26}{'s':>8}{'s each':>9}{'CPU s':>8}{'CPU s each':>12}{'MB':>7}{'points':>9}")
    rows = [
        ("stock nbgrader 0.9.6", stock_cost),
        (f"ours, {workers} workers", our_cost),
        ("limit, one warm process", limit_cost),
    ]
    for name, cost in rows:
        print(
            f"{name:<26}{cost.seconds:>8.1f}{cost.seconds / count:>9.3f}{cost.cpu:>8.1f}"
            f"{cost.cpu / count:>12.3f}{cost.peak_mb:>7.0f}{cost.points:>9.1f}"
        )
    ratio = stock_cost.seconds / our_cost.seconds
    over = our_cost.seconds * workers / limit_cost.seconds
    print(f"{ratio:.1f} times as fast as stock; {over:.2f} times the limit for each worker")
    if options.json:
        found = {
            "submissions": count,
            "workers": workers,
            "stock_s_per_submission": stock_cost.seconds / count,
            "ours_s_per_submission": our_cost.seconds / count,
            "ratio": ratio,
            "limit_s_per_submission": limit_cost.seconds / count,
            "peak_mb": our_cost.peak_mb,
            "stock_cpu_s_per_submission": stock_cost.cpu / count,
            "ours_cpu_s_per_submission": our_cost.cpu / count,
            "limit_cpu_s_per_submission": limit_cost.cpu / count,
        }
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
