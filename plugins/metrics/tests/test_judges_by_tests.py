"""The first sections of reports: judges by tests, and what being right costs."""

from __future__ import annotations

from typing import Any

import jrh_metrics.plugin
import pytest
from attrs import evolve
from jrh import Interval, Measure, RecordTable, RunReport, Scale, Task
from jrh.values import CostLine, MeasureRef, TablePart, TaskSummary
from jrh_measuring import CurvePart, HeatPart
from jrh_metrics.judges_by_tests import CostOfAccuracy, JudgesByTests
from jrh_testing import SectionContract, loop_over, sample_report

TASK = Task(name="task", scale=Scale.of_labels("YES", "NO"))


def a_measure(
    name: str, judge: str = "a", test: str = "reference", estimate: float | None = 0.8, **fields: Any
) -> Measure:
    interval = None if estimate is None else Interval(low=estimate - 0.1, high=estimate + 0.1)
    given = {"n_items": 50, "n_trials": 100, "interval": interval}
    return Measure(name=name, judge=judge, task="task", test=test, estimate=estimate, **(given | fields))


def a_run(*measures: Measure, costs: tuple[CostLine, ...] = (), **fields: Any) -> RunReport:
    judges = tuple(dict.fromkeys(measure.judge for measure in measures))
    given = {
        "judges": judges,
        "tests": ("reference", "format"),
        "simulated": frozenset(),
        "records": RecordTable({}, {}),
    }
    summary = TaskSummary(task=TASK, items=50, labelled=50, gold={"YES": 25, "NO": 25})
    return evolve(sample_report(), tasks=(summary,), measures=measures, costs=costs, **(given | fields))


def a_price(judge: str, price: float | None) -> CostLine:
    return CostLine(
        judge=judge, task="task", test="reference", trials=100, cost=100 * (price or 0.0),
        unknown=100 if price is None else 0, prompt_tokens=1000, completion_tokens=10, tokens_unknown=0,
    )  # fmt: skip


def bought(judges: dict[str, tuple[float | None, float | None]]) -> RunReport:
    """Make a run of judges with a price per question, None if unknown, and an accuracy."""
    measures = (a_measure("gold-accuracy", judge, estimate=right) for judge, (_, right) in judges.items())
    return a_run(*measures, costs=tuple(a_price(judge, price) for judge, (price, _) in judges.items()))


def heat(report: RunReport) -> HeatPart:
    (section,) = JudgesByTests().sections(report)
    (part,) = section.parts
    assert isinstance(part, HeatPart)
    return part


def costs(report: RunReport) -> tuple[CurvePart | None, dict[str, tuple[Any, ...]]]:
    (section,) = CostOfAccuracy().sections(report)
    (table,) = [part for part in section.parts if isinstance(part, TablePart)]
    planes = [part for part in section.parts if isinstance(part, CurvePart)]
    return planes[0] if planes else None, {row.heads[0]: row.cells[1:] for row in table.rows}


WHOLE = a_run(
    a_measure("gold-accuracy"),
    a_measure("gold-accuracy", test="format", n_trials=0, estimate=None),
    a_measure("as-expected", test="format"),
    a_measure("agreement", test="format"),
    a_measure("flip-rate", test="format"),
    a_measure("rerun-disagreement", estimate=0.1),
    a_measure("excess-disagreement", test="format", estimate=0.0),
    a_measure("self-kappa", test="format"),
)


class TestJudgesByTests(SectionContract):
    plugin = jrh_metrics.plugin
    component = "judges-by-tests"
    reports = (WHOLE,)


class TestCostOfAccuracy(SectionContract):
    plugin = jrh_metrics.plugin
    component = "cost-of-accuracy"
    reports = (bought({"cheap": (0.001, 0.6), "dear": (0.01, 0.8)}),)


def test_what_a_test_expects_stands_in_for_the_gold_label_that_it_does_not_keep() -> None:
    first = heat(WHOLE).layers[0]
    assert first.heading == "gold accuracy"
    assert first.cells == ((MeasureRef(measure=0), MeasureRef(measure=2, note="as expected")),)


def test_without_any_gold_accuracy_nothing_is_marked() -> None:
    first = heat(a_run(a_measure("as-expected"))).layers[0]
    assert (first.heading, first.cells) == ("as expected", ((MeasureRef(measure=0),),))


def test_a_test_without_repeats_shows_the_noise_of_the_reference() -> None:
    noise = next(layer for layer in heat(WHOLE).layers if layer.heading == "noise floor")
    assert noise.cells == ((MeasureRef(measure=5), MeasureRef(measure=5, note="reference")),)


def test_labels_of_a_model_are_no_gold() -> None:
    report = a_run(a_measure("gold-accuracy"))
    by_model = evolve(report, tasks=(evolve(report.tasks[0], gold_sources={"model:x": 50}),))
    assert heat(by_model).layers[0].heading == "agreement with model labels"


def test_the_frontier_has_the_judges_that_no_other_beats() -> None:
    judges = {
        "cheap": (0.001, 0.6),
        "worse": (0.002, 0.55),
        "middle": (0.01, 0.8),
        "dear": (0.02, 0.8),
        "best": (0.1, 0.9),
        "twin": (0.1, 0.9),
        "unpriced": (None, 0.99),
        "silent": (0.0, None),
    }
    _, rows = costs(bought(judges))
    assert {judge for judge, cells in rows.items() if cells[2] == "on it"} == {"cheap", "middle", "best", "twin"}
    assert {judge for judge, cells in rows.items() if cells[2] == "price unknown"} == {"unpriced", "silent"}


def test_dollars_per_point_and_for_the_same_precision() -> None:
    """Half-width 0.1 from 50 items: 0.05 needs four times as many. An item costs two questions here."""
    _, rows = costs(bought({"judge": (0.01, 0.8)}))
    assert rows["judge"] == ("$10", "$0.125", "on it", "about 200", "$4")


def test_an_unknown_price_is_never_free() -> None:
    _, rows = costs(bought({"judge": (None, 0.8), "other": (0.0, 0.7)}))
    assert rows["judge"] == ("unknown", "unknown", "price unknown", "about 200", "unknown")


def test_no_accuracy_means_no_price_per_point() -> None:
    _, rows = costs(bought({"wrong": (0.01, 0.0), "silent": (0.01, None)}))
    assert rows["wrong"][1] == "not estimable"
    assert rows["silent"][1:] == ("not estimable", "price unknown", "not estimable", "not estimable")


@loop_over(("prices", "drawn"), [((0.01, 0.02), True), ((0.0, 0.02), True), ((0.0, 0.0), False), ((None, 0.02), False)])
def test_the_plane_is_drawn_where_prices_tell_judges_apart(prices: tuple[float | None, ...], drawn: bool) -> None:
    plane, _ = costs(bought({f"judge {place}": (price, 0.8) for place, price in enumerate(prices)}))
    assert (plane is not None) == drawn


@pytest.mark.parametrize(("prices", "wide"), [((0.01, 0.02), False), ((0.0001, 0.1), True), ((0.0, 0.0001, 0.1), True)])
def test_prices_of_several_orders_of_magnitude_stand_apart(prices: tuple[float, ...], wide: bool) -> None:
    plane, _ = costs(bought({f"judge {place}": (price, 0.8) for place, price in enumerate(prices)}))
    assert plane is not None
    assert plane.logarithmic == wide
    assert [spot.at for series in plane.panels[0].series for spot in series.spots] == [1000 * each for each in prices]
