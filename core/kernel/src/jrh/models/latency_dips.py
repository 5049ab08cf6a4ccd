"""Find out whether a provider answers faster with fewer calls in flight, by short dips.

By Little's law the mean latency is the number in flight divided by the answers a second. A provider that queues calls
beyond some number gives as many answers a second with a fifth fewer in flight; one without a limit, a fifth fewer.
Answers are counted over whole rounds: the latencies of those that come first would be the short ones.
"""

from __future__ import annotations

import math
from typing import Final

from attrs import define

SHALLOW: Final = 0.8
DEEP: Final = 0.64
"""Share of the limit in flight during a dip: usually, and after one that was faster."""
GAIN: Final = {SHALLOW: 0.6, DEEP: 0.85}
"""Least gain in latency that lowers the limit, as a share of that of a provider that queues every further call."""
MOST_ROUNDS: Final = 4
"""Rounds of a dip that seems faster and is not certain."""
SURE: Final = 2.5
"""Standard errors of the gain that lower the limit."""
FEWEST: Final = 17.0
"""Calls in flight below which there are no dips."""
LEAST: Final = 16.0
"""Answers of a comparison, at least."""
SHORTEST: Final = 0.05
"""Seconds of an answer below which the cost of this process is what grows with the calls in flight."""
FIRST_REST: Final = 4.0
CONGESTED_REST: Final = 16.0
LONGEST_REST: Final = 64.0
"""Rounds of answers between two dips: at first, at most where the provider was found to queue, and elsewhere."""
# Constant latencies would have the standard error 0, and any difference of theirs would be certain.
_LEAST_SPREAD: Final = 0.05


@define
class _Window:
    """Whole rounds of answers with so many calls in flight."""

    in_flight: float
    begun: float
    n: int = 0
    seconds: float = 0.0
    rounds: int = 1
    _mean: float = 0.0
    _squares: float = 0.0

    def add(self, latency: float, now: float) -> bool:
        """Count an answer; tell whether the window is full."""
        # Logarithms, because latencies have a long tail that would decide a mean.
        value = math.log(max(latency, 1e-6))
        self.n += 1
        # Welford: mean and sum of squares in one pass.
        step = value - self._mean
        self._mean += step / self.n
        self._squares += step * (value - self._mean)
        self.seconds = now - self.begun
        # Whole rounds, and at least `LEAST` answers: within a round, those that come first are the fast ones.
        return self.n >= self.rounds * self.in_flight * math.ceil(LEAST / self.in_flight)

    @property
    def latency(self) -> float:
        """Return the logarithm of the mean latency."""
        return math.log(self.in_flight * max(self.seconds, 1e-6) / self.n)

    @property
    def variance(self) -> float:
        """Return the variance of `latency`."""
        return max(self._squares / max(self.n - 1, 1), _LEAST_SPREAD**2) / self.n


