"""Rules about the verdicts themselves: too few, and missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve
from jrh import Measure
from jrh.text import counted
from jrh.values import Severity
from jrh_measuring import (
    FEW_CLUSTERS,
    FEW_ITEMS,
    Chain,
    Claim,
    Design,
    Hypothesis,
    Rule,
    Situation,
    counted_items,
    format_counts,
)

from jrh_metrics.flag_list import MISSING_ON_ERRORS, MISSING_ON_RIGHT

_MISSING: Final = "missing"
_HEADLINES: Final = ("gold-accuracy", "as-expected", "rerun-disagreement")
"""Measures of the reference condition, the first of which stands for all."""
_TWO: Final = 2


MISSING_BY: Final[Mapping[str, str]] = {
    "missing-by-condition-p": "Missing verdicts depend on the condition",
    "missing-by-label-p": "Missing verdicts depend on the gold label",
    "missing-by-error-p": "Missing verdicts depend on the judge being wrong",
    "missing-by-confidence-p": "Missing verdicts depend on the probability that the judge states",
}
"""p-values about missing verdicts, and what a small one says."""


class Verdicts(Rule):
    """Tells how few items the reference condition rests on, how many verdicts are missing, and on what it depends."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that missing verdicts depend on nothing: four hypotheses, however few are missing."""
        places = (place for name in MISSING_BY for place in design.measured(name))
        for place in dict.fromkeys(evolve(place, name=name) for place in places for name in MISSING_BY):
            yield (Hypothesis(place=place),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said."""
        yield from few_clusters(now)
        yield from missing_verdicts(now)
        yield from missing_by_condition(now)


def few_clusters(now: Situation) -> Iterator[Claim]:
    """Tell that the reference condition rests on too few independent items for a reliable interval."""
    for summary in now.design.tasks.values():
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
    floor = now.floor_of(kind)
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
    for each in now.parts(_MISSING):
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
