"""`joint_layout`: where every joint's numbers lie in `qpos` and `qvel`."""

from __future__ import annotations

import mujoco
import numpy as np

from course.exercises.compare import same
from course.exercises.exercise import Case, Exercise, call
from course.exercises.generalized_coordinates.scenes import scene, zoo
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


GOOD = """\
def joint_layout(model):
    rows = []
    for j in range(model.njnt):
        k = model.jnt_type[j]
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        nq, nv = ((7, 6), (4, 3), (1, 1), (1, 1))[k]
        name = model.joint(j).name
        kind = ("free", "ball", "slide", "hinge")[k]
        rows.append((name, kind, slice(q, q + nq), slice(v, v + nv)))
    return rows
"""
_wrong = exercise.slips(GOOD)
_JOINTS = "range(model.njnt)"
_NAME = "model.joint(j).name"
_KIND = '("free", "ball", "slide", "hinge")[k]'
_WIDTHS = "((7, 6), (4, 3), (1, 1), (1, 1))"
_IN_QPOS, _IN_QVEL = "slice(q, q + nq)", "slice(v, v + nv)"
_ROW = f"(name, kind, {_IN_QPOS}, {_IN_QVEL})"

# Another right answer: from each address to the next. The last joint has no next one.
BY_GAPS = """\
def joint_layout(model):
    q = [*model.jnt_qposadr, model.nq]
    v = [*model.jnt_dofadr, model.nv]
    rows = []
    for j in range(model.njnt):
        kind = ("free", "ball", "slide", "hinge")[model.jnt_type[j]]
        rows.append((model.joint(j).name, kind, slice(q[j], q[j + 1]), slice(v[j], v[j + 1])))
    return rows
"""
_wrong_gap = exercise.slips(BY_GAPS)
_TO_NQ, _TO_NV = "qposadr, model.nq", "dofadr, model.nv"

_wrong(
    "velocity_address_for_positions",
    "Your slices of `qpos` start at the velocity addresses: after the first quaternion the two "
    "arrays no longer line up. Take `jnt_qposadr` for `qpos`, `jnt_dofadr` for `qvel`.",
    ("jnt_qposadr", "jnt_dofadr"),
)
_wrong(
    "position_address_for_velocities",
    "Your slices of `qvel` start at the position addresses: after the first quaternion the two "
    "arrays no longer line up. Take `jnt_dofadr` for `qvel`.",
    ("jnt_dofadr", "jnt_qposadr"),
)
_HARD = (
    "The layout of `joint_zoo` is written into your code. Read the addresses from the model you "
    "are given: every inserted joint moves all that follow."
)
_ADDRESSES = (
    "int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])",
    "((0, 0), (7, 6), (11, 9), (12, 10))[k]",
)
_wrong("hard_coded", _HARD, _ADDRESSES)
_wrong(
    "hard_coded",
    _HARD,
    _ADDRESSES,
    (_JOINTS, "range(4)"),
    ("model.jnt_type[j]", "j"),
    (_NAME, "('free', 'ball', 'slide', 'hinge')[j]"),
)

_OFF_BY_ONE = (
    "A slice of yours ends one entry early or late. `slice(a, a + n)` holds `n` entries: the stop "
    "itself is left out, also for the last joint."
)
for _in_qpos, _in_qvel in (
    ("slice(q, q + nq - 1)", "slice(v, v + nv - 1)"),
    ("slice(q, q + nq - 1)", _IN_QVEL),
    (_IN_QPOS, "slice(v, v + nv - 1)"),
    ("slice(q, q + nq + 1)", "slice(v, v + nv + 1)"),
    ("slice(q, q + nq + 1)", _IN_QVEL),
    (_IN_QPOS, "slice(v, v + nv + 1)"),
    ("slice(q + 1, q + 1 + nq)", "slice(v + 1, v + 1 + nv)"),
    ("slice(q, max(q + 1, q + nq - 1))", "slice(v, max(v + 1, v + nv - 1))"),
):
    _wrong("off_by_one", _OFF_BY_ONE, (_IN_QPOS, _in_qpos), (_IN_QVEL, _in_qvel))
for _nq, _nv in (
    ("model.nq - 1", "model.nv - 1"),
    ("model.nq - 1", "model.nv"),
    ("model.nq", "model.nv - 1"),
    ("-1", "-1"),
    ("model.nq + 1", "model.nv + 1"),
):
    _wrong_gap("off_by_one", _OFF_BY_ONE, (_TO_NQ, f"qposadr, {_nq}"), (_TO_NV, f"dofadr, {_nv}"))
