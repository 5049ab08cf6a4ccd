"""What people decided about cases, as tables."""

from __future__ import annotations

from collections.abc import Iterator

from jrh import RunReport
from jrh.text import counted
from jrh.values import ReviewEstimate, ReviewReport
from jrh_measuring import format_ends, format_number

from jrh_report.tables import Table, judge_label


def review_tables(report: RunReport, digits: int = 2) -> Iterator[Table]:
    """Yield the tables of the section; nothing where no case was to be reviewed."""
    review = report.review
    if review is None:
        return
    yield _decisions(review, digits)
    for table in (_agreement(review, digits), _validators(review, digits), _effects(report, review, digits)):
        if table.rows:
            yield table


def _decisions(review: ReviewReport, digits: int) -> Table:
    shares = ("accept", "edit", "reject")
    weighted = any(each.weighted for each in review.tests)
    later = f" {counted(review.later, 'later decision')} will count from the next run on." if review.later else ""
    outside = ""
    if review.outside:
        are = "is" if review.outside == 1 else "are"
        outside = (
            f" {counted(review.outside, 'case')} outside the queue {are} also rejected or edited, but not listed here."
        )
    weights = " Shares are weighted by the inverse of a case's chance to be in the queue." if weighted else ""
    return Table(
        title="Review: decisions of people",
        columns=(
            *("task", "test", "queued", "decided", "conflicts"),
            *("unchanged: share", "modified: share", "rejected: share"),
        ),
        rows=tuple(
            (
                *(each.task, each.test, f"{each.queued:,}", f"{each.decided:,}", f"{each.conflicts:,}"),
                *(
                    f"{each.counts[action]:,} of {each.decided:,}: {_written(each.shares[action], digits)}"
                    if each.decided
                    else "-"
                    for action in shares
                ),
            )
            for each in review.tests
        ),
        right=(2, 3, 4),
        note="Every measure leaves rejected cases out and uses an edited case instead of the original. "
        f"A case in conflict does not count as decided.{weights}{outside}{later}",
    )


def _agreement(review: ReviewReport, digits: int) -> Table:
    return Table(
        title="Review: agreement of reviewers",
        columns=("reviewers", "coefficient", "agreement", "cases"),
        rows=tuple(
            (each.who, each.coefficient, _written(each.agreement, digits, share=False), f"{each.agreement.n:,}")
            for each in review.agreement
        ),
        right=(3,),
        note="Agreement on accept, edit or reject, each decided without seeing the other's decision.",
    )


def _validators(review: ReviewReport, digits: int) -> Table:
    return Table(
        title="Review: validators against people",
        columns=("task", "test", "validator", "precision", "cases", "recall", "cases accepted by people"),
        rows=tuple(
            (
                *(each.task, each.test, each.validator, _written(each.precision, digits), f"{each.precision.n:,}"),
                *(_written(each.recall, digits), f"{each.recall.n:,}"),
            )
            for each in review.validators
        ),
        right=(4, 6),
        note="Precision: share of the cases the validator accepted that people accepted unchanged. Recall: share of "
        "the cases people accepted that the validator accepted. Neither includes drafts that did not become cases.",
    )


def _effects(report: RunReport, review: ReviewReport, digits: int) -> Table:
    return Table(
        title="Review: as-expected with and without the decisions",
        columns=("judge", "task", "test", "as reviewed", "verdicts", "as made", "verdicts as made"),
        rows=tuple(
            (
                *(judge_label(report, each.judge), each.task, each.test),
                *(_written(each.counted, digits), f"{each.counted.n:,}"),
                *(_written(each.made, digits), f"{each.made.n:,}"),
            )
            for each in review.effects
        ),
        right=(4, 6),
        note="As reviewed: without rejected cases, and with edited cases as edited. As made: all cases, unedited.",
    )


def _written(found: ReviewEstimate, digits: int, *, share: bool = True) -> str:
    if found.estimate is None:
        return f"not estimable ({found.why})" if found.why else "not estimable"
    number = format_number(found.estimate, digits, proportion=share)
    if found.interval is None:
        return number
    return f"{number} {format_ends(found.interval, digits, proportion=share)}"
