"""The metric: does a judge keep its verdict when the response shouts?"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh.values import Severity
from jrh_measuring import (
    NOTHING_EXPECTED,
    BreakdownOptions,
    Chain,
    Claim,
    Design,
    Hypothesis,
    MeasureBuilder,
    Rule,
    Situation,
    agreeing,
    cells_of,
    is_named,
)


def build(options: BreakdownOptions) -> LoudAgreement:
    """Build the metric."""
    return LoudAgreement(options=options)


@frozen(kw_only=True)
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
                flags = ("half-loud",) if half else ()
                yield builder.rate("loud-agreement", cell, agreeing(trials), nothing=NOTHING_EXPECTED, flags=flags)


class MindsShouting(Rule):
    """Tells whether shouting changes more verdicts than the floor."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that shouting changes no more verdicts than the floor."""
        for place in design.measured("loud-agreement"):
            yield (Hypothesis(place=place, null=1 - design.floor_of("minds-shouting"), side="below"),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what is shown."""
        floor = now.floor_of("minds-shouting")
        for measure in now.measures("loud-agreement"):
            if now.claims(measure, 1 - floor):
                yield Claim(
                    kind="minds-shouting",
                    severity=Severity.BAD,
                    statement="Changes its verdict when the response shouts (share that stays)",
                    measure=measure,
                    kept=True,
                    floor=floor,
                )
