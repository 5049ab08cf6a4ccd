"""How trials score, by hand: against labels and expectations, in levels, between conditions, between judges."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from jrh import JrhError, MetricContext, RecordTable, Scale, Task
from jrh.values import Criteria
from jrh_measuring import (
    Levels,
    Pairs,
    against_gold,
    agreement_scores,
    answers_by,
    as_expected,
    count_missing_by_status,
    gold_changes,
    judge_pairs,
    panels_of,
    read_trials,
)
from jrh_measuring.weighted_scores import response_facts
from jrh_testing import loop_over

YES_NO = Scale.of_labels("YES", "NO")
DEFAULTS = {
    "task": "task", "judge": "judge", "test": "reference", "item_id": "1", "variant": "", "status": "ok",
    "canonical": "YES", "gold": None, "expectation": None, "expected": None, "repeat": 0,
}  # fmt: skip


def trials_of(*rows: dict[str, Any], scale: Scale = YES_NO):
    """Read rows; what they leave out is that of an answered question of the reference condition."""
    full = [DEFAULTS | {"trial_id": str(place), "case_id": str(place)} | row for place, row in enumerate(rows)]
    columns = {name: [row.get(name) for row in full] for name in dict.fromkeys(key for row in full for key in row)}
    task = Task(name="task", scale=scale)
    return read_trials(RecordTable.from_columns(columns), MetricContext(tasks={"task": task}))


def scored(trials, scores) -> list[float | None]:
    """Return what every eligible row scores, in the order of the table; None where it has no score."""
    found = sorted((int(trials.place[row]), row) for row in np.flatnonzero(scores.eligible))
    return [float(scores.value[row]) if scores.answered[row] else None for _, row in found]


def test_a_single_level_that_applies_adds_nothing_to_a_weighted_score() -> None:
    task = Task(name="task", scale=Scale.of_levels(1, 2), criteria=Criteria(name="score", not_applicable="2"))
    facts = response_facts(trials_of({"canonical": "1"}, {"canonical": "2"}, scale=task.scale), {}, [task])
    assert np.isnan(facts.credit).all()


def test_gold_counts_in_the_reference_condition_and_where_the_verdict_should_stay() -> None:
    trials = trials_of(
        {"gold": "YES"}, {"gold": "NO"}, {"test": "t", "gold": "YES", "expectation": "same", "canonical": "NO"},
        {"test": "t", "gold": "YES", "expectation": "changes"},
    )  # fmt: skip
    assert scored(trials, against_gold(trials)) == [1.0, 0.0, 0.0]


def test_an_item_asked_twice_scores_the_share_of_its_reference_verdicts() -> None:
    trials = trials_of({}, {"canonical": "NO", "repeat": 1}, {"test": "t", "expectation": "same"})
    scores = agreement_scores(trials)
    assert scored(trials, scores) == [0.5]
    assert scores.bounds(np.flatnonzero(scores.eligible)) == (0.5, 0.5)


@loop_over(
    ("expectation", "verdict", "expected", "score"),
    [
        ("same", "2", None, 1.0),
        ("same", "3", None, 0.0),
        ("changes", "3", None, 1.0),
        ("not_above", "3", None, 0.0),
        ("not_above", "1", None, 1.0),
        ("not_below", "2", None, 1.0),
        ("equals", "3", "3", 1.0),
    ],
)
def test_what_is_expected_is_what_scores(expectation: str, verdict: str, expected: str | None, score: float) -> None:
    perturbed = {"test": "t", "expectation": expectation, "canonical": verdict, "expected": expected}
    trials = trials_of({"canonical": "2"}, perturbed, scale=Scale.of_levels(1, 3))
    assert scored(trials, as_expected(trials)) == [score]


def test_without_an_order_nothing_is_above() -> None:
    trials = trials_of({}, {"test": "t", "expectation": "not_above"})
    assert scored(trials, as_expected(trials)) == []


def test_a_verdict_off_the_scale_is_missing_by_that_name() -> None:
    trials = trials_of({"canonical": "MAYBE", "gold": "YES"}, {"canonical": None, "status": "refused", "gold": "YES"})
    assert scored(trials, against_gold(trials)) == [None, None]
    assert count_missing_by_status(trials, np.arange(2)) == {"off_scale": 1, "refused": 1}


@pytest.mark.parametrize("column", ["gold", "expected"])
def test_a_truth_off_the_scale_is_refused(column: str) -> None:
    with pytest.raises(JrhError, match=f"the {column} label 'MAYBE' is not on the scale of task 'task'"):
        trials_of({column: "MAYBE"})


def test_errors_are_steps_and_a_missing_verdict_could_be_as_wrong_as_the_scale_is_long() -> None:
    trials = trials_of(
        {"canonical": "1", "gold": "3"}, {"canonical": None, "status": "timeout", "gold": "2", "item_id": "2"},
        scale=Scale.of_levels(1, 5),
    )  # fmt: skip
    levels = Levels.of(trials)
    assert scored(trials, levels.scores(levels.errors, -levels.top, levels.top)) == [-2.0, None]
    assert scored(trials, levels.scores((np.abs(levels.errors) <= 1).astype(float), 0.0, 1.0)) == [0.0, None]
    assert levels.scores(np.abs(levels.errors), 0.0, levels.top).bounds(np.arange(2)) == (1.0, 3.0)


def test_a_change_is_against_the_mean_of_the_items_reference_verdicts() -> None:
    trials = trials_of(
        {"gold": "YES"}, {"gold": "YES", "canonical": "NO", "repeat": 1},
        {"test": "t", "gold": "YES", "expectation": "same"},
        {"test": "t", "gold": "YES", "expectation": "same", "item_id": "2"},
    )  # fmt: skip
    assert scored(trials, gold_changes(trials)) == [0.5, None]


def test_conditions_are_paired_within_items_and_every_pair_weighs_the_same() -> None:
    rows = [
        {"test": "t", "template": template, "item_id": item, "canonical": label, "presented": label}
        for item, labels in (("1", ("YES", "YES", "NO")), ("2", ("NO", "NO", "NO")))
        for template, label in zip("abc", labels, strict=True)
    ]
    trials = trials_of(*rows)
    (answers,) = answers_by(trials, "template")
    pairs = Pairs.of(answers)
    assert [pairs.name(pair) for pair in range(3)] == ["a | b", "a | c", "b | c"]
    assert pairs.scores.tolist() == [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    assert pairs.bounds == (pytest.approx(4 / 6), pytest.approx(4 / 6))
    assert len(pairs.rows) == 6


def test_two_judges_are_compared_on_the_questions_that_both_were_asked() -> None:
    trials = trials_of(
        {"judge": "x", "case_id": "1"},
        {"judge": "x", "case_id": "2", "item_id": "2"},
        {"judge": "y", "case_id": "2", "item_id": "2"},
    )  # fmt: skip
    ((cell, first, second),) = [pair for panel in panels_of(trials) for pair in judge_pairs(trials, panel)]
    assert (cell.judge, dict(cell.levels)) == ("x", {"against": "y"})
    assert [trials.item.names[trials.item.codes[row]] for row in (*first, *second)] == ["2", "2"]
