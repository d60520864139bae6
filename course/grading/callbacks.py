"""Functions of the grader that an answer may call: callbacks, and earlier right answers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np

from course.grading import messages, wire
from course.grading.observe import After, numeric_names

_MOST_CALLS = 100_000
_SECONDS = 20.0


class Callbacks:
    """The functions that went to a student process by number, for one question.

    Args:
      model_of: the grader's own model of a number.
    """

    def __init__(self, model_of: Callable[[int], Any]) -> None:
        self._model_of = model_of
        self._functions: list[tuple[Callable[..., Any], bool]] = []
        self._calls = 0

    def number(self, function: Callable[..., Any], whole: bool) -> int:
        """A number for a function; `whole` ones get a real `MjData`, others an `After`."""
        self._functions.append((function, whole))
        return len(self._functions) - 1

    def answer(self, send: Callable[..., None], parts: list[bytes], given: tuple[Any, ...]) -> None:
        """Run the function that a message asks for and send what it returns.

        Args:
          given: the arguments of the call during which the answer asks.
        """
        try:
            value, changed = self._run(parts, given)
            packed = wire.pack(value)
        except Exception as trouble:  # whatever an answer hands to it is the answer's error
            failure = (type(trouble).__name__, str(trouble)[:300])
            send(messages.RETURNED, wire.pack(None), wire.pack(failure))
            return
        send(messages.RETURNED, packed, wire.pack(None), *changed)

    def _run(self, parts: list[bytes], given: tuple[Any, ...]) -> tuple[Any, list[bytes]]:
        self._calls += 1
        if self._calls > _MOST_CALLS:
            raise RuntimeError(f"more than {_MOST_CALLS} calls back")
        number = wire.unpack(parts[0])
        if type(number) is not int or not 0 <= number < len(self._functions):
            raise wire.WireError("a function that was never given")
        function, whole = self._functions[number]

        def special(kind: int, rest: list[Any]) -> Any:
            return self._argument(kind, rest, given, whole)

        args, kwargs = wire.unpack(parts[1], special), wire.unpack(parts[2], special)
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise wire.WireError("malformed: arguments")
        with _time_limit(_SECONDS):
            value = function(*args, **kwargs)
        changed: list[bytes] = []
        if whole:
            for place, arg in enumerate(args):
                if isinstance(arg, mujoco.MjData):
                    changed += [wire.pack(place), wire.data_tail(arg)]
        return value, changed

    def _argument(self, kind: int, rest: list[Any], given: tuple[Any, ...], whole: bool) -> Any:
        match rest:
            case [int(number), bytes(fields)] if kind == wire.MODEL:
                base = self._model_of(number)
            case [-1, int(place), bytes(fields)] if kind == wire.DATA:
                if not 0 <= place < len(given) or not isinstance(given[place], mujoco.MjData):
                    raise wire.WireError("data that was never sent")
                base = given[place]
            case [int(number), 0, bytes(fields)] if kind == wire.DATA:
                base = mujoco.MjData(self._model_of(number))
            case _:
                raise wire.WireError("an argument of no known kind")
        after = After(base, changes(base, wire.unpack(fields)))
        return after.whole() if whole else after


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Interrupt a function of ours that an answer's arguments keep busy (in a main thread)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(signal_number: int, frame: Any) -> None:
        raise TimeoutError(f"the function took longer than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def changes(original: Any, said: Any) -> dict[str, np.ndarray]:
    """Changed numeric fields `{path: array}`, each one that the model or data has.

    Raises:
      WireError: anything else.
    """
    if said is None:
        return {}
    if not isinstance(said, dict):
        raise wire.WireError("malformed: changed fields")
    kind: Any = type(original)
    known = numeric_names(kind)
    for path, value in said.items():
        if path not in known or not isinstance(value, np.ndarray):
            raise wire.WireError("malformed: changed fields")
        group, _, name = path.rpartition(".")
        was = np.asarray(getattr(getattr(original, group) if group else original, name))
        if value.dtype != was.dtype or value.ndim != was.ndim:
            raise wire.WireError("malformed: changed fields")
    return said
