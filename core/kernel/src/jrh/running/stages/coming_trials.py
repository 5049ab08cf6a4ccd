"""The trials of one judge, read as they are planned, or divided into folds where it is trained."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence

from attrs import define, field, frozen

from jrh.running.schedule import folds_of
from jrh.store.records_table import LAST, PendingTrial
from jrh.store.run_store import Store
from jrh.suite.definition import JudgeUse, Use
from jrh.values.cases import Case
from jrh.values.clusters import TEXT_AT_ONCE, clusters_of, text_size
from jrh.values.items import Item
from jrh.values.verdicts import Example

SLICE = 500
"""Trials that are read at once."""
_FIRST = 8
"""Of which the cases are read first, before the length of the texts is known."""


@frozen(kw_only=True)
class Pending:
    """One trial that is to be put."""

    trial_id: str
    case: Case
    repeat: int
    occasion: int


@define
class PlanFeed:
    """Tells the judges of a run that its plan has grown, and when all of it is there."""

    complete: bool = False
    dropped: bool = False
    """No further trial is to be put."""
    until: int = LAST
    """The position in the plan that follows the last trial to put."""
    _news: asyncio.Event = field(factory=asyncio.Event, init=False)

    def announce(self) -> None:
        """Tell that there are more trials."""
        self._news.set()
        # Another event for those who wait from now on: this one wakes all who have waited.
        self._news = asyncio.Event()

    def close(self) -> None:
        """Tell that no more trials will come."""
        self.complete = True
        self.announce()

    def drop(self) -> None:
        """End the judging after the trials under way."""
        self.dropped = True
        self.close()

    async def until_complete(self) -> None:
        """Wait until the plan is complete."""
        while not self.complete:
            await self.news()

    async def news(self) -> None:
        """Wait until there are more trials, or no more will come."""
        await self._news.wait()


class ComingTrials:
    """A judge's trials that are still to be put, in plan order; waits for those that are not planned yet."""

    def __init__(self, store: Store, judge: str, feed: PlanFeed) -> None:
        """Read nothing yet."""
        self._store = store
        self._judge = judge
        self._feed = feed
        self._rows: deque[PendingTrial] = deque()
        self._ready: deque[Pending] = deque()
        self._few = _FIRST
        self._last = -1

    async def task(self) -> str | None:
        """Return the name of the next trial's task, None after the last; the plan goes from task to task."""
        return self._ready[0].case.task if await self._fill() else None

    async def take(self, task: str) -> Pending | None:
        """Return the next trial of a task, None after its last."""
        ready = self._ready
        if self._feed.dropped or not (ready or await self._fill()):
            return None
        # The next trial may belong to another task, for which the judge is built again.
        return ready.popleft() if ready[0].case.task == task else None

    async def _fill(self) -> bool:
        while not self._feed.dropped:
            # Before the look at the store: what is planned between the two is then read in the next round.
            complete = self._feed.complete
            if self._ready or self._read():
                return True
            if complete:
                return False
            await self._feed.news()
        return False

    def _read(self) -> bool:
        if not self._rows:
            until = self._feed.until
            self._rows.extend(self._store.trials.trials_to_run(self._judge, after=self._last, until=until, limit=SLICE))
        if not self._rows:
            return False
        rows = [self._rows.popleft() for _ in range(min(self._few, len(self._rows)))]
        # By position and not by what has no record: trials under way have none yet, and must not be read again.
        self._last = rows[-1].position
        cases = self._store.cases.by_id(list(dict.fromkeys(row.case_id for row in rows)))
        # As many cases as texts of their length may be held: four times more than before, or fewer.
        size = sum(text_size(dict(case.fields)) for case in cases.values()) // len(rows)
        self._few = max(1, min(SLICE, self._few * 4, TEXT_AT_ONCE // max(size, 1)))
        self._ready.extend(
            Pending(trial_id=row.trial_id, case=cases[row.case_id], repeat=row.repeat, occasion=row.occasion)
            for row in rows
        )
        return True

    def rest(self, task: str) -> Iterator[Pending]:
        """Yield the trials of a task of a plan that is complete."""
        while (self._ready or self._read()) and self._ready[0].case.task == task:
            yield self._ready.popleft()


def in_folds(
    trials: Iterable[Pending], items: Sequence[Item], use: Use
) -> Iterator[tuple[list[Pending], list[Example]]]:
    """Yield the trials of every fold, with the labelled items of all other folds; holds all trials."""
    assert isinstance(use, JudgeUse)
    # By cluster: the same text in two folds would train a judge on what it is tested with.
    cluster = clusters_of(items)
    fold_of = folds_of([(cluster[item.id], item.gold or "") for item in items], use.folds)
    by_fold: defaultdict[int, list[Pending]] = defaultdict(list)
    for trial in trials:
        by_fold[fold_of[cluster[trial.case.item_id]]].append(trial)
    for fold, members in sorted(by_fold.items()):
        examples = [
            Example(fields=item.fields, gold=item.gold, group=cluster[item.id])
            for item in items
            if item.gold is not None and fold_of[cluster[item.id]] != fold
        ]
        yield members, examples
