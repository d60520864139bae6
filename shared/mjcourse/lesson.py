"""Which lesson this notebook is, which exercises it holds, and what their visible checks said."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import mjcourse
from mjcourse.grading_mode import under_grading


@dataclass(frozen=True)
class CheckRecord:
    """What a visible check said, and of which objects: a later edit makes it out of date."""

    passed: bool
    trouble: str
    objects: dict[str, Any] = field(repr=False)


@dataclass
class OpenLesson:
    """The lesson of the running notebook.

    Attributes:
      exercises: for each exercise the names that its solution cell defines.
      texts: grade ids of answers in words (`quat_to_mat_explain`), which a person reads.
      checks: the last run of each visible check, by exercise.
    """

    id: str = ""
    version: str = ""
    exercises: dict[str, tuple[str, ...]] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    checks: dict[str, CheckRecord] = field(default_factory=dict)


_open = OpenLesson()


def current() -> OpenLesson:
    """The lesson that `begin` named; an empty one before that."""
    return _open


def begin(
    lesson: str,
    *,
    version: str,
    exercises: Mapping[str, Sequence[str]],
    texts: Sequence[str] = (),
) -> None:
    """Say which lesson this notebook is. The set-up cell calls it; nobody else needs to.

    Args:
      lesson: the lesson id, `"rotations"`.
      version: of mjcourse, for which the notebook was written.
      exercises: the names that each exercise's solution cell defines, in the notebook's order.
      texts: grade ids of the answers in words.
    """
    global _open
    kept = _open.checks if _open.id == lesson else {}
    _open = OpenLesson(
        lesson, version, {id: tuple(names) for id, names in exercises.items()}, tuple(texts), kept
    )
    if under_grading():
        return
    mujoco = sys.modules.get("mujoco")
    parts = [f"mjcourse {mjcourse.__version__}"]
    if mujoco is not None:
        parts.append(f"MuJoCo {mujoco.__version__}")
    print(f"Ready: {lesson} ({', '.join(parts)})")
    if version != mjcourse.__version__:
        print(f"This notebook was written for mjcourse {version}; fetch the one that fits.")


def note_check(exercise: str, passed: bool, trouble: str, namespace: Mapping[str, Any]) -> None:
    """Keep what a visible check said of the objects that the exercise now defines."""
    names = _open.exercises.get(exercise, ())
    objects = {name: namespace[name] for name in names if name in namespace}
    _open.checks[exercise] = CheckRecord(passed, trouble, objects)
