"""`joint_layout`: where every joint's numbers lie in `qpos` and `qvel`."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import same
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import scene, zoo
from course.exercises.implementation import Implementation
from course.grading.door import Outcome
from mjcourse.models import load

exercise = Exercise("joint_layout", points=3, provides=("joint_layout",), core=True)

_KINDS = {0: ("free", 7, 6), 1: ("ball", 4, 3), 2: ("slide", 1, 1), 3: ("hinge", 1, 1)}


@exercise.reference
def reference():
    def joint_layout(model):
        layout = []
        for j in range(model.njnt):
            kind, in_qpos, in_qvel = _KINDS[int(model.jnt_type[j])]
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or ""
            q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            layout.append((name, kind, slice(q, q + in_qpos), slice(v, v + in_qvel)))
        return layout

    return {"joint_layout": joint_layout}


def _bounds(part: object, size: int) -> object:
    """A slice as `(start, stop, step)`; open ends and negative ones count from the array's end."""
    if not isinstance(part, slice):
        return part
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    start, stop = (x + size if x < 0 else x for x in (start, stop))
    return ("slice", start, stop, part.step or 1)


COLUMNS = ("names", "types", "slices of qpos", "slices of qvel")


def column_of(model: mujoco.MjModel, column: int):
    """What is looked at: one column of the list; the whole of it where it is no list of fours."""

    def look(outcome: Outcome) -> object:
        value = outcome.value
        if not isinstance(value, (list, tuple)):
            return value
        rows = []
        for row in value:
            if not isinstance(row, (list, tuple)) or len(row) != 4:
                return value
            name, kind, in_qpos, in_qvel = row
            rows.append((name, kind, _bounds(in_qpos, model.nq), _bounds(in_qvel, model.nv)))
        return tuple(row[column] for row in rows)

    return look


def layout(model: mujoco.MjModel, label: str) -> list[Case]:
    """The four columns, each a case: a mistake often spoils one and spares the others."""
    return [
        call(
            "joint_layout",
            model,
            label=f"{label}, {name}",
            observe=column_of(model, column),
            compare=same(),
        )
        for column, name in enumerate(COLUMNS)
    ]


@exercise.part("the models of the lesson", points=1)
def lesson_models():
    return [*layout(zoo(), "joint_zoo"), *layout(load("pick_place"), "pick_place")]


@exercise.part("models you have not seen", points=1)
def unseen():
    return [
        *layout(scene("f", "h-h-b", "f", seed=1), "two boxes around an arm with a ball joint"),
        *layout(scene("h", "f", "s", "b", seed=2), "a hinge comes first"),
        *layout(scene("hs-h", "f-h-h", "sb", seed=3), "several joints on one body"),
        *layout(scene("h-h-h", seed=4), "no quaternion anywhere"),
        *layout(scene("s", "f", "f", "f", seed=5), "a free joint is last"),
        *layout(scene("f", "h", "b", seed=6), "a ball joint is last"),
    ]


@exercise.part("edge cases: one joint, joints without a name", points=1)
def edges():
    return [
        *layout(scene("h", seed=7), "a single hinge"),
        *layout(scene("f", seed=8), "a single free joint"),
        *layout(scene("b", seed=9), "a single ball joint"),
        *layout(scene("f", "h", "b", "s", seed=10, unnamed=(1,)), "the second joint has no name"),
        *layout(scene("b", "f", seed=11, unnamed=(0, 1)), "no joint has a name"),
    ]


@exercise.misconception(
    "Your slices of `qpos` start at the velocity addresses: after the first quaternion the two "
    "arrays no longer line up. Take `jnt_qposadr` for `qpos`, `jnt_dofadr` for `qvel`."
)
def velocity_address_for_positions():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            v = model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(v, v + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "Your slices of `qvel` start at the position addresses: after the first quaternion the two "
    "arrays no longer line up. Take `jnt_dofadr` for `qvel`."
)
def position_address_for_velocities():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q = model.jnt_qposadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(q, q + nv)))
        return rows


