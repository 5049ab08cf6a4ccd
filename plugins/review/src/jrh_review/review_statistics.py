"""Compute what a report says of the decisions that people made about cases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from attrs import frozen
from jrh import Case, MetricContext, RecordTable, Task
from jrh_measuring import as_expected, read_trials
from jrh_stats import Estimate, cluster_sums, clustered_kappa, clustered_proportion, krippendorff_alpha

from jrh_review.decisions import DECIDING, CaseReview, QueuedCase, ReviewAction

ONLY_KEPT: Final = "only cases that the validator accepted were seen"
_PREFIX: Final = "validator:"


def plain(found: Estimate, level: float, n: int | None = None) -> dict[str, Any]:
    """Return an estimate as plain data; `n` is what it rests on, where that is not its number of observations."""
    whole = found.low is not None and found.high is not None
    ends = {"low": found.low, "high": found.high, "level": level, "method": found.method}
    why = ", ".join(found.flags) if found.value is None else ""
    count = int(found.n) if n is None else n
    return {"estimate": found.value, "interval": ends if whole else None, "n": count, "why": why}


def validator_checks(
    queue: Sequence[QueuedCase],
    reviews: Mapping[str, CaseReview],
    cases: Mapping[str, Case],
    validators: Mapping[tuple[str, str], Sequence[str]],
    reviewers: int,
    level: float,
) -> Iterator[dict[str, Any]]:
    """Yield precision and recall of each validator against people.

    A draft that a validator rejects becomes no case, and nobody sees it. Recall can therefore be estimated only where a
    test keeps or relabels what a validator refuses (`on_mismatch`), over the cases that were kept. An edited case is
    not an accepted one. Weights and clusters are those of the shares of decisions.
    """
    for (task, test), names in validators.items():
        mine = [each for each in queue if (each.task, each.test) == (task, test) and each.case_id in cases]
        outcomes = [(each, reviews.get(each.case_id, CaseReview()).counted(reviewers)) for each in mine]
        decided = [(each, outcome.action is ReviewAction.ACCEPT) for each, outcome in outcomes if outcome is not None]
        for name in names:
            rows = [(each, _accepts(cases[each.case_id], name), good) for each, good in decided]
            seen = any(not accepts for _, accepts, _ in rows)
            precision = _share([(each, good) for each, accepts, good in rows if accepts], level)
            recall = _share([(each, accepts) for each, accepts, good in rows if good], level)
            unseen = {"estimate": None, "interval": None, "n": recall["n"], "why": ONLY_KEPT}
            named = {"task": task, "test": test, "validator": name}
            yield {**named, "precision": precision, "recall": recall if seen else unseen}


def _accepts(case: Case, validator: str) -> bool:
    """Tell whether a validator accepted a case; one that says nothing of it did, or there would be no case."""
    answer = case.provenance.details.get(f"{_PREFIX}{validator}")
    return not isinstance(answer, Mapping) or answer.get("accepted") is not False


def _share(rows: Sequence[tuple[QueuedCase, bool]], level: float) -> dict[str, Any]:
    if not rows:
        return {"estimate": None, "interval": None, "n": 0, "why": "no case"}
    weights = np.array([1 / each.probability for each, _ in rows])
    weights = weights / weights.mean() if len(set(weights)) > 1 else np.ones(len(weights))
    clusters = np.unique([each.cluster for each, _ in rows], return_inverse=True)[1]
    sums = cluster_sums(clusters, np.array([good for _, good in rows]) * weights, weights)
    return plain(clustered_proportion(sums[:, 0], sums[:, 1], level=level), level, len(rows))


def expected_shares(
    records: RecordTable, tasks: Mapping[str, Task], level: float
) -> Mapping[tuple[str, str, str], dict[str, Any]]:
    """Return the share of verdicts as expected by judge, task and test, scored as the metrics score them."""
    if not len(records):
        return {}
    trials = read_trials(records, MetricContext(tasks=tasks))
    scores = as_expected(trials)
    rows = scores.eligible & scores.answered & ~np.isnan(scores.value) & ~trials.reference
    found = {}
    keys = np.stack([trials.judge.codes, trials.task.codes, trials.written_test.codes])
    for judge, task, test in np.unique(keys[:, rows], axis=1).T.tolist():
        mine = np.flatnonzero(rows & (keys == np.array([[judge], [task], [test]])).all(axis=0))
        clusters = np.unique(trials.cluster.codes[mine], return_inverse=True)[1]
        sums = cluster_sums(clusters, scores.value[mine], np.ones(len(mine)))
        share = plain(clustered_proportion(sums[:, 0], sums[:, 1], level=level), level, len(mine))
        names = trials.judge.names[judge], trials.task.names[task], trials.written_test.names[test]
        found[names] = share
    return found


@frozen(kw_only=True)
class TestReview:
    """The decisions about the cases of one test."""

    __test__ = False  # pytest would take it for a test

    task: str
    test: str
    queued: int
    decided: int
    """Cases with an outcome."""
    conflicts: int
    counts: Mapping[ReviewAction, int]
    """Decided cases that were accepted, edited, rejected."""
    shares: Mapping[ReviewAction, Estimate]
    """Share of the decided cases that were accepted, edited, rejected, with the interval of its clusters."""
    weighted: bool
    """Whether the cases came into the queue with different probabilities."""


@frozen(kw_only=True)
class ReviewerAgreement:
    """How far people agree about the cases that two of them or more decided without seeing each other's decisions."""

    cases: int
    pairs: Mapping[tuple[str, str], Estimate]
    """Two reviewers -> Cohen's kappa of accept, edit and reject."""
    alpha: Estimate | None
    """Krippendorff's nominal alpha of all of them."""


