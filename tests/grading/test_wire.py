"""What crosses between the processes, and what is refused."""

from __future__ import annotations

import struct

import msgpack
import mujoco
import numpy as np
import pytest

from course.exercises.implementation import setup_namespace
from course.grading import messages, wire
from course.grading.apart import Limits, WireDoor
from course.grading.door import Handle, LocalDoor
from course.grading.observe import After, Unsupported, changed_fields
from course.grading.wire import WireError, pack, unpack
from tests.grading import yard

PLAIN = [
    None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**200, -(2**200), 1.5, float("inf"), 1 + 2j,
    "", "quaternion ü", [], [1, [2, []]], (1, (2,)), {1, 2}, frozenset({"a"}), {"a": [1], 2: None},
    {(1, 2): "pair"}, slice(1, None, 2), [slice(0, 7)], Unsupported("generator", "words"),
]  # fmt: skip
ARRAYS = [
    np.array(3.0), np.arange(6).reshape(2, 3), np.zeros((0, 4)), np.array([True, False]),
    np.array([1, 2], dtype=np.int8), np.array([1.0], dtype=">f8"), np.array([1 + 1j]),
    np.array([1.0], dtype=np.float32), np.asfortranarray(np.eye(3)), np.arange(10)[::2],
    np.array(["free", "ball"]), np.array([["a"]]), np.array([], dtype=str), np.array(True),
]  # fmt: skip


@pytest.mark.parametrize("value", PLAIN, ids=repr)
def test_plain_values_come_back_as_they_went(value):
    back = unpack(pack(value))
    assert back == value
    assert isinstance(back, (type(value), set))


def test_nan_comes_back_as_nan():
    assert np.isnan(unpack(pack(float("nan"))))


@pytest.mark.parametrize("array", ARRAYS, ids=repr)
def test_arrays_come_back_with_dtype_shape_and_every_bit(array):
    back = unpack(pack(array))
    assert isinstance(back, np.ndarray)
    assert back.shape == array.shape
    assert back.dtype.kind == array.dtype.kind
    assert back.tobytes() == array.astype(back.dtype).tobytes()
    assert back.flags.writeable


def test_numpy_scalars_become_pythons():
    assert type(unpack(pack(np.float32(0.5)))) is float
    assert type(unpack(pack(np.int16(3)))) is int
    assert type(unpack(pack(np.bool_(True)))) is bool
    assert type(unpack(pack(np.longdouble(0.5)))) is float


def test_what_is_no_value_is_named_and_nothing_else():
    for thing in (lambda: 0, (i for i in ()), object(), np.array([object()]), b"bytes"):
        assert isinstance(unpack(pack(thing)), Unsupported)


def test_depth_count_and_size_are_bounded_on_the_way_out():
    deep: list = []
    for _ in range(50):
        deep = [deep]
    endless: list = []
    endless.append(endless)
    for value in (deep, endless, list(range(300_000)), np.zeros(10**7), "x" * 10**7, 2**100_000):
        with pytest.raises(WireError):
            pack(value)


def _array(dtype, shape, content):
    return msgpack.packb(msgpack.ExtType(wire.ARRAY, msgpack.packb((dtype, shape, content))))


