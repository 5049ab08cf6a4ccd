"""Rules about ordinal scales: grading too high or too low, against the order, and on a part of the scale."""

from __future__ import annotations

from collections.abc import Iterator

from jrh.values.cases import REFERENCE
from jrh.values.finding import Severity

from jrh_measuring.findings.claims import Claim, Situation


def grading_bias(now: Situation) -> Iterator[Claim]:
    """Tell whether grades are too high or too low on average; the floor is a share of the scale's length."""
    kind = "grading-bias"
    floor = now.settings.floor_of(kind)
    steps = {each.task.name: len(each.task.scale.labels) - 1 for each in now.report.tasks}
    for each in now.measures("bias"):
        value = each.estimate
        if each.test != REFERENCE or value is None or not now.claims(each):
            continue
        severity, statement = Severity.WARNING, f"Grades too {'high' if value > 0 else 'low'} (mean error in levels)"
        if abs(value) < floor * max(steps.get(each.task, 1), 1):
            severity, statement = Severity.INFO, f"Negligible grading bias (below {floor:g} of the scale)"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each, floor=floor)


def inverted_order(now: Situation) -> Iterator[Claim]:
    """Tell whether verdicts fall where the gold levels rise."""
    for each in now.measures("spearman"):
        if each.test == REFERENCE and now.claims(each) and (each.estimate or 0.0) < 0:
            statement = "Ranks items against the gold order (Spearman's correlation)"
            yield Claim(kind="inverted-order", severity=Severity.BAD, statement=statement, measure=each)
