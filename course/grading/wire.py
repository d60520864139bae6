"""The wire between the grader and the student process: bounded values, never code.

A *frame* is a kind of message (one byte) and parts: the number of parts (two bytes), the length of
each (four bytes, big endian), their bytes. A part is a *packed value*, msgpack of the following:

    None, bool, int (64 bit), float, str    as msgpack has them
    list, tuple, set, dict, slice           msgpack array, its first entry the kind (0 to 4)
    array of strings                        kind 5, the shape, the entries
    array of numbers                        extension 1: dtype, shape, bytes
    complex, larger int                     extensions 2 and 3
    Unsupported                             extension 4: its kind and a few words
    MjModel, MjData, callable, Handle       kinds 16 to 19: only numbers and changed fields cross

Nothing is ever unpickled. `unpack` reads what a student process sent: every size, depth and
count is checked against `Bounds`, and whatever else is found is a `WireError`.

Used on both sides; imports nothing of the course but `observe`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgpack
import mujoco
import numpy as np

from .observe import Unsupported

LIST, TUPLE, SET, DICT, SLICE, STRINGS = range(6)
MODEL, DATA, CALLBACK, HANDLE = range(16, 20)
ARRAY, COMPLEX, BIG_INT, UNSUPPORTED = range(1, 5)

_HEADER = struct.Struct(">BH")
_MAX_PARTS = 4096
_MODEL_HEAD = 17  # a mark and two lengths before the model's own bytes
_COMPLEX = struct.Struct(">dd")
_NUMERIC_KINDS = "biufc"
_ORDERS = ("<", ">", "|")
_WIDTHS = {
    "b": ("1",),
    "i": ("1", "2", "4", "8"),
    "u": ("1", "2", "4", "8"),
    "f": ("2", "4", "8"),
    "c": ("8", "16"),
}
_MAX_DIMENSIONS = 16

# A value that is none of the plain kinds: a tree of plain ones that starts with its kind.
ToTree = Callable[[Any], list[Any] | None]
FromTree = Callable[[int, list[Any]], Any]


class WireError(ValueError):
    """A value that does not cross: of another kind, too large, or malformed."""


@dataclass(frozen=True)
class Bounds:
    """What one packed value may hold.

    Attributes:
      bytes: of the whole packed value.
      depth: of nesting.
      entries: of all lists, tuples, sets and dicts together.
    """

    bytes: int = 4_000_000
    depth: int = 16
    entries: int = 200_000


BOUNDS = Bounds()


def pack(value: Any, special: ToTree | None = None, bounds: Bounds = BOUNDS) -> bytes:
    """Pack a value. NumPy scalars travel as Python's, arrays with their dtype and shape.

    Args:
      special: turns a value of no plain kind into a tree `[kind, ...]`, or returns `None`, and
        the value travels as `Unsupported`.

    Raises:
      WireError: larger or deeper than the bounds allow.
    """
    packed = msgpack.packb(_Packer(special, bounds).tree(value, 0), use_bin_type=True)
    if len(packed) > bounds.bytes:
        raise WireError(f"a value of {len(packed)} bytes; {bounds.bytes} are allowed")
    return packed


def unpack(packed: bytes, special: FromTree | None = None, bounds: Bounds = BOUNDS) -> Any:
    """The value that `pack` packed; `special(kind, rest)` makes the values of no plain kind.

    Raises:
      WireError: anything that `pack` does not write.
    """
    if len(packed) > bounds.bytes:
        raise WireError(f"a value of {len(packed)} bytes; {bounds.bytes} are allowed")
    return _Unpacker(special, bounds).value(_parse(packed, bounds), 0)


def _parse(packed: bytes, bounds: Bounds) -> Any:
    try:
        return msgpack.unpackb(
            packed,
            raw=False,
            use_list=True,
            max_map_len=0,
            max_array_len=bounds.entries + 1,
        )
    except Exception as trouble:  # msgpack raises a dozen kinds on hostile bytes
        raise WireError(f"malformed: {type(trouble).__name__}") from None


class _Packer:
    def __init__(self, special: ToTree | None, bounds: Bounds) -> None:
        self._special, self._bounds, self._entries = special, bounds, 0

    def tree(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if value is None or kind in (bool, float, str):
            return value
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return self._scalar(value)
        if isinstance(value, (bool, float, str)):
            return float(value) if isinstance(value, float) else str(value)
        if isinstance(value, int):
            return self._integer(int(value))
        if isinstance(value, complex):
            return msgpack.ExtType(COMPLEX, _COMPLEX.pack(value.real, value.imag))
        if isinstance(value, Unsupported):
            return _unsupported(value)
        return self._container(value, depth + 1)

    def _integer(self, value: int) -> Any:
        if -(2**63) <= value < 2**63:
            return value
        size = value.bit_length() // 8 + 1
        if size > 1024:
            raise WireError("an integer of more than 1024 bytes")
        return msgpack.ExtType(BIG_INT, value.to_bytes(size, "big", signed=True))

    def _scalar(self, value: np.generic) -> Any:
        plain = value.item()
        if isinstance(plain, np.generic):  # a long double has no Python equal
            plain = complex(plain) if value.dtype.kind == "c" else float(plain)
        if isinstance(plain, (bool, int, float, complex, str)):
            return self.tree(plain, 0)
        return _unsupported(Unsupported(type(value).__name__))

    def _array(self, value: np.ndarray) -> Any:
        array = np.asarray(value)
        if array.dtype.kind == "U":
            self._count(array.size)
            return [STRINGS, list(array.shape), *array.ravel().tolist()]
        if array.dtype.kind not in _NUMERIC_KINDS:
            return _unsupported(Unsupported("ndarray", f"of dtype {array.dtype.kind!r}"))
        if array.dtype.itemsize > (16 if array.dtype.kind == "c" else 8):
            array = array.astype(complex if array.dtype.kind == "c" else float)
        if array.nbytes > self._bounds.bytes:
            raise WireError(f"an array of {array.nbytes} bytes; {self._bounds.bytes} are allowed")
        content = msgpack.packb((array.dtype.str, array.shape, array.tobytes()))
        return msgpack.ExtType(ARRAY, content)

    def _container(self, value: Any, depth: int) -> Any:
        if depth > self._bounds.depth:
            raise WireError(f"nested deeper than {self._bounds.depth} levels")
        if isinstance(value, slice):
            return [SLICE, *(self.tree(v, depth) for v in (value.start, value.stop, value.step))]
        if isinstance(value, Mapping):
            self._count(2 * len(value))
            pairs = [self.tree(v, depth) for pair in list(value.items()) for v in pair]
            return [DICT, *pairs]
        for kinds, code in (((list,), LIST), ((tuple,), TUPLE), ((set, frozenset), SET)):
            if isinstance(value, kinds):
                self._count(len(value))
                return [code, *(self.tree(v, depth) for v in value)]
        tree = None if self._special is None else self._special(value)
        return _unsupported(Unsupported(type(value).__name__)) if tree is None else tree

    def _count(self, entries: int) -> None:
        self._entries += entries
        if self._entries > self._bounds.entries:
            raise WireError(f"more than {self._bounds.entries} entries")


def _unsupported(value: Unsupported) -> msgpack.ExtType:
    words = (str(value.kind)[:80], str(value.text)[:80])
    return msgpack.ExtType(UNSUPPORTED, msgpack.packb(words, unicode_errors="replace"))


class _Unpacker:
    def __init__(self, special: FromTree | None, bounds: Bounds) -> None:
        self._special, self._bounds, self._entries = special, bounds, 0

    def value(self, tree: Any, depth: int) -> Any:
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if isinstance(tree, msgpack.ExtType):
            return self._extension(tree)
        if not isinstance(tree, list) or not tree or type(tree[0]) is not int:
            raise WireError("malformed: no kind")
        if depth >= self._bounds.depth:
            raise WireError(f"nested deeper than {self._bounds.depth} levels")
        self._entries += len(tree) - 1
        if self._entries > self._bounds.entries:
            raise WireError(f"more than {self._bounds.entries} entries")
        kind, rest = tree[0], tree[1:]
        if kind >= MODEL:
            if self._special is None:
                raise WireError(f"malformed: kind {kind} is not expected here")
            return self._special(kind, rest)
        if kind == STRINGS:
            return self._strings(rest)
        items = [self.value(item, depth + 1) for item in rest]
        try:
            return self._collected(kind, items)
        except TypeError:
            raise WireError("malformed: a key that cannot be one") from None

    def _collected(self, kind: int, items: list[Any]) -> Any:
        if kind == LIST:
            return items
        if kind == TUPLE:
            return tuple(items)
        if kind == SET:
            return set(items)
        if kind == DICT and len(items) % 2 == 0:
            return dict(zip(items[::2], items[1::2], strict=True))
        if kind == SLICE and len(items) == 3:
            return slice(*items)
        raise WireError(f"malformed: kind {kind}")

    def _strings(self, rest: list[Any]) -> np.ndarray:
        if not rest or not all(isinstance(v, str) for v in rest[1:]):
            raise WireError("malformed: an array of strings")
        shape = _shape(rest[0])
        if math.prod(shape) != len(rest) - 1:
            raise WireError("malformed: an array of strings")
        # NumPy stores every entry as wide as the longest.
        if max(map(len, rest[1:]), default=0) * len(rest) * 4 > self._bounds.bytes:
            raise WireError("an array of strings that is too large")
        return np.array(rest[1:], dtype=str).reshape(shape)

    def _extension(self, ext: msgpack.ExtType) -> Any:
        try:
            if ext.code == ARRAY:
                return _array(*msgpack.unpackb(ext.data, raw=False, max_map_len=0))
            if ext.code == COMPLEX:
                return complex(*_COMPLEX.unpack(ext.data))
            if ext.code == BIG_INT and 0 < len(ext.data) <= 1024:
                return int.from_bytes(ext.data, "big", signed=True)
            if ext.code == UNSUPPORTED:
                kind, text = msgpack.unpackb(ext.data, raw=False, max_map_len=0)
                return Unsupported(str(kind)[:80], str(text)[:80])
        except WireError:
            raise
        except Exception as trouble:
            raise WireError(f"malformed: {type(trouble).__name__}") from None
        raise WireError(f"malformed: extension {ext.code}")


def _shape(shape: Any) -> tuple[int, ...]:
    if (
        not isinstance(shape, list)
        or len(shape) > _MAX_DIMENSIONS
        or not all(type(n) is int and 0 <= n < 2**31 for n in shape)
    ):
        raise WireError("malformed: a shape")
    return tuple(shape)


def _array(dtype: Any, shape: Any, content: Any) -> np.ndarray:
    if not isinstance(dtype, str) or not isinstance(content, bytes):
        raise WireError("malformed: an array")
    order, kind, size = dtype[:1], dtype[1:2], dtype[2:]
    if order not in _ORDERS or size not in _WIDTHS.get(kind, ()):
        raise WireError("malformed: a dtype")
    sizes = _shape(shape)
    if math.prod(sizes) * int(size) != len(content):
        raise WireError("malformed: an array")
    array = np.frombuffer(content, dtype=dtype).reshape(sizes)
    # A bool is one byte, and NumPy takes any byte for one: make it 0 or 1.
    return np.asarray(array.view(np.uint8) != 0) if kind == "b" else array.copy()


# `MjData.__getstate__`: a mark of one byte, the model's bytes, the data's own.
DATA_MARK = b"\x01"
_KEPT_TEXELS = 64


def data_tail(data: Any) -> bytes:
    """The data's own bytes, every derived field included, without those of its model."""
    content = data.__getstate__()
    (length,) = struct.unpack_from("<q", content, 2)
    return content[1 + _MODEL_HEAD + length :]


