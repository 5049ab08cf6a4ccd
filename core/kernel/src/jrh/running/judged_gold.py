"""Gold labels from a judge's own grading of the originals, where the data have none."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from attrs import evolve

from jrh.errors import JrhError
from jrh.plugins.specs import JudgeKind
from jrh.store.item_spool import spooled
from jrh.store.run_store import Store
from jrh.suite.definition import TaskUse
from jrh.suite.resolved import ResolvedSuite, judge_models
from jrh.values.gold_source import GoldKind, GoldSource
from jrh.values.items import Item
from jrh.values.verdicts import Status

_NEED_GOLD = (JudgeKind.TRAINED, JudgeKind.SIMULATED)


def check_grading_judges(resolved: ResolvedSuite) -> None:
    """Refuse a `gold_from` that names no judge, or one that itself needs gold labels.

    Raises:
        JrhError: says which.
    """
    judges = {judge.use.name: judge for judge in resolved.judges}
    for use in resolved.suite.tasks:
        name = use.data.gold_from
        if name and name not in judges:
            raise JrhError(f"data: gold_from: there is no judge '{name}'; the suite's judges: {', '.join(judges)}")
        if name and judges[name].entry.spec.kind in _NEED_GOLD:
            raise JrhError(f"data: gold_from: judge '{name}' needs gold labels itself; name another judge")


def graded(use: TaskUse, items: Sequence[Item], store: Store, resolved: ResolvedSuite) -> Sequence[Item]:
    """Return the items with the judge's commonest verdict as gold label where they have none.

    An item without a verdict, or with two that are equally common, stays without a gold label. The source of these
    labels is the judge's model, so that no agreement with them is called accuracy.
    """
    name = use.data.gold_from
    given: defaultdict[str, Counter[str]] = defaultdict(Counter)
    wanted = ("task", "judge", "item_id", "status", "canonical")
    rows = (zip(*(part[name] for name in wanted), strict=True) for part in store.records.slices())
    for task, judge, item, status, label in chain.from_iterable(rows):
        if (
            (task, judge) == (use.task.name, name)
            and status in (Status.OK, Status.OK.value)
            and label in use.task.scale
        ):
            given[item][label] += 1
    source = GoldSource(kind=GoldKind.MODEL, model=judge_models(resolved).get(name, name)).text
    return spooled(
        evolve(item, gold=label, gold_source=source)
        if item.gold is None and (label := _commonest(given[item.id])) is not None
        else item
        for item in items
    )


def _commonest(labels: Counter[str]) -> str | None:
    first = labels.most_common(2)
    return first[0][0] if first and (len(first) == 1 or first[0][1] > first[1][1]) else None


def notes_of_gold(resolved: ResolvedSuite, items: Mapping[str, Sequence[Item]]) -> Iterator[str]:
    """Yield a note per task whose gold labels are a judge's."""
    for use in resolved.suite.tasks:
        if use.data.gold_from:
            count = sum(item.gold is not None for item in items[use.task.name])
            yield (
                f"Task '{use.task.name}': judge '{use.data.gold_from}' graded the originals, and its verdicts replace "
                f"missing gold labels ({count} of {len(items[use.task.name])} items are labelled). Agreement with them "
                "is not accuracy; for that judge it shows only how often it repeats its verdict."
            )
