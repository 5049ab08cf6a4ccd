"""Match the cases of two sides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from jrh import RunReport

from jrh_compare.results import Matching
from jrh_compare.scoring import Case, Key

Matched: TypeAlias = list[tuple[Case, Case]]

LOOKED_AT: Final = 1000
"""Cases matched by place whose fields are compared."""


def match(first: Sequence[Case], second: Sequence[Case], runs: tuple[RunReport, RunReport]) -> tuple[Matched, Matching]:
    """Match the cases of two sides, by id where ids are equal and by their place otherwise.

    A place is task, test, item, variant, template, option order, polarity, language, output, strength and temperature.
    Several cases of one place are matched in the order of the plan if both sides have as many. The result has the order
    of the first side.
    """
    known = {case.id: case for case in second}
    by_id = {case.id: known[case.id] for case in first if case.id in known}
    theirs = _by_place(case for case in second if case.id not in by_id)
    mine = _by_place(case for case in first if case.id not in by_id)
    by_place: dict[str, Case] = {}
    ambiguous = 0
    for key, cases in mine.items():
        others = theirs.get(key, [])
        if len(cases) == len(others):
            by_place |= {case.id: other for case, other in zip(cases, others, strict=True)}
        elif others:
            ambiguous += max(len(cases), len(others))
    pairs = [
        (case, by_id.get(case.id) or by_place[case.id]) for case in first if case.id in by_id or case.id in by_place
    ]
    kept = [(case, other) for case, other in pairs if case.gold == other.gold]
    other_text, looked_at = _reworded([pair for pair in kept if pair[0].id != pair[1].id], runs)
    places = {case.id for case, other in kept if case.id != other.id}
    return kept, Matching(
        by_id=len(kept) - len(places),
        by_place=len(places),
        other_text=other_text,
        looked_at=looked_at,
        ambiguous=ambiguous,
        gold_changed=len(pairs) - len(kept),
        only_first=_alone(mine, theirs),
        only_second=_alone(theirs, mine),
    )


def match_responses(first: Sequence[Case], second: Sequence[Case]) -> Matched:
    """Match the responses of two sides by their place; those whose gold labels differ are left out."""
    theirs = {case.key: case for case in second}
    return [(case, theirs[case.key]) for case in first if case.key in theirs and case.gold == theirs[case.key].gold]


def _by_place(cases: Iterable[Case]) -> dict[Key, list[Case]]:
    found: defaultdict[Key, list[Case]] = defaultdict(list)
    for case in cases:
        found[case.key].append(case)
    return found


def _alone(own: Mapping[Key, Sequence[Case]], other: Mapping[Key, Sequence[Case]]) -> dict[str, int]:
    """Count the cases without a counterpart on the other side, by test."""
    counts = Counter(case.test for key, cases in own.items() if key not in other for case in cases)
    return dict(sorted(counts.items()))


def _reworded(pairs: Matched, runs: tuple[RunReport, RunReport]) -> tuple[int, int]:
    """Count the pairs whose fields differ, and those that could be compared."""
    some = pairs[:: max(1, -(-len(pairs) // LOOKED_AT))]
    one = runs[0].evidence.cases([case.id for case, _ in some])
    two = runs[1].evidence.cases([other.id for _, other in some])
    both = [(one[case.id], two[other.id]) for case, other in some if case.id in one and other.id in two]
    return sum(case.fields != other.fields for case, other in both), len(both)
