"""The wall: the wheel and the sdist hold the student's library and the scenes, nothing else."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import nbformat
import pytest

import mjcourse
from course import settings
from course.exercises import LESSONS
from course.exercises import lesson as find_lesson
from course.paths import CHECKOUT, release_path, truth_path
from course.publish import LIST, SECRETS, NotPublished, build_wheel, publish, student_files

LIBRARY = CHECKOUT / "shared" / "mjcourse"
# Not of the checkout, or too large to copy: environments, caches, histories, course data.
APART = (".*", "__pycache__", "*.egg-info", "build", "dist", "demo", "lab", "node_modules")
BUILD = """
import sys
from setuptools import build_meta
folder = sys.argv[1]
build_meta.build_wheel(folder)
build_meta.build_sdist(folder)
"""
THIRD_PARTY = {"IPython", "google", "ipywidgets", "matplotlib", "mediapy", "mujoco", "numpy"}
THIRD_PARTY |= {"scipy", "PIL", "imageio_ffmpeg", "traitlets", "ipykernel", "cycler"}


@pytest.fixture(scope="module")
def archives(tmp_path_factory) -> dict[str, dict[str, bytes]]:
    """Content by path of the wheel and the sdist, built from a whole copy of the checkout."""
    copy, built = tmp_path_factory.mktemp("copy") / "checkout", tmp_path_factory.mktemp("built")
    copy.mkdir()
    for path in CHECKOUT.iterdir():
        if path.name.startswith(".") or path.name in APART:
            continue
        if path.is_dir():
            # `lab` at the top is a working copy; `mjcourse/lab` is a package.
            nested = [name for name in APART if name not in ("lab", "demo")]
            shutil.copytree(path, copy / path.name, ignore=shutil.ignore_patterns(*nested))
        else:
            shutil.copyfile(path, copy / path.name)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, str(built)], cwd=copy, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        in_wheel = {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        members = [m for m in sdist.getmembers() if m.isfile()]
        in_sdist = {m.name: sdist.extractfile(m).read() for m in members}
    return {"wheel": in_wheel, "sdist": in_sdist}


def modules() -> list[str]:
    return sorted(p.relative_to(LIBRARY.parent).as_posix() for p in LIBRARY.rglob("*.py"))


def secrets() -> list[str]:
    """Lines that only the instructor's side holds: sentences, references, solutions."""
    found = []
    for id in LESSONS:
        for exercise in find_lesson(id).exercises:
            found += [wrong.text for wrong in exercise.misconceptions]
            cells = [made.cell for made in (*exercise.misconceptions, *exercise.variants)]
            found += [longest_line(cell) for cell in cells]
        regions = re.findall(
            r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", truth_path(id).read_text(), re.DOTALL
        )
        found += [longest_line(region) for region in regions]
    return [text for text in found if len(text) > 30]


def longest_line(text: str) -> str:
    return max((line.strip() for line in text.splitlines()), key=len, default="")


def test_the_wheel_holds_every_module_and_every_scene(archives):
    wheel = set(archives["wheel"])
    assert set(modules()) <= wheel
    scenes = {f"mjcourse/scenes/{path.name}" for path in (CHECKOUT / "models").glob("*.xml")}
    assert scenes
    assert scenes <= wheel


def test_the_wheel_holds_nothing_else(archives):
    about = {f"mjcourse-{settings.VERSION}.dist-info/licenses/LICENSE"}
    rest = set(archives["wheel"]) - set(modules()) - about
    odd = [n for n in rest if not re.fullmatch(r"mjcourse/scenes/\w+\.(xml|py)", n)]
    names = {Path(n).name for n in odd}
    assert names == {"METADATA", "WHEEL", "RECORD", "top_level.txt"}


def test_the_sdist_holds_what_the_wheel_is_made_of(archives):
    top = {name.split("/")[1] for name in archives["sdist"]}
    assert top <= {"LICENSE", "PKG-INFO", "pyproject.toml", "setup.cfg", "shared", "models"} | {
        "MANIFEST.in"
    }
    assert sum(name.endswith(".py") for name in archives["sdist"]) == len(modules()) + 1


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_no_solution_reference_hidden_test_or_misconception_is_inside(archives, kind):
    text = "\n".join(data.decode(errors="replace") for data in archives[kind].values())
    known = secrets()
    assert len(known) > 100
    assert [secret for secret in known if secret in text] == []
    assert re.search("|".join(SECRETS), text) is None


