"""The fork server: everything imported once, a child for each submission. Run as a script.

    python -s -P forkserver.py CONTROL_FD '{"readable": [...], "paths": [...]}'

It is exec'd with an environment of constants before any submission is read, and has one thread
and no OpenGL context, so that a forked child is whole. Over the control socket the grader sends
one JSON line with the child's end of a socket pair, and gets the child's process id; an empty
request ends the child and gives its exit status. One child at a time. It ends when the grader
closes the control socket, and its child ends with it.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import shutil
import signal
import socket
import sys
import types
from pathlib import Path
from typing import Any

# The modules that the student's side is made of, loaded without the rest of the course.
_PACKAGE = "student_side"
_MODULES = ("observe", "wire", "messages", "watch", "sandbox", "given", "runner")


def load(name: str) -> types.ModuleType:
    """A module beside this file, as a member of a package that holds only `_MODULES`."""
    folder = Path(__file__).resolve().parent
    if _PACKAGE not in sys.modules:
        package = types.ModuleType(_PACKAGE)
        package.__path__ = []
        sys.modules[_PACKAGE] = package
    full = f"{_PACKAGE}.{name}"
    spec = importlib.util.spec_from_file_location(full, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    setattr(sys.modules[_PACKAGE], name, module)
    return module


def warm() -> None:
    """Import what notebooks import."""
    import asyncio
    import importlib
    import pkgutil
    import random  # noqa: F401
    import warnings

    import ipywidgets  # noqa: F401
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot
    import mujoco  # noqa: F401
    import scipy.linalg
    import scipy.spatial.transform  # noqa: F401

    import mjcourse

    for module in pkgutil.walk_packages(mjcourse.__path__, "mjcourse."):
        if not module.name.rpartition(".")[2].startswith("_"):
            try:
                importlib.import_module(module.name)
            except ImportError as trouble:
                print(f"{module.name}: {trouble}", file=sys.stderr)
    asyncio.new_event_loop().close()
    warnings.filterwarnings("ignore", message=".*FigureCanvasAgg is non-interactive.*")


def seed() -> None:
    """The same random numbers for every submission: a grade depends on nothing else."""
    import random

    import numpy as np

    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    # What an unseeded generator takes its entropy from.
    np.random.bit_generator.randbits = random.Random(0).getrandbits  # type: ignore[attr-defined]


def serve(control: socket.socket, settings: dict[str, Any]) -> None:
    """Fork children on request until the grader hangs up."""
    modules = {name: load(name) for name in _MODULES}
    warm()
    watch = modules["watch"].Watch()
    modules["watch"].install(watch)
    template = modules["runner"].Template(watch)
    gc.collect()
    gc.freeze()
    control.sendall(b"ready\n")
    child = 0
    while True:
        request, descriptors = _receive(control)
        if request is None:
            if child:
                _end(child)
            return
        if not request:
            status = _end(child) if child else 0
            child = 0
            control.sendall(f"{status}\n".encode())
            continue
        channel = descriptors[0]
        child = os.fork()
        if child == 0:
            try:
                _be_child(channel, json.loads(request), settings, modules, template)
            finally:
                os._exit(1)
        os.close(channel)
        control.sendall(f"{child}\n".encode())


def _receive(control: socket.socket) -> tuple[bytes | None, list[int]]:
    """One line, and the descriptors that came with it; `None` at the end."""
    line, descriptors = b"", []
    while not line.endswith(b"\n"):
        data, more, _, _ = socket.recv_fds(control, 65536, 1)
        if not data:
            return None, []
        line += data
        descriptors += more
    return line[:-1], descriptors


def _end(child: int) -> int:
    """Kill the child, wait for it, and return its status as `subprocess` counts it.

    A child that ended by itself keeps the status that it ended with.
    """
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def _be_child(
    channel: int,
    request: dict[str, Any],
    settings: dict[str, Any],
    modules: dict[str, types.ModuleType],
    template: Any,
) -> None:
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    kept = os.dup2(channel, 3)
    os.closerange(4, 65536)
    os.chdir(request["scratch"])
    os.environ["HOME"] = os.environ["TMPDIR"] = request["scratch"]
    seed()
    connection = socket.socket(fileno=kept)
    sandbox, messages, wire = modules["sandbox"], modules["messages"], modules["wire"]
    failed = []
    try:
        failed = sandbox.confine(
            request["scratch"],
            settings["readable"],
            sandbox.Allowance(**request["allowance"]),
            insist=not request["trust"],
        )
    except sandbox.Missing as missing:
        connection.sendall(wire.frame(messages.NOT_CONFINED, wire.pack(str(missing))))
        return
    connection.sendall(wire.frame(messages.READY, wire.pack(failed)))
    modules["runner"].Runner(template, connection).serve()


def main() -> None:
    descriptor, settings = int(sys.argv[1]), json.loads(sys.argv[2])
    del sys.argv[1:]
    for path in settings["paths"]:
        if path not in sys.path:
            sys.path.append(path)
    try:
        serve(socket.socket(fileno=descriptor), settings)
    finally:
        # Here, so that a grader that was killed leaves nothing behind either.
        shutil.rmtree(os.environ["HOME"], ignore_errors=True)
    os._exit(0)  # the grader waits, and to take all modules down in order takes a while


if __name__ == "__main__":
    main()
