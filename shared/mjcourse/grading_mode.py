"""Whether the notebook is being graded: then checks, experiments, questions and labs do nothing."""

from __future__ import annotations

import os


def under_grading() -> bool:
    """True while nbgrader runs the notebook (it sets `NBGRADER_EXECUTION`)."""
    return bool(os.environ.get("NBGRADER_EXECUTION"))


def strict() -> bool:
    """True when errors must stop the notebook instead of being told in one line.

    Set `MJCOURSE_STRICT` to run an instructor's version: there an experiment that stops or a
    visible check that fails is a fault of the lesson.
    """
    return bool(os.environ.get("MJCOURSE_STRICT"))
