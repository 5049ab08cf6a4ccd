from collections.abc import Callable

import numpy as np
import pytest
from attrs import evolve
from jrh import Measure, RecordTable, RunReport
from jrh_testing import empty_report, sample_records, sample_report


def only(report: RunReport, **wanted: str) -> RunReport:
    """Keep the records with these texts."""
    rows = np.ones(len(report.records), dtype=np.bool_)
    for column, text in wanted.items():
        rows &= report.records.equals(column, text)
    return evolve(report, records=report.records.where(rows))


def test_a_run_that_found_nothing_is_a_page_that_says_so(render: Callable[..., str]) -> None:
    text = render("html", empty_report())
    assert "This run has no judges." in text
    assert "This run has no tasks." in text
    assert "no comparable records" in text
    assert "No trials were planned" in text


def test_a_run_with_only_missing_verdicts_says_so_and_shows_no_estimate(render: Callable[..., str]) -> None:
    report = sample_report()
    gone = Measure(
        name="as-expected", judge="careful", task=report.tasks[0].task.name, test="reference", estimate=None,
        missing={"timeout": 24}, flags=("all-missing",),
    )  # fmt: skip
    records = RecordTable.from_records(sample_records(report.tasks[0].task, missing=1.0))
    text = render("html", evolve(report, measures=(gone,), records=records))
    assert "not estimable (all-missing)" in text
    assert "No finding: no comparison has an interval." in text
    assert "No comparable verdict changed" in text


def test_one_judge_and_one_item_are_enough_for_a_page(render: Callable[..., str]) -> None:
    report = only(sample_report(), judge="careful", item_id="item-0")
    one = evolve(report, judges=("careful",), measures=tuple(m for m in report.measures if m.judge == "careful"))
    text = render("html", one)
    assert text.count('<article class="answer">') == 1
    assert "</html>" in text


def test_records_without_the_columns_of_a_run_are_no_fault(render: Callable[..., str], report: RunReport) -> None:
    assert report.records.columns == ("judge", "status")
    assert "no comparable records" in render("html", report)


def test_imported_records_are_shown_without_texts_and_it_is_said(render: Callable[..., str]) -> None:
    text = render("html", sample_report())
    assert "These records were imported without texts and replies" in text
    assert 'class="flip"' in text


@pytest.mark.parametrize("judges", [("a judge nobody named",), ()])
def test_measures_of_unknown_judges_break_nothing(render: Callable[..., str], judges: tuple[str, ...]) -> None:
    assert "</html>" in render("html", evolve(sample_report(), judges=judges))


def test_an_unfinished_run_is_marked(render: Callable[..., str]) -> None:
    assert "This run is incomplete: 1 of " in render("html", sample_report())
