"""What so many items and repeats can show: expected interval, smallest detectable effect, items for a wished precision.

The formulas are those of `jrh_stats`. What cannot be known before a run is assumed: the constants below say what.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen
from jrh_stats import design_effect, items_for_proportion, smallest_detectable_difference, wilson

CORRELATION: Final = 0.5
"""Assumed correlation of the scores of two trials of one item."""
DISCORDANT: Final = 0.2
"""Assumed share of items on which a verdict of a test and one of the reference differ."""
POWER: Final = 0.8
_TWO: Final = 2


@frozen(kw_only=True)
class Precision:
    """What a test can show."""

    items: int
    clusters: int
    trials_per_item: float
    half_width: float
    """Half the width of the interval (Wilson) of a rate of one half, the widest there is."""
    detectable: float | None
    """Smallest difference from the reference condition that is found with 80% power; None with one cluster."""
    items_needed: int
    """Fewest items, or clusters of them, with which the interval reaches no further than the wished half-width."""


def precision(items: int, trials: int, *, wished: float, clusters: int | None = None, level: float = 0.95) -> Precision:
    """Tell what so many items and trials can show.

    Trials of one item count as m / (1 + (m - 1) 0.5) independent ones (`design_effect`). The item's differences from
    the reference have the variance 0.2, divided by that number. Items of one cluster count as one item: how much less
    they say than independent ones is not known before the run, and copies say nothing more.

    Args:
        items: items of the test, 1 or more.
        trials: trials of the test in total, at least as many.
        wished: half-width that an interval should have, between 0 and 0.5.
        clusters: clusters of these items; None: every item is its own.
        level: coverage of the intervals; the test has the error rate 1 - level.

    Raises:
        ValueError: an argument is out of its range.
    """
    each = trials / items
    units = items if clusters is None else clusters
    worth = each / design_effect(each, CORRELATION)
    low, high = wilson(units * worth / 2, units * worth, level=level)
    spread = (DISCORDANT / worth) ** 0.5
    detectable = smallest_detectable_difference(spread, units, alpha=1 - level, power=POWER) if units >= _TWO else None
    return Precision(
        items=items,
        clusters=units,
        trials_per_item=each,
        half_width=float(high - low) / 2,
        detectable=None if detectable is None else min(detectable, 1.0),
        items_needed=items_for_proportion(wished, trials_per_item=each, icc=CORRELATION, level=level),
    )