@define
class LatencyDips:
    """Decides when to dip, compares latencies, and says when the limit is to be lowered.

    A rest at the full limit, a dip, and, if the dip was faster, a second look at the full limit: what merely changed in
    the meantime must not pass for a gain.
    """

    _pause: float = FIRST_REST
    _rounds: float = 0.0
    """Rounds of answers since the last dip."""
    _queues: bool = False
    """The provider was found to queue calls."""
    _depth: float = SHALLOW
    _target: float | None = None
    """Calls in flight of the dip, while there is one."""
    _congested: bool = False
    """The dip follows one that was faster."""
    _confirming: bool = False
    _settled: float | None = None
    """When the number in flight reached the level of the dip, or the full limit again."""
    _window: _Window | None = None
    _before: _Window | None = None
    _during: _Window | None = None

    @property
    def under_way(self) -> bool:
        """Tell whether the number in flight is being compared, and must not change otherwise."""
        return self._target is not None

    def effective_limit(self, limit: float) -> float:
        """Return the limit that holds now."""
        return limit if self._target is None or self._confirming else min(limit, self._target)

    def cancel(self) -> None:
        """Give up a dip: something else limits the calls."""
        self._start_rest(self._pause)

    def note(self, since: float, latency: float, limit: float, in_flight: int, now: float) -> float | None:
        """Note an answer while calls wait for a place; return the limit to go down to, or None.

        Args:
            since: when the call was sent.
            latency: seconds until the answer.
            limit: the limit without dips.
            in_flight: the calls that are still in flight.
            now: in seconds, of any clock.
        """
        if self._target is None:
            if limit < FEWEST:
                return None
            # An answer is this share of a round: rests are counted in rounds, so that they scale with the limit.
            self._rounds += 1.0 / limit
            if self._rounds >= self._pause:
                self._watch_rest(latency, limit, now)
        elif self._window is None:
            self._await_level(since, limit, in_flight, now)
        elif self._window.add(latency, now):
            return self._decide() if self._confirming else self._end_dip()
        return None

    def _await_level(self, since: float, limit: float, in_flight: int, now: float) -> None:
        """Begin to measure with the first answer to a call sent at the level of the dip, or at the full limit again."""
        level = limit if self._confirming else self._target or limit
        if self._settled is None:
            reached = in_flight >= level - 2.0 if self._confirming else in_flight <= level
            self._settled = now if reached else None
        elif since >= self._settled:
            self._window, self._settled = _Window(float(int(level)), now), None

    def _watch_rest(self, latency: float, limit: float, now: float) -> None:
        """Measure a round at the full limit, and begin a dip."""
        if self._window is None:
            self._window = _Window(float(int(limit)), now)
        elif self._window.add(latency, now):
            # Of answers so fast, what grows with the calls in flight is the work of this process.
            if self._window.latency < math.log(SHORTEST):
                self._start_rest(LONGEST_REST)
                return
            self._before, self._window, self._target = self._window, None, self._depth * limit

    def _end_dip(self) -> float | None:
        """Look a second time at the full limit if the dip was faster; return the limit to go down to, or None."""
        self._during, self._window = self._window, None
        if self._unsure(self._during):
            self._window = self._during
        elif self._faster(self._before):
            if self._congested:
                return self._go_on()
            self._confirming = True
        # A deep dip may be slower where a shallow one is still faster: try that before a rest.
        elif self._depth == DEEP:
            assert self._before is not None
            self._depth = SHALLOW
            self._target = SHALLOW * self._before.in_flight
        else:
            self._start_rest(min(2.0 * self._pause, CONGESTED_REST if self._queues else LONGEST_REST))
        return None

    def _decide(self) -> float | None:
        """Lower the limit if the dip was faster than both times at the full limit."""
        if self._faster(self._window):
            return self._go_on()
        self._start_rest(self._pause)
        return None

    def _go_on(self) -> float | None:
        """Return the level of the dip as the limit to go down to, and dip from there at once."""
        lower = self._target
        assert self._during is not None
        before = self._during
        self._start_rest(FIRST_REST)
        self._queues = True
        self._before, self._congested, self._depth = before, True, DEEP
        # A provider that queues may take far fewer calls: dips are deep from here on, until one is not faster.
        self._target = DEEP * before.in_flight if before.in_flight * DEEP >= 1.0 else None
        return lower

    def _start_rest(self, rounds: float) -> None:
        self._pause, self._rounds, self._depth = rounds, 0.0, SHALLOW
        self._confirming = self._congested = False
        self._target = self._settled = self._window = self._before = self._during = None

    def _faster(self, full: _Window | None) -> bool:
        """Tell whether the dip's answers were faster, by much and with certainty."""
        gain, error = self._gain(full)
        return gain > max(self._least_gain, SURE * error)

    def _unsure(self, during: _Window | None) -> bool:
        """Ask for another round of the dip where it may show that the dip is faster."""
        gain, error = self._gain(self._before)
        if during is None or not self._least_gain < gain <= SURE * error or during.rounds == MOST_ROUNDS:
            return False
        during.rounds += 1
        return True

    @property
    def _least_gain(self) -> float:
        # A provider that queues gives as many answers a second at a share d of the calls: its latency falls by -log(d).
        return -GAIN[self._depth] * math.log(self._depth)

    def _gain(self, full: _Window | None) -> tuple[float, float]:
        """Return by how much the dip's answers were faster, as a logarithm, and the standard error."""
        if full is None or self._during is None:
            return 0.0, 1.0
        return full.latency - self._during.latency, math.sqrt(full.variance + self._during.variance)
