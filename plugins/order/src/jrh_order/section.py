"""The section on the order of options: what it moves, and what each place gains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.values import Column, MeasureRef, Row, Section, TablePart
from jrh_measuring import MeasureTable, ReportMeasures, section_of_task

_PREFERENCE: Final = "position-preference"
_TEXT: Final = (
    "Position bias is the share of items where the judge picks the first place in both orders, minus that of the "
    "second: 1 is always the first, -1 always the second. With three options or more, it is the share of the first "
    "place minus that of the last."
)
_ORDER: Final = MeasureTable(
    caption="Effect of option position",
    columns={
        "swap-consistency": "same choice in both orders",
        "right-in-both-orders": "right in both orders",
        "position-bias": "position bias",
        "position-bias-p": "test of position bias",
        "first-position-rate": "first place chosen",
        "second-position-rate": "second place chosen",
        "third-position-rate": "third place chosen",
        "fourth-position-rate": "fourth place chosen",
        "tie-rate": "ties",
        "identical-first-position-rate": "identical options: first place",
        "identical-second-position-rate": "identical options: second place",
        "identical-tie-rate": "identical options: ties",
    },
)


@frozen
class OptionOrder:
    """Shows consistency, position bias and the rates of places."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task of pairs or lists."""
        measures = ReportMeasures.of(report)
        for task in (summary.task.name for summary in report.tasks):
            yield section_of_task(task, _TEXT, (_ORDER.part(measures, task), preferences(measures, task)))


def preferences(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate, of three options or more, how much more often than the mean of all places each place is picked."""
    by_place: dict[tuple[str, str], dict[str, MeasureRef]] = {}
    for at, measure in measures.named(task, _PREFERENCE, "place"):
        key = measure.judge, measure.test
        by_place.setdefault(key, {})[measure.cell["place"]] = MeasureRef(measure=at)
    if not by_place:
        return None
    places = tuple(dict.fromkeys(place for cells in by_place.values() for place in cells))
    return TablePart(
        caption="Share of choices of each place, minus the mean over all places",
        heads=("Judge", "Test"),
        columns=tuple(Column(heading=f"{place} place", measure=_PREFERENCE) for place in places),
        rows=tuple(
            Row(heads=key, cells=tuple(cells.get(place) for place in places)) for key, cells in by_place.items()
        ),
    )
