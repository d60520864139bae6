"""`second_box`: how the layout moves when a second free joint is inserted."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from course.exercises.compare import same
from course.exercises.exercise import Case, Exercise, answer
from course.exercises.generalized_coordinates.scenes import two_boxes
from course.grading.door import Door

exercise = Exercise(
    "second_box",
    points=2,
    provides=("predicted_nq", "predicted_nv", "predicted_qposadr"),
    core=True,
)

NAMES = ("free", "free2", "ball", "slide", "hinge")


@exercise.reference
def reference():
    model = two_boxes()
    return {
        "predicted_nq": int(model.nq),
        "predicted_nv": int(model.nv),
        "predicted_qposadr": {name: int(model.joint(name).qposadr[0]) for name in NAMES},
    }


def address(name: str) -> Case:
    """One entry of the typed dict, judged by itself."""

    def read(door: Door) -> object:
        typed = door.value("predicted_qposadr").result()
        if not isinstance(typed, Mapping):
            return typed
        return typed.get(name, "nothing for this joint")

    return Case(label=f"address of {name!r}", script=read, compare=same(), typed=True)


@exercise.part("the two sizes", points=1)
def sizes():
    return [answer("predicted_nq"), answer("predicted_nv")]


@exercise.part("the addresses", points=1)
def addresses():
    return [address(name) for name in NAMES]


def _wrong(text: str, id: str, nq: int, nv: int, **addresses: int) -> None:
    exercise.wrong_answer(
        text, id=id, predicted_nq=nq, predicted_nv=nv, predicted_qposadr=addresses
    )


_SIX = (
    "You count 6 numbers in `qpos` for a free joint. It has 6 degrees of freedom but stores a "
    "position and a quaternion: 7 numbers."
)
_wrong(_SIX, "counts_six_for_positions", 19, 17, free=0, free2=7, ball=13, slide=17, hinge=18)
_wrong(_SIX, "counts_six_for_positions", 18, 17, free=0, free2=6, ball=12, slide=16, hinge=17)
_wrong(_SIX, "counts_six_for_positions", 17, 17, free=0, free2=6, ball=12, slide=15, hinge=16)
_wrong(
    "You put the new joint at the end of `qpos`. The order is that of the model: `free2` comes "
    "right after `free` and pushes all that follow by 7.",
    "appends_at_the_end",
    20,
    17,
    free=0,
    ball=7,
    slide=11,
    hinge=12,
    free2=13,
)
_wrong(
    "You put the new joint before the first one; it is inserted right after `free`, which stays "
    "at 0.",
    "inserts_at_the_front",
    20,
    17,
    free2=0,
    free=7,
    ball=14,
    slide=18,
    hinge=19,
)
_wrong(
    "Your addresses are those of `qvel` (`jnt_dofadr`); `jnt_qposadr` is asked for.",
    "velocity_addresses",
    20,
    17,
    free=0,
    free2=6,
    ball=12,
    slide=15,
    hinge=16,
)
_wrong(
    "You count 7 numbers in `qvel` for a free joint. Its angular velocity has three numbers: 6.",
    "counts_seven_for_velocities",
    20,
    18,
    free=0,
    free2=7,
    ball=14,
    slide=18,
    hinge=19,
)
_wrong(
    "`nq` and `nv` are swapped: `nq` counts `qpos` and is the larger one.",
    "swaps_nq_and_nv",
    17,
    20,
    free=0,
    free2=7,
    ball=14,
    slide=18,
    hinge=19,
)
_wrong(
    "These are the sizes and addresses without the second box. A joint inserted early moves "
    "all that follow.",
    "unchanged_layout",
    13,
    11,
    free=0,
    free2=7,
    ball=7,
    slide=11,
    hinge=12,
)
_wrong(
    "Your addresses count from 1; the first entry of `qpos` is number 0.",
    "counts_from_one",
    20,
    17,
    free=1,
    free2=8,
    ball=15,
    slide=19,
    hinge=20,
)
_wrong(
    "Your addresses are the numbers of the joints (0, 1, 2, ...); an address is the place of the "
    "joint's first number in `qpos`.",
    "joint_numbers",
    20,
    17,
    free=0,
    free2=1,
    ball=2,
    slide=3,
    hinge=4,
)
_wrong(
    "You count a ball joint as 3 numbers in `qpos`; it stores a quaternion: 4.",
    "ball_counts_three",
    19,
    17,
    free=0,
    free2=7,
    ball=14,
    slide=17,
    hinge=18,
)
_wrong(
    "You count the second box as one joint with one number; a free joint has 7 in `qpos` and 6 "
    "in `qvel`.",
    "one_number_a_joint",
    14,
    12,
    free=0,
    free2=7,
    ball=8,
    slide=12,
    hinge=13,
)
_wrong(
    "Your sizes are what the second box adds; asked for is the whole: 13 + 7 and 11 + 6.",
    "increments",
    7,
    6,
    free=0,
    free2=7,
    ball=14,
    slide=18,
    hinge=19,
)


@exercise.variant("the numbers typed, as whole floats and NumPy integers")
def other_kinds_of_number():
    predicted_nq = 20.0
    predicted_nv = np.int64(17)
    predicted_qposadr = dict(
        zip(["hinge", "slide", "ball", "free2", "free"], np.array([19, 18, 14, 7, 0]))
    )


@exercise.variant("counted joint by joint")
def counted():
    widths = {"free": 7, "free2": 7, "ball": 4, "slide": 1, "hinge": 1}
    starts = np.cumsum([0, *widths.values()])
    predicted_qposadr = {name: starts[i] for i, name in enumerate(widths)}
    predicted_nq = sum(widths.values())
    predicted_nv = predicted_nq - 3


@exercise.variant("compiled from a specification")
def compiled():
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody>"
        '<body><freejoint name="free"/><geom size="1"/></body>'
        '<body><freejoint name="free2"/><geom size="1"/></body>'
        '<body><joint name="ball" type="ball"/><geom size="1"/></body>'
        '<body><joint name="slide" type="slide"/><geom size="1"/></body>'
        '<body><joint name="hinge"/><geom size="1"/></body>'
        "</worldbody></mujoco>"
    )
    compiled_model = spec.compile()
    predicted_nq, predicted_nv = compiled_model.nq, compiled_model.nv
    predicted_qposadr = {
        compiled_model.joint(j).name: compiled_model.joint(j).qposadr[0]
        for j in range(compiled_model.njnt)
    }
