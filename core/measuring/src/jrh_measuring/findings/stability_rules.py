"""Rules about staying the same: under a test, and when asked again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.values.cases import REFERENCE
from jrh.values.finding import Severity
from jrh.values.measures import Measure

from jrh_measuring.findings.accuracy_rules import accuracy_change, accuracy_equivalence, named_accuracy
from jrh_measuring.findings.claims import (
    Claim,
    Situation,
    margin_of,
    needed_for,
    needed_for_equivalence,
    open_effect,
)
from jrh_measuring.findings.hypotheses import EXCESS, most_noise, unmeasured

_CHANGE: Final = "accuracy-change"
_RERUN: Final = "rerun-disagreement"
_THAN: Final = "more often than a rerun of the same question does"


def moves(now: Situation) -> Iterator[Claim]:
    """Tell in which tests verdicts change more than between reruns."""
    kind = "moves-more-than-reruns"
    floor = now.settings.floor_of(kind)
    for each in now.steady(EXCESS):
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
    moved = {_place(each.measure) for rule in (moves, accuracy_change) for each in rule(now) if _is_bad(each)}
    right = {_place(each.measure) for each in accuracy_equivalence(now) if each.severity is Severity.GOOD}
    for each in now.steady("excess-equivalence"):
        if not now.equivalent(each) or _place(each) in moved:
            continue
        margin = margin_of(each, now.settings.margin)
        severity, statement = Severity.GOOD, f"Robust: changes no more than reruns within ±{margin:g}"
        if _noisy(now, each) and _place(each) not in right:
            severity = Severity.INFO
            statement = (
                f"Changes no more than reruns within ±{margin:g}, but reruns differ too often to rule out a shift"
            )
        yield Claim(kind="robust", severity=severity, statement=statement, measure=each, margin=margin)


def _noisy(now: Situation, measure: Measure) -> bool:
    reruns_of = now.whole(_RERUN, measure.task)
    return reruns_of is not None and (reruns_of.estimate or 0.0) > now.settings.floor


def _is_bad(claim: Claim) -> bool:
    return claim.severity is Severity.BAD


def undecided(now: Situation) -> Iterator[Claim]:
    """Name the tests of which nothing else can be said, each with what would decide it.

    Of verdicts and accuracy it names the first that only the correction keeps from being shown: a gate may decide it.
    """
    margin = now.settings.margin
    decided = {
        _place(each.measure) for rule in (moves, robust, accuracy_change, accuracy_equivalence) for each in rule(now)
    }
    decided |= {_place(each.measure) for each in unmeasured_noise(now) if _is_bad(each)}
    compared = [
        *((each, "a change", "excess-equivalence") for each in now.steady(EXCESS)),
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
    margin = margin_of(same, now.settings.margin)
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
        if each.estimate is None or not unmeasured(now, each):
            continue
        kind, severity = "no-reruns", Severity.INFO
        statement = "Some verdicts differ from the reference; without reruns this may be noise"
        if not each.estimate:
            statement = "No verdict differs from the reference"
        elif now.claims(each, most_noise(now, each)):
            kind, severity = "moves-more-than-reruns", Severity.BAD
            statement = "Changes its verdict more often than rerun noise alone could"
        yield Claim(kind=kind, severity=severity, statement=statement, measure=each)


def reruns(now: Situation) -> Iterator[Claim]:
    """Tell whether identical questions get different verdicts."""
    kind = "unstable-on-reruns"
    floor, margin = now.settings.floor_of(kind), now.settings.margin
    for each in now.measures(_RERUN):
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
