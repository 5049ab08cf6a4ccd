"""The answer in one screen: the findings of each judge, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import frozen
from jrh import REFERENCE, Measure
from jrh.values import Basis, Finding, Severity

from jrh_report.html.commonest import Commonest, commonest
from jrh_report.html.found import Cell, Found
from jrh_report.tables import no_finding
from jrh_report.told import DATA, Told, told_by_judge

SHOWN: Final = 4
"""Places of a claim that are in sight, the largest first."""
CLAIMS: Final = 3
"""Statements about one judge that are in sight, the worst first: all judges fit on one screen."""
FOLDED: Final = 40
"""Places of a claim that can be unfolded; further ones are counted."""
_DIGITS: Final = 2
_TRIVIAL: Final = "trivial-accuracy"
_MISSING: Final = "missing-verdicts"
_LOOKS: Final = {
    Severity.BAD: "against",
    Severity.WARNING: "against",
    Severity.INCONCLUSIVE: "undecided",
    Severity.INFO: "neutral",
    Severity.GOOD: "for",
}

Key: TypeAlias = tuple[str, str, str, str, tuple[tuple[str, str], ...]]


@frozen(kw_only=True)
class Place:
    """Where a claim holds, with the measure it rests on."""

    task: str
    test: str
    """Empty for the reference condition."""
    cell: Cell
    commonest: Commonest | None = None
    aside: str = ""
    """What would decide it."""


@frozen(kw_only=True)
class Claim:
    """One statement and where it holds."""

    kind: str
    """`for`, `against`, `undecided` or `neutral`: the mark and the colour."""
    text: str
    places: tuple[Place, ...]
    """In sight."""
    folded: tuple[Place, ...] = ()
    more: int = 0
    """Places that are not named."""


@frozen(kw_only=True)
class Answer:
    """What can be said of one judge, or of the data."""

    judge: str
    """Empty: the data and the tests."""
    heading: str
    claims: tuple[Claim, ...]
    missing: tuple[int, ...]
    """The `missing` measures of the judge's tests."""
    trials: int
    without: int
    """Of the trials, the ones without a verdict."""

    @property
    def in_sight(self) -> tuple[Claim, ...]:
        """Return the statements that are in sight."""
        return self.claims[:CLAIMS]

    @property
    def further(self) -> tuple[Claim, ...]:
        """Return the statements that can be unfolded."""
        return self.claims[CLAIMS:]

    nothing: str = ""
    """Why there is no claim."""


def answers(found: Found) -> tuple[Answer, ...]:
    """Return what can be said of the data, where that is a warning, and of each judge, in the suite's order."""
    told = {each.judge: each for each in told_by_judge(found.report)}
    places = {_key(each): each for each in found.report.measures}
    about_data = _about_data(told.get(""))
    return (*about_data, *(_answer(found, judge, told.get(judge), places) for judge in found.report.judges))


def _about_data(told: Told | None) -> tuple[Answer, ...]:
    findings = [each for each in told.findings if each.severity.rank <= Severity.WARNING.rank] if told else []
    claims = tuple(
        Claim(kind=_LOOKS[each.severity], text=f"{each.task}: {each.sentence}".removeprefix(": "), places=())
        for each in findings
    )
    return (Answer(judge="", heading=DATA, claims=claims, missing=(), trials=0, without=0),) if claims else ()


def _answer(found: Found, judge: str, told: Told | None, measures: Mapping[Key, Measure]) -> Answer:
    gaps = [measure for measure in found.judged.get(judge, ()) if measure.name == "missing"]
    return Answer(
        judge=judge,
        heading=judge,
        claims=tuple(_claims(found, told.findings if told else (), measures)),
        missing=tuple(found.place(measure) for measure in gaps if measure.missing),
        trials=sum(measure.n_trials for measure in gaps),
        without=sum(sum(measure.missing.values()) for measure in gaps),
        nothing=no_finding(found.report, judge),
    )


def _claims(found: Found, findings: Iterable[Finding], measures: Mapping[Key, Measure]) -> Iterator[Claim]:
    """Put the findings with the same statement about several tasks together; a sum tells of missing verdicts."""
    merged: dict[tuple[Severity, str], list[Finding]] = {}
    for each in findings:
        if each.kind != _MISSING:
            merged.setdefault((each.severity, each.statement), []).append(each)
    for (severity, statement), group in merged.items():
        places = [place for each in group for place in _places(found, each, measures)]
        places.sort(key=lambda pair: -pair[0])
        yield _claim(severity, statement, tuple(place for _, place in places))


def _places(found: Found, finding: Finding, measures: Mapping[Key, Measure]) -> Iterator[tuple[float, Place]]:
    """Yield the size and the place of every figure of a finding."""
    usual = None
    if finding.kind == _TRIVIAL:
        tasks = enumerate(found.report.tasks)
        usual = next((commonest(at, each) for at, each in tasks if each.task.name == finding.task), None)
    for basis in finding.basis:
        measure = measures.get(_key(basis))
        if basis.value and measure is not None:
            place = Place(
                task=basis.task,
                test="" if basis.test == REFERENCE else basis.test,
                cell=found.cell(measure, _DIGITS),
                commonest=usual,
                aside=f"{basis.decide} would decide" if basis.decide else "",
            )
            yield basis.effect, place


def _key(each: Measure | Basis) -> Key:
    return each.name, each.judge, each.task, each.test, tuple(sorted(each.cell.items()))


def _claim(severity: Severity, statement: str, places: tuple[Place, ...]) -> Claim:
    kind = _LOOKS[severity]
    open_one = severity is Severity.INCONCLUSIVE
    seen = 0 if open_one else SHOWN
    if seen and len(places) == seen + 1:
        seen += 1
    folded = places[seen : seen + FOLDED]
    text = f"Inconclusive: {statement[:1].lower()}{statement[1:]}" if open_one else statement
    return Claim(kind=kind, text=text, places=places[:seen], folded=folded, more=len(places[seen + FOLDED :]))
