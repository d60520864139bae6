"""The stage: the one thread that owns every lab's `MjData`, the OpenGL context and encoding.

JupyterLab runs widget callbacks in other threads than the cell that made them, and an OpenGL
context belongs to one thread. So callbacks only leave messages, and this thread acts on them.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from mjcourse.rendering import Painter

T = TypeVar("T")
PATIENCE = 3.0  # seconds that one turn may take before a student's next action ends it
FRAMES_PER_SECOND = 24.0  # what a browser without a GPU shows evenly; more only queues up


class Actor(Protocol):
    """What the stage drives: a lab."""

    def turn(self, now: float) -> float | None:
        """Do what is due at `now`; return when to be called next, None for not before a message."""


class TookTooLong(Exception):
    """Raised inside a callable that does not return, when the student goes on to do something."""

    def __str__(self) -> str:
        return f"did not return within {PATIENCE:g} seconds: is there a loop without an end?"


class Stage:
    """Runs the turns of its labs, one after the other, in one thread that starts when needed."""

    def __init__(self) -> None:
        self.painter = Painter()
        self._actors: list[Actor] = []
        self._calls: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._turn_since: float | None = None
        self._stopping = False

    def add(self, actor: Actor) -> None:
        """Give `actor` its turns from now on."""
        with self._lock:
            if actor not in self._actors:
                self._actors.append(actor)
        self.wake()

    def remove(self, actor: Actor) -> None:
        """Give `actor` no more turns."""
        with self._lock:
            if actor in self._actors:
                self._actors.remove(actor)

    @property
    def actors(self) -> tuple[Actor, ...]:
        """The labs that are now driven."""
        with self._lock:
            return tuple(self._actors)

    @property
    def here(self) -> bool:
        """Whether the caller runs on the stage."""
        return threading.current_thread() is self._thread

    def unstick(self) -> None:
        """End a turn that has taken too long, by an exception in the callable that holds it up.

        Python can end a loop in this way, not a call into C that does not return.
        """
        since, thread = self._turn_since, self._thread
        if since is not None and time.perf_counter() - since > PATIENCE and thread is not None:
            self._turn_since = None
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(TookTooLong)
            )

    def wake(self) -> None:
        """Something is due: look at once. From any thread."""
        with self._lock:
            if self._thread is None and not self._stopping:
                self._thread = threading.Thread(target=self._run, name="mjcourse", daemon=True)
                self._thread.start()
        self._wake.set()

    def call(self, function: Callable[[], T]) -> T:
        """Run `function` on the stage and return its result; raise what it raises."""
        if self.here:
            return function()
        future: Future[T] = Future()
        self._calls.append((function, future))
        self.wake()
        while True:
            try:
                return future.result(timeout=0.5)
            except TimeoutError:
                if future.done():
                    raise  # the function's own TimeoutError
                self.unstick()

    def close(self) -> None:
        """Free the OpenGL context and end the thread."""
        with self._lock:
            self._stopping = True
            thread = self._thread
        self._wake.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=5)

    def _run(self) -> None:
        due: float | None = None
        while not self._stopping:
            self._wake.wait(None if due is None else max(due - time.perf_counter(), 0))
            self._wake.clear()
            self._answer_calls()
            due = None
            for actor in self.actors:
                after = self._turn(actor)
                if after is not None:
                    due = after if due is None else min(due, after)
        self.painter.close()

    def _turn(self, actor: Actor) -> float | None:
        try:
            self._turn_since = time.perf_counter()
            after = actor.turn(self._turn_since)
            self._turn_since = None
            return after
        except TookTooLong:
            return time.perf_counter()
        except Exception:
            # A lab reports its callbacks' errors itself; this one is ours, and ends that lab only.
            logging.getLogger(__name__).exception("a lab stopped")
            self.remove(actor)
            return None

    def _answer_calls(self) -> None:
        while self._calls:
            function, future = self._calls.popleft()
            try:
                future.set_result(function())
            except BaseException as error:
                future.set_exception(error)


def frame_period(playing: int = 1) -> float:
    """Seconds between two frames of a lab when `playing` labs share the kernel.

    `MJCOURSE_MAX_FPS` in the environment caps the frames a second of a kernel, so that a hub can
    cap all of its users.
    """
    rate = FRAMES_PER_SECOND
    with suppress(KeyError, ValueError):
        rate = min(rate, float(os.environ["MJCOURSE_MAX_FPS"]))
    return max(playing, 1) / max(rate, 0.5)


_stage: Stage | None = None
_making = threading.Lock()


def stage() -> Stage:
    """The stage of this process; its thread starts at its first use."""
    global _stage
    with _making:
        if _stage is None:
            _stage = Stage()
            atexit.register(_stage.close)
        return _stage
