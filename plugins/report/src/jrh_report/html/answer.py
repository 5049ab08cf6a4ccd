"""The answer in one screen: what the data license to be said of each judge, and nothing else.

A claim is made where an interval excludes no difference and, where there is a p-value, it stays below 1 - level after
Holm's correction over all comparisons of the judge. That something does not change is said only where an equivalence
test against a declared margin was passed; all else is undecided.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from attrs import frozen
from jrh import REFERENCE, Measure
from jrh_stats import holm

from jrh_report.html.commonest import Commonest, commonest
from jrh_report.html.found import Cell, Found
from jrh_report.overview import EXPECTED, RIGHT

SHOWN: Final = 4
"""Places of a claim that are in sight, the largest first."""
FOLDED: Final = 40
"""Places of a claim that can be unfolded; further ones are counted."""
_DIGITS: Final = 2
_CHANGE: Final = "accuracy-change"
_EXCESS: Final = "excess-disagreement"
_EQUIVALENCE: Final = "accuracy-equivalence"
_POSITION: Final = "position-bias"


@frozen(kw_only=True)
class Place:
    """Where a claim holds, with the measure it rests on."""

    task: str
    test: str
    cell: Cell
    commonest: Commonest | None = None
    aside: str = ""
    """What else has to be known: the margin of an equivalence test, and its p-value."""


@frozen(kw_only=True)
class Claim:
    """One sentence and where it holds."""

    kind: str
    """`for`, `against` or `undecided`: the mark and the colour."""
    text: str
    places: tuple[Place, ...]
    """In sight."""
    folded: tuple[Place, ...] = ()
    more: int = 0
    """Places that are not named."""


@frozen(kw_only=True)
class Answer:
    """What can be said of one judge."""

    judge: str
    simulated: bool
    claims: tuple[Claim, ...]
    missing: tuple[int, ...]
    """The `missing` measures of the judge's tests."""
    trials: int
    without: int
    """Of the trials, the ones without a verdict."""


def answers(found: Found, moving: Mapping[str, frozenset[str]]) -> tuple[Answer, ...]:
    """Return what can be said of each judge, in the suite's order."""
    return tuple(_answer(found, judge, moving) for judge in found.report.judges)


def _answer(found: Found, judge: str, moving: Mapping[str, frozenset[str]]) -> Answer:
    report = found.report
    gaps = [measure for measure in found.judged.get(judge, ()) if measure.name == "missing"]
    return Answer(
        judge=judge,
        simulated=judge in report.simulated,
        claims=tuple(_claims(found, judge, moving)),
        missing=tuple(found.place(measure) for measure in gaps if measure.missing),
        trials=sum(measure.n_trials for measure in gaps),
        without=sum(sum(measure.missing.values()) for measure in gaps),
    )


def _claims(found: Found, judge: str, moving: Mapping[str, frozenset[str]]) -> Iterator[Claim]:
    yield from _rightness(found, judge)
    decided: set[tuple[str, str]] = set()
    for kind, text, measures in _comparisons(found, judge, moving):
        largest_first = sorted(measures, key=lambda each: -abs(each.estimate or 0.0))
        places = tuple(_place(found, each) for each in largest_first)
        decided.update((place.task, place.test) for place in places)
        if places:
            yield _claim(kind, text, places)
    yield from _undecided(found, judge, decided, moving)


def _rightness(found: Found, judge: str) -> Iterator[Claim]:
    """Compare the verdicts of the reference condition with always giving the commonest gold label."""
    texts = {
        "for": "Better than always answering the most common gold label",
        "against": "Worse than always answering the most common gold label",
        "undecided": "Inconclusive: not significantly different from always answering the most common gold label",
    }
    places: dict[str, list[Place]] = {kind: [] for kind in texts}
    for number, summary in enumerate(found.report.tasks):
        usual, task = commonest(number, summary), summary.task.name
        measure = found.whole(RIGHT, task, judge, REFERENCE) or found.whole(EXPECTED, task, judge, REFERENCE)
        if usual is not None and measure is not None and measure.estimate is not None:
            cell = found.cell(measure, _DIGITS)
            kind = _against(measure, usual.share)
            places[kind].append(Place(task=task, test=REFERENCE, cell=cell, commonest=usual))
    yield from (_claim(kind, texts[kind], tuple(some)) for kind, some in places.items() if some)