@exercise.misconception(
    "The layout of `joint_zoo` is written into your code. Read the addresses from the model you "
    "are given: every inserted joint moves all that follow."
)
def hard_coded():
    def joint_layout(model):
        return [
            ("free", "free", slice(0, 7), slice(0, 6)),
            ("ball", "ball", slice(7, 11), slice(6, 9)),
            ("slide", "slide", slice(11, 12), slice(9, 10)),
            ("hinge", "hinge", slice(12, 13), slice(10, 11)),
        ]


@exercise.misconception(
    "The layout of `joint_zoo` is written into your code. Read the addresses from the model you "
    "are given: every inserted joint moves all that follow.",
    id="hard_coded",
)
def hard_coded_by_type():
    def joint_layout(model):
        place = {
            0: ("free", slice(0, 7), slice(0, 6)),
            1: ("ball", slice(7, 11), slice(6, 9)),
            2: ("slide", slice(11, 12), slice(9, 10)),
            3: ("hinge", slice(12, 13), slice(10, 11)),
        }
        return [(model.joint(j).name, *place[model.jnt_type[j]]) for j in range(model.njnt)]


_OFF_BY_ONE = (
    "A slice of yours ends one entry early or late. `slice(a, a + n)` holds `n` entries: the stop "
    "itself is left out, also for the last joint."
)


@exercise.misconception(_OFF_BY_ONE, id="off_by_one")
def stops_early():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + nq - 1), slice(v, v + nv - 1)))
        return rows


@exercise.misconception(_OFF_BY_ONE, id="off_by_one")
def stops_late():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + nq + 1), slice(v, v + nv + 1)))
        return rows


@exercise.misconception(_OFF_BY_ONE, id="off_by_one")
def last_stops_early():
    def joint_layout(model):
        q = list(model.jnt_qposadr) + [model.nq - 1]
        v = list(model.jnt_dofadr) + [model.nv - 1]
        kinds = ("free", "ball", "slide", "hinge")
        return [
            (
                model.joint(j).name,
                kinds[model.jnt_type[j]],
                slice(q[j], q[j + 1]),
                slice(v[j], v[j + 1]),
            )
            for j in range(model.njnt)
        ]


@exercise.misconception(_OFF_BY_ONE, id="off_by_one")
def last_stops_at_minus_one():
    def joint_layout(model):
        q = list(model.jnt_qposadr) + [-1]
        v = list(model.jnt_dofadr) + [-1]
        kinds = ("free", "ball", "slide", "hinge")
        return [
            (
                model.joint(j).name,
                kinds[model.jnt_type[j]],
                slice(q[j], q[j + 1]),
                slice(v[j], v[j + 1]),
            )
            for j in range(model.njnt)
        ]


@exercise.misconception(_OFF_BY_ONE, id="off_by_one")
def last_stops_late():
    def joint_layout(model):
        q = list(model.jnt_qposadr) + [model.nq + 1]
        v = list(model.jnt_dofadr) + [model.nv + 1]
        kinds = ("free", "ball", "slide", "hinge")
        return [
            (
                model.joint(j).name,
                kinds[model.jnt_type[j]],
                slice(q[j], q[j + 1]),
                slice(v[j], v[j + 1]),
            )
            for j in range(model.njnt)
        ]


@exercise.misconception(_OFF_BY_ONE, id="off_by_one")
def starts_late():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j] + 1, model.jnt_dofadr[j] + 1
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "The last joint is missing from your list: the gap to the next address does not exist for it. "
    "End it at `nq` and `nv`."
)
def last_joint_missing():
    def joint_layout(model):
        kinds = ("free", "ball", "slide", "hinge")
        q, v = model.jnt_qposadr, model.jnt_dofadr
        return [
            (
                model.joint(j).name,
                kinds[model.jnt_type[j]],
                slice(q[j], q[j + 1]),
                slice(v[j], v[j + 1]),
            )
            for j in range(model.njnt - 1)
        ]


