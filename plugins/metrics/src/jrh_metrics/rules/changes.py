"""Rules about staying the same: under a test, and when asked again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve
from jrh import REFERENCE, Measure
from jrh.values import Severity
from jrh_measuring import (
    Chain,
    Claim,
    Design,
    Hypothesis,
    PValue,
    Rule,
    Side,
    Situation,
    items_needed,
    items_needed_for_equivalence,
    margin_of,
    p_value_of,
    read_off,
)

from jrh_metrics.rules.accuracy import (
    EXPECTED,
    RERUN,
    accuracy_change,
    accuracy_equivalence,
    beyond_margin,
    least_expected,
    misses_changes,
    name_accuracy,
)

_EXCESS: Final = "excess-disagreement"
_CHANGE: Final = "accuracy-change"
_SAME_ACCURACY: Final = "accuracy-equivalence"
_SAME_VERDICTS: Final = "excess-equivalence"
_FLIPS: Final = "flip-rate"
_THAN: Final = "more than asking again does"
_BY_CHANGE: Final = 0.9
"""Share of a chain's level at which the excess opens it; the rest goes to the change of accuracy, which implies one."""
_UNSTABLE: Final = "unstable-on-reruns"
_ASIDE: Final = 0.05
"""The weight of what else is asked of every test: its own noise, or its changes where there are no reruns."""


