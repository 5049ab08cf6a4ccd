"""The answer in one screen: the findings of each judge, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.values import Basis, Finding, Severity
from jrh_measuring import Place

from jrh_report.findings import findings_by_judge
from jrh_report.html.parts import Cell
from jrh_report.tables import no_finding

SHOWN: Final = 4
"""Places of a claim that are in sight, the largest first."""
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


@frozen(kw_only=True)
class ClaimPlace:
    """Where a claim holds, with the measure it rests on."""

    basis: Basis
    cell: Cell


@frozen(kw_only=True)
class Claim:
    """One statement and where it holds."""

    kind: str
    """`for`, `against`, `inconclusive` or `neutral`: the mark and the colour."""
    text: str
    places: tuple[ClaimPlace, ...]
    """In sight."""
    folded: tuple[ClaimPlace, ...] = ()
    more: int = 0
    """Places that are not named."""


@frozen(kw_only=True)
class Answer:
    """What can be said of one judge, or of the data."""

    judge: str
    """Empty: the data and the tests."""
    claims: tuple[Claim, ...]
    nothing: str = ""
    """Why there is no claim."""


def answers(report: RunReport) -> tuple[Answer, ...]:
    """Return what can be said of the data, where that is a warning, and of each judge, in the suite's order."""
    findings = {group.judge: group.findings for group in findings_by_judge(report)}
    places = {Place.of(measure): place for place, measure in enumerate(report.measures)}
    judges = (
        Answer(
            judge=judge,
            claims=tuple(_claims(report, findings.get(judge, ()), places)),
            nothing=no_finding(report, judge),
        )
        for judge in report.judges
    )
    about_data = tuple(
        Claim(kind=_LOOKS[finding.severity], text=f"{finding.task}: {finding.sentence}".removeprefix(": "), places=())
        for finding in findings.get("", ())
        if finding.severity.rank <= Severity.WARNING.rank
    )
    return (*((Answer(judge="", claims=about_data),) if about_data else ()), *judges)


def _claims(report: RunReport, findings: Iterable[Finding], measures: Mapping[Place, int]) -> Iterator[Claim]:
    """Merge the findings with the same statement about several tasks."""
    merged: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        # The severity is part of the key: the same words may be a warning on one task and a failure on another.
        merged.setdefault((finding.severity, finding.statement), []).append(finding)
    for (severity, statement), group in merged.items():
        places = [place for finding in group for place in _claim_places(report, finding, measures)]
        places.sort(key=lambda place: -place.basis.effect)
        yield _claim(severity, statement, tuple(places))


def _claim_places(report: RunReport, finding: Finding, measures: Mapping[Place, int]) -> Iterator[ClaimPlace]:
    """Yield the place of every figure of a finding."""
    for basis in finding.basis:
        at = measures.get(Place.of(basis))
        if basis.value and at is not None:
            cell = Cell(measure=report.measures[at], place=at, digits=_DIGITS)
            yield ClaimPlace(basis=basis, cell=cell)


def _claim(severity: Severity, statement: str, places: tuple[ClaimPlace, ...]) -> Claim:
    is_open = severity is Severity.INCONCLUSIVE
    shown = 0 if is_open else SHOWN
    # One place more takes no more room than the line that would count it.
    if shown and len(places) == shown + 1:
        shown += 1
    return Claim(
        kind=_LOOKS[severity],
        text=f"Inconclusive: {statement[:1].lower()}{statement[1:]}" if is_open else statement,
        places=places[:shown],
        folded=places[shown : shown + FOLDED],
        more=len(places[shown + FOLDED :]),
    )