HOSTILE = {
    "nothing": b"",
    "noise": b"\xc1\xff\x00",
    "cut short": pack([1, 2, 3])[:-1],
    "two values": pack(1) + pack(2),
    "a map": msgpack.packb({"a": 1}),
    "raw bytes": msgpack.packb(b"abc"),
    "no kind": msgpack.packb([]),
    "a kind that is no number": msgpack.packb(["x", 1]),
    "an unknown kind": msgpack.packb([9, 1]),
    "a handle where none can be": msgpack.packb([wire.HANDLE, 0, "x"]),
    "a list as a key": msgpack.packb([wire.DICT, [wire.LIST], 1]),
    "an odd dict": msgpack.packb([wire.DICT, 1]),
    "a set of lists": msgpack.packb([wire.SET, [wire.LIST]]),
    "a short slice": msgpack.packb([wire.SLICE, 1]),
    "an unknown extension": msgpack.packb(msgpack.ExtType(77, b"")),
    "a timestamp": msgpack.packb(msgpack.Timestamp(1)),
    "a long list": b"\xdd" + struct.pack(">I", 2**31),
    "deep": b"\x92\x00" * 400 + b"\xc0",
    "very deep": b"\x91" * 100_000,
    "an object array": _array("|O", [1], b"\0" * 8),
    "a record array": _array("|V8", [1], b"\0" * 8),
    "a date array": _array("<M8[s]", [1], b"\0" * 8),
    "a code for a dtype": _array("f8,f8", [1], b"\0" * 16),
    "a dtype that is no text": _array(3, [1], b"\0" * 8),
    "a shape too large": _array("<f8", [2**40], b""),
    "a negative shape": _array("<f8", [-1], b""),
    "a shape of another size": _array("<f8", [2], b"\0" * 8),
    "too many dimensions": _array("<f8", [1] * 40, b"\0" * 8),
    "an array that is no triple": msgpack.packb(msgpack.ExtType(wire.ARRAY, b"\xc0")),
    "a complex cut short": msgpack.packb(msgpack.ExtType(wire.COMPLEX, b"\0" * 8)),
    "an integer without end": msgpack.packb(msgpack.ExtType(wire.BIG_INT, b"\1" * 5000)),
    "an empty integer": msgpack.packb(msgpack.ExtType(wire.BIG_INT, b"")),
    "strings of one great width": msgpack.packb(
        [wire.STRINGS, [1001], "x" * 100_000, *[""] * 1000]
    ),
    "strings and a number": msgpack.packb([wire.STRINGS, [2], "a", 3]),
    "bad text": b"\xa2\xff\xfe",
}


@pytest.mark.parametrize("packed", HOSTILE.values(), ids=HOSTILE.keys())
def test_malformed_bytes_are_a_wire_error(packed):
    with pytest.raises(WireError):
        unpack(packed)


def test_random_damage_is_a_wire_error_or_a_value_and_never_anything_else():
    rng = np.random.default_rng(0)
    whole = pack([PLAIN[:12], ARRAYS[:6], {"a": np.eye(3)}])
    for _ in range(3000):
        damaged = bytearray(whole)
        for place in rng.integers(0, len(whole), size=3):
            damaged[place] = rng.integers(0, 256)
        try:
            unpack(bytes(damaged))
        except WireError:
            continue


def test_a_bool_array_holds_nothing_but_bools():
    back = unpack(_array("|b1", [3], b"\x00\x07\x01"))
    assert back.tobytes() == b"\x00\x01\x01"


def test_frames_are_cut_from_a_stream_of_any_pieces():
    stream = wire.frame(7, b"one", b"") + wire.frame(8) + wire.frame(9, b"x" * 1000)
    reader = wire.Reader(2000)
    seen = []
    for byte in stream:
        reader.feed(bytes([byte]))
        while (message := reader.next()) is not None:
            seen.append(message)
    assert seen == [(7, [b"one", b""]), (8, []), (9, [b"x" * 1000])]


def test_a_frame_beyond_the_limit_is_refused_before_it_has_come():
    reader = wire.Reader(100)
    reader.feed(wire.frame(1, b"x" * 101)[:12])
    with pytest.raises(WireError):
        reader.next()
    reader = wire.Reader(100)
    reader.feed(struct.pack(">BH", 1, 60_000))
    with pytest.raises(WireError):
        reader.next()


# Models and data


def _with_textures() -> tuple[mujoco.MjModel, mujoco.MjData]:
    spec = yard.CART.replace(
        "<worldbody>",
        '<asset><texture type="skybox" builtin="gradient" rgb1="1 1 1" rgb2="0 0 1" width="64" '
        'height="64"/><texture name="t" type="2d" builtin="checker" width="32" height="32"/>'
        '<material name="t" texture="t"/></asset><worldbody>',
    )
    model = mujoco.MjModel.from_xml_string(spec)
    data = mujoco.MjData(model)
    data.qvel[1:4] = 0.3
    for _ in range(20):
        mujoco.mj_step(model, data)
    assert data.ncon
    return model, data


def test_data_go_over_without_their_model_and_arrive_bit_for_bit():
    for model, data in (_with_textures(), yard.cart()):
        light = wire.without_textures(model.__getstate__())
        arrived = mujoco.MjData.__new__(mujoco.MjData)
        arrived.__setstate__(wire.DATA_MARK + light + wire.data_tail(data))
        copied = mujoco.MjData(model)
        mujoco.mj_copyData(copied, model, arrived)
        assert copied.__getstate__() == data.__getstate__()


