"""Estimate a change between two sides and test it as one decision: the interval excludes 0 where the test rejects."""

from __future__ import annotations

from collections.abc import Sequence
from math import erfc, sqrt
from typing import Final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from jrh_stats.clusters import ratio_kinds, whole_codes
from jrh_stats.degrees import FEW_EVENTS, are_uneven, design_degrees, effective_degrees, few_events
from jrh_stats.estimate import Estimate
from jrh_stats.exchange import ClusterDifferences, Kind, Statistic, mid_p, null_families, rarely_varies, sides
from jrh_stats.score_intervals import score_interval, t_quantile, z_quantile
from jrh_stats.significance import Significance
from jrh_stats.unseen import identical_mean

_NOISE: Final = 1e-12
_MANY: Final = 200
"""With more clusters that may differ the statistic has Student's distribution for all practical purposes."""
_BOUNDS: Final = (-1.0, 1.0)
_CLOSE: Final = 1e-7


@frozen(kw_only=True)
class Change:
    """A mean difference and the test of it; the interval excludes 0 exactly where p < 1 - level."""

    estimate: Estimate
    test: Significance


@frozen(kw_only=True, eq=False)
class _Terms:
    span: float
    level: float
    resamples: int
    seed: int


def paired_change(
    values: ArrayLike,
    second: ArrayLike,
    items: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    span: float = 1.0,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Change:
    """Estimate and test the change of a mean score from one side to another, from all answers to the same items.

    An item's difference is the mean of its answers on the second side less the mean of those on the first. The sides
    may have any number of answers. Two null hypotheses are tested, and the larger p-value counts:

    * The condition does not matter: an item's answers are exchangeable, and are dealt again to the two sides. Items of
      a cluster share the dealing of their slots, so that what they have in common stays together.
    * The condition matters for single items, as often upwards as downwards: whole sides of a cluster are exchanged
      (sign flips). Where every item has as many answers on both sides this covers the first hypothesis.

    Sign flips alone reject too often where the sides have different numbers of noisy answers (the mean of ten less one
    answer is not as likely as its opposite), dealings alone where a judge repeats itself. The statistic is studentised
    (`jrh_stats.exchange.Statistic`), so that both tests are asymptotically valid for the mean whatever else differs.
    p is a mid-p-value, exact where there are few outcomes: with one answer of 0 or 1 per side and item that of
    McNemar's test. With more than 200 clusters that may differ it is that of Student's distribution. Where clusters are
    uneven in size it is at least that of Student's distribution with the `effective_degrees` of the sizes: exchanging
    sides keeps the size of every cluster's difference, and would reject a mean of 0 that small clusters raise and few
    large ones lower in up to half of all studies.

    The interval is Wilson's with the effective number of trials and Student's t of `clustered_mean`; where Student's
    distribution and the tests disagree about 0, the end on that side is moved to 0, and the tests decide on which side
    of it. Where no cluster differs from another it holds what unseen clusters could change
    (`jrh_stats.unseen`), and p is at least the level at which its end touches 0.

    Source: studentised permutations: Chung and Romano (2013), Annals of Statistics 41:484-507; the larger of two
    p-values for a union of null hypotheses: Berger (1982), Technometrics 24:295-300; mid-p: Fagerland, Lydersen and
    Laake (2013), BMC Medical Research Methodology 13:91.

    Args:
        values: score of every answer; NaN where it is missing, shape (n,). Give the answers to an item in the order in
            which they were asked, missing ones too: the same place is the same slot for all items of a cluster.
        second: whether an answer belongs to the second side, shape (n,).
        items: the item of every answer, whole numbers >= 0, shape (n,).
        clusters: the cluster of every answer's item, whole numbers >= 0, shape (n,); None: every item is its own.
        weights: what the item of every answer counts, shape (n,); None: its number of answers on the second side.
        span: the largest difference that two scores can have.
        level: coverage; the test rejects at 1 - level.
        resamples: outcomes drawn where they are too many to be enumerated.
        seed: the only source of randomness.

    Returns:
        The change in the unit of the scores; items without an answer on either side are left out. Flags: `empty`
        without items; `few-events`, also where fewer than 5 clusters vary on the side with fewer answers. The test's
        method is `exchange-exact`, `exchange` or `exchange-student`.

    Raises:
        ValueError: the shapes differ, or a difference exceeds the span.
    """
    score, side = np.asarray(values), np.asarray(second, dtype=np.bool_)
    if score.dtype.kind != "f":
        score = score.astype(np.float64)
    columns = [None if column is None else np.asarray(column) for column in (items, clusters, weights)]
    if score.ndim != 1 or any(column is not None and column.shape != score.shape for column in (side, *columns)):
        raise ValueError("give one value, side, item, cluster and weight per answer")
    item, cluster, weight = columns
    answers = sides(
        score if span == 1 else score.astype(np.float64, copy=False) / span,
        side,
        whole_codes(np.zeros(0) if item is None else item),
        None if cluster is None else whole_codes(cluster),
        None if weight is None else weight.astype(np.float64),
    )
    terms = _Terms(span=span, level=level, resamples=resamples, seed=seed)
    if answers is None:
        return _nothing(terms)
    data, families = null_families(answers, seed)
    change = _change(data, families, terms)
    if not rarely_varies(answers) or FEW_EVENTS in change.estimate.flags:
        return change
    return evolve(change, estimate=evolve(change.estimate, flags=(*change.estimate.flags, FEW_EVENTS)))


def difference_by_exchange(
    numerators: ArrayLike,
    denominators: ArrayLike,
    *,
    span: float = 1.0,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Change:
    """Estimate and test a mean difference from per-cluster sums, exchanging both sides of whole clusters.

    As `paired_change` where both sides have as many answers: one decision by the studentised sign-flip test.

    Args:
        numerators: sum of the differences of each cluster, shape (K,).
        denominators: number of pairs of each cluster, shape (K,), all > 0.
        span: the largest difference that two scores can have.
        level: coverage; the test rejects at 1 - level.
        resamples: outcomes drawn where they are too many to be enumerated.
        seed: the only source of randomness.

    Raises:
        ValueError: the shapes differ, a denominator is not positive, or a difference exceeds the span.
    """
    terms = _Terms(span=span, level=level, resamples=resamples, seed=seed)
    sums = ratio_kinds(numerators, denominators)
    if not len(sums):
        return _nothing(terms)
    data = ClusterDifferences.of(np.repeat(sums.rows / np.array([span, 1.0]), sums.counts, axis=0))
    return _change(data, [data.exchange_sides()], terms)


def _nothing(terms: _Terms) -> Change:
    z_quantile(terms.level)
    return Change(estimate=Estimate(value=None, flags=("empty",)), test=Significance(p=None, flags=("empty",)))


def _change(data: ClusterDifferences, families: Sequence[Sequence[Kind]], terms: _Terms) -> Change:
    """Decide about the differences of clusters, by all families of null kinds; the first one has the dealings."""
    z_quantile(terms.level)
    top, bottom = data.sums.T
    if np.any(np.abs(top) > bottom * (1 + _NOISE) + _NOISE):
        raise ValueError(f"a difference must lie within the span of {terms.span:g}")
    # Scores are divided by the span: the statistic is that of a difference from -1 to 1.
    clusters, total = len(top), float(bottom.sum())
    value = float(np.clip(top.sum() / total, *_BOUNDS))
    deviations = (top - value * bottom) * clusters / total
    statistic = Statistic.of(families[0])
    variance = float(statistic.variance(data.statistic_sums)[0])
    if clusters <= 1 or variance <= _NOISE:
        p, ends = _identical(value, data, statistic, families, terms)
        test, method = "exchange", "wilson-clusters"
    else:
        # (1 + r) / 2 is a share, so deviations are halved with it.
        degrees = design_degrees(deviations / 2, (value + 1) / 2)
        uneven = are_uneven(bottom)
        if uneven:
            degrees = min(degrees, effective_degrees(deviations, sizes=bottom, doubt=True))
        p, quantile, test = _decide(data, statistic, families, degrees, terms, uneven=uneven)
        share = score_interval((value + 1) / 2, (1 - value**2) / variance, quantile)
        ends, method = (2 * float(share[0]) - 1, 2 * float(share[1]) - 1), "exchange-wilson"
    return Change(
        estimate=Estimate(
            value=terms.span * value,
            low=terms.span * min(ends[0], value),
            high=terms.span * max(ends[1], value),
            method=method,
            n=total,
            clusters=clusters,
            flags=few_events(effective_degrees(deviations, sizes=bottom, doubt=True), clusters),
        ),
        test=Significance(
            p=p,
            statistic=terms.span * abs(value),
            method=test,
            n=(moving := _count_moving(families[0])),
            clusters=clusters,
            # Two of all sign patterns are the most extreme, and a mid-p-value counts half of them.
            least=0.5**moving if moving <= _MANY else 0.0,
        ),
    )


def _count_moving(kinds: Sequence[Kind]) -> int:
    return sum(kind.count for kind in kinds if kind.moves)


def _decide(
    data: ClusterDifferences,
    statistic: Statistic,
    families: Sequence[Sequence[Kind]],
    degrees: float,
    terms: _Terms,
    *,
    uneven: bool,
) -> tuple[float, float, str]:
    """Return the p-value, the quantile of the interval, and the name of the test."""
    from jrh_stats.special import stdtr

    alpha, observed = 1 - terms.level, float(statistic.values(data.statistic_sums)[0])
    quantile, of_student = t_quantile(terms.level, degrees), 2 * float(stdtr(degrees, -observed))
    # Enumerating or drawing would say the same as Student's distribution, only later.
    if _count_moving(families[0]) > _MANY:
        p, test = of_student, "exchange-student"
    else:
        tests = [mid_p(observed, statistic, kinds, resamples=terms.resamples, seed=terms.seed) for kinds in families]
        # A union of null hypotheses is rejected where each of them is (Berger 1982).
        p = max(p_value for p_value, _ in tests)
        test = "exchange-exact" if all(exact for _, exact in tests) else "exchange"
        # Exchanging sides keeps the size of a cluster's difference: few large clusters then look like many.
        if uneven and of_student > p:
            p, test = of_student, "exchange-student"
    # Where the test decides otherwise than Student's quantile, the end of the interval is just on the other side of 0.
    quantile = max(quantile, observed * (1 + _CLOSE)) if p >= alpha else min(quantile, observed * (1 - _CLOSE))
    return p, quantile, test


def _identical(
    value: float, data: ClusterDifferences, statistic: Statistic, families: Sequence[Sequence[Kind]], terms: _Terms
) -> tuple[float, tuple[float, float]]:
    """Return p-value and ends where all clusters have the same difference, or there is only one.

    The ends of `identical_mean` touch 0 where Wilson's upper end for 0 of K is |d| / (1 + |d|), so at z^2 = K |d|.
    """
    clusters = len(data.sums)
    least, most = identical_mean(value, clusters, _BOUNDS, terms.level)
    if clusters <= 1 or abs(value) <= _NOISE:
        return 1.0, (min(least, 0.0), max(most, 0.0))
    observed = float(statistic.values(data.statistic_sums)[0])
    tests = (mid_p(observed, statistic, kinds, resamples=terms.resamples, seed=terms.seed)[0] for kinds in families)
    # The level at which the interval's end touches 0, so that p and interval say one thing.
    p = max(*tests, erfc(sqrt(clusters * abs(value) / 2)))
    return p, ((min(least, 0.0), max(most, 0.0)) if p >= 1 - terms.level else (least, most))
