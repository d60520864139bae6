"""How far the page is behind: frames that nobody has seen yet are a reason to send no more.

An `ipywidgets.Image` takes whatever is sent, and a slow page or line would queue it. So now and
then a frame carries a number that the page sends back (by a link between two widgets, in the
browser). An answer costs the page a round trip and a redrawn icon, which is felt as unevenness:
one that answers promptly is asked less often. Where nothing ever comes back, as in a page that
makes no such link, frames are only capped.
"""

from __future__ import annotations

ASK_AT_FIRST = 6  # frames before the first question, and between two to a page that is slow
ASK_PROMPT = 12  # frames between two questions to a page that answers promptly
_PROMPT = 0.25  # seconds
_LATE = 0.4  # seconds without an answer: frames are queueing
_PATIENCE = 1.5  # seconds; then a frame goes out all the same, should an answer have been lost


class Pace:
    """Counts what was sent and what was seen."""

    def __init__(self) -> None:
        self._sent, self._next = 0, ASK_AT_FIRST
        self._asked: tuple[int, float] | None = None  # the question without an answer, and when
        self._answers = False
        self._sent_at = 0.0

    def sent(self, now: float) -> int | None:
        """Note that a frame goes out; now and then, the number to be sent back with it."""
        self._sent += 1
        self._sent_at = now
        waiting = self._asked is not None and now - self._asked[1] < _PATIENCE
        if waiting or self._sent < self._next:
            return None
        # Asked again, it is still late since the first question: one frame may try, not a queue.
        self._asked = self._sent, now if self._asked is None else self._asked[1]
        return self._sent

    def seen(self, number: int, now: float) -> None:
        """The page has come to this number."""
        self._answers = True
        if self._asked is None or number != self._asked[0]:
            return
        prompt = now - self._asked[1] < _PROMPT
        self._asked = None
        self._next = number + (ASK_PROMPT if prompt else ASK_AT_FIRST)

    def behind(self, now: float) -> bool:
        """Whether the next frame would only join a queue."""
        late = self._asked is not None and now - self._asked[1] > _LATE
        return self._answers and late and now - self._sent_at < _PATIENCE
