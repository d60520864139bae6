"""The knowledge check of `rotations`: four choices and two numbers."""

import numpy as np

from course.exercises.compare import choice, close
from course.exercises.exercise import Exercise, answer

exercise = Exercise(
    "knowledge_check",
    points=6,
    provides=(
        "why_seven_and_six",
        "cond_at_80_deg",
        "letter_case",
        "why_shepperd",
        "long_way_deg",
        "jump_to_180",
    ),
    core=True,
)


@exercise.reference
def reference():
    return {
        "why_seven_and_six": "c",
        "cond_at_80_deg": 11.430052302761343,
        "letter_case": "b",
        "why_shepperd": "d",
        "long_way_deg": 300.0,
        "jump_to_180": "a",
    }


@exercise.part("why seven and six", points=1)
def seven_and_six():
    return [answer("why_seven_and_six", compare=choice())]


@exercise.part("the condition number at 80 deg", points=1)
def condition():
    return [answer("cond_at_80_deg", compare=close(atol=0.02))]


@exercise.part("the letter case of a sequence", points=1)
def case():
    return [answer("letter_case", compare=choice())]


@exercise.part("why Shepperd", points=1)
def shepperd():
    return [answer("why_shepperd", compare=choice())]


@exercise.part("the long way", points=1)
def long_way():
    return [answer("long_way_deg", compare=close(atol=0.5))]


@exercise.part("the jump to 180 deg", points=1)
def jump():
    return [answer("jump_to_180", compare=choice())]


exercise.wrong_answer(
    "Seven and six: the fourth number of the quaternion is no spare copy for checking. It is "
    "needed because no three numbers describe every orientation without a bad pose; its length "
    "is fixed, so three directions of change are left.",
    id="seven_is_redundancy",
    why_seven_and_six="a",
)
exercise.wrong_answer(
    "Seven and six: a free body moves in six ways, orientation in three of them. The seventh "
    "number is not a seventh way to move.",
    id="seven_freedoms",
    why_seven_and_six="b",
)
exercise.wrong_answer(
    "Seven and six: the angular velocity is no derivative of the quaternion with an entry left "
    "out; it is a vector of the tangent space, and the quaternion moves on a sphere in four "
    "dimensions.",
    id="velocity_drops_w",
    why_seven_and_six="d",
)
exercise.wrong_answer(
    "The condition number at 80 deg: `1 / cos p` is 1 over the determinant. The ratio of the "
    "largest to the smallest singular value is `(1 + sin p) / cos p`, about twice that.",
    id="condition_is_one_over_det",
    cond_at_80_deg=5.758770483143634,
)
exercise.wrong_answer(
    "The condition number at 80 deg: this is the smallest over the largest singular value; the "
    "condition number is the other way round, and never below 1.",
    id="condition_upside_down",
    cond_at_80_deg=0.08748866352592401,
)
for _pitch, _value in ((60, 3.732050807568878), (85, 22.90376554843120), (45, 2.414213562373095)):
    exercise.wrong_answer(
        f"The condition number at 80 deg: this is the one at {_pitch} deg.",
        id="condition_at_another_pitch",
        cond_at_80_deg=_value,
    )
exercise.wrong_answer(
    "The condition number at 80 deg: this is the smallest singular value; the condition number "
    "is the ratio of the largest to it.",
    id="condition_is_singular_value",
    cond_at_80_deg=0.12325683343243879,
)
for _rate in (8.0825, 8.113140492):
    exercise.wrong_answer(
        "The condition number at 80 deg: this is how fast the Euler rates must be for a turn of 1 "
        "rad/s, which is about 1 over the smallest singular value. The condition number is the "
        "largest singular value over the smallest.",
        id="condition_is_needed_rate",
        cond_at_80_deg=_rate,
    )