def _against(measure: Measure, value: float) -> str:
    if measure.interval is None or "degenerate" in measure.flags:
        return "undecided"
    if measure.interval.low > value:
        return "for"
    return "against" if measure.interval.high < value else "undecided"


def _comparisons(
    found: Found, judge: str, moving: Mapping[str, frozenset[str]]
) -> Iterator[tuple[str, str, list[Measure]]]:
    """Yield kind, sentence and the measures that license it."""
    mine = found.judged.get(judge, ())
    still = [measure for measure in mine if measure.test not in moving.get(measure.task, ())]
    excess = _significant(found, still, _EXCESS)
    change = _significant(found, mine, _CHANGE)
    equal = [measure for measure in mine if measure.name == _EQUIVALENCE]
    position = _significant(found, mine, _POSITION)
    yield (
        "for",
        "Accuracy is equivalent to the reference within the declared margin",
        [each for each in equal if "equivalent" in each.flags],
    )
    yield (
        "against",
        "Verdicts change more than between identical reruns",
        [each for each in excess if (each.interval and each.interval.low > 0)],
    )
    yield (
        "against",
        "Accuracy is lower than in the reference condition",
        [each for each in change if each.interval and each.interval.high < 0],
    )
    yield (
        "neutral",
        "Accuracy is higher than in the reference condition",
        [each for each in change if each.interval and each.interval.low > 0],
    )
    yield (
        "against",
        "Accuracy changes by more than the declared margin",
        [each for each in equal if "different" in each.flags],
    )
    yield (
        "against",
        "Prefers the first option",
        [each for each in position if each.interval and each.interval.low > 0],
    )
    yield (
        "against",
        "Prefers the second option",
        [each for each in position if each.interval and each.interval.high < 0],
    )


def _significant(found: Found, measures: Iterable[Measure], name: str) -> list[Measure]:
    """Return the measures of a name whose p-value stays small after Holm's correction over all of them.

    Measures without a p-value are left to their interval.
    """
    named = [measure for measure in measures if measure.name == name]
    p_values = [found.whole(f"{name}-p", each.task, each.judge, each.test) for each in named]
    defined = [each.estimate for each in p_values if each is not None and each.estimate is not None]
    adjusted = iter(holm(defined).tolist()) if defined else iter(())
    alpha = 1 - found.report.level
    kept = []
    for measure, p in zip(named, p_values, strict=True):
        if p is None or (p.estimate is not None and next(adjusted) < alpha):
            kept.append(measure)
    return kept


def _undecided(
    found: Found, judge: str, decided: set[tuple[str, str]], moving: Mapping[str, frozenset[str]]
) -> Iterator[Claim]:
    """Name the tests of which nothing can be said, each with the change that is left open."""
    places: dict[tuple[str, str], Place] = {}
    for name in (_EQUIVALENCE, _EXCESS, _CHANGE):
        for measure in found.judged.get(judge, ()):
            key = measure.task, measure.test
            about_it = name != _EXCESS or measure.test not in moving.get(measure.task, ())
            if measure.name == name and about_it and key not in decided | places.keys():
                places[key] = _place(found, measure)
    if places:
        text = "Inconclusive: too few data to confirm or rule out a change"
        yield _claim("undecided", text, tuple(places.values()))


def _place(found: Found, measure: Measure) -> Place:
    aside = measure.note if measure.name == _EQUIVALENCE else ""
    return Place(task=measure.task, test=measure.test, cell=found.cell(measure, _DIGITS), aside=aside)


def _claim(kind: str, text: str, places: tuple[Place, ...]) -> Claim:
    seen = 0 if kind == "undecided" else SHOWN
    if seen and len(places) == seen + 1:
        seen += 1
    folded = places[seen : seen + FOLDED]
    return Claim(kind=kind, text=text, places=places[:seen], folded=folded, more=len(places[seen + FOLDED :]))
