"""Place sides on the plane of cost and correct verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import jrh_stats
import numpy as np
from attrs import evolve
from jrh import Status

from jrh_measuring.comparing.pairing import Terms
from jrh_measuring.comparing.results import Point, SideName
from jrh_measuring.comparing.scoring import EXPECTED, Case

Place: TypeAlias = tuple[float | None, float | None]
"""Cost per 1,000 verdicts, and the share of correct ones."""
_FAILED = frozenset(status.value for status in Status if status.transient)


def curve(sides: Sequence[tuple[SideName, Mapping[str, Case]]], terms: Terms) -> tuple[Point, ...]:
    """Place every side on the plane of cost and correct verdicts and mark the Pareto frontier.

    A verdict is correct if it equals the gold label where the condition keeps it, or the label that a case states; what
    is only expected relative to the reference verdict counts where nothing else is known, because a judge can be steady
    and wrong. Only the cases count that all sides have a score for. Cost is that of all trials of the common cases. A
    side is on the frontier if no other one is at least as often correct, costs at most as much, and is better in one of
    both. The frontier is that of the estimates; a side of unknown price is not placed on it.

    Args:
        sides: the sides, each with its cases by a common name.
        terms: the level of the intervals.
    """
    # A side that was asked easier questions would look better than the others.
    common = set.intersection(*(set(cases) for _, cases in sides)) if sides else set()
    names = sorted(common)
    # What is right is known for some case: then what is merely expected does not count as correct.
    known = any(case.right is not None for _, cases in sides for case in cases.values())

    def score(case: Case) -> float | None:
        return case.right if known else case.score(EXPECTED)

    scored = [name for name in names if all(score(cases[name]) is not None for _, cases in sides)]
    points = [_point(side, cases, names, (scored, score), terms) for side, cases in sides]
    places = [(point.per_thousand, point.correct) for point in points]
    return tuple(
        evolve(point, frontier=on_frontier(place, places)) for point, place in zip(points, places, strict=True)
    )


def _point(
    side: SideName,
    cases: Mapping[str, Case],
    names: Sequence[str],
    scoring: tuple[Sequence[str], Callable[[Case], float | None]],
    terms: Terms,
) -> Point:
    scored, score = scoring
    scores = np.array([score(cases[name]) for name in scored], dtype=np.float64)
    clusters = [(cases[name].task, cases[name].cluster) for name in scored]
    # Numbered by task and cluster: tasks may have clusters of the same name.
    known = {cluster: code for code, cluster in enumerate(sorted(set(clusters)))}
    sums = jrh_stats.cluster_sums([known[cluster] for cluster in clusters], scores, np.ones(len(scores)))
    estimate = jrh_stats.clustered_proportion(sums[:, 0], sums[:, 1], level=terms.level)
    trials = [trial for name in names for trial in cases[name].trials]
    # A trial that failed in transit has no cost, which is not the same as an unknown one.
    unknown = sum(trial.cost is None and trial.status not in _FAILED for trial in trials)
    cost = round(sum(trial.cost or 0.0 for trial in trials), 12)
    return Point(
        side=side,
        cases=len(scored),
        items=len({(cases[name].task, cases[name].item) for name in scored}),
        clusters=estimate.clusters,
        correct=estimate.value,
        low=estimate.low,
        high=estimate.high,
        trials=len(trials),
        cost=cost,
        unknown=unknown,
        per_thousand=round(1000 * cost / len(trials), 12) if trials and not unknown else None,
        frontier=None,
    )


def on_frontier(here: Place, places: Iterable[Place]) -> bool | None:
    """Tell whether no other place is as good in cost and share of correct verdicts, and better in one of both.

    None where the own cost or share is unknown; other places with an unknown one do not count.
    """
    own_cost, own_correct = here
    if own_cost is None or own_correct is None:
        return None
    # As good in both and not equal is better in one.
    return not any(
        cost is not None
        and correct is not None
        and cost <= own_cost
        and correct >= own_correct
        and (cost, correct) != here
        for cost, correct in places
    )
