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
    margin_of,
    needed_for,
    needed_for_equivalence,
    open_effect,
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
    named_accuracy,
)

_EXCESS: Final = "excess-disagreement"
_CHANGE: Final = "accuracy-change"
_SAME_ACCURACY: Final = "accuracy-equivalence"
_SAME_VERDICTS: Final = "excess-equivalence"
_FLIPS: Final = "flip-rate"
_THAN: Final = "more often than a rerun of the same question does"
_BY_CHANGE: Final = 0.9
"""Share of a chain's level at which the excess opens it; the rest goes to the change of accuracy, which implies one."""
_UNSTABLE: Final = "unstable-on-reruns"
_ASIDE: Final = 0.05
"""The weight of what is asked of every test beside whether its verdicts change: noise of reruns, or without any."""


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
        for place in (*excess, *design.measured(_CHANGE), *design.measured(_SAME_ACCURACY)):
            weight = _ASIDE if place.name == _SAME_ACCURACY else 1.0
            side: Side = "above" if place.name == _EXCESS else "both"
            hypothesis = Hypothesis(place=place, side=side, weight=weight)
            chains.setdefault((place.task, place.test), []).append(hypothesis)
        yield from chains.values()
        for place in design.measured(_FLIPS):
            if not design.moves(place.task, place.test) and not design.asked_again(place.task, place.test):
                yield (Hypothesis(place=place, null=design.most_noise(place.task), side="above", weight=_ASIDE),)
        for place in design.measured(EXPECTED):
            if design.moves(place.task, place.test):
                yield (Hypothesis(place=place, side="below"),)
        for place in (*design.measured(_SAME_ACCURACY), *same):
            yield (Hypothesis(place=place, equivalence=True),)

    def test(self, hypothesis: Hypothesis, now: Situation) -> PValue:
        """Test a hypothesis; the first of a chain together with the change of accuracy that implies it."""
        measure = now.at(hypothesis.place)
        if measure is None:
            return super().test(hypothesis, now)
        if hypothesis.equivalence:
            return _equivalence(now, measure)
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
            min(1.0, one / _BY_CHANGE, other / (1 - _BY_CHANGE))
            for one, other in ((result.p, second.p), (result.least, second.least))
        )
        return evolve(result, opens=(p, least))

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said of every test."""
        for part in (
            moves,
            accuracy_change,
            misses_changes,
            robust,
            accuracy_equivalence,
            unmeasured_noise,
            undecided,
        ):
            yield from part(now)


class Reruns(Rule):
    """Tells whether identical questions get different verdicts."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that reruns disagree no more often than the floor."""
        floor = design.floor_of(_UNSTABLE)
        for place in design.measured(RERUN):
            weight = 0.25 if place.test == REFERENCE else _ASIDE
            yield (Hypothesis(place=place, null=floor, side="above", weight=weight),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield what may be said of every test whose questions were asked again."""
        return _reruns(now)


def _beyond(now: Situation, measure: Measure) -> PValue:
    """Test the margin on the side of the estimate: at most one of the two one-sided hypotheses is false."""
    end = beyond_margin(now, measure)
    found = p_value_of(now, measure, end, "above" if end > 0 else "below")
    return evolve(found, p=found.p if found.p == 1.0 else found.p / 2)


def _equivalence(now: Situation, measure: Measure) -> PValue:
    """Test that a quantity changes by the margin or more: by its own p-value, or the larger of two one-sided ones."""
    own = now.whole(f"{measure.name}-p", measure.task, measure.test)
    if own is not None:
        return PValue(p=1.0 if own.estimate is None else own.estimate)
    margin = margin_of(measure, now.margin)
    if measure.estimate is None or abs(measure.estimate) >= margin:
        return PValue(p=1.0)
    ends = [p / 2 for end in (-margin, margin) if (p := read_off(measure, end)) is not None]
    return PValue(p=max(ends, default=1.0))


def moves(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts change more than between reruns."""
    kind = "moves-more-than-reruns"
    floor = now.floor_of(kind)
    for each in now.steady(_EXCESS):
        if not now.claims(each):
            continue
        severity, statement = Severity.BAD, f"Changes its verdict {_THAN}"
        if (each.estimate or 0.0) < floor:
            severity, statement = (
                Severity.INFO,
                f"Changes its verdict negligibly {_THAN} (below the floor of {floor:g})",
            )
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each, floor=floor)


