"""Let a lab run on what the student wrote, and say when it is not there yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_STANDS_IN = {"scipy": "SciPy", "mujoco": "MuJoCo", "numpy": "NumPy"}
_MOST_NAMED = 4
_unwritten: dict[str, str] = {}


def student(name: str, fallback: Callable[..., Any], using: str = "") -> Callable[..., Any]:
    """The student's function `name`, or `fallback` while it does not exist.

    Which of the two is decided at each call: a function that is missing from the notebook, or
    that raises `NotImplementedError`, is not written yet. Other errors are the student's and pass
    through.

    Args:
      name: the function's name in the notebook.
      fallback: called with the same arguments.
      using: what the lab's note calls the fallback ("SciPy"); guessed from its module when empty.
    """
    stands_in = using or _library(fallback)

    def call(*args: Any, **kwargs: Any) -> Any:
        function = _names().get(name)
        if callable(function):
            try:
                result = function(*args, **kwargs)
            except NotImplementedError:
                pass
            else:
                _unwritten.pop(name, None)
                return result
        _unwritten[name] = stands_in
        return fallback(*args, **kwargs)

    call.__name__ = name
    call.__doc__ = f"The student's `{name}`, or what stands in for it."
    if not callable(_names().get(name)):
        _unwritten.setdefault(name, stands_in)
    return call


def unwritten(names: tuple[str, ...]) -> str:
    """A sentence on those of `names` that are not written yet; empty when all are."""
    for name in names:
        if not callable(_names().get(name)):
            _unwritten.setdefault(name, "its own")
    missing = [name for name in names if name in _unwritten]
    if len(missing) == 1:
        return f"{missing[0]} is not written yet: the lab uses {_unwritten[missing[0]]}."
    if missing:
        listed = ", ".join(f"{name} ({_unwritten[name]})" for name in missing[:_MOST_NAMED])
        more = len(missing) - _MOST_NAMED
        others = f" and {more} more" if more > 0 else ""
        return f"Not written yet, with what the lab uses instead: {listed}{others}."
    return ""


def _names() -> dict[str, Any]:
    """The names of the notebook (IPython's user namespace), or none outside IPython."""
    try:
        from IPython.core.getipython import get_ipython
    except ImportError:
        return {}
    shell = get_ipython()
    return {} if shell is None else shell.user_ns


def _library(function: Callable[..., Any]) -> str:
    module = getattr(function, "__module__", None) or ""
    return _STANDS_IN.get(module.split(".")[0], "its own")
