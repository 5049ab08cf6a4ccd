"""What a release depends on: a number, the claim that it is too high, and the table of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable, RunReport
from jrh.values import Column, MeasureRef, Row, Section, Severity, TablePart
from jrh_measuring import Chain, Claim, Design, Hypothesis, MeasureBuilder, Rule, Scores, Situation, cells_of, is_named

from acme_judge.options import FalsePassOptions
from acme_judge.plugin import OLD_RUBRIC
from acme_judge.store import OLDER

NAME: Final = "acme-false-pass"
ACCEPTED: Final = 0.1
"""Share of failed responses that ACME accepts to be passed."""


@frozen
class FalsePass:
    """Measures how often a judge gives the last label where people gave the first one."""

    options: FalsePassOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield a rate for every task, judge and test."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        for task, summary in context.tasks.items():
            first, *_, last = summary.scale.labels
            failed = is_named(trials.column("gold"), first) & is_named(trials.task, task)
            scores = Scores.of(trials, is_named(trials.column("canonical"), last), eligible=failed)
            for cell in cells_of(trials, self.options.by):
                rows = cell.rows[failed[cell.rows]]
                if cell.task == task and len(rows):
                    old = is_named(trials.stratum, OLDER)[rows].mean()
                    flags = (OLD_RUBRIC,) if old > self.options.old_share else ()
                    yield builder.rate(NAME, cell, scores, nothing="people failed no response", flags=flags)


class _Release(Rule):
    def hypotheses(self, design: Design) -> Iterator[Chain]:
        for place in design.wholes(NAME):
            yield (Hypothesis(place=place, null=ACCEPTED, side="above"),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        for measure in now.measures(NAME):
            if now.claims(measure, ACCEPTED):
                statement = f"Passes more than {ACCEPTED:.0%} of what people failed"
                yield Claim(kind=NAME, severity=Severity.BAD, statement=statement, measure=measure)


def build_rule() -> Rule:
    """Build the rule."""
    return _Release()


class _Table:
    def sections(self, report: RunReport) -> Iterator[Section]:
        for task in (summary.task.name for summary in report.tasks):
            rows = tuple(
                Row(heads=(measure.judge, measure.test), cells=(MeasureRef(measure=place),))
                for place, measure in enumerate(report.measures)
                if (measure.name, measure.task) == (NAME, task) and not measure.cell
            )
            columns = (Column(heading="passed of what people failed", measure=NAME),)
            table = TablePart(
                caption=f"At most {ACCEPTED:.0%} are accepted", heads=("Judge", "Test"), columns=columns, rows=rows
            )
            yield Section(task=task, parts=(table,) if rows else ())


def build_section() -> _Table:
    """Build the section."""
    return _Table()
