"""How far the page is behind: frames that nobody has seen yet are a reason to send no more.

An `ipywidgets.Image` takes whatever is sent, and a slow page or line would queue it. So every few
frames carry a number that the page sends back (by a link between two widgets, in the browser).
Where nothing ever comes back, as in a page that makes no such link, frames are only capped.
"""

from __future__ import annotations

STAMP_EVERY = 6  # frames
_IN_FLIGHT = 14  # frames that may be on their way: over half a second of them is a queue
_PATIENCE = 1.5  # seconds; then a frame goes out all the same, should an answer have been lost


class Pace:
    """Counts what was sent and what was seen."""

    def __init__(self) -> None:
        self._sent = self._seen = 0
        self._answers = False
        self._sent_at = 0.0

    def sent(self, now: float) -> int | None:
        """Note that a frame goes out; every few frames, the number to be sent back with it."""
        self._sent += 1
        self._sent_at = now
        return self._sent if self._sent % STAMP_EVERY == 0 else None

    def seen(self, number: int) -> None:
        """The page has come to this number."""
        self._answers = True
        self._seen = max(self._seen, min(number, self._sent))

    def behind(self, now: float) -> bool:
        """Whether the next frame would only join a queue."""
        queued = self._sent - self._seen > _IN_FLIGHT
        return self._answers and queued and now - self._sent_at < _PATIENCE
