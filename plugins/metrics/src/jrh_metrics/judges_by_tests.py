"""The first sections of a report: judges by tests, and what being right costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean
from typing import Any, Final

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport
from jrh.values import Cell as Content
from jrh.values import Column, CostLine, Importance, MeasureRef, Row, Section, TablePart, has_model_gold
from jrh_measuring import (
    CurvePart,
    HeatPart,
    Layer,
    MeasureTables,
    Panel,
    ReportMeasures,
    Series,
    Spot,
    change_tests,
    section_of_task,
    steady_tests,
)

RIGHT: Final = "gold-accuracy"
EXPECTED: Final = "as-expected"
_NOISE: Final = "rerun-disagreement"
_VOTE: Final = "majority-accuracy"
_MEAN: Final = "mean-over-tests"
_MAJORITY: Final = "majority vote"
"""The row of all judges together."""
_ACCURACY: Final = "gold accuracy"
MODEL_GOLD: Final = "agreement with model labels"
"""What gold accuracy is called where a model made gold labels."""
_EXPECTATION: Final = (
    "share of verdicts that meet the test's expectation: the gold label, a stated label, or relative to the same "
    "judge's verdict in the reference condition"
)
_GOLD: Final = "share of verdicts equal to the gold label"
_MIXED: Final = f"{_GOLD}; as expected: where a test changes the right answer, share of verdicts that follow it"
_LAYERS: Final = {
    "agreement": (
        "agreement with reference",
        "share of verdicts equal to the same judge's verdict on the item in the reference condition",
    ),
    "excess-disagreement": (
        "excess over noise floor",
        (
            "how much more verdicts differ from the reference condition than reruns differ from each other; 0 means no "
            "more than reruns"
        ),
    ),
    "flip-rate": (
        "flip rate",
        "share of verdicts that differ from the reference condition; expected if a test changes the right answer",
    ),
    _NOISE: (
        "noise floor",
        "share of repeats of the identical question that disagree; for a test without repeats, the reference's",
    ),
    "jss": ("JSS", "judge sensitivity score, the share of template pairs whose verdicts on an item agree"),
    "self-kappa": (
        "self-kappa",
        "Cohen's kappa with verdicts of the reference condition; low if a test changes the right answer",
    ),
}
"""Measure -> heading and meaning of its layer."""
_DRAWN: Final = frozenset({"agreement", "excess-disagreement"})
"""Layers that are drawn; the others are columns of the table form."""
HALF_WIDTH: Final = 0.05
"""The precision that judges are compared at: gold accuracy to within five points."""
_THOUSAND: Final = 1000
_POINTS: Final = 100
_WIDE: Final = 20
"""The dearest judge costs so many times the cheapest: the axis is logarithmic."""
_CENTS_FROM: Final = 100
Cells = Mapping[tuple[str, str], MeasureRef]
"""(judge, test) -> the measure."""


@frozen
class JudgesByTests:
    """Shows whether verdicts are right in each test, and how they move."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task with measures."""
        measures, moving = ReportMeasures.of(report), change_tests(report.records)
        for task in (summary.task.name for summary in report.tasks):
            layers = dict(_layers(measures, task))
            if RIGHT in layers:
                votes = {(_MAJORITY, test): cell for (_, test), cell in _whole(measures, task, _VOTE).items()}
                layers[RIGHT] = {**layers[RIGHT], **votes}
            # The vote comes below the judges it is made of.
            rows = (*report.judges, _MAJORITY)
            judges = [judge for judge in rows if any(judge == key[0] for layer in layers.values() for key in layer)]
            tests = [test for test in report.tests if any(test == key[1] for layer in layers.values() for key in layer)]
            # A run without these measures has no such section.
            if not layers:
                continue
            starred = tuple(test for test in tests if test in moving.get(task, ()))
            part = HeatPart(
                caption="Judges by tests",
                rows=tuple(judges),
                columns=tuple(tests),
                layers=tuple(_layer(measures, task, name, cells, judges, tests) for name, cells in layers.items()),
                starred=starred,
                star="Verdicts are expected to change in this test, and an excess is no fault." if starred else "",
            )
            yield section_of_task(task, "", (part,))


def _layers(measures: ReportMeasures, task: str) -> Iterator[tuple[str, Cells]]:
    right = right_verdicts(measures, task)
    if right:
        yield RIGHT, right
    for name in _LAYERS:
        cells = _whole(measures, task, name)
        if name == _NOISE and cells:
            shown = [*right, *(key for other in _LAYERS for key in _whole(measures, task, other))]
            # A test that asks once has the noise floor of the reference, with a note that it is borrowed.
            floors = {key: cells.get((key[0], REFERENCE)) for key in dict.fromkeys(shown) if key not in cells}
            borrowed = {key: MeasureRef(measure=cell.measure, note="reference") for key, cell in floors.items() if cell}
            cells = cells | borrowed
        if cells:
            yield name, cells


