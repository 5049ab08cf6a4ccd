"""Plots as files: which there are, what they show, and that they are the same every time."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import warnings
from xml.etree import ElementTree

import matplotlib
import pytest
from attrs import evolve
from jrh_testing import empty_report

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.fixture
def priced(report):
    """Return the report with a price for the first judge's reference condition."""
    line = evolve(report.costs[0], judge="baseline", test="reference", trials=100, cost=0.05)
    return evolve(report, costs=(line, *report.costs))


def test_there_is_a_heat_map_a_forest_plot_and_a_cost_plane_per_task(render, priced) -> None:
    assert sorted(render("plots", priced)) == [
        "cost-essays.svg",
        "forest-agreement-essays.svg",
        "forest-gold-accuracy-essays.svg",
        "heat-agreement-essays.svg",
        "heat-gold-accuracy-essays.svg",
        "index.txt",
    ]


def test_the_numbers_are_those_of_the_report_and_simulated_judges_are_marked(render, report) -> None:
    files = render("plots", report, measures=["as-expected"])
    heat = texts(files["heat-as-expected-essays.svg"])

    assert [text for text in heat if text.startswith("0.")] == ["0.71"] * 3 + ["0.68"] * 3 + ["0.65"] * 3
    assert heat.count("[0.66, 0.74]") == 3
    assert {"baseline", "gpt-4o-mini", "yes-man (simulated)", "As expected, task essays"} <= set(heat)
    forest = texts(files["forest-as-expected-essays.svg"])
    assert forest.count("gpt-4o-mini, n=117, 3 missing") == 3
    assert "Simulated judges (planted behaviour, no model): yes-man" in files["index.txt"]


def test_the_cost_plane_says_whom_it_lacks(render, priced) -> None:
    shown = texts(render("plots", priced)["cost-essays.svg"])

    assert "baseline" in shown
    assert "gpt-4o-mini" in shown
    assert "Not drawn (no price or no gold accuracy): 1 of 3 judges." in shown


def test_what_is_not_drawn_is_said(render, report) -> None:
    index = render("plots", report, measures=["jss", "as-expected"])["index.txt"]

    assert "No jss of task essays." in index
    assert "No cost plane of task essays" not in index
    assert "Nothing to plot." in render("plots", empty_report())["index.txt"]


def test_a_cell_without_an_estimate_shows_no_number(render, report) -> None:
    none = evolve(
        report,
        measures=tuple(
            evolve(each, estimate=None, interval=None) for each in report.measures if each.name == "as-expected"
        ),
    )
    files = render("plots", none, measures=["as-expected"])

    assert texts(files["heat-as-expected-essays.svg"]).count("none") == 9
    assert any(text.endswith(", not estimable") for text in texts(files["forest-as-expected-essays.svg"]))


def test_many_judges_and_tests_are_drawn_in_parts_and_the_rest_is_counted(render, report, measure, monkeypatch) -> None:
    monkeypatch.setattr("jrh_report.plots.reporter._JUDGES", 2)
    monkeypatch.setattr("jrh_report.plots.reporter._TESTS", 2)
    judges = tuple(f"judge {number}" for number in range(8))
    tests = ("reference", *(f"test {number}" for number in range(5)))
    found = tuple(measure("as-expected", judge=judge, test=test) for judge in judges for test in tests)
    crowd = evolve(report, judges=judges, tests=tests, measures=found)
    files = render("plots", crowd, measures=["as-expected"])

    assert len([name for name in files if name.startswith("heat-")]) == 10
    assert "As expected, task essays: 2 of 12 parts are not drawn." in files["index.txt"]


def marks(svg: bytes) -> list[float]:
    """Return where the marks of a forest plot stand on the axis; the steps below it are no marks."""
    plot = ElementTree.fromstring(svg)
    width = float(plot.attrib["viewBox"].split()[2])
    shapes = [
        use for use in plot.iter(f"{SVG}use") if float(use.attrib["y"]) < float(plot.attrib["viewBox"].split()[3]) - 45
    ]
    return [float(use.attrib["x"]) / width for use in shapes]


def test_marks_stand_in_their_order_and_within_the_picture_on_both_sides_of_no_effect(render, report, measure) -> None:
    values = {"baseline": -0.4, "gpt-4o-mini": 0.0, "yes-man": 0.2}
    found = tuple(
        measure("accuracy-change", judge=judge, estimate=value, interval=None, unit="difference")
        for judge, value in values.items()
    )
    files = render("plots", evolve(report, measures=found), measures=["accuracy-change"])
    low, middle, high = marks(files["forest-accuracy-change-essays.svg"])

    assert 0.34 < low < middle < high < 0.98
    assert (middle - low) / (high - middle) == pytest.approx(2, abs=0.01)


def test_png_files_on_request(render, report) -> None:
    files = render("plots", report, formats=["svg", "png"], dpi=100, measures=["as-expected"])
    picture = files["heat-as-expected-essays.png"]

    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">II", picture[16:24])[0] > 400
    assert b"Software" not in picture
    assert set(files) >= {"heat-as-expected-essays.svg", "forest-as-expected-essays.png"}


def test_the_same_run_gives_the_same_bytes_whatever_the_users_settings(render, report) -> None:
    before = render("plots", report, formats=["svg", "png"], measures=["as-expected"])
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "path", "axes.facecolor": "red"}):
        assert render("plots", report, formats=["svg", "png"], measures=["as-expected"]) == before


def test_a_home_without_a_font_cache_is_nothing_to_speak_of(tmp_path) -> None:
    """Where the directory for caches cannot be made, matplotlib makes a temporary one and warns."""
    nowhere = tmp_path / "file"
    nowhere.write_text("no directory", encoding="utf-8")
    program = (
        "import jrh_report.plugin; from jrh_testing import build, sample_report;"
        "print(len(build(jrh_report.plugin, 'plots').render(sample_report())))"
    )
    environment = os.environ | {"MPLCONFIGDIR": str(nowhere / "below")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=True)
    assert done.stderr == b""
    assert int(done.stdout) > 1


def test_letters_without_a_picture_and_mathematics_are_text(render, report) -> None:
    odd = "评分 \U0001f600 $\\frac{1"
    named = evolve(
        report,
        judges=(odd,),
        simulated=frozenset(),
        measures=tuple(evolve(each, judge=odd) for each in report.measures if each.judge == "baseline"),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        files = render("plots", named, formats=["svg", "png"], measures=["as-expected"])
    assert odd in texts(files["heat-as-expected-essays.svg"])
