"""Match the cases of two sides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from jrh import RunReport

from jrh_measuring.comparing.results import Matching
from jrh_measuring.comparing.scoring import Case, Key

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
    # Equal ids are the same question to the last character.
    by_id = {case.id: known[case.id] for case in first if case.id in known}
    second_by_place = _by_place(case for case in second if case.id not in by_id)
    first_by_place = _by_place(case for case in first if case.id not in by_id)
    by_place: dict[str, Case] = {}
    ambiguous = 0
    for key, cases in first_by_place.items():
        candidates = second_by_place.get(key, [])
        # Unequal numbers leave open which belong to each other; a guess would pair different questions.
        if len(cases) == len(candidates):
            by_place |= {case.id: other for case, other in zip(cases, candidates, strict=True)}
        elif candidates:
            ambiguous += max(len(cases), len(candidates))
    pairs = [
        (case, by_id.get(case.id) or by_place[case.id]) for case in first if case.id in by_id or case.id in by_place
    ]
    # A changed gold label changes what is right: the difference of two such scores says nothing of the judges.
    same_gold = [(case, other) for case, other in pairs if case.gold == other.gold]
    other_text, looked_at = _count_reworded([pair for pair in same_gold if pair[0].id != pair[1].id], runs)
    places = {case.id for case, other in same_gold if case.id != other.id}
    return same_gold, Matching(
        by_id=len(same_gold) - len(places),
        by_place=len(places),
        other_text=other_text,
        looked_at=looked_at,
        ambiguous=ambiguous,
        gold_changed=len(pairs) - len(same_gold),
        only_first=_alone(first_by_place, second_by_place),
        only_second=_alone(second_by_place, first_by_place),
    )


def match_responses(first: Sequence[Case], second: Sequence[Case]) -> Matched:
    """Match the responses of two sides by their place; those whose gold labels differ are left out."""
    answers = {case.key: case for case in second}
    return [(case, answers[case.key]) for case in first if case.key in answers and case.gold == answers[case.key].gold]


def _by_place(cases: Iterable[Case]) -> dict[Key, list[Case]]:
    by_place: defaultdict[Key, list[Case]] = defaultdict(list)
    for case in cases:
        by_place[case.key].append(case)
    return by_place


def _alone(cases_by_place: Mapping[Key, Sequence[Case]], counterparts: Mapping[Key, Sequence[Case]]) -> dict[str, int]:
    """Count the cases without a counterpart on the other side, by test."""
    counts = Counter(case.test for key, cases in cases_by_place.items() if key not in counterparts for case in cases)
    return dict(sorted(counts.items()))


def _count_reworded(pairs: Matched, runs: tuple[RunReport, RunReport]) -> tuple[int, int]:
    """Count the pairs whose fields differ, and those that could be compared."""
    # Spread over the plan, so that every test is looked at.
    some = pairs[:: max(1, -(-len(pairs) // LOOKED_AT))]
    before = runs[0].evidence.cases([case.id for case, _ in some])
    after = runs[1].evidence.cases([other.id for _, other in some])
    both = [(before[case.id], after[other.id]) for case, other in some if case.id in before and other.id in after]
    return sum(case.fields != other.fields for case, other in both), len(both)
