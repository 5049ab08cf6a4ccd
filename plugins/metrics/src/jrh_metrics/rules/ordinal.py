"""Rules about the reference condition: stated probabilities, and grades on an ordinal scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import atanh, log
from typing import Final

from jrh import REFERENCE, Measure
from jrh.values import Severity
from jrh_measuring import (
    INFORMATIVE_MISSING,
    UNTESTABLE_MISSING,
    Chain,
    Claim,
    Design,
    Hypothesis,
    PValue,
    Rule,
    Situation,
    p_value_of,
)

# Fisher's z of 1 is infinite.
_NEARLY_ONE: Final = 1 - 1e-9
_SOUND: Final[Mapping[str, float]] = {"overconfidence": 0.0, "scale-compression": 1.0, "bias": 0.0, "spearman": 0.0}
"""Measures of the reference condition, and what they are without a defect."""
_SCALES: Final[Mapping[str, Callable[[float], float]]] = {
    "spearman": lambda value: atanh(min(max(value, -_NEARLY_ONE), _NEARLY_ONE)),
    # The logarithm of 0 is infinite.
    "scale-compression": lambda value: log(max(value, 1e-9)),
}
"""On these scales the sampling distribution is closer to normal: Fisher's z, and the logarithm of a ratio."""


class Grading(Rule):
    """Tells how a judge grades and how sure it is, over the items of the reference condition."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that each measure has the value that it has without a defect."""
        for name, null in _SOUND.items():
            for place in design.wholes(name):
                if place.test == REFERENCE:
                    yield (Hypothesis(place=place, null=null),)

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        """Test a measure on the scale where its distribution is closest to normal."""
        place = hypothesis.place
        return p_value_of(now, now.at(place), hypothesis.null, scale=_SCALES.get(place.name))

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what is shown."""
        for part in (calibration, compression, grading_bias, order_inversion):
            yield from part(now)


def calibration(now: Situation) -> Iterator[Claim]:
    """Tell whether stated probabilities are higher or lower than the share of right verdicts."""
    kind = "miscalibration"
    floor = now.floor_of(kind)
    for measure in now.measures("overconfidence"):
        if measure.test != REFERENCE or measure.estimate is None or not now.claims(measure):
            continue
        over = "Overconfident" if measure.estimate > 0 else "Underconfident"
        severity, statement = Severity.WARNING, f"{over}: stated probability minus share of right verdicts"
        if abs(measure.estimate) < floor:
            severity, statement = Severity.INFO, f"Negligible miscalibration (below the floor of {floor:g})"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor)


def compression(now: Situation) -> Iterator[Claim]:
    """Tell whether the verdicts spread less, or more, over an ordinal scale than the gold levels."""
    kind = "compression"
    floor = now.floor_of(kind)
    for measure in now.measures("scale-compression"):
        value = measure.estimate
        if measure.test != REFERENCE or value is None or abs(1 - value) < floor or not _is_shown(now, measure, 1.0):
            continue
        severity, verb = (Severity.WARNING, "Compresses") if value < 1 else (Severity.INFO, "Stretches")
        statement = f"{verb} the scale: spread of verdicts relative to gold levels"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor)


def grading_bias(now: Situation) -> Iterator[Claim]:
    """Tell whether grades are too high or too low on average; the floor is a share of the scale's length."""
    kind = "grading-bias"
    floor = now.floor_of(kind)
    steps = {name: len(summary.task.scale.labels) - 1 for name, summary in now.design.tasks.items()}
    for measure in now.measures("bias"):
        value = measure.estimate
        if measure.test != REFERENCE or value is None or not now.claims(measure):
            continue
        severity, statement = Severity.WARNING, f"Grades too {'high' if value > 0 else 'low'} (mean error in levels)"
        if abs(value) < floor * max(steps.get(measure.task, 1), 1):
            severity, statement = Severity.INFO, f"Negligible grading bias (below {floor:g} of the scale)"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor)


def order_inversion(now: Situation) -> Iterator[Claim]:
    """Tell whether verdicts fall where the gold levels rise."""
    for measure in now.measures("spearman"):
        if measure.test == REFERENCE and _is_shown(now, measure, 0.0) and (measure.estimate or 0.0) < 0:
            statement = "Ranks items against the gold order (Spearman's correlation)"
            yield Claim(kind="inverted-order", severity=Severity.BAD, statement=statement, measure=measure)


def _is_shown(now: Situation, measure: Measure, null: float) -> bool:
    """Tell whether a coefficient is shown to differ from a null value: never where verdicts may lack for a reason.

    Its interval does not allow for them.
    """
    return now.claims(measure, null) and not {INFORMATIVE_MISSING, UNTESTABLE_MISSING}.intersection(measure.flags)
