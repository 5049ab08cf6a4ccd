"""The first table of a report: the order of judges, ties, uses, and the next step."""

from collections.abc import Mapping

import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport
from jrh.values import Basis, Finding, MeasureRef, Severity, TablePart
from jrh_metrics.answer_table import AnswerTable
from jrh_testing import loop_over, sample_report

_KAPPAS = {"careful": (0.7, 0.5, 0.9), "careless": (0.6, 0.3, 0.8), "late": (0.1, -0.1, 0.3)}


def _measure(name: str, judge: str, numbers: tuple[float, float, float], test: str = "reference") -> Measure:
    estimate, low, high = numbers
    template = next(measure for measure in sample_report().measures if measure.judge)
    interval = Interval(low=low, high=high)
    return evolve(template, name=name, judge=judge, test=test, cell={}, estimate=estimate, interval=interval, flags=())


def _finding(severity: Severity, judge: str, test: str = "reference", name: str = "gold-kappa") -> Finding:
    task = sample_report().tasks[0].task.name
    basis = Basis(name=name, judge=judge, task=task, test=test, value="0.5")
    return Finding(
        kind="k",
        severity=severity,
        judge=judge,
        task=task,
        tests=(test,),
        statement="S",
        sentence="S",
        basis=(basis,),
        decide="60 items",
    )


def _tables(report: RunReport) -> tuple[TablePart, TablePart]:
    (section,) = AnswerTable().sections(report)
    uses, numbers = section.parts
    assert isinstance(uses, TablePart)
    assert isinstance(numbers, TablePart)
    return uses, numbers


def _report(*findings: Finding, kappas: Mapping[str, tuple[float, float, float]] = _KAPPAS) -> RunReport:
    measures = [_measure("gold-kappa", judge, numbers) for judge, numbers in kappas.items()]
    measures += [
        _measure("as-expected", "careful", (share, 0.5, 1.0), test) for test, share in (("x", 0.9), ("y", 0.6))
    ]
    # In the suite's order the worst judge is the first.
    return evolve(
        sample_report(), judges=("late", "careless", "careful"), measures=tuple(measures), findings=tuple(findings)
    )


def test_judges_are_in_the_order_of_agreement_and_ties_are_marked() -> None:
    _, numbers = _tables(_report())
    assert [row.heads for row in numbers.rows] == [("careful", "=1"), ("careless", "=1"), ("late", "3")]
    assert "=1: the interval overlaps" in numbers.note


def test_without_a_tie_no_mark_is_explained() -> None:
    _, numbers = _tables(_report(kappas={"careful": (0.9, 0.8, 0.95), "careless": (0.5, 0.4, 0.6)}))
    assert [row.heads for row in numbers.rows] == [("careful", "1"), ("careless", "2"), ("late", "")]
    assert not numbers.note


def test_the_worst_test_is_that_with_the_fewest_verdicts_as_expected() -> None:
    report = _report()
    _, numbers = _tables(report)
    headings = [column.heading for column in numbers.columns]
    cells = dict(zip(headings, numbers.rows[0].cells, strict=True))
    share = cells["as expected there"]
    assert cells["worst test"] == "y"
    assert isinstance(share, MeasureRef)
    assert report.measures[share.measure].estimate == 0.6


GOOD, BAD = Severity.GOOD, Severity.BAD


@loop_over(
    ("findings", "used", "failed"),
    [
        pytest.param((_finding(GOOD, "careful"),), "this task", "", id="agreement is shown, above 0.4"),
        pytest.param((_finding(GOOD, "careless"),), "", "", id="agreement is shown, perhaps below 0.4"),
        pytest.param((_finding(GOOD, "careful", name="jss"),), "", "", id="another number is good"),
        pytest.param((_finding(Severity.INCONCLUSIVE, "careful"),), "", "", id="nothing is decided"),
        pytest.param(
            (_finding(GOOD, "careful"), _finding(BAD, "careful", "format", "flip-rate")),
            "",
            "format",
            id="a test fails",
        ),
        pytest.param((_finding(BAD, "careful"),), "", "this task", id="no agreement"),
    ],
)
def test_uses_rest_on_decided_findings(findings: tuple[Finding, ...], used: str, failed: str) -> None:
    uses, _ = _tables(_report(*findings))
    judge = findings[0].judge
    headings = [column.heading for column in uses.columns]
    (row,) = [row for row in uses.rows if row.heads == (judge,)]
    cells = dict(zip(headings, row.cells, strict=True))
    assert (cells.get("use for", ""), cells.get("not for", "")) == (used, failed)
    assert bool(cells.get("undecided")) == (not used and not failed)


def test_every_judge_has_its_row_and_a_next_step() -> None:
    uses, numbers = _tables(_report(_finding(Severity.INCONCLUSIVE, "careless")))
    assert {row.heads[0] for row in uses.rows} == {row.heads[0] for row in numbers.rows} == set(_KAPPAS)
    steps = {row.heads[0]: row.cells[-1] for row in uses.rows}
    assert steps["late"] == "run the suite again: this judge was not asked yet"
    assert steps["careless"] == "label more items: 60 items"
    assert "without a label" in str(steps["careful"])
