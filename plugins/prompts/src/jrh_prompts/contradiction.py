"""What polarity does to agreement: corrected less raw JSS, and the finding that a judge contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from jrh import Measure
from jrh_measuring import FINDING, MeasureBuilder, Pairs
from jrh_stats import cluster_sums, clustered_mean, opposition_test

_CHANCE: Final = 0.01
"""Probability of a false finding about one judge in one test."""


def correction(builder: MeasureBuilder, corrected: Pairs, raw: Pairs) -> Iterator[Measure]:
    """Yield `jss-correction`, the mean of corrected less raw agreement over pairs; nothing where all are equal."""
    both = corrected.usable & raw.usable
    change = np.where(both, corrected.scores - raw.scores, 0.0)
    if not change.any():
        return
    sums = cluster_sums(corrected.answers.clusters, change.sum(axis=1), both.sum(axis=1).astype(np.float64))
    sums = sums[sums[:, 1] > 0]
    found = clustered_mean(sums[:, 0], sums[:, 1], bounds=(-1.0, 1.0), level=builder.context.level)
    yield builder.measure(
        "jss-correction",
        corrected.answers.cell,
        found,
        rows=corrected.rows,
        usable=corrected.told,
        unit="difference",
        note="corrected minus raw JSS: the effect of template polarity",
    )


def negative_kappa(builder: MeasureBuilder, pairs: Pairs) -> Iterator[Measure]:
    """Yield a finding where kappa between templates is below 0 with one-sided error probability 0.01.

    The limit of kappa is too low in 2 to 6% of small samples. So answers that are dealt again have to say the same.
    """
    found = pairs.kappa(level=1 - 2 * _CHANCE)
    if found.value is None or found.high is None or found.high >= 0:
        return
    answers = pairs.answers
    shares = answers.counts / np.maximum(answers.answered, 1)[:, :, None]
    test = opposition_test(
        shares,
        np.stack([pairs.first, pairs.second], axis=1),
        answers.clusters,
        usable=pairs.usable,
        seed=builder.seed(answers.cell),
    )
    if test.p is None or test.p > _CHANCE:
        return
    note = (
        f"the verdicts contradict each other between templates: kappa is {found.value:.2f}, and below 0 with "
        f"{1 - _CHANCE:.0%} confidence. Chance alone gives more agreement. Templates of undeclared polarity do that: "
        "look at the agreement of each template pair"
    )
    yield builder.measure(
        "negative-kappa",
        pairs.answers.cell,
        found,
        rows=pairs.rows,
        usable=pairs.told,
        unit="coefficient",
        flags=(FINDING,),
        note=note,
    )
