"""What the decisions about a case amount to, and what they say about each test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np
from attrs import frozen
from jrh_stats import Estimate, cluster_sums, clustered_kappa, clustered_proportion, krippendorff_alpha

from jrh.values.reviews import DECIDING, Decision, QueuedCase, ReviewAction


@frozen(kw_only=True)
class CaseReview:
    """All that was decided about one case."""

    log: tuple[Decision, ...] = ()

    def own(self, reviewer: str) -> Decision | None:
        """Return what a reviewer decided without knowing of others; a skip counts, what was taken back does not."""
        return _standing(each for each in self.log if each.reviewer == reviewer and not each.settles)

    @property
    def blind(self) -> Mapping[str, Decision]:
        """Return the decision of everybody who decided."""
        found = {each.reviewer: self.own(each.reviewer) for each in self.log}
        return {name: each for name, each in found.items() if each is not None and each.action in DECIDING}

    @property
    def is_open(self) -> bool:
        """Tell whether two people have decided: from then on everybody may see what."""
        return len(self.blind) > 1

    @property
    def settlement(self) -> Decision | None:
        """Return the decision that settles the case, if one was made."""
        return _standing(each for each in self.log if each.settles and each.action is not ReviewAction.SKIP)

    @property
    def in_conflict(self) -> bool:
        """Tell whether people decided differently and nothing settles it."""
        different = any(one.content != other.content for one, other in combinations(self.blind.values(), 2))
        return different and self.settlement is None

    @property
    def outcome(self) -> Decision | None:
        """Return the decision that counts; None where there is none, or a conflict."""
        if self.settlement is not None:
            return self.settlement
        return None if self.in_conflict else next(iter(self.blind.values()), None)

    def counted(self, reviewers: int) -> Decision | None:
        """Return the decision that counts, once enough people have decided or somebody has settled a conflict."""
        enough = self.settlement is not None or len(self.blind) >= reviewers
        return self.outcome if enough else None

    def known_to(self, reviewer: str) -> CaseReview:
        """Return what a reviewer may know: the own decisions, and everybody's once two have decided."""
        if self.is_open:
            return self
        return CaseReview(log=tuple(each for each in self.log if each.reviewer == reviewer))

    def version(self, reviewer: str) -> int:
        """Return a number that grows with every row a reviewer may know of; it tells nothing of hidden ones."""
        return max((each.number for each in self.known_to(reviewer).log), default=0)


def _standing(log: Iterable[Decision]) -> Decision | None:
    last = next(reversed(list(log)), None)
    return None if last is None or last.action is ReviewAction.UNDO else last


def case_reviews(log: Iterable[Decision]) -> Mapping[str, CaseReview]:
    """Sort a log of decisions by case."""
    found: dict[str, list[Decision]] = {}
    for each in log:
        found.setdefault(each.case_id, []).append(each)
    return {case_id: CaseReview(log=tuple(rows)) for case_id, rows in found.items()}


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
    queue: Sequence[QueuedCase], reviews: Mapping[str, CaseReview], *, level: float = 0.95
) -> tuple[TestReview, ...]:
    """Estimate per test what share of the cases people accept, edit and reject.

    A case counts with the inverse of its probability of being in the queue (Hajek's estimator: the weights' sum is the
    denominator), scaled to a mean of 1; with equal probabilities that is the plain share. Clusters as in the run.
    """
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
