"""No attack of the bank gains a point, reads a secret, changes a file or troubles the next one."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from pathlib import Path

import pytest

from course.grading.apart import ForkServer, Limits
from tests.grading import yard
from tests.grading.attacks import ATTACKS, SECRET, Attack

# Wide enough for honest work on a busy machine, short enough to stop a loop soon.
LIMITS = Limits(cell_s=2.5, call_s=2.0, total_s=20.0, cpu_s=15, disk_mb=32)


def build_world(root: Path) -> Path:
    """A course folder whose every file holds the secret."""
    for name in (
        "secret.txt",
        "nbgrader_config.py",
        "source/yard/yard.py",
        "autograded/zoe/yard/yard.ipynb",
        "submitted/zoe/yard/yard.ipynb",
        "home/.ssh/id",
        "home/.jupyter/jupyter_config.py",
    ):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {SECRET}\n")
    with sqlite3.connect(root / "gradebook.db") as database:
        database.execute("create table grades (student, points, note)")
        database.execute("insert into grades values ('zoe', 1, ?)", (SECRET,))
    database.close()
    return root


def snapshot(root: Path, skip: str = "") -> dict[str, tuple[str, int, int, int]]:
    """Every file beneath, with its content, mode, owner and time; without folders named `skip`."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != skip)
        for name in (*folders, *names):
            path = Path(folder, name)
            about = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            key = str(path.relative_to(root))
            time_ns = about.st_mtime_ns if content else 0
            found[key] = (content, about.st_mode, about.st_uid, time_ns)
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return build_world(tmp_path_factory.mktemp("outer") / "course")


@pytest.fixture(scope="module")
def exposed():
    """A fork server started by an instructor whose environment holds a secret."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INSTRUCTOR_TOKEN", SECRET)
        server = ForkServer()
        yield server
        server.close()


def _tidy() -> set[str]:
    """What lies where everybody may write, and who else is running."""
    places = ("/tmp", "/var/tmp", "/dev/shm")
    return {f"{p}/{n}" for p in places if os.path.isdir(p) for n in os.listdir(p) if "forged" in n}


def _children(process_id: int) -> list[str]:
    return Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()


def test_the_bank_is_large_and_of_every_kind():
    assert len(ATTACKS) >= 40
    assert len({a.name for a in ATTACKS}) == len(ATTACKS)
    assert {a.kind for a in ATTACKS} == {"forge", "read", "write", "process", "resource", "format"}


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name.replace(" ", "-"))
def test_an_attack_gains_nothing(attack: Attack, grade, exposed, world, capfd):
    before, tidy = snapshot(world.parent), _tidy()
    graded = grade(attack.notebook(world), server=exposed, limits=LIMITS)

    assert graded.points <= attack.deserved, [r.text() for r in graded.results if r.points]
    text = yard.shown(graded) + "".join(r.text() for r in graded.results)
    assert SECRET not in text
    assert "<script" not in text
    assert "onerror" not in text
    assert "javascript:" not in text
    assert len(text) < 1_000_000
    assert not [p for p in graded.problems if "the grader failed" in p]
    assert snapshot(world.parent) == before
    assert _tidy() == tidy
    assert _children(exposed.process_id) == []
    assert capfd.readouterr() == ("", "")

    following = grade(yard.notebook(), server=exposed)
    assert following.points == yard.FULL
    assert following.problems == []


def test_right_answers_beside_an_attack_still_count(grade, exposed, world):
    for attack in ATTACKS:
        if attack.name in ("closes the wire", "takes three gigabytes", "crashes in C"):
            notebook = attack.notebook(world)
            for cell in notebook["cells"]:
                if yard.grade_id(cell) in yard.SOLUTIONS:
                    cell["source"] = yard.SOLUTIONS[yard.grade_id(cell)]
            graded = grade(notebook, server=exposed, limits=LIMITS)
            assert graded.points == yard.FULL, attack.name
