"""Exercises as data: one small room for each, `course/exercises/<lesson>/<exercise>.py`."""

from __future__ import annotations

import importlib

from course.exercises.compare import choice, close, each, identical, quaternion, same, satisfies
from course.exercises.exercise import Case, Exercise, Lesson, Part, answer, call, script
from course.exercises.implementation import Implementation

# The order in which the lessons are taught.
LESSONS = ("generalized_coordinates", "rotations", "pipeline", "env_conventions")

__all__ = [
    "LESSONS",
    "Case",
    "Exercise",
    "Implementation",
    "Lesson",
    "Part",
    "answer",
    "call",
    "choice",
    "close",
    "each",
    "identical",
    "lesson",
    "quaternion",
    "same",
    "satisfies",
    "script",
]


def lesson(id: str) -> Lesson:
    """The lesson of that id.

    Raises:
      KeyError: there is none; the message lists those that exist.
    """
    if id not in LESSONS:
        raise KeyError(f"no lesson is called {id!r}; the course has: {', '.join(LESSONS)}")
    return importlib.import_module(f"course.exercises.{id}").lesson
