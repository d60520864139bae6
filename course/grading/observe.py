"""What one call to an answer did: its value, its error, and what it changed.

Used on both sides of the door: by `LocalDoor` in this process and by the student process. It
therefore imports nothing of `course`, and knows nothing about exercises.
"""

from __future__ import annotations

import copy
import functools
import operator
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

import mujoco
import numpy as np

# Book-keeping that differs from run to run, or that says nothing about the simulation.
_VOLATILE = frozenset(
    {
        *("signature", "threadpool", "pstack", "pbase", "parena", "narena", "nbuffer", "timer"),
        *("maxuse_stack", "maxuse_arena", "maxuse_con", "maxuse_efc"),
        *("solver_fwdinv", "solver_niter", "solver_nnz"),  # not in the bytes of an MjData
    }
)
_NESTED = {mujoco.MjModel: ("opt",), mujoco.MjData: ("contact",)}


@dataclass(frozen=True)
class Error:
    """An exception that crossed the door: class names from the most derived on, and its text."""

    kinds: tuple[str, ...]
    message: str = ""
    where: str = ""

    def is_a(self, kind: str) -> bool:
        return kind in self.kinds

    def __str__(self) -> str:
        text = f"{self.kinds[0]}: {self.message}" if self.message else self.kinds[0]
        return f"{text} ({self.where})" if self.where else text


@dataclass(frozen=True)
class Handle:
    """An instance of a class that the answer defines; it stays on the other side of the door."""

    number: int
    kind: str


@dataclass(frozen=True)
class Unsupported:
    """A value of a kind that does not cross the door, described in words; equal by its kind."""

    kind: str
    text: str = field(default="", compare=False)


@functools.cache
def numeric_names(kind: Any) -> frozenset[str]:
    """Paths of the numeric fields that every `MjModel` or every `MjData` has.

    Nested structures have dotted paths (`opt.timestep`, `contact.dist`).
    """
    return frozenset(path for _, paths, _ in _fields(kind) for path in paths)


@functools.cache
def _fields(kind: Any) -> tuple[tuple[str, tuple[str, ...], Callable[[Any], tuple[Any, ...]]], ...]:
    """For the structure itself and each nested one: its name, paths, a getter of all values."""
    example = mujoco.MjModel.from_xml_string("<mujoco/>")
    if kind is mujoco.MjData:
        example = mujoco.MjData(example)
    names = tuple(_numeric_in(example))
    found = [("", names, operator.attrgetter(*names))]
    for group in _NESTED.get(kind, ()):
        names = tuple(_numeric_in(getattr(example, group)))
        paths = tuple(f"{group}.{name}" for name in names)
        found.append((group, paths, operator.attrgetter(*names)))
    return tuple(found)


def _numeric_in(thing: Any) -> Iterator[str]:
    for name in dir(type(thing)):
        if name.startswith("_") or name in _VOLATILE:
            continue
        value = getattr(thing, name)
        if isinstance(value, (np.ndarray, int, float)) and np.asarray(value).dtype != object:
            yield name


def numeric_fields(thing: Any) -> Iterator[tuple[str, Any]]:
    """Yield `(path, value)` of every numeric field of an `MjModel` or `MjData`; views."""
    kind: Any = type(thing)
    for group, paths, values in _fields(kind):
        yield from zip(paths, values(getattr(thing, group) if group else thing), strict=True)


def changed_fields(before: Any, after: Any) -> dict[str, np.ndarray]:
    """Fields of `after` that differ, bit for bit, from `before`: `{path: array}` (copies)."""
    kind: Any = type(after)
    changes = {}
    for group, paths, values in _fields(kind):
        old = values(getattr(before, group) if group else before)
        new = values(getattr(after, group) if group else after)
        for path, was, now in zip(paths, old, new, strict=True):
            if type(now) is np.ndarray:
                if now.shape != was.shape or now.tobytes() != was.tobytes():
                    changes[path] = now.copy()
            elif type(now) is int:
                if now != was:
                    changes[path] = np.array(now)
            elif np.asarray(now).tobytes() != np.asarray(was).tobytes():
                changes[path] = np.array(now)
    return changes


