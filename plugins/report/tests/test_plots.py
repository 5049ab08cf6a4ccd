"""Plots as files: which there are, what they show, and that they are the same every time."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from attrs import evolve
from jrh_testing import empty_report

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def marks(svg: str) -> list[float]:
    return [float(use.attrib["x"]) for use in ElementTree.fromstring(svg).iter(f"{SVG}use")]


@pytest.fixture
def priced(report):
    """Return the report with prices for the reference condition of two judges."""
    line = evolve(report.costs[0], judge="baseline", test="reference", trials=100, cost=0.05)
    return evolve(report, costs=(line, *report.costs))


def test_there_are_heat_maps_intervals_and_a_cost_plane(render, priced) -> None:
    assert sorted(render("plots", priced)) == [
        "cost-of-accuracy.svg",
        "index.txt",
        "judges-by-tests-2-intervals.svg",
        "judges-by-tests-2.svg",
        "judges-by-tests-intervals.svg",
        "judges-by-tests.svg",
    ]


def test_the_numbers_are_those_of_the_report_and_simulated_judges_are_marked(render, report) -> None:
    files = render("plots", report)
    heat = texts(files["judges-by-tests.svg"])

    assert [text for text in heat if text.startswith("0.")] == ["0.71"] * 3 + ["0.68"] * 3 + ["0.65"] * 3
    assert heat.count("[0.66, 0.74]") == 3
    assert {"baseline", "gpt-4o-mini", "yes-man (simulated)", "as expected"} <= set(heat)
    assert texts(files["judges-by-tests-intervals.svg"]).count("yes-man (simulated)") == 3
    assert "Judge: yes-man (simulated)" in files["index.txt"]


def test_a_file_stands_alone(render, report) -> None:
    picture = render("plots", report)["judges-by-tests.svg"]
    root = ElementTree.fromstring(picture)
    (style,) = root.iter(f"{SVG}style")
    assert root.tag == f"{SVG}svg"
    assert "--series-0:#" in (style.text or "")
    assert "url(" not in (style.text or "")


def test_an_empty_run_has_no_plots(render) -> None:
    assert "Nothing to plot." in render("plots", empty_report())["index.txt"]


def test_a_cell_without_an_estimate_shows_no_number(render, report) -> None:
    bare = [evolve(each, estimate=None, interval=None) for each in report.measures if each.name == "as-expected"]
    files = render("plots", evolve(report, measures=tuple(bare)))

    assert texts(files["judges-by-tests.svg"]).count("none") == 9
    assert "judges-by-tests-intervals.svg" not in files


def test_marks_stand_in_their_order_and_within_the_picture_on_both_sides_of_no_effect(render, report, measure) -> None:
    values = {"baseline": -0.4, "gpt-4o-mini": 0.0, "yes-man": 0.2}
    found = tuple(
        measure("excess-disagreement", judge=judge, estimate=value, interval=None, unit="difference")
        for judge, value in values.items()
    )
    low, middle, high = marks(render("plots", evolve(report, measures=found))["judges-by-tests-intervals.svg"])

    assert 0 < low < middle < high < 547
    assert (middle - low) / (high - middle) == pytest.approx(2, abs=0.01)


def test_the_same_run_gives_the_same_bytes(render, priced) -> None:
    assert render("plots", priced) == render("plots", priced)


def test_letters_and_mathematics_are_text(render, report) -> None:
    odd = "评分 \U0001f600 $\\frac{1"
    measures = tuple(evolve(each, judge=odd) for each in report.measures if each.judge == "baseline")
    files = render("plots", evolve(report, judges=(odd,), simulated=frozenset(), measures=measures))
    assert odd in texts(files["judges-by-tests.svg"])
