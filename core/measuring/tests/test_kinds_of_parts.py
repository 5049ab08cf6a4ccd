"""Parts of sections refuse what no report can show, where the plugin makes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from jrh.running.reporters import check_section
from jrh.values import Column, MeasureRef, Row, Section, TablePart
from jrh_measuring import CurvePart, HeatPart, Layer, Panel, Series, Spot
from jrh_testing import empty_report, loop_over

HEAT = HeatPart(
    caption="h", rows=("a",), columns=("x", "y"), layers=(Layer(heading="l", meaning="m", cells=((1, 2),)),)
)
CURVE = CurvePart(
    caption="c",
    heading="Judge",
    across="x",
    up="y",
    panels=(Panel(heading="a", series=(Series(name="s", spots=(Spot(at=1.0, measure=0),)),)),),
)


def table(*, heads: tuple[str, ...] = ("a",), cells: tuple[int, ...] = (1,), file: str = "") -> TablePart:
    return TablePart(
        caption="t", heads=("H",), columns=(Column(heading="C"),), rows=(Row(heads=heads, cells=cells),), file=file
    )


@loop_over(
    ("make", "message"),
    [
        (lambda: table(cells=(1, 2)), "table 't': the row ('a',) does not fit the headings"),
        (lambda: table(heads=()), "table 't': the row () does not fit the headings"),
        (lambda: table(file="../evil"), "'file' must match"),
        (lambda: evolve(HEAT, layers=()), "heat map 'h': it needs layers with a cell for each row and column"),
        (lambda: evolve(HEAT, rows=("a", "b")), "heat map 'h': it needs layers"),
        (lambda: evolve(CURVE, panels=()), "curves 'c': there has to be a panel"),
        (lambda: evolve(CURVE, panels=(Panel(heading="a", series=()),)), "curves 'c': there has to be a panel"),
    ],
)
def test_a_part_of_another_shape_is_refused(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=r".") as wrong:
        make()
    assert message in str(wrong.value)


@loop_over(
    ("section", "message"),
    [
        (Section(task="gone", parts=(table(),)), "it is about the task 'gone', which the report does not have"),
        (Section(judge="gone", parts=(table(),)), "it is about the judge 'gone', which the report does not have"),
        (Section(parts=(evolve(table(), rows=(Row(heads=("a",), cells=(MeasureRef(measure=9),)),)),)), "measure 9"),
        (Section(parts=(CURVE,)), "measure 0"),
    ],
)
def test_a_section_about_what_the_report_does_not_have_is_refused(section: Section, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_section(section, empty_report())
