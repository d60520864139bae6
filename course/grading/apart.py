"""The student process as the grader sees it: a fork server, its children, and the door to them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco

import mjcourse
from course.grading import messages, sandbox, wire
from course.grading.callbacks import Callbacks, changes
from course.grading.door import Error, Handle, Outcome
from course.grading.observe import After
from course.grading.tidy import tidy

_REPLY_BYTES = 16_000_000
_TICK = 0.05
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Limits:
    """What one submission may use before it is stopped.

    Seconds are counted by `Clock`: a machine that is busy with something else costs no points.

    Attributes:
      cell_s: seconds for one cell of the student's.
      call_s: seconds for one batch of calls of a hidden test.
      total_s: seconds for all of them together.
      cpu_s: processor seconds of one student process.
      memory_mb: beyond what the warm process has.
      disk_mb: in the scratch folder; a single file may have half of it.
      threads: at once.
    """

    cell_s: float = 30.0
    call_s: float = 10.0
    total_s: float = 300.0
    cpu_s: int = 240
    memory_mb: int = 1024
    disk_mb: int = 64
    threads: int = 64


class SandboxMissing(RuntimeError):
    """This machine cannot confine a submission; says what is missing and what to do."""


class Stopped(Exception):
    """The student process was stopped or ended by itself; says why, for the student."""

    def __init__(self, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.error = Error((kind, "Exception"), reason)


def require_sandbox(trust_submissions: bool) -> None:
    """Refuse to run submissions where they cannot be confined.

    Raises:
      SandboxMissing: something is missing and submissions are not trusted.
    """
    missing = sandbox.probe()
    if missing and not trust_submissions:
        raise SandboxMissing(
            f"submissions cannot be confined on this machine: {'; '.join(missing)} is missing. "
            "Grade on Linux (a virtual machine or a container will do), or pass "
            "--trust-submissions to run them unconfined."
        )


_Kept = tuple[bytes, list[tuple[int, bytes, Any]]]


class PackedCases:
    """Arguments that every submission is given, packed once; and numbers for models.

    Both hold what is in use again and again; when there is too much of it they start anew.
    """

    def __init__(self, most_cases: int = 4096, most_models: int = 256) -> None:
        self._most_cases, self._most_models = most_cases, most_models
        self._cases: dict[int, tuple[tuple[Any, ...], _Kept]] = {}
        self._numbers: dict[bytes, tuple[int, bytes]] = {}
        self._next = itertools.count()

    def get(self, args: tuple[Any, ...]) -> _Kept | None:
        """What was kept for these very arguments (the same tuple)."""
        kept = self._cases.get(id(args))
        return None if kept is None else kept[1]

    def put(self, args: tuple[Any, ...], packed: _Kept) -> None:
        """Keep packed arguments, and with them the tuple, so that its identity stays its own."""
        if len(self._cases) >= self._most_cases:
            self._cases.clear()
        self._cases[id(args)] = (args, packed)

    def number(self, content: bytes) -> tuple[int, bytes]:
        """The number of a model of these bytes, never given to another; and the bytes, once."""
        if content not in self._numbers:
            if len(self._numbers) >= self._most_models:
                self._numbers.clear()
            self._numbers[content] = (next(self._next), content)
        return self._numbers[content]


class ForkServer:
    """A warm process that forks a student process for each submission.

    Args:
      trust_submissions: run them even where they cannot be confined.

    Attributes:
      cases: packed arguments of hidden tests, for all of its children.
      home: its folder, with the scratch folders of its children; it removes it when it ends.
    """

    def __init__(self, *, trust_submissions: bool = False) -> None:
        require_sandbox(trust_submissions)
        self._trust = trust_submissions
        self.cases = PackedCases()
        self._owner = os.getpid()
        self.home = tempfile.mkdtemp(prefix="mjcourse-")
        self._control, theirs = socket.socketpair()
        self._log = Path(self.home, "log")
        with self._log.open("wb") as log, theirs:
            self._process = subprocess.Popen(
                self._command(theirs.fileno()),
                env=self._environment(),
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        try:
            if self._line(60.0) != "ready":
                raise RuntimeError(
                    f"the fork server did not start: {self._log.read_text(errors='replace')}"
                )
        except BaseException:
            self.close()
            raise

    def _command(self, descriptor: int) -> list[str]:
        package = Path(mjcourse.__file__).parent
        models = Path(__file__).resolve().parents[2] / "models"
        extra = [package, models] if models.is_dir() else [package]
        settings = {
            "readable": sandbox.readable_roots(extra),
            "paths": [str(package.parent)],
        }
        script = Path(__file__).with_name("forkserver.py")
        return [
            sys.executable,
            "-s",
            "-P",
            str(script),
            str(descriptor),
            json.dumps(settings),
        ]

    def _environment(self) -> dict[str, str]:
        """Constants only: nothing of the instructor's environment."""
        one_thread = ("OPENBLAS", "OMP", "MKL", "NUMEXPR", "VECLIB_MAXIMUM")
        return {
            **{f"{name}_NUM_THREADS": "1" for name in one_thread},
            "HOME": self.home,
            "IPYTHONDIR": self.home,
            "LANG": "C.UTF-8",
            "MPLBACKEND": "Agg",
            "MPLCONFIGDIR": self.home,
            "MUJOCO_GL": "disable",
            "NBGRADER_EXECUTION": "autograde",
            "PATH": "/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
        }

    @property
    def process_id(self) -> int:
        return self._process.pid

    def usable(self) -> bool:
        """Whether it is this process's own and alive."""
        return self._owner == os.getpid() and self._process.poll() is None

    def spawn(self, limits: Limits) -> Student:
        """Fork a student process in a scratch folder of its own.

        Raises:
          SandboxMissing: it could not be confined.
        """
        scratch = tempfile.mkdtemp(prefix="scratch-", dir=self.home)
        ours, theirs = socket.socketpair()
        request = self._request(scratch, limits)
        with theirs:
            line = (json.dumps(request) + "\n").encode()
            socket.send_fds(self._control, [line], [theirs.fileno()])
        process_id = int(self._line(30.0))
        student = Student(self, ours, process_id, scratch, limits)
        student.check_confined()
        return student

    def _request(self, scratch: str, limits: Limits) -> dict[str, Any]:
        """What the fork server is told of a new child."""
        return {
            "scratch": scratch,
            "trust": self._trust,
            "allowance": {
                "cpu_s": limits.cpu_s,
                "memory_mb": limits.memory_mb,
                "file_mb": max(limits.disk_mb // 2, 1),
            },
        }

    def end(self) -> int:
        """End the child; returns its status as `subprocess` counts it."""
        self._control.sendall(b"\n")
        return int(self._line(30.0))

    def close(self) -> None:
        """End the server and its child."""
        if self._owner != os.getpid():
            return
        self._control.close()
        try:
            self._process.wait(5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self.home, ignore_errors=True)

    def _line(self, seconds: float) -> str:
        self._control.settimeout(seconds)
        line = b""
        while not line.endswith(b"\n"):
            data = self._control.recv(4096)
            if not data:
                raise RuntimeError(
                    f"the fork server ended: {self._log.read_text(errors='replace')}"
                )
            line += data
        return line[:-1].decode()


@functools.lru_cache(maxsize=64)
def _server(process_id: int, thread: int, trust_submissions: bool) -> ForkServer:
    server = ForkServer(trust_submissions=trust_submissions)
    atexit.register(server.close)
    return server


def warm_server(trust_submissions: bool = False) -> ForkServer:
    """The fork server of this process (and thread); started at the first call."""
    key = (os.getpid(), threading.get_ident(), trust_submissions)
    server = _server(*key)
    if not server.usable():
        _server.cache_clear()
        server = _server(*key)
    return server


class Clock:
    """How long a student process has been at something.

    While it runs or waits for a processor, its own processor time counts; while it sleeps, the
    time that passes. So a busy machine stops nothing that an idle one would not. What it works in
    the first twentieth of a second is free: most replies have come by then.

    Args:
      process_id: of the student process.
      limit: seconds.
    """

    def __init__(self, process_id: int, limit: float) -> None:
        self._limit = limit
        self.used = 0.0
        self._stat = f"/proc/{process_id}/stat"
        self._wall = time.monotonic()
        self._cpu: float | None = None

    def over(self) -> bool:
        """Whether the limit is reached; looks at the process now and then."""
        now = time.monotonic()
        if now - self._wall >= _TICK / 2:
            # No more than a tick or two: the grader itself may have had to wait.
            passed = min(now - self._wall, 2 * _TICK)
            state, cpu = self._look()
            worked = 0.0 if self._cpu is None else cpu - self._cpu
            self.used += worked if state in "RD" else max(passed, worked)
            self._wall, self._cpu = now, cpu
        return self.used >= self._limit

    def _look(self) -> tuple[str, float]:
        """State (`R` runs or could, `S` sleeps) and processor seconds."""
        try:
            with open(self._stat) as f:
                fields = f.read().rpartition(")")[2].split()
        except OSError:  # another system, or gone
            return "S", 0.0
        return fields[0], (int(fields[11]) + int(fields[12])) / _TICKS_PER_SECOND


class Student:
    """One student process: messages to and from it, until it is ended.

    Attributes:
      spent: seconds that it has used, as its clocks count them.
      models: the numbers of the models that it has.
    """

    def __init__(
        self,
        server: ForkServer,
        channel: socket.socket,
        process_id: int,
        scratch: str,
        limits: Limits,
    ) -> None:
        self.server, self._channel, self._limits = server, channel, limits
        self.process_id, self.scratch = process_id, scratch
        self._reader = wire.Reader(_REPLY_BYTES)
        self.ended = False
        self.spent = 0.0
        self.models: set[int] = set()

    def check_confined(self) -> None:
        """Read the process's first message.

        Raises:
          SandboxMissing: it is not confined.
        """
        missing = "the student process did not start"
        try:
            kind, parts = self.receive(self.clock(30.0), "start")
            if kind == messages.READY:
                return
            missing = wire.unpack(parts[0])
        except Stopped as stopped:
            missing = f"{missing}: {stopped}"
        self.end()
        raise SandboxMissing(f"a submission could not be confined: {missing}")

    def send(self, kind: int, *parts: bytes) -> None:
        """Send a message; a process that does not read is stopped.

        Raises:
          Stopped: it ended, or did not read for as long as a call may take.
        """
        self._channel.settimeout(self._limits.call_s)
        try:
            self._channel.sendall(wire.frame(kind, *parts))
        except TimeoutError:
            raise self.stop("TimeLimit", "it did not read what it was asked") from None
        except OSError:
            raise self._died() from None

    def clock(self, limit: float) -> Clock:
        """A clock that starts now."""
        return Clock(self.process_id, limit)

    def receive(self, clock: Clock, doing: str) -> tuple[int, list[bytes]]:
        """The next message; the process is stopped when there is none in time.

        Args:
          clock: of what it is doing.
          doing: what that is, for the message.

        Raises:
          Stopped: too late, ended, malformed, or over a limit.
        """
        before = clock.used
        try:
            while True:
                try:
                    message = self._reader.next()
                except wire.WireError as trouble:
                    raise self.stop("MalformedReply", str(trouble)) from None
                if message is not None:
                    return message
                if clock.over():
                    raise self.stop("TimeLimit", f"{doing} took too long and was stopped")
                readable, _, _ = select.select([self._channel], [], [], _TICK)
                if not readable:
                    self._watch()
                    continue
                try:
                    received = self._channel.recv(1 << 18, socket.MSG_DONTWAIT)
                except BlockingIOError:
                    continue
                except OSError:
                    received = b""
                if not received:
                    raise self._died()
                self._reader.feed(received)
        finally:
            self.spent += clock.used - before

    def _watch(self) -> None:
        """Stop a process with too many threads or too much on disk."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{self.process_id}/status") as f:
                threads = next(int(li.split()[1]) for li in f if li.startswith("Threads:"))
            if threads > self._limits.threads:
                raise self.stop(
                    "ThreadLimit", f"it started more than {self._limits.threads} threads"
                )
        if _size(self.scratch) > self._limits.disk_mb * (1 << 20):
            raise self.stop("DiskLimit", f"it wrote more than {self._limits.disk_mb} MB of files")

    def stop(self, kind: str, reason: str) -> Stopped:
        self.end()
        return Stopped(kind, reason)

    def _died(self) -> Stopped:
        status = self.end()
        if status == -signal.SIGXCPU or status == -signal.SIGKILL:
            return Stopped("ProcessEnded", "it used up its processor time or was killed")
        if status < 0:
            name = signal.Signals(-status).name if -status in _SIGNALS else str(-status)
            return Stopped("ProcessEnded", f"the process crashed ({name})")
        return Stopped("ProcessEnded", "the process was ended by the code that it ran")

    def end(self) -> int:
        """Kill the process, close the channel, remove the scratch folder; returns its status."""
        if self.ended:
            return 0
        self.ended = True
        self._channel.close()
        status = self.server.end()
        _remove(self.scratch)
        return status


_SIGNALS = {s.value for s in signal.Signals}


def _size(folder: str, most_entries: int = 5000) -> int:
    """Bytes of all files beneath; without end when there are too many entries."""
    total = entries = 0
    todo = [folder]
    while todo:
        with contextlib.suppress(OSError), os.scandir(todo.pop()) as found:
            for entry in found:
                entries += 1
                if entries > most_entries:
                    return 1 << 62
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        todo.append(entry.path)
                    total += entry.stat(follow_symlinks=False).st_blocks * 512
    return total


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)  # the common case: nothing was written
    except OSError:
        # `rm` copes with folders nested deeper than a path may be long.
        subprocess.run(["rm", "-rf", "--", folder], check=False, stderr=subprocess.DEVNULL)


class WireDoor:
    """The door to a student process. See `course.grading.door.Door`.

    After a stop every further call of the same attempt gets the same error; `bound` begins a new
    attempt, for which `student` is asked for a fresh process.

    Args:
      student: returns the process to talk to, started and brought up to date if need be.
      deep: watch the interpreter too (for exercises that forbid routines).
    """

    def __init__(
        self,
        student: Callable[[], Student],
        limits: Limits,
        *,
        deep: bool = False,
    ) -> None:
        self._student, self._limits, self._deep = student, limits, deep
        self._stopped: Error | None = None
        self._bound_functions: dict[str, Callable[..., Any]] = {}
        self.blinded = False

    def call(self, function: str, *args: Any) -> Outcome:
        return self._call(function, [args], _Talk.arguments)[0]

    def call_many(self, function: str, batch: Sequence[tuple[Any, ...]]) -> list[Outcome]:
        # These are an exercise's own cases, the same for every submission.
        return self._call(function, batch, _Talk.kept_arguments)

    def _call(
        self,
        function: str,
        batch: Sequence[tuple[Any, ...]],
        arguments: Callable[[_Talk, tuple[Any, ...]], bytes],
    ) -> list[Outcome]:
        name, deep = wire.pack(function), wire.pack(self._deep)

        def ask(talk: _Talk) -> None:
            packed = [arguments(talk, args) for args in batch]
            talk.student.send(messages.CALL, name, deep, *packed)

        return self._asked(ask, batch)

    def value(self, name: str) -> Outcome:
        return self._asked(lambda talk: talk.student.send(messages.VALUE, wire.pack(name)), [()])[0]

    def method(self, handle: Handle, name: str, *args: Any) -> Outcome:
        def ask(talk: _Talk) -> None:
            packed = talk.arguments(args)
            talk.student.send(
                messages.METHOD,
                wire.pack(handle.number),
                wire.pack(name),
                wire.pack(self._deep),
                packed,
            )

        return self._asked(ask, [args])[0]

    def attribute(self, handle: Handle, name: str) -> Outcome:
        number = wire.pack(handle.number)
        return self._asked(
            lambda talk: talk.student.send(messages.ATTRIBUTE, number, wire.pack(name)), [()]
        )[0]

    @contextmanager
    def bound(self, functions: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
        self._stopped, self._bound_functions = None, dict(functions)
        try:
            yield
        finally:
            self._bound_functions = {}
            if self._stopped is None:
                with contextlib.suppress(Stopped):
                    self._student().send(messages.UNBIND)

    def _asked(
        self, ask: Callable[[_Talk], None], batch: Sequence[tuple[Any, ...]]
    ) -> list[Outcome]:
        """Ask, then collect one outcome for each tuple of arguments."""
        outcomes: list[Outcome] = []
        if self._stopped is None:
            try:
                student = self._student()
                talk = _Talk(student)
                if self._bound_functions:
                    numbers = {n: talk.number(f, True) for n, f in self._bound_functions.items()}
                    student.send(messages.UNBIND)
                    student.send(messages.BIND, wire.pack(numbers))
                ask(talk)
                clock = student.clock(self._limits.call_s)
                for args in batch:
                    outcomes.append(self._outcome(talk, args, clock))
            except Stopped as stopped:
                self._stopped = stopped.error
        missing = len(batch) - len(outcomes)
        return outcomes + [Outcome(error=self._stopped, args_after=())] * missing

    def _outcome(self, talk: _Talk, args: tuple[Any, ...], clock: Clock) -> Outcome:
        while True:
            kind, parts = talk.student.receive(clock, "a call")
            if kind == messages.CALL_BACK and len(parts) == 3:
                if clock.over():
                    raise talk.student.stop("TimeLimit", "a call took too long and was stopped")
                talk.callbacks.answer(talk.student.send, parts, args)
            elif kind == messages.OUTCOME and len(parts) >= 2:
                return self._read(parts, args)
            else:
                raise talk.student.stop("MalformedReply", "it sent back something malformed")

    def _read(self, parts: list[bytes], args: tuple[Any, ...]) -> Outcome:
        """An outcome from what the student process says; malformed is a wrong answer."""
        try:
            said, aliases, routines, elapsed, blinded = _notes(wire.unpack(parts[0]))
            self.blinded |= blinded
            value = wire.unpack(parts[1], _special_value)
            after = tuple(_after(arg, part) for arg, part in zip(args, parts[2:], strict=False))
        except wire.WireError as trouble:
            return Outcome(error=Error(("MalformedReply", "Exception"), str(trouble)))
        return Outcome(
            value=value,
            error=said,
            args_after=after,
            aliases=aliases,
            routines_called=routines,
            elapsed=elapsed,
        )


class _Talk:
    """One question and its answers: models by number, callbacks by number."""

    def __init__(self, student: Student) -> None:
        self.student = student
        self._models: dict[int, Any] = {}
        self.callbacks = Callbacks(self._model_of)

    def number(self, function: Callable[..., Any], whole: bool) -> int:
        return self.callbacks.number(function, whole)

    def arguments(self, args: tuple[Any, ...]) -> bytes:
        """The arguments of one call, packed; models that are new to the process are sent."""
        packed, models, _ = self._pack(args, compress=False)
        self._send(models)
        return packed

    def kept_arguments(self, args: tuple[Any, ...]) -> bytes:
        """As `arguments`, for arguments that are given to every submission: packed once."""
        kept = self.student.server.cases.get(args)
        if kept is None:
            packed, models, keep = self._pack(args, compress=True)
            kept = (packed, models)
            if keep:
                self.student.server.cases.put(args, kept)
        self._send(kept[1])
        return kept[0]

    def _send(self, models: Sequence[tuple[int, bytes, Any]]) -> None:
        for number, content, model in models:
            if number not in self.student.models:
                self.student.models.add(number)
                self.student.send(messages.MODEL, wire.pack(number), content)
            self._models[number] = model

    def _pack(
        self, args: tuple[Any, ...], compress: bool
    ) -> tuple[bytes, list[tuple[int, bytes, Any]], bool]:
        """Packed arguments, the models in them, and whether they mean the same to every process."""
        models: list[tuple[int, bytes, Any]] = []
        same = True

        def number(model: Any) -> int:
            found, content = self.student.server.cases.number(model.__getstate__())
            models.append((found, content, model))
            return found

        def special(value: Any) -> list[Any] | None:
            nonlocal same
            if isinstance(value, mujoco.MjModel):
                return [wire.MODEL, number(value)]
            if isinstance(value, mujoco.MjData):
                tail = wire.data_tail(value)
                content = zlib.compress(tail, 1) if compress else tail
                return [wire.DATA, number(value.model), content, compress]
            same = False
            if isinstance(value, Handle):
                return [wire.HANDLE, value.number]
            if callable(value):
                return [wire.CALLBACK, self.number(value, False)]
            raise TypeError(f"a {type(value).__name__} does not cross the door")

        packed = wire.frame(0, *(wire.pack(arg, special, _WIDE) for arg in args))
        return packed, models, same

    def _model_of(self, number: int) -> Any:
        if number not in self._models:
            raise wire.WireError("a model that was never sent")
        return self._models[number]


_WIDE = wire.Bounds(bytes=1 << 29, entries=10_000_000)


def _special_value(kind: int, rest: list[Any]) -> Any:
    match rest:
        case [int(number), str(name)] if kind == wire.HANDLE and 0 <= number < 2**31:
            return Handle(number, name[:80])
    raise wire.WireError("malformed: a value of no known kind")


def _notes(
    notes: Any,
) -> tuple[Error | None, frozenset[int], tuple[str, ...], float, bool]:
    match notes:
        case (said, list(aliases), list(routines), float(elapsed), bool(blinded)):
            if all(type(a) is int for a in aliases) and all(type(r) is str for r in routines):
                return (
                    read_error(said),
                    frozenset(aliases),
                    tuple(r[:80] for r in routines[:5000]),
                    elapsed,
                    blinded,
                )
    raise wire.WireError("malformed: the notes of a call")


def read_error(said: Any) -> Error | None:
    """An error from what the student process says of it."""
    match said:
        case None:
            return None
        case (list(kinds), str(message), str(where)):
            if kinds and all(type(k) is str for k in kinds):
                names = tuple(k[:80] for k in kinds[:20])
                return Error(names, tidy(message[:500]), tidy(where[:200]))
    raise wire.WireError("malformed: an error")


def _after(arg: Any, part: bytes) -> Any:
    """What an argument became."""
    said = wire.unpack(part, _special_value)
    if isinstance(arg, (mujoco.MjModel, mujoco.MjData)):
        return After(arg, changes(arg, said))
    match said:
        case None:
            return arg
        case (value,):
            return value
    raise wire.WireError("malformed: what an argument became")
