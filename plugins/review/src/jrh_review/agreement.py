"""How far people agree about the same things, and which share of them meets a condition, with clustered intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from attrs import frozen
from jrh import Item, Task
from jrh.values import clusters_of
from jrh_stats import (
    AlphaMetric,
    Estimate,
    Weighting,
    cluster_sums,
    clustered_kappa,
    clustered_proportion,
    krippendorff_alpha,
)
from numpy.typing import ArrayLike

from jrh_review.person_labels import PersonLabel


@frozen(kw_only=True)
class Agreement:
    """The agreement of people who rated the same things without seeing each other's ratings."""

    several: int
    """Things that two people or more rated."""
    pairs: Mapping[tuple[str, str], Estimate]
    """Two people -> Cohen's kappa over the things that both rated; with quadratic weights of ordered ratings."""
    alpha: Estimate | None
    """Krippendorff's alpha of all of them, ordinal of ordered ratings; None where nothing has two ratings."""


def rater_agreement(
    ratings: Sequence[Mapping[str, int]], clusters: Sequence[str], values: int, *, level: float, ordered: bool = False
) -> Agreement:
    """Estimate how far people agree.

    Args:
        ratings: of every thing, who rated it how: numbers from 0 on.
        clusters: the cluster of every thing.
        values: how many different ratings there can be.
        level: coverage of the intervals.
        ordered: whether ratings near each other are nearly an agreement.
    """
    codes = np.unique(clusters, return_inverse=True)[1]
    pairs = {}
    for one, other in combinations(sorted({name for own in ratings for name in own}), 2):
        both = [place for place, own in enumerate(ratings) if one in own and other in own]
        if both:
            first, second = ([ratings[place][name] for place in both] for name in (one, other))
            weighting: Weighting = "quadratic" if ordered else "none"
            pairs[one, other] = clustered_kappa(first, second, codes[both], weighting=weighting, level=level)
    several = [place for place, own in enumerate(ratings) if len(own) > 1]
    alpha = None
    if several:
        counts = [np.bincount(list(ratings[place].values()), minlength=values) for place in several]
        metric: AlphaMetric = "ordinal" if ordered else "nominal"
        alpha = krippendorff_alpha(counts, clusters=codes[several], metric=metric, level=level)
    return Agreement(several=len(several), pairs=pairs, alpha=alpha)


def share_of(hits: ArrayLike, clusters: ArrayLike, level: float, chances: Sequence[float] | None = None) -> Estimate:
    """Estimate the share of things that meet a condition.

    Args:
        hits: 1 where it is met, 0 elsewhere, or a share of 1; shape (things,).
        clusters: the cluster of every thing.
        level: coverage of the interval.
        chances: with which every thing came into the sample. It then counts with the inverse of its chance (Hajek's
            estimator: the weights' sum is the denominator), scaled to a mean of 1.
    """
    hits = np.asarray(hits, dtype=np.float64)
    if not len(hits):
        return Estimate(value=None, flags=("empty",))
    # Equal weights are exactly 1, so that independent things have Wilson's interval.
    weights = np.ones(len(hits))
    if chances is not None and len(set(chances)) > 1:
        weights = 1 / np.array(chances)
        weights /= weights.mean()
    codes = np.unique(clusters, return_inverse=True)[1]
    sums = cluster_sums(codes, hits * weights, weights)
    return clustered_proportion(sums[:, 0], sums[:, 1], level=level)


def people_agreement(
    task: Task, items: Sequence[Item], labels: Iterable[PersonLabel], *, level: float = 0.95
) -> tuple[Agreement, Mapping[str, Estimate]]:
    """Estimate how far people agree with each other, and with themselves on the hidden repeats.

    Args:
        task: whose scale is used.
        items: all items of the task; they are clustered as a run of them would be.
        labels: those that count, of this task.
        level: coverage of the intervals.

    Returns:
        The agreement over the items, and by person the share of the hidden repeats that got the person's first label.
    """
    clusters = clusters_of(items)
    first: dict[str, dict[str, int]] = {item.id: {} for item in items}
    again: dict[str, dict[str, int]] = {}
    for each in labels:
        rank = task.scale.rank(each.label)
        if each.again:
            again.setdefault(each.labeller, {})[each.item_id] = rank
        else:
            first[each.item_id][each.labeller] = rank
    names = [clusters[item] for item in first]
    ordered, values = task.scale.ordered, len(task.scale.labels)
    agreement = rater_agreement([*first.values()], names, values, level=level, ordered=ordered)
    repeats = {}
    for name in sorted(again):
        both = [(item, first[item][name] == rank) for item, rank in again[name].items() if name in first[item]]
        if both:
            repeats[name] = share_of([same for _, same in both], [clusters[item] for item, _ in both], level)
    return agreement, repeats
