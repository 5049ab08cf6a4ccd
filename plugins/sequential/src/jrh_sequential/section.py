"""Show what was decided at the looks, with limits that hold at every look, and what was not asked for it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from jrh import RunReport, derive_seed
from jrh.plugins import read_value
from jrh.text import format_dollars
from jrh.values import Cell, Column, ComponentUsed, Row, Section, TablePart, TextPart

from jrh_sequential.deciding import ConfidenceSequence, better_judges, follow_race, follow_rules
from jrh_sequential.options import RaceOptions, StopOptions, shares
from jrh_sequential.totals import TrialsInOrder

_PREFIX: Final = "jrh-sequential/"
_COLUMNS: Final = ("estimate", "lower limit", "upper limit", "decision", "clusters", "items left out", "saved")
_TEXT: Final = (
    "Clusters came in random order, and these limits hold at every look: all of them together miss with a probability "
    "of at most {:g}. Missing verdicts count as the worst case. Other intervals of this run, and the rules of a gate, "
    "are computed as if the number of items had been fixed: they are flagged `stopped-early` once a judge is asked no "
    "more, and decide nothing."
)


class Looks:
    """Shows the rules of `stop`, or the judges of `race`."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield the section; nothing where another allocator was used, or none."""
        for used in report.components:
            if used.role == "allocator" and used.component.startswith(_PREFIX) and len(report.records):
                yield _section(report, used)


def _section(report: RunReport, used: ComponentUsed) -> Section:
    # The same draw as `BuildContext.seed` of the allocator.
    trials = TrialsInOrder.of(report.records, partial(derive_seed, report.seed, used.name))
    known = shares()
    followed: list[tuple[tuple[str, ...], ConfidenceSequence, str]]
    heads: tuple[str, ...]
    if used.component == f"{_PREFIX}stop":
        options = read_value(used.options, StopOptions)
        followed = [
            ((sequence.judge, sequence.target.rule.text), sequence, sequence.outcome().value)
            for sequence in follow_rules(options, known, trials)
        ]
        heads, alpha = ("Judge", "Rule"), options.alpha
    else:
        race_options = read_value(used.options, RaceOptions)
        race = follow_race(race_options, known, trials)
        worse = better_judges(race, race_options.alpha)
        kept = "in the race" if len(race) - len(worse) > 1 else "winner"
        followed = [
            ((judge,), sequence, f"dropped: '{worse[judge]}' is better" if judge in worse else kept)
            for judge, sequence in race.items()
        ]
        heads, alpha = ("Judge",), race_options.alpha
    rows = tuple(
        Row(heads=(*names, sequence.task or "all tasks"), cells=_cells(report, trials, sequence, decision))
        for names, sequence, decision in followed
    )
    columns = tuple(Column(heading=heading) for heading in _COLUMNS)
    table = TablePart(caption="Decisions", heads=(*heads, "Task"), columns=columns, rows=rows)
    return Section(parts=(TextPart(text=_TEXT.format(alpha)), table))


def _cells(report: RunReport, trials: TrialsInOrder, sequence: ConfidenceSequence, decision: str) -> tuple[Cell, ...]:
    low, high = sequence.limits()
    tasks = [line for line in report.tasks if sequence.task in (None, line.task.name)]
    asked = sum(trials.count_items(sequence.judge, line.task.name) for line in tasks)
    left = sum(line.items for line in tasks) - asked
    costs = [line for line in report.costs if line.judge == sequence.judge and sequence.task in (None, line.task)]
    priced = any(line.unknown < line.trials for line in costs)
    # Items that were not asked would have cost as much as those that were.
    saved = f"about {format_dollars(sum(line.cost for line in costs) * left / asked)}" if priced else "unknown"
    return sequence.totals.estimate, low, high, decision, sequence.totals.clusters, left, saved if left else ""
