"""Variance components, panels and calibration over records, against the same computed by hand or by other means."""

from typing import Any

import jrh_metrics.plugin
import numpy as np
import pytest
from jrh import MetricContext, RecordTable, Scale, Task
from jrh_testing import build


def table(rows: list[dict[str, Any]]) -> RecordTable:
    full = [
        {
            "task": "task",
            "test": "reference",
            "variant": "",
            "template": "",
            "option_order": "",
            "status": "ok" if row.get("canonical") is not None else "refused",
            "gold": None,
            "expectation": "equals",
            "expected": row.get("gold"),
            "repeat": 0,
            "simulated": False,
            "cost": None,
            "probability": None,
            **row,
        }
        for row in rows
    ]
    for row in full:
        row["case_id"] = "/".join(str(row[name]) for name in ("test", "item_id", "variant", "template", "option_order"))
    return RecordTable.from_columns(
        {name: [row.get(name) for row in full] for name in dict.fromkeys(k for r in full for k in r)}
    )


def measured(metric, rows, scale, options=None):
    task = Task(name="task", scale=scale)
    context = MetricContext(tasks={"task": task}, resamples=100)
    found = build(jrh_metrics.plugin, metric, options=options, task=task).measure(table(rows), context)
    return {(each.name, *each.cell.values()): each for each in found}


# Shrout and Fleiss (1979), table 2: six targets, four judges.
SHROUT = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))


def shrout(**more):
    return [
        {"item_id": f"i{item}", "judge": f"j{judge}", "canonical": str(level), **more}
        for item, levels in enumerate(SHROUT)
        for judge, level in enumerate(levels)
    ]


def test_the_dependability_of_one_verdict_is_the_intraclass_correlation_of_shrout_and_fleiss():
    found = measured("generalizability", shrout(), Scale.of_levels(1, 10))
    assert found["dependability",].estimate == pytest.approx(0.290, abs=5e-4)
    assert found["generalizability",].estimate == pytest.approx(0.715, abs=5e-4)
    assert {key[1] for key in found if key[0] == "variance"} == {"item", "judge", "residual"}


def test_the_cheapest_design_says_how_many_judges_at_which_price():
    found = measured("generalizability", shrout(cost=0.002), Scale.of_levels(1, 10), {"wished_dependability": 0.6})
    # ICC(2,k) of these data: .290 for one judge, .620 for four.
    best = found["cheapest-design",]
    assert best.estimate == 4
    assert "4 judge" in best.note
    assert "$0.008 per item" in best.note


def test_a_wish_out_of_reach_is_said_to_be():
    found = measured("generalizability", shrout(), Scale.of_levels(1, 10), {"wished_dependability": 0.99})
    assert found["cheapest-design",].estimate is None
    assert "no design" in found["cheapest-design",].note


def test_a_wished_standard_error_is_reached_instead_of_a_dependability():
    found = measured("generalizability", shrout(), Scale.of_levels(1, 10), {"wished_error": 1.2})
    of_one = found["variance", "judge"].estimate + found["variance", "residual"].estimate
    best = found["cheapest-design",]
    # sigma(Delta)^2 = (judge + residual) / judges, Brennan (2001).
    assert best.estimate == next(n for n in (1, 2, 3, 4, 5, 6, 8, 10) if (of_one / n) ** 0.5 <= 1.2)
    assert f"standard error {(of_one / best.estimate) ** 0.5:.3f}" in best.note


def test_templates_and_orders_are_facets_and_changed_texts_are_not():
    rows = shrout() + shrout(test="prompts", template="short", expectation="same")
    rows += shrout(test="format", variant="crlf", expectation="same")
    found = measured("generalizability", rows, Scale.of_levels(1, 10))
    assert found["variance", "template"].estimate == 0
    assert found["variance", "item:judge"].n_trials == 48


def test_temperature_is_a_facet_where_a_test_varies_it():
    rows = [{**row, "temperature": None} for row in shrout()]
    rows += [
        {**row, "test": "stochastic", "family": "stochastic", "expectation": "same", "temperature": heat}
        | {"canonical": str(min(int(row["canonical"]) + shift, 10)), "case_id": f"{row['item_id']}-{heat}"}
        for row in shrout()
        for heat, shift in ((0.0, 0), (1.0, 1))
    ]
    found = measured("generalizability", rows, Scale.of_levels(1, 10))
    assert found["variance", "temperature"].estimate > 0
    assert not any("temperature" in str(key) for key in measured("generalizability", shrout(), Scale.of_levels(1, 10)))


def test_no_interval_of_a_variance_reaches_beyond_what_the_scale_allows():
    """Three judges, verdicts missing here and there, every repeat equal."""
    draws = np.random.default_rng(2)
    rows = [
        {"item_id": f"i{item}", "judge": f"j{judge}", "repeat": repeat, "canonical": "YES" if yes else "NO"}
        for item in range(12)
        for judge, yes in enumerate(draws.random(3) < 0.4 + 0.2 * (item % 2))
        if draws.random() < 0.8
        for repeat in range(2)
    ]
    found = measured("generalizability", rows, Scale.of_labels("YES", "NO"))

    parts = {name: found["variance", name] for name in ("item", "judge", "item:judge", "residual")}
    ends = [part.interval.high for part in parts.values() if part.interval]
    assert max(ends) <= 0.25
    assert parts["residual"].estimate == 0
    assert parts["residual"].interval is None
    assert parts["residual"].flags[0] == "no-interval"
    assert "few-levels" in parts["judge"].flags
    assert parts["item"].interval.method == "cluster-bootstrap"


