"""The student's side: runs cells as IPython does, answers calls, knows nothing about tests.

`Template` is made once in the fork server, before any submission is read; `Runner` serves one
submission in a forked child. Everything that it says may have been tampered with by the code
that it runs: the grader takes what comes as values, and nothing else.

Imports nothing of the course.
"""

from __future__ import annotations

import io
import os
import re
import socket
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import Any

import mujoco
import numpy as np
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.inputtransformer2 import TransformerManager
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from . import messages, wire
from .given import NOTHING, WIDE, Given, SentModel, pair_models_with_data
from .observe import (
    Error,
    Handle,
    Unsupported,
    changed_fields,
    describe_error,
    numeric_names,
    shared_arguments,
    timed,
)
from .watch import Watch

_OUTPUT_BYTES = 200_000
_RICH = ("text/plain", "text/html", "image/png", "image/jpeg")
_STOCK = TransformerManager()
_STOCK_TRANSFORMS = [
    len(_STOCK.cleanup_transforms),
    len(_STOCK.line_transforms),
    len(_STOCK.token_transformers),
]
# What IPython's own syntax begins or ends a line with: magics, shells, help, prompts, indentation.
_MAY_BE_MAGIC = re.compile(
    r"\A\s*[ \t]|^\s*[%!?,;/]|\?\s*$|=\s*[%!]|^\s*(?:>>>|\.\.\.|In )", re.MULTILINE
)
_CELL_FILE = re.compile(r"<cell (\d+)>")


class Outputs:
    """What one cell printed and displayed, bounded in bytes."""

    def __init__(self) -> None:
        self.all: list[dict[str, Any]] = []
        self._left = _OUTPUT_BYTES

    def stream(self, name: str, text: str) -> None:
        text = self._within(text)
        if not text:
            return
        if self.all and self.all[-1].get("name") == name:
            self.all[-1]["text"] += text
        else:
            self.all.append({"output_type": "stream", "name": name, "text": text})

    def rich(self, kind: str, data: Mapping[str, Any], **more: Any) -> None:
        kept = {}
        for mime in _RICH:
            content = data.get(mime)
            if isinstance(content, bytes):
                import base64

                content = base64.b64encode(content).decode()
            if isinstance(content, str) and len(content) <= self._left:
                kept[mime] = content
                self._left -= len(content)
        if kept:
            self.all.append({"output_type": kind, "data": kept, "metadata": {}, **more})

    def error(self, name: str, text: str, lines: Sequence[str]) -> None:
        text = text[:2000]
        shown = [line[:500] for line in lines][-30:]
        trace = [*shown, f"{name}: {text}" if text else name]
        self.all.append({"output_type": "error", "ename": name, "evalue": text, "traceback": trace})

    def clear(self) -> None:
        self.all.clear()

    def _within(self, text: str) -> str:
        if self._left <= 0:
            return ""
        kept = text[: self._left]
        self._left -= len(kept)
        if self._left <= 0:
            kept += f"\n[output beyond {_OUTPUT_BYTES} characters is left out]\n"
        return kept


