"""The section: how often each judge keeps its verdict although the response is in capitals."""

from __future__ import annotations

from jrh_measuring import MeasureTable, MeasureTables


def capitals() -> MeasureTables:
    """Build the section: a sentence and a table for each task that has the measure."""
    table = MeasureTable(caption="Verdicts that stay in capitals", columns={"loud-agreement": "share that stays"})
    text = "The response says the same in capitals: a reliable judge does not change its verdict."
    return MeasureTables(text=text, tables=(table,))