@exercise.misconception(
    "The last joint is missing from your list: the gap to the next address does not exist for it. "
    "End it at `nq` and `nv`.",
    id="last_joint_missing",
)
def last_joint_breaks():
    def joint_layout(model):
        kinds = ("free", "ball", "slide", "hinge")
        q, v = model.jnt_qposadr, model.jnt_dofadr
        return [
            (
                model.joint(j).name,
                kinds[model.jnt_type[j]],
                slice(q[j], q[j + 1]),
                slice(v[j], v[j + 1]),
            )
            for j in range(model.njnt)
        ]


_SIX = (
    "You give free and ball joints as many position numbers as velocity numbers. An orientation "
    "is stored as a quaternion: 7 and 4 numbers in `qpos`, 6 and 3 in `qvel`."
)


@exercise.misconception(_SIX, id="counts_velocities_for_positions")
def six_numbers_for_a_pose():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            n = {"free": 6, "ball": 3}.get(kind, 1)
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + n), slice(v, v + n)))
        return rows


@exercise.misconception(_SIX, id="counts_velocities_for_positions")
def six_numbers_added_up():
    def joint_layout(model):
        rows = []
        at = 0
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            n = {"free": 6, "ball": 3}.get(kind, 1)
            rows.append((model.joint(j).name, kind, slice(at, at + n), slice(at, at + n)))
            at += n
        return rows


@exercise.misconception(
    "You give free and ball joints as many velocity numbers as position numbers. An angular "
    "velocity has three numbers, not four: 6 and 3 in `qvel`."
)
def counts_positions_for_velocities():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            n = {"free": 7, "ball": 4}.get(kind, 1)
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + n), slice(v, v + n)))
        return rows