def test_verdicts_that_never_differ_have_components_of_zero_and_no_ratio():
    rows = [{"item_id": f"i{n}", "judge": f"j{k}", "canonical": "YES"} for n in range(6) for k in range(3)]
    measures = measured("generalizability", rows, Scale.of_labels("YES", "NO"))
    ratio = measures["dependability",]
    assert (ratio.estimate, ratio.note) == (None, "all verdicts have the same score: there is no variance")


def test_names_without_order_have_no_variance():
    rows = [{"item_id": str(i), "judge": j, "canonical": "abc"[i % 3]} for i in range(6) for j in ("x", "y")]
    found = measured("generalizability", rows, Scale.of_labels("a", "b", "c"))
    assert found["dependability",].estimate is None
    assert "unordered labels" in found["dependability",].note


def votes(*columns: str):
    """Make the verdicts of judges a, b, c ... from one text per judge, one letter per item; the right label is Y."""
    return [
        {"item_id": str(item), "judge": "abcd"[judge], "canonical": {"Y": "Y", "N": "N", ".": None}[mark], "gold": "Y"}
        for judge, column in enumerate(columns)
        for item, mark in enumerate(column)
    ]


def test_the_panel_is_right_where_the_majority_is():
    found = measured("panel", votes("YYNN", "YNYN", "YYYN"), Scale.of_labels("Y", "N"))
    assert found["panel-accuracy",].estimate == 0.75
    assert found["panel-accuracy", "c"].estimate == 0.25  # a and b agree on Y once; ties decide nothing
    assert found["error-correlation", "a & b"].estimate == pytest.approx(np.corrcoef([0, 0, 1, 1], [0, 1, 0, 1])[0, 1])


def test_the_correlation_of_two_judges_rests_on_their_own_trials_and_has_an_interval():
    found = measured("panel", votes("YYNNYNYNYY" * 4, "YNYNYNYNYN" * 4, "Y." * 20), Scale.of_labels("Y", "N"))
    both, other = found["error-correlation", "a & b"], found["error-correlation", "a & c"]
    assert both.interval.low < both.estimate < both.interval.high
    assert both.interval.method == "profile-likelihood"
    assert (both.n_trials, dict(both.missing)) == (80, {})
    assert (other.n_trials, dict(other.missing)) == (60, {"refused": 20})
    assert found["panel-accuracy", "c"].n_trials == 80


def test_judges_that_err_alike_are_worth_one():
    found = measured("panel", votes("YYNNY", "YYNNY", "YYNNY"), Scale.of_labels("Y", "N"))
    assert found["effective-judges",].estimate == pytest.approx(1)


def test_missing_votes_are_counted_and_do_not_vote():
    found = measured("panel", votes("YY.Y", "YNYY", "NYYY"), Scale.of_labels("Y", "N"))
    assert found["panel-accuracy",].estimate == 1.0
    assert found["panel-accuracy",].missing == {"refused": 1}


def test_one_judge_is_no_panel_and_three_have_no_trio_to_choose():
    assert measured("panel", votes("YYN"), Scale.of_labels("Y", "N")) == {}
    assert ("best-trio",) not in measured("panel", votes("YYN", "YYY", "NYN"), Scale.of_labels("Y", "N"))


def test_the_best_trio_names_its_judges():
    # Two of a, c, d together with b are wrong where one of the two is; a, c and d together never are.
    found = measured(
        "panel", votes("N" + "Y" * 9, "N" * 8 + "YY", "YN" + "Y" * 8, "YYN" + "Y" * 7), Scale.of_labels("Y", "N")
    )
    note = found["best-trio",].note
    assert note.startswith("a, c, d;")
    assert "1.000" in note


def test_calibration_compares_probabilities_with_right_answers():
    rows = [
        {"item_id": str(i), "judge": "j", "canonical": "Y" if i < 6 else "N", "gold": "Y", "probability": 0.9}
        for i in range(10)
    ]
    found = measured("calibration", rows, Scale.of_labels("Y", "N"))
    error = found["calibration-error",]
    assert error.note.endswith("plain estimate 0.300")
    assert 0.25 < error.estimate <= 0.3 + 1e-9
    assert error.interval.low > 0
    assert found["brier",].estimate == pytest.approx((6 * 0.01 + 4 * 0.81) / 10)
    assert found["reliability", "0.8 to 0.9"].estimate == 0.6


def test_a_judge_without_probabilities_has_no_calibration():
    rows = [{"item_id": "1", "judge": "j", "canonical": "Y", "gold": "Y"}]
    assert measured("calibration", rows, Scale.of_labels("Y", "N")) == {}
