"""`knowledge_check`: the questions at the end of the lesson, answered in one cell."""

from __future__ import annotations

import numpy as np

from course.exercises import Exercise, answer, close, same, satisfies
from course.exercises.compare import choice

exercise = Exercise(
    "knowledge_check",
    points=5,
    provides=(
        "scalar_index",
        "angle_degrees",
        "spec_pose_frame",
        "fresh_sensors",
        "winning_option",
        "survives_rebuild",
    ),
    core=True,
)


def _is_last(got, expected):
    """The last of four entries, counted from the front or from the back."""
    return None if same()(got, 3) is None or same()(got, -1) is None else f"returned {got!r}"


LAST = satisfies(_is_last, near=same())


@exercise.reference
def reference():
    return {
        "scalar_index": 3,
        "angle_degrees": 45.0,
        "spec_pose_frame": "b",
        "fresh_sensors": "c",
        "winning_option": "a",
        "survives_rebuild": "d",
    }


@exercise.part("the scalar and the angle of [0, 0, 0.38, 0.92]", points=1)
def order():
    return [answer("scalar_index", 3, LAST), answer("angle_degrees", 45.0, close(1.5))]


@exercise.part("what the pose of a spec is relative to", points=1)
def spec_pose():
    return [answer("spec_pose_frame", "b", choice())]


@exercise.part("which sensors are fresh after the split step", points=1)
def fresh():
    return [answer("fresh_sensors", "c", choice())]


@exercise.part("which option wins after an attach", points=1)
def option():
    return [answer("winning_option", "a", choice())]


@exercise.part("what survives a rebuild that a reset clears", points=1)
def survives():
    return [answer("survives_rebuild", "d", choice())]


