"""Calibration, variance components, interactions, judges together: shown where and as they were measured."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import evolve
from jrh import Interval, Measure, RunReport
from jrh_measuring import format_estimate, format_interval
from jrh_report.drawings import PANELS
from jrh_report.html.parts import Cell, Line, Part, Section, Table, page_sections
from jrh_report.sections import MIXED
from jrh_testing import load_sections, sample_report

PAIRS = 40
TASK = sample_report().tasks[0].task.name
NAMES = ("careful", "careless", "third")


def a_measure(name: str, estimate: float | None = 0.5, **fields: Any) -> Measure:
    interval = None if estimate is None else Interval(low=estimate - 0.125, high=estimate + 0.25)
    given = {"judge": "", "task": TASK, "interval": interval, "n_items": 30, "n_trials": 60, "missing": {"timeout": 2}}
    return Measure(name=name, estimate=estimate, **(given | fields))


def a_bin(low: float, stated: float, share: float | None, judge: str = "careful", **fields: Any) -> Measure:
    cell = {"stated": f"{low:.3g} to {low + 0.1:.3g}"}
    note = f"mean stated probability {stated:.3f}"
    given = {"judge": judge, "test": "reference", "cell": cell, "note": note}
    return a_measure("reliability", share, **(given | fields))


def a_run(measures: Iterable[Measure], judges: tuple[str, ...] = NAMES) -> RunReport:
    report = sample_report()
    return evolve(report, judges=judges, simulated=frozenset({"careless"}), measures=tuple(measures))


def shown(measures: Iterable[Measure], judges: tuple[str, ...] = NAMES) -> dict[str, Section]:
    return {section.key: section for section in page_sections(load_sections(a_run(measures, judges)))}


def part(measures: Iterable[Measure], key: str, judges: tuple[str, ...] = NAMES) -> Part:
    (only,) = shown(measures, judges)[key].parts
    return only


def written(table: Table | None) -> dict[tuple[str, ...], list[str]]:
    """Return heads -> estimate, interval, items and missing of every cell."""
    assert table is not None
    return {line.heads: [cell_text(cell) for cell in line.cells if isinstance(cell, Cell)] for line in table.lines}


def cell_text(cell: Cell) -> str:
    interval, missing = format_interval(cell.measure, cell.digits), sum(cell.measure.missing.values())
    return f"{format_estimate(cell.measure, cell.digits)} {interval} {cell.measure.n_items} {missing}"


def line_of(table: Table, *heads: str) -> Line:
    return next(line for line in table.lines if line.heads == heads)


def test_a_run_without_such_measures_has_no_such_section(render: Callable[..., str]) -> None:
    found = shown([a_measure("as-expected", judge="careful", test="reference")])
    assert list(found) == ["section-answer", "section-judges-by-tests", "section-cost-by-test"]
    text = render("html", sample_report())
    sections = set(re.findall(r'id="(section-[\w-]+)"', text)) - {f"{key}-title" for key in found}
    assert {each.removesuffix("-title") for each in sections} == {*found, "section-further"}


def test_each_section_stands_in_the_page_and_in_its_contents(render: Callable[..., str]) -> None:
    measures = [
        a_bin(0.5, 0.55, 0.25),
        a_measure("variance", cell={"component": "item"}),
        a_measure("interaction", judge="careful", test="format"),
        a_measure("effective-judges", 1.5, test="reference"),
    ]
    text = render("html", a_run(measures))
    keys = ("section-variance", "section-interactions", "section-panel", "section-stated-probabilities")
    for key in keys:
        assert f'<li><a href="#{key}">' in text
        assert f'<section class="part" id="{key}"' in text
    places = [text.index(f'id="{key}"') for key in ("tasks", *keys, "flips")]
    assert places == sorted(places)


def test_scores_of_probabilities_stand_beside_their_bins() -> None:
    of = {"judge": "careful", "test": "reference"}
    bins = [a_bin(0.5, 0.553, 0.25, n_items=7), a_bin(0.9, 0.961, 0.5)]
    elsewhere = a_bin(0.2, 0.25, 0.5, test="format")
    found = part(
        [a_measure("brier", 0.25, **of), a_measure("calibration-error", 0.125, **of), *bins, elsewhere],
        "section-stated-probabilities",
    )
    scores, here, there = found.tables
    assert written(scores) == {
        ("careful", "reference"): ["0.250 [0.125, 0.500] 30 2", "0.125 [0.000, 0.375] 30 2"],
    }
    assert written(here) == {
        ("careful", "0.5 to 0.6", "0.553"): ["0.250 [0.125, 0.500] 7 2"],
        ("careful", "0.9 to 1", "0.961"): ["0.500 [0.375, 0.750] 30 2"],
    }
    assert there.folded
    assert written(there) == {("careful", "format", "0.2 to 0.3", "0.250"): ["0.500 [0.375, 0.750] 30 2"]}


def drawn(svg: str) -> dict[str, list[tuple[float, float]]]:
    """Return what is plotted by part: the points of markers, and both ends of intervals."""
    places: dict[str, list[tuple[float, float]]] = {}
    for group in ElementTree.fromstring(svg).iter("g"):
        name = group.attrib.get("data-part", "")
        for use in group.iter("use") if name == "estimate" else ():
            places.setdefault(name, []).append((float(use.attrib["x"]), float(use.attrib["y"])))
        for path in group.iter("path") if name == "interval" else ():
            ends = re.findall(r"[-\d.]+", path.attrib["d"])
            places.setdefault(name, []).extend(zip(map(float, ends[::2]), map(float, ends[1::2]), strict=True))
    return places


def test_the_curve_stands_where_its_numbers_are() -> None:
    bins = [a_bin(0.0, 0.0, 0.25), a_bin(0.5, 0.5, 0.5), a_bin(0.9, 1.0, 0.625, n_items=41)]
    plot = part(bins, "section-stated-probabilities").plots[0]
    assert plot is not None
    places = drawn(plot.svg)
    (left, first), (middle, second), (right, third) = places["estimate"]
    assert middle - left == pytest.approx(right - middle, abs=0.01)
    one = (first - second) / 0.25
    assert one > 0
    assert second - third == pytest.approx(0.125 * one, abs=0.01)
    ends = places["interval"]
    assert [x for x, _ in ends] == pytest.approx([left, left, middle, middle, right, right], abs=0.01)
    heights = [end for share in (0.25, 0.5, 0.625) for end in (share - 0.125, share + 0.25)]
    assert [y for _, y in ends] == pytest.approx([first - (height - 0.25) * one for height in heights], abs=0.01)
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(plot.svg).iter("text")]
    assert {"careful", "mean stated probability"} <= set(texts)


def test_a_bin_without_an_interval_is_a_point_and_one_without_an_estimate_is_none() -> None:
    alone = a_bin(0.5, 0.5, 1.0, interval=None, n_items=1)
    nothing = a_bin(0.9, 0.9, None, flags=("all-missing",))
    found = part([alone, nothing], "section-stated-probabilities")
    assert found.plots
    places = drawn(found.plots[0].svg)
    assert len(places["estimate"]) == 1
    assert "interval" not in places
    assert written(found.tables[0])[("careful", "0.9 to 1", "0.9")] == ["not estimable (all-missing)  30 2"]


def test_bins_that_do_not_tell_the_mean_are_listed_and_not_drawn() -> None:
    found = part([a_bin(0.5, 0.5, 1.0, note="a note of another metric")], "section-stated-probabilities")
    assert found.plots == ()
    assert list(written(found.tables[0])) == [("careful", "reference", "0.5 to 0.6", "a note of another metric")]


def test_of_many_judges_the_first_curves_are_drawn_and_it_is_said() -> None:
    judges = tuple(f"judge {number}" for number in range(PANELS + 2))
    found = part([a_bin(0.5, 0.5, 0.5, judge) for judge in judges], "section-stated-probabilities", judges)
    assert found.plots
    assert len(drawn(found.plots[0].svg)["estimate"]) == PANELS
    assert f"The first {PANELS} of {PANELS + 2} are drawn." in found.plots[0].caption
    assert len(found.tables[0].lines) == PANELS + 2


def test_components_have_digits_enough_and_what_follows_from_them_its_note() -> None:
    measures = [
        a_measure("variance", 0.125, cell={"component": "item"}, unit="squared score"),
        a_measure("variance", 0.00031, cell={"component": "item:judge"}, unit="squared score", interval=None),
        a_measure("dependability", 0.5, interval=None, note="of one verdict per item", unit="coefficient"),
        a_measure("cheapest-design", 12.0, interval=None, note="with 3 judge, 4 repeat; $0.1 per item", unit="calls"),
    ]
    found = part(measures, "section-variance")
    components, coefficients = found.tables
    assert written(components) == {
        ("item",): ["0.1250 [0.0000, 0.3750] 30 2"],
        ("item by judge",): ["0.0003  30 2"],
    }
    assert written(coefficients) == {
        ("dependability of one verdict",): ["0.500  30 2"],
        ("cheapest design that is dependable enough (D-study), calls per item",): ["12  30 2"],
    }
    assert [line.note for line in coefficients.lines] == [measure.note for measure in measures[2:]]


def test_what_cannot_be_estimated_says_why(render: Callable[..., str]) -> None:
    why = "no design of up to 10 levels of each facet reaches a dependability of 0.8"
    text = render("html", a_run([a_measure("cheapest-design", None, note=why, flags=("empty",), unit="calls")]))
    assert re.search(rf"not estimable</span>.*<td>{why}</td>", text)
    assert "<dt>empty</dt><dd>no data.</dd>" in text


def test_interactions_stand_by_judge_and_chain_with_the_meaning_of_their_flags() -> None:
    found = shown(
        [
            a_measure("interaction", -0.25, judge="careless", test="format", unit="difference", flags=("few-items",)),
            a_measure("interaction", 0.0, judge="careful", test="format", unit="difference", flags=("made-up-flag",)),
        ]
    )["section-interactions"]
    (table,) = found.parts[0].tables
    assert written(table) == {
        ("careful", "format"): ["0.000 [-0.125, 0.250] 30 2"],
        ("careless", "format"): ["-0.250 [-0.375, 0.000] 30 2"],
    }
    assert [line.mark for line in table.lines] == ["", "simulated"]
    assert found.flags == {"few-items", "made-up-flag"}


def test_what_a_panel_decides_is_told_by_rule_and_by_who_is_left_out() -> None:
    here = {"test": "reference", "flags": ("simulated",)}
    found = part(
        [
            a_measure("effective-judges", 2.5, unit="judges", **here),
            a_measure("panel-accuracy", 0.5, cell={"without": "careless"}, **here),
            a_measure("panel-accuracy", 0.75, cell={"rule": "weighted"}, note="votes weighted", **here),
            a_measure("panel-accuracy", 0.625, **here),
            a_measure("panel-mean-absolute-error", 0.25, cell={"rule": "median"}, unit="levels", **here),
            a_measure("best-trio", 0.7, note="careful, careless, third", **here),
            a_measure("krippendorff-alpha", 0.5, unit="coefficient", **here),
        ],
        "section-panel",
    )
    agreement, decisions = found.tables
    assert written(agreement) == {("reference",): ["0.500 [0.375, 0.750] 30 2"]}
    assert list(agreement.columns) == ["Krippendorff's alpha"]
    assert [
        (*line.heads, format_estimate(line.cells[0].measure, 3) if line.cells[0] else "") for line in decisions.lines
    ] == [
        ("gold accuracy", "all judges, by majority", "0.625"),
        ("gold accuracy", "without careless (simulated), by majority", "0.500"),
        ("gold accuracy", "all judges, by weighted votes", "0.750"),
        ("gold accuracy", "the best three judges, by majority", "0.700"),
        ("mean absolute error, levels", "all judges, by their median level", "0.250"),
        ("effective number of judges", "all judges", "2.500"),
    ]
    assert (agreement.mark, decisions.mark) == (MIXED, MIXED)


def test_the_agreement_of_one_judge_with_others_is_none_of_the_panel() -> None:
    found = shown([a_measure("krippendorff-alpha", judge="careful", test="format", unit="coefficient")])
    assert list(found) == ["section-answer", "section-further"]


def test_pairs_stand_by_how_alike_their_errors_are_and_simulated_judges_are_marked() -> None:
    def correlation(pair: str, estimate: float | None, **fields: Any) -> Measure:
        return a_measure("error-correlation", estimate, test="reference", cell={"judges": pair}, **fields)

    odd = ("a & b", "careless", "c")
    measures = [
        correlation("a & b & c", 0.1),
        correlation("c & careless", None, interval=None, note="too few labelled items with verdicts"),
        correlation("a & b & careless", 0.3, flags=("simulated",)),
        correlation("someone & else", 0.2, flags=("simulated",)),
    ]
    (pairs,) = part(measures, "section-panel", odd).tables
    assert [line.heads for line in pairs.lines] == [
        ("a & b", "careless (simulated)"),
        ("someone & else", ""),
        ("a & b", "c"),
        ("c", "careless (simulated)"),
    ]
    assert [line.mark for line in pairs.lines] == ["", MIXED, "", ""]
    assert line_of(pairs, "c", "careless (simulated)").note == "too few labelled items with verdicts"
    (cut,) = part([correlation(f"x & {n}", n / 99) for n in range(PAIRS + 5)], "section-panel", odd).tables
    assert (len(cut.lines), cut.more) == (PAIRS, 5)


def test_the_mark_of_several_judges_is_said_once_or_line_by_line(render: Callable[..., str]) -> None:
    both = [a_measure("krippendorff-alpha", test=test, flags=("simulated",)) for test in ("reference", "format")]
    one = [both[0], evolve(both[1], flags=())]
    badge = f'<span class="badge">{MIXED}</span>'
    assert re.search(rf"<caption>[^<]*{badge}", render("html", a_run(both)))
    assert render("html", a_run(both)).count(badge) == 1
    assert re.search(rf'<th scope="row"><span class="head">reference</span> {badge}</th>', render("html", a_run(one)))
    assert render("html", a_run(one)).count(badge) == 1


def test_many_judges_tests_and_bins_keep_the_page_small(render: Callable[..., str]) -> None:
    judges = tuple(f"judge {number}" for number in range(40))
    tests = ("reference", *(f"test {number}" for number in range(40)))
    measures = [
        a_bin(place / 10, place / 10 + 0.05, 0.5, judge, test=test)
        for judge in judges
        for test in tests
        for place in range(10)
    ]
    measures += [
        a_measure(name, judge=judge, test=test)
        for name in ("brier", "interaction")
        for judge in judges
        for test in tests
    ]
    measures += [
        a_measure("error-correlation", test="reference", cell={"judges": f"{one} & {other}"})
        for one in judges
        for other in judges
        if one < other
    ]
    measures += [a_measure("panel-accuracy", test="reference", cell={"without": judge}) for judge in judges]
    report = evolve(a_run(measures, judges), tests=tests)
    started = time.process_time()
    text = render("html", report)
    assert time.process_time() - started < 10
    assert len(text.encode()) < 1_000_000
    assert "150 are listed, 1490 more are in report.json" in text
    assert "150 are listed, 15850 more are in report.json" in text


def test_judges_in_the_heads_of_columns_are_marked_where_they_are_simulated() -> None:
    rates = [
        a_measure("template-flip-rate", judge=judge, test="templates", cell={"pair": "long & short"})
        for judge in NAMES[:2]
    ]
    (table,) = part(rates, "section-prompt-templates").tables
    assert list(table.columns) == ["careful", "careless (simulated)"]
