"""The narrow door between a grader and an answer.

A grader never holds a student's function. It asks a door to call the function by name and
looks at the `Outcome`. In one process the door is a plain call (`LocalDoor`); in two it is a
wire (`course.grading.wire`). Exercises are written against `Door` and cannot tell which it is.
"""

from __future__ import annotations

import copy
import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

import mujoco
import numpy as np

from course.grading.observe import (
    After,
    Error,
    Handle,
    Left,
    Unsupported,
    changed_fields,
    describe_error,
    recorded_routines,
    shared_arguments,
    timed,
)

__all__ = ["After", "AnswerFailed", "Door", "Error", "Handle", "Listening", "LocalDoor", "Outcome"]


class AnswerFailed(Exception):
    """Raised by `Outcome.result` in the grader when the answer raised on its side."""

    def __init__(self, error: Error) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(frozen=True)
class Outcome:
    """What came back through the door from one call.

    Attributes:
      value: what the answer returned: numbers, strings, arrays, lists, tuples, dicts, slices;
        `Handle` for an instance of the answer's own class; `Unsupported` for anything else.
      error: the exception, or `None`.
      args_after: the arguments as the call left them; `After` for a model or data.
      aliases: positions of the arguments that the value shares memory with.
      routines_called: MuJoCo and SciPy rotation routines that ran during the call, by name.
      elapsed: seconds.
    """

    value: Any = None
    error: Error | None = None
    args_after: tuple[Any, ...] = ()
    aliases: frozenset[int] = frozenset()
    routines_called: tuple[str, ...] = ()
    elapsed: float = field(default=0.0, compare=False)

    def result(self) -> Any:
        """The value; raises `AnswerFailed` when the answer raised."""
        if self.error is not None:
            raise AnswerFailed(self.error)
        return self.value


class Door(Protocol):
    """How a grader reaches an answer. Every method returns an `Outcome` and never raises for it.

    Arguments may be numbers, strings, arrays, lists, tuples, dicts, sets, `MjModel`, `MjData`
    (sent with every derived field as it stands) and callables: the answer gets a stub that calls
    back. A callback receives plain values, and `After` for a model or data.
    """

    def call(self, function: str, *args: Any) -> Outcome:
        """Call the answer's function (or class) of that name."""
        ...

    def call_many(self, function: str, batch: Sequence[tuple[Any, ...]]) -> list[Outcome]:
        """Call it once for each tuple of arguments, in one crossing."""
        ...

    def value(self, name: str) -> Outcome:
        """A typed answer: the variable of that name."""
        ...

    def method(self, handle: Handle, name: str, *args: Any) -> Outcome:
        """Call a method of an instance that an earlier call returned."""
        ...

    def attribute(self, handle: Handle, name: str) -> Outcome:
        """Read an attribute of such an instance."""
        ...

    def bound(self, functions: Mapping[str, Callable[..., Any]]) -> Any:
        """A context in which these names are answered by the grader's own functions."""
        ...


