"""Simulated nights against what was planted."""

from __future__ import annotations

import numpy as np
import pytest
from jrh import JrhError, MetricContext, RecordTable
from jrh_decide.gate_risk import Chance
from jrh_decide.resampling import Nights, join_runs


def table(verdicts: list[list[str | None]], clusters: list[str] | None = None) -> RecordTable:
    """Return records with one row of verdicts per item; the right label is YES, None is a refusal."""
    rows = [
        {
            "trial_id": f"t{item}-{repeat}", "case_id": f"c{item}", "item_id": f"i{item}", "task": "t", "judge": "j",
            "test": "reference", "repeat": repeat, "gold": "YES", "canonical": verdict, "simulated": 0,
            "status": "ok" if verdict else "refused", "cluster": clusters[item] if clusters else f"i{item}",
        }
        for item, given in enumerate(verdicts)
        for repeat, verdict in enumerate(given)
    ]  # fmt: skip
    return RecordTable.from_columns({name: [row[name] for row in rows] for name in rows[0]})


def nights_of(records: RecordTable) -> Nights:
    return Nights(records, len(records), MetricContext(tasks={}))


def share_of_yes(records: RecordTable) -> float:
    return float(np.mean([verdict == "YES" for verdict in records.text("canonical")]))


def test_nights_waver_as_much_as_pairs_of_repeats_however_few_repeats_there_are() -> None:
    random = np.random.default_rng(1)
    # Every question is right with 0.8: pairs differ in 32 of 100; drawing from two verdicts would show 16.
    verdicts = [[str(each) for each in random.choice(["YES", "NO"], 2, p=[0.8, 0.2])] for _ in range(2000)]
    nights = nights_of(table(list(map(list, verdicts))))
    chances = nights.draw_chances(random)
    differ = 1 - (chances**2).sum(axis=1).mean()
    assert differ == pytest.approx(0.32, abs=0.03)


def test_a_judge_that_never_wavers_gives_the_same_night_again() -> None:
    nights = nights_of(table([["YES"] * 5] * 150 + [["NO"] * 5] * 50))
    random = np.random.default_rng(2)
    again = nights.night(nights.draw_chances(random), np.arange(200), 1, random)
    assert share_of_yes(again) == pytest.approx(0.75, abs=0.01)


def test_a_loss_is_as_large_as_it_is_said_to_be_and_stays_for_good() -> None:
    random = np.random.default_rng(3)
    nights = nights_of(table([["YES", "YES"]] * 90 + [["NO", "NO"]] * 10))
    chances = nights.draw_chances(random)
    worse = nights.lose(chances, 0.05, random)
    right = nights.verdicts.index("YES")
    assert (chances - worse)[:, right].mean() == pytest.approx(0.05)
    # Five questions lose all of it, rather than all questions a little of it.
    assert ((chances - worse)[:, right] > 0.5).sum() in (5, 6)


def test_a_cluster_that_is_drawn_twice_counts_as_two_with_items_of_its_own() -> None:
    nights = nights_of(table([["YES", "NO"]] * 4, ["a", "a", "b", "b"]))
    random = np.random.default_rng(4)
    again = nights.night(nights.draw_chances(random), np.array([0, 0, 0]), 1, random)
    assert len(again) == 12
    assert len(again.counts("cluster")) == 3
    assert len(again.counts("item_id")) == 6


def test_missing_verdicts_are_drawn_with_their_status() -> None:
    nights = nights_of(table([["YES", None]] * 100))
    random = np.random.default_rng(5)
    again = nights.night(nights.draw_chances(random), np.arange(100), 1, random)
    assert again.counts("status")["refused"] == pytest.approx(100, abs=30)


def test_one_verdict_of_every_question_is_refused() -> None:
    with pytest.raises(JrhError, match="judge 'j' has answered no question twice"):
        nights_of(table([["YES"], ["NO"]]))


def test_runs_are_joined_and_one_that_repeats_another_is_left_out() -> None:
    one, other = table([["YES"], ["NO"]]), table([["YES"], ["YES"]])
    joined, ignored = join_runs([one, other, one])
    assert (len(joined), ignored) == (4, 1)


def test_the_interval_of_a_chance_is_exact_without_differences_between_studies_and_wider_with_them() -> None:
    alike, apart = Chance.of([2, 2, 2, 2] * 10, 4), Chance.of([0, 4, 0, 4] * 10, 4)
    assert alike.value == apart.value == 0.5
    assert (alike.low, alike.high) == pytest.approx((0.42, 0.58), abs=0.01)
    assert apart.low < 0.1
    assert apart.high > 0.9
