"""Measures that no table knows by name, such as those of third-party metrics, stand in every report for people."""

import html
import re
from collections.abc import Callable

import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport
from jrh.values import Basis, Finding, Severity, TablePart
from jrh_report.sections import all_sections
from jrh_testing import load_sections

NAME = "planted <b>measure</b>"


def planted(report: RunReport, number: int = 1, name: str = NAME, **fields: object) -> tuple[Measure, ...]:
    given = {
        "judge": report.judges[0],
        "task": report.tasks[0].task.name,
        "test": "reference",
        "interval": Interval(low=0.111, high=0.456),
        "n_trials": 44,
        "n_items": 40,
        "n_clusters": 13,
        "missing": {"timeout": 3},
        "flags": ("few-events",),
    }
    return tuple(
        Measure(name=name, estimate=0.2345, cell={"part": f"p{place}"} if place else {}, **(given | fields))
        for place in range(number)
    )


@pytest.fixture
def own(report: RunReport) -> RunReport:
    (told,) = planted(report, name="told-in-words")
    finding = Finding(
        kind="planted",
        severity=Severity.INFO,
        judge=told.judge,
        task=told.task,
        statement="Planted",
        sentence="Planted.",
        basis=(Basis(name=told.name, judge=told.judge, task=told.task, test=told.test),),
    )
    measures = (*report.measures, *planted(report, 2), told)
    return evolve(report, measures=measures, findings=(*report.findings, finding))


def test_a_measure_of_any_metric_stands_in_the_page(own: RunReport, render: Callable[..., str]) -> None:
    page = render("html", own)
    section = page[page.index('id="section-further"') : page.index('id="flips"')]
    assert '<a href="#section-further">' in page
    assert NAME not in page
    assert html.escape(NAME) in section
    assert "told-in-words" not in section
    whole, part = (
        row for row in re.findall(r"<tr>(<th scope=\"row\">.*?)</tr>", section, re.DOTALL) if "planted" in row
    )
    for row in (whole, part):
        text = " ".join(re.sub(r"<[^>]*>", " ", row).split())
        assert "0.234 [0.111, 0.456] 40 items in 13 clusters 3 verdicts missing" in text
        assert "few-events" in text
    assert "part=p1" in part


def test_it_stands_in_markdown_and_in_the_tables_of_the_terminal(own: RunReport, render: Callable[..., str]) -> None:
    text = render("markdown", own)
    unfolded = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL).replace("\\", "")
    assert re.search(r"planted[^\n]*0.234 \[0.111, 0.456\] n=40, 3 verdicts missing", unfolded)
    assert "part=p1" in unfolded
    terminal = render("terminal", own, full=True, width=200)
    assert re.search(r"planted[^\n]*0.23\n +\[0.11, 0.46\]\n +n=40,\n +3 verdicts missing", terminal)
    assert "part=p1" in terminal


def test_the_measures_of_sections_do_not_stand_there_again(report: RunReport) -> None:
    loaded = load_sections(report)
    shown = {section.name: section for section in all_sections(loaded)}
    (table,) = [part for part in shown["further"].parts if isinstance(part, TablePart)]
    names = {row.heads[1] for row in table.rows}
    assert names == {"as-expected", "agreement", "flip-rate"}
    assert {row.heads[3] for row in table.rows} == {"variant=crlf"}


def test_thousands_of_them_keep_the_reports_small(report: RunReport, render: Callable[..., str]) -> None:
    made = [each for place in range(400) for each in planted(report, 20, name=f"m{place}")]
    large = evolve(report, measures=(*report.measures, *made))
    page = render("html", large)
    assert page.count("few-events</") < 4000
    assert re.search(r"3000 are listed, 50\d\d more are in report.json", page)
    assert re.search(r"5,0\d\d more are in report.json.", render("terminal", large, full=True))
