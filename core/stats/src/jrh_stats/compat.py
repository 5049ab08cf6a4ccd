"""Reproduce what other harnesses report, under their own names, for comparison. Never a default.

None of these intervals respects clusters, and the first is no confidence interval of the rate.
"""

from __future__ import annotations

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike

from jrh_stats.estimate import Estimate, enclose
from jrh_stats.kappa import cohen_kappa
from jrh_stats.score_intervals import t_quantile, z_quantile


def jrh_bootstrap_accuracy(
    hits: ArrayLike, *, size: float = 1.0, repetitions: int = 10, level: float = 0.95, seed: int = 0
) -> Estimate:
    """Compute the accuracy that the Judge Reliability Harness reports: the mean of bootstrap means, -+ t sem.

    `repetitions` samples of int(size * n) rows are drawn with replacement; the value is the mean of their accuracies,
    the interval that of the mean of these means. Its width falls with the number of repetitions and not with that of
    the items: it shows how well the bootstrap was averaged, not how well the judge is known.

    Source: RAND's judge-reliability-harness, src/reliability_tests/eval_metrics.py; its random numbers are others.

    Args:
        hits: 1 where the verdict is the expected one, else 0, shape (n,).
        size: rows drawn as a share of n.
        repetitions: number of samples.
        level: coverage that the interval claims.
        seed: the only source of randomness.

    Returns:
        The estimate, method `spread-of-bootstrap-means`; no interval from one repetition; flag `empty` where nothing is
        drawn.

    Raises:
        ValueError: a hit is not 0 or 1, or there is no repetition.
    """
    z_quantile(level)
    right = np.asarray(hits, dtype=np.float64)
    if right.ndim != 1 or not np.all(np.isin(right, (0.0, 1.0))) or repetitions < 1:
        raise ValueError("hits must be 0 or 1, one per row, with at least one repetition")
    n = len(right)
    drawn = int(size * n)
    if not drawn:
        return Estimate(value=None, flags=("empty",))
    # Rows drawn with replacement: how many of them are hits is binomial.
    scores = np.random.default_rng(seed).binomial(drawn, right.mean(), size=repetitions) / drawn
    value = float(scores.mean())
    if repetitions == 1:
        return Estimate(value=value, n=n, clusters=n, flags=("no-interval",))
    reach = t_quantile(level, repetitions - 1) * float(scores.std(ddof=1) / np.sqrt(repetitions))
    return enclose(value, value - reach, value + reach, method="spread-of-bootstrap-means", n=n, clusters=n)


def judgesense_jss(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95, resamples: int = 1000, seed: int = 42
) -> Estimate:
    """Compute JudgeSense's judge sensitivity score: the share of equal pairs, with a percentile bootstrap over pairs.

    Source: rohithreddybc/judgeSense, src/metrics.py; its random numbers are others.

    Args:
        first: label codes, shape (n,).
        second: label codes of the other prompt, shape (n,).
        level: coverage that the interval claims.
        resamples: bootstrap samples of pairs.
        seed: the only source of randomness.

    Returns:
        The estimate, method `pair-bootstrap-percentile`; flag `empty` without pairs. Where all pairs agree the interval
        is a single point, as theirs is.

    Raises:
        ValueError: the shapes differ.
    """
    z_quantile(level)
    labels, other_labels = np.asarray(first), np.asarray(second)
    if labels.shape != other_labels.shape or labels.ndim != 1:
        raise ValueError(f"both sides must be two arrays of equal length, got {labels.shape} and {other_labels.shape}")
    n = len(labels)
    if not n:
        return Estimate(value=None, flags=("empty",))
    value = float((labels == other_labels).mean())
    # Likewise the pairs that agree.
    means = np.random.default_rng(seed).binomial(n, value, size=resamples) / n
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return enclose(value, float(low), float(high), method="pair-bootstrap-percentile", n=n, clusters=n)


def judgesense_kappa(first: ArrayLike, second: ArrayLike) -> Estimate:
    """Compute JudgeSense's kappa: Cohen's, but 1 where both sides always give the same one label.

    Arguments and errors as `cohen_kappa`.

    Returns:
        The value without an interval; flag `degenerate` where Cohen's kappa is not defined and theirs says 1.
    """
    kappa = cohen_kappa(first, second)
    if "degenerate" in kappa.flags:
        return evolve(kappa, value=1.0)
    return kappa