class After:
    """An `MjModel` or `MjData` as a call left it: the original, overlaid by what changed.

    Reads like the original (`after.qpos`, `after.opt.timestep`, `after.contact.dist`); the
    original is not touched.
    """

    def __init__(self, base: Any, changes: Mapping[str, np.ndarray], prefix: str = "") -> None:
        self._base, self._changes, self._prefix = base, dict(changes), prefix
        self._whole: Any = None

    def __getattr__(self, name: str) -> Any:
        path = self._prefix + name
        if path in self._changes:
            value = self._changes[path]
            return value if value.ndim else value.item()
        if not self._prefix and name in _NESTED.get(type(self._base), ()):
            return After(getattr(self._base, name), self._changes, f"{name}.")
        value = getattr(self._base, name)
        # Named access (`after.body("box").xpos`) reads the memory of a real model or data.
        return getattr(self.whole(), name) if callable(value) and not self._prefix else value

    @property
    def changed(self) -> frozenset[str]:
        """Paths of the fields that differ from the original."""
        return frozenset(self.changes)

    @property
    def changes(self) -> dict[str, np.ndarray]:
        """The fields that differ, by path."""
        return dict(self._changes)

    def whole(self) -> Any:
        """A real model or data: a copy of the original with the real-valued fields that changed.

        Addresses, counters and sizes stay as they were: MuJoCo trusts them.
        """
        if self._whole is None:
            self._whole = copy.copy(self._base)
            real = [path for path, value in self.changes.items() if value.dtype.kind == "f"]
            self.apply_to(self._whole, real)
        return self._whole

    def apply_to(self, target: Any, fields: Sequence[str] | None = None) -> None:
        """Write the changed fields into `target` (an `MjModel` or `MjData` of the same model).

        Fields of another shape (constraint rows, contacts) and read-only ones are left out;
        `fields` limits what is written.
        """
        for path, value in self.changes.items():
            if fields is not None and path not in fields:
                continue
            owner: Any = target
            *groups, name = path.split(".")
            for group in groups:
                owner = getattr(owner, group)
            current = getattr(owner, name, None)
            if isinstance(current, np.ndarray):
                if current.shape == value.shape and current.flags.writeable:
                    current[...] = value
            elif value.ndim == 0:
                try:
                    setattr(owner, name, value.item())
                except (AttributeError, TypeError):
                    continue  # a size or counter that MuJoCo keeps to itself


class Left(After):
    """As `After`, where what the call left is at hand: what changed is worked out when asked."""

    def __init__(self, base: Any, left: Any) -> None:
        super().__init__(base, {})
        self._left = self._whole = left
        self._compared = False

    @property
    def changes(self) -> dict[str, np.ndarray]:
        if not self._compared:
            if self._left.__getstate__() != self._base.__getstate__():
                self._changes = changed_fields(self._base, self._left)
            self._compared = True
        return dict(self._changes)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._left, name)
        # A copy: a view would keep all of the data alive.
        return np.array(value) if isinstance(value, np.ndarray) else value


def arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Every array in a nested value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from arrays_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from arrays_in(item)


def _owned(array: np.ndarray) -> bool:
    """Whether the array's memory is an array's own: then it is none of a model or data."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return bool(array.flags.owndata)


def shared_arguments(value: Any, args: Sequence[Any]) -> frozenset[int]:
    """Positions of the arguments whose memory an array in `value` shares (views, aliases)."""
    returned = [a for a in arrays_in(value) if a.size]
    views = [a for a in returned if not _owned(a)]
    shared = set()
    for position, arg in enumerate(args):
        if isinstance(arg, (mujoco.MjModel, mujoco.MjData)):
            owned = (
                [v for _, v in numeric_fields(arg) if isinstance(v, np.ndarray)] if views else []
            )
            mine = views
        else:
            owned, mine = list(arrays_in(arg)), returned
        if any(np.may_share_memory(r, o) for r in mine for o in owned if o.size):
            shared.add(position)
    return frozenset(shared)


def describe_error(error: BaseException, cell_files: Sequence[str] = ("<",)) -> Error:
    """Say an exception in one line, with the line of the answer in which it was raised."""
    kinds = tuple(c.__name__ for c in type(error).__mro__ if c not in (object, BaseException))
    where = ""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(tuple(cell_files)) or "ipykernel_" in frame.filename:
            source = f": {frame.line}" if frame.line else ""
            where = f"line {frame.lineno} of the cell{source}"
            break
    try:
        message = str(error)
    except Exception:
        message = "(its message cannot be read)"
    return Error(kinds or ("BaseException",), message[:500], where[:200])


@contextmanager
def recorded_routines() -> Iterator[list[str]]:
    """List the MuJoCo and SciPy rotation routines that run inside the block, by name.

    `mju_mulQuat`, `mj_forward`, `Rotation.from_quat`, `Slerp.__call__`: seen by the interpreter's
    own profiling hook, so an alias or a `getattr` makes no difference.
    """
    seen: list[str] = []

    def hook(frame: Any, event: str, arg: Any) -> None:
        if event == "c_call":
            module = getattr(arg, "__module__", None) or ""
            if module.startswith("mujoco"):
                seen.append(arg.__name__)
        elif event == "call":
            code: CodeType = frame.f_code
            if "scipy" in code.co_filename and "transform" in code.co_filename:
                name = getattr(code, "co_qualname", code.co_name)
                if name.startswith(("Rotation.", "Slerp.")):
                    seen.append(name)

    previous = sys.getprofile()
    sys.setprofile(hook)
    try:
        yield seen
    finally:
        sys.setprofile(previous)


def timed(function: Callable[..., Any], args: Sequence[Any]) -> tuple[Any, Exception | None, float]:
    """Call and return `(value, error, seconds)`."""
    start = time.perf_counter()
    try:
        value, error = function(*args), None
    except Exception as caught:
        value, error = None, caught
    return value, error, time.perf_counter() - start
