"""Every release in Colab: its package versions, its Python, only the student's wheel, no checkout.

The environment holds Colab's versions of what lessons touch. A stub stands in for `google.colab`;
the set-up cell runs as it is, with the wheel's address replaced by a file and no package index.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import PathDistribution
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from packaging.requirements import Requirement

from course import settings
from course.exercises import LESSONS
from course.exercises import lesson as find_lesson
from course.paths import CHECKOUT, release_path
from course.publish import build_wheel
from course.release.header import setup_text
from course.repair import repair
from tests.colab.environment import HERE, environment, find_python

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("colab")]

PROBE = """
import json, os, sys
import mujoco
with mujoco.Renderer(mjcourse.load("joint_zoo"), 48, 64) as renderer:
    _data = mujoco.MjData(renderer.model)
    mujoco.mj_forward(renderer.model, _data)
    renderer.update_scene(_data)
    _brightest = int(renderer.render().max())
print(json.dumps({
    "gl": os.environ.get("MUJOCO_GL"), "brightest": _brightest, "path": sys.path,
    "library": mjcourse.__file__, "course": "course" in sys.modules,
}))
"""
VIEW = "application/vnd.jupyter.widget-view+json"


def installed(python: Path) -> dict[str, str]:
    """Version by name of every package of an environment."""
    probe = (
        "import json, importlib.metadata as m\n"
        "print(json.dumps({d.name.lower(): d.version for d in m.distributions()}))"
    )
    done = subprocess.run([python, "-I", "-c", probe], capture_output=True, check=True)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def colab() -> Path:
    """The Python of an environment like Colab's, without the course."""
    python = environment()
    command = [python, "-m", "pip", "uninstall", "--quiet", "--yes", "mjcourse"]
    subprocess.run(command, check=True, capture_output=True)
    return python


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@dataclass
class Session:
    """A lesson that ran in Colab.

    Attributes:
      notebook: with its outputs and the state of its widgets.
      probe: what the last cell saw of its surroundings.
      content: Colab's working folder.
      downloads: the browser's.
    """

    notebook: nbformat.NotebookNode
    probe: dict
    content: Path
    downloads: Path


def run_in_colab(python: Path, wheel: Path, notebook: nbformat.NotebookNode, folder: Path):
    """Run a notebook from top to bottom as Colab would; any error fails the test."""
    content, downloads, kernel = folder / "content", folder / "downloads", folder / "k" / "colab"
    for made in (content, downloads, kernel):
        made.mkdir(parents=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Colab", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    shown = folder / "shown.ipynb"
    shown.write_text(nbformat.writes(notebook))
    for cell in notebook.cells:
        cell.source = cell.source.replace(settings.WHEEL_URL, wheel.as_uri())
    notebook.cells.append(nbformat.v4.new_code_cell(PROBE))
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "OPENBLAS_NUM_THREADS")
    surroundings = {name: os.environ[name] for name in kept if name in os.environ}
    surroundings |= {"PYTHONPATH": str(HERE / "stub"), "PIP_NO_INDEX": "1"}
    surroundings |= {"COLAB_NOTEBOOK": str(shown), "COLAB_DOWNLOADS": str(downloads)}
    manager = AsyncKernelManager(
        kernel_name="colab",
        kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(kernel.parent)]),
    )
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=180,
        kernel_name="colab",
        resources={"metadata": {"path": str(content)}},
    )
    client.execute(env=surroundings)
    probe = json.loads(notebook.cells[-1].outputs[-1]["text"].splitlines()[-1])
    return Session(notebook, probe, content, downloads)


@pytest.fixture(scope="module", params=LESSONS)
def session(request, colab, wheel, tmp_path_factory) -> Session:
    notebook = nbformat.read(release_path(request.param), as_version=4)
    # The student has typed something into the knowledge check, and nothing else.
    names = find_lesson(request.param).exercise("knowledge_check").provides
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "knowledge_check":
            cell.source = "\n".join(f"{name} = 1" for name in names)
    return run_in_colab(colab, wheel, notebook, tmp_path_factory.mktemp(request.param))


def lesson_of(session: Session) -> str:
    return session.notebook.metadata["mjcourse"]["lesson"]


def printed(session: Session) -> str:
    return "".join(
        out.get("text", "")
        for cell in session.notebook.cells
        for out in cell.get("outputs", ())
        if out.output_type == "stream"
    )


def test_the_environment_is_colabs(colab):
    versions = installed(colab)
    for line in (HERE / "packages.in").read_text().splitlines():
        if "==" in line:
            name, _, version = line.partition("==")
            assert versions[name] == version
    assert "nbgrader" not in versions


