"""One look for all plots: colours that colour-blind readers can tell apart, dashes and markers.

The colours are those of Okabe and Ito ("Color Universal Design", 2008); a trace also has its own
dashes, so that a grey print can still be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILLION, GREEN, ORANGE = "#0072B2", "#D55E00", "#009E73", "#E69F00"
SKY, PURPLE, BLACK, YELLOW = "#56B4E9", "#CC79A7", "#000000", "#F0E442"

COLOURS = (BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY, BLACK, YELLOW)
DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (2, 1.5)),
    (0, (7, 2, 1.5, 2)),
    (0, (4, 1.5, 1.5, 1.5, 1.5, 1.5)),
    (0, (10, 3)),
    (0, (1, 1)),
    (0, (3, 4)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def axes(
    title: str, xlabel: str = "", ylabel: str = "", size: tuple[float, float] = (6.8, 3.6)
) -> tuple[Figure, Axes]:
    """A new figure with one empty plot in the course's look.

    Args:
      title: what the plot shows, in words.
      xlabel, ylabel: quantity and unit, `"pitch (deg)"`.
      size: width and height in inches.
    """
    import matplotlib.pyplot as plt

    figure, plot = plt.subplots(figsize=size, layout="constrained")
    dress(plot, title, xlabel, ylabel)
    return figure, plot


def dress(plot: Axes, title: str = "", xlabel: str = "", ylabel: str = "") -> None:
    """Give the course's look to a plot that exists (one of several in a figure)."""
    from cycler import cycler

    plot.set_title(title, loc="left", fontsize=11, fontweight="bold")
    plot.set_xlabel(xlabel)
    plot.set_ylabel(ylabel)
    plot.set_prop_cycle(cycler(color=list(COLOURS)) + cycler(linestyle=list(DASHES)))
    plot.grid(True, color="#d9d9d9", linewidth=0.6)
    plot.set_axisbelow(True)
    plot.spines[["top", "right"]].set_visible(False)
