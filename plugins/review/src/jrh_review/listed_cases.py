"""The list of cases of the workbench: one row for all repeats of a case and judge, scored as the metrics score them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np
from attrs import asdict, field, frozen
from attrs.validators import in_
from jrh import JrhError, MetricContext, RecordTable, Task, __version__, content_id
from jrh.errors import DamagedStoreError
from jrh.plugins import Stage, StageOutcome
from jrh.running import StageWork
from jrh.store import TableSpec
from jrh_measuring import (
    Coded,
    Codes,
    Floats,
    Scores,
    Trials,
    against_label,
    agreement_scores,
    as_expected,
    combine_codes,
    read_trials,
    right_label,
)


class CaseRow(NamedTuple):
    """One case and judge. Scores are means over the repeats that have one; None where none has."""

    position: int
    """Place in the plan of its first trial; names the row."""
    task: str
    test: str
    variant: str
    stratum: str
    judge: str
    item_id: str
    case_id: str
    gold: str
    """Empty: unlabelled."""
    trials: int
    verdict: str
    """The commonest canonical label; empty: no verdict."""
    verdicts: str
    """Every label with its count, such as `4x YES, 1x NO`."""
    missing: int
    """Trials without a verdict."""
    status: str
    """The commonest status of those; empty: none."""
    moved: float | None
    """Share of reference verdicts of the same judge and item that a verdict differs from."""
    right: float | None
    """Share of verdicts equal to the right label, where one is stated."""
    expected: float | None
    """Share of verdicts that meet the expectation."""


class CaseOrder(Enum):
    """What the list can be sorted by."""

    PLAN = "plan"
    ITEM = "item"
    JUDGE = "judge"
    TEST = "test"
    VERDICT = "verdict"
    MOVED = "moved"
    RIGHT = "right"
    EXPECTED = "expected"


YES_NO = ("", "yes", "no")


@frozen(kw_only=True)
class CaseFilter:
    """Which rows are listed; an empty field filters nothing."""

    task: str = ""
    test: str = ""
    judge: str = ""
    variant: str = ""
    stratum: str = ""
    item_id: str = ""
    status: str = ""
    """A status of a missing verdict; `missing`: any of them."""
    moved: str = field(default="", validator=in_(YES_NO))
    """Whether the verdict differs from more than half of its reference verdicts."""
    right: str = field(default="", validator=in_(YES_NO))
    """Whether more than half of the verdicts equal the right label."""
    expected: str = field(default="", validator=in_(YES_NO))
    """Whether more than half of the verdicts meet the expectation."""
    search: str = ""
    """Text that the item's id or the case's texts contain."""
    rationale: str = ""
    """Text that a rationale contains."""


class Page(NamedTuple):
    """Some rows of a list, and where the next ones begin."""

    rows: tuple[CaseRow, ...]
    total: int
    """Rows of the whole list."""
    after: int | None
    """Rows up to the end of this page; None at the end of the list."""


_NUMBERS: Final = {"position": "INTEGER", "trials": "INTEGER", "missing": "INTEGER"}
_SCORES: Final = ("moved", "right", "expected")
TABLE: Final = TableSpec(
    name="case_list",
    columns={name: "REAL" if name in _SCORES else _NUMBERS.get(name, "TEXT") for name in CaseRow._fields},
    key="position",
    indexes=(("task", "test", "judge"), ("task", "item_id"), ("case_id",)),
)
MISSING: Final = "missing"
"""Means every status without a verdict in a filter."""
_EQUAL: Final = ("task", "test", "judge", "variant", "stratum", "item_id")
_CHOICES: Final = ("judge", "test", "variant", "stratum", "status")
_HALF: Final = 0.5


class CaseScore(NamedTuple):
    """What one judge did with one case."""

    case_id: str
    verdict: str
    right: float | None


def case_scores(store: Any) -> list[CaseScore]:
    """Return every case and judge, in plan order; nothing where the list was not made."""
    return [CaseScore._make(row) for row in store.table(TABLE).select(columns=CaseScore._fields)]


def find_cases(store: Any, wanted: CaseFilter, order: CaseOrder, limit: int, start: int = 0) -> Page:
    """Return the first rows that fit, behind the place where an earlier page ended.

    Args:
        store: of the run.
        wanted: which rows.
        order: how they are sorted; equal ones in plan order, those without a score last.
        limit: of rows.
        start: `Page.after` of the page before.
    """
    table = store.table(TABLE)
    where: list[Any] = [(name, "=", value) for name, value in asdict(wanted).items() if value and name in _EQUAL]
    chosen = ((name, getattr(wanted, name)) for name in _SCORES)
    # In SQL a comparison with NULL is never true, so rows without a score fall out of both answers.
    where += [(name, ">" if choice == "yes" else "<=", _HALF) for name, choice in chosen if choice]
    if wanted.status:
        where.append(("missing", ">", 0) if wanted.status == MISSING else ("status", "=", wanted.status))
    if wanted.search or wanted.rationale:
        where.append(("position", "in", _search(store, table, wanted)))
    total = table.count(where)
    column = "position" if order is CaseOrder.PLAN else f"{order.value}{'_id' if order is CaseOrder.ITEM else ''}"
    # The worst first: for every other score the lowest is the worst.
    rows = table.select(where, order=column, descending=order is CaseOrder.MOVED, limit=limit, start=start)
    end = start + len(rows)
    return Page(rows=_read_rows(rows), total=total, after=end if end < total and rows else None)


def _search(store: Any, table: Any, wanted: CaseFilter) -> list[int]:
    """Return the positions of the rows whose texts hold what is searched."""
    rows = table.select(columns=("position", "item_id", "case_id", "judge"))
    if wanted.search:
        text, cases = wanted.search.casefold(), set(store.cases.search_fields(wanted.search))
        rows = [row for row in rows if text in str(row[1]).casefold() or row[2] in cases]
    if wanted.rationale:
        # Pairs of case and judge: a rationale belongs to one judge's verdict.
        judged = store.records.with_rationale(wanted.rationale)
        rows = [row for row in rows if row[2:] in judged]
    return [row[0] for row in rows]


def choices(store: Any, task: str = "") -> dict[str, list[str]]:
    """Return the values by which the rows of a task can be filtered, by column; of all tasks where it is empty."""
    table = store.table(TABLE)
    where = [("task", "=", task)] if task else []
    return {name: [value for value in table.values(name, where) if value] for name in _CHOICES}


def rows_of(store: Any, **equal: str) -> tuple[CaseRow, ...]:
    """Return the rows whose columns have these values, in plan order."""
    return _read_rows(store.table(TABLE).select([(name, "=", value) for name, value in equal.items()]))


def _read_rows(rows: Iterable[Any]) -> tuple[CaseRow, ...]:
    found = tuple(map(CaseRow._make, rows))
    # A table may hold nothing in any column; of a row of this one only the scores may be missing.
    if any(None in row[: -len(_SCORES)] for row in found):
        raise DamagedStoreError("the list of cases lacks a value that jrh wrote; run the suite again to make the list")
    return found


_PART: Final = 4096
"""Rows that are made at a time."""


class CaseList(Stage):
    """Stores a row for each case and judge, so that the workbench need not hold the records."""

    async def run(self, work: StageWork) -> StageOutcome:
        """Make the list out of the records, unless it was made out of the same ones."""
        store = work.store
        # The version too: another version may score a case differently from the same records.
        made_of = [*store.records.write_state()], list(work.tasks)
        digest = content_id(store.items.digest(), store.trials.digest(), *made_of, __version__)
        listed = store.table(TABLE)
        if listed.digest() != digest:
            # Where labels are off their scale, metrics say so; the list is no more than a help and ends nothing.
            with suppress(JrhError):
                listed.replace(digest, case_rows(work.records, work.tasks))
        return StageOutcome()


def case_rows(records: RecordTable, tasks: Mapping[str, Task]) -> Iterator[CaseRow]:
    """Return a row for each case and judge; they are made some thousand at a time.

    Args:
        records: all records of a run, in plan order.
        tasks: by name.

    Raises:
        JrhError: a trial occurs twice, or a gold or expected label is not on the scale of its task.
    """
    return _rows(read_trials(records, MetricContext(tasks=tasks))) if len(records) else iter(())


def _rows(trials: Trials) -> Iterator[CaseRow]:
    key = combine_codes(trials.case.codes, trials.judge.codes)
    sizes = np.bincount(key).astype(np.int32)
    order = np.argsort(key, kind="stable").astype(np.int32)
    del key  # the lists of a large run fill memory
    truth = against_label(trials, right_label(trials), np.ones(len(order), dtype=np.bool_))
    scores = agreement_scores(trials), truth, as_expected(trials)
    texts = _texts(trials)
    parts = np.split(order, np.add.reduceat(sizes, np.arange(0, len(sizes), _PART)).cumsum()[:-1])

    def rows_of_part(number: int) -> Iterator[CaseRow]:
        many, rows = sizes[number * _PART : (number + 1) * _PART], parts[number]
        columns = _columns(trials, scores, texts, rows, np.repeat(np.arange(len(many)), many))
        return map(CaseRow._make, zip(*columns, strict=True))

    return chain.from_iterable(map(rows_of_part, range(len(parts))))


def _columns(
    trials: Trials, scores: Sequence[Scores], texts: Sequence[Coded], rows: Codes, group: Codes
) -> Iterator[Sequence[Any]]:
    """Yield the columns of `CaseRow` for some trials in the order of their groups, which are numbered from 0."""
    trials_of, usable = np.bincount(group), trials.usable[rows]
    # Groups are in the order of their numbers; within each, the first trial by its place in the plan names the row.
    by_place = rows[np.lexsort((trials.place[rows], group))]
    first = by_place[np.cumsum(trials_of) - trials_of]
    yield trials.place[first].tolist()
    yield from ([column.names[code] for code in column.codes[first].tolist()] for column in texts)
    yield trials_of.tolist()
    labels = _counts(group[usable], trials.label[rows[usable]], trials.labels, len(first))
    yield [counts[0][0] if counts else "" for counts in labels]
    yield [_in_words(counts, count) for counts, count in zip(labels, trials_of.tolist(), strict=True)]
    yield np.bincount(group[~usable], minlength=len(first)).tolist()
    statuses = _counts(group[~usable], trials.status.codes[rows[~usable]], trials.status.names, len(first))
    yield [counts[0][0] if counts else "" for counts in statuses]
    agreement, *shares = (_means(score, rows, group, len(first)) for score in scores)
    # `agreement_scores` scores agreement with the reference; the list shows how far a verdict moved.
    yield from map(_mean_or_none, (1 - agreement, *shares))


def _texts(trials: Trials) -> tuple[Coded, ...]:
    """Return the columns that a row names, in the order of `CaseRow`."""
    gold = Coded(codes=np.where(trials.gold >= 0, trials.gold, len(trials.labels)), names=(*trials.labels, ""))
    return (
        *(trials.task, trials.written_test, trials.variant, trials.stratum, trials.judge, trials.item, trials.case),
        gold,
    )


def _counts(group: Codes, codes: Codes, names: Sequence[str], groups: int) -> list[list[tuple[str, int]]]:
    """Return the names of each group with their counts, the commonest first."""
    by_group: list[list[tuple[str, int]]] = [[] for _ in range(groups)]
    # One number for each pair of group and name, so that one sort counts all groups.
    pairs, counts = np.unique(group * len(names) + codes, return_counts=True)
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        place, code = divmod(pair, len(names))
        by_group[place].append((names[code], count))
    for listed in by_group:
        if len(listed) > 1:
            listed.sort(key=lambda each: -each[1])
    return by_group


def _in_words(labels: Sequence[tuple[str, int]], trials: int) -> str:
    """Write every label with its count; of a single trial only the label."""
    return labels[0][0] if labels and trials == 1 else ", ".join(f"{count}x {label}" for label, count in labels)


def _means(scores: Scores, rows: Codes, group: Codes, groups: int) -> Floats:
    """Return the mean score of each group; NaN where no trial of it has one."""
    values = scores.value[rows]
    # As the metrics do: a missing verdict is no wrong one.
    known = scores.eligible[rows] & scores.answered[rows] & ~np.isnan(values)
    number = np.bincount(group[known], minlength=groups)
    total = np.bincount(group[known], weights=values[known], minlength=groups)
    return np.where(number > 0, total / np.maximum(number, 1), np.nan)


def _mean_or_none(means: Floats) -> list[float | None]:
    return [None if gone else mean for mean, gone in zip(means.tolist(), np.isnan(means), strict=True)]
