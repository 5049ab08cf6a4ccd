"""The rules about planted evidence and planted errors: which part of a text is read, and how many errors it takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from attrs import evolve
from jrh import Measure
from jrh.values import Severity
from jrh_measuring import Chain, Claim, Design, Hypothesis, Place, Rule, Situation, estimate_text, format_interval

_HALF: Final = 0.5
_DIGITS: Final = 2
_EFFECT: Final = "evidence-effect"
_POSITION: Final = "evidence-position-p"
_NOTICED: Final = "error-noticed"
_READS: Final = {"reads-first": "first", "reads-last": "last"}


class Evidence(Rule):
    """Tells whether verdicts follow planted evidence, and which part of a text is read."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield that half of the verdicts follow evidence beyond chance, and that its place does not matter."""
        for place in design.wholes(_EFFECT):
            yield (Hypothesis(place=place, null=_HALF),)
        for place in design.wholes(_POSITION):
            yield (Hypothesis(place=place),)

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per test; of one whose texts are read in part, one per end that is read."""
        for effect in now.measures(_EFFECT):
            position = now.whole(_POSITION, effect.task, effect.test)
            ends = [
                (end, which)
                for name, which in _READS.items()
                if (end := now.whole(name, effect.task, effect.test)) is not None
            ]
            # A window without a shown effect of position may be chance.
            if position is not None and ends and now.claims(position):
                kind = "evidence-middle" if len(ends) > 1 else "evidence-reach"
                for end, which in ends:
                    statement = f"Reads the {which} {_tokens(end)} of a text; {end.note}"
                    yield Claim(kind=kind, severity=Severity.BAD, statement=statement, measure=end, plain=True)
                continue
            yield _whole(now, effect)


def _tokens(end: Measure) -> str:
    interval = "" if end.interval is None else f" [{end.interval.low:,.0f}, {end.interval.high:,.0f}]"
    return f"{end.estimate or 0.0:,.0f} tokens{interval}"


def _whole(now: Situation, effect: Measure) -> Claim:
    kind, severity = "evidence-undecided", Severity.INCONCLUSIVE
    statement = "Too few verdicts to tell whether the judge follows planted evidence"
    if now.claims(effect, _HALF) and (effect.estimate or 0.0) < _HALF:
        kind, severity = "evidence-ignored", Severity.BAD
        statement = "Fewer than half of the verdicts follow the planted evidence, at any depth"
    elif now.claims(effect, _HALF):
        kind, severity = "evidence-followed", Severity.GOOD
        statement = "Verdicts follow the planted evidence, and no depth is shown to matter"
    return Claim(kind=kind, severity=severity, statement=statement, measure=effect, aside="beyond chance")


class Errors(Rule):
    """Tells whether a judge notices half of the texts with errors, by kind of error."""

    def hypotheses(self, design: Design) -> Iterator[Chain]:
        """Yield, by kind, that half of the texts with the fewest errors are noticed, then of those with the most.

        All kinds of a test together weigh as much as one hypothesis.
        """
        kinds = _by_kind(design)
        for doses in kinds:
            first, last = doses[0], doses[-1]
            # A test of more kinds of errors must not take more of the family's error rate.
            weight = 1 / sum((places[0].task, places[0].test) == (first.task, first.test) for places in kinds)
            chain = [Hypothesis(place=first, null=_HALF, weight=weight)]
            if last != first:
                chain.append(Hypothesis(place=last, null=_HALF, side="below", weight=weight))
            yield chain

    def claims(self, now: Situation) -> Iterator[Claim]:
        """Yield a claim per kind of error."""
        for doses in _by_kind(now.design):
            first, last = now.at(doses[0]), now.at(doses[-1])
            if first is None or last is None or first.estimate is None:
                continue
            kind, severity, measure = "errors-undecided", Severity.INCONCLUSIVE, first
            statement = "Not shown whether half of the texts with the fewest errors are noticed"
            # Missed at the largest dose is the stronger statement, so it is looked at first.
            if last is not first and now.claims(last, _HALF):
                kind, severity, measure = "errors-missed", Severity.BAD, last
                statement = "Notices fewer than half of the texts, however many errors they have"
            elif now.claims(first, _HALF) and first.estimate < _HALF:
                kind, severity = "errors-missed", Severity.BAD
                statement = "Notices fewer than half of the texts with the fewest errors"
            elif now.claims(first, _HALF):
                kind, severity = "errors-noticed", Severity.GOOD
                statement = "Notices more than half of the texts with the fewest errors"
            yield Claim(
                kind=kind,
                severity=severity,
                statement=statement,
                measure=measure,
                aside=_aside(now, measure),
                kept=True,
            )


def _by_kind(design: Design) -> list[list[Place]]:
    """Return where texts with errors are measured, the fewest errors first, by task, test and kind of error."""
    # From the design, not from the verdicts: the hypotheses must not depend on what was answered.
    kinds: dict[tuple[str, str, str], list[tuple[float, Place]]] = {}
    for place in design.parts(_NOTICED):
        cell = dict(place.cell)
        kinds.setdefault((place.task, place.test, cell["error"]), []).append((float(cell["errors"]), place))
    return [[place for _, place in sorted(doses, key=lambda dose: dose[0])] for doses in kinds.values()]


def _aside(now: Situation, measure: Measure) -> str:
    error = measure.cell["error"]
    half = now.at(evolve(Place.of(measure), name="error-threshold", cell=(("error", error),)))
    known = half is not None and half.estimate is not None
    figure = f"; half are noticed at {estimate_text(half)} {format_interval(half, _DIGITS)}" if half and known else ""
    return f"{error} \N{MULTIPLICATION SIGN} {measure.cell['errors']}{figure}"
