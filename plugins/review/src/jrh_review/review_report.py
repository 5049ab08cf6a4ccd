"""What a report says of the decisions about cases: the stage's data, and the section that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from jrh import Case, RecordTable, RunReport
from jrh.running import StageWork
from jrh.text import count_noun
from jrh.values import Column, Importance, Row, Section, TablePart

from jrh_review.decisions import ReviewAction, case_reviews
from jrh_review.desk import ReviewDesk
from jrh_review.review_statistics import (
    not_estimable,
    review_shares,
    reviewer_agreement,
    shares_as_expected,
    validator_checks,
    write_estimate,
)

NAME: Final = "review"
"""The name of the stage and of its section."""
_NOT_JUDGED: Final = not_estimable("cases that people rejected or edited were not judged")
_NONE_LEFT: Final = not_estimable("no verdict is left")


def review_data(
    records: RecordTable, work: StageWork, desk: ReviewDesk, upto: int, needed: int
) -> Mapping[str, Any] | None:
    """Return what a report says of the decisions; None where no case is to be reviewed and none was.

    Args:
        records: of the run.
        work: the run.
        desk: its decisions.
        upto: the number of the last decision that counts in the plan.
        needed: how many people decide about a case.
    """
    level, log = work.summary.level, desk.log()
    # The tests of the run; the store also keeps cases of others.
    validators = {(test.task, test.test): test.validators for test in work.summary.tests_of_tasks}
    # Later decisions count from the next run on: this report is about the verdicts that this run asked for.
    reviews = case_reviews(decision for decision in log if decision.number <= upto)
    queue = [case for case in desk.queue() if (case.task, case.test) in validators]
    queued = {case.case_id for case in queue}
    known = work.store.cases.by_id(sorted(queued | set(reviews)))
    cases = {name: case for name, case in known.items() if (case.task, case.test) in validators}
    if not cases:
        return None
    outcomes = {name: review.effective_decision(needed) for name, review in reviews.items() if name in cases}
    gone = {name: cases[name] for name, last in outcomes.items() if last and last.action is not ReviewAction.ACCEPT}
    return {
        "tests": review_shares(queue, reviews, needed, level=level),
        "agreement": reviewer_agreement(queue, reviews, level=level),
        "validators": list(validator_checks(queue, reviews, cases, validators, needed, level)),
        "effects": list(_effects(work, records, gone)),
        "outside": len(gone.keys() - queued),
        "later": sum(decision.number > upto for decision in log),
    }


def _effects(work: StageWork, records: RecordTable, gone: Mapping[str, Case]) -> Iterator[dict[str, Any]]:
    """Yield the share as expected of every judge and test whose cases people changed, with and without decisions."""
    if not gone:
        return
    before_review = work.records_as_made(gone)
    counting = shares_as_expected(records, work.tasks, work.summary.level)
    as_made = shares_as_expected(before_review, work.tasks, work.summary.level)
    judged = set(before_review.text("case_id")) if len(before_review) else set()
    changed = {(case.task, case.test) for case in gone.values()}
    # A share without the cases that were never judged would compare two different sets of cases.
    incomplete = {(case.task, case.test) for name, case in gone.items() if name not in judged}
    for key in dict.fromkeys([*counting, *as_made]):
        judge, *place = key
        if tuple(place) in changed:
            before = _NOT_JUDGED if tuple(place) in incomplete else as_made.get(key, _NONE_LEFT)
            named = {"judge": judge, "task": place[0], "test": place[1]}
            yield {**named, "counted": counting.get(key, _NONE_LEFT), "made": before}


class ReviewSection:
    """Shows what people decided as tables."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield the section; nothing where no case was to be reviewed."""
        review: Any = report.stages.get(NAME)
        if review is None:
            return
        parts = (
            _decisions(review),
            _table(
                "Agreement of reviewers",
                review["agreement"],
                {"reviewers": "who", "coefficient": "coefficient"},
                {"agreement": lambda row: write_estimate(row["agreement"], share=False), "cases": _number("agreement")},
                "Agreement on accept, edit or reject, each decided without seeing the other's decision.",
            ),
            _table(
                "Validators against people",
                review["validators"],
                {"task": "task", "test": "test", "validator": "validator"},
                {
                    "precision": lambda row: write_estimate(row["precision"]),
                    "cases": _number("precision"),
                    "recall": lambda row: write_estimate(row["recall"]),
                    "cases accepted by people": _number("recall"),
                },
                "Precision: share of the cases the validator accepted that people accepted unchanged. Recall: share of "
                "the cases people accepted that the validator accepted. Neither includes drafts that did not become "
                "cases.",
            ),
            _table(
                "As-expected with and without the decisions",
                review["effects"],
                {"judge": "judge", "task": "task", "test": "test"},
                {
                    "as reviewed": lambda row: write_estimate(row["counted"]),
                    "verdicts": _number("counted"),
                    "as made": lambda row: write_estimate(row["made"]),
                    "verdicts as made": _number("made"),
                },
                "As reviewed: without rejected cases, and with edited cases as edited. As made: all cases, unedited.",
            ),
        )
        yield Section(importance=Importance.MAIN, parts=tuple(part for part in parts if part.rows))


def _decisions(review: Mapping[str, Any]) -> TablePart:
    tests, outside, later = review["tests"], review["outside"], review["later"]
    notes = ["Every measure leaves rejected cases out and uses an edited case instead of the original."]
    notes.append("A case in conflict does not count as decided.")
    if any(test["weighted"] for test in tests):
        notes.append("Shares are weighted by the inverse of a case's chance to be in the queue.")
    if outside:
        are = "is" if outside == 1 else "are"
        notes.append(
            f"{count_noun(outside, 'case')} outside the queue {are} also rejected or edited, but not listed here."
        )
    if later:
        notes.append(f"{count_noun(later, 'later decision')} will count from the next run on.")

    def share(action: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: (
            f"{row['counts'][action]:,} of {row['decided']:,}: {write_estimate(row['shares'][action])}"
            if row["decided"]
            else "-"
        )

    numbers = {name: (lambda row, name=name: f"{row[name]:,}") for name in ("queued", "decided", "conflicts")}
    shares = {"unchanged: share": share("accept"), "modified: share": share("edit"), "rejected: share": share("reject")}
    return _table(
        "Decisions of people", tests, {"task": "task", "test": "test"}, {**numbers, **shares}, " ".join(notes)
    )


def _table(
    caption: str,
    rows: Iterable[Mapping[str, Any]],
    heads: Mapping[str, str],
    columns: Mapping[str, Callable[[Mapping[str, Any]], str]],
    note: str,
) -> TablePart:
    return TablePart(
        caption=caption,
        heads=tuple(heads),
        columns=tuple(Column(heading=heading) for heading in columns),
        rows=tuple(
            Row(heads=tuple(row[name] for name in heads.values()), cells=tuple(cell(row) for cell in columns.values()))
            for row in rows
        ),
        note=note,
    )


def _number(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: f"{row[name]['n']:,}"
