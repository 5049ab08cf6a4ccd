"""Combine the verdicts of a panel, and measure how good it is: correlated errors, who helps, which panel is best."""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from numpy.typing import ArrayLike

from jrh_stats.arrays import Codes, Floats, Mask
from jrh_stats.clusters import cluster_sums, ratio_variance
from jrh_stats.degrees import FEW_EVENTS, effective_degrees, few_events
from jrh_stats.estimate import Estimate, enclosing
from jrh_stats.ordinal import pearson
from jrh_stats.phi import EXPECTED_JOINT, phi_coefficient
from jrh_stats.proportion import clustered_proportion, effective_score_interval
from jrh_stats.score_intervals import t_quantile, z_quantile

_NOISE: Final = 1e-12
MOST_PANELS: Final = 20_000
"""Panels that are tried at most."""


UNSTABLE_CHOICE: Final = "unstable-choice"
"""So many panels were compared on so few clusters that the interval of the chosen one may cover less than it says."""
_CLUSTERS_PER_PANEL: Final = 10


@frozen(kw_only=True)
class PanelScore:
    """One panel's accuracy."""

    judges: tuple[int, ...]
    """Columns of the votes."""
    accuracy: Estimate
    """In-sample, on the items the panel was compared on; for a panel that was chosen for it, optimistic."""


@frozen(kw_only=True)
class BestPanel:
    """The best panel of a size, and the accuracy to expect from choosing it."""

    best: PanelScore
    held_out: Estimate
    """Accuracy of the panels chosen on the other folds, on items they were not chosen on: not optimistic."""
    same: float
    """Share of the folds in which the panel chosen on the others is `best`."""
    tried: int
    false_positive: tuple[Estimate, Estimate] | None = None
    """False positive rate of `best` in-sample, and of the panels chosen on the other folds, on items they were not
    chosen on; None without a positive label."""
    false_negative: tuple[Estimate, Estimate] | None = None


