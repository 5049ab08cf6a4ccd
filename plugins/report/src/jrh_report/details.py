"""Every measure of a task in folded tables, those of the main table first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import evolve
from jrh import Measure, RunReport
from jrh_measuring import markdown_text as safe

from jrh_report import tables
from jrh_report.fitting import Block
from jrh_report.flags import MAIN
from jrh_report.further import is_further, told_in_words
from jrh_report.markup import folded, table_block
from jrh_report.sections import shown_kinds

_DIGITS: Final = 3
_SHOWN_CELLS: Final = frozenset({"variant"})
"""Cells that are tabulated of measures with a place elsewhere: whole tests and their variants. Finer ones are in the
JSON report."""
_SHARE: Final = 3000
"""Characters a measure may take before all of them were served."""
_RANK: Final = 5


def task_details(report: RunReport, task: str) -> Iterator[Block]:
    """Yield one folded table per measure of a task; whole tests stand before their variants."""
    found = [measure for measure in report.measures if measure.task == task]
    heading = f"## Every measure of task {safe(task, 120)}" if len(report.tasks) > 1 else "## Every measure"
    yield from _details(report, found, heading, f"of task {safe(task, 60)}" if len(report.tasks) > 1 else "")


def elsewhere(report: RunReport) -> Iterator[Block]:
    """Yield the measures that belong to no task of the run."""
    known = {summary.task.name for summary in report.tasks}
    rest = [measure for measure in report.measures if measure.task not in known]
    yield from _details(report, rest, "## Other measures", "of no task")


def _details(report: RunReport, found: Sequence[Measure], heading: str, whose: str) -> Iterator[Block]:
    by_name: dict[str, list[Measure]] = {}
    for measure in found:
        by_name.setdefault(measure.name, []).append(measure)
    for name in sorted(by_name, key=lambda each: each not in MAIN):
        block = _table(report, name, by_name[name], whose)
        if block is not None:
            yield evolve(block, head=f"{heading}\n\n{block.head}") if heading else block
            heading = ""


def _table(report: RunReport, name: str, found: Sequence[Measure], whose: str) -> Block | None:
    placed, told = shown_kinds(report), told_in_words(report)
    shown = sorted(
        (each for each in found if set(each.cell) <= _SHOWN_CELLS or is_further(each, placed, told)),
        key=lambda each: bool(each.cell),
    )
    if not shown:
        return None
    what = " ".join(part for part in (f"measure {safe(name, 60)}", whose) if part)
    rank = _RANK + (name not in MAIN)
    block = table_block(tables.measures(report, shown, _DIGITS), rank=rank, share=_SHARE, what=what)
    rest = len(found) - len(shown)
    more = f"\n\n{rest:,} more by level, bin and the like: report.json" if rest else ""
    return folded(evolve(block, tail=more), name)
