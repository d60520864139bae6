"""Say in one line what stopped a cell: for checks, experiments and labs."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any


def one_line(error: BaseException, namespace: Mapping[str, Any], skip: object = None) -> str:
    """What happened, and the line of the student's own code where it happened.

    Args:
      error: a caught exception.
      namespace: the notebook's global names; a frame that runs in it is the student's.
      skip: the code object of the check or experiment itself, which is not the student's.
    """
    if isinstance(error, NotImplementedError):
        where = _last_frame(error.__traceback__, namespace, skip)
        name = where[0] if where else ""
        return f"{name} is not written yet" if name else "a part of it is not written yet"
    text = " ".join(str(error).split())
    if isinstance(error, NameError) and (missing := re.match(r"name '(\w+)' is not def", text)):
        return f"{missing[1]} does not exist here: run the cell that defines it"
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if len(text) > 160:
        text = text[:157] + "..."
    where = _last_frame(error.__traceback__, namespace, skip)
    if where is None:
        return text
    name, line, source = where
    place = f"line {line}" + (f", `{source}`" if source else "")
    return f"{name} stops with {text} ({place})"


def _last_frame(
    trace: TracebackType | None, namespace: Mapping[str, Any], skip: object
) -> tuple[str, int, str] | None:
    """Function, line number and text of the deepest frame of the student's code."""
    found = None
    for frame, line in traceback.walk_tb(trace):
        code = frame.f_code
        if frame.f_globals is namespace and code is not skip and code.co_name != "<module>":
            # A comprehension or lambda has no name of its own worth telling.
            name = code.co_qualname.rpartition("<locals>.")[2].removesuffix(".__init__")
            name = "your code" if name.startswith("<") else name
            found = name, line, linecache.getline(code.co_filename, line).strip()
    return found
