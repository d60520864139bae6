"""Strip charts: the last seconds of a few traces, drawn as SVG.

SVG costs the kernel a fraction of a millisecond, stays sharp on every screen, takes the theme's
text colour, and carries a text alternative. Traces differ in colour and in dash pattern.
"""

from __future__ import annotations

import html
import math
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from mjcourse.lab.controls import Which
from mjcourse.lab.readouts import number_text

# Okabe and Ito's colours, told apart by colour-blind readers, on white and on black.
_COLOURS = ("#0f85d0", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#8c8c8c")
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "1 2")
_PLOT, _LEFT, _RIGHT, _TOP, _BOTTOM = 80, 46, 8, 22, 16  # pixels: the plot and its margins
_LETTER, _KEY, _GAP, _LINE = 6.8, 34, 8, 15  # of the legend: letter, stroke, gap, line
_MOST_SAMPLES = 2000


@dataclass
class StripChart:
    """Several traces against time.

    Args:
      title: unique among the charts of its lab.
      traces: name in the legend -> `(model, data) -> number` (`(simulations) -> number` with
        `of="all"`).
      window: seconds shown.
      limits: `(low, high)` of the vertical axis; follows the traces when None.
      unit: of the vertical axis.
    """

    title: str
    traces: Mapping[str, Callable[..., float]]
    window: float = 6.0
    limits: tuple[float, float] | None = None
    unit: str = ""
    of: Which = 0

    def __post_init__(self) -> None:
        if not self.traces:
            raise ValueError(f"chart {self.title!r} has no traces")
        if self.window <= 0:
            raise ValueError(f"chart {self.title!r}: a window of {self.window} s shows nothing")
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise ValueError(f"chart {self.title!r}: limits {self.limits} are not (low, high)")


