"""What the feedback pages and the class report share: a page that stands alone and runs nothing.

Everything that a student wrote is escaped or sanitised; a content policy in the page refuses
scripts and requests besides.
"""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path

STYLE = Path(__file__).parent / "templates" / "page.css"
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


@functools.cache
def _style() -> str:
    return STYLE.read_text(encoding="utf-8")


def page(title: str, body: str) -> str:
    """A whole HTML page; `title` is plain text, `body` is HTML."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{text(title)}</title>\n<style>\n{_style()}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def text(words: object) -> str:
    """Plain text as HTML; control characters and lone surrogates are left out."""
    kept = "".join(c for c in str(words) if c in "\n\t" or ord(c) >= 32)
    return html.escape(kept.encode("utf-8", "ignore").decode("utf-8"))


def sentence(words: str) -> str:
    """A sentence of a grader as HTML: `names` become code, and *words* are stressed."""
    marked = re.sub(
        r"`([^`\n]+)`|(?<![\w*])\*(\w[^*`\n]*)\*(?![\w*])",
        lambda found: f"<code>{found[1]}</code>" if found[1] else f"<em>{found[2]}</em>",
        text(words),
    )
    return marked.replace("\n", "<br>")


def plain(words: str) -> str:
    """A title without the backticks of Markdown."""
    return words.replace("`", "")


def figure(value: float | None) -> str:
    """Points as they are written: "3", "2.5", or a dash for none yet."""
    return "–" if value is None else f"{round(value, 2):g}"


def grade_class(points: float | None, max_points: float) -> str:
    """The colour of a result: `right`, `part`, `wrong`, or `open` when there is none yet."""
    if points is None:
        return "open"
    if points >= max_points - 1e-9:
        return "right"
    return "part" if points > 0 else "wrong"


def bar(points: float | None, max_points: float) -> str:
    """A bar as wide as the share of the points."""
    share = 0.0 if points is None or not max_points else max(0.0, min(1.0, points / max_points))
    kind = grade_class(points, max_points)
    return f'<span class="bar {kind}"><i style="width:{100 * share:.0f}%"></i></span>'
