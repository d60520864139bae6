"""What "by hand" forbids: the rotation and integration routines of MuJoCo and SciPy."""

from __future__ import annotations

import re
from collections.abc import Iterable

from course.exercises.exercise import Exercise

# Linear algebra (mju_norm, mju_mulMatVec), names and sizes stay free.
_ROTATION = re.compile(
    r"mju_\w*(quat|rot|euler|axisangle|pose|mat2|2mat|vec2)\w*"
    r"|mj_(integratePos|differentiatePos|normalizeQuat|objectVelocity|objectAcceleration"
    r"|local2Global|kinematics|comPos|comVel|fwdPosition|fwdVelocity|forward|forwardSkip|Euler"
    r"|implicit|RungeKutta|step|step1|step2)"
    r"|(Rotation|RotationSpline|Slerp|RigidTransform)(\.\w+)?|geometric_slerp",
    re.IGNORECASE,
)


def is_rotation_routine(name: str) -> bool:
    """Whether the routine of that name turns or integrates: what "by hand" leaves out."""
    return _ROTATION.fullmatch(name) is not None


def forbidden_among(routines: Iterable[str], exercise: Exercise) -> list[str]:
    """The routines among those called that the exercise does not allow."""
    return [
        name
        for name in routines
        if name in exercise.forbids or (exercise.by_hand and is_rotation_routine(name))
    ]


def sentence(exercise: Exercise, forbidden: Iterable[str]) -> str:
    """What the student reads."""
    names = ", ".join(f"`{name}`" for name in forbidden)
    reason = "is to be written by hand" if exercise.by_hand else "must do without it"
    return f"Your code called {names} while it ran; `{exercise.id}` {reason}, so no points here."
