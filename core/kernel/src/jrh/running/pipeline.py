"""Judge the cases of finished tests while later tests are still being made.

The plan grows test by test, in the order in which a run that waits for all cases plans them, so that every trial has
the same id, place and occasion, and the run the same records and reports.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import islice
from typing import Final

from jrh.plugins.specs import JudgeSpec
from jrh.running.declared_stages import stages_of_cases
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress
from jrh.running.rehearsal import note_judges
from jrh.running.schedule import AskedCase, TrialPlanner, judge_ids
from jrh.running.stage_work import work_of
from jrh.running.stages import judge as judging
from jrh.running.stages.allocation import Batches
from jrh.running.stages.coming_trials import SLICE, PlanFeed
from jrh.running.stages.stored import StoredCases
from jrh.running.stages.summary import note_plan
from jrh.store.cases_table import id_of_list
from jrh.store.records_table import GROWING, TrialRow
from jrh.suite.resolved import Resolved, ResolvedTest, tests_of

_UNSEEN: Final = "unseen"
"""Judge -> number of cases of the plan that change only what it never sees."""
_MOST: Final = 8 * SLICE
"""Trials that are planned in one transaction."""


def overlaps(ready: Prepared) -> bool:
    """Tell whether judges may begin before all cases are made.

    They wait where a declared stage runs in between, where something needs all trials at once, and where
    the drafts of later tests are paid from a budget that the judges could use up. A plan that was finished before is
    replaced at once or not at all.
    """
    resolved, suite = ready.resolved, ready.suite
    waits = (
        bool(stages_of_cases(work_of(ready))),
        any(use.data.stages or use.task.criteria is not None for use in suite.tasks),
        bool(resolved.deferred_models),
        resolved.allocator is not None,
        all(judging.judges_at_once(judge.entry.spec.kind) for judge in resolved.judges),
        # Else judges could spend what the drafts of later tests need, and the tests would end empty.
        (suite.budget.usd, suite.budget.calls) != (None, None) and any(asks_models(test) for test in resolved.tests),
        not any(tests_of(resolved, use.task) for use in suite.tasks),
        # A plan that was complete is replaced in one transaction: a kill must not leave a part of the new one.
        ready.store.trials.digest() not in (None, GROWING),
    )
    return not any(waits)


def asks_models(test: ResolvedTest) -> bool:
    """Tell whether a component of a test asks a model."""
    return any(component.all_models for component in test.components)


class Overlap:
    """The judging that goes on while cases are made."""

    def __init__(self, ready: Prepared, items_ids: Mapping[str, str]) -> None:
        """Start no judge yet."""
        self._judges = judge_ids(ready.resolved, items_ids)
        self._ready = ready
        self._planner = TrialPlanner(self._judges, ready.tasks, ready.store.trials.occasions())
        self._feed = PlanFeed()
        self._judging: asyncio.Task[None] | None = None
        self._shown = _DelayedProgress(ready.progress)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Judge from now on what is planned inside; at the end, wait for all of it.

        Raises:
            StopRun: the judging ended early; what was under way is written.
        """
        self._ready.note_components("judge")
        self._ready.store.trials.begin()
        self._judging = asyncio.create_task(judging.judge_all(self._ready, self._shown, self._feed))
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
        stored = StoredCases(self._ready.store, [(task, test)])
        rows = self._planner.trials(stored) if asked is None else self._planner.trials_of(asked)
        most = SLICE  # the judges wait for the first ones; more at once are written with fewer pages
        while some := await _take(rows, most):
            await asyncio.to_thread(self._ready.store.trials.extend, some)
            most = min(2 * most, _MOST)
            self._feed.announce()
            assert self._judging is not None
            # Judges that ended early end the making of cases as well: their trials would never be put.
            if self._judging.done():
                await self._judging
        await asyncio.sleep(0)

    def finish(self, cases: StoredCases) -> None:
        """Note what the plan was made from, and show the judging, as all cases are made."""
        store = self._ready.store
        store.trials.finish(_plan_id(cases, self._judges))
        _note_plan(self._ready, self._judges, self._planner.unseen)
        store.flush()
        planned = store.trials.count()
        done = planned - store.trials.count_pending()
        # Steps that were taken unseen are added below; counted as done before, they would appear twice.
        self._ready.progress.begin("judge", planned, done=max(done - self._shown.steps, 0))
        self._ready.progress.advance(self._shown.steps)
        self._shown.begun = True


async def _take(rows: Iterator[TrialRow], most: int) -> list[TrialRow]:
    """Return the next rows, and let other tasks run while they are made."""
    taken = list(islice(rows, SLICE))
    while len(taken) < most and (more := list(islice(rows, SLICE))):
        taken += more
        # Tests that are stored already are planned without waiting for anything: let the judges go on between them.
        await asyncio.sleep(0)
    return taken


class _DelayedProgress(Progress):
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


async def judge_cases(ready: Prepared, cases: StoredCases, items_ids: Mapping[str, str], only: str = "") -> None:
    """Plan the trials of cases and let judges answer them; one judge if it is named."""
    store = ready.store
    judges = judge_ids(ready.resolved, items_ids)
    if only:
        judges = [(judge, judge_id) for judge, judge_id in judges if judge.use.name == only]
    batches = None if ready.resolved.allocator is None or only else Batches(ready)
    digest = _plan_id(cases, judges) if batches is None else batches.plan_id(_plan_id(cases, judges))
    unseen = json.loads(store.meta(_UNSEEN) or "{}")
    # The digest names every case and judge: an equal one means that the stored plan is this plan.
    replanned = store.trials.digest() != digest or (batches is not None and batches.is_outdated())
    if replanned:
        planner = TrialPlanner(judges, ready.tasks, store.trials.occasions())
        store.trials.replace(digest, planner.trials(cases) if batches is None else batches.trials(planner, cases))
        unseen = planner.unseen
    _note_plan(ready, judges, unseen)
    planned = store.trials.count()
    ready.progress.begin("judge", planned, done=planned - store.trials.count_pending())
    await (judging.judge_all(ready, ready.progress) if batches is None else batches.judge(digest, replanned=replanned))


def _note_plan(ready: Prepared, judges: Sequence[tuple[Resolved[JudgeSpec], str]], unseen: Mapping[str, int]) -> None:
    """Note what the report says of a plan that is complete."""
    store = ready.store
    store.set_meta(_UNSEEN, json.dumps(unseen))
    # A judge keeps its id, and so its records, under another name.
    store.records.rename_judges()
    note_judges(store, (judge_id for _, judge_id in judges))
    ready.note_components("perturber", "validator", "judge")
    note_plan(store, ready.resolved, unseen)


def _plan_id(cases: StoredCases, judges: Sequence[tuple[Resolved[JudgeSpec], str]]) -> str:
    return id_of_list(cases.ids(), [(judge.use.name, judge_id) for judge, judge_id in judges])