def robust(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts are shown to change by no more than the margin beyond reruns.

    Disagreement between two noisy answers grows with the square of a shift: where reruns differ, P(YES) may move from
    0.80 to 0.68 while the excess is 0.01. There it says that verdicts are robust only if accuracy is equivalent, too.
    """
    right = {_place(each.measure) for each in accuracy_equivalence(now) if each.severity is Severity.GOOD}
    for each in now.steady("excess-equivalence"):
        if not now.equivalent(each):
            continue
        margin = margin_of(each, now.margin)
        severity, statement = Severity.GOOD, f"Robust: changes no more than reruns within ±{margin:g}"
        if _noisy(now, each) and _place(each) not in right:
            severity = Severity.INFO
            statement = (
                f"Changes no more than reruns within ±{margin:g}, but reruns differ too often to rule out a shift"
            )
        yield Claim(kind="robust", severity=severity, statement=statement, measure=each, margin=margin)


def _noisy(now: Situation, measure: Measure) -> bool:
    reruns_of = now.whole(RERUN, measure.task)
    return reruns_of is not None and (reruns_of.estimate or 0.0) > now.design.settings.floor


def _is_bad(claim: Claim) -> bool:
    return claim.severity is Severity.BAD


def undecided(now: Situation) -> Iterator[Claim]:
    """Name the tests of which nothing else can be said, each with what would decide it.

    Of verdicts and accuracy it names the first that only the correction keeps from being shown: a gate may decide it.
    """
    margin = now.margin
    decided = {
        _place(each.measure) for rule in (moves, robust, accuracy_change, accuracy_equivalence) for each in rule(now)
    }
    decided |= {_place(each.measure) for each in unmeasured_noise(now) if _is_bad(each)}
    compared = [
        *((each, "a change", "excess-equivalence") for each in now.steady(_EXCESS)),
        *((each, "a change of accuracy", "accuracy-equivalence") for each in now.measures(_CHANGE)),
    ]
    for alone in (True, False):
        for each, what, name in compared:
            same = now.whole(name, each.task, each.test)
            kept = "" if same is None else now.equivalence_corrected(same)
            corrected = now.corrected(each)
            if each.estimate is None or _place(each) in decided or (alone and not corrected and not kept):
                continue
            decided.add(_place(each))
            if same is not None and kept and not corrected:
                yield _nearly_same(now, each, same, kept)
                continue
            nearer = same is not None and abs(each.estimate) < margin - abs(each.estimate)
            yield Claim(
                kind="undecided",
                severity=Severity.INCONCLUSIVE,
                statement=(
                    f"{what.removeprefix('a ').capitalize()} not shown {corrected}"
                    if corrected
                    else f"Too few data to confirm or rule out {what}"
                ),
                measure=each,
                aside=now.own_p(each),
                needed=(
                    needed_for_equivalence(now, each, same)
                    if same is not None and nearer and not corrected
                    else needed_for(each, open_effect(each.estimate, margin), now.family.comparisons)
                ),
                margin=margin,
            )


def _nearly_same(now: Situation, change: Measure, same: Measure, corrected: str) -> Claim:
    """Say that only the other claims of equivalence keep this one from being made, and what would decide it."""
    margin = margin_of(same, now.margin)
    what = named_accuracy(now, change) if change.name == _CHANGE else "Verdicts"
    return Claim(
        kind="undecided",
        severity=Severity.INCONCLUSIVE,
        statement=f"{what} not shown to be equivalent within ±{margin:g} {corrected}",
        measure=same,
        needed=needed_for_equivalence(now, change, same),
        margin=margin,
    )


def unmeasured_noise(now: Situation) -> Iterator[Claim]:
    """Tell how often verdicts differ where no question was asked again, so that nothing tells a change from noise.

    Two answers from one distribution over k labels differ with probability 1 - 1/k at most: more is no noise.
    """
    for each in now.steady("flip-rate"):
        if each.estimate is None or now.reruns_tell(each.task, each.test):
            continue
        kind, severity = "no-reruns", Severity.INFO
        statement = "Some verdicts differ from the reference; without reruns this may be noise"
        if not each.estimate:
            statement = "No verdict differs from the reference"
        elif now.claims(each, now.design.most_noise(each.task)):
            kind, severity = "moves-more-than-reruns", Severity.BAD
            statement = "Changes its verdict more often than rerun noise alone could"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each)


def _reruns(now: Situation) -> Iterator[Claim]:
    """Tell whether identical questions get different verdicts."""
    kind = _UNSTABLE
    floor, margin = now.floor_of(kind), now.margin
    for each in now.measures(RERUN):
        if each.interval is None or each.estimate is None:
            continue
        if now.claims(each, floor):
            severity, statement = Severity.WARNING, "Unstable: identical reruns get different verdicts"
        elif now.within(each, margin):
            severity, statement = Severity.GOOD, f"Stable on reruns: at most {margin:g} disagree"
        elif each.estimate > floor and each.test == REFERENCE:
            corrected = now.corrected(each, floor)
            severity = Severity.INCONCLUSIVE
            statement = f"Instability on reruns not shown {corrected}" if corrected else "May be unstable on reruns"
        else:
            continue
        open_one = severity is Severity.INCONCLUSIVE
        needed = needed_for(each, each.estimate - floor) if open_one else None
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each, needed=needed, floor=floor)


def _place(measure: Measure) -> tuple[str, str]:
    return measure.task, measure.test
