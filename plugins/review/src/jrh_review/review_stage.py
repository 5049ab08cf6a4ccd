"""The stage in which people decide about cases: what a report says of their decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve
from jrh import Case, RecordTable, RunReport
from jrh.plugins import Stage
from jrh.running import CaseReview, StageWork, case_reviews, counted_up_to, reviewers
from jrh.values import ReviewAction, ReviewEffect, ReviewEstimate, ReviewReport

from jrh_review.review_statistics import agreement_of_reviewers, expected_shares, reviewed_tests, validator_checks

NOT_JUDGED: Final = "cases that people rejected or edited were not judged"


class ReviewStage(Stage):
    """Adds what people decided to the report."""

    def applies(self, work: StageWork) -> bool:
        """Return whether cases are to be reviewed, or were."""
        return bool(work.store.decisions.queue()) or work.store.decisions.last() > 0

    def report(self, report: RunReport, work: StageWork) -> RunReport:
        """Add the review."""
        return evolve(report, review=review_report(report.records, work))


def review_report(records: RecordTable, work: StageWork) -> ReviewReport | None:
    """Return what a report says of the decisions; None where no case is to be reviewed and none was."""
    store, level = work.store, work.summary.level
    # The tests of the run; the store also keeps cases of others.
    validators = {(each.task, each.test): each.validators for each in work.summary.tests_of_tasks}
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
    effects = _effects(work, records, reviews, cases, needed)
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
    work: StageWork,
    records: RecordTable,
    reviews: Mapping[str, CaseReview],
    cases: Mapping[str, Case],
    needed: int,
) -> Iterator[ReviewEffect]:
    """Yield the measure of every judge and test whose cases people changed, with and without their decisions."""
    gone = _changed(reviews, cases, needed)
    if not gone:
        return
    level = work.summary.level
    before_review = work.records_as_made({name: cases[name] for name in gone})
    counted = expected_shares(records, work.tasks, level)
    made = expected_shares(before_review, work.tasks, level)
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
