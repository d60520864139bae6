"""Notice which routines of MuJoCo and SciPy an answer calls while it runs.

Two layers. `install` puts a wrapper in the place of every function of MuJoCo and every method of
SciPy's rotations, once and before any answer is read: whatever name, alias, `partial` or
`getattr` an answer uses, it holds the wrapper. `Watch.deep` adds the interpreter's profiling hook,
which also sees a function that was dug out of its wrapper.

Runs in the student process; imports nothing of the course and knows no exercise.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_MOST_NAMES = 2000
_SPECIAL_METHODS = ("__init__", "__call__", "__mul__", "__pow__")


class Watch:
    """A list of the routines called, kept only between `start` and `stop`."""

    def __init__(self) -> None:
        self.active = False
        self.seen: list[str] = []
        self._more: set[str] = set()

    def note(self, name: str) -> None:
        """Remember a call; of very many calls the first ones in order, then each name once."""
        if len(self.seen) < _MOST_NAMES:
            self.seen.append(name)
        elif name not in self._more and len(self._more) < _MOST_NAMES:
            self._more.add(name)
            self.seen.append(name)

    @contextmanager
    def recording(self, deep: bool) -> Iterator[Recording]:
        """Record what runs inside the block; `deep` adds the profiling hook."""
        self.seen, self._more, self.active = [], set(), True
        record = Recording(self.seen)
        hook = self._hook if deep else None
        if deep:
            sys.setprofile(hook)
        try:
            yield record
        finally:
            if deep:
                record.blinded = sys.getprofile() != hook
                sys.setprofile(None)
            self.active = False

    def _hook(self, frame: Any, event: str, arg: Any) -> None:
        if event == "c_call":
            module = getattr(arg, "__module__", None)
            # A wrapper has noted its own routine already.
            if (
                isinstance(module, str)
                and module.startswith("mujoco")
                and frame.f_code is not _WRAPPER_CODE
            ):
                self.note(arg.__name__)


class Recording:
    """What was seen: routines in order, and whether the profiling hook was taken away."""

    def __init__(self, routines: list[str]) -> None:
        self.routines = routines
        self.blinded = False


def _wrapped(watch: Watch, name: str, routine: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        if watch.active:
            watch.note(name)
        return routine(*args, **kwargs)

    functools.update_wrapper(call, routine)
    del call.__wrapped__  # type: ignore[attr-defined]
    return call


_WRAPPER_CODE = _wrapped(Watch(), "", len).__code__


def install(watch: Watch) -> None:
    """Put wrappers around MuJoCo's functions and SciPy's rotations, wherever they can be found."""
    import mujoco
    import scipy.spatial
    from scipy.spatial import transform
    from scipy.spatial.transform import _rotation, _rotation_cy, _rotation_spline, _rotation_xp

    functions = mujoco._functions
    for name in dir(functions):
        routine = getattr(functions, name)
        if name.startswith("mj") and callable(routine):
            _replace(routine, _wrapped(watch, name, routine), (mujoco, functions))
    for owner in (
        transform.Rotation,
        transform.Slerp,
        transform.RotationSpline,
        transform.RigidTransform,
    ):
        for name, member in list(vars(owner).items()):
            if name.startswith("_") and name not in _SPECIAL_METHODS:
                continue
            label = f"{owner.__name__}.{name}"
            if isinstance(member, staticmethod):
                setattr(owner, name, staticmethod(_wrapped(watch, label, member.__func__)))
            elif isinstance(member, classmethod):
                setattr(owner, name, classmethod(_wrapped(watch, label, member.__func__)))
            elif callable(member):
                setattr(owner, name, _wrapped(watch, label, member))
    # The functions below the methods, and the one rotation routine beside them.
    for backend in (_rotation_cy, _rotation_xp):
        for name, routine in list(vars(backend).items()):
            own = getattr(routine, "__module__", None) == backend.__name__
            if own and callable(routine) and not isinstance(routine, type) and name[0] != "_":
                inner = _wrapped(watch, f"Rotation.{name}", routine)
                _replace(routine, inner, (backend, _rotation, _rotation_spline))
    slerp = scipy.spatial.geometric_slerp
    _replace(slerp, _wrapped(watch, "geometric_slerp", slerp), (scipy.spatial,))


def _replace(old: Any, new: Any, modules: tuple[Any, ...]) -> None:
    for module in modules:
        for name, value in list(vars(module).items()):
            if value is old:
                setattr(module, name, new)
