"""Does memory grow with the number of submissions? One worker grades 500, one after the other.

    python benchmarks/memory.py [--submissions 500] [--json FILE]

Every kind of submission takes turns, stopped and hostile ones among them. Printed at ten places:
the memory of the worker, of its fork server, the submissions' processes that are left, open
files, and scratch folders left behind.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from itertools import cycle, islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ.update(MUJOCO_GL="disable", OPENBLAS_NUM_THREADS="1")

from benchmarks.grading import submissions  # noqa: E402
from course.grading.apart import Limits, warm_server  # noqa: E402
from course.grading.executor import grade_notebook  # noqa: E402

STOPPED = "import os\nx = bytearray(100_000_000)\nprint('y' * 10**6)\nos._exit(1)"


def resident_mb(process_id: int) -> float:
    """Resident memory of one process, in megabytes."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def a_class(lesson_id: str) -> list[dict[str, Any]]:
    """Submissions of a lesson, one of them with a cell that takes memory and ends the process."""
    made = list(submissions(lesson_id, 9))
    stopped = json.loads(json.dumps(made[0]))
    cell = {"cell_type": "code", "source": STOPPED, "metadata": {}, "outputs": []}
    stopped["cells"].insert(1, {**cell, "execution_count": None})
    return [*made, stopped]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=500, metavar="N")
    parser.add_argument("--lesson", default="rotations")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()

    server, home = warm_server().process_id, Path(warm_server().home)
    curve = []
    print(f"{'graded':>7}{'worker MB':>11}{'server MB':>11}{'left':>6}{'files':>7}{'folders':>9}")
    class_ = a_class(options.lesson)
    start = time.perf_counter()
    every = max(options.submissions // 10, 1)
    for number, notebook in enumerate(islice(cycle(class_), options.submissions), start=1):
        grade_notebook(notebook, options.lesson, limits=Limits())
        if number % every and number != 1:
            continue
        row = {
            "graded": number,
            "worker_mb": resident_mb(os.getpid()),
            "server_mb": resident_mb(server),
            "left": len(Path(f"/proc/{server}/task/{server}/children").read_text().split()),
            "files": len(os.listdir("/proc/self/fd")),
            "folders": len(list(home.glob("scratch-*"))),
        }
        curve.append(row)
        print(
            f"{number:>7}{row['worker_mb']:>11.1f}{row['server_mb']:>11.1f}{row['left']:>6}"
            f"{row['files']:>7}{row['folders']:>9}",
            flush=True,
        )
    seconds = time.perf_counter() - start
    growth = curve[-1]["worker_mb"] - curve[len(curve) // 4]["worker_mb"]
    print(
        f"{seconds / options.submissions:.3f} s for each; {growth:+.1f} MB over the last quarters"
    )
    if options.json:
        options.json.write_text(json.dumps({"curve": curve, "growth_mb": growth}, indent=1) + "\n")


if __name__ == "__main__":
    main()
