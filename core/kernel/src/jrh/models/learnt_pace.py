"""Learn from 429s with a Retry-After how many requests a provider takes in a second."""

from __future__ import annotations

from typing import Final

SLACK: Final = 0.1
"""Seconds by which sending may lag behind the pace and catch up."""
BELOW: Final = 0.98
"""The pace after a complaint, as a share of what was accepted."""
GROWTH: Final = 0.03
"""Growth of the pace for every cycle without a complaint."""
FORGOTTEN: Final = 2.0
"""Multiple of what was accepted at which the pace is given up."""
SHORTEST: Final = 0.2
"""Seconds of a cycle that measures better than what is known."""
TOO_FAST: Final = 0.95
"""Factor of the pace after a complaint that follows sooner."""


class LearntPace:
    """Requests per second that were accepted between two complaints; None until two were seen.

    A cycle ends with the first request after a complaint: by then all complaints of the same group are counted.
    """

    def __init__(self) -> None:
        """Start without a pace."""
        self.rate: float | None = None
        self._seen = False
        self._cycle = 1.0
        self._begun: float | None = None
        self._accepted = 0
        self._ending = False
        self._next = 0.0

    @property
    def known(self) -> bool:
        """Tell whether a pace is known, or is about to be."""
        return self.rate is not None or self._ending

    def reserve(self, now: float) -> float:
        """Return how many seconds to wait before the next request."""
        if self._ending:
            self._end_cycle(now)
        if self.rate is None or self._begun is None:
            return 0.0
        due = max(self._next, now - SLACK)
        self._next = due + 1.0 / (self.rate * self._share(now))
        return max(0.0, due - now)

    def expired(self, now: float) -> bool:
        """Give up a pace that has grown without a complaint; tell whether that happened now."""
        if self.rate is None or self._share(now) <= FORGOTTEN:
            return False
        self.rate = None
        return True

    def _share(self, now: float) -> float:
        return BELOW + GROWTH * (now - (self._begun or now)) / self._cycle

    def note_sent(self, now: float) -> None:
        """Count a request."""
        self._accepted += 1
        if self._begun is None:
            self._begun = now

    def note_refused(self) -> None:
        """Count a request as not accepted."""
        self._accepted -= 1

    def slow_down(self) -> None:
        """Set the pace anew once all complaints are in."""
        self._ending = True

    def _end_cycle(self, now: float) -> None:
        self._ending = False
        seconds = now - (self._begun if self._begun is not None else now)
        if self.rate is not None and seconds < SHORTEST:
            self.rate *= TOO_FAST
            return
        # What was accepted before the first complaint includes what the provider had saved up.
        self.rate = max(self._accepted, 1) / max(seconds, 1e-3) if self._seen else None
        self._seen = True
        self._cycle = max(seconds, 1.0)
        self._begun, self._accepted = now, 0
