"""The percent truth of a lesson: its text, its cells, and the role that each cell plays.

    # %% [markdown]                    prose
    # %%                               code
    # %% solution="quat_mul"           the solution cell of an exercise
    # %% check="quat_mul"              its visible check
    # %% test="quat_mul"               its hidden tests (the builder adds the call)
    # %% [markdown] explain="fd_error" a text answer graded by a person
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jupytext
import nbformat

ROLES = ("solution", "check", "test", "explain")


@dataclass(frozen=True)
class TruthCell:
    """A cell of the truth: `kind` is "code" or "markdown"; `role` is one of `ROLES` or empty."""

    kind: str
    source: str
    role: str = ""
    exercise: str = ""


class BadTruth(ValueError):
    """A percent notebook that cannot be built; the message says where and why."""


def read_truth(text: str) -> list[TruthCell]:
    """Parse a percent notebook.

    Raises:
      BadTruth: a cell has metadata that is not a role, or two roles.
    """
    cells = []
    for cell in jupytext.reads(text, fmt="py:percent").cells:
        if not cell.source.strip():
            continue
        marks = {k: v for k, v in cell.metadata.items() if k != "lines_to_next_cell"}
        unknown = sorted(set(marks) - set(ROLES))
        if unknown or len(marks) > 1:
            first = cell.source.strip().splitlines()[0]
            raise BadTruth(
                f"the cell that starts with {first!r} is marked {sorted(marks)}; "
                f"one of {', '.join(ROLES)} is understood"
            )
        role, exercise = next(iter(marks.items()), ("", ""))
        if cell.cell_type not in ("code", "markdown"):
            raise BadTruth(f"a cell is of type {cell.cell_type!r}; say code or markdown")
        cells.append(TruthCell(cell.cell_type, cell.source, role, exercise))
    return cells


def write_truth(cells: list[TruthCell]) -> str:
    """The percent text of `cells`: what `read_truth` reads back."""
    notebook: Any = nbformat.v4.new_notebook()
    for cell in cells:
        make = nbformat.v4.new_code_cell if cell.kind == "code" else nbformat.v4.new_markdown_cell
        made = make(cell.source)
        if cell.role:
            made.metadata[cell.role] = cell.exercise
        notebook.cells.append(made)
    notebook.metadata["jupytext"] = {
        "notebook_metadata_filter": "-all",
        "cell_metadata_filter": ",".join(ROLES),
        "text_representation": {"extension": ".py", "format_name": "percent"},
    }
    return jupytext.writes(notebook, fmt="py:percent")
