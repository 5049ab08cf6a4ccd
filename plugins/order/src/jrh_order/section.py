"""The section on the order of options: what it moves, and what each place gains."""

from __future__ import annotations

from typing import Final

from jrh.values import Column, MeasureRef, Row, TablePart
from jrh_measuring import MeasureTable, MeasureTables, ReportMeasures

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


def option_order() -> MeasureTables:
    """Build the section on consistency, position bias and the rates of places."""
    return MeasureTables(text=_TEXT, tables=(_ORDER, preferences))


def preferences(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate, of three options or more, how much more often than the mean of all places each place is picked."""
    by_place: dict[tuple[str, str], dict[str, MeasureRef]] = {}
    for at, measure in measures.select(task, _PREFERENCE, "place"):
        key = measure.judge, measure.test
        by_place.setdefault(key, {})[measure.cell["place"]] = MeasureRef(measure=at)
    if not by_place:
        return None
    # The union over judges: one may have answered in fewer orders than another.
    places = tuple(dict.fromkeys(place for cells in by_place.values() for place in cells))
    return TablePart(
        caption="Share of choices of each place, minus the mean over all places",
        heads=("Judge", "Test"),
        columns=tuple(Column(heading=f"{place} place", measure=_PREFERENCE) for place in places),
        rows=tuple(
            Row(heads=key, cells=tuple(cells.get(place) for place in places)) for key, cells in by_place.items()
        ),
    )
