"""The answer in one screen: the findings of each judge, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from attrs import frozen
from jrh import REFERENCE, Measure, RunReport
from jrh.values import Basis, Finding, Severity

from jrh_report.findings import DATA, JudgeFindings, findings_by_judge
from jrh_report.html.parts import Cell, cell_of
from jrh_report.tables import no_finding

SHOWN: Final = 4
"""Places of a claim that are in sight, the largest first."""
CLAIMS: Final = 3
"""Statements about one judge that are in sight, the worst first: all judges fit on one screen."""
FOLDED: Final = 40
"""Places of a claim that can be unfolded; further ones are counted."""
_DIGITS: Final = 2
_LOOKS: Final = {
    Severity.BAD: "against",
    Severity.WARNING: "against",
    Severity.INCONCLUSIVE: "inconclusive",
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
    against: str
    """What it is compared with."""
    aside: str
    """What would decide it."""


@frozen(kw_only=True)
class Claim:
    """One statement and where it holds."""

    kind: str
    """`for`, `against`, `inconclusive` or `neutral`: the mark and the colour."""
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
    nothing: str = ""
    """Why there is no claim."""

    @property
    def in_sight(self) -> tuple[Claim, ...]:
        """Return the statements that are in sight."""
        return self.claims[:CLAIMS]

    @property
    def further(self) -> tuple[Claim, ...]:
        """Return the statements that can be unfolded."""
        return self.claims[CLAIMS:]


def answers(report: RunReport) -> tuple[Answer, ...]:
    """Return what can be said of the data, where that is a warning, and of each judge, in the suite's order."""
    found = {each.judge: each for each in findings_by_judge(report)}
    places = {_key(measure): place for place, measure in enumerate(report.measures)}
    judges = (
        Answer(
            judge=judge,
            heading=judge,
            claims=tuple(_claims(report, found[judge].findings if judge in found else (), places)),
            nothing=no_finding(report, judge),
        )
        for judge in report.judges
    )
    return (*_about_data(found.get("")), *judges)


def _about_data(found: JudgeFindings | None) -> tuple[Answer, ...]:
    findings = [each for each in found.findings if each.severity.rank <= Severity.WARNING.rank] if found else []
    claims = tuple(
        Claim(kind=_LOOKS[each.severity], text=f"{each.task}: {each.sentence}".removeprefix(": "), places=())
        for each in findings
    )
    return (Answer(judge="", heading=DATA, claims=claims),) if claims else ()


def _claims(report: RunReport, findings: Iterable[Finding], measures: Mapping[Key, int]) -> Iterator[Claim]:
    """Put the findings with the same statement about several tasks together."""
    merged: dict[tuple[Severity, str], list[Finding]] = {}
    for each in findings:
        merged.setdefault((each.severity, each.statement), []).append(each)
    for (severity, statement), group in merged.items():
        places = [place for each in group for place in _places(report, each, measures)]
        places.sort(key=lambda pair: -pair[0])
        yield _claim(severity, statement, tuple(place for _, place in places))


def _places(report: RunReport, finding: Finding, measures: Mapping[Key, int]) -> Iterator[tuple[float, Place]]:
    """Yield the size and the place of every figure of a finding."""
    for basis in finding.basis:
        at = measures.get(_key(basis))
        if basis.value and at is not None:
            place = Place(
                task=basis.task,
                test="" if basis.test == REFERENCE else basis.test,
                cell=cell_of(report.measures[at], at, _DIGITS),
                against=basis.aside,
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
