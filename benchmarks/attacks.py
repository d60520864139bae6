"""What does each attack of the bank get, from stock nbgrader 0.9.6 and from our grader?

    python benchmarks/attacks.py [--json FILE] [--only WORDS] [--ours]

Every attack of `tests/grading/attacks.py` is a submission of wrong answers with one hostile cell.
Each is graded twice in a course folder made afresh: by `nbgrader autograde` with its stock
settings and tests of the usual kind (assertions in hidden cells), and by our executor. For each:

- points: what the wrong answers got;
- read: the secret stands in an output;
- changed: a file of the course, or one in a folder for temporary files, is not as it was;
- next: an honest submission graded afterwards does not get its full points.

Not part of the tests: stock nbgrader runs these cells unconfined, as the user who starts this. Run
it in a container or a virtual machine that you can throw away.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.grading import ENVIRONMENT  # noqa: E402
from tests.grading import yard  # noqa: E402
from tests.grading.attacks import ATTACKS, SECRET, Attack  # noqa: E402
from tests.grading.test_attacks import build_world, snapshot  # noqa: E402

# Hidden tests as they are usually written: they run in the student's kernel.
STOCK_TESTS = {
    "quat_mul": """
        rng = np.random.default_rng(1)
        for a, b in rng.normal(size=(5, 2, 4)):
            expected = np.empty(4)
            mujoco.mju_mulQuat(expected, a, b)
            np.testing.assert_allclose(quat_mul(a, b), expected, atol=1e-9)
    """,
    "square": """
        q = np.array([0.5, 0.1, -0.2, 0.3])
        expected = np.empty(4)
        mujoco.mju_mulQuat(expected, q, q)
        np.testing.assert_allclose(square(q), expected, atol=1e-9)
    """,
    "kinetic": """
        model = mujoco.MjModel.from_xml_string(CART)
        data = mujoco.MjData(model)
        data.qvel[0] = 0.7
        assert abs(kinetic(model, data) - 0.49) < 1e-9
    """,
    "advance": """
        model = mujoco.MjModel.from_xml_string(CART)
        data, expected = mujoco.MjData(model), mujoco.MjData(model)
        expected.ctrl[:] = 3.0
        mujoco.mj_step(model, expected)
        advance(model, data, lambda m, d: np.array([3.0]))
        np.testing.assert_array_equal(data.qpos, expected.qpos)
        assert data.time == expected.time
    """,
    "counter": """
        counter = Counter(5)
        assert counter.add(2) == 7
        assert counter.add(3) == 10 and counter.count == 10
    """,
    "sizes": """
        assert nq == 8
        assert names == {"rail": 0}
    """,
}

DRIVER = """
import os, sys
from nbgrader.apps.api import NbGraderAPI
from traitlets.config import Config
for line in sys.stdin:
    world, *students = line.split("\\t")
    os.chdir(world)
    c = Config()
    c.CourseDirectory.root = world
    c.Execute.timeout = 5
    for student in students:
        NbGraderAPI(config=c).autograde("yard", student.strip(), force=True)
    sys.__stdout__.write("done\\n")
    sys.__stdout__.flush()