class _Stream(io.TextIOBase):
    """A standard stream that ends in `Outputs`."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name, self.outputs = name, Outputs()

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return 1 if self._name == "stdout" else 2

    def write(self, text: str) -> int:
        self.outputs.stream(self._name, text)
        return len(text)


class _Publisher(DisplayPublisher):
    outputs: Any = None

    def publish(self, data: Any, metadata: Any = None, **kwargs: Any) -> None:  # type: ignore[override]
        if self.outputs is not None and isinstance(data, Mapping):
            self.outputs.rich("display_data", data)

    def clear_output(self, wait: bool = False) -> None:
        if self.outputs is not None:
            self.outputs.clear()


class _Hook(DisplayHook):
    outputs: Any = None

    def write_output_prompt(self) -> None:
        pass

    def finish_displayhook(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        if self.outputs is not None:
            count = self.shell.execution_count  # type: ignore[union-attr]
            self.outputs.rich("execute_result", format_dict, execution_count=count)


class Shell(InteractiveShell):
    """IPython's shell with its outputs collected, and no terminal, history or pictures."""

    display_pub_class = Type(_Publisher)
    displayhook_class = Type(_Hook)
    display_pub: Any
    displayhook: Any
    compile: Any

    def enable_gui(self, gui: Any = None) -> None:
        pass

    def enable_matplotlib(self, gui: Any = None) -> tuple[str, str]:
        return "inline", "agg"

    def enable_pylab(self, gui: Any = None, *args: Any, **kwargs: Any) -> tuple[str, str, Any]:
        return "inline", "agg", set()

    def ask_exit(self) -> None:
        pass

    def transform_cell(self, raw_cell: Any) -> str:
        """Magics become Python. A cell that cannot hold any is not tokenised for it."""
        manager = self.input_transformer_manager
        lists = (manager.cleanup_transforms, manager.line_transforms, manager.token_transformers)
        stock = [len(some) for some in lists] == _STOCK_TRANSFORMS
        if stock and "\n" in raw_cell.strip() and not _MAY_BE_MAGIC.search(raw_cell):
            return raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"
        return str(super().transform_cell(raw_cell))

    def system(self, cmd: str) -> None:
        sys.stderr.write("commands of the system are not run under grading\n")

    system_piped = system_raw = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        self.system(cmd)
        return []

    def showtraceback(self, exc_tuple: Any = None, *args: Any, **kwargs: Any) -> None:
        kind, error, trace = self._get_exc_info(exc_tuple)
        self._show(kind, error, trace)

    def showsyntaxerror(self, filename: Any = None, running_compiled_code: bool = False) -> None:
        kind, error, _ = self._get_exc_info()
        line = (getattr(error, "text", None) or "").rstrip()
        number = getattr(error, "lineno", None)
        self._show(kind, getattr(error, "msg", error), None, [f"line {number}: {line}"])

    def _show(self, kind: Any, error: Any, trace: Any, lines: Sequence[str] = ()) -> None:
        try:
            text = str(error)
        except Exception:
            text = "(its message cannot be read)"
        self.display_pub.outputs.error(kind.__name__, text, lines or list(_student_lines(trace)))


def _student_lines(trace: Any) -> Iterator[str]:
    """The lines of the traceback that the student wrote; no paths."""
    for frame in traceback.extract_tb(trace):
        cell = _CELL_FILE.fullmatch(frame.filename)
        if cell:
            where = "" if frame.name == "<module>" else f", in {frame.name}"
            yield f"cell {cell[1]}, line {frame.lineno}{where}: {frame.line or ''}"


class Template:
    """What every submission starts from: a shell that has run nothing."""

    def __init__(self, watch: Watch) -> None:
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "NoColor"
        config.InteractiveShell.cache_size = 100
        self.watch = watch
        self.shell = Shell.instance(config=config)
        self.shell.user_ns["__name__"] = "__main__"
        self.shell.compile.get_code_name = _code_name
        self.shell.run_cell("pass", store_history=False, silent=True)
        # Looked up now: in a `mjcb_control` of the answer, compiling an example would call it back.
        for kind in (mujoco.MjModel, mujoco.MjData):
            numeric_names(kind)


def _code_name(raw: str, transformed: str, number: int) -> str:
    return f"<cell {number}>"


