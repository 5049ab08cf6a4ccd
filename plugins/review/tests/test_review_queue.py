"""Queues that take some cases first: the chances are those that are stored, and weights undo them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from jrh.errors import JrhError
from jrh_review.decisions import QueuedCase
from jrh_review.desk import draw_queue, inclusion, systematic
from jrh_review.listed_cases import CaseScore
from jrh_review.options import First, QueueRequest

CASES = 60
SIZE = 15
DRAWS = 2_000


def cases() -> list[QueuedCase]:
    return [QueuedCase(f"c{n}", "task", "test", f"i{n}", f"i{n}", 1.0) for n in range(CASES)]


def scores() -> list[CaseScore]:
    """Two judges: they differ on every fifth case, and one of them is wrong on every seventh."""
    rows = []
    for n in range(CASES):
        right = 0.0 if n % 7 == 0 else 1.0
        rows.append(CaseScore(f"c{n}", "YES", 1.0))
        rows.append(CaseScore(f"c{n}", "NO" if n % 5 == 0 else "YES", right))
    return rows


def test_chances_are_proportional_add_up_to_the_size_and_are_at_most_one() -> None:
    assert inclusion([1, 1, 2], 2) == [0.5, 0.5, 1.0]
    assert inclusion([10, 1, 1, 2], 2) == [1.0, 0.25, 0.25, 0.5]
    assert sum(inclusion([random.Random(n).random() for n in range(50)], 20)) == pytest.approx(20)


def test_cases_are_drawn_as_often_as_their_chance_says_and_weights_undo_it() -> None:
    """The share of every fifth case, of samples that prefer those: Horvitz-Thompson's is unbiased, Hajek's nearly."""
    request = QueueRequest(sample=SIZE, first=First.DISAGREEMENT)
    made, rows = cases(), scores()
    queues = [
        draw_queue(made, QueueRequest(sample=SIZE, first=request.first, seed=seed), lambda: rows)
        for seed in range(DRAWS)
    ]
    assert {len(queue) for queue in queues} <= {SIZE - 1, SIZE, SIZE + 1}
    chance = {case.case_id: case.probability for queue in queues for case in queue}
    times = {case_id: sum(case.case_id == case_id for queue in queues for case in queue) for case_id in chance}
    for case_id, count in times.items():
        p = chance[case_id]
        assert abs(count / DRAWS - p) <= 4.5 * np.sqrt(p * (1 - p) / DRAWS) + 1e-9, case_id
    shares, totals, plain = [], [], []
    for queue in queues:
        weights = np.array([1 / case.probability for case in queue])
        hits = np.array([int(case.case_id[1:]) % 5 == 0 for case in queue])
        shares.append((weights * hits).sum() / weights.sum())
        totals.append((weights * hits).sum() / CASES)
        plain.append(hits.mean())
    assert np.mean(plain) > 0.3, "the queue prefers those on which judges differ"
    assert abs(np.mean(totals) - 0.2) < 4 * np.std(totals) / np.sqrt(DRAWS)
    assert abs(np.mean(shares) - 0.2) < 4 * np.std(shares) / np.sqrt(DRAWS) + 0.01


def test_the_highest_score_comes_first_and_all_cases_have_a_chance() -> None:
    queue = draw_queue(cases(), QueueRequest(first=First.DISAGREEMENT), scores)
    assert len(queue) == CASES
    assert {case.probability for case in queue} == {1.0}
    first = [int(case.case_id[1:]) for case in queue[:12]]
    assert set(first[:2]) == {0, 35}, "judges differ, and one of them is wrong"
    assert {number % 5 for number in first} == {0}


def test_an_order_without_verdicts_is_refused() -> None:
    with pytest.raises(JrhError, match="needs verdicts"):
        draw_queue(cases(), QueueRequest(first=First.DISAGREEMENT), list)


def test_a_systematic_sample_takes_certain_cases_always() -> None:
    assert systematic([1.0, 0.5, 0.5], 0.9) == [0, 2]
    assert systematic([1.0, 0.5, 0.5], 0.2) == [0, 1]
