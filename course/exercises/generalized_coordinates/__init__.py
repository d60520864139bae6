"""Generalized coordinates: why positions are not velocities."""

from __future__ import annotations

from course.exercises.exercise import Lesson
from course.exercises.generalized_coordinates import (
    fd_error,
    finite_difference_velocity,
    free_joint_velocity,
    integrate_positions,
    integrate_quat,
    joint_layout,
    knowledge_check,
    quat_velocity,
    second_box,
    set_free_pose,
    world_angular_velocity,
)

lesson = Lesson(
    id="generalized_coordinates",
    title="Generalized coordinates: why positions are not velocities",
    minutes=60,
    needs="vectors, matrices, Python",
    learn=(
        "count `nq` and `nv` of any scene and find a joint's numbers in `qpos` and `qvel`",
        "carry an orientation along an angular velocity without leaving the unit sphere",
        "turn two configurations into a velocity, for any joint",
        "say in which frame each half of a floating body's velocity is given",
        "recognise code that treats positions and velocities as the same kind of thing",
    ),
    exercises=(
        joint_layout.exercise,
        second_box.exercise,
        integrate_quat.exercise,
        quat_velocity.exercise,
        integrate_positions.exercise,
        finite_difference_velocity.exercise,
        free_joint_velocity.exercise,
        world_angular_velocity.exercise,
        set_free_pose.exercise,
        fd_error.exercise,
        knowledge_check.exercise,
    ),
)
