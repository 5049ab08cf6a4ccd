"""Estimate prevalence, corrected for the errors of the judge."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import evolve
from numpy.typing import ArrayLike, NDArray

from jrh_stats.degrees import effective_degrees, few_events
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import t_quantile, z_quantile

_FITTED: Final = 2
"""A mean and a weight are fitted."""
_NOISE: Final = 1e-12
"""Variances below this are rounding."""


def rogan_gladen(
    positives: float,
    n: float,
    *,
    true_negatives: float,
    negatives: float,
    true_positives: float,
    labelled_positives: float,
    level: float = 0.95,
) -> Estimate:
    """Estimate the true share of positives from a judge's verdicts and its errors on labelled items.

    With p the share the judge calls positive, q0 its specificity and q1 its sensitivity:

        prevalence = (p + q0 - 1) / (q0 + q1 - 1), cut to [0, 1]

    The interval is that of Lang and Reiczigel: p, q0 and q1 are replaced by p' (z^2 / 2 successes more in z^2 more
    trials) and q' (one success more in two more trials), and with j = q0' + q1' - 1

        estimate' + d +- z / j * sqrt(p'(1-p')/n' + (1-e')^2 q0'(1-q0')/m0' + e'^2 q1'(1-q1')/m1'),
        d = 2 z^2 (e' q1'(1-q1')/m1' - (1-e') q0'(1-q0')/m0').

    Source: Rogan and Gladen (1978), American J. Epidemiology 107:71-76; interval: Lang and Reiczigel (2014), Preventive
    Veterinary Medicine 113:13-22 (not consulted). The labelled items have to be judged under the same condition as the
    others, and not to be among them.

    Args:
        positives: verdicts that are positive.
        n: verdicts, one per item. For items with several verdicts see `rogan_gladen_of_shares`.
        true_negatives: labelled negatives that the judge calls negative.
        negatives: labelled negatives.
        true_positives: labelled positives that the judge calls positive.
        labelled_positives: labelled positives.
        level: coverage.

    Returns:
        The estimate, method `lang-reiczigel`; `n` counts the verdicts. Flag `empty` where one of the three samples is
        empty; `degenerate` and no value where the judge is no better than chance, q0 + q1 <= 1; `cut` where the
        estimate was outside [0, 1]; `conservative` where an end was: the interval is then wider than it has to be.

    Raises:
        ValueError: there are more successes than trials, or the level is not between 0 and 1.
    """
    z = z_quantile(level)
    for hits, trials in ((positives, n), (true_negatives, negatives), (true_positives, labelled_positives)):
        if not 0 <= hits <= trials:
            raise ValueError("successes must be between 0 and the number of trials")
    if not (n and negatives and labelled_positives):
        return Estimate(value=None, flags=("empty",), n=n)
    youden = true_negatives / negatives + true_positives / labelled_positives - 1
    # Rounding must not turn a judge that is no better than chance into an estimate of millions.
    if youden <= 1e-9:  # noqa: PLR2004
        return Estimate(value=None, flags=("degenerate",), n=n, clusters=round(n))
    raw = (positives / n + true_negatives / negatives - 1) / youden
    low, high = _lang_reiczigel((positives, n), (true_negatives, negatives), (true_positives, labelled_positives), z)
    value = min(max(raw, 0.0), 1.0)
    flags = (*(("cut",) if value != raw else ()), *(("conservative",) if low < 0 or high > 1 else ()))
    return enclose(value, max(low, 0.0), min(high, 1.0), method="lang-reiczigel", n=n, clusters=round(n), flags=flags)


def _lang_reiczigel(
    verdicts: tuple[float, float], specific: tuple[float, float], sensitive: tuple[float, float], z: float
) -> tuple[float, float]:
    # Lang and Reiczigel add z^2 verdicts, half of them positive, and two labelled items on either side.
    n = verdicts[1] + z * z
    p = (verdicts[0] + z * z / 2) / n
    m0, m1 = specific[1] + 2, sensitive[1] + 2
    q0, q1 = (specific[0] + 1) / m0, (sensitive[0] + 1) / m1
    youden = q0 + q1 - 1
    # The smoothed judge is no better than chance, though the observed one is: nothing is excluded.
    if youden <= 0:
        return 0.0, 1.0
    e = (p + q0 - 1) / youden
    v0, v1 = q0 * (1 - q0) / m0, q1 * (1 - q1) / m1
    centre = e + 2 * z * z * (e * v1 - (1 - e) * v0)
    half = z / youden * float(np.sqrt(p * (1 - p) / n + (1 - e) ** 2 * v0 + e * e * v1))
    return centre - half, centre + half


def rogan_gladen_of_shares(
    unlabelled: ArrayLike, negatives: ArrayLike, positives: ArrayLike, *, level: float = 0.95
) -> Estimate:
    """Estimate the true share of positives by `rogan_gladen`, from the shares of positive verdicts of clusters.

    A share of several verdicts varies less than one verdict, and a binomial formula fed with shares counts it as one.
    Each of the three samples therefore enters with its effective number of verdicts, p (1 - p) / v with v the variance
    of its mean (divisor K): exactly the number of clusters where every cluster says one thing, more where verdicts on
    the same cluster differ.

    Source: effective sample size: Korn and Graubard (1998), Survey Methodology 24:193-201.

    Args:
        unlabelled: share of positive verdicts of every cluster without a label, shape (K,).
        negatives: the same, of the clusters labelled negative.
        positives: of those labelled positive.
        level: coverage.

    Returns:
        The estimate as by `rogan_gladen`; `n` and `clusters` count the clusters without a label. Further flag:
        `few-events` where fewer than 30 clusters are labelled negative, or positive, or so few of them are judged
        wrong that specificity or sensitivity is hardly known.

    Raises:
        ValueError: a share is outside [0, 1], or the level is not between 0 and 1.
    """
    samples = [np.sort(np.asarray(part, dtype=np.float64)) for part in (unlabelled, negatives, positives)]
    if any(len(part) and (part[0] < 0 or part[-1] > 1) for part in samples):
        raise ValueError("shares must be between 0 and 1")
    (p, n), (q0, m0), (q1, m1) = (_effective(part) for part in samples)
    estimate = rogan_gladen(
        p * n,
        n,
        true_negatives=(1 - q0) * m0,
        negatives=m0,
        true_positives=q1 * m1,
        labelled_positives=m1,
        level=level,
    )
    few = [flag for part in samples[1:] for flag in few_events(effective_degrees(part), len(part))]
    flags = estimate.flags if estimate.value is None else (*estimate.flags, *dict.fromkeys(few))
    return evolve(estimate, n=float(len(samples[0])), clusters=len(samples[0]), flags=flags)


def _effective(shares: NDArray[np.float64]) -> tuple[float, float]:
    """Return the mean of shares, and the number of yes-or-no verdicts whose mean would vary as much."""
    if not len(shares):
        return 0.0, 0.0
    mean, spread = float(shares.mean()), float(shares.var())
    # Where no cluster differs there is no variance to compare with, and every cluster counts as one verdict.
    return mean, len(shares) * (mean * (1 - mean) / spread if spread > _NOISE else 1.0)


def prediction_powered_mean(
    labels: ArrayLike,
    predictions: ArrayLike,
    unlabelled_predictions: ArrayLike,
    *,
    tuned: bool = True,
    level: float = 0.95,
) -> Estimate:
    """Estimate the mean label of a population from few labels and many predictions.

        mean(unlabelled predictions) * w + mean(labels - w * predictions)

    Untuned, w = 1. Tuned, w = cov(labels, predictions) / ((1 + n / N) var(predictions)), cut to [0, 1], which
    makes the variance smallest: useless predictions get the weight 0 and cost nothing. The interval is normal, with
    variance w^2 var(unlabelled) / N + var(labels - w predictions) / n, variances with divisors n and N. Tuned, the fit
    costs two degrees of freedom: Student's t with n - 2, or the `effective_degrees` of labels - w predictions where
    these are fewer, and the factor sqrt(n / (n - 2)).

    Source: Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), Science 382:669-674; tuning: Angelopoulos, Duchi
    and Zrnic (2023), PPI++, arXiv:2311.01453. The labelled items have to be a random sample of the population.

    Args:
        labels: true values of the labelled items, shape (n,); where an item has several trials, its mean.
        predictions: the judge's values of the same items, shape (n,).
        unlabelled_predictions: the judge's values of the other items, shape (N,).
        tuned: choose the weight w.
        level: coverage.

    Returns:
        The estimate in the unit of the labels, method `prediction-powered` or `prediction-powered-tuned`; `n` counts
        all items, `clusters` the labelled ones. Flag `empty` with fewer than three labelled or two unlabelled items;
        flag `few-labels` with fewer than 30 labelled ones: the normal interval is then too short; `few-events`.

    Raises:
        ValueError: the shapes differ or the level is not between 0 and 1.
    """
    z = z_quantile(level)
    y, f, unlabelled = (np.asarray(part, dtype=np.float64) for part in (labels, predictions, unlabelled_predictions))
    if y.shape != f.shape or y.ndim != 1 or unlabelled.ndim != 1:
        raise ValueError("labels and predictions must be arrays of equal length, and unlabelled predictions an array")
    n, many = len(y), len(unlabelled)
    if n <= _FITTED or many <= 1:
        return Estimate(value=None, flags=("empty",), n=n + many, clusters=n)
    # Sorted, so that the order of items does not show in the last digit.
    order = np.lexsort((f, y))
    y, f, unlabelled = y[order], f[order], np.sort(unlabelled)
    weight = _optimal_weight(y, f, unlabelled) if tuned else 1.0
    value = float(weight * unlabelled.mean() + (y - weight * f).mean())
    variance = weight**2 * float(np.var(unlabelled)) / many + float(np.var(y - weight * f)) / n
    degrees = effective_degrees(y - weight * f)
    half = z * float(np.sqrt(variance))
    if tuned:  # the weight was fitted to the same labels, which costs two degrees of freedom
        half *= t_quantile(level, min(n - _FITTED, degrees)) / z * float(np.sqrt(n / (n - _FITTED)))
    method = "prediction-powered-tuned" if tuned else "prediction-powered"
    flags = ("few-labels",) if n < 30 else few_events(degrees, n)  # noqa: PLR2004 - the rule of thumb for a normal mean
    return enclose(value, value - half, value + half, method=method, n=n + many, clusters=n, flags=flags)


def _optimal_weight(y: NDArray[np.float64], f: NDArray[np.float64], unlabelled: NDArray[np.float64]) -> float:
    spread = float(np.var(np.concatenate([f, unlabelled])))
    if spread <= 0:
        return 0.0
    covariance = float(np.mean((y - y.mean()) * (f - f.mean())))
    return min(max(covariance / ((1 + len(y) / len(unlabelled)) * spread), 0.0), 1.0)