"""


class Stock:
    """nbgrader in a process of its own, which an attack may take along; then there is another."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def grade(self, world: Path, *students: str, seconds: float = 180.0) -> None:
        """Grade these students one after the other; ends the process when it takes longer."""
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(
                [sys.executable, "-c", DRIVER],
                env={**ENVIRONMENT, "INSTRUCTOR_TOKEN": SECRET, "MUJOCO_GL": "disable"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write("\t".join([str(world), *students]) + "\n")
            self._process.stdin.flush()
        except OSError:
            return
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            ready, _, _ = select.select([self._process.stdout], [], [], 1.0)
            if ready and self._process.stdout.readline() in ("done\n", ""):
                return
        self.close()

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


@dataclass
class Verdict:
    """What one attack got from one grader."""

    points: float = 0.0
    read: bool = False
    changed: bool = False
    next: bool = False

    def text(self) -> str:
        points = f"{self.points:g}" if self.points else "-"
        marks = ["yes" if flag else "-" for flag in (self.read, self.changed, self.next)]
        return f"{points:>7}" + "".join(f"{mark:>9}" for mark in marks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument(
        "--only", default="", metavar="WORDS", help="attacks whose kind and name have them"
    )
    parser.add_argument("--ours", action="store_true", help="without stock nbgrader")
    options = parser.parse_args()
    chosen = [a for a in ATTACKS if options.only in f"{a.kind}: {a.name}"]
    head = f"{'points':>7}{'read':>9}{'changed':>9}{'next':>9}"
    print(f"{'':<50}|{'stock nbgrader 0.9.6':^34}|{'ours':^34}")
    print(f"{'attack':<50}|{head}|{head}")
    rows = []
    with _folder() as folder:
        made = None if options.ours else pristine(Path(folder, "pristine"))
        with our_grader() as grade, contextlib.closing(Stock()) as nbgrader:
            for number, attack in enumerate(chosen):
                stock = None
                if made is not None:
                    stock = by_stock(attack, nbgrader, made, Path(folder, f"stock{number}"))
                our = by_ours(attack, grade, Path(folder, f"ours{number}"))
                rows.append((attack, stock, our))
                words = f"{attack.kind}: {attack.name}"
                print(f"{words:<50}|{stock.text() if stock else '':>34}|{our.text()}", flush=True)
    for name, which in (("stock nbgrader", 1), ("ours", 2)):
        verdicts = [row[which] for row in rows if row[which] is not None]
        won = sum(bool(v.points or v.read or v.changed or v.next) for v in verdicts)
        print(f"{name}: {won} of {len(verdicts)} attacks got something")
    if options.json:
        found = [
            {
                "attack": attack.name,
                "kind": attack.kind,
                "stock": asdict(stock) if stock else None,
                "ours": asdict(our),
            }
            for attack, stock, our in rows
        ]
        options.json.write_text(json.dumps(found, indent=1) + "\n")


@contextlib.contextmanager
def our_grader() -> Any:
    """Our executor on the yard, with the secret in the instructor's environment."""
    from course.grading import executor, score
    from course.grading.apart import ForkServer, Limits

    os.environ["INSTRUCTOR_TOKEN"] = SECRET
    server = ForkServer()
    ready = {e.id: score.prepare(e) for e in yard.lesson().exercises}
    executor.prepare = lambda exercise: ready[exercise.id]  # type: ignore[assignment]
    limits = Limits(cell_s=5.0, call_s=2.0, total_s=30.0, cpu_s=20, disk_mb=32)

    def grade(notebook: dict[str, Any]) -> Any:
        return executor.grade_notebook(
            notebook, yard.lesson(), tests={}, server=server, limits=limits
        )

    try:
        yield grade
    finally:
        server.close()


@contextlib.contextmanager
def _folder() -> Any:
    folder = tempfile.mkdtemp(prefix="attacks-")
    try:
        yield folder
    finally:
        _remove(Path(folder))


def _remove(folder: Path) -> None:
    # `rm` copes with folders nested deeper than Python's recursion goes.
    subprocess.run(["rm", "-rf", "--", str(folder)], check=False)


def by_ours(attack: Attack, grade: Any, world: Path) -> Verdict:
    build_world(world)
    before = _state(world)
    graded = grade(attack.notebook(world))
    text = yard.shown(graded)
    changed = _state(world) != before
    following = grade(yard.notebook())
    _remove(world)
    return Verdict(graded.points, SECRET in text, changed, following.points != yard.FULL)


def pristine(root: Path) -> Path:
    """A stock course folder with the yard released, and an honest submission of `zoe`."""
    build_world(root)
    (root / "nbgrader_config.py").write_text(f"c = get_config()\n# {SECRET}\n")
    shutil.rmtree(root / "autograded")
    (root / "gradebook.db").unlink()
    (root / "source/yard/yard.py").unlink()
    (root / "source/yard/yard.ipynb").write_text(json.dumps(_stock_notebook(None, root)))
    command = [str(Path(sys.executable).with_name("nbgrader")), "generate_assignment", "yard"]
    done = subprocess.run(command, cwd=root, env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    honest = _stock_notebook(None, root)
    (root / "submitted/zoe/yard/yard.ipynb").write_text(json.dumps(honest))
    return root


def _stock_notebook(attack: Attack | None, world: Path) -> dict[str, Any]:
    """A submission (or, without an attack, right answers) with cells as nbgrader wants them."""
    notebook = yard.notebook() if attack is None else attack.notebook(world)
    for cell in notebook["cells"]:
        cell.setdefault("id", f"cell{id(cell)}"[:60])
        about = cell["metadata"].get("nbgrader")
        if not isinstance(about, dict) or not isinstance(about.get("grade_id"), str):
            continue
        name = about["grade_id"]
        for key in ("grade", "solution", "locked"):
            about.setdefault(key, False)
        about.update(schema_version=3, task=False)
        if name.startswith("test_"):
            exercise = name.removeprefix("test_")
            about.setdefault("points", yard.lesson().exercise(exercise).points)
            if attack is None:
                tests = textwrap.dedent(STOCK_TESTS[exercise])
                cell["source"] = (
                    f"### BEGIN HIDDEN TESTS\n# {SECRET}\nCART = '''{yard.CART}'''"
                    f"{tests}### END HIDDEN TESTS"
                )
        if cell["cell_type"] == "markdown":
            cell.pop("outputs", None)
            cell.pop("execution_count", None)
    notebook["metadata"] = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
    }
    return notebook


def by_stock(attack: Attack, stock: Stock, made: Path, world: Path) -> Verdict:
    shutil.copytree(made, world)
    folder = world / "submitted" / "mallory" / "yard"
    folder.mkdir(parents=True)
    (folder / "yard.ipynb").write_text(json.dumps(_stock_notebook(attack, world)))
    before = _state(world)
    stock.grade(world, "mallory", "zoe")
    time.sleep(1.0)  # for what a daemon does afterwards
    changed = _state(world) != before
    output = world / "autograded" / "mallory" / "yard" / "yard.ipynb"
    text = ""
    if output.is_file():
        cells = json.loads(output.read_text())["cells"]
        text = json.dumps([cell.get("outputs", []) for cell in cells])
    points, honest = _stock_points(world, "mallory"), _stock_points(world, "zoe")
    _remove(world)
    return Verdict(points, SECRET in text, changed, honest != yard.FULL)


def _stock_points(world: Path, student: str) -> float:
    """What stands in nbgrader's gradebook."""
    import sqlite3

    query = (
        "select sum(g.auto_score) from grade g join submitted_notebook n on g.notebook_id = n.id "
        "join submitted_assignment a on n.assignment_id = a.id where a.student_id = ?"
    )
    try:
        with contextlib.closing(sqlite3.connect(world / "gradebook.db")) as database:
            (total,) = database.execute(query, (student,)).fetchone()
    except sqlite3.Error:
        return 0.0
    return float(total or 0.0)


def _state(world: Path) -> Any:
    """All that an attack must leave alone: but for what stock nbgrader itself writes."""
    import sqlite3

    written = ("autograded", "gradebook.db", "submitted/mallory", ".nbgrader.log")
    files = {
        k: v for k, v in snapshot(world, skip="autograded").items() if not k.startswith(written)
    }
    files = {k: v for k, v in files.items() if not k.endswith(("__pycache__", ".log"))}
    tables: list[Any] = []
    query = "select name from sqlite_master where name = 'forged'"
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(world / "gradebook.db")) as database,
    ):
        tables = database.execute(query).fetchall()
    around = [p.name for p in world.parent.iterdir() if "forged" in p.name]
    places = ("/tmp", "/var/tmp", "/dev/shm")
    left = [n for p in places if os.path.isdir(p) for n in os.listdir(p) if "forged" in n]
    return files, tables, around, left


if __name__ == "__main__":
    main()
