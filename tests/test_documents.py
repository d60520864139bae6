"""What the documents say is there, and what is there is found from them."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from course.exercises import LESSONS, lesson
from course.paths import CHECKOUT

PAGES = ("README.md", "CONTRIBUTING.md")


def text(page: str) -> str:
    return (CHECKOUT / page).read_text()


def test_every_link_of_the_readme_leads_to_a_file():
    links = re.findall(r"\]\(([^)#]+)\)", text("README.md"))
    local = [link for link in links if "://" not in link]
    assert len(local) > 5
    assert [link for link in local if not (CHECKOUT / link).exists()] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_file_that_a_page_names_in_code_exists(page):
    named = re.findall(r"`((?:course|shared|tests|scripts|benchmarks|source)/[\w./]+)`", text(page))
    here = [name for name in named if "/L" not in name and "/X" not in name]
    assert [name for name in here if not (CHECKOUT / name).exists()] == []


def test_every_command_of_the_readme_is_a_verb_of_the_course():
    verbs = set(re.findall(r"python -m course (\w+)", text("README.md") + text("CONTRIBUTING.md")))
    shown = subprocess.run(
        [sys.executable, "-m", "course", "--help"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert [verb for verb in sorted(verbs) if verb not in shown] == []


def test_every_make_target_of_the_readme_exists():
    targets = set(re.findall(r"\bmake (demo|test|lab|setup|lock)\b", text("README.md")))
    makefile = text("Makefile")
    assert targets >= {"demo", "test", "lab"}
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


@pytest.mark.parametrize("id", LESSONS)
def test_core_exercises_are_about_half_of_the_points(id):
    exercises = lesson(id).exercises
    core = sum(e.points for e in exercises if e.core)
    assert 0.4 <= core / sum(e.points for e in exercises) <= 0.65


POINTS = {
    "generalized_coordinates": (30, 3),
    "rotations": (40, 6),
    "pipeline": (40, 5),
    "env_conventions": (40, 5),
}


@pytest.mark.parametrize("id", LESSONS)
def test_a_lesson_gives_the_points_that_its_header_promises(id):
    exercises = lesson(id).exercises
    of_check = sum(e.points for e in exercises if e.id == "knowledge_check")
    others = sum(e.points + e.manual_points for e in exercises if e.id != "knowledge_check")
    assert (others, of_check) == POINTS[id]


def test_the_repository_names_no_machine_and_no_registry():
    tracked = subprocess.run(
        ["git", "ls-files"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout.split()
    forbidden = re.compile(
        r"/wor[k]/|/roo[t]/|/home/[a-z]+/|--(extra-)?index-ur[l]|pypi\.or[g]|file[s]\.pythonhosted"
    )
    found = []
    for name in tracked:
        path = CHECKOUT / name
        if path.suffix in {".png", ".jpg", ".webp"} or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if forbidden.search(line):
                found.append(f"{name}:{number}: {line.strip()[:80]}")
    assert found == []
