"""Runs that found little or nothing: every reporter writes something, and none of them breaks."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import jrh_report.plugin
import pytest
from attrs import evolve
from jrh import Interval, RecordTable
from jrh_testing import empty_report, sample_records, sample_report

SCHEMA = Path(__file__).parents[3] / "schemas" / "results.schema.json"
REPORTERS = [
    pytest.param(spec.name, marks=pytest.mark.browser) if spec.name == "pdf" else spec.name
    for spec in jrh_report.plugin.jrh_reporters()
]


def no_records(report):
    return evolve(report, records=RecordTable({}, {}), measures=(), costs=(), faults=(), attrition=())


def only_missing(report):
    lost = tuple(
        evolve(each, estimate=None, interval=None, bounds=None, n_trials=0, n_items=0, flags=("all-missing",))
        for each in report.measures
    )
    return evolve(report, measures=lost, records=RecordTable.from_records(sample_records(missing=1.0)))


def one_judge(report):
    alone = report.judges[:1]
    return evolve(
        report,
        judges=alone,
        simulated=report.simulated & set(alone),
        measures=tuple(each for each in report.measures if each.judge in alone),
        costs=tuple(each for each in report.costs if each.judge in alone),
        spending=tuple(each for each in report.spending if each.name in alone),
    )


def one_item(report):
    alone = tuple(evolve(each, interval=None, n_trials=1, n_items=1, estimate=1.0) for each in report.measures)
    records = RecordTable.from_records(sample_records(items=1))
    return evolve(report, measures=alone, records=records, tasks=tuple(evolve(each, items=1) for each in report.tasks))


def not_finite(report):
    fields = {"estimate": float("nan"), "bounds": (0.0, float("inf"))}
    ends = Interval(low=0.0, high=float("nan"))
    return evolve(report, measures=tuple(evolve(each, **fields, interval=ends) for each in report.measures))


def endless(report):
    """Half of every interval is not known, and beside every share stands a difference."""
    ends = Interval(low=0.1, high=float("inf"))
    shares = [evolve(each, interval=ends) for each in report.measures if each.name == "as-expected"]
    others = ("excess-disagreement", "variance", "interaction", "brier")
    cell = {"stated": "0 to 0.1"}
    bins = [evolve(each, name="reliability", cell=cell, note="mean stated probability 0.050") for each in shares]
    differences = [evolve(each, name=name, unit="difference") for each in shares for name in others]
    return evolve(report, measures=(*shares, *bins, *differences))


def nameless(report):
    return evolve(report, suite="", run_id="", judges=("",), tests=("reference", ""))


EDGES = (no_records, only_missing, one_judge, one_item, not_finite, endless, nameless)


@cache
def validator() -> Any:
    """Check the schema once, which takes a third of a second."""
    from jsonschema import Draft202012Validator

    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("reporter", REPORTERS)
def test_an_empty_run_has_every_report(render, reporter) -> None:
    assert render(reporter, empty_report())


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: edge.__name__)
@pytest.mark.parametrize("reporter", REPORTERS)
def test_a_run_that_found_little_has_every_report_twice_the_same(render, shown, reporter, edge) -> None:
    document = shown(render(reporter, edge(sample_report())))

    assert document
    if reporter == "pdf":
        return  # Chromium takes a second for each, and test_printing.py prints the same run twice
    assert shown(render(reporter, edge(sample_report()))) == document


@pytest.mark.parametrize("edge", [lambda report: empty_report(), lambda report: report, *EDGES])
def test_the_json_report_fits_its_schema_and_holds_no_number_that_json_lacks(render, edge) -> None:
    found = json.loads(render("json", edge(sample_report())), parse_constant=pytest.fail)

    validator().validate(found)


def test_reports_that_are_not_asked_for_are_no_default() -> None:
    by_default = {spec.name for spec in jrh_report.plugin.jrh_reporters() if spec.default}

    assert {"terminal", "markdown", "json"} <= by_default
    assert not by_default & {"csv", "parquet", "latex", "plots"}