def test_a_machine_without_colabs_python_uses_its_own(monkeypatch, tmp_path):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_python() == sys.executable


def test_the_set_up_cell_adds_the_wheel_and_changes_nothing(colab, wheel, tmp_path):
    before = installed(colab)
    before.pop("mjcourse", None)
    cell = nbformat.v4.new_code_cell(setup_text(find_lesson("rotations")))
    run_in_colab(colab, wheel, nbformat.v4.new_notebook(cells=[cell]), tmp_path)
    assert installed(colab) == before | {"mjcourse": settings.VERSION}


def test_what_the_added_packages_need_is_added_or_in_colab(colab):
    """Nothing is installed with its dependencies, so each must be there by another way."""
    pinned = (HERE / "packages.in").read_text().splitlines()
    there = {line.partition("==")[0] for line in pinned if not line.startswith("#")}
    # mujoco-studio's, whose server no lesson starts; Colab brings it for its own use.
    there.add("websockets")
    added = [Requirement(text).name for text in settings.COLAB_PACKAGES]
    site = next(colab.parents[1].glob("lib/python*/site-packages"))
    for name in added:
        folder = next(site.glob(f"{name.replace('-', '_')}-*.dist-info"))
        for text in PathDistribution(folder).requires or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                assert needed.name.lower() in there, f"{name} needs {needed}"


def test_colabs_packages_and_the_added_ones_are_all_that_the_wheel_needs(colab):
    versions = installed(colab)
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    for text in project["dependencies"]:
        needed = Requirement(text)
        assert needed.specifier.contains(versions[needed.name.lower()]), text


def test_mujoco_works_without_what_only_its_studio_needs(colab):
    probe = "import sys; sys.modules['websockets'] = None; import mujoco; print(mujoco.__version__)"
    done = subprocess.run([colab, "-c", probe], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "4.0.0", done.stderr


def test_a_question_answers_a_click_under_colabs_ipywidgets(colab, wheel):
    probe = (
        "from mjcourse.quiz import question_box\n"
        "box = question_box('Why $x$?', {'so': 'no', 'thus': 'yes'}, 'thus')\n"
        "box.children[1].children[0].click()\n"
        "print(box.children[-1].value)"
    )
    environment = {"PYTHONPATH": str(wheel), "PATH": os.environ["PATH"]}
    done = subprocess.run(
        [colab, "-c", probe], capture_output=True, text=True, env=environment, check=False
    )
    assert "You answered A; B is right" in done.stdout, done.stderr


def test_a_release_runs_from_top_to_bottom_without_a_checkout(session):
    probe = session.probe
    assert "site-packages" in probe["library"]
    assert not probe["course"]
    outside = [p for p in probe["path"] if Path(p) in (CHECKOUT, CHECKOUT / "shared")]
    assert outside == []
    assert "Traceback" not in printed(session)


def test_a_back_end_that_works_is_chosen(session):
    assert session.probe["gl"] in ("egl", "osmesa")
    assert session.probe["brightest"] > 0


def test_the_labs_are_shown_with_their_pictures(session):
    views = [
        out
        for cell in session.notebook.cells
        for out in cell.get("outputs", ())
        if VIEW in out.get("data", {})
    ]
    assert len(views) >= 2
    state = session.notebook.metadata["widgets"]["application/vnd.jupyter.widget-state+json"]
    models = state["state"].values()
    pictures = [m for m in models if m["model_name"] == "ImageModel"]
    assert any(m.get("buffers") for m in pictures)
    assert {m["model_module"] for m in models} <= {
        "@jupyter-widgets/base",
        "@jupyter-widgets/controls",
        "@jupyter-widgets/output",
    }


def test_progress_tells_what_is_untouched_and_what_is_answered(session):
    text = printed(session)
    for exercise in find_lesson(lesson_of(session)).exercises:
        if exercise.id == "knowledge_check":
            assert not re.search(rf"· {exercise.id} +untouched", text)
        else:
            assert re.search(rf"· {exercise.id} +untouched", text)


def test_handing_in_downloads_a_file_that_the_graders_can_read(session):
    lesson = lesson_of(session)
    (copy,) = session.downloads.iterdir()
    assert re.fullmatch(rf"{lesson}--[\dTZ-]+\.ipynb", copy.name)
    assert (session.content / copy.name).read_bytes() == copy.read_bytes()
    assert (session.content / copy.name).with_suffix(".txt").is_file()
    _, problems = repair(json.loads(copy.read_text()), lesson)
    assert problems == []
