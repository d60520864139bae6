"""The three ways to set the course up agree: pyproject.toml, requirements.lock, environment.yml."""

from __future__ import annotations

import re
import tomllib

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from course.paths import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())
LOCK = (CHECKOUT / "requirements.lock").read_text()
CONDA = yaml.safe_load((CHECKOUT / "environment.yml").read_text())


def locked() -> dict[str, list[str]]:
    """Versions in the lock by package name (several where Python versions need different ones)."""
    found: dict[str, list[str]] = {}
    for name, version in re.findall(r"^([a-z0-9.-]+)==([^\s;]+)", LOCK, re.MULTILINE):
        found.setdefault(name, []).append(version)
    return found


def asked() -> list[Requirement]:
    project = PROJECT["project"]
    texts = [
        *project["dependencies"],
        *project["optional-dependencies"]["instructor"],
        *project["optional-dependencies"]["dask"],
        *PROJECT["dependency-groups"]["dev"],
    ]
    return [Requirement(text) for text in texts]


def test_every_requirement_is_locked_to_a_version_that_it_allows():
    versions = locked()
    for requirement in asked():
        pinned = versions[requirement.name.lower()]
        assert all(requirement.specifier.contains(v) for v in pinned), requirement


def test_the_lock_carries_a_hash_for_every_package_and_no_address():
    entries = re.split(r"^(?=[a-z0-9.-]+==)", LOCK, flags=re.MULTILINE)[1:]
    assert len(entries) > 100
    assert all("--hash=sha256:" in entry for entry in entries)
    assert not re.search(r"--(extra-)?index-url|--find-links|://", LOCK)


def test_the_conda_environment_installs_the_lock_and_nothing_else_by_pip():
    (pip,) = [entry["pip"] for entry in CONDA["dependencies"] if isinstance(entry, dict)]
    assert pip == ["--requirement requirements.lock"]


def test_the_conda_environment_has_a_python_that_the_project_supports():
    (python,) = [
        entry
        for entry in CONDA["dependencies"]
        if isinstance(entry, str) and entry.startswith("python ")
    ]
    conda = SpecifierSet(python.removeprefix("python "))
    project = SpecifierSet(PROJECT["project"]["requires-python"])
    for minor in range(8, 20):
        version = f"3.{minor}"
        if version in conda:
            assert version in project
    assert {v for v in ("3.10", "3.11", "3.12", "3.13", "3.14") if v in conda} == {
        "3.11",
        "3.12",
        "3.13",
    }


def test_the_conda_environment_brings_a_software_renderer_and_ffmpeg():
    names = {entry.split()[0] for entry in CONDA["dependencies"] if isinstance(entry, str)}
    assert {"ffmpeg", "mesalib", "libegl", "libgl"} <= names
