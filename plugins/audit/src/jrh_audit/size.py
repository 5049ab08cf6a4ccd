"""Check sample sizes: precision, detectable difference, strata that are too small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.text import count_noun
from jrh_stats import binomial_limits, items_for_proportion, smallest_detectable_difference

from jrh_audit.facts import Facts, Finding
from jrh_audit.options import AuditOptions

DISCORDANT: Final = 0.2
"""Assumed share of items on which two conditions differ, for the minimum detectable difference."""


def small_strata(facts: Facts, options: AuditOptions) -> Iterator[Finding]:
    """Find strata with too few items to interpret on their own."""
    sizes = facts.strata
    # Items without a stratum are a stratum too: left out, the parts would not add up to the set.
    small = {name or "(none)": size for name, size in sizes.items() if size < options.stratum_items}
    # One stratum is the whole set, about which `precision` speaks.
    if len(sizes) > 1 and small:
        listed = ", ".join(f"{name} {size}" for name, size in small.items())
        yield facts.finding(
            kind="small-strata",
            evidence=f"{len(small)} of {count_noun(len(sizes), 'stratum', 'strata')} have fewer than "
            f"{options.stratum_items} items: {listed}",
            consequence="Their intervals span half the scale or more: do not compare these strata.",
            affected=sum(small.values()),
        )


def precision(facts: Facts, options: AuditOptions) -> Iterator[Finding]:
    """Find that there are too few items for the wanted precision; a cluster of items counts once."""
    clusters = facts.clusters
    if half_width(clusters) > options.half_width:
        yield facts.finding(
            kind="few-items",
            evidence=sizes(len(facts), clusters),
            consequence=f"{power_of(clusters)} {size_sentence(options.half_width, clustered=clusters < len(facts))}",
        )


def sizes(items: int, clusters: int) -> str:
    """Write `60 items`, or `60 items in 6 clusters` where items share clusters."""
    text = count_noun(items, "item")
    return f"{text} in {count_noun(clusters, 'cluster')}" if clusters < items else text


def half_width(items: int) -> float:
    """Return half the width of the 95% interval (exact) of a rate of one half."""
    # A rate of one half has the widest interval, so that every other rate is known at least as precisely.
    low, high = binomial_limits(items / 2, items)
    return (high - low) / 2


def size_sentence(half_width: float, *, clustered: bool) -> str:
    """Say how many items, or clusters of items, a wished precision needs."""
    # Two decimals as in the report, but a half-width such as 0.125 is written as the user wrote it.
    shown = f"{half_width:.2f}" if round(half_width, 2) == half_width else f"{half_width:g}"
    return f"±{shown} would need {items_for_proportion(half_width):,} {'clusters' if clustered else 'items'}."


def power_of(items: int) -> str:
    """Say how precise so many items are, and what they can detect."""
    text = f"The 95% interval of a rate near 0.5 is ±{half_width(items):.2f}."
    if items < 2:  # noqa: PLR2004 - a difference needs two
        return f"{text} One item cannot show any difference."
    # A paired difference is -1, 0 or 1; with the share d of items that differ, its standard deviation is at most the
    # root of d.
    effect = min(smallest_detectable_difference(DISCORDANT**0.5, items), 1.0)
    return (
        f"{text} The minimum detectable difference between two conditions is {effect:.2f} (80% power, if they differ "
        f"on {DISCORDANT:.0%} of items)."
    )
