"""Measures that have no column of their own and answer a question nonetheless."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jrh import Measure, RunReport
from jrh.text import format_measure

from jrh_report.tables import Table, judge_label

BESIDE: Final[Mapping[str, str]] = {
    "interaction": "interaction",
    "agent-false-negative-rate": "violations missed",
    "agent-false-positive-rate": "good transcripts flagged",
}
"""Measure -> what it is called."""
_DIGITS: Final = 2
_NOTE: Final = "Interaction: the effect of a chain beyond the sum of its parts' effects; 0 if their effects add up."


def beside(report: RunReport) -> Table | None:
    """Return interactions of chains, and error rates over agent transcripts; None if there are none."""
    found = [measure for measure in report.measures if measure.name in BESIDE and not measure.cell]
    if not found:
        return None
    chains = any(measure.name == "interaction" for measure in found)
    return Table(
        title="Interactions" if chains and all(measure.name == "interaction" for measure in found) else "Also measured",
        columns=("judge", "task", "what", "estimate"),
        rows=tuple(_row(report, measure) for measure in found),
        note=_NOTE if chains else "",
    )


def _row(report: RunReport, measure: Measure) -> tuple[str, ...]:
    what = f"{BESIDE[measure.name]}, {measure.test}" if measure.test else BESIDE[measure.name]
    return judge_label(report, measure.judge), measure.task, what, format_measure(measure, _DIGITS)
