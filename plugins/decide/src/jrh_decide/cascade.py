"""Cascades: the cheap judge first, then a dear one where it is not sure, then people; replayed from stored verdicts.

One half of the clusters puts cascades in a row. The first has the smallest limit of wrong decisions; further ones leave
fewer items to people or, with as many, ask the judges less often. The other half tests them in that order, as
`jrh_decide.automate` does with thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh_measuring import Codes, Floats, Mask
from jrh_measuring.comparing.cost_curve import on_frontier

from jrh_decide.automate import Measured, Segment, Share, confidence_grid, more_labels, rate_segments, upper_limit
from jrh_decide.decisions import Basis, Decisions, Question, decide, read_votes

_NEVER: Final = 2.0
"""A threshold above every confidence."""
_SURE: Final = 1.0
_MOST_CASCADES: Final = 121
"""Cascades that are compared: ten thresholds of each of two judges."""

Thresholds = tuple[float, ...]


@frozen(kw_only=True)
class Judged:
    """A judge of the cascade: what it would decide of every item, and what its verdicts on it cost."""

    decisions: Decisions
    cost: Floats
    """NaN where a price is unknown, shape (items,)."""


def read_cascade(question: Question) -> list[Judged]:
    """Read what every judge decides by itself, in the order of the question's judges.

    Raises:
        JrhError: there are no labels or no confidence, or a column is not what it is taken for.
    """
    votes = read_votes(question)
    items, judged = len(votes.people), []
    for place, name in enumerate(votes.judges):
        rows = votes.judge == place
        own = evolve(
            votes, judges=(name,), item=votes.item[rows], label=votes.label[rows], judge=votes.judge[rows],
            cost=votes.cost[rows], stated=None if votes.stated is None else votes.stated[rows],
            simulated=tuple(each for each in votes.simulated if each == name),
        )  # fmt: skip
        judged.append(Judged(decisions=decide(own), cost=np.bincount(own.item, own.cost, items).astype(np.float64)))
    return judged


@frozen(kw_only=True)
class Stage:
    """What one judge of a cascade does."""

    judge: str
    at: float | None
    """The confidence from which on it decides; None: it decides nothing."""
    votes: int | None
    reached: int
    """Items that it is asked about."""
    decided: Share
    """Of all items."""
    wrong: Share
    """Of its decisions on held-out items with a label."""
    per_thousand: float | None
    """US dollars for 1,000 items that reach it; None: a price is unknown, or none reaches it."""


@frozen(kw_only=True)
class Side:
    """A place on the plane of cost and correct verdicts."""

    name: str
    correct: Share
    """Right decisions, of held-out items with a label; an item that is left to people is none."""
    per_thousand: float | None
    """US dollars for 1,000 items."""
    frontier: bool | None
    """Whether no other side is as often correct at the same cost or less; None: a price is unknown."""


@frozen(kw_only=True)
class Cascade:
    """The answer of `jrh automate --cascade`."""

    bases: tuple[Basis, ...]
    """In the order in which the judges are asked."""
    error: float
    alpha: float
    seed: int
    items: int
    labelled: int
    held_out: int
    issued: bool
    """False: no cascade is shown to keep the promise, and the first one is shown."""
    stages: tuple[Stage, ...]
    decided: Share
    left: int
    """Items that are left to people."""
    wrong: Share
    per_thousand: float | None
    plane: tuple[Side, ...]
    """The cascade, and every judge alone, deciding all it has a verdict on."""
    segments: tuple[Segment, ...]
    more: int | None
    """Further labelled items that would issue this cascade in 4 of 5 such tables; None: none would, or it is issued."""
    people: Share
    """Labels of one person that most others contradict, of those on items that the cascade decides."""


def choose_cascade(judges: Sequence[Judged], *, error: float, alpha: float, seed: int) -> Cascade:
    """Choose the thresholds of a cascade on one half of the clusters, and test them and laxer ones on the other.

    Raises:
        JrhError: fewer than two clusters have a label and a decision.
    """
    stages = [judge.decisions for judge in judges]
    tested = any_decision(stages, alpha).held_out(seed)
    row, issued = search_cascade(stages, tested, error=error, alpha=alpha)
    shown = row[issued or 0]
    joined, decider = combine(stages, shown)
    measured = Measured(decisions=joined, alpha=alpha)
    everything, known = np.ones(len(decider)), any_decision(stages, alpha).labelled
    costs = [np.where((decider >= place) | (decider < 0), judge.cost, 0.0) for place, judge in enumerate(judges)]
    per_thousand = _per_thousand(np.sum(costs, axis=0))
    alone = [(judge.decisions.basis.judges[0], judge.decisions.wrong, _per_thousand(judge.cost)) for judge in judges]
    return Cascade(
        bases=tuple(judge.basis for judge in stages), error=error, alpha=alpha, seed=seed, items=len(decider),
        labelled=int(known.sum()), held_out=int((known & tested).sum()), issued=issued is not None,
        stages=tuple(_describe(judges, place, shown, decider, measured, tested) for place in range(len(judges))),
        decided=measured.share((decider >= 0).astype(np.float64), everything), left=int((decider < 0).sum()),
        wrong=measured.wrong(_SURE, tested), per_thousand=per_thousand,
        plane=tuple(_plane([("cascade", joined.wrong, per_thousand), *alone], measured, known & tested)),
        segments=tuple(rate_segments(measured, _SURE, tested)), people=measured.people(_SURE),
        more=more_labels(measured, [_SURE], error, int(known.sum())) if issued is None else None,
    )  # fmt: skip


def any_decision(stages: Sequence[Decisions], alpha: float) -> Measured:
    """Return the items with what the first judge decides that decides at all: the split needs all labels."""
    wrong = stages[0].wrong
    for stage in stages[1:]:
        wrong = np.where(np.isnan(wrong), stage.wrong, wrong)
    return Measured(decisions=evolve(stages[0], wrong=wrong), alpha=alpha)


def search_cascade(
    stages: Sequence[Decisions], tested: Mask, *, error: float, alpha: float
) -> tuple[list[Thresholds], int | None]:
    """Return cascades in the order in which they are tested, and which one is issued; None: none is.

    In the half that chooses, each has a smaller burden than all with a smaller limit of wrong decisions.
    """
    found = []
    for ats in product(*[_levels(stage, ~tested, len(stages)) for stage in stages]):
        joined, decider = combine(stages, ats)
        limit = upper_limit(Measured(decisions=joined, alpha=alpha).wrong(_SURE, ~tested))
        found.append((limit, _burden(decider[~tested], len(stages)), ats))
    row: list[Thresholds] = []
    least = None
    for _, burden, ats in sorted(found):
        if least is None or burden < least:
            row.append(ats)
            least = burden
    issued = None
    for place, ats in enumerate(row):
        measured = Measured(decisions=combine(stages, ats)[0], alpha=alpha)
        if upper_limit(measured.wrong(_SURE, tested)) > error:
            break
        issued = place
    return row, issued


def _levels(stage: Decisions, chosen: Mask, judges: int) -> list[float]:
    """Return thresholds of a judge, spread evenly over those of the half that chooses, and that it never decides."""
    grid = confidence_grid(stage.confidence[chosen & ~np.isnan(stage.wrong)])
    most = max(int(_MOST_CASCADES ** (1 / judges)) - 1, 1)
    places = np.linspace(0, len(grid) - 1, min(len(grid), most)).round().astype(int) if grid else ()
    return [_NEVER, *(grid[place] for place in places)]


def combine(stages: Sequence[Decisions], ats: Thresholds) -> tuple[Decisions, Codes]:
    """Return what a cascade decides, with confidence 1, and the place of the judge that does; -1: people do."""
    decider = np.full(len(stages[0].wrong), -1)
    wrong = np.full(len(decider), np.nan)
    for place, (stage, at) in enumerate(zip(stages, ats, strict=True)):
        taken = (decider < 0) & Measured(decisions=stage, alpha=_SURE).decided(at)
        decider[taken], wrong[taken] = place, stage.wrong[taken]
    return evolve(stages[0], confidence=np.where(decider >= 0, _SURE, np.nan), wrong=wrong), decider


def _burden(decider: Codes, judges: int) -> tuple[int, int]:
    """Return the items for people, and those that judges are asked about, of all judges together."""
    people = int((decider < 0).sum())
    return people, int(decider[decider >= 0].sum()) + people * judges


def _describe(
    judges: Sequence[Judged], place: int, ats: Thresholds, decider: Codes, measured: Measured, tested: Mask
) -> Stage:
    mine, basis = decider == place, judges[place].decisions.basis
    reached = (decider >= place) | (decider < 0)
    return Stage(
        judge=basis.judges[0], at=None if ats[place] == _NEVER else ats[place], votes=basis.votes,
        reached=int(reached.sum()), decided=measured.share(mine.astype(np.float64), np.ones(len(mine))),
        wrong=measured.wrong(_SURE, tested & mine), per_thousand=_per_thousand(judges[place].cost[reached]),
    )  # fmt: skip


def _plane(sides: Sequence[tuple[str, Floats, float | None]], measured: Measured, rows: Mask) -> Iterator[Side]:
    shares = [
        measured.share((rows & (wrong == 0)).astype(np.float64), rows.astype(np.float64)) for _, wrong, _ in sides
    ]
    placed = [(cost, share.value) for (_, _, cost), share in zip(sides, shares, strict=True)]
    for (name, _, cost), share, here in zip(sides, shares, placed, strict=True):
        yield Side(name=name, correct=share, per_thousand=cost, frontier=on_frontier(here, placed))


def _per_thousand(costs: Floats) -> float | None:
    mean = float(costs.mean()) if len(costs) else np.nan
    return None if np.isnan(mean) else round(1000 * mean, 12)