def test_every_field_of_the_data_arrives():
    for model, data in (_with_textures(), yard.cart()):
        light = wire.without_textures(model.__getstate__())
        arrived = mujoco.MjData.__new__(mujoco.MjData)
        arrived.__setstate__(wire.DATA_MARK + light + wire.data_tail(data))
        assert changed_fields(data, arrived) == {}


def test_the_light_model_has_lost_its_textures():
    model, _ = _with_textures()
    assert len(wire.without_textures(model.__getstate__())) < len(model.__getstate__()) / 5


# The door: one process or two, the same outcomes

CELL = """
from dataclasses import dataclass

@dataclass
class Pose:
    x: float
    def moved(self, by):
        return Pose(self.x + by)

kept = []
def gives(kind):
    import fractions
    return {
        "int": 3, "np": np.float64(0.25), "bool": np.bool_(True), "array": np.arange(3.0),
        "view": np.eye(3)[1], "tuple": (1, [2, {"a": None}]), "set": {1, 2}, "slice": slice(0, 7),
        "range": range(3), "generator": (i for i in ()), "function": gives, "text": "a",
        "complex": 1j, "big": 2 ** 100, "object": np.array([None]), "none": None,
        "module": np, "type": int, "bytes": b"x", "nan": np.nan, "names": np.array(["a", "b"]),
    }[kind]

def fails(kind):
    own = type("Own", (ValueError,), {})
    raise {
        "value": ValueError("no"), "key": KeyError("k"), "own": own(1),
        "quiet": NotImplementedError(), "stop": StopIteration(3),
    }[kind]

def same(x): return x
def part(x): return x[:2]
def fill(x): x[...] = 7.0
def grow(x): x.append(4)
def step(model, data):
    mujoco.mj_step(model, data)
    return data.xpos
def heavier(model): model.body_mass[1] = 9.0
def is_its_model(model, data): return data.model is model
def both(model, a, b): return a.model is model and b.model is model
def ask(model, data, f):
    data.qpos[0] = 0.25
    mujoco.mj_kinematics(model, data)
    return f(model, data, 2)
def tall(): return Pose(1.5)
def remember(x):
    kept.append(x)
    return len(kept)
total = {"a": (1, 2), "b": np.eye(2)}
"""


def _run_cell(student, source):
    student.send(messages.RUN_CELL, pack(source), pack(1))
    student.receive(student.clock(10.0), "the cell")


@pytest.fixture
def doors(server):
    names = setup_namespace()
    exec(compile(CELL, "<cell 1>", "exec"), names)
    student = server.spawn(Limits())
    try:
        _run_cell(student, "import mujoco, numpy as np\n" + CELL)
        yield LocalDoor(names, record=True), WireDoor(lambda: student, Limits())
    finally:
        student.end()


