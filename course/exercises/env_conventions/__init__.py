"""The lesson on environment conventions: units, frames, ports, what persists."""

from __future__ import annotations

from course.exercises.env_conventions import (
    carry_state,
    compose_pose,
    control_mode,
    env_step,
    ft_reading,
    knowledge_check,
    owned_inputs,
    quaternion_order,
    read_ports,
    relative_pose,
    torque_limits,
    wrench,
    write_torque,
)
from course.exercises.exercise import Lesson

lesson = Lesson(
    id="env_conventions",
    title="Environment conventions: units, frames, ports, what persists",
    minutes=75,
    needs="the three lessons before: generalized coordinates, rotations, the pipeline",
    learn=(
        "say of every number in an environment's interface its unit, order, frame and instant",
        "compose and invert poses across the (x, y, z, w) boundary",
        "read and command joints by name, through gears, limits and control modes",
        "apply a wrench and read a force/torque sensor with the right point, frame and sign",
        "step, reset and rebuild a scene and know what each leaves in place",
    ),
    exercises=(
        quaternion_order.exercise,
        compose_pose.exercise,
        relative_pose.exercise,
        read_ports.exercise,
        write_torque.exercise,
        torque_limits.exercise,
        control_mode.exercise,
        wrench.exercise,
        ft_reading.exercise,
        env_step.exercise,
        owned_inputs.exercise,
        carry_state.exercise,
        knowledge_check.exercise,
    ),
)
