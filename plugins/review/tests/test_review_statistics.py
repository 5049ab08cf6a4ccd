"""What a report says of decisions, against numbers worked out by hand and by brute force."""

from __future__ import annotations

import pytest
from jrh.values.cases import Case, Provenance
from jrh_review.decisions import Decision, QueuedCase, ReviewAction, case_reviews
from jrh_review.review_statistics import ONLY_KEPT, review_shares, validator_checks

LABELS = {"YES": "YES", "NO": "NO"}
ACCEPT, EDIT, REJECT = ReviewAction.ACCEPT, ReviewAction.EDIT, ReviewAction.REJECT


def decision(case: str, action: ReviewAction, reviewer: str = "Ann") -> Decision:
    after = {"response": "x"} if action is EDIT else {}
    return Decision(case_id=case, reviewer=reviewer, made="", action=action, after=after)


def queued(number: int, probability: float = 1.0) -> QueuedCase:
    return QueuedCase(f"c{number}", "task", "test", f"i{number}", f"i{number}", probability)


def a_case(number: int, *, refused: bool) -> Case:
    answer = {"label": "NO", **({"accepted": False} if refused else {})}
    return Case(
        id=f"c{number}",
        task="task",
        test="test",
        item_id=f"i{number}",
        fields={},
        label_map=LABELS,
        provenance=Provenance(details={"validator:checker": answer}),
    )


def test_the_table_of_the_paper_comes_out_of_the_decisions() -> None:
    """Fourteen of sixteen drafts were modified and two were not; Wilson's interval is statsmodels'."""
    from statsmodels.stats.proportion import proportion_confint

    queue = [queued(number) for number in range(16)]
    log = [decision(f"c{number}", EDIT if number < 14 else ACCEPT) for number in range(16)]
    (found,) = review_shares(queue, case_reviews(log), 1)
    assert found["counts"] == {"accept": 2, "edit": 14, "reject": 0}
    share = found["shares"]["edit"]
    assert (share["estimate"], share["n"]) == (0.875, 16)
    low, high = proportion_confint(14, 16, method="beta")
    assert (share["interval"]["low"], share["interval"]["high"]) == pytest.approx((low, high), abs=0.01)


def test_shares_weigh_by_the_inverse_of_the_chance_to_be_in_the_queue() -> None:
    """Two cases that stand for four each and four that stand for themselves: (4 + 4) / 12 rejected."""
    queue = [*(queued(number, 0.25) for number in range(2)), *(queued(number) for number in range(2, 6))]
    log = [decision(case.case_id, REJECT if case.probability < 1 else ACCEPT) for case in queue]
    (found,) = review_shares(queue, case_reviews(log), 1)
    assert found["weighted"]
    assert found["shares"]["reject"]["estimate"] == pytest.approx(8 / 12)


def test_a_case_counts_once_enough_people_have_decided() -> None:
    queue = [queued(0), queued(1), queued(2)]
    log = [decision("c0", ACCEPT), decision("c0", ACCEPT, "Ben"), decision("c1", ACCEPT), decision("c2", ACCEPT)]
    log.append(decision("c2", REJECT, "Ben"))
    (found,) = review_shares(queue, case_reviews(log), 2)
    assert (found["decided"], found["conflicts"], found["counts"]["accept"]) == (1, 1, 1)


def test_precision_and_recall_of_a_validator_are_those_of_its_table() -> None:
    """Of ten kept cases it refused four; people accept five of the six it accepted and one of the four it refused."""
    queue = [queued(number) for number in range(10)]
    cases = {f"c{number}": a_case(number, refused=number >= 6) for number in range(10)}
    log = [decision(f"c{number}", ACCEPT if number < 5 or number == 9 else REJECT) for number in range(10)]
    (found,) = validator_checks(queue, case_reviews(log), cases, {("task", "test"): ["checker"]}, 1, 0.95)
    assert (found["precision"]["estimate"], found["precision"]["n"]) == (pytest.approx(5 / 6), 6)
    assert (found["recall"]["estimate"], found["recall"]["n"]) == (pytest.approx(5 / 6), 6)


def test_recall_is_not_estimable_where_only_kept_cases_were_seen() -> None:
    queue = [queued(number) for number in range(4)]
    cases = {f"c{number}": a_case(number, refused=False) for number in range(4)}
    log = [decision(f"c{number}", ACCEPT if number else EDIT) for number in range(4)]
    (found,) = validator_checks(queue, case_reviews(log), cases, {("task", "test"): ["checker"]}, 1, 0.95)
    assert found["precision"]["estimate"] == 0.75
    assert (found["recall"]["estimate"], found["recall"]["why"]) == (None, ONLY_KEPT)