class Listening:
    """A door that lets everything through to `door` and notes the routines that ran."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self.routines: list[str] = []

    def call(self, function: str, *args: Any) -> Outcome:
        return self._noted(self._door.call(function, *args))

    def call_many(self, function: str, batch: Sequence[tuple[Any, ...]]) -> list[Outcome]:
        return [self._noted(outcome) for outcome in self._door.call_many(function, batch)]

    def value(self, name: str) -> Outcome:
        return self._door.value(name)

    def method(self, handle: Handle, name: str, *args: Any) -> Outcome:
        return self._noted(self._door.method(handle, name, *args))

    def attribute(self, handle: Handle, name: str) -> Outcome:
        return self._noted(self._door.attribute(handle, name))

    def bound(self, functions: Mapping[str, Callable[..., Any]]) -> Any:
        return self._door.bound(functions)

    def _noted(self, outcome: Outcome) -> Outcome:
        self.routines += outcome.routines_called
        return outcome


class LocalDoor:
    """The door in one process: for references, misconceptions and an instructor's preview.

    Not for submissions: a function in this process can read and change anything in it.
    """

    def __init__(self, namespace: dict[str, Any], *, record: bool = False) -> None:
        self._namespace = namespace
        self._record = record
        self._instances: list[Any] = []

    def call(self, function: str, *args: Any) -> Outcome:
        if function not in self._namespace:
            return Outcome(error=Error(("NameError", "Exception"), f"{function} is not defined"))
        return self._run(self._namespace[function], args)

    def call_many(self, function: str, batch: Sequence[tuple[Any, ...]]) -> list[Outcome]:
        return [self.call(function, *args) for args in batch]

    def value(self, name: str) -> Outcome:
        if name not in self._namespace:
            return Outcome(error=Error(("NameError", "Exception"), f"{name} is not defined"))
        return Outcome(value=self._plain(self._namespace[name]))

    def method(self, handle: Handle, name: str, *args: Any) -> Outcome:
        instance = self._instances[handle.number]
        return self._run(lambda *given: getattr(instance, name)(*given), args)

    def attribute(self, handle: Handle, name: str) -> Outcome:
        return self._run(lambda: getattr(self._instances[handle.number], name), ())

    @contextmanager
    def bound(self, functions: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
        missing = object()
        before = {name: self._namespace.get(name, missing) for name in functions}
        for name, ours in functions.items():
            self._namespace[name] = ours if isinstance(ours, type) else _unwatched(ours)
        try:
            yield
        finally:
            for name, value in before.items():
                if value is missing:
                    del self._namespace[name]
                else:
                    self._namespace[name] = value

    def _run(self, function: Any, args: tuple[Any, ...]) -> Outcome:
        given = tuple(self._given(a) for a in args)
        models = {id(a): a.__getstate__() for a in given if isinstance(a, mujoco.MjModel)}
        recording: AbstractContextManager[list[str]]
        recording = recorded_routines() if self._record else nullcontext([])
        with recording as routines:
            value, error, elapsed = timed(function, given)
        after = tuple(self._after(arg, left, models) for arg, left in zip(args, given, strict=True))
        return Outcome(
            value=self._plain(value),
            error=None if error is None else describe_error(error),
            args_after=after,
            aliases=shared_arguments(value, given),
            routines_called=tuple(routines),
            elapsed=elapsed,
        )

    def _given(self, arg: Any) -> Any:
        """What the function gets: a copy that it may spoil, but for models (put right after)."""
        if isinstance(arg, mujoco.MjModel):
            return arg
        if isinstance(arg, mujoco.MjData):
            return copy.copy(arg)
        if isinstance(arg, Handle):
            return self._instances[arg.number]
        if callable(arg):
            return _unwatched(arg)
        return copy.deepcopy(arg)

    def _after(self, arg: Any, left: Any, models: Mapping[int, bytes]) -> Any:
        if isinstance(arg, mujoco.MjData):
            return Left(arg, left)
        if isinstance(arg, mujoco.MjModel):
            original = models[id(left)]
            if left.__getstate__() == original:
                return After(arg, {})
            base = mujoco.MjModel.__new__(mujoco.MjModel)
            base.__setstate__(original)
            changes = changed_fields(base, left)
            After(base, changed_fields(left, base)).apply_to(left)
            return After(base, changes)
        return arg if callable(arg) or isinstance(arg, Handle) else left

    def _plain(self, value: Any) -> Any:
        """The value as it would come back over a wire."""
        if isinstance(value, np.generic):
            return value.item()
        if value is None or isinstance(value, (bool, int, float, complex, str, slice)):
            return value
        if isinstance(value, np.ndarray) and value.dtype != object:
            return np.array(value)
        if isinstance(value, list):
            return [self._plain(v) for v in value]
        if isinstance(value, tuple):
            return tuple(self._plain(v) for v in value)
        if isinstance(value, Mapping):
            return {self._plain(k): self._plain(v) for k, v in value.items()}
        if isinstance(value, (set, frozenset)):
            return {self._plain(v) for v in value}
        if type(value).__module__.startswith(("mujoco", "numpy", "scipy", "builtins")):
            return Unsupported(type(value).__name__, repr(value)[:80])
        self._instances.append(value)
        return Handle(len(self._instances) - 1, type(value).__name__)


def _unwatched(callback: Callable[..., Any]) -> Callable[..., Any]:
    """A callback of the grader's, whose own calls of routines are not the answer's."""

    @functools.wraps(callback)
    def given(*args: Any, **kwargs: Any) -> Any:
        hook = sys.getprofile()
        sys.setprofile(None)
        try:
            return callback(*args, **kwargs)
        finally:
            sys.setprofile(hook)

    return given