for _nq, _nv in (("model.nq", "model.nq"), ("model.nv", "model.nv"), ("model.nv", "model.nq")):
    _wrong_gap(
        "wrong_total",
        "The last slice of one of your columns ends at the size of the other array: `qpos` ends at "
        "`nq`, `qvel` at `nv`.",
        (_TO_NQ, f"qposadr, {_nq}"),
        (_TO_NV, f"dofadr, {_nv}"),
    )
_LAST = (
    "The last joint is missing from your list: the gap to the next address does not exist for it. "
    "End it at `nq` and `nv`."
)
_wrong("last_joint_missing", _LAST, (_JOINTS, "range(model.njnt - 1)"))
_NO_END = (_TO_NQ, "qposadr"), (_TO_NV, "dofadr")
_wrong_gap("last_joint_missing", _LAST, *_NO_END)
_wrong_gap("last_joint_missing", _LAST, *_NO_END, (_JOINTS, "range(model.njnt - 1)"))

_SIX = (
    "You give free and ball joints as many position numbers as velocity numbers. An orientation "
    "is stored as a quaternion: 7 and 4 numbers in `qpos`, 6 and 3 in `qvel`."
)
for _widths in (
    "((6, 6), (3, 3), (1, 1), (1, 1))",
    "((6, 6), (4, 3), (1, 1), (1, 1))",
    "((7, 6), (3, 3), (1, 1), (1, 1))",
):
    _wrong("counts_velocities_for_positions", _SIX, (_WIDTHS, _widths))
_wrong(
    "counts_velocities_for_positions",
    _SIX,
    (_WIDTHS, "((6, 6), (3, 3), (1, 1), (1, 1))"),
    ("int(model.jnt_qposadr[j])", "int(model.jnt_dofadr[j])"),
)
for _widths in (
    "((7, 7), (4, 4), (1, 1), (1, 1))",
    "((7, 7), (4, 3), (1, 1), (1, 1))",
    "((7, 6), (4, 4), (1, 1), (1, 1))",
):
    _wrong(
        "counts_positions_for_velocities",
        "You give free and ball joints as many velocity numbers as position numbers. An angular "
        "velocity has three numbers, not four: 6 and 3 in `qvel`.",
        (_WIDTHS, _widths),
    )
_wrong(
    "ball_as_hinge",
    "Only the free joint gets its own width in your code; a ball joint has 4 numbers in `qpos` "
    "and 3 in `qvel`.",
    ("(4, 3)", "(1, 1)"),
)

_ID_NAME = "mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, j)"
_wrong(
    "unnamed_is_none",
    "A joint without a name is given as `None`, or not as the empty string that is asked for. "
    "`mj_id2name` returns `None` there; `model.joint(j).name` returns `''`.",
    (_NAME, _ID_NAME),
)
_wrong(
    "unnamed_left_out",
    "A joint without a name is left out of your list. It has its numbers all the same: give it "
    "the name `''`.",
    ("        rows.append", "        if name:\n            rows.append"),
)
_wrong(
    "unnamed_gets_a_name",
    "A joint without a name gets a made-up one (a number, the body's name); the empty string is "
    "asked for.",
    (_NAME, f'{_NAME} or f"joint{{j}}"'),
)
for _name in (f"{_ID_NAME}.lower()", f"model.joint({_ID_NAME}).name"):
    _wrong(
        "unnamed_breaks",
        "A joint without a name stops your code: `mj_id2name` returns `None` there. Give it the "
        "name `''`, as `model.joint(j).name` does.",
        (_NAME, _name),
    )
_wrong(
    "body_names",
    "The name in your list is the body's; the joint has a name of its own (`model.joint(j).name`).",
    (_NAME, "model.body(model.jnt_bodyid[j]).name"),
)
for _name in (
    "mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, j) or ''",
    "mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, j)",
    "model.body(j).name",
):
    _wrong(
        "name_of_a_body",
        "Your names are those of bodies; ask for the joint's (`model.joint(j).name`, "
        "`mjOBJ_JOINT`).",
        (_NAME, _name),
    )

for _kind in (
    "int(k)",
    "mujoco.mjtJoint(k).name",
    '("FREE", "BALL", "SLIDE", "HINGE")[k]',
    "str(mujoco.mjtJoint(k))",
    "mujoco.mjtJoint(k).name.lower()",
    '("free", "ball", "prismatic", "revolute")[k]',
    '("freejoint", "ball", "slide", "hinge")[k]',
    '("Free", "Ball", "Slide", "Hinge")[k]',
    "mujoco.mjtJoint(k)",
):
    _wrong(
        "type_is_no_word",
        "The type in your list is MuJoCo's number or its long name; one of the words `'free'`, "
        "`'ball'`, `'slide'`, `'hinge'` is asked for.",
        (_KIND, _kind),
    )
