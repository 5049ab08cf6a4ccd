"""Agreement with the reference condition, and its complement, the flip rate."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import evolve, frozen
from jrh import REFERENCE, Interval, Measure, MetricContext, RecordTable

from jrh_metrics.cells import FACTORS, cells_of
from jrh_metrics.measuring import MeasureBuilder
from jrh_metrics.options import MetricOptions
from jrh_metrics.reference import reference_verdicts
from jrh_metrics.scoring import NOTHING_EXPECTED, agreeing, change_due, compared


@frozen
class Agreement:
    """The share of verdicts that equal the same judge's verdict on the item in the reference condition.

    With several reference repeats a trial scores the share of them that it equals. Labels are canonical: swapped
    options and inverted polarity are undone first. JudgeSense calls it the judge sensitivity score (JSS).
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `agreement` per task, judge and test other than the reference, and per factor of `cells.FACTORS`."""
        builder = MeasureBuilder.of(records, context, self.options)
        key = ("agreement", self.options, context.level, context.resamples, context.seed)
        yield from builder.trials.shared(key, lambda: list(_agreements(builder)))


def _agreements(builder: MeasureBuilder) -> Iterator[Measure]:
    trials = builder.trials
    scores = agreeing(trials, reference_verdicts(trials), compared(trials))
    for cell in cells_of(trials, FACTORS):
        if cell.test != REFERENCE:
            found = builder.rate("agreement", cell, scores, nothing=NOTHING_EXPECTED)
            yield evolve(found, flags=(*found.flags, *change_due(trials, cell)))


@frozen
class FlipRate:
    """The share of verdicts that differ from the reference condition: 1 - agreement, with the mirrored interval."""

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `flip-rate` per task, judge and test other than the reference, and per factor of `cells.FACTORS`."""
        for agreement in Agreement(self.options).measure(records, context):
            yield evolve(
                agreement,
                name="flip-rate",
                estimate=None if agreement.estimate is None else 1 - agreement.estimate,
                interval=_mirrored(agreement.interval),
                bounds=None if agreement.bounds is None else (1 - agreement.bounds[1], 1 - agreement.bounds[0]),
            )


def _mirrored(interval: Interval | None) -> Interval | None:
    return None if interval is None else evolve(interval, low=1 - interval.high, high=1 - interval.low)
