"""What counts as a case: people reject and edit cases, and all later stages see the result alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve

from jrh.running.review_outcomes import CaseReview, case_reviews
from jrh.running.stages.perturb import identified
from jrh.store.run_store import Store
from jrh.suite.definition import Review, ReviewPolicy
from jrh.values.cases import Case
from jrh.values.items import Task
from jrh.values.reviews import Decision, ReviewAction, expectation_of

EDITED_FROM: Final = "review:case"
"""Key of the provenance of an edited case: the id of the case as it was made."""
_NONE: Final = "0 1"
COUNTED: Final = "review_counted"
"""Key of the number of the last decision that counts in the run's plan, and of how many people decide about a case."""


class CountedCases:
    """Says of one case after the other what counts; reads the store once and writes nothing.

    A rejected case is left out; an edited case replaces the one it was made from. Where the suite's
    policy is not `optional`, a case of the queue without a decision is left out, too.
    """

    def __init__(self, store: Store, tasks: Mapping[str, Task], review: Review | None) -> None:
        """Read the decisions and the queue."""
        self._tasks = tasks
        self._reviews = case_reviews(store.decisions.read())
        self._needed = review.reviewers if review is not None else 1
        strict = review is not None and review.policy is not ReviewPolicy.OPTIONAL
        self._queued = {each.case_id for each in store.decisions.queue()} if strict else set()

    @property
    def all_count(self) -> bool:
        """Tell whether every case counts as it was made."""
        return not self._reviews and not self._queued

    def waits(self, case: Case) -> bool:
        """Tell whether a case of the queue has no decision, where the suite does not take it as it is."""
        return case.id in self._queued and self._outcome(case) is None

    def of(self, case: Case) -> Case | None:
        """Return the case that stands for one that was made; None if none does."""
        outcome = self._outcome(case)
        if outcome is None:
            return None if case.id in self._queued else case
        if outcome.action is ReviewAction.EDIT:
            return edited_case(case, outcome, self._tasks[case.task])
        return case if outcome.action is ReviewAction.ACCEPT else None

    def _outcome(self, case: Case) -> Decision | None:
        return self._reviews.get(case.id, CaseReview()).counted(self._needed)


def keep_reviewed(store: Store, edited: Sequence[Case], review: Review | None) -> None:
    """Store the edited cases, and how far the log of decisions was read."""
    store.cases.keep_edited(edited)
    last = f"{store.decisions.last()} {review.reviewers if review is not None else 1}"
    if (store.meta(COUNTED) or _NONE) != last:
        store.set_meta(COUNTED, last)


def counted_up_to(store: Store) -> int:
    """Return the number of the last decision that counts in the run's plan."""
    return int((store.meta(COUNTED) or _NONE).split()[0])


def reviewers(store: Store) -> int:
    """Return how many people decide about a case."""
    return int((store.meta(COUNTED) or _NONE).split()[1])


def number_waiting(store: Store, review: Review) -> int:
    """Count the cases of the queue that wait for a decision."""
    reviews = case_reviews(store.decisions.read())
    cases = store.decisions.queue()
    return sum(reviews.get(each.case_id, CaseReview()).counted(review.reviewers) is None for each in cases)


def edited_case(case: Case, decision: Decision, task: Task) -> Case:
    """Return the new case that an edit makes of a case; equal edits make equal cases, whoever made them."""
    provenance = evolve(case.provenance, details={**case.provenance.details, EDITED_FROM: case.id})
    expectation = expectation_of(decision.expected_after) if decision.expected_after else case.expectation
    fields = {**case.fields, **decision.after}
    return identified(task, evolve(case, fields=fields, expectation=expectation, provenance=provenance))
