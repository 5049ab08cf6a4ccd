"""Match the cases of two sides."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from attrs import evolve
from jrh import REFERENCE, Item, RunReport, content_id

from jrh_measuring.comparing.results import Matching
from jrh_measuring.comparing.scoring import Case, Key

Matched: TypeAlias = list[tuple[Case, Case]]

LOOKED_AT: Final = 1000
"""Cases matched by place whose fields are compared."""


def match(first: Sequence[Case], second: Sequence[Case], runs: tuple[RunReport, RunReport]) -> tuple[Matched, Matching]:
    """Match the cases of two sides whatever their items and labels are called, which the result says."""
    matched, matching = _match_as_named(first, second, runs)
    ids: Mapping[tuple[str | float, ...], str] = {}
    # Places match where texts do not, or do not match: the ids may be those of other items, such as numbers of rows.
    if matching.other_text or matching.gold_changed or (matching.only_first and matching.only_second):
        ids = _same_items(first, second, runs)
    second = [
        evolve(case, key=(*case.key[:2], ids[_item(case)], *case.key[3:])) if _item(case) in ids else case
        for case in second
    ]
    labels = _same_labels(first, second, runs)
    if not ids and not labels:
        return matched, matching
    matched, matching = _match_as_named(first, [_with_labels(case, labels) for case in second], runs)
    found = {_item(case) for case, other in matched if case.item != other.item}
    return matched, evolve(matching, other_ids=len(found), labels=labels)


def leave_out_other_texts(
    matched: Matched, matching: Matching, runs: tuple[RunReport, RunReport]
) -> tuple[Matched, Matching]:
    """Leave out the items whose text differs between the sides: the judges saw something else, whatever the test.

    Runs that store no items keep all pairs.
    """
    # Equal ids of cases are equal texts, so that most comparisons read no item.
    if not matching.by_place:
        return matched, matching
    texts = [items_by_name(report) for report in runs]
    other = {
        (case.task, case.item)
        for case, second in matched
        if case.id != second.id
        and (before := texts[0].get((case.task, case.item))) is not None
        and (after := texts[1].get((second.task, second.item))) is not None
        and before.fields != after.fields
    }
    if not other:
        return matched, matching
    kept = [pair for pair in matched if (pair[0].task, pair[0].item) not in other]
    by_place = [pair for pair in kept if pair[0].id != pair[1].id]
    other_text, looked_at = _count_reworded(by_place, runs)
    return kept, evolve(
        matching,
        by_id=len(kept) - len(by_place),
        by_place=len(by_place),
        other_text=other_text,
        looked_at=looked_at,
        other_items=len(other),
    )


def items_by_name(report: RunReport) -> Mapping[tuple[str, str], Item]:
    """Return the items that a run has stored, by task and id."""
    return {(task, item.id): item for task, items in report.evidence.items().items() for item in items}


def _item(case: Case) -> tuple[str | float, ...]:
    return case.key[0], case.item


def _same_items(
    first: Sequence[Case], second: Sequence[Case], runs: tuple[RunReport, RunReport]
) -> Mapping[tuple[str | float, ...], str]:
    """Return the ids that the first run has for items of the second with the same text and another id."""
    ours, theirs = (_items_by_text(cases, report) for cases, report in zip((first, second), runs, strict=True))
    same = {items[0]: ours[text][0] for text, items in theirs.items() if len(items) == len(ours.get(text, ())) == 1}
    taken = {item for other, item in same.items() if other != item}
    # An item whose id belongs to another one on the first side is no counterpart of it.
    alone = {item: f"{item[1]}\n" for items in theirs.values() for item in items if item in taken and item not in same}
    return alone | {other: str(item[1]) for other, item in same.items() if other != item}


def _items_by_text(cases: Sequence[Case], report: RunReport) -> Mapping[str, list[tuple[str | float, ...]]]:
    asked = {_item(case): case.id for case in cases if case.test == REFERENCE}
    items: defaultdict[str, list[tuple[str | float, ...]]] = defaultdict(list)
    names = list(asked)
    for start in range(0, len(names), LOOKED_AT):
        some = names[start : start + LOOKED_AT]
        known = report.evidence.cases([asked[name] for name in some])
        for name in some:
            if asked[name] in known:
                items[content_id(name[0], dict(known[asked[name]].fields))].append(name)
    return items


def _same_labels(first: Sequence[Case], second: Sequence[Case], runs: tuple[RunReport, RunReport]) -> Mapping[str, str]:
    """Return what the first run calls the labels of the second: they differ in case alone, or gold labels tell it."""
    scales = [[summary.task.scale.labels for summary in report.tasks] for report in runs]
    if not len(scales[0]) == len(scales[1]) == 1 or len(scales[0][0]) != len(scales[1][0]):
        return {}
    old, new = scales[0][0], scales[1][0]
    folded = {label.casefold(): label for label in old}
    if set(old) != set(new) and folded.keys() == {label.casefold() for label in new}:
        return {label: folded[label.casefold()] for label in new if folded[label.casefold()] != label}
    golds = {case.key: case.gold for case in first if case.gold and case.test == REFERENCE}
    told = {(golds[case.key], case.gold) for case in second if case.gold and case.key in golds}
    named = {theirs: ours for ours, theirs in told}
    # All labels occur, and each is one label of the other side throughout.
    told_all = len(told) == len(named) == len(set(named.values())) == len(old)
    return {label: named[label] for label in new if label in named} if set(old).isdisjoint(new) and told_all else {}


def _with_labels(case: Case, labels: Mapping[str, str]) -> Case:
    trials = tuple(evolve(trial, label=trial.label and labels.get(trial.label, trial.label)) for trial in case.trials)
    gold = case.gold and labels.get(case.gold, case.gold)
    return evolve(case, gold=gold, expected=labels.get(case.expected, case.expected), trials=trials)


def _match_as_named(
    first: Sequence[Case], second: Sequence[Case], runs: tuple[RunReport, RunReport]
) -> tuple[Matched, Matching]:
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
    # One that only one side has does not: the verdicts are compared with each other.
    same_gold = [(case, other) for case, other in pairs if case.gold == other.gold or not (case.gold and other.gold)]
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


def match_responses(first: Sequence[Case], second: Sequence[Case], runs: tuple[RunReport, RunReport]) -> Matched:
    """Match the responses of two sides by their place; those whose gold labels or texts differ are left out."""
    answers = {case.key: case for case in second}
    both = [(case, answers[case.key]) for case in first if case.key in answers]
    same_gold = [(case, other) for case, other in both if case.gold == other.gold]
    # Only runs with weighted scores have responses: the others read no item.
    texts = [{item.response_id: item.fields for item in items_by_name(run).values()} for run in runs if same_gold]
    return [pair for pair in same_gold if texts[0].get(pair[0].item) == texts[1].get(pair[1].item)]


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