class Changes(Rule):
    """Tells in which tests verdicts and accuracy change, and in which they are shown not to."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield a chain per test: verdicts change; then accuracy changes; then by more than the margin.

        In this order each null hypothesis implies the next: verdicts that never change are as accurate as before. So a
        change of accuracy shows that verdicts change, and a chain opens if either is shown.
        """
        chains: dict[tuple[str, str], list[Hypothesis]] = {}
        excess, same = (
            [place for place in design.steady(name) if design.has_reruns(place.task, place.test)]
            for name in (_EXCESS, _SAME_VERDICTS)
        )
        for place in (*excess, *design.wholes(_CHANGE), *design.wholes(_SAME_ACCURACY)):
            weight = _ASIDE if place.name == _SAME_ACCURACY else 1.0
            # Fewer changes than reruns make are no defect.
            side: Side = "above" if place.name == _EXCESS else "both"
            hypothesis = Hypothesis(place=place, side=side, weight=weight)
            chains.setdefault((place.task, place.test), []).append(hypothesis)
        yield from chains.values()
        for place in design.wholes(_FLIPS):
            if not design.moves(place.task, place.test) and not design.separates_noise(place.task, place.test):
                yield (Hypothesis(place=place, null=design.most_noise(place.task), side="above", weight=_ASIDE),)
        for place in design.wholes(EXPECTED):
            if design.moves(place.task, place.test):
                yield (Hypothesis(place=place, side="below"),)
        for place in (*design.wholes(_SAME_ACCURACY), *same):
            yield (Hypothesis(place=place, equivalence=True),)

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        """Test a hypothesis; the first of a chain together with the change of accuracy that implies it."""
        measure = now.at(hypothesis.place)
        if measure is None:
            return super().test(hypothesis, now)
        if hypothesis.equivalence:
            return _equivalence(now, measure)
        # Its null value depends on the noise that was measured, which no design knows.
        if measure.name == EXPECTED:
            return p_value_of(now, measure, least_expected(now, measure), "below")
        if measure.name == _SAME_ACCURACY:
            return _beyond(now, measure)
        result = super().test(hypothesis, now)
        change = now.whole(_CHANGE, measure.task, measure.test) if measure.name == _EXCESS else None
        if change is None:
            return result
        second = p_value_of(now, change)
        # The smaller of two weighted p-values (Bonferroni) opens the chain.
        p, least = (
            min(1.0, excess / _BY_CHANGE, accuracy / (1 - _BY_CHANGE))
            for excess, accuracy in ((result.p, second.p), (result.least, second.least))
        )
        return evolve(result, opens=(p, least))

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said of every test."""
        # `open_questions` is the last: it names the tests of which none of the others says anything.
        shown = (moves, accuracy_change, misses_changes, robust, accuracy_equivalence, noise_without_reruns)
        for part in (*shown, open_questions):
            yield from part(now)


class Reruns(Rule):
    """Tells whether identical questions get different verdicts."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that reruns disagree no more often than the floor, and that they do so more often than the margin."""
        floor = design.floor_of(_UNSTABLE)
        for place in design.wholes(RERUN):
            # Reruns of the reference are the noise of the judge; those of a test ask the same again for its own
            # texts.
            weight = 0.25 if place.test == REFERENCE else _ASIDE
            yield (Hypothesis(place=place, null=floor, side="above", weight=weight),)
            same = 1.0 if place.test == REFERENCE else _ASIDE
            margin = design.settings.margin
            yield (Hypothesis(place=place, null=margin, side="below", weight=same, equivalence=True),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said of every test whose questions were asked again."""
        floor, margin = now.floor_of(_UNSTABLE), now.margin
        for measure in now.measures(RERUN):
            if measure.interval is None or measure.estimate is None:
                continue
            needed = None
            if now.claims(measure, floor):
                severity, statement = Severity.WARNING, "Unstable: identical reruns get different verdicts"
            elif now.within(measure, margin):
                severity, statement = Severity.GOOD, f"Stable on reruns: at most {margin:g} disagree"
            elif measure.estimate > floor and measure.test == REFERENCE:
                corrected = now.correction(measure, floor)
                severity = Severity.INCONCLUSIVE
                statement = f"Possibly unstable on reruns; {corrected}" if corrected else "May be unstable on reruns"
                needed = items_needed(measure, margin)
            else:
                continue
            yield Claim(
                kind=_UNSTABLE, severity=severity, statement=statement, measure=measure, needed=needed, floor=floor
            )


def _beyond(now: Situation, measure: Measure) -> PValue:
    """Test the margin on the side of the estimate: at most one of the two one-sided hypotheses is false."""
    end = beyond_margin(now, measure)
    result = p_value_of(now, measure, end, "above" if end > 0 else "below")
    return evolve(result, p=result.p if result.p == 1.0 else result.p / 2)


def _equivalence(now: Situation, measure: Measure) -> PValue:
    """Test that a quantity changes by the margin or more: by its own p-value, or the larger of two one-sided ones."""
    p_value = now.whole(f"{measure.name}-p", measure.task, measure.test)
    if p_value is not None:
        return PValue(p=1.0 if p_value.estimate is None else p_value.estimate)
    margin = margin_of(measure, now.margin)
    if measure.estimate is None or abs(measure.estimate) >= margin:
        return PValue(p=1.0)
    ends = [p / 2 for end in (-margin, margin) if (p := read_off(measure, end)) is not None]
    return PValue(p=max(ends, default=1.0))


def moves(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts change more than between reruns."""
    kind = "moves-more-than-reruns"
    floor = now.floor_of(kind)
    for measure in now.steady(_EXCESS):
        if not now.claims(measure):
            continue
        severity, statement = Severity.BAD, f"Changes its verdict {_THAN}"
        if (measure.estimate or 0.0) < floor:
            severity = Severity.INFO
            statement = f"Changes its verdict negligibly {_THAN} (below the floor of {floor:g})"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=measure, floor=floor)


