"""Charts of the class report as inline SVG: drawn here, so that the page stands alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from course.pages import figure, text

INK, SOFT, GRID = "#1f2733", "#5b6675", "#e3e8ee"
RIGHT, PART, WRONG, BLUE = "#2e9e66", "#e0a23b", "#d9635a", "#4f81c7"


def _svg(width: int, height: int, label: str, body: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{text(label)}" font-family="system-ui, sans-serif" font-size="12">'
        f"{''.join(body)}</svg>"
    )


def _words(x: float, y: float, words: object, fill: str = SOFT, anchor: str = "start") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}" text-anchor="{anchor}">{text(words)}</text>'
    )


def _box(x: float, y: float, width: float, height: float, fill: str, hint: str) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{max(height, 0):.1f}" '
        f'rx="2" fill="{fill}"><title>{text(hint)}</title></rect>'
    )


def histogram(scores: Sequence[float], most: float) -> str:
    """How many submissions got how many of `most` points, in classes of a round width."""
    width, height, left, bottom, top = 780, 210, 34, 34, 14
    wide = next(w for w in (0.5, 1, 2, 5, 10, 20, 50, 100, most) if most <= 10 * w)
    bins = [0] * max(1, math.ceil(most / wide))
    for score in scores:
        bins[min(len(bins) - 1, max(0, int(score // wide)))] += 1
    peak = max([*bins, 1])
    plot_w, plot_h = width - left - 12, height - bottom - top
    step = plot_w / len(bins)
    body = []
    for tick in _ticks(peak):
        y = top + plot_h * (1 - tick / peak)
        body.append(f'<path d="M{left} {y:.1f}H{width - 12}" stroke="{GRID}"/>')
        body.append(_words(left - 6, y + 4, tick, anchor="end"))
    for i, count in enumerate(bins):
        x, h = left + i * step, plot_h * count / peak
        hint = f"{figure(wide * i)} to {figure(wide * (i + 1))} points: {count}"
        body.append(_box(x + 3, top + plot_h - h, step - 6, h, BLUE, hint))
    for i in range(len(bins) + 1):
        body.append(_words(left + i * step, height - 16, figure(wide * i), anchor="middle"))
    body.append(_words(left + plot_w / 2, height - 2, "points", anchor="middle"))
    return _svg(width, height, "Distribution of the scores", body)


def _ticks(peak: int) -> list[int]:
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 10**9) if peak / s <= 5)
    return list(range(0, peak + 1, step))


def by_exercise(rows: Sequence[tuple[str, int, int, int, float]]) -> str:
    """For each exercise, who got all, some and none of its points.

    Args:
      rows: `(exercise, all, some, none, mean share)`.
    """
    line, left, right, width, top = 26, 216, 64, 780, 22
    plot = width - left - right
    height = top + line * len(rows) + 8
    body = [_words(left + plot + right, 12, "mean", anchor="end")]
    for at, fill, words in ((0, RIGHT, "all points"), (92, PART, "some"), (156, WRONG, "none")):
        body.append(_box(left + at, 3, 10, 10, fill, words))
        body.append(_words(left + at + 15, 12, words))
    for i, (name, full, some, none, mean) in enumerate(rows):
        y, total, x = top + i * line, max(full + some + none, 1), float(left)
        body.append(_words(left - 10, y + 16, name, INK, "end"))
        for count, fill, words in (
            (full, RIGHT, "all points"),
            (some, PART, "some points"),
            (none, WRONG, "no points"),
        ):
            wide = plot * count / total
            if count:
                body.append(_box(x, y + 4, wide - 1.5, line - 9, fill, f"{words}: {count}"))
                if wide > 22:
                    body.append(_words(x + wide / 2, y + 17, count, "#ffffff", "middle"))
            x += wide
        body.append(_words(width, y + 16, f"{100 * mean:.0f} %", INK, "end"))
    return _svg(width, height, "Scores by exercise", body)
