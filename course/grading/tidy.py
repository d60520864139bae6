"""Text that is the same on every machine and every time: no addresses, no absolute paths."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")
_PATH = re.compile(r"(?<![\w.:/])/(?:[\w.+-]+/)+[\w.+-]+")


def without_addresses(text: str) -> str:
    """The text with the addresses of objects in memory left out."""
    return _ADDRESS.sub("0x…", text)


def without_paths(text: str) -> str:
    """The text with absolute paths cut to the file's name."""
    return _PATH.sub(lambda found: found[0].rsplit("/", 1)[1], text)


def tidy(text: str) -> str:
    """The text without addresses and paths."""
    return without_paths(without_addresses(text))