def robust(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts are shown to change by no more than the margin beyond reruns.

    Disagreement between two noisy answers grows with the square of a shift: where reruns differ, P(YES) may move from
    0.80 to 0.68 while the excess is 0.01. There it says that verdicts are robust only if accuracy is equivalent, too.
    """
    right = {_place(claim.measure) for claim in accuracy_equivalence(now) if claim.severity is Severity.GOOD}
    for measure in now.steady("excess-equivalence"):
        if not now.equivalent(measure):
            continue
        margin = margin_of(measure, now.margin)
        severity, statement = Severity.GOOD, f"Robust: changes no more than reruns within ±{margin:g}"
        reruns = now.whole(RERUN, measure.task)
        noise = 0.0 if reruns is None else reruns.estimate or 0.0
        if noise > now.design.settings.floor and _place(measure) not in right:
            severity, doubt = Severity.INFO, "but reruns differ too often to rule out a shift"
            statement = f"Changes no more than reruns within ±{margin:g}, {doubt}"
        yield Claim(kind="robust", severity=severity, statement=statement, measure=measure, margin=margin)


def open_questions(now: Situation) -> Iterator[Claim]:
    """Name the tests of which nothing else can be said, each with what would decide it.

    Of verdicts and accuracy it names the first that only the correction keeps from being shown: a gate may decide it.
    """
    margin = now.margin
    parts = (moves, robust, accuracy_change, accuracy_equivalence)
    decided = {_place(claim.measure) for part in parts for claim in part(now)}
    decided |= {_place(claim.measure) for claim in noise_without_reruns(now) if claim.severity is Severity.BAD}
    compared = [
        *((measure, "a change", "excess-equivalence") for measure in now.steady(_EXCESS)),
        *((measure, "a change of accuracy", "accuracy-equivalence") for measure in now.measures(_CHANGE)),
    ]
    for alone in (True, False):
        for measure, what, name in compared:
            same = now.whole(name, measure.task, measure.test)
            reason = "" if same is None else now.equivalence_corrected(same)
            corrected = now.correction(measure)
            if measure.estimate is None or _place(measure) in decided or (alone and not corrected and not reason):
                continue
            decided.add(_place(measure))
            if same is not None and reason and not corrected:
                yield _nearly_same(now, measure, same, reason)
                continue
            # Equivalence is the nearer decision where the estimate is closer to 0 than to the margin.
            nearer = same is not None and abs(measure.estimate) < margin - abs(measure.estimate)
            statement = f"Too few data to confirm or rule out {what}"
            if corrected:
                statement = f"Possibly {what}; {corrected}"
            if same is not None and nearer and not corrected:
                needed = items_needed_for_equivalence(now, measure, same)
            else:
                needed = items_needed(measure, margin, now.family.comparisons)
            yield Claim(
                kind="undecided",
                severity=Severity.INCONCLUSIVE,
                statement=statement,
                measure=measure,
                aside=now.own_p(measure),
                needed=needed,
                margin=margin,
            )


def _nearly_same(now: Situation, change: Measure, same: Measure, corrected: str) -> Claim:
    """Say that only the other claims of equivalence keep this one from being made, and what would decide it."""
    margin = margin_of(same, now.margin)
    what = name_accuracy(now, change) if change.name == _CHANGE else "Verdicts"
    return Claim(
        kind="undecided",
        severity=Severity.INCONCLUSIVE,
        statement=f"{what} possibly equivalent within ±{margin:g}; {corrected}",
        measure=same,
        needed=items_needed_for_equivalence(now, change, same),
        margin=margin,
    )


def noise_without_reruns(now: Situation) -> Iterator[Claim]:
    """Tell how often verdicts differ where no question was asked again, so that nothing tells a change from noise.

    Two answers from one distribution over k labels differ with probability 1 - 1/k at most: more is no noise.
    """
    for measure in now.steady("flip-rate"):
        # With reruns the excess over their noise decides.
        if measure.estimate is None or now.reruns_tell(measure.task, measure.test):
            continue
        kind, severity = "no-reruns", Severity.INFO
        statement = "Some verdicts differ from the reference; without reruns this may be noise"
        if not measure.estimate:
            statement = "No verdict differs from the reference"
        elif now.claims(measure, now.design.most_noise(measure.task)):
            kind, severity = "moves-more-than-reruns", Severity.BAD
            statement = "Changes its verdict more often than rerun noise alone could"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=measure)


def _place(measure: Measure) -> tuple[str, str]:
    return measure.task, measure.test
