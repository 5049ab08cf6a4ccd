"""Rules about the verdicts themselves: missing ones, stated probabilities, use of the scale, rationales."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from jrh.text.numbers import counted, counted_items, format_counts
from jrh.values.cases import REFERENCE
from jrh.values.finding import Severity
from jrh.values.measures import Measure

from jrh_measuring.findings.claims import Claim, Situation
from jrh_measuring.findings.hypotheses import MISREAD, MISSING_BY
from jrh_measuring.flags import FEW_CLUSTERS, FEW_ITEMS, MISSING_ON_ERRORS, MISSING_ON_RIGHT

_MISSING: Final = "missing"
_HEADLINES: Final = ("gold-accuracy", "as-expected", "rerun-disagreement")
"""Measures of the reference condition, the first of which stands for all."""
_TWO: Final = 2


def few_clusters(now: Situation) -> Iterator[Claim]:
    """Tell that the reference condition rests on too few independent items for a reliable interval."""
    for summary in now.report.tasks:
        found = next((each for name in _HEADLINES if (each := now.whole(name, summary.task.name)) is not None), None)
        if found is None or found.estimate is None or not {FEW_CLUSTERS, FEW_ITEMS} & set(found.flags):
            continue
        yield Claim(
            kind="few-clusters",
            severity=Severity.WARNING,
            statement=f"Too few independent items for a reliable interval: {counted_items(found)}",
            measure=found,
            plain=True,
        )


def missing_verdicts(now: Situation) -> Iterator[Claim]:
    """Tell how many trials of a task returned no verdict, and why."""
    kind = "missing-verdicts"
    floor = now.settings.floor_of(kind)
    by_task: dict[str, list[Measure]] = {}
    for each in now.measures(_MISSING):
        by_task.setdefault(each.task, []).append(each)
    for measures in by_task.values():
        reasons: Counter[str] = Counter()
        for each in measures:
            reasons.update(each.missing)
        lost, trials = sum(reasons.values()), sum(each.n_trials for each in measures)
        if not lost:
            continue
        severity = Severity.BAD if lost >= trials else Severity.WARNING if lost >= floor * trials else Severity.INFO
        statement = f"{lost:,} of {counted(trials, 'trial')} returned no verdict ({format_counts(reasons)})"
        for each in measures:
            if each.missing:
                yield Claim(kind=kind, severity=severity, statement=statement, measure=each, plain=True, floor=floor)


def missing_by_condition(now: Situation) -> Iterator[Claim]:
    """Tell whether missing verdicts depend on the condition, the gold label, being wrong, or the stated probability."""
    for name, statement in MISSING_BY.items():
        for each in now.measures(name):
            if now.claims(each):
                yield Claim(
                    kind=name.removesuffix("-p"),
                    severity=Severity.WARNING,
                    statement=f"{_direction(each) or statement}; intervals of rates allow for any missing verdicts",
                    measure=each,
                )
    by_label: dict[tuple[str, str], list[Measure]] = {}
    for each in now.index.parts.get((now.judge, _MISSING), ()):
        if set(each.cell) == {"gold"} and each.interval is not None:
            by_label.setdefault((each.task, each.test), []).append(each)
    for measures in by_label.values():
        yield from _by_label(measures)


def _direction(measure: Measure) -> str:
    """Return where more verdicts are missing; empty where the measure does not say."""
    for flag, where in ((MISSING_ON_ERRORS, "wrong"), (MISSING_ON_RIGHT, "right")):
        if flag in measure.flags:
            return f"Verdicts go missing more often on items that the judge gets {where}"
    return ""


def _by_label(measures: list[Measure]) -> Iterator[Claim]:
    intervals = [each.interval for each in measures if each.interval is not None]
    if len(intervals) < _TWO or max(each.low for each in intervals) <= min(each.high for each in intervals):
        return
    most = max(measures, key=lambda each: each.estimate or 0.0)
    yield Claim(
        kind="missing-by-label",
        severity=Severity.WARNING,
        statement=f"Missing verdicts depend on the gold label, most for '{most.cell['gold']}'",
        measure=most,
    )


def calibration(now: Situation) -> Iterator[Claim]:
    """Tell whether stated probabilities are higher or lower than the share of right verdicts."""
    kind = "miscalibration"
    floor = now.settings.floor_of(kind)
    for each in now.measures("overconfidence"):
        if each.test != REFERENCE or each.estimate is None or not now.claims(each):
            continue
        over = "Overconfident" if each.estimate > 0 else "Underconfident"
        severity, statement = Severity.WARNING, f"{over}: stated probability minus share of right verdicts"
        if abs(each.estimate) < floor:
            severity, statement = Severity.INFO, f"Negligible miscalibration (below the floor of {floor:g})"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each, floor=floor)


def compression(now: Situation) -> Iterator[Claim]:
    """Tell whether the verdicts spread less, or more, over an ordinal scale than the gold levels."""
    kind = "compression"
    floor = now.settings.floor_of(kind)
    for each in now.measures("scale-compression"):
        if (
            each.test != REFERENCE
            or each.estimate is None
            or abs(1 - each.estimate) < floor
            or not now.claims(each, 1.0)
        ):
            continue
        if each.estimate < 1:
            severity, statement = Severity.WARNING, "Compresses the scale: spread of verdicts relative to gold levels"
        else:
            severity, statement = Severity.INFO, "Stretches the scale: spread of verdicts relative to gold levels"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each, floor=floor)


def rationales(now: Situation) -> Iterator[Claim]:
    """Tell whether rationales argue for another verdict than the one given."""
    kind = "rationale-contradiction"
    floor = now.settings.floor_of(kind)
    for each in now.measures(kind):
        if now.claims(each, MISREAD) and (each.estimate or 0.0) >= floor:
            yield Claim(
                kind=kind,
                severity=Severity.BAD,
                statement="Rationales argue against the verdict",
                measure=each,
                floor=floor,
            )
