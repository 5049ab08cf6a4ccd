"""Compute how far people agree, and what a report says of the decisions that they made about cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from attrs import frozen
from jrh import Case, Interval, Item, MetricContext, RecordTable, Task
from jrh.values import clusters_of
from jrh_measuring import EMPTY, as_expected, format_ends, format_number, read_trials
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

from jrh_review.decisions import DECIDING, CaseReview, QueuedCase, ReviewAction
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
    for first_name, other in combinations(sorted({name for by_person in ratings for name in by_person}), 2):
        both = [place for place, by_person in enumerate(ratings) if first_name in by_person and other in by_person]
        if both:
            first, second = ([ratings[place][name] for place in both] for name in (first_name, other))
            weighting: Weighting = "quadratic" if ordered else "none"
            pairs[first_name, other] = clustered_kappa(first, second, codes[both], weighting=weighting, level=level)
    several = [place for place, by_person in enumerate(ratings) if len(by_person) > 1]
    alpha = None
    if several:
        # Alpha is defined on things with two ratings or more.
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
        return Estimate(value=None, flags=(EMPTY,))
    # Equal weights are exactly 1, so that independent things have Wilson's interval.
    weights = np.ones(len(hits))
    if chances is not None and len(set(chances)) > 1:
        weights = 1 / np.array(chances)
        weights /= weights.mean()
    sums = cluster_sums(np.unique(clusters, return_inverse=True)[1], hits * weights, weights)
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
    for label in labels:
        rank = task.scale.rank(label.label)
        if label.again:
            again.setdefault(label.labeller, {})[label.item_id] = rank
        else:
            first[label.item_id][label.labeller] = rank
    names = [clusters[item] for item in first]
    ordered, values = task.scale.ordered, len(task.scale.labels)
    agreement = rater_agreement([*first.values()], names, values, level=level, ordered=ordered)
    repeats = {}
    for name in sorted(again):
        both = [(item, first[item][name] == rank) for item, rank in again[name].items() if name in first[item]]
        if both:
            repeats[name] = share_of([same for _, same in both], [clusters[item] for item, _ in both], level)
    return agreement, repeats


ONLY_KEPT: Final = "only cases that the validator accepted were seen"
NO_CASE: Final = "no case"
_PREFIX: Final = "validator:"
_DIGITS: Final = 2


def plain_estimate(found: Estimate, level: float, n: int | None = None) -> dict[str, Any]:
    """Return an estimate as plain data; `n` is what it rests on, where that is not its number of observations."""
    has_ends = found.low is not None and found.high is not None
    ends = {"low": found.low, "high": found.high, "level": level, "method": found.method}
    why = ", ".join(found.flags) if found.value is None else ""
    count = int(found.n) if n is None else n
    return {"estimate": found.value, "interval": ends if has_ends else None, "n": count, "why": why}


def not_estimable(why: str, n: int = 0) -> dict[str, Any]:
    """Return, as `plain_estimate` does, that there is no estimate."""
    return {"estimate": None, "interval": None, "n": n, "why": why}


def write_estimate(found: Mapping[str, Any], *, share: bool = True) -> str:
    """Write an estimate that `plain_estimate` returned, with its interval."""
    if found["estimate"] is None:
        return f"not estimable ({found['why']})" if found["why"] else "not estimable"
    number = format_number(found["estimate"], _DIGITS, proportion=share)
    if found["interval"] is None:
        return number
    return f"{number} {format_ends(Interval(**found['interval']), _DIGITS, proportion=share)}"


def validator_checks(
    queue: Sequence[QueuedCase],
    reviews: Mapping[str, CaseReview],
    cases: Mapping[str, Case],
    validators: Mapping[tuple[str, str], Sequence[str]],
    reviewers: int,
    level: float,
) -> Iterator[dict[str, Any]]:
    """Yield precision and recall of each validator against people.

    A draft that a validator rejects becomes no case, and no reviewer sees it. Recall can therefore be estimated only
    where a test keeps or relabels what a validator refuses (`on_mismatch`), over the cases that were kept. An edited
    case is not an accepted one. Weights and clusters are those of the shares of decisions.
    """
    for (task, test), names in validators.items():
        mine = [case for case in queue if (case.task, case.test) == (task, test) and case.case_id in cases]
        outcomes = [(case, reviews.get(case.case_id, CaseReview()).effective_decision(reviewers)) for case in mine]
        decided = [(case, outcome.action is ReviewAction.ACCEPT) for case, outcome in outcomes if outcome is not None]
        for name in names:
            rows = [(case, _accepts(cases[case.case_id], name), good) for case, good in decided]
            # If all cases were accepted, recall would be 1 by construction.
            any_refused = any(not accepts for _, accepts, _ in rows)
            precision = _share([(case, good) for case, accepts, good in rows if accepts], level)
            recall = _share([(case, accepts) for case, accepts, good in rows if good], level)
            named = {"task": task, "test": test, "validator": name}
            recall = recall if any_refused else not_estimable(ONLY_KEPT, recall["n"])
            yield {**named, "precision": precision, "recall": recall}


def _accepts(case: Case, validator: str) -> bool:
    """Tell whether a validator accepted a case; one that says nothing of it did, or there would be no case."""
    answer = case.provenance.details.get(f"{_PREFIX}{validator}")
    return not isinstance(answer, Mapping) or answer.get("accepted") is not False


def _share(rows: Sequence[tuple[QueuedCase, bool]], level: float) -> dict[str, Any]:
    """Estimate a share of cases of the queue, weighted by the inverse of their chance to be in it."""
    if not rows:
        return not_estimable(NO_CASE)
    hits, clusters = [hit for _, hit in rows], [case.cluster for case, _ in rows]
    return plain_estimate(share_of(hits, clusters, level, [case.probability for case, _ in rows]), level, len(rows))


def shares_as_expected(
    records: RecordTable, tasks: Mapping[str, Task], level: float
) -> Mapping[tuple[str, str, str], dict[str, Any]]:
    """Return the share of verdicts as expected by judge, task and test, scored as the metrics score them."""
    if not len(records):
        return {}
    trials = read_trials(records, MetricContext(tasks=tasks))
    scores = as_expected(trials)
    rows = scores.eligible & scores.answered & ~np.isnan(scores.value) & ~trials.reference
    shares = {}
    keys = np.stack([trials.judge.codes, trials.task.codes, trials.written_test.codes])
    for judge, task, test in np.unique(keys[:, rows], axis=1).T.tolist():
        mine = np.flatnonzero(rows & (keys == np.array([[judge], [task], [test]])).all(axis=0))
        names = trials.judge.names[judge], trials.task.names[task], trials.written_test.names[test]
        share = share_of(scores.value[mine], trials.cluster.codes[mine], level)
        shares[names] = plain_estimate(share, level, len(mine))
    return shares


def review_shares(
    queue: Sequence[QueuedCase], reviews: Mapping[str, CaseReview], needed: int = 1, *, level: float = 0.95
) -> list[dict[str, Any]]:
    """Estimate per test what share of the cases people accept, edit and reject; a case counts once `needed` decided."""
    groups: dict[tuple[str, str], list[QueuedCase]] = {}
    for case in queue:
        groups.setdefault((case.task, case.test), []).append(case)
    rows = []
    for (task, test), cases in groups.items():
        known = [(case, reviews.get(case.case_id, CaseReview())) for case in cases]
        counted = [(case, review.effective_decision(needed)) for case, review in known]
        decided = [(case, outcome.action) for case, outcome in counted if outcome is not None]
        hits = {action_of: [(case, action is action_of) for case, action in decided] for action_of in DECIDING}
        rows.append(
            {
                "task": task,
                "test": test,
                "queued": len(cases),
                "decided": len(decided),
                "counts": {action.value: sum(hit for _, hit in of) for action, of in hits.items()},
                "shares": {action.value: _share(of, level) for action, of in hits.items()},
                "conflicts": sum(review.in_conflict for _, review in known),
                "weighted": len({case.probability for case in cases}) > 1,
            }
        )
    return rows


def reviewer_agreement(
    queue: Sequence[QueuedCase], reviews: Mapping[str, CaseReview], *, level: float = 0.95
) -> list[dict[str, Any]]:
    """Estimate how far reviewers agree on accept, edit and reject, from decisions that they made independently."""
    blind = [(case, reviews[case.case_id].blind) for case in queue if case.case_id in reviews]
    ratings = [{name: DECIDING.index(row.action) for name, row in decisions.items()} for _, decisions in blind]
    # Clusters are named within a task; two tasks may use the same names.
    clusters = [f"{case.task}\0{case.cluster}" for case, _ in blind]
    raters = rater_agreement(ratings, clusters, len(DECIDING), level=level)
    rows = [(" and ".join(pair), "Cohen's kappa", plain_estimate(kappa, level)) for pair, kappa in raters.pairs.items()]
    if raters.alpha is not None:
        rows.append(("all", "Krippendorff's alpha", plain_estimate(raters.alpha, level, raters.several)))
    return [{"who": who, "coefficient": name, "agreement": estimate} for who, name, estimate in rows]
