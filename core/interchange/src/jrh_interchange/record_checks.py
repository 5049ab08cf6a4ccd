"""Check imported records for everything that the statistics assume."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from jrh import JrhError, Record, Status, Task
from jrh.document.convert import EXPECTATIONS
from jrh.text import clean_text

from jrh_interchange.table_rows import Problems

_LONGEST: Final = 600
"""Characters of a message: it quotes the log, which may hold anything."""


def check_records(tasks: Sequence[Task], records: Sequence[Record], origins: Sequence[str] = ()) -> None:
    """Check that the records satisfy the assumptions of the statistics.

    Args:
        tasks: the tasks.
        records: the records.
        origins: where each record comes from, for messages.

    Raises:
        SuiteError: lists the mistakes; of many, the first 20 and the number of the rest.
        JrhError: there are no records.
    """
    if not records:
        raise JrhError("no records to import")
    by_name = {task.name: task for task in tasks}
    places = [origins[place] if place < len(origins) else f"record {place + 1}" for place in range(len(records))]
    earlier, problems = _EarlierRecords(), Problems()
    for place, record in zip(places, records, strict=True):
        for message in (*_misfits(record, by_name), *earlier.conflicts(record, place)):
            problems.add(clean_text(message, _LONGEST), source=place)
    problems.raise_any()


class _EarlierRecords:
    """Remember the earlier records, to find contradictions with later ones."""

    def __init__(self) -> None:
        self._trials: dict[object, str] = {}
        self._first: dict[tuple[object, ...], tuple[Any, str]] = {}

    def conflicts(self, record: Record, place: str) -> Iterator[str]:
        """Yield the contradictions with earlier records, and remember this one."""
        key = (record.case_id, record.judge, record.repeat)
        # By question and by id: two ids for one question are a duplicate too.
        before = self._trials.get(key) or self._trials.get(record.trial_id)
        if before:
            yield f"{_describe(record)} duplicates {before}; number repeats with `repeat`"
        self._trials.setdefault(key, place)
        self._trials.setdefault(record.trial_id, place)
        # A gold label is one of the item: people often write it into the first of its rows only.
        if record.gold is not None:
            gold, where = self._first.setdefault(("gold", record.task, record.item_id), (record.gold, place))
            if gold != record.gold:
                yield (
                    f"item '{record.item_id}' has the gold label '{record.gold}' here and '{gold}' at {where}; settle "
                    "on one, or leave the cells blank"
                )
        question, where = self._first.setdefault(("case", record.case_id), (_question(record), place))
        if question != _question(record):
            yield f"the case '{record.case_id}' is another question at {where}: its task, item or condition differs"
        # Reports mark simulated judges by name: one name cannot be both.
        simulated, where = self._first.setdefault(("judge", record.judge), (record.simulated, place))
        if simulated != record.simulated:
            here, there = ("simulated", "real") if record.simulated else ("real", "simulated")
            yield f"the judge '{record.judge}' is {here} here and {there} at {where}; give them different names"


def _question(record: Record) -> tuple[object, ...]:
    return (
        *(record.task, record.item_id, record.test, record.variant, record.template, record.option_order),
        *(record.polarity, record.strength, record.language, record.temperature, record.output),
    )


def _describe(record: Record) -> str:
    condition = "/".join(part for part in (record.test, record.variant, record.template, record.option_order) if part)
    return f"the verdict of '{record.judge}' on item '{record.item_id}' ({condition}, repeat {record.repeat})"


def _misfits(record: Record, tasks: Mapping[str, Task]) -> Iterator[str]:
    task = tasks.get(record.task)
    if task is None:
        yield f"unknown task '{record.task}'; tasks: {', '.join(tasks)}"
        return
    labels = {"label": record.canonical, "gold label": record.gold, "expected label": record.expected}
    for what, label in labels.items():
        if label is not None and label not in task.scale:
            close = task.scale.match(label)
            hint = f"; did you mean '{close}'?" if close else ""
            yield f"the {what} '{label}' is not on the scale {', '.join(task.scale.labels)}{hint}"
    if not record.item_id or not record.judge or not record.test:
        yield "item, judge and test must not be empty"
    # A missing verdict is a status and never a label, so that it is counted and not scored.
    if (record.status is Status.OK) != (record.canonical is not None):
        yield f"the status is '{record.status.value}' and the label {record.canonical!r}: only 'ok' has a label"
    if record.expectation is not None and record.expectation not in EXPECTATIONS:
        yield f"the expectation '{record.expectation}' must be one of {', '.join(EXPECTATIONS)}"
    if record.probability is not None and not 0 <= record.probability <= 1:
        yield f"the probability {record.probability} is not between 0 and 1"
    if record.score is not None and not math.isfinite(record.score):
        yield f"the score {record.score} is not a finite number"
    if record.repeat < 0:
        yield f"the repeat {record.repeat} is negative; the first repeat is 0"
