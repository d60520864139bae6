"""Import nbformat and nbgrader in a second instead of four.

`nbformat` imports `jsonschema`, whose format checker imports `rfc3987_syntax` when it is
installed (by JupyterLab's events), which builds 38 grammars at import: 1.4 s in every process.
It checks the format "iri", which no schema of notebooks uses. `jsonschema` goes on without it.
"""

from __future__ import annotations

import functools
import importlib
import sys
from typing import Any


def nbformat() -> Any:
    """The package `nbformat`."""
    return _without_grammars("nbformat")


def nbgrader_api() -> Any:
    """The module `nbgrader.api`: the tables of the gradebook."""
    return _without_grammars("nbgrader.api")


def _without_grammars(name: str) -> Any:
    blocked = "rfc3987_syntax"
    if "jsonschema" in sys.modules or blocked in sys.modules:
        return importlib.import_module(name)
    sys.modules[blocked] = None  # type: ignore[assignment]  # makes its import fail, once
    try:
        return importlib.import_module(name)
    finally:
        del sys.modules[blocked]


@functools.cache
def nbgrader_config() -> Any:
    """The course's nbgrader configuration (`nbgrader_config.py`), as a traitlets `Config`."""
    from traitlets.config.loader import PyFileConfigLoader

    from course.paths import CHECKOUT

    return PyFileConfigLoader("nbgrader_config.py", path=str(CHECKOUT)).load_config()
