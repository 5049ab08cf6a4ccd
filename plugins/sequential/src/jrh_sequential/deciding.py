"""What the looks at a run decide: by the same code for the allocator, which acts on it, and for the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log

import numpy as np
from attrs import frozen
from jrh_measuring import Floats
from jrh_measuring.gating.deciding import Outcome

from jrh_sequential.betting import log_capital, lower_limit
from jrh_sequential.options import RaceOptions, StopOptions, Target, read_target
from jrh_sequential.totals import Totals, TrialsInOrder


@frozen(eq=False)
class ConfidenceSequence:
    """The scores of one judge on one share, and the limits of its mean that hold at every look."""

    judge: str
    task: str | None
    """None: all tasks together."""
    target: Target
    totals: Totals
    alpha: float
    """Chance that either limit is ever wrong."""

    def limits(self) -> tuple[float, float]:
        """Return the limits, missing verdicts counted against each of them."""
        low, high = (lower_limit(*self._side(above=above), self.alpha / 2) for above in (True, False))
        return low, 1 - high

    def outcome(self) -> Outcome:
        """Return on which side of its threshold the mean is."""
        for above in (True, False):
            sums, sizes, threshold = self._side(above=above)
            capital = log_capital(sums, sizes, threshold, threshold, self.alpha / 2)
            if capital.max(initial=0.0) >= log(2 / self.alpha):
                return Outcome.HOLDS if above == self.target.rule.operator.upwards else Outcome.FAILS
        return Outcome.UNDECIDED

    def _side(self, *, above: bool) -> tuple[Floats, Floats, float]:
        """Return sums, sizes and the threshold of bets that the mean is above it, or the same of 1 less every score."""
        there = self.totals.sizes > 0
        sizes, threshold = self.totals.sizes[there], self.target.rule.threshold
        if above:
            return self.totals.low[there], sizes, threshold
        return sizes - self.totals.high[there], sizes, 1 - threshold


def follow_rules(options: StopOptions, known: Mapping[str, str], trials: TrialsInOrder) -> Iterator[ConfidenceSequence]:
    """Yield every rule for every judge and task that it is about, at equal shares of the error rate."""
    # Judges that were stopped count as well: the share of a rule must not change from look to look.
    alpha = options.alpha / max(len(options.when) * len(trials.judges) * len(trials.tasks), 1)
    for target in (read_target(text, known) for text in options.when):
        for task in (name for name in trials.tasks if target.rule.task in (None, name)):
            for judge in (name for name in trials.judges if target.rule.judge in (None, name)):
                # A judge that is not for the task has nothing to be decided there.
                if trials.count_items(judge, task):
                    yield ConfidenceSequence(judge, task, target, trials.totals(target, judge, task), alpha)


def follow_race(
    options: RaceOptions, known: Mapping[str, str], trials: TrialsInOrder
) -> Mapping[str, ConfidenceSequence]:
    """Return the judges of a race; all their limits hold together, so also those of whichever judge wins."""
    target = options.target(known)
    alpha = options.alpha / max(len(trials.judges), 1)
    totals = {judge: trials.totals(target, judge, target.rule.task) for judge in trials.judges}
    return {judge: ConfidenceSequence(judge, target.rule.task, target, own, alpha) for judge, own in totals.items()}


def better_judges(race: Mapping[str, ConfidenceSequence], alpha: float) -> Mapping[str, str]:
    """Return the judges that are worse than another -> the first that is better, on the items of both.

    Args:
        race: the judges.
        alpha: chance of finding any judge worse than one that is not better, ever.
    """
    worse: dict[str, str] = {}
    needed = log(len(race) * (len(race) - 1) / alpha) if len(race) > 1 else 0.0
    for name, first in race.items():
        for other, second in race.items():
            if name != other and name not in worse:
                sums, sizes = _advantage(second.totals, first.totals)
                if log_capital(sums, sizes, 0.5, 0.5, np.exp(-needed)).max(initial=0.0) >= needed:
                    worse[name] = other
    return worse


def _advantage(one: Totals, other: Totals) -> tuple[Floats, Floats]:
    """Return by how much one judge scores more than another, of all trials, brought from [-1, 1] to [0, 1]."""
    both = (one.sizes > 0) & (other.sizes > 0)
    sizes = np.maximum(one.sizes, other.sizes)[both]
    # A missing verdict counts against the claim on either side: it is no score.
    return (one.low[both] - other.high[both] + sizes) / 2, sizes