def without_textures(model_bytes: bytes) -> bytes:
    """A model's bytes with its textures cut to a texel: what its data are read with.

    Reading a model takes time by its size, and textures are nearly all of it; data do not depend
    on them. Where the cut does not give a model that MuJoCo accepts, the bytes come back as given.
    """
    model = mujoco.MjModel.__new__(mujoco.MjModel)
    model.__setstate__(model_bytes)
    cut = model.ntexdata - _KEPT_TEXELS
    if cut <= 0:
        return model_bytes
    textures, sizes = model.tex_data.tobytes(), (model.ntexdata, model.nbuffer)
    model.tex_adr[:], model.tex_width[:], model.tex_height[:] = 0, 1, 1
    content = model.__getstate__()
    start = content.find(textures)
    places = [content.find(struct.pack("<q", size), 0, 4096) for size in sizes]
    if start < 0 or min(places) < 0:
        return model_bytes
    light = bytearray(content)
    for place, size in zip(places, sizes, strict=True):
        struct.pack_into("<q", light, place, size - cut)
    for place in (1, 9):  # the length of what follows, twice
        (length,) = struct.unpack_from("<q", light, place)
        struct.pack_into("<q", light, place, length - cut)
    del light[start + _KEPT_TEXELS : start + len(textures)]
    try:
        mujoco.MjModel.__new__(mujoco.MjModel).__setstate__(bytes(light))
    except ValueError:
        return model_bytes
    return bytes(light)


