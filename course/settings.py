"""Where students get the course from: the one setting behind the Colab badge and the install.

The repository that students see is public and written by `python -m course publish`; the
instructor's stays private. Everything a notebook fetches comes from one tag, so that a lesson
handed out today still works when the next version is published.
"""

from __future__ import annotations

from pathlib import Path

from mjcourse import __version__

ROOT = Path(__file__).resolve().parents[1]

VERSION = __version__

# The public repository, and the tag in it that this version of the lessons is pinned to.
REPOSITORY = "mjcourse/mjcourse"
TAG = f"v{VERSION}"

# The student's wheel: its name, and where a notebook installs it from.
WHEEL = f"mjcourse-{VERSION}-py3-none-any.whl"
WHEEL_URL = f"https://raw.githubusercontent.com/{REPOSITORY}/{TAG}/wheels/{WHEEL}"

# What the lessons need and Colab lacks. Installed without dependencies, so that nothing which
# Colab brings along can be changed: what these need themselves is listed here or already there.
COLAB_PACKAGES = (
    "mujoco==4.0.0",
    "mujoco-core==4.0.0",
    "mujoco-studio==4.0.0",
    "glfw>=2.7",
    "pyopengl>=3.1",
    "mediapy>=1.2",
    "imageio-ffmpeg>=0.5",
)


def release_path(lesson: str) -> str:
    """Path of a released notebook inside the repository, the student's and the instructor's."""
    return f"release/{lesson}/{lesson}.ipynb"


def colab_url(lesson: str) -> str:
    """The address that opens a released lesson in Colab."""
    return (
        f"https://colab.research.google.com/github/{REPOSITORY}/blob/{TAG}/{release_path(lesson)}"
    )
