"""Gather what a report says of the decisions that people made about the cases of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from jrh.running.review_outcomes import CaseReview, case_reviews
from jrh.running.review_statistics import agreement_of_reviewers, expected_shares, reviewed_tests, validator_checks
from jrh.running.stages.reviewed import counted_up_to, reviewers
from jrh.running.stages.stored_records import records_as_made
from jrh.store.run_store import Store
from jrh.values.cases import Case
from jrh.values.items import Task
from jrh.values.records import RecordTable
from jrh.values.review_report import ReviewEffect, ReviewEstimate, ReviewReport
from jrh.values.reviews import ReviewAction

NOT_JUDGED: Final = "cases that people rejected or edited were not judged"


def review_section(
    store: Store,
    records: RecordTable,
    tasks: Mapping[str, Task],
    validators: Mapping[tuple[str, str], tuple[str, ...]],
    level: float,
) -> ReviewReport | None:
    """Return the section; None where no case is to be reviewed and none was.

    Args:
        store: the run.
        records: those of its report.
        tasks: the tasks by name.
        validators: the tests of the run by task and name, with their validators; the store also keeps cases of others.
        level: coverage of the intervals.
    """
    log = store.decisions.read()
    stored = store.decisions.queue()
    if not stored and not log:
        return None
    needed, upto = reviewers(store), counted_up_to(store)
    reviews = case_reviews(each for each in log if each.number <= upto)
    queue = [each for each in stored if (each.task, each.test) in validators]
    queued = {each.case_id for each in queue}
    known = store.cases.by_id(sorted(queued | set(reviews)))
    cases = {name: each for name, each in known.items() if (each.task, each.test) in validators}
    if not cases:
        return None
    effects = _effects(store, records, reviews, cases, tasks, needed, level)
    return ReviewReport(
        tests=tuple(reviewed_tests(queue, reviews, needed, level)),
        agreement=tuple(agreement_of_reviewers(queue, reviews, level)),
        validators=tuple(validator_checks(queue, reviews, cases, validators, needed, level)),
        effects=tuple(effects),
        outside=len(_changed(reviews, cases, needed) - queued),
        later=sum(each.number > upto for each in log),
    )


def _changed(reviews: Mapping[str, CaseReview], cases: Mapping[str, Case], needed: int) -> set[str]:
    """Return the cases that people rejected or edited."""
    outcomes = {name: each.counted(needed) for name, each in reviews.items() if name in cases}
    return {name for name, each in outcomes.items() if each is not None and each.action is not ReviewAction.ACCEPT}


def _effects(
    store: Store,
    records: RecordTable,
    reviews: Mapping[str, CaseReview],
    cases: Mapping[str, Case],
    tasks: Mapping[str, Task],
    needed: int,
    level: float,
) -> Iterator[ReviewEffect]:
    """Yield the measure of every judge and test whose cases people changed, with and without their decisions."""
    gone = _changed(reviews, cases, needed)
    if not gone:
        return
    before_review = records_as_made(store, {name: cases[name] for name in gone})
    counted = expected_shares(records, tasks, level)
    made = expected_shares(before_review, tasks, level)
    judged = set(before_review.text("case_id")) if len(before_review) else set()
    changed = {(cases[name].task, cases[name].test) for name in gone}
    incomplete = {(cases[name].task, cases[name].test) for name in gone - judged}
    for judge, task, test in dict.fromkeys([*counted, *made]):
        if (task, test) in changed:
            none = ReviewEstimate(estimate=None, n=0, why="no verdict is left")
            before = made.get((judge, task, test), none)
            unknown = ReviewEstimate(estimate=None, n=0, why=NOT_JUDGED)
            yield ReviewEffect(
                judge=judge,
                task=task,
                test=test,
                counted=counted.get((judge, task, test), none),
                made=unknown if (task, test) in incomplete else before,
            )
