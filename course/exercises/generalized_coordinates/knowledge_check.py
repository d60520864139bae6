"""`knowledge_check`: counting a scene, the frame of a velocity, and the right call."""

from __future__ import annotations

import numpy as np

from course.exercises.compare import choice
from course.exercises.exercise import Exercise, answer
from mjcourse.models import load

exercise = Exercise(
    "knowledge_check",
    points=3,
    provides=("scene_nq", "scene_nv", "angular_velocity_frame", "velocity_call"),
    core=True,
)

# The options as the notebook lists them.
# angular_velocity_frame: a world, b its own body, c parent's frame, d principal axes of inertia.
# velocity_call: a np.diff / dt, b mju_subQuat on qpos, c mj_differentiatePos, d mj_integratePos.


@exercise.reference
def reference():
    scene = load("pick_place")
    return {
        "scene_nq": int(scene.nq),
        "scene_nv": int(scene.nv),
        "angular_velocity_frame": "b",
        "velocity_call": "c",
    }


@exercise.part("the sizes of the scene", points=1)
def sizes():
    return [answer("scene_nq"), answer("scene_nv")]


@exercise.part("the frame of the angular velocity", points=1)
def frame():
    return [answer("angular_velocity_frame", compare=choice())]


@exercise.part("the call", points=1)
def velocity_call():
    return [answer("velocity_call", compare=choice())]


exercise.wrong_answer(
    "You count 6 numbers in `qpos` for each free object; it stores 3 + 4 = 7.",
    id="counts_six_for_positions",
    scene_nq=27,
)
exercise.wrong_answer(
    "`nq` and `nv` are swapped: `nq` counts positions and is the larger one.",
    id="swaps_nq_and_nv",
    scene_nq=27,
    scene_nv=30,
)
exercise.wrong_answer(
    "You count 7 numbers in `qvel` for each free object; an angular velocity has three: 6.",
    id="counts_seven_for_velocities",
    scene_nv=30,
)
exercise.wrong_answer(
    "You count one number for each joint; a free joint adds 7 to `nq` and 6 to `nv`.",
    id="one_number_a_joint",
    scene_nq=12,
    scene_nv=12,
)
exercise.wrong_answer(
    "You count the robot alone: the free objects are part of `qpos` and `qvel`, too.",
    id="objects_forgotten",
    scene_nq=9,
    scene_nv=9,
)
exercise.wrong_answer(
    "You leave out the two slides of the gripper: each adds one number to both.",
    id="gripper_forgotten",
    scene_nq=28,
    scene_nv=25,
)
exercise.wrong_answer(
    "You count the two slides as one: the fingers move together, but each is a joint of its own.",
    id="one_slide",
    scene_nq=29,
    scene_nv=26,
)
exercise.wrong_answer(
    "You count one free object; there are three, 7 and 6 numbers each.",
    id="objects_missing",
    scene_nq=16,
    scene_nv=15,
)
exercise.wrong_answer(
    "You count two free objects; there are three, 7 and 6 numbers each.",
    id="objects_missing",
    scene_nq=23,
    scene_nv=21,
)
exercise.wrong_answer(
    "The world frame is that of the linear half. The angular half is in the body's own frame.",
    id="world_frame",
    angular_velocity_frame="a",
)
exercise.wrong_answer(
    "The parent of a free body is the world, so this is the world frame; the angular half is in "
    "the frame of the body that moves.",
    id="parent_frame",
    angular_velocity_frame="c",
)
exercise.wrong_answer(
    "The principal axes of inertia (`xipos`, `ximat`) can be turned against the body frame; `qvel` "
    "speaks of the body frame.",
    id="inertial_frame",
    angular_velocity_frame="d",
)
exercise.wrong_answer(
    "`np.diff` of `qpos` gives four numbers for the ball joint that are no angular velocity.",
    id="plain_difference",
    velocity_call="a",
)
exercise.wrong_answer(
    "`mju_subQuat` is for one pair of quaternions; `qpos` holds slides and hinges beside them.",
    id="one_quaternion_only",
    velocity_call="b",
)
exercise.wrong_answer(
    "`mj_integratePos` goes the other way: from a configuration and a velocity to a configuration.",
    id="the_inverse_call",
    velocity_call="d",
)


@exercise.variant("capitals, brackets, whole floats")
def capitals():
    scene_nq, scene_nv = 30.0, 27.0
    angular_velocity_frame = "B"
    velocity_call = "(c)"


@exercise.variant("counted by adding up")
def counted():
    scene_nq = 7 * 1 + 2 * 1 + 3 * 7
    scene_nv = scene_nq - 3
    angular_velocity_frame = "b)"
    velocity_call = "C."


@exercise.variant("read from the model")
def read():
    scene = load("pick_place")
    scene_nq, scene_nv = np.int64(scene.nq), np.int64(scene.nv)
    angular_velocity_frame, velocity_call = " b ", "c"