def paired_error_correlation(
    first: ArrayLike, second: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95
) -> Estimate:
    """Estimate the correlation of the errors of two judges.

    Errors that are 0 or 1 have the `phi_coefficient` with its profile likelihood interval. Signed differences have
    `pearson` with Fisher's z, and `few-events` where fewer than five items are expected to have an error of both judges
    if their errors are independent: the correlation then rests on items that chance has not yet drawn.

    Args:
        first: errors of one judge, NaN where missing, shape (items,).
        second: errors of the other judge, shape (items,).
        clusters: the cluster of every item, shape (items,); None: every item is its own.
        level: coverage.

    Returns:
        The estimate over the items both judges have; flags as of `phi_coefficient` or `pearson`.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    both = ~(np.isnan(one) | np.isnan(other))
    of = (np.arange(len(one)) if clusters is None else np.asarray(clusters))[both]
    one, other = one[both], other[both]
    if np.all((one == 0) | (one == 1)) and np.all((other == 0) | (other == 1)):
        return phi_coefficient(one, other, of, level=level)
    found = pearson(one, other, of, level=level)
    joint = len(np.unique(of)) * float(np.mean(one != 0)) * float(np.mean(other != 0))
    if joint < EXPECTED_JOINT and found.low is not None:
        return evolve(found, flags=tuple(dict.fromkeys((*found.flags, FEW_EVENTS))))
    return found


def effective_judges(errors: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95) -> Estimate:
    """Estimate how many judges with independent errors a panel of J judges is worth.

        n_eff = J * (sum of the error variances) / (variance of the summed error)

    With equal variances and a mean correlation r it is J / (1 + (J - 1) r): J where errors are independent, 1 where all
    judges err alike. It exceeds J where errors cancel.

    The interval is the jackknife's over clusters on the scale of log n_eff, with Student's t and the
    `effective_degrees` of the values without one cluster.

    Source: design effect of correlated observations: Kish (1965), Survey Sampling; jackknife: Efron (1982).

    Args:
        errors: of every item and judge, NaN where missing, shape (items, judges); only complete items are used.
        clusters: the cluster of every item, shape (items,); None: every item is its own.
        level: coverage.

    Returns:
        The estimate; `n` is the number of errors. Flag `empty` with fewer than three clusters or two judges,
        `degenerate` where no error varies, or all of them always cancel, `few-events`.
    """
    z_quantile(level)
    table = np.asarray(errors, dtype=np.float64)
    there = ~np.isnan(table).any(axis=1) if table.ndim == 2 else np.zeros(0, dtype=np.bool_)  # noqa: PLR2004
    complete = table[there] if table.ndim == 2 else np.zeros((0, 0))  # noqa: PLR2004
    items, judges = complete.shape
    of = np.arange(items) if clusters is None else np.unique(np.asarray(clusters)[there], return_inverse=True)[1]
    units = len(np.unique(of))
    if units < 3 or judges < 2:  # noqa: PLR2004 - a jackknifed variance needs three, a panel two
        return Estimate(value=None, flags=("empty",), clusters=units)
    # Sorted, because the order of floating-point addition would show in the last digit.
    order = np.lexsort(complete.T)
    complete, of = complete[order], of[order]
    whole = _effective(complete.sum(axis=0), np.square(complete).sum(axis=0), complete.sum(axis=1), items)
    n = float(complete.size)
    if whole is None:
        return Estimate(value=None, n=n, clusters=units, flags=("degenerate",))
    left_out = _leave_one_out(complete) if units == items else _leave_clusters_out(complete, of, units)
    value = float(whole)
    if left_out is None:
        return Estimate(value=value, n=n, clusters=units, flags=("no-interval",))
    logs = np.log(left_out)
    error = float(np.sqrt((units - 1) / units * np.square(logs - logs.mean()).sum()))
    degrees = effective_degrees(logs)
    reach = t_quantile(level, degrees) * error
    low, high = value * float(np.exp(-reach)), value * float(np.exp(reach))
    return enclosing(value, low, high, method="jackknife-log", n=n, clusters=units, flags=few_events(degrees, units))


def _effective(sums: Floats, squares: Floats, totals: Floats, items: int) -> float | None:
    own = float((squares - np.square(sums) / items).sum())
    joint = float(np.square(totals).sum() - totals.sum() ** 2 / items)
    return len(sums) * own / joint if own > _NOISE and joint > _NOISE else None


def _leave_one_out(table: Floats) -> Floats | None:
    items, judges = table.shape
    sums, squares, totals = table.sum(axis=0), np.square(table).sum(axis=0), table.sum(axis=1)
    own = (squares - np.square(table) - np.square(sums - table) / (items - 1)).sum(axis=1)
    left = totals.sum() - totals
    joint = np.square(totals).sum() - np.square(totals) - np.square(left) / (items - 1)
    if np.any(own <= _NOISE) or np.any(joint <= _NOISE):
        return None
    return np.asarray(judges * own / joint, dtype=np.float64)


def _leave_clusters_out(table: Floats, of: Codes, units: int) -> Floats | None:
    found = []
    for unit in range(units):
        rest = table[of != unit]
        found.append(_effective(rest.sum(axis=0), np.square(rest).sum(axis=0), rest.sum(axis=1), len(rest)))
    return None if None in found else np.array(found, dtype=np.float64)


def panel_accuracy(
    votes: ArrayLike,
    truth: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    n_labels: int,
    level: float = 0.95,
) -> Estimate:
    """Estimate the accuracy of a panel's majority vote; an item without a decision counts as wrong.

    Args:
        votes: label codes, -1 where missing, shape (items, judges).
        truth: the right label of every item, -1 where unknown (such items do not count), shape (items,).
        clusters: the cluster of every item, shape (items,); None: every item is its own.
        n_labels: number of labels.
        level: coverage.

    Returns:
        The proportion with the interval of `clustered_proportion`. Flag `empty` without labelled items.
    """
    right = np.asarray(truth, dtype=np.int64)
    labelled = right >= 0
    decided = majority_vote(votes, n_labels=n_labels)
    hits = (decided == right)[labelled].astype(np.float64)
    return _proportion(hits, None if clusters is None else np.asarray(clusters)[labelled], level)


def leave_one_out(
    votes: ArrayLike,
    truth: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    n_labels: int,
    level: float = 0.95,
) -> list[PanelScore]:
    """Compute the accuracy of the panel without each of its judges, in the order of the judges.

    Raises:
        ValueError: there are fewer than two judges, or as for `majority_vote`.
    """
    table = np.asarray(votes, dtype=np.int64)
    judges = table.shape[1] if table.ndim == 2 else 0  # noqa: PLR2004
    if judges < 2:  # noqa: PLR2004
        raise ValueError("leaving one judge out needs at least two judges")
    panels = [tuple(other for other in range(judges) if other != judge) for judge in range(judges)]
    return [
        PanelScore(
            judges=panel,
            accuracy=panel_accuracy(table[:, panel], truth, clusters, n_labels=n_labels, level=level),
        )
        for panel in panels
    ]


def best_panel(
    votes: ArrayLike,
    truth: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    n_labels: int,
    size: int = 3,
    folds: int = 10,
    level: float = 0.95,
    seed: int = 0,
    positive: int | None = None,
) -> BestPanel | None:
    """Find the panel of a size whose majority vote is most often right, by trying all.

    Its accuracy on the items it was chosen on is too high. `held_out` is the accuracy to expect: the best panel is
    chosen again on all folds but one and scored on the one left, for every fold of many splits, with the interval of
    nested cross-validation (`held_out_accuracy`). Taken for independent, the hits of these choices gave intervals that
    covered the accuracy of the chosen panel 82 to 92% of the time.

    Args:
        votes: label codes, -1 where missing, shape (items, judges).
        truth: the right label of every item, -1 where unknown, shape (items,).
        clusters: the cluster of every item, shape (items,); folds never part one. None: every item is its own.
        n_labels: number of labels.
        size: judges in a panel; 3 for the best trio.
        folds: folds for `held_out`; fewer where there are fewer clusters.
        level: coverage.
        seed: deals the clusters into folds.
        positive: code of the positive label, for the rates of false positives and negatives of the panels that are
            chosen for their accuracy. A tie is not the positive label.

    Returns:
        The best panel; of equal ones that of the judges named first. `held_out` has the flag `unstable-choice` with
        fewer than ten clusters per panel that was tried: it then covered 91 to 95% in simulated studies. None where
        there are fewer judges than `size`, or fewer than two labelled clusters.

    Raises:
        ValueError: there are more than 20,000 panels, or as for `majority_vote`.
    """
    table, right = np.asarray(votes, dtype=np.int64), np.asarray(truth, dtype=np.int64)
    of = np.arange(len(right)) if clusters is None else np.asarray(clusters)
    table, right, of = table[right >= 0], right[right >= 0], of[right >= 0]
    units = len(np.unique(of))
    if table.ndim != 2 or table.shape[1] < size or units < 2:  # noqa: PLR2004
        return None
    panels = list(combinations(range(table.shape[1]), size))
    if len(panels) > MOST_PANELS:
        raise ValueError(f"{len(panels)} panels of {size} judges are too many to try; the limit is {MOST_PANELS}")
    # Sorted, so that the folds do not depend on the order of the items.
    order = np.lexsort((*table.T, right))
    table, right = table[order], right[order]
    # Clusters are numbered in that order too: items that are alone have the folds they would have without clusters.
    _, first, of = np.unique(of[order], return_index=True, return_inverse=True)
    of = np.argsort(np.argsort(first))[of]
    decided = np.stack([majority_vote(table[:, panel], n_labels=n_labels) for panel in panels], axis=1)
    hits = (decided == right[:, None]).astype(np.float64)
    place = int(hits.sum(axis=0).argmax())
    held_out = held_out_accuracy(hits, of, folds=folds, level=level, seed=seed)
    # By the design: whether a sample looks stable is luck, and the lucky samples are those that cover less.
    unstable = (UNSTABLE_CHOICE,) if units < _CLUSTERS_PER_PANEL * len(panels) and len(panels) > 1 else ()

    def flagged(found: Estimate) -> Estimate:
        return found if found.low is None else evolve(found, flags=(*found.flags, *unstable))

    def rate(happened: Mask, counted: Mask) -> tuple[Estimate, Estimate]:
        events = happened.astype(np.float64), counted.astype(np.float64)
        inside = _proportion(events[0][counted, place], of[counted], level)
        outside = held_out_accuracy(hits, of, folds=folds, level=level, seed=seed, events=events).accuracy
        return inside, flagged(outside)

    stated = positive is not None
    return BestPanel(
        best=PanelScore(judges=panels[place], accuracy=_proportion(hits[:, place], of, level)),
        held_out=flagged(held_out.accuracy),
        same=held_out.same,
        tried=len(panels),
        false_positive=rate(decided == positive, right != positive) if stated else None,
        false_negative=rate(decided != positive, right == positive) if stated else None,
    )


def _proportion(hits: Floats, clusters: ArrayLike | None, level: float) -> Estimate:
    if clusters is None:
        return clustered_proportion(hits, np.ones(len(hits)), level=level)
    sums = cluster_sums(np.asarray(clusters), hits, np.ones(len(hits)))
    return clustered_proportion(sums[:, 0], sums[:, 1], level=level)


_SAME: Final = 1e-9


def majority_vote(votes: ArrayLike, *, n_labels: int, weights: ArrayLike | None = None) -> Codes:
    """Decide by the label with the most votes, or the greatest weight of votes.

    Args:
        votes: label codes 0 to `n_labels` - 1, -1 for a missing verdict, shape (items, judges).
        n_labels: number of labels.
        weights: weight of every judge, not negative, shape (judges,); 1 by default.

    Returns:
        The label of every item, shape (items,); -1 without a vote, or where several labels have the greatest weight.
        Sums that differ by rounding count as tied.

    Raises:
        ValueError: the shapes do not fit, a code is out of range, or a weight is negative.
    """
    table = _votes(votes, n_labels)
    power = _weights(weights, table.shape[1])
    tally = np.stack([(table == label) @ power for label in range(n_labels)], axis=1)
    top = tally.max(axis=1, keepdims=True)
    tied = (tally >= top - _SAME * np.maximum(top, 1.0)) & (top > 0)
    return np.where(tied.sum(axis=1) == 1, tied.argmax(axis=1), -1).astype(np.int64)


def mean_score(scores: ArrayLike) -> Floats:
    """Decide by the mean of the available scores.

    Args:
        scores: NaN for a missing verdict, shape (items, judges).

    Returns:
        Shape (items,), in the unit of the scores; NaN where there is no score.
    """
    table = _scores(scores)
    number = (~np.isnan(table)).sum(axis=1)
    return np.where(number > 0, np.nan_to_num(table).sum(axis=1) / np.maximum(number, 1), np.nan)


def median_score(scores: ArrayLike) -> Floats:
    """Decide by the median of the available scores; of an even number by the mean of the two middle ones.

    Args:
        scores: NaN for a missing verdict, shape (items, judges).

    Returns:
        Shape (items,), in the unit of the scores; NaN where there is no score.
    """
    table = np.sort(_scores(scores), axis=1)  # NaN goes last
    present = (~np.isnan(table)).sum(axis=1)
    rows = np.arange(len(table))
    if not table.shape[1]:
        return np.full(len(table), np.nan)
    lower = table[rows, np.maximum(present - 1, 0) // 2]
    upper = table[rows, np.minimum(present // 2, table.shape[1] - 1)]
    return np.where(present > 0, (lower + upper) / 2, np.nan)


def _votes(votes: ArrayLike, n_labels: int) -> Codes:
    table = np.asarray(votes, dtype=np.int64)
    if table.ndim != 2:  # noqa: PLR2004 - items and judges
        raise ValueError(f"votes must have the shape (items, judges), got {table.shape}")
    if table.size and (table.min() < -1 or table.max() >= n_labels):
        raise ValueError(f"votes must be between 0 and {n_labels - 1}, or -1 where missing")
    return table


def _scores(scores: ArrayLike) -> Floats:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2:  # noqa: PLR2004 - items and judges
        raise ValueError(f"scores must have the shape (items, judges), got {table.shape}")
    return table


def _weights(weights: ArrayLike | None, judges: int) -> Floats:
    power = np.ones(judges) if weights is None else np.asarray(weights, dtype=np.float64)
    if power.shape != (judges,) or np.any(power < 0) or not np.all(np.isfinite(power)):
        raise ValueError(f"weights must be {judges} numbers, none negative")
    return power


_FEWEST: Final = 3
"""Nested cross-validation leaves two folds out at a time."""
_SPLITS: Final = 30
_FEWEST_SPLITS: Final = 5
_WORK: Final = 3e9
"""Multiplications at most: a few seconds."""


@frozen(kw_only=True)
class HeldOut:
    """What a choice achieves on items it was not made on."""

    accuracy: Estimate
    same: float
    """Share of the folds in which the choice without them is that of all items: 1 where the choice is stable."""


def held_out_accuracy(
    hits: Floats, clusters: Codes, *, folds: int, level: float, seed: int, events: tuple[Floats, Floats] | None = None
) -> HeldOut:
    """Estimate the accuracy of the best of several candidates, chosen on all folds but one and scored on that one.

    The estimate is the mean over random splits into K folds. Its hits are not independent: which candidate is chosen
    for one fold depends on the luck of all others, so that the standard error of a proportion is too small. With two
    folds left out, e_in the accuracy inside the others (each scored with the choice of the K - 2 others), e_out that
    of their choice on the fold left out, and v_out the variance of e_out between the clusters of that fold,

        MSE = mean over folds and splits of (e_in - e_out)^2 - v_out

    estimates the squared error of cross-validation. It is kept between v, the cluster-robust variance of the hits of
    one split, and K v. The interval is Wilson's with the effective number of items p (1 - p) / MSE, and Student's t
    with 2 (K - 1) degrees of freedom.

    Source: Bates, Hastie and Tibshirani (2023), Journal of the American Statistical Association, for the mean squared
    error and its limits; details from memory, not consulted. Ours are Wilson's form, and what simulations decided: no
    correction for the bias of K folds, which made the error larger than the bias was; t instead of the factor
    (K - 1) / K and a normal quantile, which covered 90 to 96% where panels were equally good.

    Args:
        hits: whether a candidate is right, shape (items, candidates).
        clusters: the cluster of every item, numbered from 0, shape (items,); folds never part one.
        folds: number of folds K; fewer where there are fewer than two clusters for each.
        level: coverage.
        seed: deals the clusters into folds.
        events: what the candidate chosen for its hits is scored by instead of them: whether the event happened, shape
            (items, candidates), and which items count, 0 or 1, shape (items,). Without: the hits of all items.

    Returns:
        The accuracy, or the rate of the event, method `nested-cross-validation`; that of `clustered_proportion` on the
        hits of one split with fewer than six clusters, and where no hit varies.
    """
    units = int(clusters.max()) + 1
    sums = _sums(hits, clusters, units)
    happened, counted = (hits, np.ones(len(clusters))) if events is None else events
    sizes = np.bincount(clusters, counted, units).astype(np.float64)
    tops = sums if events is None else _sums(happened * counted[:, None], clusters, units)
    there = sizes > 0
    nested = min(units, int(there.sum())) // 2 >= _FEWEST
    folds = min(folds, units // 2) if nested else min(folds, units)
    splits = int(np.clip(_WORK / (folds * (units + folds) * hits.shape[1]), _FEWEST_SPLITS, _SPLITS))
    generator = np.random.default_rng(seed)
    rounds = [_Split.of(sums, sizes, generator.permutation(units) % folds, folds, tops) for _ in range(splits)]
    chosen = sums.sum(axis=0).argmax()
    same = float(np.mean([one.chosen == chosen for one in rounds]))
    if not there.any():
        return HeldOut(accuracy=Estimate(value=None, flags=("empty",)), same=same)
    plain = clustered_proportion(rounds[0].hits[there], sizes[there], level=level)
    value = float(np.mean([one.hits.sum() for one in rounds])) / float(sizes.sum())
    if not nested or plain.low is None or not _NOISE < value < 1 - _NOISE:
        return HeldOut(accuracy=plain, same=same)
    naive = float(np.mean([ratio_variance(one.hits[there], sizes[there]) for one in rounds]))
    if naive <= _NOISE:
        return HeldOut(accuracy=plain, same=same)
    error = float(np.mean([one.excess for one in rounds]))
    variance = min(max(error, naive), folds * naive)
    low, high = effective_score_interval(value, variance, 2 * (folds - 1), level)
    return HeldOut(
        accuracy=evolve(
            plain, value=value, low=min(low, value), high=max(high, value), method="nested-cross-validation"
        ),
        same=same,
    )


def _sums(values: Floats, clusters: Codes, units: int) -> Floats:
    sums = np.zeros((units, values.shape[1]))
    np.add.at(sums, clusters, values)
    return sums


@frozen(kw_only=True, eq=False)
class _Split:
    """One split of the clusters into folds."""

    hits: Floats
    """Hits of every cluster with the candidate chosen without its fold, shape (units,)."""
    chosen: Codes
    """That candidate, shape (folds,)."""
    excess: float
    """Mean over the folds of (e_in - e_out)^2 - v_out."""

    @classmethod
    def of(cls, sums: Floats, sizes: Floats, fold: Codes, folds: int, scored_by: Floats | None = None) -> _Split:
        tops = sums if scored_by is None else scored_by
        member = (fold[:, None] == np.arange(folds)).astype(np.float64)
        within, scored, size = member.T @ sums, member.T @ tops, member.T @ sizes
        total = within.sum(axis=0)
        chosen = (total - within).argmax(axis=1)
        hits = tops[np.arange(len(tops)), chosen[fold]]
        own = np.arange(folds)
        # For every two folds the choice without both, scored on the second of them.
        pairs = np.stack([(total - within - within[left]).argmax(axis=1) for left in own])
        inner = scored[own[None, :], pairs]
        inner[own, own] = 0.0
        # One cluster has no variance that could be told from the error of the choice; nor has a fold that holds all.
        told = (np.bincount(fold[sizes > 0], minlength=folds) > 1) & (size < size.sum())
        outside = scored[own, chosen][told] / size[told]
        inside = inner.sum(axis=1)[told] / (size.sum() - size[told])
        noise = _variances(hits[sizes > 0], sizes[sizes > 0], fold[sizes > 0], folds)[told]
        excess = float(np.mean(np.square(inside - outside) - noise)) if told.any() else 0.0
        return cls(hits=hits, chosen=chosen, excess=excess)


def _variances(hits: Floats, sizes: Floats, fold: Codes, folds: int) -> Floats:
    """Return `ratio_variance` within each fold; 0 of one cluster."""
    units, tops, totals = (np.bincount(fold, weights, folds) for weights in (None, hits, sizes))
    rates = tops / np.maximum(totals, _NOISE)
    squares = np.bincount(fold, np.square(hits - rates[fold] * sizes), folds)
    scale = np.where(units > 1, units / np.maximum(units - 1, 1), 0.0)
    return np.asarray(scale * squares / np.square(np.maximum(totals, _NOISE)))
