"""The pairs of prompt templates that items list, as the rows of a paired-prompt file do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from jrh.values.items import Item

from jrh_measuring.answers import questions_over
from jrh_measuring.coded import Codes, grouped
from jrh_measuring.trials import Trials

TemplatePair: TypeAlias = tuple[str, str]
"""The templates of `prompt_a` and `prompt_b`."""
PAIRS: Final = "pairs"
"""Key of an item's metadata: the listed pairs of templates."""
DECISIONS: Final = "decisions"
"""Key of an item's metadata: the rows of a decision log by judge, each `[template, repeat, template, repeat]`.

A prompt occurs in several rows and was asked in each of them: only the log knows which two answers share a row.
"""
_TEMPLATE: Final = "template"
_Place: TypeAlias = tuple[str, int]
_ROW: Final = 4


def listed_pairs(items: Sequence[Item]) -> Mapping[str, tuple[TemplatePair, ...]]:
    """Return the pairs of templates that each item lists, `prompt_a` first; items that list none are left out."""
    found = {}
    for item in items:
        pairs = item.metadata.get(PAIRS)
        if isinstance(pairs, Sequence) and not isinstance(pairs, str):
            found[item.id] = tuple((str(each[0]), str(each[1])) for each in pairs if isinstance(each, Sequence))
    return found


def listed_rows(trials: Trials, items: Mapping[str, Sequence[Item]]) -> tuple[Codes, Codes]:
    """Return the trials of `prompt_a` and of `prompt_b`, row by row of the files the items come from.

    Of a decision log these are its rows. In a run a pair is asked once per repeat, however many rows list it, and both
    sides have the same repeat.
    """
    question = np.zeros(len(trials.item.codes), dtype=np.int64)
    # Task by task: templates of two tasks may share a name and differ in polarity.
    for own in grouped(trials.task.codes):
        question[own] = questions_over(trials, _TEMPLATE, own)
    template = trials.column(_TEMPLATE)
    by_question: dict[tuple[int, int, int, int], dict[_Place, int]] = {}
    groups = (trials.task.codes, trials.test.codes, trials.judge.codes, question)
    repeats = trials.repeat.astype(np.int64).tolist()
    for row, key in enumerate(zip(*(each.tolist() for each in groups), strict=True)):
        by_question.setdefault(key, {})[template.names[template.codes[row]], repeats[row]] = row
    known = {task: {item.id: item for item in own} for task, own in items.items()}
    pairs = {task: listed_pairs(own) for task, own in items.items()}
    found: list[tuple[int, int]] = []
    for (task, _, judge, _), places in by_question.items():
        name = trials.task.names[task]
        item = trials.item.names[trials.item.codes[next(iter(places.values()))]]
        if item in known.get(name, ()):
            asked = _asked(known[name][item], trials.judge.names[judge], pairs[name].get(item, ()), places)
            found += [(places[one], places[other]) for one, other in asked if one in places and other in places]
    both = np.array(found, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _asked(
    item: Item, judge: str, pairs: Sequence[TemplatePair], places: Mapping[_Place, int]
) -> Iterator[tuple[_Place, _Place]]:
    log = item.metadata.get(DECISIONS)
    if isinstance(log, Mapping):
        rows = log.get(judge, ())
        for row in rows if isinstance(rows, Sequence) else ():
            if isinstance(row, Sequence) and len(row) == _ROW:
                yield (str(row[0]), int(str(row[1]))), (str(row[2]), int(str(row[3])))
        return
    for repeat in sorted({repeat for _, repeat in places}):
        for one, other in pairs:
            yield (one, repeat), (other, repeat)
