"""The two accuracies are told apart wherever both can stand, and measures that do not exist are refused."""

from __future__ import annotations

import re

import pytest
from attrs import evolve
from jrh import JrhError

FULL = {"terminal": {"full": True}}


@pytest.fixture
def against_gold(report):
    """Return the report with gold accuracies everywhere but in the last test."""
    last = report.tests[-1]
    gold = [
        evolve(each, name="gold-accuracy", estimate=0.25)
        for each in report.measures
        if each.name == "as-expected" and not each.cell and each.test != last
    ]
    return evolve(report, measures=(*report.measures, *gold))


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_a_column_of_gold_accuracy_is_called_that_and_what_else_stands_in_it_is_marked(
    render, against_gold, form
) -> None:
    text = render(form, against_gold, **FULL.get(form, {}))

    assert re.search(r"^\s*(\| judge \| test \| )?gold accuracy ", text, re.MULTILINE)
    legend = " ".join(text.split())
    told = "gold accuracy: share of verdicts equal to the gold label (measure gold-accuracy); as expected: where a test"
    assert legend.count(told) == 1
    assert text.count("(as expected)") == len(against_gold.judges)


def test_the_mark_stands_beside_the_numbers_it_is_about(render, against_gold) -> None:
    rows = [line for line in render("markdown", against_gold).splitlines() if line.startswith("| baseline |")]
    cells = {line.split(" | ")[1]: line.split(" | ")[2] for line in rows[: len(against_gold.tests)]}

    assert {test: "(as expected)" in cell for test, cell in cells.items()} == {
        test: test == against_gold.tests[-1] for test in against_gold.tests
    }


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_without_any_gold_accuracy_the_column_is_as_expected_and_nothing_is_marked(render, report, form) -> None:
    text = " ".join(render(form, report, **FULL.get(form, {})).split())

    assert "gold accuracy" not in text
    assert "(as expected)" not in text
    assert "as expected: verdicts that meet the expectation: the gold label, a stated label, or relative to" in text


def test_only_gold_accuracy_needs_no_word_on_the_other(render, report) -> None:
    gold = [evolve(each, name="gold-accuracy") if each.name == "as-expected" else each for each in report.measures]
    text = " ".join(render("terminal", evolve(report, measures=tuple(gold)), full=True).split())

    assert "share of verdicts equal to the gold label (measure gold-accuracy)" in text
    assert "as expected" not in text


@pytest.mark.parametrize("form", ["plots", "latex"])
def test_a_measure_that_the_run_does_not_have_is_refused_with_those_it_has(render, report, form) -> None:
    with pytest.raises(JrhError) as caught:
        render(form, report, measures=["as-expected", "as-expectd", "x\x1b[31m"])

    assert str(caught.value) == (
        f"{form}.measures: the run has no measure 'as-expectd' (did you mean 'as-expected'?), 'x'; "
        "it has: agreement, as-expected, flip-rate, kappa, rerun-disagreement"
    )


@pytest.mark.parametrize("form", ["plots", "latex"])
def test_a_measure_of_the_main_table_may_be_absent(render, report, form) -> None:
    assert render(form, report, measures=["jss"])
