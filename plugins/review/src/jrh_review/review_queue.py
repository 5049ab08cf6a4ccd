"""Which cases people review, in which order, and with which chance each case came into the queue."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final

from jrh import JrhError, content_id

from jrh_review.decisions import QueuedCase
from jrh_review.listed_cases import CaseScore
from jrh_review.options import First, QueueRequest

_FLOOR: Final = 0.5
"""Added to every score, which is at most 2: no case is drawn more than five times as often as another, because shares
with very unequal weights are imprecise, and in small samples biased."""


class NoVerdictsError(JrhError):
    """Report an order of review that needs verdicts while the run has none. Run the suite first, or order by plan."""


def known_cases(cases: Iterable[QueuedCase], request: QueueRequest) -> list[QueuedCase]:
    """Return the cases.

    Raises:
        JrhError: there are none, or none of a test that is asked for.
    """
    listed = list(cases)
    if not listed:
        raise JrhError("this run stores no perturbed cases to review; records that were imported have no texts")
    tests = {case.test for case in listed}
    if unknown := [name for name in request.tests if name not in tests]:
        raise JrhError(f"no cases of the test '{unknown[0]}' in this run; it has: {', '.join(sorted(tests))}")
    return listed


def drawn(
    cases: Iterable[QueuedCase], request: QueueRequest, scores: Callable[[], Sequence[CaseScore]]
) -> tuple[QueuedCase, ...]:
    """Return the queue: all cases, or a sample with the chance of each case.

    A random sample is ordered by a hash of seed and case, so cases that are made again stay in it, whatever else
    changes. Otherwise the chance is proportional to the score, up to 1, and the highest score comes first.

    Raises:
        NoVerdictsError: an order needs verdicts, and the run has none.
    """
    chosen = [case for case in cases if not request.tests or case.test in request.tests]
    mixed = sorted(chosen, key=lambda case: content_id(request.seed, case.case_id))
    size = min(request.sample or len(chosen), len(chosen))
    if request.first is First.RANDOM:
        if size == len(chosen):
            return tuple(chosen)
        return tuple(case._replace(probability=size / len(chosen)) for case in mixed[:size])
    found = _SCORES[request.first](scores())
    if not found:
        raise NoVerdictsError(
            f"the order '{request.first.value}' needs verdicts; run the suite first, or review at random"
        )
    weights = [_FLOOR + found.get(case.case_id, 0.0) for case in mixed]
    chances = inclusion(weights, size)
    start = random.Random(f"{request.seed}").random()  # noqa: S311 - a sample, not a secret
    taken = [(mixed[place], weights[place], chances[place]) for place in systematic(chances, start)]
    taken.sort(key=lambda each: -each[1])
    return tuple(case._replace(probability=min(chance, 1.0)) for case, _, chance in taken)


def inclusion(weights: Sequence[float], size: int) -> list[float]:
    """Return chances proportional to the weights that add up to the size, none above 1."""
    chances = [0.0] * len(weights)
    free = set(range(len(weights)))
    while True:
        certain = len(weights) - len(free)
        total = sum(weights[place] for place in free)
        over = {place for place in free if (size - certain) * weights[place] >= total}
        if not over:
            break
        free -= over
        for place in over:
            chances[place] = 1.0
    for place in free:
        chances[place] = (size - certain) * weights[place] / total
    return chances


def systematic(chances: Sequence[float], start: float) -> list[int]:
    """Draw places with these chances, which add up to the size of the sample (Madow's systematic sampling).

    Place i is taken where a number of `start` + 0, 1, 2 ... falls into its part of the cumulated chances.
    """
    taken: list[int] = []
    end = 0.0
    for place, chance in enumerate(chances):
        begin, end = end, end + chance
        if chance >= 1 or -(-(end - start) // 1) > -(-(begin - start) // 1):
            taken.append(place)
    return taken


def _disagreement(rows: Sequence[CaseScore]) -> Mapping[str, float]:
    """Return the share of pairs of judges that differ, plus the share of verdicts unlike the stated label."""
    found = {}
    for case, mine in _by_case(rows).items():
        pairs = list(combinations([each.verdict for each in mine if each.verdict], 2))
        differ = sum(one != other for one, other in pairs) / len(pairs) if pairs else 0.0
        wrong = [1 - each.right for each in mine if each.right is not None]
        found[case] = differ + (sum(wrong) / len(wrong) if wrong else 0.0)
    return found


def _influence(rows: Sequence[CaseScore]) -> Mapping[str, float]:
    """Return how far a case lies from the mean as-expected of its test, averaged over the judges."""
    cells: defaultdict[tuple[str, str, str], list[float]] = defaultdict(list)
    for each in rows:
        if each.expected is not None:
            cells[each.task, each.test, each.judge].append(each.expected)
    means = {cell: sum(values) / len(values) for cell, values in cells.items()}
    found = {}
    for case, mine in _by_case(rows).items():
        known = [
            abs(each.expected - means[each.task, each.test, each.judge]) for each in mine if each.expected is not None
        ]
        found[case] = sum(known) / len(known) if known else 0.0
    return found


def _by_case(rows: Sequence[CaseScore]) -> Mapping[str, list[CaseScore]]:
    found: defaultdict[str, list[CaseScore]] = defaultdict(list)
    for each in rows:
        found[each.case_id].append(each)
    return found


_SCORES: Final[Mapping[First, Callable[[Sequence[CaseScore]], Mapping[str, float]]]] = {
    First.DISAGREEMENT: _disagreement,
    First.INFLUENCE: _influence,
}
