"""The panel about the order of options: what each place gains, and the test of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve
from jrh import Interval, Measure
from jrh_report.html.parts import page_sections
from jrh_testing import load_sections, sample_report

TASK = sample_report().tasks[0].task.name
PLACES = {"first": 0.25, "second": -0.125, "third": -0.125}


def a_measure(name: str, estimate: float, **fields: Any) -> Measure:
    given = {"judge": "careful", "task": TASK, "test": "option-order", "n_items": 30, "n_trials": 60}
    return Measure(name=name, estimate=estimate, **(given | fields))


def of_places(**fields: Any) -> list[Measure]:
    return [
        a_measure(
            "position-preference",
            value,
            cell={"place": place},
            interval=Interval(low=value - 0.125, high=value + 0.125),
            unit="difference",
            **fields,
        )
        for place, value in PLACES.items()
    ]


def page_of(render: Callable[..., str], *measures: Measure) -> str:
    return render("html", evolve(sample_report(), tests=("reference", "option-order"), measures=measures))


def cells(page: str, caption: str) -> list[str]:
    """Return the text of every cell of a table's body."""
    found = re.search(rf"<caption>{caption}.*?<tbody>(.*?)</tbody>", page, re.DOTALL)
    assert found, caption
    texts = re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", found[1], re.DOTALL)
    return [" ".join(re.sub(r"<[^>]+>", " ", text).split()) for text in texts]


def test_the_order_panel_shows_what_each_of_three_places_gains(render: Callable[..., str]) -> None:
    page = page_of(render, a_measure("position-bias", 0.375, unit="difference"), *of_places())
    assert cells(page, "Share of choices of each place, minus the mean over all places") == [
        "careful",
        "option-order",
        "+0.250 [0.125, 0.375] 30 items",
        "-0.125 [-0.250, 0.000] 30 items",
        "-0.125 [-0.250, 0.000] 30 items",
    ]


def test_of_two_options_there_is_no_table_of_preferences(render: Callable[..., str]) -> None:
    page = page_of(render, a_measure("position-bias", 0.375, unit="difference"))
    assert "Effect of option position" in page
    assert "mean over all places" not in page


def test_judges_with_other_places_leave_cells_empty() -> None:
    fewer = [evolve(each, judge="careless") for each in of_places()[:2]]
    report = load_sections(evolve(sample_report(), measures=(*of_places(), *fewer)))
    _, section = page_sections(report)
    (found,) = section.parts[0].tables
    assert list(found.columns) == ["first place", "second place", "third place"]
    assert [[cell is not None for cell in line.cells] for line in found.lines] == [[True] * 3, [True, True, False]]


@pytest.mark.parametrize(("p", "shown"), [(0.0312, "p = 0.031"), (0.00004, "p &lt; 0.001"), (1.0, "p = 1.000")])
def test_a_p_value_of_the_page_says_that_it_is_one(render: Callable[..., str], p: float, shown: str) -> None:
    measures = a_measure("position-bias", 0.375, unit="difference"), a_measure("position-bias-p", p, unit="p-value")
    row = cells(page_of(render, *measures), "Effect of option position")
    assert row[-1] == f"{shown} 30 items"
