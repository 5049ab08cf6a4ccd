"""Load: data sources in, checked and sampled items out."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from attrs import evolve, frozen

from jrh.errors import JrhError, PluginError, Problem, SuiteError
from jrh.hashing import derive_seed
from jrh.plugins.protocols import DataSource, RemarksOnItems
from jrh.store.temporary import NumberTable, spool_items
from jrh.suite.definition import Sample, Suite, TaskUse
from jrh.suite.resolved import Shard
from jrh.text.redact import error_line
from jrh.text.transcripts import transcript_problems
from jrh.values.clusters import ItemBlocks
from jrh.values.item_covariates import GoldSource, check_declared, covariates_of, gold_source
from jrh.values.items import Item, Mode, Task
from jrh.values.report import TaskSummary

if TYPE_CHECKING:
    from jrh.running.building import Builder


_MOST_PROBLEMS: Final = 20
"""Mistakes of a data source that are listed."""

_EARLIER: Final = "an earlier item"


def read(builder: Builder, say: Callable[[str], None] | None = None) -> dict[str, Sequence[Item]]:
    """Read, check and sample every task's items.

    Args:
        builder: builds the sources.
        say: gets what sources remark about their items, a sentence each.

    Raises:
        JrhError: a source's data cannot be used; the text names file and line.
    """
    items = {}
    for use, source in zip(builder.resolved.suite.tasks, builder.resolved.sources, strict=True):
        built = builder.build(source, use.task)
        items_of_task = apply_labels(builder, use, check(built, use))
        if say is not None and isinstance(built, RemarksOnItems):
            for sentence in built.remarks(items_of_task):
                say(f"Data of task '{use.task.name}': {sentence}")
        items[use.task.name] = choose(items_of_task, use.data.sample, builder.resolved.limit)
    # With `--limit` an id may be left out on purpose.
    if builder.resolved.limit is None:
        _check_ids(builder.resolved.suite, items)
    return items if builder.resolved.shard is None else _part(items, builder.resolved.shard)


def apply_labels(builder: Builder, use: TaskUse, items: Sequence[Item]) -> Sequence[Item]:
    """Return a task's items with the labels that declared stages have for them."""
    for name, options in use.data.stages.items():
        by_stage = builder.stage(builder.plugins.stages.find(name)).label(items, use.task, options)
        items = items if by_stage is items else spool_items(by_stage)
    return items


def _part(items: Mapping[str, Sequence[Item]], shard: Shard) -> dict[str, Sequence[Item]]:
    parts = {task: spool_items(shard.items(items_of_task)) for task, items_of_task in items.items()}
    empty = next((task for task, items_of_task in parts.items() if not items_of_task), None)
    if empty is not None:
        raise JrhError(f"shard {shard} has no item of task '{empty}'; divide the run into fewer shards")
    return parts


