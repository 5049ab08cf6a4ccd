"""What so many items and repeats can show: expected interval, smallest change, power to find an effect.

The formulas are those of `jrh_stats`. What cannot be known before a run is assumed, or measured in a pilot run.
"""

from __future__ import annotations

from typing import Final

from attrs import field, frozen
from attrs.validators import ge, gt, le, lt
from jrh_stats import (
    binomial_limits,
    design_effect,
    excess_power,
    items_for_excess_power,
    items_for_proportion,
    smallest_change,
)

POWER: Final = 0.8
_MOST_ASKINGS: Final = 10
_MORE_ASKINGS: Final = (2, 3, 5, _MOST_ASKINGS)


@frozen(kw_only=True)
class Assumptions:
    """What a plan takes for granted about judges and tests."""

    noise: float = field(default=0.1, validator=[ge(0), le(0.5)])
    """Probability that two askings of one question get different verdicts."""
    discordance: float = field(default=0.2, validator=[ge(0), le(1)])
    """Share of items whose settled verdict a test changes, in either direction; the spread of a change of accuracy."""
    effect: float = field(default=0.1, validator=[gt(0), le(1)])
    """Share of items whose settled verdict a test changes: the effect to find."""
    missing: float = field(default=0.0, validator=[ge(0), lt(1)])
    """Share of trials that return no verdict."""

    @property
    def correlation(self) -> float:
        """Return the correlation of two trials of one item at a rate of one half: 1 - 2 noise."""
        return 1 - 2 * self.noise


@frozen(kw_only=True)
class Precision:
    """What a test can show."""

    trials_per_item: float
    half_width: float
    """Half the width of the interval (Wilson) of a rate of one half, the widest there is."""
    detectable: float | None
    """Smallest change of accuracy from the reference that is found with 80% power; None if none is."""
    items_needed: int
    """Fewest items, or clusters of them, with which the interval reaches no further than the wished half-width."""
    power: float | None
    """Probability to say that the test moves verdicts if it changes `effect` of them; None if the reference is asked
    once: then nothing tells a change from noise."""
    enough_items: int | None
    """Items, or clusters, that give this power 80%; None if it has it, or no number up to 100,000 does."""
    enough_askings: int | None
    """Askings of every question, reference and test, that give this power 80% with today's items; None as above."""


def precision(
    items: int,
    trials: int,
    *,
    wished: float,
    clusters: int | None = None,
    level: float = 0.95,
    reference: int = 2,
    tests: int = 1,
    assumptions: Assumptions = Assumptions(),
) -> Precision:
    """Tell what so many items and trials can show.

    Trials of one item count as m / (1 + (m - 1) r) independent ones (`design_effect`), r the assumed correlation. Items
    of one cluster count as one item: how much less they say than independent ones is not known before the run, and
    copies say nothing more. Variants of an item count as further askings.

    Args:
        items: items of the test, 1 or more.
        trials: trials of the test in total, at least as many.
        wished: half-width that an interval should have, between 0 and 0.5.
        clusters: clusters of these items; None: every item is its own.
        level: coverage of the intervals.
        reference: askings of an item under the reference.
        tests: tests of the page, all judges together, that share the error rate 1 - level (Bonferroni).
        assumptions: what is taken for granted.

    Raises:
        ValueError: an argument is out of its range.
    """
    per_item = trials / items
    units = items if clusters is None else clusters
    # Trials without a verdict say nothing: they are planned as fewer items.
    answered = max(int(units * (1 - assumptions.missing)), 1)
    worth = per_item / design_effect(per_item, assumptions.correlation)
    # At a rate of one half, where the interval is widest.
    low, high = binomial_limits(answered * worth / 2, answered * worth, alpha=(1 - level) / 2)
    # Bonferroni, which Holm's procedure of a report is never stricter than.
    alpha = (1 - level) / max(tests, 1)
    askings = min(max(round(per_item), 1), _MOST_ASKINGS)
    needed = items_for_proportion(wished, trials_per_item=per_item, icc=assumptions.correlation, level=level)
    detectable = None
    if answered > 1:
        detectable = smallest_change(
            answered,
            discordant=assumptions.discordance,
            noise=assumptions.noise,
            reference=reference,
            askings=per_item,
            alpha=alpha,
            power=POWER,
        )
    reference_askings = min(reference, _MOST_ASKINGS)
    noise = assumptions.noise

    def power_of(more: int) -> float:
        """Return the power if every question is asked so often at least."""
        most = max(reference_askings, more), max(askings, more)
        return excess_power(assumptions.effect, answered, noise=noise, reference=most[0], askings=most[1], alpha=alpha)

    # Asked once, nothing tells a change of the judge's mind from a change by the test.
    power = power_of(0) if reference > 1 else None
    items_short = askings_short = None
    if power is not None and power < POWER:
        items_short = items_for_excess_power(
            assumptions.effect, reference=reference_askings, askings=askings, noise=noise, alpha=alpha, power=POWER
        )
        more = (number for number in _MORE_ASKINGS if number > askings and power_of(number) >= POWER)
        askings_short = next(more, None)
    return Precision(
        trials_per_item=per_item,
        half_width=float(high - low) / 2,
        detectable=detectable,
        items_needed=_with_missing(needed, assumptions),
        power=power,
        enough_items=None if items_short is None else _with_missing(items_short, assumptions),
        enough_askings=askings_short,
    )


def _with_missing(number: int, assumptions: Assumptions) -> int:
    return -int(-number // (1 - assumptions.missing))
