"""Score how far a judge agrees with itself when it is asked in two ways, in one call."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from attrs import evolve, frozen

from jrh_stats.clusters import cluster_sums
from jrh_stats.estimate import Estimate
from jrh_stats.kappa import clustered_kappa
from jrh_stats.proportion import clustered_proportion


@frozen(kw_only=True)
class Sensitivity:
    """The result of `jss`."""

    jss: Estimate
    """The judge sensitivity score: the share of pairs whose decisions agree."""
    flip_rate: Estimate
    """1 - JSS, with the mirrored interval."""
    kappa: Estimate
    """Cohen's kappa; no value and the flag `degenerate` where both sides always have the same one label."""
    pairs: int
    """Pairs with a decision on both sides."""
    excluded: int
    """Pairs without one."""


def jss(
    decisions_a: Sequence[Hashable],
    decisions_b: Sequence[Hashable],
    items: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Sensitivity:
    """Compute JSS, flip rate and kappa of two lists of decisions, each with an interval by cluster of items.

    JSS = #{i: a_i = b_i} / n over the n pairs with both decisions; its interval is that of `clustered_proportion`,
    kappa's that of `clustered_kappa`. The paper's own interval, a bootstrap over pairs that ignores items, is
    `judgesense_jss`.

    Source: JudgeSense: A Benchmark for Prompt Sensitivity in LLM-as-a-Judge Systems (JSS, flip rate, kappa).

    Args:
        decisions_a: what the judge decided under one prompt: labels of any kind, compared as they are. None and NaN
            are missing decisions: their pairs are left out and counted in `excluded`.
        decisions_b: what it decided under the other prompt, pair by pair.
        items: the item of every pair; pairs of one item are one cluster. None: every pair is its own item, which makes
            intervals too narrow where several pairs are about one text.
        level: coverage of the intervals.
        resamples: bootstrap samples.
        seed: the only source of randomness.

    Raises:
        ValueError: the lists have different lengths.
    """
    size = len(decisions_a)
    named: Sequence[Hashable] = range(size) if items is None else items
    if len(decisions_b) != size or len(named) != size:
        raise ValueError(f"every list needs one entry per pair, got {size}, {len(decisions_b)} and {len(named)}")
    rows = [
        (one, other, item)
        for one, other, item in zip(decisions_a, decisions_b, named, strict=True)
        if not (_is_missing(one) or _is_missing(other))
    ]
    labels = {label: code for code, label in enumerate(dict.fromkeys(label for row in rows for label in row[:2]))}
    places = {item: code for code, item in enumerate(dict.fromkeys(row[2] for row in rows))}
    first = np.array([labels[row[0]] for row in rows], dtype=np.int64)
    second = np.array([labels[row[1]] for row in rows], dtype=np.int64)
    clusters = np.array([places[row[2]] for row in rows], dtype=np.int64)
    sums = cluster_sums(clusters, (first == second).astype(np.float64), np.ones(len(rows)))
    share = clustered_proportion(sums[:, 0], sums[:, 1], level=level, resamples=resamples, seed=seed)
    return Sensitivity(
        jss=share,
        flip_rate=_mirrored(share),
        kappa=clustered_kappa(first, second, clusters, level=level),
        pairs=len(rows),
        excluded=size - len(rows),
    )


def _is_missing(decision: Hashable) -> bool:
    return decision is None or (isinstance(decision, float) and bool(np.isnan(decision)))


def _mirrored(share: Estimate) -> Estimate:
    value, low, high = (None if each is None else 1.0 - each for each in (share.value, share.high, share.low))
    return evolve(share, value=value, low=low, high=high)