def _check_ids(suite: Suite, items: Mapping[str, Sequence[Item]]) -> None:
    """Refuse tests that name items which none of their tasks has."""
    problems = []
    for test in (test for test in suite.tests if test.ids):
        known = {
            name
            for task, items_of_task in items.items()
            if test.tasks is None or task in test.tasks
            for item in items_of_task
            # Of a task with criteria, a test may name the response, whose criteria are items of their own.
            for name in (item.id, item.response_id)
        }
        for name in (name for name in test.ids if name not in known):
            close = get_close_matches(name, known, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            problems.append(f"test '{test.name}': `ids` names '{name}', which is not among the items{hint}")
    if problems:
        raise SuiteError(Problem(message=text) for text in _limit_problems(problems))


def check(source: DataSource, use: TaskUse) -> Sequence[Item]:
    """Read a source and check what every source has to fulfil: items, distinct ids, labels on the scale."""
    problems: list[str] = []
    again: list[_Again] = []
    items = spool_items(_check_items(source, use, problems, again))
    # From the end, because dropping a problem moves those behind it.
    for duplicate in reversed(again):
        duplicate.settle(items, problems)
    if problems:
        raise SuiteError(Problem(message=text) for text in _limit_problems(problems))
    check_declared(items, use.task, use.data.covariates)
    if not items:
        raise JrhError(f"task '{use.task.name}': the data source '{use.data.name}' has no items")
    return items


@frozen
class _Again:
    """An item whose id an earlier one seems to have."""

    first: int
    """Place of the earlier one."""
    item_id: str
    origin: str
    problem: int
    """Place in the list of problems."""

    def settle(self, items: Sequence[Item], problems: list[str]) -> None:
        """Say where the earlier one is, or drop the problem: only the numbers of the ids are equal."""
        first = items[self.first]
        if first.id != self.item_id:
            del problems[self.problem]
        elif first.origin and self.problem < _MOST_PROBLEMS:  # others are not listed, and reading items takes time
            problems[self.problem] = f"duplicate id '{self.item_id}' at {first.origin} and {self.origin}"


def _check_items(source: DataSource, use: TaskUse, problems: list[str], again: list[_Again]) -> Iterator[Item]:
    """Yield the items of a source as they come, and note what is wrong with them."""
    places = NumberTable()
    for place, item in enumerate(_read_items(source, use, problems)):
        # By number, since the ids of all items may not fit into memory; equal numbers are compared later.
        first = places.number_of(item.id, place)
        if first != place:
            again.append(_Again(first, item.id, item.origin, len(problems)))
            problems.append(f"duplicate id '{item.id}' at {_EARLIER} and {item.origin}")
        problems += _misfits(item, use.task)
        # What an item says of its own label comes before what the suite says of all.
        stated = item.gold_source or use.data.gold_source
        yield evolve(item, gold_source=stated, covariates=covariates_of(item, use.task, use.data.covariates))


def _read_items(source: DataSource, use: TaskUse, problems: list[str]) -> Iterator[Item]:
    try:
        read: Iterable[Item] = source.read()
        yield from read if use.mode is None else use.mode.expand_items(read, use.task, problems.append)
    except JrhError:
        raise
    except Exception as error:  # a plugin's code may fail in any way
        raise PluginError(f"the data of task '{use.task.name}' could not be read: {error_line(error)}") from error


def _misfits(item: Item, task: Task) -> list[str]:
    where = f"{item.origin}: " if item.origin else f"item '{item.id}': "
    misfits = []
    if item.gold is not None and item.gold not in task.scale:
        close = task.scale.match(item.gold)
        hint = f"; did you mean '{close}'?" if close else ""
        misfits.append(f"{where}label '{item.gold}' is not on the scale {', '.join(task.scale.labels)}{hint}")
    try:
        GoldSource.read(item.gold_source)
    except JrhError as error:
        misfits.append(f"{where}{error}")
    if not item.id.isprintable():
        misfits.append(f"{where}the id {item.id!r} has characters that cannot be printed")
    absent = [name for name in task.judged_fields if name not in item.fields]
    if absent:
        misfits.append(f"{where}a {task.mode.value} item needs {' and '.join(absent)}")
    elif task.mode is Mode.TRANSCRIPT and not isinstance(item.fields["transcript"], str):
        misfits += [where + problem for problem in transcript_problems(item.fields["transcript"])]
    return misfits


def _limit_problems(problems: list[str]) -> list[str]:
    excess = len(problems) - _MOST_PROBLEMS
    return problems[:_MOST_PROBLEMS] + ([f"and {excess} more problems of this kind"] if excess > 0 else [])


def choose(items: Sequence[Item], sample: Sample | None, limit: int | None) -> Sequence[Item]:
    """Take the sample the suite asks for, then the first `limit` items; the order of the source stays.

    A stratified sample gives every stratum its share of n, rounded by largest remainder.
    """
    if sample is None and limit is None:
        return items if isinstance(items, ItemBlocks) else tuple(items)
    # Of a response with criteria all items or none: the first one decides.
    heads: dict[str, str] = {}
    for item in _in_strata(items, sample):
        name = item.response_id
        heads[name] = heads.pop(name, item.stratum)
    drawn = list(heads) if sample is None else _draw(heads, sample)
    chosen = set(drawn[:limit])
    return spool_items(item for item in _in_strata(items, sample) if item.response_id in chosen)


def _draw(heads: Mapping[str, str], sample: Sample) -> list[str]:
    """Return the sampled ones among the ids of responses, given with their strata, in order."""
    if sample.n > len(heads):
        raise JrhError(f"the sample asks for {sample.n} items, but there are only {len(heads)}")
    names = list(heads)
    strata: defaultdict[str, list[int]] = defaultdict(list)
    for position, stratum in enumerate(heads.values()):
        strata[stratum if sample.stratify else ""].append(position)
    # A seed for each stratum, so that no draw depends on the strata before it.
    positions = sorted(
        position
        for stratum, size in _shares(strata, sample.n).items()
        for position in random.Random(derive_seed(sample.seed, "sample", stratum)).sample(strata[stratum], size)  # noqa: S311
    )
    return [names[position] for position in positions]


def _in_strata(items: Iterable[Item], sample: Sample | None) -> Iterator[Item]:
    """Yield the items, in the strata that the sample names."""
    name = sample.stratify if sample is not None else False
    return (evolve(item, stratum=_value(item, name)) if isinstance(name, str) else item for item in items)


def _value(item: Item, name: str) -> str:
    if name in item.fields or name in item.metadata:
        return str(item.fields.get(name, item.metadata.get(name)))
    known = sorted({*item.fields, *item.metadata})
    raise JrhError(f"sample: stratify: the items have no field '{name}'; they have {', '.join(known)}")


def _shares(strata: dict[str, list[int]], n: int) -> dict[str, int]:
    total = sum(map(len, strata.values()))
    exact = {name: n * len(members) / total for name, members in strata.items()}
    shares = {name: int(value) for name, value in exact.items()}
    # Largest remainder (Hamilton): no share differs from the exact one by a whole item; ties go by name.
    by_remainder = sorted(strata, key=lambda name: (shares[name] - exact[name], name))
    for name in by_remainder[: n - sum(shares.values())]:
        shares[name] += 1
    return shares


def summarise(task: Task, items: Sequence[Item]) -> TaskSummary:
    """Count a task's items and gold labels."""
    gold: Counter[str] = Counter()
    sources: Counter[str] = Counter()
    for item in items:  # once: many items are read from a file
        if item.gold is not None:
            gold[item.gold] += 1
        if source := gold_source(item):
            sources[source.text] += 1
    return TaskSummary(
        task=task,
        items=len(items),
        labelled=sum(gold.values()),
        gold={label: gold[label] for label in task.scale.labels if gold[label]},
        gold_sources=dict(sorted(sources.items())),
    )
