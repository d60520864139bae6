"""What a lab prints: read-outs and small tables, as text and as HTML that does not jump."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mjcourse.lab.controls import Which

_LINE_CHARACTERS = 40  # that fit in the column of read-outs
_MINUS, _FIGURE_SPACE = "\u2212", "\u2007"


@dataclass
class Readout:
    """A value that follows the simulation.

    Args:
      label: what it is; unique among the read-outs of its lab.
      of_state: `(model, data) -> value`: a number, an array (printed as a row, or as a matrix), a
        string or a bool. With `of="all"`: `(simulations) -> value`.
      unit: printed after the value.
      digits: decimals of a number (significant digits where `scientific`).
      scientific: print like `1.2e-16`.
    """

    label: str
    of_state: Callable[..., Any]
    unit: str = ""
    digits: int = 3
    scientific: bool = False
    of: Which = 0


@dataclass
class Table:
    """A small table of text that follows the simulation.

    Args:
      label: its caption; unique among the tables of its lab.
      of_state: `(model, data) -> rows`, each a sequence of strings or numbers; or the text of an
        SVG picture, shown under the caption as it stands.
      columns: the headings.
      digits: decimals of the numbers in it.
    """

    label: str
    of_state: Callable[..., Sequence[Sequence[Any]] | str]
    columns: Sequence[str] = ()
    digits: int = 3
    of: Which = 0


def number_text(value: float, digits: int, scientific: bool = False) -> str:
    """`value` with fixed decimals, or with `digits` significant ones where it is very large."""
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "-infinite"
    if scientific or abs(value) >= 1e7:
        return f"{value:.{max(digits - 1, 0)}e}"
    text = f"{value:.{digits}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text


def rows_of(value: Any, digits: int, scientific: bool = False) -> list[list[str]]:
    """`value` as rows of cells: one cell for a scalar or text, one row for a vector."""
    if isinstance(value, str) or value is None:
        return [[value or ""]]
    if isinstance(value, bool | np.bool_):
        return [["yes" if value else "no"]]
    if isinstance(value, int | np.integer):
        return [[str(int(value))]]
    array = np.asarray(value)
    if array.dtype.kind not in "iufb":
        return [[str(value)]]
    if array.ndim > 2:
        raise ValueError(f"a read-out prints a number, a row or a matrix, not {array.shape}")
    exact = array.dtype.kind == "i"
    return [
        [str(int(x)) if exact else number_text(float(x), digits, scientific) for x in row]
        for row in np.atleast_2d(array)
    ]


def text_of(value: Any, digits: int, scientific: bool = False) -> str:
    """`value` on one line, for the text alternative: `1.00 0.00; 0.00 1.00`."""
    return "; ".join(" ".join(row) for row in rows_of(value, digits, scientific))


def readouts_html(entries: Sequence[tuple[Readout, Any]], time: float | None = None) -> str:
    """The time and the read-outs, a line each: label, value (figures of equal width), unit.

    A value that is too wide to stand beside its label goes below it.
    """
    lines = [] if time is None else [_line("time", _figure(f"{time:.2f}"), "s")]
    for readout, value in entries:
        rows = rows_of(value, readout.digits, readout.scientific)
        if len(rows) == 1 and len(rows[0]) == 1:
            lines.append(_line(readout.label, _figure(rows[0][0]), readout.unit))
            continue
        widest = max((len(cell) for row in rows for cell in row), default=1)
        per_line = max(_LINE_CHARACTERS // (widest + 2), 1)
        body = "".join(
            "<tr>" + "".join(f"<td>{_figure(c)}</td>" for c in row[i : i + per_line]) + "</tr>"
            for row in rows
            for i in range(0, len(row), per_line)
        )
        cell_width = max(widest, readout.digits + 3) + 1  # room for a sign: nothing jumps
        matrix = f'<table style="--cell:{cell_width}ch">{body}</table>'
        lines.append(_line(readout.label, matrix, readout.unit))
    return f'<div class="mjl-readouts">{"".join(lines)}</div>' if lines else ""


def _line(label: str, value: str, unit: str) -> str:
    return (
        f'<div class="mjl-row"><span class="mjl-name">{html.escape(label)}</span>'
        f'<span class="mjl-figure"><span class="mjl-value">{value}</span>'
        f'<span class="mjl-unit">{html.escape(unit)}</span></span></div>'
    )


def table_html(table: Table, rows: Sequence[Sequence[Any]] | str) -> str:
    """One `Table` as HTML; every cell is escaped, a picture is not."""
    if isinstance(rows, str):
        caption = f'<div class="mjl-caption">{html.escape(table.label)}</div>'
        return f'<div class="mjl-table">{caption}{rows[rows.find("<svg") :]}</div>'
    head = "".join(f'<th scope="col">{html.escape(str(c))}</th>' for c in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{_cell(c, table.digits)}</td>" for c in row) + "</tr>"
        for row in rows
    )
    caption = f"<caption>{html.escape(table.label)}</caption>"
    head = f"<thead><tr>{head}</tr></thead>" if head else ""
    return f'<table class="mjl-table">{caption}{head}<tbody>{body}</tbody></table>'


def _cell(value: Any, digits: int) -> str:
    if isinstance(value, str):  # a name may end in a digit and is no figure for that
        return html.escape(value)
    return _figure(text_of(value, digits))


def _figure(text: str) -> str:
    """Escaped, with a true minus sign, and a space of its width before a positive number."""
    if not text[-1:].isdigit():
        return html.escape(text)
    return _MINUS + text[1:] if text.startswith("-") else _FIGURE_SPACE + text
