"""What the builder adds to an estimate: counts, missing verdicts, bounds, flags, and the reason where there is none."""

from __future__ import annotations

import numpy as np
import pytest
from jrh import MetricContext, RecordTable, Scale, Task
from jrh_measuring import (
    Basis,
    BreakdownOptions,
    MeasureBuilder,
    MetricOptions,
    Scores,
    against_gold,
    as_expected,
    cells_of,
    complement,
)
from jrh_stats import Estimate
from jrh_testing import loop_over


def builder_of(labels: list[str | None], *, gold: str = "YES", draws: str = "metrics", **columns) -> MeasureBuilder:
    """Read one trial per label, each of an item of its own, of the reference condition."""
    size = len(labels)
    table = {
        "task": ["task"] * size,
        "judge": ["judge"] * size,
        "test": ["reference"] * size,
        "item_id": [str(item) for item in range(size)],
        "status": ["ok" if label else "refused" for label in labels],
        "canonical": labels,
        "gold": [gold] * size,
    } | columns
    context = MetricContext(tasks={"task": Task(name="task", scale=Scale.of_labels("YES", "NO"))})
    return MeasureBuilder.of(RecordTable.from_columns(table), context, MetricOptions(), draws=draws)


def rate(builder: MeasureBuilder):
    (cell,) = cells_of(builder.trials)
    return builder.rate("gold-accuracy", cell, against_gold(builder.trials), nothing="no gold label")


def test_a_rate_has_the_exact_interval_and_bounds_for_what_is_missing() -> None:
    from scipy.stats import binomtest

    asked_again = [str(item) for item in (*range(18), 0, 1)]
    found = rate(builder_of(["YES"] * 12 + ["NO"] * 6 + [None] * 2, item_id=asked_again))
    expected = binomtest(12, 18).proportion_ci(method="exact")
    assert (found.estimate, found.n_trials, found.n_items) == (12 / 18, 18, 18)
    assert (found.interval.low, found.interval.high) == pytest.approx((expected.low, expected.high))
    assert found.missing == {"refused": 2}
    assert found.bounds == (12 / 20, 14 / 20)
    assert found.flags == ("constant-gold", "sensitive-to-missing")


def test_what_was_asked_once_and_is_missing_is_allowed_for() -> None:
    """Nothing tells why: Wilson's ends with all missing verdicts wrong, and right, at a one-sided level."""
    from scipy.stats import binomtest

    found = rate(builder_of(["YES"] * 12 + ["NO"] * 6 + [None] * 2))
    assert found.interval.method == "imbens-manski"
    assert found.bounds == (12 / 20, 14 / 20)
    low, high = (binomtest(right, 20).proportion_ci(0.9, method="exact") for right in (12, 14))
    assert found.interval.low <= low.low + 1e-9
    assert found.interval.high >= high.high - 1e-9
    assert found.flags == ("constant-gold", "untestable-missing")


@loop_over(
    ("labels", "flags"),
    [
        (["YES", "NO"], {"constant-gold", "few-items"}),
        (["YES"] * 3, {"constant-gold", "constant-verdicts", "few-items"}),
        ([None, None], {"all-missing"}),
        (["YES"], {"few-items"}),
    ],
)
def test_flags_follow_from_the_trials(labels: list[str | None], flags: set[str]) -> None:
    assert set(rate(builder_of(labels)).flags) == flags


def test_a_simulated_judge_is_marked() -> None:
    assert "simulated" in rate(builder_of(["YES", "NO"], simulated=[1.0, 1.0])).flags


def test_a_coefficient_of_one_item_has_no_estimate() -> None:
    builder = builder_of(["YES"])
    (cell,) = cells_of(builder.trials)
    estimate = Estimate(value=-0.105, low=-0.5, high=0.5, method="any")
    found = builder.measure("kappa", Basis(cell, cell.rows, cell.rows), estimate, unit="coefficient")
    assert (found.estimate, found.interval) == (None, None)
    assert "one-item" in found.flags


@pytest.mark.parametrize(("flags", "expected"), [((), "one-item"), (("degenerate",), "degenerate")])
def test_a_coefficient_that_one_item_leaves_undefined_says_so(flags: tuple[str, ...], expected: str) -> None:
    builder = builder_of(["YES"])
    (cell,) = cells_of(builder.trials)
    estimate = Estimate(value=None, flags=flags)
    found = builder.measure("icc", Basis(cell, cell.rows, cell.rows), estimate, unit="coefficient")
    assert set(found.flags) & {"one-item", "degenerate", "empty"} == {expected}


def test_what_has_a_verdict_and_no_score_is_counted_by_the_name_the_scores_give() -> None:
    builder = builder_of(["YES", "NO"])
    (cell,) = cells_of(builder.trials)
    scores = Scores(eligible=np.ones(2, bool), value=np.array([1.0, np.nan]), unscored="no_rationale")
    found = builder.rate("hits", cell, scores, nothing="nothing")
    assert (found.missing, found.bounds, found.n_trials) == ({"no_rationale": 1}, None, 1)


def test_where_nothing_counts_the_note_says_so() -> None:
    found = rate(builder_of(["YES"], gold=None))
    assert (found.estimate, found.note, found.missing) == (None, "no gold label", {})


def test_the_mirror_of_a_rate_mirrors_interval_and_bounds() -> None:
    found = rate(builder_of(["YES"] * 3 + ["NO", None]))
    other = complement(found, "errors")
    assert (other.name, other.estimate) == ("errors", 0.25)
    assert (other.interval.low, other.interval.high) == (1 - found.interval.high, 1 - found.interval.low)
    assert other.bounds == (1 - found.bounds[1], 1 - found.bounds[0])


def test_metrics_that_draw_under_one_name_draw_the_same_numbers() -> None:
    one, same, other = (builder_of(["YES"], draws=draws) for draws in ("metrics", "metrics", "mine"))
    (cell,) = cells_of(one.trials)
    assert one.seed(cell) == same.seed(cell) != other.seed(cell)
    assert one.seed(cell.part({"variant": "a"})) != one.seed(cell)


def test_parts_of_a_test_are_measured_where_there_are_several() -> None:
    builder = builder_of(["YES"] * 4, stratum=["a", "a", "b", "b"], variant=["v"] * 4)
    cells = [dict(cell.levels) for cell in cells_of(builder.trials, ("variant", "stratum"))]
    assert cells == [{}, {"stratum": "a"}, {"stratum": "b"}]
    with pytest.raises(ValueError, match="'kind'"):
        BreakdownOptions(by=("kind",))


def test_one_expectation_read_twice_is_scored_once() -> None:
    trials = builder_of(["YES", "NO"]).trials
    assert as_expected(trials) is as_expected(trials)
