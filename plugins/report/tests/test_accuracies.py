"""The two accuracies are told apart wherever both can stand."""

from __future__ import annotations

import re

import pytest
from attrs import evolve

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

    assert re.search(r"Judge[ |]+Test[ |]+gold accuracy ", text)
    legend = " ".join(text.split())
    told = "gold accuracy: share of verdicts equal to the gold label; as expected: where a test"
    assert legend.count(told) == 1
    assert text.count("(as expected)") == len(against_gold.judges)


def test_the_mark_stands_beside_the_numbers_it_is_about(render, against_gold) -> None:
    text = render("markdown", against_gold).partition("## Judges by tests")[2]
    rows = [line for line in text.splitlines() if line.startswith("| baseline |")]
    cells = {line.split(" | ")[1]: line.split(" | ")[2] for line in rows[: len(against_gold.tests)]}

    assert {test: "(as expected)" in cell for test, cell in cells.items()} == {
        test: test == against_gold.tests[-1] for test in against_gold.tests
    }


@pytest.mark.parametrize("form", ["terminal", "markdown"])
def test_without_any_gold_accuracy_the_column_is_as_expected_and_nothing_is_marked(render, report, form) -> None:
    text = " ".join(render(form, report, **FULL.get(form, {})).split())

    assert "gold accuracy" not in text
    assert "(as expected)" not in text
    assert (
        "as expected: share of verdicts that meet the test's expectation: the gold label, a stated label, or relative"
        in text
    )


def test_only_gold_accuracy_needs_no_word_on_the_other(render, report) -> None:
    gold = [evolve(each, name="gold-accuracy") if each.name == "as-expected" else each for each in report.measures]
    text = " ".join(render("terminal", evolve(report, measures=tuple(gold)), full=True).split())

    assert "gold accuracy: share of verdicts equal to the gold label." in text
    assert "as expected" not in text