_wrong(
    "types_shuffled",
    "Your words for the joint types are in another order than MuJoCo's numbers: 0 free, 1 ball, "
    "2 slide, 3 hinge (`mujoco.mjtJoint`).",
    (_KIND, '("free", "ball", "hinge", "slide")[k]'),
)
for _kind in (
    '("ball", "free", "slide", "hinge")[k]',
    '("hinge", "slide", "ball", "free")[k]',
):
    _wrong(
        "types_exchanged",
        "Two types are exchanged: MuJoCo numbers them free 0, ball 1, slide 2, hinge 3 "
        "(`mujoco.mjtJoint`).",
        (_KIND, _kind),
    )
_BY_PLACE = '("free", "ball", "slide", "hinge")[j % 4]'
for _column in (_KIND, _NAME):
    _wrong(
        "types_by_position",
        "You give types or names by a joint's place in the list, as `joint_zoo` has them; read "
        "them from `jnt_type[j]` and `model.joint(j).name`.",
        (_column, _BY_PLACE),
    )
for _kind in ("name", _NAME):
    _wrong(
        "name_for_type",
        "Your rows give the name of the joint where its type is asked for. In `joint_zoo` they "
        "look alike; the type is in `jnt_type`.",
        (_KIND, _kind),
    )

for _in_qpos, _in_qvel in (
    ("(q, q + nq)", "(v, v + nv)"),
    ("list(range(q, q + nq))", "list(range(v, v + nv))"),
    ("range(q, q + nq)", "range(v, v + nv)"),
    (f"q if nq == 1 else {_IN_QPOS}", f"v if nv == 1 else {_IN_QVEL}"),
    ("q", "v"),
):
    _wrong(
        "pairs_for_slices",
        "Your rows hold pairs of numbers or lists of indices where `slice` objects are asked for: "
        "`slice(start, stop)`.",
        (_IN_QPOS, _in_qpos),
        (_IN_QVEL, _in_qvel),
    )
_wrong(
    "length_for_stop",
    "Your slices are built as (start, length); Python's `slice` takes (start, stop).",
    ("q + nq", "nq"),
    ("v + nv", "nv"),
)
_wrong(
    "slices_swapped",
    "Your rows hold the slice of `qvel` before the slice of `qpos`; the order is name, type, "
    "`qpos`, `qvel`.",
    (_ROW, f"(name, kind, {_IN_QVEL}, {_IN_QPOS})"),
)
_wrong(
    "columns_in_another_order",
    "The columns of your rows are in another order: name, type, slice in `qpos`, slice in `qvel`.",
    (_ROW, f"(kind, name, {_IN_QPOS}, {_IN_QVEL})"),
)
_wrong(
    "one_joint_a_body",
    "Your code goes through the bodies and takes one joint from each. A body can have several "
    "joints, or none: go through `range(model.njnt)`.",
    (_JOINTS, "[j for j in model.body_jntadr if j >= 0]"),
)
_wrong(
    "first_joint_missing",
    "The first joint is missing from your list: joints count from 0 (bodies from 1, after the "
    "world).",
    (_JOINTS, "range(1, model.njnt)"),
)
_wrong(
    "first_joint_only",
    "You return after the first joint: the `return` stands inside the loop.",
    ("    return rows", "        return rows"),
)
_wrong(
    "reversed_order",
    "Your list runs from the last joint to the first; joint order is asked for.",
    (_JOINTS, "reversed(range(model.njnt))"),
)
_wrong(
    "sorted_by_name",
    "Your list is sorted (by name, by type); joint order is asked for, the order of the model.",
    ("return rows", "return sorted(rows, key=lambda row: row[0])"),
)
for _types in ("model.jnt_type", "dict.fromkeys(model.jnt_type)"):
    _wrong(
        "one_name_a_type",
        "Joints that share a type fall on each other in your list (a dict by type, or a search for "
        "the first of a kind).",
        (_JOINTS, f"[list(model.jnt_type).index(t) for t in {_types}]"),
    )
_wrong(
    "dict_by_name",
    "Your function returns a dict by name; a list in joint order is asked for (two joints without "
    "a name would share one key).",
    ("return rows", "return {row[0]: row[1:] for row in rows}"),
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
