"""Rules about the verdicts themselves: too few, and missing ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import evolve
from jrh import Measure
from jrh.text import count_noun
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
    format_counts,
    format_items,
)

from jrh_metrics.flag_list import MISSING_ON_ERRORS, MISSING_ON_RIGHT

_MISSING: Final = "missing"
_HEADLINES: Final = ("gold-accuracy", "as-expected", "rerun-disagreement")
"""Measures of the reference condition; the first that there is decides for all."""


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
        # Which of the four can be computed depends on what is missing: the design alone must not show it.
        places = (place for name in MISSING_BY for place in design.wholes(name))
        for place in dict.fromkeys(evolve(place, name=name) for place in places for name in MISSING_BY):
            yield (Hypothesis(place=place),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said."""
        yield from few_clusters(now)
        yield from no_verdicts(now)
        yield from reasons_for_missing(now)


def few_clusters(now: Situation) -> Iterator[Claim]:
    """Tell that the reference condition rests on too few independent items for a reliable interval."""
    for task in now.design.tasks:
        headline = next(filter(None, (now.whole(name, task) for name in _HEADLINES)), None)
        if headline is None or headline.estimate is None or not {FEW_CLUSTERS, FEW_ITEMS} & set(headline.flags):
            continue
        yield Claim(
            kind="few-clusters",
            severity=Severity.WARNING,
            statement=f"Too few independent items for a reliable interval: {format_items(headline)}",
            measure=headline,
            plain=True,
        )


def no_verdicts(now: Situation) -> Iterator[Claim]:
    """Tell how many trials of a task returned no verdict, and why."""
    kind = "missing-verdicts"
    floor = now.floor_of(kind)
    by_task: dict[str, list[Measure]] = {}
    for measure in now.measures(_MISSING):
        # One sentence per task: its tests have the same statement and become one finding.
        by_task.setdefault(measure.task, []).append(measure)
    for measures in by_task.values():
        reasons: Counter[str] = Counter()
        for measure in measures:
            reasons.update(measure.missing)
        lost, trials = sum(reasons.values()), sum(measure.n_trials for measure in measures)
        if not lost:
            continue
        # A task without a single verdict says nothing about the judge.
        severity = Severity.BAD if lost >= trials else Severity.WARNING if lost >= floor * trials else Severity.INFO
        statement = f"{lost:,} of {count_noun(trials, 'trial')} returned no verdict ({format_counts(reasons)})"
        for measure in measures:
            # The tests that lost verdicts are what a reader goes to.
            if measure.missing:
                yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, plain=True, floor=floor)


def reasons_for_missing(now: Situation) -> Iterator[Claim]:
    """Tell whether missing verdicts depend on the condition, the gold label, being wrong, or the stated probability."""
    for name, statement in MISSING_BY.items():
        for measure in now.measures(name):
            if now.claims(measure):
                yield Claim(
                    kind=name.removesuffix("-p"),
                    severity=Severity.WARNING,
                    statement=f"{_direction(measure) or statement}; intervals of rates allow for any missing verdicts",
                    measure=measure,
                )


def _direction(measure: Measure) -> str:
    """Return where more verdicts are missing; empty where the measure does not say."""
    for flag, where in ((MISSING_ON_ERRORS, "wrong"), (MISSING_ON_RIGHT, "right")):
        if flag in measure.flags:
            return f"Verdicts go missing more often on items that the judge gets {where}"
    return ""
