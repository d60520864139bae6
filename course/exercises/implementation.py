"""An implementation of an exercise: the text of a solution cell, written as a function's body."""

from __future__ import annotations

import ast
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable
from typing import Any

# What the set-up cell of every lesson gives, and nothing else: a solution cell stands on this.
SETUP = """\
import mjcourse  # first: it chooses how MuJoCo draws
import matplotlib.pyplot as plt
import mujoco
import numpy as np
import scipy

from mjcourse import Button, Lab, Readout, Select, Simulation, Slider, StripChart, Table, Toggle
from mjcourse import ask, experiment, load, model_path, progress, submit, visible_check
"""


def cell_text(body: Callable[[], Any], helpers: Iterable[Callable[..., Any]] = ()) -> str:
    """The body of `body` as the text of a notebook cell, without its docstring.

    The source of every function in `helpers` that the body needs comes first, so that the cell
    stands alone. A helper may use what the set-up cell gives, and helpers named before it.
    """
    return with_helpers(_body_text(body), helpers)


def with_helpers(text: str, helpers: Iterable[Callable[..., Any]]) -> str:
    """The text of a cell, after the source of those helpers whose names it holds."""
    for helper in reversed(tuple(helpers)):
        if re.search(rf"\b{helper.__name__}\b", text):
            text = f"{inspect.getsource(helper)}\n\n{text}"
    return text


def _body_text(body: Callable[[], Any]) -> str:
    source = textwrap.dedent(inspect.getsource(body))
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    statements = function.body
    first = statements[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        statements = statements[1:]
    start = statements[0].lineno
    if getattr(statements[0], "decorator_list", None):
        start = min(d.lineno for d in statements[0].decorator_list)  # type: ignore[attr-defined]
    lines = source.splitlines()
    while lines[start - 2].lstrip().startswith("#"):
        start -= 1
    return textwrap.dedent("\n".join(lines[start - 1 : function.end_lineno])) + "\n"


@functools.cache
def _setup_names() -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(SETUP, "<set-up cell>", "exec"), names)
    return names


def setup_namespace() -> dict[str, Any]:
    """A fresh namespace that holds what the set-up cell defines."""
    return dict(_setup_names())


class Implementation:
    """One way to write an exercise, right or wrong.

    Args:
      id: a short name, `left_product`.
      text: for a misconception the sentence that the student reads; else what is odd about it.
      cell: the text of the solution cell, or what gives it: to read the source of a thousand
        functions takes a second, and most gradings need none of them.
    """

    def __init__(self, id: str, text: str, cell: str | Callable[[], str]) -> None:
        self.id, self.text = id, text
        self._cell = cell

    @functools.cached_property
    def cell(self) -> str:
        """The text of the solution cell."""
        return self._cell if isinstance(self._cell, str) else self._cell()

    def namespace(self) -> dict[str, Any]:
        """Run the cell after the set-up cell and return all names."""
        names = setup_namespace()
        exec(compile(self.cell, f"<{self.id}>", "exec"), names)
        return names
