"""The computation pipeline: what `mj_step` does, in order."""

from __future__ import annotations

from course.exercises.exercise import Lesson
from course.exercises.pipeline import (
    activation,
    cheapest_forward,
    controlled_step,
    equality_row,
    fresh_position,
    knowledge_check,
    pendulum_terms,
    save_restore,
    semi_implicit_step,
    servo_force,
    smooth_acceleration,
    staged_pipeline,
    transmission,
)

lesson = Lesson(
    id="pipeline",
    title="The computation pipeline: what `mj_step` does, in order",
    minutes=90,
    needs="generalized coordinates, Newton's law in matrices",
    learn=(
        "say which instant every array of `mjData` belongs to, after any call",
        "save a run and resume it to the last bit",
        "follow a force from a control to an acceleration through every array on the way",
        "let a controller read this step's quantities and act on this step",
        "run no more stages than a change made stale",
        "choose among the five integrators by what they do, not by their names",
    ),
    exercises=(
        save_restore.exercise,
        pendulum_terms.exercise,
        servo_force.exercise,
        transmission.exercise,
        activation.exercise,
        smooth_acceleration.exercise,
        equality_row.exercise,
        semi_implicit_step.exercise,
        fresh_position.exercise,
        controlled_step.exercise,
        cheapest_forward.exercise,
        staged_pipeline.exercise,
        knowledge_check.exercise,
    ),
)
