"""A cell that runs again gets a new lab; the earlier one is closed, so that nothing piles up."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mjcourse.lab.lab import Lab

_shown: list[tuple[str, str, Lab]] = []


def retire_earlier(lab: Lab) -> None:
    """Close the labs that an earlier run of this cell showed, and remember `lab`.

    JupyterLab names the cell in each request; where it is not known, the lab's title counts.
    """
    cell, run = _place(lab.title)
    for entry in list(_shown):
        other_cell, other_run, other = entry
        if other is lab or other.closed:
            _shown.remove(entry)
        elif other_cell == cell and other_run != run:
            other.close()
            _shown.remove(entry)
    _shown.append((cell, run, lab))


def _place(title: str) -> tuple[str, str]:
    """What names the cell, and what names this run of it."""
    from IPython.core.getipython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    try:
        parent = kernel.get_parent() if kernel is not None else {}
    except (AttributeError, LookupError):
        parent = {}
    run = parent.get("header", {}).get("msg_id", "")
    cell = parent.get("metadata", {}).get("cellId", "")
    return cell or f"the lab {title!r}", run
