"""The section on the data: the share of items with each problem, and what it means."""

from __future__ import annotations

from jrh.values import Importance
from jrh_measuring import MeasureTable, MeasureTables

from jrh_audit.measure_list import AUDIT, PROBLEM


def problems() -> MeasureTables:
    """Build the section; the findings say the same in words, so it is a detail."""
    tables = (
        MeasureTable(
            caption=caption, columns={AUDIT: "items affected"}, levels={PROBLEM: "Problem"}, panel=panel, notes=True
        )
        for caption, panel in (("Problems of the data", True), ("Problems of the data for single judges", False))
    )
    return MeasureTables(tables=tuple(tables), importance=Importance.DETAIL)