class Strip:
    """The samples of one chart and its picture."""

    def __init__(self, chart: StripChart, width: int) -> None:
        self.chart = chart
        self.width = width
        self._times: deque[float] = deque(maxlen=_MOST_SAMPLES)
        self._values: list[deque[float]] = [deque(maxlen=_MOST_SAMPLES) for _ in chart.traces]

    def clear(self) -> None:
        """Forget every sample."""
        self._times.clear()
        for values in self._values:
            values.clear()

    def add(self, time: float, values: list[float]) -> None:
        """Append one sample of every trace; a time that went back starts afresh."""
        if self._times and time < self._times[-1] - 1e-12:
            self.clear()
        if self._times and time <= self._times[-1]:
            for trace, value in zip(self._values, values, strict=True):
                trace[-1] = value
            return
        self._times.append(time)
        for trace, value in zip(self._values, values, strict=True):
            trace.append(value)
        while self._times[0] < time - self.chart.window * 1.05:
            self._times.popleft()
            for trace in self._values:
                trace.popleft()

    @property
    def last(self) -> dict[str, float]:
        """The latest value of each trace; empty before the first sample."""
        if not self._times:
            return {}
        return {name: v[-1] for name, v in zip(self.chart.traces, self._values, strict=True)}

    def samples(self) -> tuple[np.ndarray, np.ndarray]:
        """Times `(n,)` in seconds and values `(traces, n)` now in the window."""
        return np.array(self._times), np.array([list(v) for v in self._values])

    def svg(self) -> str:
        """The chart as an SVG element whose label says what it shows."""
        times, values = self.samples()
        low, high = self._limits(values)
        window, width = self.chart.window, self.width
        end = max(times[-1] if times.size else 0.0, window)
        legend, lines = self._legend()
        top = _TOP + _LINE * (lines - 1)
        plot_w, plot_h, height = width - _LEFT - _RIGHT, _PLOT, top + _PLOT + _BOTTOM
        parts = [
            f'<svg class="mjl-chart" role="img" aria-label="{html.escape(self.description())}" '
            f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
            legend,
        ]
        for value in _ticks(low, high):
            y = top + plot_h * (high - value) / (high - low)
            parts.append(
                f'<path class="g" d="M{_LEFT} {y:.1f}h{plot_w}"/>'
                f'<text class="y" x="{_LEFT - 5}" y="{y + 3.5:.1f}">{_tick_text(value)}</text>'
            )
        for second in _ticks(end - window, end):
            x = _LEFT + plot_w * (second - end + window) / window
            parts.append(
                f'<path class="g" d="M{x:.1f} {top}v{plot_h}"/>'
                f'<text class="x" x="{x:.1f}" y="{height - 4}">{_tick_text(second)}</text>'
            )
        if times.size:
            xs = _LEFT + plot_w * (times - end + window) / window
            shown = xs >= _LEFT - 0.5
            for index, trace in enumerate(values):
                ys = top + plot_h * (high - np.clip(trace, low, high)) / (high - low)
                parts.append(_polyline(xs[shown], ys[shown], index))
        return "".join(parts) + "</svg>"

    def description(self) -> str:
        """What the chart shows, in one sentence."""
        unit = f" {self.chart.unit}" if self.chart.unit else ""
        now = ", ".join(f"{name} {value:.3g}{unit}" for name, value in self.last.items())
        return f"Chart {self.chart.title}, last {self.chart.window:g} seconds. {now or 'Empty'}."

    def _legend(self) -> tuple[str, int]:
        """Title and legend, and how many lines they take."""
        unit = f" ({self.chart.unit})" if self.chart.unit else ""
        title = self.chart.title + unit
        parts = [f'<text class="t" x="{_LEFT}" y="13">{html.escape(title)}</text>']
        widths = [_KEY + _LETTER * len(name) + _GAP for name in self.chart.traces]
        right, line = self.width - _RIGHT, 0
        beside = _LEFT + 7.4 * len(title) + 12 + sum(widths) <= right
        x = right - sum(widths) if beside else _LEFT - 8
        for index, (name, wide) in enumerate(zip(self.chart.traces, widths, strict=True)):
            if not beside and (line == 0 or x + wide > right):
                x, line = _LEFT - 8, line + 1
            y = 13 + _LINE * line
            parts.append(_stroke(f"M{x + 8:.0f} {y - 3.5}h20", index))
            label = html.escape(name)
            parts.append(f'<text class="l" x="{x + _KEY - 2:.0f}" y="{y}">{label}</text>')
            x += wide
        return "".join(parts), line + 1

    def _limits(self, values: np.ndarray) -> tuple[float, float]:
        if self.chart.limits is not None:
            return self.chart.limits
        finite = values[np.isfinite(values)]
        if not finite.size:
            return -1.0, 1.0
        low, high = float(finite.min()), float(finite.max())
        margin = max(0.08 * (high - low), 1e-3, 0.01 * max(abs(low), abs(high)))
        return low - margin, high + margin


def _stroke(path: str, index: int) -> str:
    colour = _COLOURS[index % len(_COLOURS)]
    dash = _DASHES[index % len(_DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path class="s" d="{path}" stroke="{colour}"{dashed}/>'


def _polyline(xs: np.ndarray, ys: np.ndarray, index: int) -> str:
    """A path through the finite points; a gap where a value is not finite."""
    pieces, pen_down = [], False
    for x, y in zip(xs.tolist(), ys.tolist(), strict=True):
        if math.isfinite(y):
            pieces.append(f"{'L' if pen_down else 'M'}{x:.1f} {y:.1f}")
        pen_down = math.isfinite(y)
    return _stroke("".join(pieces), index) if pieces else ""


def _ticks(low: float, high: float) -> list[float]:
    """Two to five round values between `low` and `high`."""
    rough = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [index * step for index in range(first, last + 1)]


def _tick_text(value: float) -> str:
    text = number_text(value, 10) if abs(value) < 1e4 else f"{value:.3g}"
    return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "\u2212") or "0"