exercise.wrong_answer(
    "The condition number at 80 deg: this is the determinant, `cos p`. A determinant says how a "
    "volume shrinks, not how unevenly the directions are treated.",
    id="condition_is_det",
    cond_at_80_deg=0.17364817766693041,
)
exercise.wrong_answer(
    "The condition number at 80 deg: it is not 1. The map is harmless at pitch 0 only, and gets "
    "worse all the way: 80 deg is not safe.",
    id="eighty_is_safe",
    cond_at_80_deg=1.0,
)
exercise.wrong_answer(
    "The condition number at 80 deg: this is the value for 89 deg.",
    id="condition_at_89",
    cond_at_80_deg=114.58865,
)
exercise.wrong_answer(
    "The condition number at 80 deg: sine and cosine take radians; 80 went in as it is.",
    id="condition_with_degrees_as_radians",
    cond_at_80_deg=-0.05536279251192788,
)
exercise.wrong_answer(
    "Letter case: it does not set the order of the components (that is `scalar_first` in SciPy). "
    "It sets whether each turn is about the moving or about the fixed axes.",
    id="case_sets_component_order",
    letter_case="a",
)
exercise.wrong_answer(
    "Letter case: it does not choose between degrees and radians. It sets whether each turn is "
    "about the moving or about the fixed axes.",
    id="case_sets_degrees",
    letter_case="c",
)
exercise.wrong_answer(
    "Letter case: the two libraries do not agree. `zyx` is intrinsic in MuJoCo and extrinsic in "
    "SciPy, and neither complains.",
    id="case_means_the_same",
    letter_case="d",
)
exercise.wrong_answer(
    "Shepperd: speed is not the point; the trace formula is the shorter one. It divides by `w`, "
    "which is zero at half a turn.",
    id="shepperd_for_speed",
    why_shepperd="a",
)
exercise.wrong_answer(
    "Shepperd: the sign of a quaternion is free whatever the method; `q` and `-q` are one "
    "rotation. The branches keep the divisor away from zero.",
    id="shepperd_for_sign",
    why_shepperd="b",
)
exercise.wrong_answer(
    "Shepperd: no method mends a matrix that is no rotation. The branches keep the divisor away "
    "from zero, near half a turn.",
    id="shepperd_for_orthogonality",
    why_shepperd="c",
)
exercise.wrong_answer(
    "The long way: with `q0 . q1 < 0` and no sign check slerp does not take the 60 deg turn; it "
    "goes round the other way.",
    id="takes_the_short_way",
    long_way_deg=60.0,
)
exercise.wrong_answer(
    "The long way: the two ways round add up to 360 deg in the rotation, not to 180. What the "
    "quaternions do is half of it: 30 and 150 deg on their sphere.",
    id="ways_add_to_180",
    long_way_deg=120.0,
)
exercise.wrong_answer(
    "The long way: 150 deg is the arc between the two quaternions on their sphere; the gripper "
    "turns by twice that.",
    id="quaternion_arc",
    long_way_deg=150.0,
)
exercise.wrong_answer(
    "The long way: 330 is 360 minus half the angle. The gripper turns by the whole of what is "
    "left, 360 minus 60.",
    id="subtracts_half",
    long_way_deg=330.0,
)
exercise.wrong_answer(
    "The long way: not a whole turn; it ends at the same goal, 360 minus the short way.",
    id="whole_turn",
    long_way_deg=360.0,
)
exercise.wrong_answer(
    "The long way: the answer is in degrees; this is 300 deg in radians.",
    id="answer_in_radians",
    long_way_deg=5.235987755982989,
)
exercise.wrong_answer(
    "The jump: slerp never leaves the shortest turn; it is the Euler path that does. Where the "
    "goal lies beyond pitch 90 deg, its extracted yaw and roll have jumped by about 180 deg.",
    id="jump_blames_slerp",
    jump_to_180="b",
)
exercise.wrong_answer(
    "The jump: rounding is of the order of 1e-16 here. Where the goal lies beyond pitch 90 deg, "
    "its extracted yaw and roll have jumped by about 180 deg, and the blend follows them.",
    id="jump_is_rounding",
    jump_to_180="c",
)
exercise.wrong_answer(
    "The jump: the differences of yaw and roll are wrapped already. Where the goal lies beyond "
    "pitch 90 deg, its extracted yaw and roll have truly jumped by about 180 deg.",
    id="jump_is_wrapping",
    jump_to_180="d",
)


@exercise.variant("capital letters, whole numbers, two decimals")
def capitals():
    why_seven_and_six = "C"
    cond_at_80_deg = 11.43
    letter_case = "B"
    why_shepperd = " D "
    long_way_deg = 300
    jump_to_180 = "A"


@exercise.variant("computed in the answer cell")
def computed():
    p = np.deg2rad(80)
    why_seven_and_six = "c"
    cond_at_80_deg = (1 + np.sin(p)) / np.cos(p)
    letter_case = "(b)"
    why_shepperd = "d"
    long_way_deg = np.float64(360 - 60)
    jump_to_180 = "a"


@exercise.variant("NumPy's condition number, an array of no axes")
def numpy_condition():
    s, c = np.sin(np.deg2rad(80)), np.cos(np.deg2rad(80))
    E = np.array([[1, 0, -s], [0, 1, 0], [0, 0, c]])
    why_seven_and_six = "c"
    cond_at_80_deg = np.array(np.linalg.cond(E))
    letter_case = "b"
    why_shepperd = "d"
    long_way_deg = np.rad2deg(2 * np.pi - np.pi / 3)
    jump_to_180 = "a"