def _layer(
    measures: ReportMeasures, task: str, name: str, cells: Cells, judges: Sequence[str], tests: Sequence[str]
) -> Layer:
    heading, meaning = accuracy_heading(measures, task, cells.values()) if name == RIGHT else _LAYERS[name]
    return Layer(
        heading=heading,
        meaning=meaning,
        cells=tuple(tuple(cells.get((judge, test)) for test in tests) for judge in judges),
        zero=0.0 if name == "excess-disagreement" else None,
        tabled=name not in _DRAWN,
        drawn=name in _DRAWN or name == RIGHT,
    )


def right_verdicts(measures: ReportMeasures, task: str) -> dict[tuple[str, str], MeasureRef]:
    """Return gold accuracy; where a test does not keep the gold label, whether verdicts are as the test expects.

    If a task has both, the latter are marked.
    """
    gold, expected = _whole(measures, task, RIGHT), _whole(measures, task, EXPECTED)
    steady, cells = steady_tests(measures.report.records, task), dict(gold)
    for key, cell in expected.items():
        measure = measures.report.measures[gold[key].measure] if key in gold else None
        # Without a trial to compare with the gold label, the test does not keep it.
        if key[1] not in steady and (measure is None or not (measure.n_trials or measure.missing)):
            cells[key] = cell
    expectations = [key for key, cell in cells.items() if cell is not gold.get(key)]
    # A mark on every cell would tell nothing apart.
    if len(expectations) < len(cells):
        cells |= {key: MeasureRef(measure=cells[key].measure, note="as expected") for key in expectations}
    return cells


def accuracy_heading(measures: ReportMeasures, task: str, cells: Iterable[MeasureRef]) -> tuple[str, str]:
    """Return what the share of right verdicts is called, and its meaning; with labels made by models it is none."""
    report = measures.report
    shown = {report.measures[cell.measure].name for cell in cells}
    if RIGHT not in shown:
        return "as expected", _EXPECTATION
    return name_accuracy(report, task), _MIXED if EXPECTED in shown else _GOLD


def name_accuracy(report: RunReport, task: str) -> str:
    """Name the share of verdicts equal to the gold label: with labels made by models it is no accuracy."""
    by_model = any(has_model_gold(summary.gold_sources) for summary in report.tasks if summary.task.name == task)
    return MODEL_GOLD if by_model else _ACCURACY


def brief_accuracy(report: RunReport, task: str) -> str:
    """Name the share of right verdicts in a table of the papers, which call it accuracy."""
    name = name_accuracy(report, task)
    return name if name == MODEL_GOLD else "accuracy"


def _whole(measures: ReportMeasures, task: str, name: str) -> dict[tuple[str, str], MeasureRef]:
    return {(measure.judge, measure.test): MeasureRef(measure=place) for place, measure in measures.select(task, name)}


@frozen
class CostOfAccuracy:
    """Shows the price of each judge against its accuracy, with the Pareto frontier.

    Dollars per point: dollars of 1,000 questions of the reference condition, divided by accuracy in points (0 to 100).
    Precision: the half-width h of an interval from n items shrinks with 1 / sqrt(n), so that about n (h / w)^2 items
    give half-width w; each costs the judge what an item costs it in the reference condition.
    """

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task whose judges have prices."""
        measures = ReportMeasures.of(report)
        for summary in report.tasks:
            task, right = summary.task.name, right_verdicts(measures, summary.task.name)
            bought = [
                _Bought(paid=paid, cell=cell, right=report.measures[cell.measure], items=summary.items)
                for paid in report.costs
                if (paid.task, paid.test) == (task, REFERENCE) and paid.trials
                if (cell := right.get((paid.judge, REFERENCE))) is not None
            ]
            accuracy = accuracy_heading(measures, task, (offer.cell for offer in bought))[0]
            parts = (_plane(bought, accuracy), _table(bought, accuracy)) if bought else ()
            yield section_of_task(task, "", parts)


@frozen
class TasksTogether:
    """Shows accuracy and cost of every judge in each task and over all of them, of a run with several tasks."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield one section about the run, where accuracy over its tasks is measured."""
        measures = ReportMeasures.of(report)
        means = {
            (measure.judge, measure.task): MeasureRef(measure=place)
            for place, measure in enumerate(report.measures)
            if measure.name == _MEAN and not measure.test
        }
        judges = [judge for judge in report.judges if (judge, "") in means]
        tasks = [summary.task.name for summary in report.tasks if any(task == summary.task.name for _, task in means)]
        if not judges:
            return
        # The same verdicts as in the mean: the reference is none of its tests.
        paid = {
            judge: [line for line in report.costs if line.judge == judge and line.test != REFERENCE] for judge in judges
        }
        rows = []
        for judge in judges:
            trials, cost, per_thousand, overall, per_point = _cost_cells(measures, paid[judge], means[judge, ""])
            by_task = (means.get((judge, task)) for task in tasks)
            rows.append(Row(heads=(judge,), cells=(*by_task, overall, trials, cost, per_thousand, per_point)))
        spread = [[means[judge, task] for judge in judges if (judge, task) in means] for task in (*tasks, "")]
        rows.append(Row(heads=("mean of judges",), cells=(*(_mean_of(report, cells) for cells in spread), *[None] * 4)))
        headings = (*tasks, "all tasks", "trials", "dollars", "per 1,000", "per 1,000 and point")
        table = TablePart(
            caption="Accuracy and cost over all tasks",
            heads=("Judge",),
            columns=tuple(Column(heading=heading) for heading in headings),
            rows=tuple(rows),
            note="Every test has the same weight, without the reference condition. Verdicts only, in US dollars. An "
            "empty cell: the price of a reply is unknown.",
            file="over-tasks",
        )
        bought = [
            _Bought(
                paid=_sum_of(judge, paid[judge]),
                cell=means[judge, ""],
                right=report.measures[means[judge, ""].measure],
                items=0,
            )
            for judge in judges
            if paid[judge]
        ]
        plane = _plane(bought, "mean accuracy", "over all tests of all tasks")
        yield Section(parts=tuple(part for part in (plane, table) if part is not None))


