"""Measure calibration: is a judge that says 80% right 80% of the time?"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats
from jrh_stats.clusters import cluster_margins, cluster_sums, ratio_variance
from jrh_stats.degrees import FEW_CLUSTERS, FEW_EVENTS, effective_degrees, few_events
from jrh_stats.estimate import Estimate, enclose
from jrh_stats.proportion import effective_score_interval
from jrh_stats.score_intervals import t_quantile, z_quantile
from jrh_stats.unseen import identical_mean, unseen_share

Binning: TypeAlias = Literal["width", "mass"]
"""Bins of equal width, or of about equal numbers of answers."""

_NOISE: Final = 1e-12


@frozen(kw_only=True)
class ReliabilityBin:
    """One bin of a reliability curve."""

    low: float
    """Lower edge of the stated probability; excluded from the bin, except in the first."""
    high: float
    """Upper edge, included."""
    confidence: float
    """Mean stated probability."""
    accuracy: Estimate
    """Share of right answers, with an interval by cluster of items."""


def brier_score(probabilities: ArrayLike, outcomes: ArrayLike, clusters: ArrayLike, *, level: float = 0.95) -> Estimate:
    """Estimate the Brier score, the mean of (probability - outcome)^2: 0 is perfect, 0.25 is always saying 50%.

    Source: Brier (1950), Monthly Weather Review 78:1-3, in the form for one event.

    Args:
        probabilities: stated probability of the event, in [0, 1], shape (n,).
        outcomes: 1 where it happened, else 0, shape (n,).
        clusters: cluster of every answer, whole numbers >= 0, shape (n,).
        level: coverage.

    Returns:
        The score, method `linearised-wilson`: Wilson's interval with the number of answers that the cluster-robust
        variance implies and Student's t, as in `clustered_proportion`; where all clusters have the same score,
        `wilson-clusters`. No interval with one cluster only. Flags: `empty` without answers, `few-events`.

    Raises:
        ValueError: the shapes differ, a probability is outside [0, 1], or an outcome is not 0 or 1.
    """
    p, y, items = read_answers(probabilities, outcomes, clusters)
    return _mean_estimate(np.square(p - y), items, level)


def _mean_estimate(scores: Floats, items: Codes, level: float) -> Estimate:
    """Estimate the mean of scores in [0, 1] with the interval that `brier_score` describes."""
    z_quantile(level)
    sums = cluster_sums(items, scores, np.ones(len(scores)))
    # In the order of their values: the order in which clusters come does not show in the last digit.
    sums = sums[np.lexsort(sums.T)]
    if not len(sums):
        return Estimate(value=None, flags=("empty",))
    top, n = (float(part) for part in sums.sum(axis=0))
    value, clusters = min(top / n, 1.0), len(sums)
    if clusters <= 1:
        return Estimate(value=value, n=n, clusters=clusters)
    variance = ratio_variance(sums[:, 0], sums[:, 1])
    if variance <= _NOISE:
        low, high = identical_mean(value, clusters, (0.0, 1.0), level)
        return enclose(value, low, high, method="wilson-clusters", n=n, clusters=clusters, flags=(FEW_EVENTS,))
    # A squared error varies less than a proportion of the same mean, so the number implied may exceed that of answers.
    degrees = effective_degrees(sums[:, 0] - value * sums[:, 1])
    low, high = effective_score_interval(value, variance, degrees, level)
    return enclose(
        value, low, high, method="linearised-wilson", n=n, clusters=clusters, flags=few_events(degrees, clusters)
    )


def reliability_curve(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    clusters: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "width",
    level: float = 0.95,
) -> list[ReliabilityBin]:
    """Compute the share of right answers per bin of the stated probability; empty bins are left out.

    Source: Murphy and Winkler (1977), Applied Statistics 26:41-47.

    Args:
        probabilities: as for `brier_score`.
        outcomes: as for `brier_score`.
        clusters: as for `brier_score`.
        bins: number of bins.
        binning: how the edges are set.
        level: coverage of each bin's own interval, of the kind of `brier_score`.

    Raises:
        ValueError: as for `brier_score`, or there is no bin.
    """
    p, y, items = read_answers(probabilities, outcomes, clusters)
    edges = bin_edges(p, bins, binning)
    place = bin_places(p, edges)
    curve = []
    for number in np.unique(place):
        rows = place == number
        curve.append(
            ReliabilityBin(
                low=float(edges[number]),
                high=float(edges[number + 1]),
                confidence=float(np.sort(p[rows]).mean()),
                accuracy=_mean_estimate(y[rows], items[rows], level),
            )
        )
    return curve


def read_answers(probabilities: ArrayLike, outcomes: ArrayLike, clusters: ArrayLike) -> tuple[Floats, Floats, Codes]:
    """Return probabilities, outcomes and clusters as arrays, or raise the errors of `brier_score`."""
    p, y = np.asarray(probabilities, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    items = np.asarray(clusters, dtype=np.int64)
    if p.shape != y.shape or p.shape != items.shape or p.ndim != 1:
        raise ValueError("probabilities, outcomes and clusters must be arrays of equal length")
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("probabilities must be between 0 and 1; leave out answers without one")
    if not np.all((y == 0) | (y == 1)):
        raise ValueError("outcomes must be 0 or 1")
    return p, y, items


def bin_edges(p: Floats, bins: int, binning: Binning) -> Floats:
    """Return the edges of the bins, shape (bins + 1,)."""
    if bins < 1:
        raise ValueError("a reliability curve needs at least one bin")
    if binning == "width" or not len(p):
        return np.linspace(0.0, 1.0, bins + 1)
    return np.concatenate([[0.0], np.quantile(p, np.arange(1, bins) / bins, method="inverted_cdf"), [1.0]])


def bin_places(p: Floats, edges: Floats) -> Codes:
    """Return the bin of every probability; an edge belongs to the bin below it."""
    return np.searchsorted(edges[1:-1], p, side="left").astype(np.int64)


_STEPS: Final = 64
_FARTHEST: Final = 12.0
"""Logits by which the probabilities of a family are moved at most."""
_CERTAIN: Final = 1e-3
"""A stated 0 or 1 is moved as if it were this far inside."""
_SURE: Final = 3.0
"""Standard errors from which the direction of the net error is taken as known."""


@frozen(kw_only=True, eq=False)
class _Bins:
    """The answers by bin, counted as if they were independent."""

    share: Floats
    """Share of the answers in every bin."""
    stated: Floats
    """Mean stated probability."""
    right: Floats
    """Share of right answers."""
    trials: Floats
    """Effective number of independent answers."""
    n: int
    clusters: int
    same: bool
    """Whether all clusters have the same differences."""

    @property
    def error(self) -> float:
        """Return the plain calibration error."""
        return float(self.share @ np.abs(self.right - self.stated))


def expected_calibration_error(
    probabilities: ArrayLike,
    outcomes: ArrayLike,
    clusters: ArrayLike,
    *,
    bins: int = 10,
    binning: Binning = "width",
    level: float = 0.95,
) -> Estimate:
    """Estimate the expected calibration error (ECE): the mean over bins of |accuracy - mean probability|, by size.

    The plain estimate is biased upwards: chance alone makes bins of a perfectly calibrated judge differ from what it
    says, and absolute values do not cancel. Estimate and interval are found by asking which true errors make the plain
    estimate T a typical one. With X_b ~ Binomial(n_b, pi_b) the plain estimate of another sample is

        T* = sum over bins of w_b |X_b / n_b - stated_b|

    pi moves away from what was stated in three families: towards the accuracies that were seen, down by a number of
    logits (a judge too sure of itself), and up. The ends are the least and the greatest true error in any family with

        P(T* >= T) > (1 - level) / 2   and   P(T* <= T) > (1 - level) / 2,

    and the estimate is the error in the first family whose T* has the median T: 0 where a calibrated judge would show
    T half of the time. The distribution of T* has the exact mean, variance and skewness of a sum of binomial deviations
    and the shape of a gamma distribution (Pearson's type III). n_b is the number of answers over the design effect of
    clusters, so that repeated answers count once. The target is the calibration error of these bins, with their edges
    taken as fixed; at 0 the interval covers more often than its level, because only its lower end can be wrong.

    Source: ECE: Naeini, Cooper and Hauskrecht (2015), AAAI 29:2901-2907; bias and debiasing: Kumar, Liang and Ma
    (2019), Verified Uncertainty Calibration, NeurIPS 32, and Roelofs, Cain, Shlens and Mozer (2022), AISTATS 25;
    resampling answers of a calibrated judge: Broecker and Smith (2007), Weather and Forecasting 22:651-661. None of the
    four consulted; inverting the resampled distribution is our own (`docs/derivations.md`).

    Args:
        probabilities: as for `brier_score`.
        outcomes: as for `brier_score`.
        clusters: as for `brier_score`.
        bins: number of bins.
        binning: how the edges are set.
        level: coverage.

    Returns:
        The debiased error, method `binomial-inversion`; no random numbers are drawn. No interval with one cluster only.
        Flags: `empty`; `few-events` with fewer than 30 clusters.

    Raises:
        ValueError: as for `brier_score`, or there is no bin.
    """
    z_quantile(level)
    answers = _read_bins(probabilities, outcomes, clusters, bins=bins, binning=binning, level=level)
    if answers is None:
        return Estimate(value=None, flags=("empty",))
    if answers.clusters <= 1:
        return Estimate(value=answers.error, n=answers.n, clusters=answers.clusters)
    value, low, high = _invert(answers, (1 - level) / 2)
    if answers.same:
        # Identical clusters show no deviation: at most a share of all is unlike them, each by at most 1.
        high = max(high, answers.error + unseen_share(answers.clusters, level) * (1 - answers.error))
    return enclose(
        value,
        low,
        min(high, 1.0),
        method="binomial-inversion",
        n=answers.n,
        clusters=answers.clusters,
        flags=(FEW_EVENTS,) if answers.clusters < FEW_CLUSTERS else (),
    )


def plain_calibration_error(
    probabilities: ArrayLike, outcomes: ArrayLike, *, bins: int = 10, binning: Binning = "width"
) -> float | None:
    """Compute the plain expected calibration error that other programs print; it is biased upwards.

    Arguments as for `expected_calibration_error`; None without answers.
    """
    p, y, _ = read_answers(probabilities, outcomes, np.zeros(np.shape(probabilities)))
    if not len(p):
        return None
    place = bin_places(p, bin_edges(p, bins, binning))
    gaps = np.bincount(place, weights=np.round(y - p, 12), minlength=bins)
    return float(np.abs(gaps).sum() / len(p))


def _read_bins(
    probabilities: ArrayLike, outcomes: ArrayLike, clusters: ArrayLike, *, bins: int, binning: Binning, level: float
) -> _Bins | None:
    p, y, items = read_answers(probabilities, outcomes, clusters)
    if not len(p):
        return None
    # Edges count as fixed, also where they are quantiles of these answers.
    place = bin_places(p, bin_edges(p, bins, binning))
    sums = cluster_margins(items, place, y - p, n_labels=bins)
    number = cluster_sums(items, np.ones(len(p)))
    # Rounded, so that the order of answers does not show in the last digit.
    counts, right, gap = (
        np.bincount(place, weights=part, minlength=bins).round(9) for part in (np.ones(len(p)), y, y - p)
    )
    full = counts > 0
    counts, right, gap = counts[full], right[full], gap[full]
    centred = np.where(counts > 0, gap / counts, 0.0)
    design = _design(y - p - centred[np.cumsum(full)[place] - 1], place, items, bins, level)
    return _Bins(
        share=counts / len(p),
        stated=np.clip((right - gap) / counts, 0.0, 1.0),
        right=right / counts,
        trials=np.maximum(np.rint(counts / design), 1.0),
        n=len(p),
        clusters=len(number),
        same=bool(np.all(np.ptp(np.abs(sums) / number, axis=0) <= _NOISE)),
    )


def _design(errors: Floats, place: Codes, items: Codes, bins: int, level: float) -> float:
    """Return the design effect of clusters on the bins' differences, with a margin for how well it is known.

    Bin by bin, or of their sum where that is larger: one item asked again may lie in several bins.
    """
    units = len(np.unique(items))
    if units == len(items) or units <= 1:
        return 1.0
    apart = cluster_margins(items, place, errors, n_labels=bins)
    independent = cluster_sums(items, np.square(errors))[:, 0]
    if independent.sum() <= _NOISE:
        return len(items) / units
    robust = max(
        (np.square(apart).sum(axis=1), np.square(apart.sum(axis=1))), key=lambda part: float(np.sort(part).sum())
    )
    # Squared sums of clusters over sums of squares; the degrees are those of docs/derivations.md.
    ratio = float(np.sort(robust).sum() / np.sort(independent).sum()) * units / (units - 1)
    relative = np.square(robust / max(robust.mean(), _NOISE) - independent / independent.mean())
    spread = float(np.sort(relative).mean())
    degrees = 2 * (units - 1) / spread if spread > _NOISE else float("inf")
    # As wide as Student's t would make an interval: the design effect is itself an estimate.
    margin = (t_quantile(level, max(degrees, 1.0)) / z_quantile(level)) ** 2
    return max(ratio, 1.0) * margin


def _invert(answers: _Bins, tail: float) -> tuple[float, float, float]:
    """Return the median-unbiased error and the ends of its interval."""
    stated, right = answers.stated, answers.right
    steps = np.linspace(0.0, 1.0, _STEPS)[:, None]
    safe = np.clip(stated, _CERTAIN, 1 - _CERTAIN)
    logits = np.log(safe / (1 - safe))
    # Squared, so that small errors, where most judges are, have the finest steps.
    shift = _FARTHEST * np.square(steps)
    # Four times the way to what was observed, because the true error may be larger than the observed one.
    towards_observed = np.clip(stated + 4 * steps * (right - stated), 0.0, 1.0)
    families = [towards_observed, *(_shift_logits(stated, logits + sign * shift) for sign in _signs(answers))]
    pi = np.stack(families)
    truth = np.abs(pi - stated) @ answers.share
    below = _below(answers, pi)
    # The farthest error that leaves enough of T* below T, and the nearest that leaves enough above.
    high = max(_error_at_chance(error, chance, tail) for error, chance in zip(truth, below, strict=True))
    # A family that never makes T* large enough cannot say how small the error may be.
    reached = [(error, chance) for error, chance in zip(truth, below, strict=True) if chance[-1] < 1 - tail]
    low = min((_error_at_chance(error, chance, 1 - tail) for error, chance in reached), default=0.0)
    # Skewed bins can have their median above T, which would be no correction of an upward bias.
    return min(_error_at_chance(truth[0], below[0], 0.5), answers.error), low, high


def _signs(answers: _Bins) -> tuple[int, ...]:
    """Return the directions in which a judge may be wrong on the whole: both, unless the data exclude one."""
    # Bins do not cancel in |accuracy - probability|, but they do in the net error, which is nearly normal.
    net = float(answers.share @ (answers.right - answers.stated))
    variance = float(np.square(answers.share) @ (answers.stated * (1 - answers.stated) / answers.trials))
    known = abs(net) > _SURE * variance**0.5
    return (-1, 1) if not known else (1,) if net > 0 else (-1,)


def _shift_logits(stated: Floats, logits: Floats) -> Floats:
    moved = 1 / (1 + np.exp(-logits))
    moved[0] = stated
    return np.asarray(moved, dtype=np.float64)


def _error_at_chance(truth: Floats, chance: Floats, wanted: float) -> float:
    """Return the greatest true error at which the chance of a smaller estimate is still `wanted`, else 0."""
    places = np.flatnonzero(chance >= wanted)
    if not len(places):
        return 0.0
    last = int(places[-1])
    if last + 1 == len(truth) or chance[last] <= chance[last + 1]:
        return float(truth[last])
    part = (chance[last] - wanted) / (chance[last] - chance[last + 1])
    return float(truth[last] + part * (truth[last + 1] - truth[last]))


def _below(answers: _Bins, pi: Floats) -> Floats:
    """Return the chance that the plain error of another sample is below the one observed, for accuracies pi."""
    from jrh_stats.special import gammainc, ndtr

    mean, variance, third = _absolute_moments(answers.trials, pi, answers.trials * answers.stated)
    scale = answers.share / answers.trials
    centre, spread, skew = mean @ scale, variance @ scale**2, third @ scale**3
    sd = np.sqrt(np.maximum(spread, 1e-30))
    skewness = skew / sd**3
    z = (answers.error - centre) / sd
    # A gamma distribution with this shape has the skewness 2 / sqrt(shape).
    shape = 4 / np.maximum(np.square(skewness), 1e-4)
    normal = np.abs(skewness) < 0.02  # noqa: PLR2004 - a gamma distribution of more than 10,000 degrees
    side = np.sign(skewness)
    lower = gammainc(shape, np.maximum(shape + side * z * np.sqrt(shape), 0.0))
    return np.asarray(np.where(normal, ndtr(z), np.where(side > 0, lower, 1 - lower)), dtype=np.float64)


def _absolute_moments(n: Floats, pi: Floats, centre: Floats) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance and third central moment of |X - a| for X ~ Binomial(n, pi).

    E|X - a|^j = E (X - a)^j + 2 sum over x < a of (a - x)^j P(X = x) for odd j. The sum follows from the factorial
    moments below k = floor(a): the sum over x <= k of x (x - 1) ... (x - i + 1) P(X = x) is
    n (n - 1) ... (n - i + 1) pi^i P(Binomial(n - i, pi) <= k - i).
    """
    from jrh_stats.special import betainc

    below = np.floor(centre)

    def part(i: int) -> Floats:
        k, left = below - i, n - i
        inner = betainc(np.maximum(left - k, 1e-9), np.maximum(k + 1, 1e-9), 1 - pi)
        chance = np.where(k < 0, 0.0, np.where(k >= left, 1.0, inner))
        falling = np.prod([np.maximum(n - step, 0.0) for step in range(i)], axis=0) if i else 1.0
        return np.asarray(falling * pi**i * chance, dtype=np.float64)

    # Factorial moments below a, of order 0 to 3, and from them the second and third moments there.
    f0, f1, f2, f3 = (part(i) for i in range(4))
    square, cube = f2 + f1, f3 + 3 * f2 + f1
    under1 = centre * f0 - f1
    under3 = centre**3 * f0 - 3 * centre**2 * f1 + 3 * centre * square - cube
    off = n * pi - centre
    v = n * pi * (1 - pi)
    mean = off + 2 * under1
    second = v + off**2
    cubed = off**3 + 3 * off * v + v * (1 - 2 * pi) + 2 * under3
    return mean, np.maximum(second - mean**2, 0.0), cubed - 3 * mean * second + 2 * mean**3
