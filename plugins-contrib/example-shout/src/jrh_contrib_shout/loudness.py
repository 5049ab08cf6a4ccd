"""The metric: does a judge keep its verdict when the response shouts?"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import NOTHING_EXPECTED, BreakdownOptions, MeasureBuilder, agreement_scores, cells_of, is_named


@frozen
class LoudAgreement:
    """Measures how often verdicts on shouted responses equal the judge's verdict in the reference condition."""

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield one rate per task, judge and test that shouts."""
        builder = MeasureBuilder.of(records, context, self.options)
        trials = builder.trials
        shouted = is_named(trials.variant, "capitals")
        for cell in cells_of(trials, self.options.by):
            if shouted[cell.rows].any():
                half = any(trials.strength.names[code] != "1" for code in set(trials.strength.codes[cell.rows]))
                # A weaker test must say so: its agreement is no evidence about the full one.
                flags = ("half-loud",) if half else ()
                yield builder.rate(
                    "loud-agreement", cell, agreement_scores(trials), nothing=NOTHING_EXPECTED, flags=flags
                )