class Runner:
    """Serves one submission over a socket until it closes.

    Args:
      channel: the grader is at its other end.
    """

    def __init__(self, template: Template, channel: socket.socket) -> None:
        self._shell, self._watch = template.shell, template.watch
        self._channel, self._reader = channel, wire.Reader(1 << 30)
        self._outputs = Outputs()
        self._models: dict[int, SentModel] = {}
        self._instances: list[Any] = []
        self._bound: dict[str, Any] = {}
        self._given: list[Given] = []

    def serve(self) -> None:
        """Answer messages until the grader hangs up."""
        answers: dict[int, Any] = {
            messages.RUN_CELL: self._run_cell,
            messages.MODEL: self._take_model,
            messages.CALL: self._call,
            messages.VALUE: self._value,
            messages.METHOD: self._method,
            messages.ATTRIBUTE: self._attribute,
            messages.BIND: self._bind,
            messages.UNBIND: self._unbind,
        }
        while True:
            kind, parts = self._receive()
            answers[kind](*parts)

    def _receive(self) -> tuple[int, list[bytes]]:
        while True:
            message = self._reader.next()
            if message is not None:
                return message
            received = self._channel.recv(1 << 20)
            if not received:
                os._exit(0)
            self._reader.feed(received)

    def _send(self, kind: int, *parts: bytes) -> None:
        self._channel.sendall(wire.frame(kind, *parts))

    # Cells

    def _run_cell(self, source: bytes, number: bytes) -> None:
        text = wire.unpack(source)
        self._shell.execution_count = wire.unpack(number)
        with self._collected() as outputs:
            try:
                self._shell.run_cell(text, store_history=True)
            except BaseException as error:
                outputs.error(type(error).__name__, str(error), [])
        self._send(messages.CELL_RAN, self._packed_outputs(outputs))

    def _packed_outputs(self, outputs: Outputs) -> bytes:
        try:
            return wire.pack(outputs.all)
        except Exception:
            return wire.pack([])

    @contextmanager
    def _collected(self) -> Iterator[Outputs]:
        outputs, shell = Outputs(), self._shell
        out, err = _Stream("stdout"), _Stream("stderr")
        out.outputs = err.outputs = outputs
        shell.display_pub.outputs = shell.displayhook.outputs = outputs
        with redirect_stdout(out), redirect_stderr(err):
            yield outputs

    # Calls

    def _take_model(self, number: bytes, content: bytes) -> None:
        self._models[wire.unpack(number)] = SentModel(content)

    def _call(self, function: bytes, deep: bytes, *batch: bytes) -> None:
        name, watched = wire.unpack(function), wire.unpack(deep)
        with self._collected():
            for arguments in batch:
                if name in self._shell.user_ns:
                    self._run(self._shell.user_ns[name], _parts(arguments), watched)
                else:
                    self._undefined(name)

    def _undefined(self, name: str) -> None:
        self._outcome(Error(("NameError", "Exception"), f"{name} is not defined"))

    def _value(self, name: bytes) -> None:
        text = wire.unpack(name)
        if text in self._shell.user_ns:
            self._outcome(None, self._packed(self._shell.user_ns[text]))
        else:
            self._undefined(text)

    def _method(self, number: bytes, name: bytes, deep: bytes, arguments: bytes) -> None:
        instance, method = self._instances[wire.unpack(number)], wire.unpack(name)
        call = lambda *given: getattr(instance, method)(*given)  # noqa: E731
        with self._collected():
            self._run(call, _parts(arguments), wire.unpack(deep))

    def _attribute(self, number: bytes, name: bytes) -> None:
        instance, attribute = self._instances[wire.unpack(number)], wire.unpack(name)
        with self._collected():
            self._run(lambda: getattr(instance, attribute), [], False)

    def _run(self, function: Any, arguments: Sequence[bytes], deep: bool) -> None:
        given = [Given(packed, self._models, self._other) for packed in arguments]
        pair_models_with_data(given)
        self._given = given
        values = tuple(g.value for g in given)
        packed = NOTHING
        with self._watch.recording(deep) as record:
            value: Any
            error: BaseException | None
            try:
                value, error, elapsed = timed(function, values)
            except BaseException as stopped:  # SystemExit, KeyboardInterrupt
                value, error, elapsed = None, stopped, 0.0
            # Packing may run the answer's own code too: a lazy list, `__array__`.
            if error is None:
                try:
                    aliases = shared_arguments(value, values)
                    packed = self._packed(value)
                except BaseException as trouble:
                    value, error = None, trouble
        routines, blinded = record.routines, record.blinded
        described = None if error is None else describe_error(error)
        if error is not None:
            aliases = frozenset()
        after = [g.after(self._pack_argument) for g in given]
        self._given = []
        for one in given:
            one.release()
        self._outcome(described, packed, after, aliases, routines, elapsed, blinded)

    def _pack_argument(self, value: Any) -> bytes:
        return wire.pack(value, self._instance, WIDE)

    def _outcome(
        self,
        error: Error | None,
        value: bytes | None = None,
        after: Sequence[bytes] = (),
        aliases: frozenset[int] = frozenset(),
        routines: Sequence[str] = (),
        elapsed: float = 0.0,
        blinded: bool = False,
    ) -> None:
        said = None if error is None else (list(error.kinds), error.message, error.where)
        notes = (said, sorted(aliases), [str(r) for r in routines], float(elapsed), blinded)
        self._send(
            messages.OUTCOME,
            wire.pack(notes),
            NOTHING if value is None else value,
            *after,
        )

    def _packed(self, value: Any) -> bytes:
        try:
            return wire.pack(value, self._instance)
        except wire.WireError as trouble:
            return wire.pack(Unsupported("value that does not cross", str(trouble)))

    def _instance(self, value: Any) -> list[Any] | None:
        """Keep an instance of a class of the answer's own here, and name it by a number."""
        kind = type(value)
        module = getattr(kind, "__module__", None)
        if not isinstance(module, str) or module.startswith(
            ("mujoco", "numpy", "scipy", "builtins")
        ):
            return None
        self._instances.append(value)
        return [wire.HANDLE, len(self._instances) - 1, kind.__name__[:80]]

    def _other(self, kind: int, rest: Sequence[Any]) -> Any:
        """An argument that is a callback, or an instance that an earlier call returned."""
        if kind == wire.CALLBACK:
            return self.stub(rest[0])
        if kind == wire.HANDLE:
            return self._instances[rest[0]]
        raise wire.WireError(f"kind {kind}")

    # Functions of the grader's

    def _bind(self, names: bytes) -> None:
        space = self._shell.user_ns
        for name, number in wire.unpack(names).items():
            self._bound[name] = space.get(name, _MISSING)
            space[name] = self.stub(number, name)

    def _unbind(self) -> None:
        for name, value in self._bound.items():
            if value is _MISSING:
                self._shell.user_ns.pop(name, None)
            else:
                self._shell.user_ns[name] = value
        self._bound = {}

    def stub(self, number: int, name: str = "given") -> Any:
        """A function that asks the grader."""

        def given(*args: Any, **kwargs: Any) -> Any:
            watching, self._watch.active = self._watch.active, False
            try:
                return self._ask(number, args, kwargs)
            finally:
                self._watch.active = watching

        given.__name__ = given.__qualname__ = name
        return given

    def _ask(self, number: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._send(
            messages.CALL_BACK,
            wire.pack(number),
            wire.pack(args, self._reference),
            wire.pack(kwargs, self._reference),
        )
        kind, parts = self._receive()
        if kind != messages.RETURNED:
            raise RuntimeError("the conversation with the grader is out of step")
        value, error, *changed = parts
        for place, content in zip(changed[::2], changed[1::2], strict=True):
            target = args[wire.unpack(place)]
            arrived = self._models[self._number_of(target.model)].data(content)
            mujoco.mj_copyData(target, target.model, arrived)
        failure = wire.unpack(error)
        if failure is not None:
            kind_name, message = failure
            raise _exception(kind_name)(message)
        return wire.unpack(value, None, WIDE)

    def _reference(self, value: Any) -> list[Any] | None:
        """An argument of a callback: a model or data by what it came from and what changed."""
        if isinstance(value, mujoco.MjModel):
            number = self._number_of(value)
            return [wire.MODEL, number, _fields(self._models[number].changes(value))]
        if isinstance(value, mujoco.MjData):
            for place, given in enumerate(self._given):
                if given.value is value:
                    return [wire.DATA, -1, place, _fields(changed_fields(given.before, value))]
            fresh = mujoco.MjData(value.model)
            number = self._number_of(value.model)
            return [wire.DATA, number, 0, _fields(changed_fields(fresh, value))]
        return self._instance(value)

    def _number_of(self, model: Any) -> int:
        for given in self._given:
            if isinstance(given.value, mujoco.MjData) and given.value.model is model:
                return given.number
        for number, known in self._models.items():
            if known.model is model:
                return number
        raise TypeError("a model of the answer's own does not cross to the grader")


_MISSING = object()


def _fields(changes: Mapping[str, np.ndarray]) -> bytes:
    return wire.pack(dict(changes))


def _parts(packed: bytes) -> list[bytes]:
    """The packed arguments of one call."""
    reader = wire.Reader(1 << 30)
    reader.feed(packed)
    message = reader.next()
    assert message is not None
    return message[1]


def _exception(kind: str) -> type[Exception]:
    """The built-in exception of that name, else `RuntimeError`."""
    import builtins

    found = getattr(builtins, kind, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    return RuntimeError


__all__ = ["Handle", "Runner", "Shell", "Template"]
