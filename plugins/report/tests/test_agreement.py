"""The agreement of validators that vote, in every report a person reads."""

import json

import pytest
from attrs import evolve
from jrh import Interval
from jrh.values import Agreement


@pytest.fixture
def voted(report):
    """A report whose first test was voted on, twice, once without any disagreement."""
    panel = Agreement(
        validator="panel",
        estimate=0.6249,
        interval=Interval(low=-0.001, high=0.9, level=0.95, method="jackknife"),
        drafts=1200,
        comparable=1100,
        voters=3,
        missing=104,
    )
    yes = Agreement(
        validator="yes|men",
        estimate=None,
        interval=None,
        drafts=5,
        comparable=5,
        voters=2,
        missing=0,
        flags=("degenerate",),
    )
    first, *others = report.attrition
    return evolve(report, attrition=(evolve(first, agreement=(panel, yes)), *others))


def test_alpha_stands_with_interval_drafts_voters_and_missing_votes(render, voted) -> None:
    (line,) = [line for line in render("markdown", voted).splitlines() if "| panel |" in line]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:] == ["panel", "3", r"0.62 \[0.00, 0.90\]", "1,100 of 1,200", "104"]


def test_what_is_not_defined_says_so(render, voted) -> None:
    assert "not estimable (degenerate)" in render("markdown", voted)
    assert "not estimable (degenerate)" in render("terminal", voted, width=160, full=True)


def test_the_terminal_shows_the_same_table_and_json_the_numbers(render, voted) -> None:
    text = render("terminal", voted, width=160, full=True)
    assert "Agreement of validators" in text
    assert "0.62 [0.00, 0.90]" in text
    agreement = json.loads(render("json", voted))["attrition"][0]["agreement"]
    assert agreement[0]["estimate"] == 0.6249
    assert agreement[1]["estimate"] is None


def test_without_votes_there_is_no_table(render, report) -> None:
    assert "Agreement of validators" not in render("markdown", report) + render("terminal", report, full=True)
