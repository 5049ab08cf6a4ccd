"""Judge the cases of finished tests while later tests are still being made.

The plan grows test by test, in the order in which a run that waits for all cases plans them, so that every trial has
the same id, place and occasion, and the run the same records and reports.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final

from jrh.plugins.specs import JudgeSpec
from jrh.running.declared_stages import stages_of_cases, work_of
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress, Silent
from jrh.running.schedule import AskedCase, TrialPlanner
from jrh.running.stages import judge as judging
from jrh.running.stages.coming_trials import SLICE, PlanFeed
from jrh.running.stages.stored_cases import StoredCases
from jrh.store.trials_table import GROWING, TrialRow
from jrh.suite.definition import Budget
from jrh.suite.resolved import Resolved, ResolvedTest, deferred_models, tests_of

_MOST: Final = 8 * SLICE
"""Trials that are planned in one transaction."""


def overlaps(ready: Prepared) -> bool:
    """Tell whether judges may begin before all cases are made.

    They wait where a declared stage stands between, where something needs all trials at once, and where the drafts of
    later tests are paid from a budget that the judges could use up. A plan that was finished before is replaced at once
    or not at all.
    """
    resolved, suite = ready.resolved, ready.suite
    waits = (
        bool(stages_of_cases(work_of(ready))),
        any(use.data.gold_from or use.task.criteria is not None for use in suite.tasks),
        bool(deferred_models(resolved)),
        all(judging.judges_at_once(judge.entry.spec.kind) for judge in resolved.judges),
        suite.budget != Budget() and any(asks_models(test) for test in resolved.tests),
        not any(tests_of(resolved, use.task) for use in suite.tasks),
        ready.store.trials.digest() not in (None, GROWING),
    )
    return not any(waits)


def asks_models(test: ResolvedTest) -> bool:
    """Tell whether a component of a test asks a model."""
    return any(component.all_models for component in test.components)


class Overlap:
    """The judging that goes on while cases are made."""

    def __init__(self, ready: Prepared, judges: Sequence[tuple[Resolved[JudgeSpec], str]]) -> None:
        """Start no judge yet."""
        self._store = ready.store
        tasks = {use.task.name: use.task for use in ready.suite.tasks}
        self._planner = TrialPlanner(judges, tasks, ready.store.trials.occasions())
        self._progress = ready.progress
        self._feed = PlanFeed()
        self._judging: asyncio.Task[None] | None = None
        self.shown = _Later(ready.progress)

    @property
    def unseen(self) -> Mapping[str, int]:
        """Return, by judge, the number of cases that change only what it never sees."""
        return Counter(self._planner.unseen)

    @asynccontextmanager
    async def open(self, bench: judging.Bench) -> AsyncIterator[None]:
        """Judge from now on what is planned inside; at the end, wait for all of it.

        Raises:
            StopRun: the judging ended early; what was under way is written.
        """
        self._store.trials.begin()
        self._judging = asyncio.create_task(judging.judge_all(bench, self._feed))
        try:
            yield
        except BaseException:
            self._feed.drop()
            # What made the cases end says why the run ends.
            await asyncio.gather(self._judging, return_exceptions=True)
            raise
        self._feed.close()
        await self._judging

    async def plan(self, task: str, test: str, asked: Iterable[AskedCase] | None) -> None:
        """Plan the trials of a test whose cases are stored.

        Args:
            task: its name.
            test: its name.
            asked: what a plan has to know of the cases, where they were just made; else they are read.

        Raises:
            StopRun: the judging ended early.
        """
        stored = StoredCases(self._store, [(task, test)])
        rows = self._planner.trials(stored) if asked is None else self._planner.trials_of(asked)
        most = SLICE  # the judges wait for the first ones; more at once are written with fewer pages
        while some := await _taken(rows, most):
            await asyncio.to_thread(self._store.trials.extend, some)
            most = min(2 * most, _MOST)
            self._feed.grown()
            assert self._judging is not None
            if self._judging.done():
                await self._judging
        await asyncio.sleep(0)

    def finish(self, digest: str) -> None:
        """Note what the plan was made from, and show the judging, as all cases are made."""
        self._store.trials.finish(digest)

    def show(self) -> None:
        """Show the judging from now on, with the trials that were put meanwhile."""
        self._store.flush()
        planned = self._store.trials.count()
        done = planned - self._store.trials.count_pending()
        self._progress.begin("judge", planned, done=max(done - self.shown.steps, 0))
        self._progress.advance(self.shown.steps)
        self.shown.begun = True


async def _taken(rows: Iterator[TrialRow], most: int) -> list[TrialRow]:
    """Return the next rows, and let other tasks run while they are made."""
    found = list(islice(rows, SLICE))
    while len(found) < most and (more := list(islice(rows, SLICE))):
        found += more
        await asyncio.sleep(0)
    return found


class _Later(Silent):
    """Shows the judging once no other stage is shown."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.begun = False
        self.steps = 0

    def advance(self, steps: int = 1) -> None:
        """Show steps, or count them."""
        self.steps += steps
        if self.begun:
            self._progress.advance(steps)
