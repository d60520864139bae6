"""The knowledge check of `pipeline`: four choices and a number."""

import numpy as np

from course.exercises.compare import choice, close
from course.exercises.exercise import Exercise, answer

exercise = Exercise(
    "knowledge_check",
    points=5,
    provides=(
        "makes_xpos_current",
        "resume_needs",
        "skip_after_ctrl",
        "split_step_under_rk4",
        "activation_after_tau",
    ),
    core=True,
)


@exercise.reference
def reference():
    return {
        "makes_xpos_current": "c",
        "resume_needs": "b",
        "skip_after_ctrl": "d",
        "split_step_under_rk4": "a",
        "activation_after_tau": 1 - np.exp(-1.0),
    }


@exercise.part("which call makes xpos current", points=1)
def current():
    return [answer("makes_xpos_current", compare=choice())]


@exercise.part("what a bit-exact resume needs", points=1)
def resume():
    return [answer("resume_needs", compare=choice())]


@exercise.part("which stage to skip after changing ctrl", points=1)
def skip():
    return [answer("skip_after_ctrl", compare=choice())]


@exercise.part("the split step under RK4", points=1)
def split():
    return [answer("split_step_under_rk4", compare=choice())]


@exercise.part("the activation after one time constant", points=1)
def activation():
    return [answer("activation_after_tau", compare=close(atol=1e-3))]


exercise.wrong_answer(
    "Current xpos: nothing is computed when it is read. `xpos` is memory that the position stage "
    "writes; until a call runs that stage it holds the old instant.",
    id="computed_when_read",
    makes_xpos_current="a",
)
exercise.wrong_answer(
    "Current xpos: mj_step moves the time. It leaves `xpos` at the state before the step while "
    "`qpos` has gone on. mj_forward evaluates and moves nothing.",
    id="step_makes_current",
    makes_xpos_current="b",
)
exercise.wrong_answer(
    "Current xpos: mj_setState writes the state and evaluates nothing; derived quantities stay old "
    "until mj_forward.",
    id="set_state_evaluates",
    makes_xpos_current="d",
)
exercise.wrong_answer(
    "Resume: poses of bodies and accelerations are results; they follow from the state. What must "
    "be kept is what they follow from: activations, time, inputs, warm start.",
    id="saves_results",
    resume_needs="a",
)
exercise.wrong_answer(
    "Resume: the full physics lacks the inputs (controls, applied forces, mocap) and the warm "
    "start of the solver; the resumed run drifts away.",
    id="full_physics_is_enough",
    resume_needs="c",
)
exercise.wrong_answer(
    "Resume: `qpos` and `qvel` are not the whole state once there are activations, inputs or "
    "contacts: the resumed run drifts away.",
    id="qpos_qvel_is_enough",
    resume_needs="d",
)
exercise.wrong_answer(
    "Skip after ctrl: mjSTAGE_NONE skips nothing; right but wasteful. Neither positions nor "
    "velocities depend on the control.",
    id="skips_nothing",
    skip_after_ctrl="a",
)
exercise.wrong_answer(
    "Skip after ctrl: mjSTAGE_POS runs the velocity stage once more; that is what a changed `qvel` "
    "needs. After `ctrl` both may be skipped.",
    id="skips_position_only",
    skip_after_ctrl="b",
)
exercise.wrong_answer(
    "Skip after ctrl: the accelerations are what the control changes; they must run.",
    id="skips_acceleration",
    skip_after_ctrl="c",
)
exercise.wrong_answer(
    "Split step: no error is raised and nothing is printed; that is the trap. mj_step2 advances by "
    "Euler's rule.",
    id="split_raises",
    split_step_under_rk4="b",
)
exercise.wrong_answer(
    "Split step: it does not call the controller four times; it advances by one step of Euler's "
    "rule. A controller that must act inside RK4 goes into mjcb_control.",
    id="split_runs_four_stages",
    split_step_under_rk4="c",
)
exercise.wrong_answer(
    "Split step: the two halves do not add up to mj_step here: RK4 needs the derivative at four "
    "states, and the split pair evaluates one. It advances by Euler's rule.",
    id="split_equals_step",
    split_step_under_rk4="d",
)
exercise.wrong_answer(
    "Activation: 0.368 is what is still missing after one time constant, 1/e; reached are 1 - 1/e.",
    id="what_is_missing",
    activation_after_tau=0.36787944117144233,
)
exercise.wrong_answer(
    "Activation: a time constant is not the time to the end; at the starting slope it would be, "
    "but the slope falls as the goal comes nearer: 1 - 1/e.",
    id="reached_the_goal",
    activation_after_tau=1.0,
)
exercise.wrong_answer(
    "Activation: a half is reached after ln 2 = 0.693 time constants; after one, 1 - 1/e.",
    id="half_life",
    activation_after_tau=0.5,
)
exercise.wrong_answer(
    "Activation: ln 2 is the time to one half in time constants, not an activation.",
    id="ln_two",
    activation_after_tau=0.6931471805599453,
)
exercise.wrong_answer(
    "Activation: this is the value after three time constants.",
    id="three_time_constants",
    activation_after_tau=0.9502129316321360,
)
exercise.wrong_answer(
    "Activation: a share between 0 and 1 is asked for, not per cent.",
    id="per_cent",
    activation_after_tau=63.21205588285577,
)


@exercise.variant("capitals and brackets, the number to three digits")
def capitals():
    makes_xpos_current, resume_needs = "C", "(b)"
    skip_after_ctrl, split_step_under_rk4 = "D.", " A "
    activation_after_tau = 0.632


@exercise.variant("the number computed")
def computed():
    makes_xpos_current = "c)"
    resume_needs = "B"
    skip_after_ctrl = "d"
    split_step_under_rk4 = "a"
    activation_after_tau = np.float64(-np.expm1(-1))


@exercise.variant("the number as an array of no dimension")
def as_array():
    makes_xpos_current, resume_needs, skip_after_ctrl, split_step_under_rk4 = "cbda"
    activation_after_tau = np.array(0.6321)
