"""Find the one-sided limits that decide a rule, and the error rates they have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from attrs import frozen
from jrh import Measure

from jrh_measuring import Look, first_level

Measured: TypeAlias = Callable[[Sequence[float]], Mapping[float, tuple[Measure, ...]]]
"""Computes all measures with one-sided limits, by error rate."""
_Key: TypeAlias = tuple[str, str, str, str, tuple[tuple[str, str], ...]]


@frozen(kw_only=True)
class Limits:
    """What decides a rule at one place."""

    hold: Measure
    """With limits of the error rate `hold_error`; the near one has to meet the threshold."""
    fail: Measure
    """With limits of the error rate `fail_error`; the far one has to miss the threshold."""
    hold_error: float
    """Probability at most of holding by mistake."""
    fail_error: float
    """Probability at most of failing by mistake at this place."""
    places: int = 1
    """Places of the rule, which share the error rate of failing."""
    look: int = 0
    """Number of the look that the error rates are for; 0: not known."""


@frozen(kw_only=True)
class LimitTable:
    """The limits of all measures at the error rates of the rules."""

    error: float
    """Error rate of a rule in this look, for holding and for failing."""
    measures: Mapping[float, Mapping[_Key, Measure]]
    look: int = 0
    """Number of the look."""

    @classmethod
    def of(cls, level: float, look: Look, places: Iterable[int], measured: Measured) -> LimitTable:
        """Compute the limits that rules with these numbers of places need."""
        error = (1 - level) / 2 * look.share
        # Every error rate that some rule needs, each computed once: measures with limits are the slow part.
        tables = measured(sorted({error, *(first_level(error, number) for number in places)}))
        return cls(
            error=error,
            measures={rate: {_key(measure): measure for measure in some} for rate, some in tables.items()},
            look=look.number,
        )

    def limits(self, measure: Measure, places: int) -> Limits | None:
        """Return the limits of a measure of a rule with so many places; None if its metric is not installed."""
        # A rule fails if it fails at one place, so its places share that error; to hold it has to hold at all of them.
        strict = first_level(self.error, places)
        hold, fail = (self.measures[rate].get(_key(measure)) for rate in (self.error, strict))
        if hold is None or fail is None:
            return None
        return Limits(hold=hold, fail=fail, hold_error=self.error, fail_error=strict, places=places, look=self.look)


def _key(measure: Measure) -> _Key:
    return measure.name, measure.judge, measure.task, measure.test, tuple(sorted(measure.cell.items()))