def review_shares(
    queue: Sequence[QueuedCase], reviews: Mapping[str, CaseReview], needed: int = 1, *, level: float = 0.95
) -> tuple[TestReview, ...]:
    """Estimate per test what share of the cases people accept, edit and reject; a case counts once `needed` decided.

    A case counts with the inverse of its probability of being in the queue (Hajek's estimator: the weights' sum is the
    denominator), scaled to a mean of 1; with equal probabilities that is the plain share. Clusters as in the run.
    """
    reviews = {name: each for name, each in reviews.items() if each.in_conflict or each.counted(needed) is not None}
    groups: dict[tuple[str, str], list[QueuedCase]] = {}
    for case in queue:
        groups.setdefault((case.task, case.test), []).append(case)
    return tuple(_of_test(task, test, cases, reviews, level) for (task, test), cases in groups.items())


def _of_test(
    task: str, test: str, cases: Sequence[QueuedCase], reviews: Mapping[str, CaseReview], level: float
) -> TestReview:
    known = [(case, reviews.get(case.case_id, CaseReview())) for case in cases]
    decided = [(case, review.outcome) for case, review in known if review.outcome is not None]
    actions = [each.action for _, each in decided if each is not None]
    weights = np.array([1 / case.probability for case, _ in decided])
    # Equal weights are exactly 1, so that independent cases have Wilson's interval.
    weights = weights / weights.mean() if len(set(weights)) > 1 else np.ones(len(weights))
    clusters = np.unique([case.cluster for case, _ in decided], return_inverse=True)[1]

    def share(action: ReviewAction) -> Estimate:
        if not actions:
            return Estimate(value=None, flags=("empty",))
        hits = np.array([each is action for each in actions]) * weights
        sums = cluster_sums(clusters, hits, weights)
        return clustered_proportion(sums[:, 0], sums[:, 1], level=level)

    return TestReview(
        task=task,
        test=test,
        queued=len(cases),
        decided=len(decided),
        conflicts=sum(review.in_conflict for _, review in known),
        counts={action: actions.count(action) for action in DECIDING},
        shares={action: share(action) for action in DECIDING},
        weighted=len({case.probability for case in cases}) > 1,
    )


def reviewer_agreement(
    queue: Sequence[QueuedCase], reviews: Mapping[str, CaseReview], *, level: float = 0.95
) -> ReviewerAgreement:
    """Estimate how far reviewers agree, from the decisions that they made independently."""
    open_cases = [(case, reviews[case.case_id].blind) for case in queue if case.case_id in reviews]
    both = [(case, blind) for case, blind in open_cases if len(blind) > 1]
    clusters = np.unique([f"{case.task}\0{case.cluster}" for case, _ in both], return_inverse=True)[1]
    names = sorted({name for _, blind in both for name in blind})
    pairs: dict[tuple[str, str], Estimate] = {}
    for one, other in combinations(names, 2):
        places = [place for place, (_, blind) in enumerate(both) if one in blind and other in blind]
        if places:
            first, second = ([DECIDING.index(both[place][1][name].action) for place in places] for name in (one, other))
            pairs[one, other] = clustered_kappa(first, second, clusters[places], level=level)
    counts = [[sum(each.action is action for each in blind.values()) for action in DECIDING] for _, blind in both]
    alpha = krippendorff_alpha(counts, clusters=clusters, level=level) if both else None
    return ReviewerAgreement(cases=len(both), pairs=pairs, alpha=alpha)