def frame(kind: int, *parts: bytes) -> bytes:
    """A message of that kind with those parts, as it goes through the socket."""
    lengths = struct.pack(f">{len(parts)}I", *map(len, parts))
    return b"".join([_HEADER.pack(kind, len(parts)), lengths, *parts])


class Reader:
    """Cuts a stream of bytes into messages.

    Args:
      limit: bytes of all parts of a message; more is a `WireError`.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._buffer = limit, bytearray()

    def feed(self, received: bytes) -> None:
        self._buffer += received

    def next(self) -> tuple[int, list[bytes]] | None:
        """The next whole message `(kind, parts)`, or `None` when more bytes are needed.

        Raises:
          WireError: a message with too many parts or too long.
        """
        if len(self._buffer) < _HEADER.size:
            return None
        kind, count = _HEADER.unpack_from(self._buffer)
        if count > _MAX_PARTS:
            raise WireError(f"a message of {count} parts; {_MAX_PARTS} are allowed")
        start = _HEADER.size + 4 * count
        if len(self._buffer) < start:
            return None
        lengths = struct.unpack_from(f">{count}I", self._buffer, _HEADER.size)
        if sum(lengths) > self._limit:
            raise WireError(f"a message of {sum(lengths)} bytes; {self._limit} are allowed")
        end = start + sum(lengths)
        if len(self._buffer) < end:
            return None
        parts = []
        for length in lengths:
            parts.append(bytes(self._buffer[start : start + length]))
            start += length
        del self._buffer[:end]
        return kind, parts