def _alike(a, b):
    assert type(a) is type(b) or (isinstance(a, After) and isinstance(b, After)), (a, b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for one, other in zip(a, b, strict=True):
            _alike(one, other)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        _alike(list(a.values()), list(b.values()))
    elif isinstance(a, Unsupported):
        assert a.kind == b.kind
    elif isinstance(a, After):
        assert a.changed == b.changed
        for path in a.changed:
            _alike(a.changes[path], b.changes[path])
    elif isinstance(a, (mujoco.MjModel, mujoco.MjData)) or callable(a):
        assert a is b
    elif a != a:
        assert b != b
    else:
        assert a == b


def _same_outcome(doors, function, *args):
    local, far = (door.call(function, *args) for door in doors)
    _alike(local.value, far.value)
    if local.error is None:
        assert far.error is None, far.error
    else:
        assert (local.error.kinds, local.error.message) == (far.error.kinds, far.error.message)
    _alike(local.args_after, far.args_after)
    assert local.aliases == far.aliases
    assert local.routines_called == far.routines_called
    return far


KINDS = (
    "int np bool array view tuple set slice range generator function text complex big object none"
)


@pytest.mark.parametrize("kind", [*KINDS.split(), "module", "type", "bytes", "nan", "names"])
def test_values_look_the_same_through_both_doors(doors, kind):
    _same_outcome(doors, "gives", kind)


@pytest.mark.parametrize("kind", ["value", "key", "own", "quiet", "stop", "unknown"])
def test_errors_look_the_same_through_both_doors(doors, kind):
    _same_outcome(doors, "fails", kind)


def test_what_became_of_the_arguments_looks_the_same_through_both_doors(doors):
    _same_outcome(doors, "missing", 1)
    _same_outcome(doors, "same", np.arange(4.0))
    _same_outcome(doors, "part", np.arange(4.0))
    _same_outcome(doors, "fill", np.zeros(3))
    _same_outcome(doors, "grow", [1, 2.5, "x"])
    model, data = yard.cart()
    outcome = _same_outcome(doors, "step", model, data)
    assert "qpos" in outcome.args_after[1].changed
    assert outcome.aliases == {1}
    assert _same_outcome(doors, "heavier", model).args_after[0].body_mass[1] == 9.0
    assert _same_outcome(doors, "heavier", model).args_after[0].changed  # and is put right after
    assert model.body_mass[1] == 2.0


def test_the_datas_model_is_the_model_that_the_answer_gets(doors):
    model, data = yard.cart()
    assert _same_outcome(doors, "is_its_model", model, data).value is True
    _, other = model, mujoco.MjData(model)
    assert _same_outcome(doors, "both", model, data, other).value is True


def test_stale_data_arrive_stale(doors):
    model, data = yard.cart()
    data.qpos[0] = 99.0  # and no mj_forward
    far = doors[1].call("same", data.xpos.copy())
    assert np.array_equal(far.value, data.xpos)
    outcome = _same_outcome(doors, "is_its_model", model, data)
    assert outcome.args_after[1].changed == frozenset()


def test_a_callback_sees_what_the_answer_did_so_far(doors):
    model, data = yard.cart()
    seen = []

    def look(model, data, factor):
        seen.append((data.qpos[0], data.xpos[1, 0], data.body("cart").xpos[0]))
        return factor * data.qpos

    outcome = _same_outcome(doors, "ask", model, data, look)
    assert outcome.value[0] == 0.5
    assert seen[0] == seen[1] == (0.25, 0.25, 0.25)


def test_an_error_of_a_callback_is_raised_in_the_answer(doors):
    def refuse(model, data, factor):
        raise ValueError("not this one")

    far = doors[1].call("ask", *yard.cart(), refuse)
    assert far.error.kinds[0] == "ValueError"
    assert far.error.message == "not this one"


def test_instances_stay_on_their_side_and_are_used_by_handle(doors):
    for door in doors:
        made = door.call("tall").result()
        assert isinstance(made, Handle)
        assert made.kind == "Pose"
        moved = door.method(made, "moved", 1.0).result()
        assert door.attribute(moved, "x").result() == 2.5
        assert door.method(made, "nothing").error.is_a("AttributeError")
        assert door.call("same", made).result().kind == "Pose"


def test_typed_answers_are_read_by_name(doors):
    local, far = (door.value("total").result() for door in doors)
    _alike(local, far)
    assert doors[1].value("nowhere").error.is_a("NameError")


def test_names_are_answered_by_the_grader_inside_bound_and_given_back(doors):
    for door in doors:
        with door.bound({"same": lambda x: 2 * x, "brand_new": lambda: 5}):
            assert door.call("same", 4).value == 8
            assert door.call("brand_new").value == 5
        assert door.call("same", 4).value == 4
        assert door.call("brand_new").error.is_a("NameError")


def test_a_bound_function_gets_real_data_and_its_changes_arrive(doors):
    def step(model, data):
        mujoco.mj_step(model, data)

    model, data = yard.cart()
    far = doors[1]
    student_cell = "def ask_step(model, data):\n    step_here(model, data)\n    return data.qpos"
    _run_cell(far._student(), student_cell)
    with far.bound({"step_here": step}):
        outcome = far.call("ask_step", model, data)
    mujoco.mj_step(model, data)
    assert np.array_equal(outcome.result(), data.qpos)


def test_state_lives_between_calls(doors):
    assert [doors[1].call("remember", i).value for i in range(3)] == [1, 2, 3]


def test_many_calls_cross_together(doors):
    outcomes = doors[1].call_many("same", [(i,) for i in range(50)])
    assert [o.value for o in outcomes] == list(range(50))