exercise.wrong_answer(
    "`scalar_index`: 0 is MuJoCo's order. Read as (w, x, y, z) the four numbers have the scalar 0, "
    "which is half a turn about a tilted axis: the interface puts the scalar last.",
    id="scalar_first",
    scalar_index=0,
)
exercise.wrong_answer(
    "With the scalar first, [0, 0, 0.38, 0.92] would be half a turn, 180 degrees. The interface "
    "puts the scalar last: w = 0.92.",
    id="scalar_first",
    scalar_index=0,
    angle_degrees=180.0,
)
exercise.wrong_answer(
    "`scalar_index`: 4 counts from one; Python counts from 0, so the last of four is 3.",
    id="counted_from_one",
    scalar_index=4,
)
exercise.wrong_answer(
    "`scalar_index`: this entry belongs to the axis. The interface puts x, y, z first and the "
    "scalar last.",
    id="not_the_scalar",
    scalar_index=2,
)
exercise.wrong_answer(
    "`scalar_index`: this entry belongs to the axis. The interface puts x, y, z first and the "
    "scalar last.",
    id="not_the_scalar",
    scalar_index=1,
)
exercise.wrong_answer(
    "`angle_degrees`: the z entry is positive, so the turn is positive too.",
    id="sign_of_the_angle",
    angle_degrees=-45.0,
)
exercise.wrong_answer(
    "`angle_degrees`: arccos(0.92) is half the angle. A quaternion holds the cosine of the *half* "
    "angle: double it.",
    id="half_angle",
    angle_degrees=22.5,
)
exercise.wrong_answer(
    "`angle_degrees`: this is the angle in radians; degrees are asked for.",
    id="angle_in_radians",
    angle_degrees=0.785,
)
exercise.wrong_answer(
    "`angle_degrees`: 180 comes from reading a 0 as the scalar. The scalar is the last entry, "
    "0.92 = cos(22.5 degrees).",
    id="half_turn",
    angle_degrees=180.0,
)
exercise.wrong_answer(
    "`angle_degrees`: the angle was doubled once too often: 2 arccos(0.92) is about 46 degrees.",
    id="double_angle",
    angle_degrees=90.0,
)
exercise.wrong_answer(
    "`angle_degrees`: the complement was taken: 2 arcsin(0.92) is the angle only if the scalar "
    "were the sine. It is the cosine of half the angle.",
    id="angle_from_the_sine",
    angle_degrees=135.0,
)
exercise.wrong_answer(
    "`spec_pose_frame`, a: a spec's pose is given in its parent; only the *result* (`xpos`) is in "
    "the world. The two agree for children of the world body alone.",
    id="spec_pose_in_world",
    spec_pose_frame="a",
)
exercise.wrong_answer(
    "`spec_pose_frame`, c: the chain's base is the frame of kinematic results; a spec's pose is "
    "given in the body or site that it attaches to.",
    id="spec_pose_in_root",
    spec_pose_frame="c",
)
exercise.wrong_answer(
    "`spec_pose_frame`, d: the centre of mass is where wrenches act; frames of specs refer to the "
    "parent's frame.",
    id="spec_pose_at_com",
    spec_pose_frame="d",
)
exercise.wrong_answer(
    "`fresh_sensors`, a: force and acceleration sensors need the forces of an instant; after the "
    "split step they describe the step just taken, not the new instant.",
    id="all_sensors_fresh",
    fresh_sensors="a",
)
exercise.wrong_answer(
    "`fresh_sensors`, b: that is `mj_step`. The split step ends with `mj_step1`, which computes "
    "position and velocity sensors anew.",
    id="no_sensors_fresh",
    fresh_sensors="b",
)
exercise.wrong_answer(
    "`fresh_sensors`, d: it is the other way round: position and velocity sensors are of the new "
    "instant, force and acceleration sensors of the step taken.",
    id="only_forces_fresh",
    fresh_sensors="d",
)
exercise.wrong_answer(
    "`winning_option`, b: the attached model's options are dropped, with a warning; there is one "
    "set of options for a scene and the parent's stays.",
    id="child_option_wins",
    winning_option="b",
)
exercise.wrong_answer(
    "`winning_option`, c: nothing is merged or averaged: the parent's value stays, also where the "
    "child's is larger or safer.",
    id="options_merged",
    winning_option="c",
)
exercise.wrong_answer(
    "`winning_option`, d: physics options are global to a scene; no body has its own cone or time "
    "step.",
    id="options_by_body",
    winning_option="d",
)
exercise.wrong_answer(
    "`survives_rebuild`, a: applied forces are cleared by a reset and not carried over a rebuild.",
    id="forces_survive",
    survives_rebuild="a",
)
exercise.wrong_answer(
    "`survives_rebuild`, b: a change of `model.opt` is lost at the next compile, and a reset does "
    "not touch it: it is the other way round.",
    id="options_survive",
    survives_rebuild="b",
)
exercise.wrong_answer(
    "`survives_rebuild`, c: a rebuild is not a reset: time, the joints' state, commands and "
    "activations are carried over by name.",
    id="nothing_survives",
    survives_rebuild="c",
)


@exercise.variant("capital letters are not needed; the angle by arccos, the index by argmax")
def computed():
    logged = np.array([0, 0, 0.38, 0.92])
    scalar_index = np.argmax(logged)
    angle_degrees = np.degrees(2 * np.arccos(logged[3]))
    spec_pose_frame, fresh_sensors = "b", "c"
    winning_option, survives_rebuild = "a", "d"


@exercise.variant("the angle by the arctangent")
def by_arctangent():
    scalar_index = 3
    angle_degrees = 2 * np.rad2deg(np.arctan2(0.38, 0.92))
    spec_pose_frame = "b"
    fresh_sensors = "c"
    winning_option = "a"
    survives_rebuild = "d"


@exercise.variant("round numbers, NumPy scalars, counted from the back, capitals")
def round_numbers():
    scalar_index = np.int64(-1)
    angle_degrees = 45
    spec_pose_frame = "b"
    fresh_sensors = "abcd"[2]
    winning_option = "a"
    survives_rebuild = "d"
