"""How far people agree about a task's items: with each other, and with themselves on hidden repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from attrs import frozen
from jrh import Item, Task
from jrh.values import clusters_of
from jrh_stats import Estimate, cluster_sums, clustered_kappa, clustered_proportion, krippendorff_alpha

from jrh_review.person_labels import PersonLabel


@frozen(kw_only=True)
class PeopleAgreement:
    """The agreement of the people who labelled a task."""

    pairs: Mapping[tuple[str, str], Estimate]
    """Two people -> Cohen's kappa over the items that both labelled; with quadratic weights on an ordinal scale."""
    alpha: Estimate | None
    """Krippendorff's alpha of all of them, ordinal on an ordinal scale; None where no item has two labels."""
    again: Mapping[str, Estimate]
    """Who -> share of the hidden repeats to which they gave their own first label."""


def people_agreement(
    task: Task, items: Sequence[Item], labels: Iterable[PersonLabel], *, level: float = 0.95
) -> PeopleAgreement:
    """Estimate how far people agree, clustered as a run of the items would be.

    Args:
        task: whose scale is used.
        items: all items of the task.
        labels: those that count, of this task.
        level: coverage of the intervals.
    """
    names = clusters_of(items)
    cluster = {item.id: names[item.id] for item in items}
    numbers = {name: place for place, name in enumerate(dict.fromkeys(cluster.values()))}
    first: dict[str, dict[str, int]] = {}
    again: dict[str, dict[str, int]] = {}
    for each in labels:
        (again if each.again else first).setdefault(each.labeller, {})[each.item_id] = task.scale.rank(each.label)
    pairs = {}
    for one, other in combinations(sorted(first), 2):
        both = [item for item in first[one] if item in first[other]]
        if both:
            pairs[one, other] = clustered_kappa(
                [first[one][item] for item in both],
                [first[other][item] for item in both],
                [numbers[cluster[item]] for item in both],
                weighting="quadratic" if task.scale.ordered else "none",
                level=level,
            )
    counts = {item.id: np.zeros(len(task.scale.labels), dtype=np.int64) for item in items}
    for given in first.values():
        for item, rank in given.items():
            counts[item][rank] += 1
    several = [item for item, each in counts.items() if each.sum() > 1]
    alpha = None
    if several:
        alpha = krippendorff_alpha(
            np.array([counts[item] for item in several]),
            clusters=np.array([numbers[cluster[item]] for item in several]),
            metric="ordinal" if task.scale.ordered else "nominal",
            level=level,
        )
    own = {name: _again(first.get(name, {}), found, cluster, numbers, level) for name, found in sorted(again.items())}
    return PeopleAgreement(pairs=pairs, alpha=alpha, again={name: each for name, each in own.items() if each.n})


def _again(
    first: Mapping[str, int],
    second: Mapping[str, int],
    cluster: Mapping[str, str],
    numbers: Mapping[str, int],
    level: float,
) -> Estimate:
    both = [item for item in second if item in first]
    if not both:
        return Estimate(value=None, flags=("empty",))
    same = np.array([float(first[item] == second[item]) for item in both])
    sums = cluster_sums(np.array([numbers[cluster[item]] for item in both]), same, np.ones(len(both)))
    return clustered_proportion(sums[:, 0], sums[:, 1], level=level)
