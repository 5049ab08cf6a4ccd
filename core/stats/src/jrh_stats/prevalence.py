"""Estimate prevalence from few labels and many verdicts."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jrh_stats.degrees import effective_degrees, few_events
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.score_intervals import t_quantile, z_quantile

_FITTED: Final = 2
"""A mean and a weight are fitted."""


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
