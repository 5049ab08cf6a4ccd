"""Rules about being right: against the trivial judge, and against the reference condition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh import Measure
from jrh.values import Severity, has_model_gold
from jrh_measuring import (
    Chain,
    Claim,
    Design,
    Hypothesis,
    Rule,
    Situation,
    commonest,
    estimate_text,
    format_interval,
    items_needed,
    margin_of,
)

RIGHT: Final = "gold-accuracy"
EXPECTED: Final = "as-expected"
RERUN: Final = "rerun-disagreement"
_GAIN: Final = "gain-over-commonest"
_TRIVIAL: Final = "trivial-accuracy"
_DIGITS: Final = 2
_HALF: Final = 0.5
_USUAL: Final = "always answering the most common gold label"


class TrivialAccuracy(Rule):
    """Compares the accuracy of the reference condition with always answering the most common gold label.

    The paired measure `gain-over-commonest` decides: the interval of the accuracy alone would treat the share of the
    most common label as known.
    """

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that the gain is 0, for every task whose gold labels differ."""
        for place in design.wholes(_GAIN):
            usual = commonest(design.tasks[place.task]) if place.task in design.tasks else None
            # Where all gold labels are one, nothing can beat it: the hypothesis would take weight from others.
            if usual is None or usual[1] < 1.0:
                yield (Hypothesis(place=place, weight=0.25),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per task."""
        for name, summary in now.design.tasks.items():
            usual, gain = commonest(summary), now.whole(_GAIN, name)
            measure = now.whole(RIGHT, name) or now.whole(EXPECTED, name)
            if usual is None or measure is None or measure.estimate is None:
                continue
            label, share = usual
            if share == 1.0:
                yield Claim(
                    kind=_TRIVIAL,
                    severity=Severity.WARNING,
                    statement=f"Accuracy cannot be judged: every gold label is '{label}'",
                    measure=measure,
                    plain=True,
                )
            elif gain is not None and gain.estimate is not None:
                yield _versus_trivial(now, measure, gain)


def _versus_trivial(now: Situation, measure: Measure, gain: Measure) -> Claim:
    floor, margin = now.floor_of(_TRIVIAL), now.margin
    severity, statement = _against(now, gain, floor)
    needed = None
    if severity is Severity.INCONCLUSIVE:
        needed = items_needed(gain, margin, now.family.comparisons)
    figures = ("gain", estimate_text(gain), format_interval(gain, _DIGITS), now.own_p(gain))
    return Claim(
        kind=_TRIVIAL,
        severity=severity,
        statement=statement,
        measure=measure,
        aside=" ".join(filter(None, figures)),
        needed=needed,
        unit="labelled item",
        floor=floor,
    )


def _against(now: Situation, gain: Measure, floor: float) -> tuple[Severity, str]:
    if not now.claims(gain):
        corrected = now.correction(gain)
        if corrected:
            than = "better" if (gain.estimate or 0.0) > 0 else "worse"
            return Severity.INCONCLUSIVE, f"Possibly {than} than {_USUAL}; {corrected}"
        return Severity.INCONCLUSIVE, f"Not significantly different from {_USUAL}"
    value = gain.estimate or 0.0
    if abs(value) < floor:
        return Severity.INFO, f"Negligibly different from {_USUAL} (below the floor of {floor:g})"
    return (Severity.GOOD, f"Better than {_USUAL}") if value > 0 else (Severity.BAD, f"Worse than {_USUAL}")


def accuracy_change(now: Situation) -> Iterator[Claim]:
    """Tell in which tests accuracy is lower or higher than in the reference condition."""
    kind = "accuracy-change"
    floor = now.floor_of(kind)
    for measure in now.measures("accuracy-change"):
        if not now.claims(measure):
            continue
        lower = (measure.estimate or 0.0) < 0
        severity = Severity.BAD if lower else Severity.INFO
        word = name_accuracy(now, measure)
        statement = f"{word} {'lower' if lower else 'higher'} than in the reference condition"
        if abs(measure.estimate or 0.0) < floor:
            severity, statement = Severity.INFO, f"{word} changes negligibly (below the floor of {floor:g})"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor)


def misses_changes(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts do not follow a change that is due.

    Where accuracy is shown to be lower than on the unchanged items, that is enough (`silences`).
    """
    kind = "misses-changes"
    floor = now.floor_of(kind)
    for measure in now.measures(EXPECTED):
        if not now.design.moves(measure.task, measure.test) or measure.interval is None:
            continue
        if now.claims(measure, least_expected(now, measure)):
            # Bad where even the upper end says that most of the changes go unnoticed.
            severity = Severity.BAD if measure.interval.high < _HALF else Severity.WARNING
            statement = "Notices too few of the planted changes (share noticed)"
            if measure.test in now.design.directed.get(measure.task, ()):
                statement = "Verdicts move in the direction that the test rules out (share that does not)"
            yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor, kept=True)


def accuracy_equivalence(now: Situation) -> Iterator[Claim]:
    """Tell in which tests the change of accuracy is shown to be within the margin."""
    for measure in now.measures("accuracy-equivalence"):
        # Both claims rest on the ends of an interval that may be too narrow.
        if now.doubtful(measure):
            continue
        margin = margin_of(measure, now.margin)
        if now.claims(measure, beyond_margin(now, measure)):
            yield Claim(
                kind="accuracy-equivalence",
                severity=Severity.BAD,
                statement=f"Accuracy changes by more than the margin of {margin:g}",
                measure=measure,
                margin=margin,
            )
        if now.equivalent(measure):
            yield Claim(
                kind="accuracy-equivalence",
                severity=Severity.GOOD,
                statement=f"{name_accuracy(now, measure)} equivalent to the reference within ±{margin:g}",
                measure=measure,
                margin=margin,
            )


def name_accuracy(now: Situation, measure: Measure) -> str:
    """Name the agreement with gold: that with a model's labels is no accuracy."""
    summary = now.design.tasks.get(measure.task)
    by_model = summary is not None and has_model_gold(summary.gold_sources)
    return "Agreement with model labels" if by_model else "Accuracy"


def beyond_margin(now: Situation, measure: Measure) -> float:
    """Return the end of the margin that is on the side of an estimate."""
    margin = margin_of(measure, now.margin)
    # Beyond the other end the estimate gives no evidence at all.
    return margin if (measure.estimate or 0.0) > 0 else -margin


def least_expected(now: Situation, measure: Measure) -> float:
    """Return the share of verdicts as expected that a test whose verdicts may change asks for at least.

    Where a test only rules out a direction, half of what reruns disagree about moves that way without any cause.
    """
    least = 1 - now.floor_of("misses-changes")
    if measure.test not in now.design.directed.get(measure.task, ()):
        return least
    reruns = now.whole(RERUN, measure.task)
    # Unmeasured noise counts as the most that noise can be: a judge is not blamed for what may be chance.
    if reruns is None or reruns.estimate is None:
        return max(0.0, least - now.design.most_noise(measure.task) / 2)
    high = reruns.estimate if reruns.interval is None else reruns.interval.high
    return max(0.0, least - high / 2)
