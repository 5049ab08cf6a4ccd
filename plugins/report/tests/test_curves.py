"""Curves of any metric: plotted where their numbers are, and whatever a metric says of them, drawn safely."""

from __future__ import annotations

import re
from collections.abc import Callable
from xml.etree import ElementTree

import jrh_report.plugin
import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport
from jrh.values import Curve
from jrh_report.curves import PLOTS
from jrh_report.drawings import PANELS
from jrh_report.html.parts import Part, page_sections
from jrh_testing import SectionContract, load_sections, loop_over, sample_report

REPORT = sample_report()
TASK = REPORT.tasks[0].task.name
PLOT = Curve(of="seen", over="at", label="place", points="share seen")


def seen(at: str, share: float | None, judge: str = "a", **cell: str) -> Measure:
    interval = None if share is None else Interval(low=share - 0.1, high=share + 0.05)
    return Measure(
        name="seen", judge=judge, task=TASK, test="t", cell={**cell, "at": at}, estimate=share, interval=interval,
        n_trials=10, missing={} if share is not None else {"refused": 10},
    )  # fmt: skip


def owner(curve: Curve = PLOT, judge: str = "a", estimate: float | None = 3.0, **cell: str) -> Measure:
    around = None if estimate is None else Interval(low=2.0, high=4.0)
    return Measure(
        name="half", judge=judge, task=TASK, test="t", cell=cell, estimate=estimate, interval=around, curve=curve
    )


def run(*measures: Measure, judges: tuple[str, ...] = ("a",)) -> RunReport:
    return evolve(REPORT, judges=judges, measures=measures)


def curves(report: RunReport) -> tuple[Part, ...]:
    sections = {section.key: section for section in page_sections(load_sections(report))}
    return sections["section-curves"].parts if "section-curves" in sections else ()


class TestCurves(SectionContract):
    plugin = jrh_report.plugin
    component = "curves"
    reports = (run(owner(), seen("1", 0.5), seen("2", 0.75)),)


def places(svg: str) -> dict[tuple[int, str], str]:
    root = ElementTree.fromstring(svg)
    return {
        (int(group.attrib["data-plotted"]), group.attrib["data-part"]): next(iter(group)).attrib.get("d", "")
        or f"{next(iter(group)).attrib['x']} {next(iter(group)).attrib['y']}"
        for group in root.iter("g")
        if "data-plotted" in group.attrib
    }


def test_points_intervals_line_and_threshold_are_drawn_at_their_values():
    line = ((1.0, 0.0), (2.0, 0.25), (3.0, 0.5), (5.0, 1.0))
    curve = evolve(PLOT, line=line, height=0.5)
    (part,) = curves(run(owner(curve), seen("1", 0.0), seen("3", 0.5), seen("5", 1.0)))
    found = places(part.plots[0].svg)
    (x1, y1), (x3, y3), (x5, y5) = (tuple(map(float, found[n, "estimate"].split())) for n in (1, 2, 3))
    assert x3 - x1 == pytest.approx(x5 - x3, abs=0.01)
    assert y1 - y3 == pytest.approx(y3 - y5, abs=0.01)
    ends = [float(number) for number in re.findall(r"[-.0-9]+", found[2, "interval"])]
    assert ends == pytest.approx([x3, y3 + 0.1 * (y1 - y5), x3, y3 - 0.05 * (y1 - y5)], abs=0.01)
    assert re.match(rf"M{x3:.10g} ", found[0, "estimate"])  # the threshold of 3 stands at 3, at the height of 0.5
    drawn = [path.attrib["d"] for path in ElementTree.fromstring(part.plots[0].svg).iter("path")]
    assert any(f"{x3:.10g} {y3:.10g}" in path and path.count("L") == len(line) - 1 for path in drawn)


def test_other_levels_are_curves_of_their_own_and_other_judges_have_their_panel():
    measures = [owner(estimate=None), owner(judge="b", estimate=None)]
    measures += [seen(at, 0.5, judge, size=size) for judge in "ab" for size in ("1", "2") for at in ("0", "1")]
    (part,) = curves(run(*measures, judges=("a", "b")))
    (plot,) = part.plots
    assert len([key for key in places(plot.svg) if key[1] == "estimate"]) == 8
    text = "|".join("".join(each.itertext()) for each in ElementTree.fromstring(plot.svg).iter("text"))
    assert text.count("size 1") == text.count("size 2") == 2
    assert [line.heads for line in part.tables[0].lines][:2] == [("a", "size 1", "0"), ("a", "size 1", "1")]


def test_what_never_came_is_counted_and_no_point():
    (part,) = curves(run(owner(), seen("0", 0.5), seen("1", None)))
    assert "Trials without a verdict: refused 10." in part.plots[0].caption
    assert (2, "estimate") not in places(part.plots[0].svg)


@loop_over("at", ["nan", "inf", "<b>", "", "1e999"])
def test_a_level_that_is_no_number_is_no_point(at):
    assert curves(run(owner(), seen(at, 0.5))) == ()


@pytest.mark.parametrize("logarithmic", [False, True])
@pytest.mark.parametrize("ats", [("1",), ("0", "0.0"), ("0", "4"), ("-1e300", "1e300")])
def test_any_places_are_drawn(ats, logarithmic, render: Callable[..., str]):
    curve = evolve(PLOT, logarithmic=logarithmic, label="<b>" * 100, points="</svg>", line=((1.0, 9.0),) * 5000)
    made = run(owner(curve, **{"</text>": "&"}), *(seen(at, 0.5, **{"</text>": "&"}) for at in ats))
    page = render("html", made)
    assert page.count("</svg>") == page.count("<svg ")
    assert len(page) < 400_000


def test_thousands_of_curves_keep_the_page_small():
    many = [evolve(owner(judge=f"j{n}"), test=f"t{test}") for n in range(20) for test in range(40)]
    points = [
        evolve(seen("1", 0.5, f"j{n}", size=f"{k}"), test=f"t{test}")
        for n in range(20)
        for test in range(40)
        for k in range(20)
    ]
    (part,) = curves(run(*many, *points, judges=tuple(f"j{n}" for n in range(20))))
    assert len(part.plots) == PLOTS
    assert f"The first {PANELS} of 20 are drawn." in part.plots[0].caption
