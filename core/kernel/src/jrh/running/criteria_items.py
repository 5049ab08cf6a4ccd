"""Responses to items of a task with criteria: one per response and criterion, all of one cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from attrs import evolve

from jrh.values.criteria import (
    CRITERION_FIELD,
    TOGETHER_FIELD,
    Criteria,
    Criterion,
    JudgedCriterion,
    shown_criterion,
    written_together,
)
from jrh.values.items import Item, Task
from jrh.values.json_values import Json

LABEL: Final = "label."
"""Start of the names of the columns with a gold label per criterion: `label.ID`."""
BETWEEN: Final = "#"
"""Between the id of a response and that of a criterion."""
_MOST_OWN: Final = 200
"""Criteria that one item may bring: each of its items lists them all."""


def response_id(item: Item) -> str:
    """Return the id of the response that an item is about; without criteria its own."""
    return item.id if item.criterion is None else item.criterion.of


def criterion_items(items: Iterable[Item], task: Task, problems: list[str]) -> Iterator[Item]:
    """Yield an item per response and criterion; those of a task without criteria as they are.

    The gold label of a criterion is in the column `label.ID`. The criterion is the stratum of items without another.

    Args:
        items: as a source reads them.
        task: with its criteria, or without: then items may bring their own.
        problems: gets what is wrong, a text each.
    """
    criteria = task.criteria
    if criteria is None:
        yield from items
        return
    for item in items:
        where = f"{item.origin}: " if item.origin else f"item '{item.id}': "
        taken = [name for name in (CRITERION_FIELD, TOGETHER_FIELD) if name in item.fields]
        if taken:
            problems.append(f"{where}the field '{taken[0]}' is where jrh puts the criteria; map the column elsewhere")
        elif criteria.entries:
            for place in range(len(criteria.entries)):
                yield _of_response(item, criteria, place)
        elif item.criterion is None:
            problems.append(f"{where}has no criterion; name a rubric `file`, or a source that brings criteria")
        elif len(item.criterion.others) > _MOST_OWN:
            problems.append(f"{where}has {len(item.criterion.others)} criteria; at most {_MOST_OWN} are allowed")
        else:
            yield _with_own(item, item.criterion, criteria)


def unknown_columns(items: Sequence[Item], task: Task) -> list[str]:
    """Say which columns `label.ID` name no criterion of the task, once each."""
    if task.criteria is None or not task.criteria.entries:
        return []
    known = [entry.id for entry in task.criteria.entries]
    named = {name: item.origin for item in reversed(items) for name in item.metadata if name.startswith(LABEL)}
    found = []
    for name, origin in sorted(named.items()):
        wanted = name.removeprefix(LABEL)
        # The criteria of one file with several scales are several tasks over the same data.
        if wanted not in known and wanted not in task.criteria.elsewhere:
            close = get_close_matches(wanted, known, n=1)
            hint = f"; did you mean '{LABEL}{close[0]}'?" if close else ""
            found.append(f"{origin or 'the data'}: column '{name}' names no criterion{hint}")
    return found


def _of_response(item: Item, criteria: Criteria, place: int) -> Item:
    own = criteria.entries[place]
    written = item.metadata.get(f"{LABEL}{own.id}")
    gold = str(written).strip() if written is not None else ""
    return evolve(
        item,
        id=f"{item.id}{BETWEEN}{own.id}",
        fields={**item.fields, **_asked(criteria, place, criteria.entries)},
        gold=gold or None,
        labels={},
        stratum=item.stratum or own.id,
        group=item.group or item.id,
        criterion=JudgedCriterion(criterion=own, of=item.id),
    )


def _with_own(item: Item, own: JudgedCriterion, criteria: Criteria) -> Item:
    """Return an item that brings its criterion, with the fields that show it."""
    others = own.others or (own.criterion,)
    place = next((at for at, each in enumerate(others) if each.id == own.criterion.id), 0)
    fields = {**item.fields, **_asked(criteria, place, others)}
    return evolve(item, fields=fields, group=item.group or own.of)


def _asked(criteria: Criteria, place: int, all_of: tuple[Criterion, ...]) -> dict[str, Json]:
    together = _together(criteria, criteria.first_of(place, len(all_of)), all_of)
    return {CRITERION_FIELD: shown_criterion(all_of[place]), **({TOGETHER_FIELD: together} if together else {})}


@lru_cache(maxsize=1024)
def _together(criteria: Criteria, start: int, all_of: tuple[Criterion, ...]) -> str:
    chosen = all_of[start : start + (criteria.per_call or len(all_of))]
    return written_together((each.id, each.text) for each in chosen) if len(chosen) > 1 else ""
