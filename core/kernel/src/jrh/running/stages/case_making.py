"""Make the cases of every task and test, in plan order: the reference condition first, then the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from attrs import define, field

from jrh.models.ledger import WRITER, Payer, book_to
from jrh.plugins.protocols import Stage
from jrh.running.pipeline import Overlap, asks_models
from jrh.running.prepare import Prepared
from jrh.running.schedule import AskedCase
from jrh.running.stage_work import work_of
from jrh.running.stages import perturb as perturbing
from jrh.running.stages.cases_of_drafts import Perturbed, Writing, reference_cases, stage_digest
from jrh.running.stages.stored import StoredCases
from jrh.store.temporary import Spool
from jrh.suite.resolved import ResolvedTest, tests_of
from jrh.values.cases import REFERENCE
from jrh.values.clusters import in_small_parts
from jrh.values.events import CaseReady
from jrh.values.items import Task


@define
class CaseMaking:
    """Perturbs and validates; what is stored and still valid is not made again."""

    ready: Prepared
    between: tuple[Stage, ...] = ()
    """The declared stages between perturbing and judging that apply."""
    overlap: Overlap | None = None
    """What judges meanwhile; None where judges wait for all cases."""
    unfinished: list[str] = field(factory=list, init=False)
    """Tests with missing drafts, because a provider failed or a plugin raised."""

    async def make_all(self, items_ids: Mapping[str, str]) -> StoredCases:
        """Make the cases of every task and test, in plan order."""
        ready = self.ready
        tasks = [use.task for use in ready.suite.tasks]
        tests = {task.name: tests_of(ready.resolved, task) for task in tasks}
        ready.progress.begin("perturb", sum(len(ready.items[name]) * len(some) for name, some in tests.items()))
        places: list[tuple[str, str]] = []
        for task in tasks:
            items_id = items_ids[task.name]
            for test in (None, *tests[task.name]):
                new = await (self.make_reference(task, items_id) if test is None else self._make(task, test, items_id))
                places.append((task.name, REFERENCE if test is None else test.use.name))
                if self.overlap is not None:
                    await self.overlap.plan(*places[-1], None if new is None else new.all())
        ready.progress.end()
        return StoredCases(ready.store, places)

    def _slice(self, test: ResolvedTest) -> int | None:
        """Return how many items are treated together; None for the usual number.

        What asks no model never waits, and would keep the answers waiting that judges get meanwhile.
        """
        if self.between and any(stage.live(test.use.name, work_of(self.ready)) for stage in self.between):
            return perturbing.AT_ONCE
        blocks = self.overlap is not None and self.ready.builder.spread is None and not asks_models(test)
        return perturbing.BETWEEN_ANSWERS if blocks else None

    async def make_reference(self, task: Task, items_id: str) -> Spool[AskedCase] | None:
        """Make the reference cases, unless those stored are still valid; return what a plan needs of them."""
        ready = self.ready
        digest = stage_digest(ready.builder, None, task, items_id)
        if ready.store.cases.digest(task.name, REFERENCE) == digest:
            return None
        # From here on the plan in the store is one of other cases; a killed run must plan again.
        ready.store.trials.reopen()
        writing = Writing(ready.store, task, REFERENCE, planned=self.overlap is not None)
        for some in in_small_parts(ready.items[task.name], perturbing.SLICE):
            cases = reference_cases(task, some, ready.suite.reference_repeats)
            writing.put(Perturbed(cases=cases, outcomes=()))
            await asyncio.sleep(0)
        await asyncio.to_thread(writing.finish, digest)
        self._announce(task.name, REFERENCE)
        return writing.new

    async def _make(self, task: Task, test: ResolvedTest, items_id: str) -> Spool[AskedCase] | None:
        """Make the cases of one test, unless those stored are still valid; return what a plan needs of them."""
        ready, name = self.ready, test.use.name
        items = ready.items[task.name]
        digest = stage_digest(ready.builder, test, task, items_id)
        if ready.store.cases.digest(task.name, name) == digest:
            ready.progress.advance(len(items))
            return None
        # As with the reference cases: a killed run must plan again.
        ready.store.trials.reopen()
        failed = ready.gateway.draft_failures
        # The report counts the drafts it rests on, not those that they replace.
        ready.store.spending.forget_drafts(task.name, name, digest)
        writing = Writing(ready.store, task, name, planned=self.overlap is not None)
        with book_to(Payer(owner=digest, role=WRITER, task=task.name, test=name)):
            size = self._slice(test)
            async for batch in perturbing.in_slices(ready.builder, test, task, items, ready.progress, ready.log, size):
                writing.put(batch)
                await asyncio.sleep(0)
                # A live stage works on these cases while more are made.
                if size == perturbing.AT_ONCE:
                    writing.show(f"{digest}:unfinished")
                    self._tell_of_cases()
        if ready.gateway.draft_failures > failed or writing.plugin_raised:
            # Another digest makes the next run draft again. Calls that were answered are not repeated.
            digest = f"{digest}:unfinished"
            self.unfinished.append(name)
        # Commits all rows at once: in a thread, so that judges go on getting answers.
        await asyncio.to_thread(writing.finish, digest)
        self._tell_of_cases()
        self._announce(task.name, name)
        return writing.new

    def _announce(self, task: str, test: str) -> None:
        events = self.ready.events
        if events.listens("jrh_case_ready"):
            for case in self.ready.store.cases.iterate(task, test):
                events.tell("jrh_case_ready", CaseReady(run_id=self.ready.run_id, case=case))

    def _tell_of_cases(self) -> None:
        """Let stages that work meanwhile see the cases that are stored by now."""
        for stage in self.between:
            stage.look_at_cases(work_of(self.ready))
