import re
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport, Scale, Task
from jrh.values import CostLine, SpendLine, TaskSummary
from jrh_report.html.cost import Worth, cost_rows, items_needed, worths
from jrh_report.html.found import Found
from jrh_report.html.plane import plane
from jrh_testing import sample_report


def a_run(judges: dict[str, tuple[float | None, float | None]]) -> RunReport:
    """Make a run of judges with a price per question, None if unknown, and an accuracy."""
    task = Task(name="task", scale=Scale.of_labels("YES", "NO"))
    return evolve(
        sample_report(),
        judges=tuple(judges),
        simulated=frozenset(),
        tasks=(TaskSummary(task=task, items=50, labelled=50, gold={"YES": 25, "NO": 25}),),
        costs=tuple(_line(judge, price) for judge, (price, _) in judges.items()),
        measures=tuple(_accuracy(judge, right) for judge, (_, right) in judges.items()),
    )


def _line(judge: str, price: float | None, **fields: Any) -> CostLine:
    given = {
        "judge": judge, "task": "task", "test": "reference", "trials": 100, "cost": 100 * (price or 0.0),
        "unknown": 100 if price is None else 0, "prompt_tokens": 1000, "completion_tokens": 10, "tokens_unknown": 0,
    }  # fmt: skip
    return CostLine(**(given | fields))


def _accuracy(judge: str, right: float | None) -> Measure:
    interval = None if right is None else Interval(low=right - 0.1, high=right + 0.1)
    return Measure(
        name="gold-accuracy", judge=judge, task="task", test="reference", estimate=right, interval=interval, n_items=50
    )


def found(report: RunReport) -> dict[str, Worth]:
    return {worth.judge: worth for worth in worths(Found.of(report), "task")}


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
    marks = {judge: worth.frontier for judge, worth in found(a_run(judges)).items()}
    assert {judge for judge, mark in marks.items() if mark} == {"cheap", "middle", "best", "twin"}


def test_dollars_per_point_and_for_the_same_certainty() -> None:
    """Half-width 0.1 from 50 items: 0.05 needs four times as many. An item costs two questions here."""
    worth = found(a_run({"judge": (0.01, 0.8)}))["judge"]
    assert worth.per_thousand == pytest.approx(10.0)
    assert worth.per_point == pytest.approx(0.125)
    assert worth.items_needed == pytest.approx(200, abs=1)
    assert worth.cost_needed == pytest.approx(0.02 * (worth.items_needed or 0))


def test_an_unknown_price_is_never_free() -> None:
    worth = found(a_run({"judge": (None, 0.8), "other": (0.0, 0.7)}))["judge"]
    assert (worth.per_thousand, worth.per_point, worth.cost_needed, worth.priced) == (None, None, None, False)


def test_no_accuracy_means_no_price_per_point() -> None:
    judges = found(a_run({"wrong": (0.01, 0.0), "silent": (0.01, None)}))
    assert judges["wrong"].per_point is None
    assert (judges["silent"].items_needed, judges["silent"].frontier) == (None, False)
    assert items_needed(_accuracy("x", None)) is None


def _spent(role: str, name: str, price: float | None, replies: int = 100, test: str = "reference") -> SpendLine:
    return SpendLine(
        role=role, name=name, model="m", task="task", test=test, replies=replies, cost=replies * (price or 0.0),
        unknown=replies if price is None else 0, prompt_tokens=1000, completion_tokens=10, tokens_unknown=0,
    )  # fmt: skip


def test_totals_are_per_role_and_of_the_run() -> None:
    """A writer's replies are part of the total, and a reply of unknown price is never free."""
    lines = (
        _spent("judge", "a", 0.01), _spent("judge", "b", None), _spent("judge", "a", 0.02, test="format"),
        _spent("writer", "format", 0.5, replies=4, test="format"),
    )  # fmt: skip
    report = evolve(a_run({"a": (0.01, 0.8), "b": (None, 0.7)}), spending=lines)
    rows = {(row.name, row.test): row for row in cost_rows(Found.of(report))}
    assert rows["all judges", "total"].dollars == "$3.0000 + 100 calls of unknown price"
    assert rows["all judges", "total"].lines == (0, 1, 2)
    assert rows["everything", "total"].dollars == "$5.0000 + 100 calls of unknown price"
    assert (rows["format", "format"].role, rows["format", "format"].dollars) == ("writer", "$2.0000")
    assert rows["b", "reference"].dollars == "unknown"


@pytest.mark.parametrize(
    ("prices", "drawn"), [((0.01, 0.02), True), ((0.0, 0.02), True), ((0.0, 0.0), False), ((None, 0.02), False)]
)
def test_the_plane_is_drawn_where_prices_tell_judges_apart(prices: tuple[float | None, ...], drawn: bool) -> None:
    report = a_run({f"judge {place}": (price, 0.8) for place, price in enumerate(prices)})
    svg = plane(worths(Found.of(report), "task"), report.judges, "plane")
    assert (svg is not None) == drawn


@pytest.mark.parametrize(("prices", "wide"), [((0.01, 0.02), False), ((0.0001, 0.1), True), ((0.0, 0.0001, 0.1), True)])
def test_prices_of_several_orders_of_magnitude_stand_apart(prices: tuple[float, ...], wide: bool) -> None:
    report = a_run({f"judge {place}": (price, 0.8) for place, price in enumerate(prices)})
    svg = plane(worths(Found.of(report), "task"), report.judges, "plane")
    assert svg is not None
    assert re.search(r"math|\^|\\", svg) is None
    places = [float(x) for x in re.findall(r'data-part="plane">.*?<use [^>]*?x="([^"]*)"', svg)]
    assert len(places) == len(prices)
    span = places[-1] - places[0]
    assert all(after - before > 0.05 * span for before, after in pairwise(places))
    assert (">100</text>" in svg) == wide


def test_the_name_of_the_dearest_judge_stays_inside_of_the_plane() -> None:
    report = a_run({"a": (0.001, 0.7), "the-name-of-a-dear-judge": (0.1, 0.9)})
    svg = plane(worths(Found.of(report), "task"), report.judges, "plane")
    assert svg is not None
    names = re.findall(r'<text [^>]*text-anchor="(\w+)"[^>]*>([^<]*)</text>', svg)
    anchors = {name: anchor for anchor, name in names}
    assert anchors["a"] == "start"
    assert anchors["the-name-of-a-dear-judge"] == "end"