@exercise.misconception(
    "Only the free joint gets its own width in your code; a ball joint has 4 numbers in `qpos` "
    "and 3 in `qvel`."
)
def ball_as_hinge():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = (7, 6) if kind == "free" else (1, 1)
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "A joint without a name is given as `None`, or not as the empty string that is asked for. "
    "`mj_id2name` returns `None` there; `model.joint(j).name` returns `''`."
)
def unnamed_is_none():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)
            rows.append((name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "A joint without a name is left out of your list. It has its numbers all the same: give it "
    "the name `''`."
)
def unnamed_left_out():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            name = model.joint(j).name
            if name:
                rows.append((name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "A joint without a name gets a made-up one (a number, the body's name); the empty string is "
    "asked for."
)
def unnamed_gets_a_name():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            name = model.joint(j).name or f"joint{j}"
            rows.append((name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "The name in your list is the body's; the joint has a name of its own (`model.joint(j).name`)."
)
def body_names():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            name = model.body(model.jnt_bodyid[j]).name
            rows.append((name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


_TYPE_WORD = (
    "The type in your list is MuJoCo's number or its long name; one of the words `'free'`, "
    "`'ball'`, `'slide'`, `'hinge'` is asked for."
)


@exercise.misconception(_TYPE_WORD, id="type_is_no_word")
def type_is_a_number():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            nq, nv = {0: (7, 6), 1: (4, 3)}.get(int(model.jnt_type[j]), (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            row = (model.joint(j).name, int(model.jnt_type[j]), slice(q, q + nq), slice(v, v + nv))
            rows.append(row)
        return rows


@exercise.misconception(_TYPE_WORD, id="type_is_no_word")
def type_is_the_long_name():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            nq, nv = {0: (7, 6), 1: (4, 3)}.get(int(model.jnt_type[j]), (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            kind = mujoco.mjtJoint(model.jnt_type[j]).name
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(_TYPE_WORD, id="type_is_no_word")
def type_in_capitals():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            nq, nv = {0: (7, 6), 1: (4, 3)}.get(int(model.jnt_type[j]), (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            kind = ("FREE", "BALL", "SLIDE", "HINGE")[model.jnt_type[j]]
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "Your words for the joint types are in another order than MuJoCo's numbers: 0 free, 1 ball, "
    "2 slide, 3 hinge (`mujoco.mjtJoint`)."
)
def types_shuffled():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            nq, nv = {0: (7, 6), 1: (4, 3)}.get(int(model.jnt_type[j]), (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            kind = ("free", "ball", "hinge", "slide")[model.jnt_type[j]]
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "Your rows hold pairs of numbers or lists of indices where `slice` objects are asked for: "
    "`slice(start, stop)`."
)
def pairs_for_slices():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, (q, q + nq), (v, v + nv)))
        return rows


@exercise.misconception(
    "Your rows hold pairs of numbers or lists of indices where `slice` objects are asked for: "
    "`slice(start, stop)`.",
    id="pairs_for_slices",
)
def indices_for_slices():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
            rows.append((model.joint(j).name, kind, list(range(q, q + nq)), list(range(v, v + nv))))
        return rows


@exercise.misconception(
    "Your slices are built as (start, length); Python's `slice` takes (start, stop)."
)
def length_for_stop():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, nq), slice(v, nv)))
        return rows


@exercise.misconception(
    "Your rows hold the slice of `qvel` before the slice of `qpos`; the order is name, type, "
    "`qpos`, `qvel`."
)
def slices_swapped():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(v, v + nv), slice(q, q + nq)))
        return rows


_ONE_EACH = (
    "Your code goes through the bodies and takes one joint from each. A body can have several "
    "joints, or none: go through `range(model.njnt)`."
)


@exercise.misconception(_ONE_EACH, id="one_joint_a_body")
def first_joint_of_each_body():
    def joint_layout(model):
        rows = []
        for b in range(1, model.nbody):
            j = model.body_jntadr[b]
            if j < 0:
                continue
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(v, v + nv)))
        return rows


@exercise.misconception(
    "Your list is sorted (by name, by type); joint order is asked for, the order of the model."
)
def sorted_by_name():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows.append((model.joint(j).name, kind, slice(q, q + nq), slice(v, v + nv)))
        return sorted(rows, key=lambda row: row[0])


@exercise.misconception(
    "Your function returns a dict by name; a list in joint order is asked for (two joints without "
    "a name would share one key)."
)
def dict_by_name():
    def joint_layout(model):
        rows = {}
        for j in range(model.njnt):
            kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
            nq, nv = {"free": (7, 6), "ball": (4, 3)}.get(kind, (1, 1))
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            rows[model.joint(j).name] = (kind, slice(q, q + nq), slice(v, v + nv))
        return rows


# More mistakes, each a line of the right answer put wrong.
RIGHT = {
    "joints": "range(model.njnt)",
    "name": "model.joint(j).name",
    "kind": "('free', 'ball', 'slide', 'hinge')[k]",
    "widths": "((7, 6), (4, 3), (1, 1), (1, 1))",
    "in_qpos": "slice(q, q + nq)",
    "in_qvel": "slice(v, v + nv)",
    "row": "(name, kind, in_qpos, in_qvel)",
    "result": "rows",
}

CELL = """\
def joint_layout(model):
    rows = []
    q_ends = [*model.jnt_qposadr[1:], {last_q}]
    v_ends = [*model.jnt_dofadr[1:], {last_v}]
    for j in {joints}:
        k = model.jnt_type[j]
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        nq, nv = {widths}[k]
        name, kind, in_qpos, in_qvel = {name}, {kind}, {in_qpos}, {in_qvel}
        rows.append({row})
    return {result}
"""


def _mistake(id: str, text: str, *changes: dict[str, str]) -> None:
    for change in changes:
        cell = CELL.format(**({"last_q": "model.nq", "last_v": "model.nv"} | RIGHT | change))
        exercise.misconceptions.append(Implementation(id, text, cell))


_TO_THE_NEXT = {"in_qpos": "slice(q, int(q_ends[j]))", "in_qvel": "slice(v, int(v_ends[j]))"}
_mistake(
    "wrong_total",
    "The last slice of one of your columns ends at the size of the other array: `qpos` ends at "
    "`nq`, `qvel` at `nv`.",
    _TO_THE_NEXT | {"last_v": "model.nq"},
    _TO_THE_NEXT | {"last_q": "model.nv"},
    _TO_THE_NEXT | {"last_q": "model.nv", "last_v": "model.nq"},
)
_mistake(
    "off_by_one",
    _OFF_BY_ONE,
    _TO_THE_NEXT | {"last_q": "model.nq - 1"},
    _TO_THE_NEXT | {"last_v": "model.nv - 1"},
    {"in_qpos": "slice(q, q + nq - 1)"},
    {"in_qvel": "slice(v, v + nv - 1)"},
    {"in_qpos": "slice(q, q + nq + 1)"},
    {"in_qvel": "slice(v, v + nv + 1)"},
    {"in_qpos": "slice(q, max(q + 1, q + nq - 1))", "in_qvel": "slice(v, max(v + 1, v + nv - 1))"},
)
_mistake(
    "counts_velocities_for_positions",
    _SIX,
    {"widths": "((6, 6), (4, 3), (1, 1), (1, 1))"},
    {"widths": "((7, 6), (3, 3), (1, 1), (1, 1))"},
)
_mistake(
    "counts_positions_for_velocities",
    "You give free and ball joints as many velocity numbers as position numbers. An angular "
    "velocity has three numbers, not four: 6 and 3 in `qvel`.",
    {"widths": "((7, 7), (4, 3), (1, 1), (1, 1))"},
    {"widths": "((7, 6), (4, 4), (1, 1), (1, 1))"},
)
_mistake(
    "type_is_no_word",
    _TYPE_WORD,
    {"kind": "str(mujoco.mjtJoint(k))"},
    {"kind": "mujoco.mjtJoint(k).name.lower()"},
    {"kind": "('free', 'ball', 'prismatic', 'revolute')[k]"},
    {"kind": "('freejoint', 'ball', 'slide', 'hinge')[k]"},
    {"kind": "('Free', 'Ball', 'Slide', 'Hinge')[k]"},
    {"kind": "mujoco.mjtJoint(k)"},
)
_mistake(
    "name_for_type",
    "Your rows give the name of the joint where its type is asked for. In `joint_zoo` they look "
    "alike; the type is in `jnt_type`.",
    {"kind": "name"},
    {"kind": "model.joint(j).name"},
)
_mistake(
    "columns_in_another_order",
    "The columns of your rows are in another order: name, type, slice in `qpos`, slice in `qvel`.",
    {"row": "(kind, name, in_qpos, in_qvel)"},
)
_mistake(
    "pairs_for_slices",
    "Your rows hold pairs of numbers or lists of indices where `slice` objects are asked for: "
    "`slice(start, stop)`.",
    {
        "in_qpos": "q if nq == 1 else slice(q, q + nq)",
        "in_qvel": "v if nv == 1 else slice(v, v + nv)",
    },
    {"in_qpos": "range(q, q + nq)", "in_qvel": "range(v, v + nv)"},
    {"in_qpos": "q", "in_qvel": "v"},
)
_mistake(
    "unnamed_breaks",
    "A joint without a name stops your code: `mj_id2name` returns `None` there. Give it the name "
    "`''`, as `model.joint(j).name` does.",
    {"name": "mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j).lower()"},
    {"name": "model.joint(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)).name"},
)
_mistake(
    "first_joint_missing",
    "The first joint is missing from your list: joints count from 0 (bodies from 1, after the "
    "world).",
    {"joints": "range(1, model.njnt)"},
)
_mistake(
    "last_joint_missing",
    "The last joint is missing from your list: the gap to the next address does not exist for it. "
    "End it at `nq` and `nv`.",
    {"joints": "range(model.njnt - 1)"},
)
_mistake(
    "reversed_order",
    "Your list runs from the last joint to the first; joint order is asked for.",
    {"joints": "reversed(range(model.njnt))"},
)
_mistake(
    "one_name_a_type",
    "Joints that share a type fall on each other in your list (a dict by type, or a search for "
    "the first of a kind).",
    {"joints": "[list(model.jnt_type).index(t) for t in model.jnt_type]"},
    {"joints": "[list(model.jnt_type).index(t) for t in dict.fromkeys(model.jnt_type)]"},
)

_mistake(
    "types_exchanged",
    "Two types are exchanged: MuJoCo numbers them free 0, ball 1, slide 2, hinge 3 "
    "(`mujoco.mjtJoint`).",
    {"kind": "('ball', 'free', 'slide', 'hinge')[k]"},
    {"kind": "('free', 'ball', 'hinge', 'slide')[k]"},
    {"kind": "('hinge', 'slide', 'ball', 'free')[k]"},
)
_mistake(
    "types_by_position",
    "You give types or names by a joint's place in the list, as `joint_zoo` has them; read them "
    "from `jnt_type[j]` and `model.joint(j).name`.",
    {"kind": "('free', 'ball', 'slide', 'hinge')[j % 4]"},
    {"name": "('free', 'ball', 'slide', 'hinge')[j % 4]"},
)
_mistake(
    "name_of_a_body",
    "Your names are those of bodies; ask for the joint's (`model.joint(j).name`, `mjOBJ_JOINT`).",
    {"name": "mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, j) or ''"},
    {"name": "mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, j)"},
    {"name": "model.body(j).name"},
)
_mistake(
    "first_joint_only",
    "You return after the first joint: the `return` stands inside the loop.",
    {"joints": "range(1)"},
)


@exercise.variant("adds up the widths instead of reading the addresses")
def by_adding_up():
    WIDTH = {0: ("free", 7, 6), 1: ("ball", 4, 3), 2: ("slide", 1, 1), 3: ("hinge", 1, 1)}

    def joint_layout(model):
        q = v = 0
        rows = []
        for j, t in enumerate(model.jnt_type):
            kind, a, b = WIDTH[int(t)]
            rows.append((model.joint(j).name, kind, slice(q, q + a), slice(v, v + b)))
            q, v = q + a, v + b
        return rows


@exercise.variant("takes the gap to the next address")
def by_gaps():
    def joint_layout(model):
        q = np.append(model.jnt_qposadr, model.nq)
        v = np.append(model.jnt_dofadr, model.nv)
        kinds = np.array(["free", "ball", "slide", "hinge"])[model.jnt_type]
        names = [
            mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j) or "" for j in range(model.njnt)
        ]
        return list(zip(names, kinds, map(slice, q[:-1], q[1:]), map(slice, v[:-1], v[1:])))


@exercise.variant("lists in a tuple, an open end, explicit steps")
def open_ended():
    def joint_layout(model):
        rows = []
        for j in range(model.njnt):
            joint = model.joint(j)
            last = j == model.njnt - 1
            q, v = int(joint.qposadr[0]), int(joint.dofadr[0])
            nq = None if last else int(model.jnt_qposadr[j + 1])
            nv = None if last else int(model.jnt_dofadr[j + 1])
            kind = mujoco.mjtJoint(joint.type[0]).name.removeprefix("mjJNT_").lower()
            rows.append([joint.name, kind, slice(q, nq, 1), slice(v, nv, None)])
        return tuple(rows)


@exercise.variant("a generator and a match statement")
def by_generator():
    from mujoco import mjtJoint

    def rows(model):
        for j in range(model.njnt):
            match mjtJoint(model.jnt_type[j]):
                case mjtJoint.mjJNT_FREE:
                    kind, a, b = "free", 7, 6
                case mjtJoint.mjJNT_BALL:
                    kind, a, b = "ball", 4, 3
                case mjtJoint.mjJNT_SLIDE:
                    kind, a, b = "slide", 1, 1
                case _:
                    kind, a, b = "hinge", 1, 1
            q, v = model.jnt_qposadr[j], model.jnt_dofadr[j]
            yield model.joint(j).name, kind, slice(q, q + a), slice(v, v + b)

    joint_layout = lambda model: list(rows(model))