def imports_of(source: str) -> set[str]:
    """Top names of what a text imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def test_the_library_never_imports_the_instructors_side():
    for path in LIBRARY.rglob("*.py"):
        strange = imports_of(path.read_text()) - THIRD_PARTY - set(sys.stdlib_module_names)
        assert strange <= {"mjcourse"}, f"{path.name} imports {strange}"


def mjcourse_names(source: str) -> set[str]:
    """Dotted names below `mjcourse` that a text imports or uses."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mjcourse"):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {a.name for a in node.names if a.name.startswith("mjcourse")}
        elif isinstance(node, ast.Attribute) and ast.unparse(node).startswith("mjcourse."):
            names.add(ast.unparse(node))
    return names


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_a_released_notebook_imports_is_in_the_wheel(archives, lesson, tmp_path):
    used, others = set(), set()
    for cell in nbformat.read(release_path(lesson), as_version=4).cells:
        if cell.cell_type == "code":
            used |= mjcourse_names(cell.source)
            others |= imports_of(cell.source)
    assert "mjcourse.begin" in used
    assert others - {"mjcourse"} <= THIRD_PARTY | set(sys.stdlib_module_names)
    for name, data in archives["wheel"].items():
        target = tmp_path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    # Isolated, with the unpacked wheel first: the checkout's own package is not what is found.
    probe = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import mjcourse, pkgutil, importlib\n"
        f"assert mjcourse.__file__.startswith({str(tmp_path)!r})\n"
        + "".join(f"assert pkgutil.resolve_name({name!r}) is not None\n" for name in sorted(used))
    )
    done = subprocess.run([sys.executable, "-I", "-c", probe], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_public_name_exists_and_comes_when_asked_for():
    assert set(mjcourse.__all__) == {*mjcourse._HOME, *mjcourse._MODULES}
    for name in mjcourse.__all__:
        assert getattr(mjcourse, name) is not None
        assert name in dir(mjcourse)
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = mjcourse.no_such_name


def test_importing_the_package_imports_nothing_heavy():
    probe = (
        "import sys, mjcourse\n"
        "heavy = {'mujoco', 'numpy', 'ipywidgets', 'matplotlib', 'IPython', 'course'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True, cwd="/"
    )
    assert done.stdout.strip() == "[]"


def test_the_version_is_stated_once_in_effect():
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    assert project["version"] == mjcourse.__version__ == settings.VERSION
    assert settings.VERSION in settings.WHEEL_URL
    assert settings.TAG in settings.colab_url("rotations")


def test_the_published_wheel_has_the_same_bytes_every_time(tmp_path, archives):
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
    data = build_wheel(first).read_bytes()
    assert data == build_wheel(second).read_bytes()
    with zipfile.ZipFile(first / settings.WHEEL) as wheel:
        assert sorted(wheel.namelist()) == sorted(archives["wheel"])


def files_in(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_publishing_writes_releases_wheel_and_readme(tmp_path):
    root = publish(tmp_path / "public")
    expected = {settings.release_path(lesson) for lesson in LESSONS}
    expected |= {"README.md", "LICENSE", "LICENSE-lessons.md", f"wheels/{settings.WHEEL}", LIST}
    assert files_in(root) == expected
    for lesson in LESSONS:
        assert settings.colab_url(lesson) in (root / "README.md").read_text()
        assert settings.release_path(lesson) in settings.colab_url(lesson)
    assert settings.WHEEL_URL.endswith(f"{settings.TAG}/wheels/{settings.WHEEL}")


def test_publishing_again_is_accepted_and_removes_what_is_no_longer_part(tmp_path):
    root = publish(tmp_path)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("ref")
    before = files_in(root)
    listed = (root / LIST).read_text()
    (root / "wheels" / "old.whl").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    (root / LIST).write_text(
        listed.replace('"files": {', f'"files": {{\n  "wheels/old.whl": "{empty}",')
    )
    publish(root)
    assert files_in(root) == before


@pytest.mark.parametrize(
    "secret", ["### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "from course.grading import grade"]
)
def test_a_release_that_holds_what_is_hidden_is_not_published(tmp_path, monkeypatch, secret):
    leaky = tmp_path / "leaky.ipynb"
    leaky.write_text(
        nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(secret)]))
    )
    monkeypatch.setattr("course.publish.release_path", lambda lesson: leaky)
    with pytest.raises(NotPublished, match="not for students"):
        publish(tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_a_missing_release_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("course.publish.release_path", lambda lesson: tmp_path / "none.ipynb")
    with pytest.raises(NotPublished, match=rf"the release of {LESSONS[0]} is missing"):
        publish(tmp_path / "public")


@pytest.mark.parametrize("name", ["notes.txt", "release/rotations/mine.ipynb", ".hidden"])
def test_a_destination_with_unknown_files_is_refused(tmp_path, name):
    stranger = tmp_path / name
    stranger.parent.mkdir(parents=True, exist_ok=True)
    stranger.write_text("mine")
    with pytest.raises(NotPublished, match=re.escape(name)):
        publish(tmp_path)
    assert files_in(tmp_path) == {name}


def test_a_published_file_that_somebody_changed_is_not_overwritten(tmp_path):
    root = publish(tmp_path)
    (root / "README.md").write_text("my own words")
    with pytest.raises(NotPublished, match=r"README\.md"):
        publish(root)
    assert (root / "README.md").read_text() == "my own words"


def test_a_list_that_points_outside_the_tree_removes_nothing(tmp_path):
    root, outside = tmp_path / "public", tmp_path / "outside.txt"
    outside.write_text("mine")
    root.mkdir()
    (root / LIST).write_text('{"files": {"../outside.txt": "x"}}')
    publish(root)
    assert outside.read_text() == "mine"


def test_no_published_file_holds_what_only_instructors_may_see():
    text = "\n".join(
        data.decode(errors="replace")
        for name, data in student_files().items()
        if not name.endswith(".whl")
    )
    # A release may hold a line of a solution that the lesson also shows; sentences it may not.
    sentences = [
        wrong.text
        for id in LESSONS
        for exercise in find_lesson(id).exercises
        for wrong in exercise.misconceptions
    ]
    assert sentences
    assert [s for s in sentences if s in text] == []
