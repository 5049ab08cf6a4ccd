"""Gold labels from a judge's own grading of the originals, where the data have none."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from attrs import evolve
from jrh import Item, JrhError, JudgeKind, RunReport, Status, Task
from jrh.plugins import Stage, StageOutcome
from jrh.running import StageWork
from jrh.values import GoldKind, GoldSource

from jrh_review.person_labels import majority

NAME: Final = "judged-gold"
_NEED_GOLD: Final = (JudgeKind.TRAINED, JudgeKind.SIMULATED)
_NOTES: Final = "judged_gold"
"""Key of what a report says of the grading."""
_COLUMNS: Final = ("task", "judge", "item_id", "status", "canonical")


class JudgedGold(Stage):
    """Lets a judge grade the originals first; its commonest verdict is the gold label of items without one.

    An item without a verdict, or with two that are equally common, stays without a gold label. The source of these
    labels is the judge's model, so that no agreement with them is called accuracy.
    """

    def check(self, resolved: Any) -> None:
        """Refuse a `gold_from` that names no judge, or one that itself needs gold labels."""
        judges = {judge.use.name: judge for judge in resolved.judges}
        for name in _judges_by_task(resolved).values():
            if name not in judges:
                raise JrhError(f"data: gold_from: there is no judge '{name}'; the suite's judges: {', '.join(judges)}")
            # A judge that is handed gold labels would grade with what it is asked for.
            if judges[name].entry.spec.kind in _NEED_GOLD:
                raise JrhError(f"data: gold_from: judge '{name}' needs gold labels itself; name another judge")

    def applies(self, work: StageWork) -> bool:
        """Return whether a task has its gold labels from a judge, or had."""
        return bool(_judges_by_task(work.builder.resolved)) or work.store.meta(_NOTES) is not None

    async def run(self, work: StageWork) -> StageOutcome:
        """Ask about the originals that have no gold label."""
        labelled: dict[str, Sequence[Item]] = {}
        notes = []
        for name, judge in _judges_by_task(work.builder.resolved).items():
            items = work.items[name]
            if await work.ask(work.tasks[name], judge, lambda case: case.gold is None):
                items = labelled[name] = list(_grade_items(items, work.tasks[name], judge, work))
            count = sum(item.gold is not None for item in items)
            notes.append(
                f"Task '{name}': judge '{judge}' graded the originals, and its verdicts replace missing gold labels "
                f"({count} of {len(items)} items are labelled). Agreement with them is not accuracy; for that judge it "
                "shows only how often it repeats its verdict."
            )
        text = json.dumps(notes)
        # A resumed run writes nothing where nothing changed.
        if work.store.meta(_NOTES) != text:
            work.store.set_meta(_NOTES, text)
        return StageOutcome(items=labelled)

    def report(self, report: RunReport, work: StageWork) -> RunReport:
        """Say which tasks have a judge's labels."""
        notes = json.loads(work.store.meta(_NOTES) or "[]")
        return evolve(report, notes=(*report.notes, *notes)) if notes else report


def _judges_by_task(resolved: Any) -> Mapping[str, str]:
    """Return the judge that grades the originals of each task that asks for it."""
    return {use.task.name: use.data.stages[NAME].gold_from for use in resolved.suite.tasks if NAME in use.data.stages}


def _grade_items(items: Sequence[Item], task: Task, judge: str, work: StageWork) -> Iterator[Item]:
    """Yield the items with the judge's commonest verdict as gold label where they have none."""
    labels: defaultdict[str, list[str]] = defaultdict(list)
    rows = (zip(*(part[name] for name in _COLUMNS), strict=True) for part in work.store.records.slices())
    for of_task, of_judge, item, status, label in chain.from_iterable(rows):
        counts = (of_task, of_judge) == (task.name, judge) and status in (Status.OK, Status.OK.value)
        if counts and label in task.scale:
            labels[item].append(label)
    source = GoldSource(kind=GoldKind.MODEL, model=work.summary.models.get(judge, judge)).text
    for original in items:
        label = majority(labels[original.id]) if original.gold is None else None
        yield original if label is None else evolve(original, gold=label, gold_source=source)