def _mean_of(report: RunReport, cells: Sequence[MeasureRef]) -> float | None:
    known = [value for cell in cells if (value := report.measures[cell.measure].estimate) is not None]
    return fmean(known) if known else None


def _sum_of(judge: str, lines: Sequence[CostLine]) -> CostLine:
    names = ("trials", "cost", "unknown", "prompt_tokens", "completion_tokens", "tokens_unknown")
    totals: dict[str, Any] = {name: sum(getattr(line, name) for line in lines) for name in names}
    return CostLine(judge=judge, task="", test="", **totals)


def cost_by_test() -> MeasureTables:
    """Build the section on what verdicts and points of accuracy cost in every test."""
    return MeasureTables(tables=(_by_test,), importance=Importance.DETAIL)


@frozen(kw_only=True)
class _Bought:
    """What a judge costs and gives in the reference condition of a task."""

    paid: CostLine
    cell: MeasureRef
    right: Measure
    items: int

    @property
    def per_thousand(self) -> float | None:
        """Return US dollars of 1,000 questions; None where some price is unknown."""
        # Repeats are paid like first answers: the price is per question put, and not per item.
        return None if self.paid.unknown else self.paid.cost / self.paid.trials * _THOUSAND

    @property
    def items_needed(self) -> int | None:
        """Return about how many items give an interval of the precision; None where there is no interval."""
        interval = self.right.interval
        if interval is None or not self.right.n_items:
            return None
        # The half-width shrinks with the square root of the number of items.
        return math.ceil(self.right.n_items * ((interval.high - interval.low) / 2 / HALF_WIDTH) ** 2)

    @property
    def point(self) -> tuple[float, float] | None:
        """Return price and accuracy; None where either is unknown."""
        if self.per_thousand is None or self.right.estimate is None:
            return None
        return self.per_thousand, self.right.estimate


def _frontier(bought: Iterable[_Bought]) -> list[tuple[float, float]]:
    """Return the points that no other beats: at least as right for at most as much, and better in one of the two."""
    # By price, of one price the most accurate first: a later point has to be better than all cheaper ones.
    points = sorted({offer.point for offer in bought if offer.point is not None}, key=lambda each: (each[0], -each[1]))
    edge: list[tuple[float, float]] = []
    for point in points:
        if not edge or point[1] > edge[-1][1]:
            edge.append(point)
    return edge


def _plane(bought: list[_Bought], accuracy: str, where: str = "in the reference condition") -> CurvePart | None:
    """Draw accuracy against price; None without two known prices, one above 0."""
    priced = [(offer, offer.point) for offer in bought if offer.point is not None]
    prices = [point[0] for _, point in priced]
    if len(prices) <= 1 or not any(prices):
        return None
    edge = _frontier(bought)
    # In steps: between two judges there is nothing to buy.
    corners = [edge[0]] + [corner for (_, low), (x, high) in pairwise(edge) for corner in ((x, low), (x, high))]
    return CurvePart(
        kind="plane",
        caption=f"Price of 1,000 questions and {accuracy} {where}; the dashed line is the Pareto "
        "frontier: no other judge reaches as much at the same or a lower price",
        heading="Judge",
        across="US dollars for 1,000 questions",
        up=accuracy,
        panels=(
            Panel(
                heading="",
                series=tuple(
                    Series(name=offer.paid.judge, spots=(Spot(at=point[0], measure=offer.cell.measure),))
                    for offer, point in priced
                ),
            ),
        ),
        # On a linear axis the cheap judges would lie on one spot.
        logarithmic=max(prices) >= _WIDE * min(price for price in prices if price),
        guide=tuple(corners),
    )


