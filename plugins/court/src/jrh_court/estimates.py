"""Estimate from rulings how often the label, the judge, or the rubric is at fault, on all items of a run.

Disagreements and agreements are two strata with known chances. With d the share of disagreements and p, q the shares of
an outcome among ruled disagreements and agreements, the share of all items is d p + (1 - d) q. Its limits recover the
variance of each part from the part's own limits (MOVER: Zou and Donner 2008, Statistics in Medicine 27:1693-1702), so
that a stratum without any such outcome still widens them: where 0 of 30 agreements have a wrong label, one in ten may.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from statistics import fmean
from typing import Final

from attrs import frozen

from jrh_court.cases import CourtCase, Docket, Limits, Ruling
from jrh_court.docket import share_of


@frozen(kw_only=True)
class CourtShare:
    """A share of all items with a verdict and a label."""

    name: str
    value: float
    low: float
    high: float
    disagreements: float = 0.0
    """Ruled disagreements with this outcome; where referees differ, each counts for their share."""
    agreements: float = 0.0


@frozen(kw_only=True)
class Referees:
    """How far the referees say the same."""

    names: tuple[str, ...]
    ruled: tuple[int, ...]
    """Cases that each ruled on."""
    both: int = 0
    """Cases that more than one ruled on."""
    same: int = 0
    """Those of them on which all gave the same ruling."""


@frozen(kw_only=True)
class CourtAnswer:
    """The answer of `jrh court`."""

    docket: Docket
    referees: Referees
    disagreements: int
    """Those with a ruling."""
    agreements: int
    single: int
    """Cases that one referee alone ruled on."""
    disputed: bool
    """Whether most rulings on disagreements, or on agreements, are the word of one person."""
    refused: str
    """Why there is no share of all items; empty: there is."""
    shares: tuple[CourtShare, ...]
    naive: CourtShare
    """Items on which the judge gives the label of people: its accuracy if every label were right."""


def _label_wrong(case: CourtCase, right: tuple[str, ...] | None) -> bool:
    return right is not None and case.label not in right


def _judge_wrong(case: CourtCase, right: tuple[str, ...] | None) -> bool:
    return right is not None and case.judge not in right


def _judge_right(case: CourtCase, right: tuple[str, ...] | None) -> bool:
    return right is not None and case.judge in right


def _several(case: CourtCase, right: tuple[str, ...] | None) -> bool:  # noqa: ARG001 - the signature of outcomes
    return right is not None and len(right) > 1


def _silent(case: CourtCase, right: tuple[str, ...] | None) -> bool:  # noqa: ARG001 - the signature of outcomes
    return right is None


OUTCOMES: Final[Mapping[str, Callable[[CourtCase, tuple[str, ...] | None], bool]]] = {
    "the label is wrong": _label_wrong,
    "the judge is wrong": _judge_wrong,
    "several labels are defensible": _several,
    "the rubric does not say": _silent,
    "the judge is right": _judge_right,
}


def weigh_rulings(docket: Docket, rulings: Mapping[str, Mapping[CourtCase, Ruling]]) -> CourtAnswer:
    """Return what the rulings say of all items.

    Args:
        docket: the cases, and how many items they were drawn from.
        rulings: of every referee; a case without one counts as not drawn.
    """
    by_case: dict[CourtCase, list[Ruling]] = {}
    for of_referee in rulings.values():
        for case, ruling in of_referee.items():
            by_case.setdefault(case, []).append(ruling)
    several = [given for given in by_case.values() if len(given) > 1]
    sides = {agreeing: [case for case in by_case if case.agrees is agreeing] for agreeing in (False, True)}
    alone = [sum(len(by_case[case]) == 1 for case in cases) * 2 > len(cases) for cases in sides.values()]
    refused = ""
    if not by_case:
        refused = "no case has a ruling"
    elif docket.agreements and not sides[True]:
        # The label is wrong where judge and people agree, too: left out, some of these would not count.
        refused = "no agreement has a ruling, and labels that are wrong where the judge agrees would not count"
    elif docket.disagreements and not sides[False]:
        refused = "no disagreement has a ruling"
    shares = [] if refused else [_share(docket, name, by_case, sides) for name in OUTCOMES]
    differ, low, high = docket.differ
    return CourtAnswer(
        docket=docket,
        referees=Referees(
            names=tuple(rulings), ruled=tuple(map(len, rulings.values())), both=len(several),
            same=sum(len(set(given)) == 1 for given in several),
        ),
        disagreements=len(sides[False]), agreements=len(sides[True]),
        single=len(by_case) - len(several), disputed=any(alone), refused=refused, shares=tuple(shares),
        naive=CourtShare(name="the judge gives the label", value=1 - differ, low=1 - high, high=1 - low),
    )  # fmt: skip


def _share(
    docket: Docket, name: str, by_case: Mapping[CourtCase, list[Ruling]], sides: Mapping[bool, list[CourtCase]]
) -> CourtShare:
    """Return a share of all items, by the parts of both strata.

    Where referees differ, the value has the mean of what they say, and each limit what is furthest out: it holds if on
    every case one of them is right.
    """
    outcomes = {
        case: [float(OUTCOMES[name](case, case.defensible(ruling))) for ruling in given]
        for case, given in by_case.items()
    }
    means, least, most = (
        {agreeing: _part(docket, cases, outcomes, summarize) for agreeing, cases in sides.items()}
        for summarize in (fmean, min, max)
    )
    value, low, high = (combine_strata(docket.differ, parts[False], parts[True]) for parts in (means, least, most))
    counts = {agreeing: sum(fmean(outcomes[case]) for case in cases) for agreeing, cases in sides.items()}
    return CourtShare(
        name=name, value=value[0], low=low[1], high=high[2], disagreements=counts[False], agreements=counts[True]
    )


def _part(
    docket: Docket,
    cases: Sequence[CourtCase],
    outcomes: Mapping[CourtCase, list[float]],
    summarize: Callable[[Sequence[float]], float],
) -> Limits:
    """Return the share of an outcome among ruled cases of a stratum, by cluster."""
    if not cases:
        return 0.0, 0.0, 0.0  # no item is on this side
    clusters: dict[str, list[float]] = {}
    for case in cases:
        clusters.setdefault(case.cluster, []).append(summarize(outcomes[case]))
    return share_of(clusters.values(), docket.level)


def combine_strata(differ: Limits, first: Limits, second: Limits) -> Limits:
    """Return d p + (1 - d) q with limits, from estimates and limits of d, p and q (MOVER)."""
    (d, d_low, d_high), (p, p_low, p_high), (q, q_low, q_high) = differ, first, second
    value, slope = d * p + (1 - d) * q, p - q
    # Which limit of d lowers the sum depends on which stratum has more of the outcome.
    falls, rises = (d - d_low, d_high - d) if slope > 0 else (d_high - d, d - d_low)
    below = sqrt((d * (p - p_low)) ** 2 + ((1 - d) * (q - q_low)) ** 2 + (slope * falls) ** 2)
    above = sqrt((d * (p_high - p)) ** 2 + ((1 - d) * (q_high - q)) ** 2 + (slope * rises) ** 2)
    return value, max(value - below, 0.0), min(value + above, 1.0)
