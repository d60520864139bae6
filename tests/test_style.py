"""One look for all plots: told apart by colour, by dashes, and in print without colour."""

from __future__ import annotations

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from mjcourse import style


@pytest.fixture(autouse=True)
def closed():
    matplotlib.use("agg")
    yield
    plt.close("all")


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2) of a colour."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_a_plot_has_its_title_labels_and_size():
    figure, plot = style.axes("Drift", "time (s)", "error (m)", size=(5, 3))
    assert plot.get_title(loc="left") == "Drift"
    assert (plot.get_xlabel(), plot.get_ylabel()) == ("time (s)", "error (m)")
    assert tuple(figure.get_size_inches()) == (5, 3)


def test_every_trace_has_a_colour_and_dashes_of_its_own():
    _, plot = style.axes("Traces")
    lines = [plot.plot([0, 1], [k, k])[0] for k in range(len(style.COLOURS))]
    assert len({line.get_color() for line in lines}) == len(lines)
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == len(lines)
    assert len(style.COLOURS) == len(style.DASHES) == len(style.MARKERS)


def test_the_first_colours_stand_out_from_white_paper():
    for colour in style.COLOURS[:3]:
        assert 1.05 / (luminance(colour) + 0.05) > 3


def test_a_plot_within_a_figure_of_several_takes_the_same_look():
    figure, plots = plt.subplots(1, 2)
    for plot in plots:
        style.dress(plot, "Part", "x (m)")
    assert figure.axes[1].get_title(loc="left") == "Part"
    assert plots[0].plot([1, 2])[0].get_color() == style.COLOURS[0]