def _table(bought: list[_Bought], accuracy: str) -> TablePart:
    edge = _frontier(bought)
    names = (
        *(accuracy, "US dollars, 1,000 questions", f"per point of {accuracy}", "Pareto frontier"),
        *("items for this precision", "US dollars for this precision"),
    )
    return TablePart(
        caption=f"What {accuracy} costs in the reference condition",
        heads=("Judge",),
        columns=tuple(Column(heading=name) for name in names),
        rows=tuple(Row(heads=(offer.paid.judge,), cells=(offer.cell, *_offer_cells(offer, edge))) for offer in bought),
        note=f"The last two columns are for an interval of {accuracy} of ±{HALF_WIDTH:g}.",
    )


def _by_test(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate the cost of verdicts and of a point of accuracy in every test, and over all; None without a price."""
    right = right_verdicts(measures, task)
    paid = [line for line in measures.report.costs if line.task == task and line.trials]
    rows = []
    for judge in measures.report.judges:
        of_judge = [line for line in paid if line.judge == judge]
        mean = measures.whole(task, _MEAN, judge, "")
        places = [(line.test, [line], right.get((judge, line.test))) for line in of_judge]
        if mean is not None:
            # The same tests as in the mean: the reference is none of them.
            tested = [line for line in of_judge if line.test != REFERENCE]
            places.append(("all tests", tested, MeasureRef(measure=mean[0])))
        rows += [Row(heads=(judge, test), cells=_cost_cells(measures, lines, cell)) for test, lines, cell in places]
    if not right or all(line.unknown for line in paid):  # models without a price
        return None
    accuracy = brief_accuracy(measures.report, task)
    return TablePart(
        caption=f"Cost of verdicts and of a point of {accuracy} in every test",
        heads=("Judge", "Test"),
        columns=tuple(
            Column(heading=heading) for heading in ("trials", "dollars", "per 1,000", accuracy, "per 1,000 and point")
        ),
        rows=tuple(rows),
        note="Verdicts only, in US dollars. An empty cell: the price of a reply is unknown.",
        file="cost",
    )


def _cost_cells(measures: ReportMeasures, lines: list[CostLine], right: MeasureRef | None) -> tuple[Content, ...]:
    trials = sum(line.trials for line in lines)
    cost = _total_price(lines)
    per_thousand = None if cost is None else cost / trials * _THOUSAND
    # Dollars per point need an accuracy above 0, and a known price.
    accuracy = None if right is None else measures.report.measures[right.measure].estimate
    per_point = per_thousand / (accuracy * _POINTS) if per_thousand is not None and accuracy else None
    return trials, cost, per_thousand, right, per_point


def _total_price(lines: Sequence[CostLine]) -> float | None:
    """Return US dollars; None without a trial, or where some price is unknown."""
    # A sum without the replies of unknown price would look cheaper than it was.
    unknown = not any(line.trials for line in lines) or any(line.unknown for line in lines)
    return None if unknown else sum(line.cost for line in lines)


def price_of_verdicts(lines: Sequence[CostLine]) -> str:
    """Write US dollars of 1,000 trials; empty without a trial."""
    cost = _total_price(lines)
    if not any(line.trials for line in lines):
        return ""
    return money(None if cost is None else cost / sum(line.trials for line in lines) * _THOUSAND)


def _offer_cells(bought: _Bought, edge: list[tuple[float, float]]) -> Iterator[str]:
    price, right, items = bought.per_thousand, bought.right.estimate, bought.items_needed
    yield money(price)
    yield "not estimable" if price is not None and not right else money(price and price / ((right or 1) * _POINTS))
    yield "on it" if bought.point in edge else "price unknown" if bought.point is None else "not on it"
    yield "not estimable" if items is None else f"about {items:,}"
    needed = bought.paid.cost / bought.items * items if items is not None and bought.items else None
    yield "not estimable" if items is None else money(None if bought.paid.unknown else needed)


def money(amount: float | None) -> str:
    """Write US dollars to four significant digits; never more digits than cents of small change."""
    if amount is None:
        return "unknown"
    return f"${amount:,.2f}" if amount >= _CENTS_FROM else f"${amount:.4g}"
