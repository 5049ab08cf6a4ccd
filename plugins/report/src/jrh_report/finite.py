"""What is left of measures whose intervals have ends that are no numbers."""

from __future__ import annotations

import math

from attrs import evolve
from jrh import Measure, RunReport


def finite(report: RunReport) -> RunReport:
    """Return the report with measures that lack an interval or bounds of which an end is no finite number.

    Half of an interval says nothing.
    """
    return evolve(report, measures=tuple(map(_finite, report.measures)))


def _finite(measure: Measure) -> Measure:
    interval = measure.interval
    if interval is not None and not (math.isfinite(interval.low) and math.isfinite(interval.high)):
        measure = evolve(measure, interval=None)
    if measure.bounds is not None and not all(map(math.isfinite, measure.bounds)):
        measure = evolve(measure, bounds=None)
    return measure
