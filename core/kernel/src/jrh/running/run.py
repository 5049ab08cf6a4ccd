"""One run, step by step: every method of `Run` is a step."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from attrs import evolve

from jrh.document.convert import to_json
from jrh.errors import JrhError, StopReason, StopRun, StoreError
from jrh.hashing import content_id
from jrh.models.client import Client, rates_of
from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger
from jrh.models.stand_in import StandIn
from jrh.plugins.loading import Events, Loaded
from jrh.running.building import Builder, parts_used, used
from jrh.running.dry_build import left_to_do, note_judges, rehearse
from jrh.running.outcome import INTERRUPTED, Ended, RunResult, Settings, asks_again, conclude
from jrh.running.progress import Progress
from jrh.running.run_log import Quiet, RunLog
from jrh.running.schedule import is_put, judge_ids, plan_trials
from jrh.running.stages import judge as judging
from jrh.running.stages import load as loading_items
from jrh.running.stages import measure as measuring
from jrh.running.stages import perturb as perturbing
from jrh.running.stages import summary as reporting
from jrh.running.stages.stored_evidence import StoredEvidence
from jrh.store.cache import Cache
from jrh.store.database import FILENAME as STORE
from jrh.store.run_store import Store
from jrh.suite.resolved import Resolved, ResolvedSuite, ResolvedTest, applies, is_made_for, simulated_judges, tests_of
from jrh.text.redact import Redactor, named_secrets
from jrh.values.events import CaseReady, RunFinished, RunStarted
from jrh.values.evidence import NoEvidence
from jrh.values.report import ComponentUsed, RunReport
from jrh.values.types import REFERENCE, Case, Item, Task
from jrh.version import __version__


class Run:
    """One run."""

    def __init__(
        self, resolved: ResolvedSuite, loaded: Loaded, settings: Settings, progress: Progress, run_dir: Path
    ) -> None:
        self.resolved = resolved
        self.suite = resolved.suite
        self.loaded = loaded
        self.settings = settings
        self.progress = progress
        self.run_dir = run_dir
        self.run_id = content_id("run", self.suite.name, self.suite.seed)
        self.redact = Redactor.from_environment(also=named_secrets(part.options for part in _parts(resolved)))
        self.simulated = simulated_judges(resolved)
        self.items: dict[str, tuple[Item, ...]] = {}
        self.tasks = {use.task.name: use.task for use in self.suite.tasks}
        self.unfinished: list[str] = []
        """Tests whose drafts are not all made, because a provider failed or a plugin raised."""

    async def go(self) -> RunResult:
        """Read the data, open what the run needs, run it, and close everything again.

        Nothing is written before the data and the components are known to be usable.
        """
        rehearsing = Builder(self.resolved, self.loaded.plugins, Quiet, self._open_silently)
        self.items = loading_items.read(rehearsing)
        known = (self.run_dir / STORE).is_file()
        if not known:
            rehearse(rehearsing)
        self.store = Store.open(self.run_dir, self.suite.name)
        try:
            if known:
                rehearse(rehearsing, left_to_do(rehearsing, self.store, self.items))
            log = RunLog(self.run_dir, self.redact)
            try:
                return await self._with_log(log)
            finally:
                log.close()
        finally:
            self.store.close()

    async def _with_log(self, log: RunLog) -> RunResult:
        self.log = log.logger(run=self.run_id[:8])
        self.events = Events(
            self.loaded.manager,
            lambda hook, plugin, error: self.log.warning("event hook raised", hook=hook, plugin=plugin, error=error),
        )
        cache = self._open_cache()
        self.unknown = self._settle_unknown()
        self.gateway = Gateway(self.store, cache, self._ledger(), self.redact, self.log)
        self.builder = Builder(self.resolved, self.loaded.plugins, log.logger, self._open_model)
        reporting.note_start(self.store, self.suite.gate)
        self.log.info("run started", suite=self.suite.name, version=__version__, plugins=list(self.loaded.names))
        self.events.tell("jrh_run_started", RunStarted(run_id=self.run_id, suite=self.suite.name, run_dir=self.run_dir))
        try:
            with self._interruptible():
                stop = await self._stages()
            result = self._finish(stop)
        finally:
            await self.gateway.aclose()
            if cache is not None:
                cache.close()
        return result

    def _open_cache(self) -> Cache | None:
        if not self.settings.use_cache:
            return None
        try:
            return Cache.open()
        except Exception as error:  # the cache saves money; a run goes on without it
            self.log.warning("no cache", error=repr(error))
            self.progress.say(f"The cache of replies cannot be used ({error}); going on without it.")
            return None

    def _open_model(self, use: Any, model: Any) -> Client:
        self._check_price(use, model)
        return self.gateway.client(use, model)

    def _open_silently(self, use: Any, model: Any) -> StandIn:
        self._check_price(use, model)
        return StandIn(use, model)

    def _check_price(self, use: Any, model: Any) -> None:
        if self.suite.budget.usd is not None and rates_of(use, model) is None:
            raise JrhError(
                f"model '{use.name}' has no known price, and the suite has a budget in dollars; give the model "
                "`price: {input: ..., output: ...}` (dollars per million tokens), or remove the budget"
            )

    def _settle_unknown(self) -> int:
        """Mark the calls that a killed process left without an outcome; they stay costed at the worst case."""
        return self.store.calls.settle_lost()

    def _ledger(self) -> Ledger:
        return Ledger(budget=self.suite.budget, **self.store.calls.totals()._asdict())

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Let the first Ctrl-C finish the calls in flight; the second one ends at once."""
        if not self.settings.handle_signals or threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()

        def interrupted() -> None:
            loop.remove_signal_handler(signal.SIGINT)
            with suppress(StoreError):  # the end says it again, if it comes that far
                ended = Ended(exit_code=INTERRUPTED, message="interrupted", complete=False)
                reporting.note_end(self.store, ended)
            self.progress.say("Interrupted: finishing the calls in flight. Press Ctrl-C again to leave at once.")
            self.gateway.stop(StopReason.INTERRUPTED, "interrupted")

        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    # -- stages ------------------------------------------------------------------------------------------------------

    async def _stages(self) -> StopRun | None:
        try:
            self.items_ids = self.store.items.write(self.items)
            self._remember()
            cases = await self._perturb()
            await self._judge(cases)
        except StopRun as stop:
            return stop
        finally:
            self.progress.end()
            self.store.flush()
        return self.gateway.stopped

    async def _perturb(self) -> list[Case]:
        """Make the cases of every task and test; the order is the plan's."""
        cases: list[Case] = []
        tests = {use.task.name: tests_of(self.resolved, use.task) for use in self.suite.tasks}
        self.progress.begin("perturb", sum(len(self.items[task]) * len(of_task) for task, of_task in tests.items()))
        for use in self.suite.tasks:
            items = self.items[use.task.name]
            cases += self._reference(use.task, items)
            for test in tests[use.task.name]:
                digest = perturbing.stage_digest(self.builder, test, use.task, self.items_ids[use.task.name])
                here = (use.task.name, test.use.name)
                if self.store.cases.digest(*here) == digest:
                    self.progress.advance(len(items))
                    cases += self.store.cases.read(*here)
                    continue
                failed = self.gateway.failed_calls
                made = await perturbing.perturb(self.builder, test, use.task, items, self.progress, self.log)
                if self.gateway.failed_calls > failed or made.raised:
                    # Drafts are missing because a provider failed or a plugin raised: the next run drafts again, and
                    # what was paid for is not paid again.
                    digest = f"{digest}:unfinished"
                    self.unfinished.append(test.use.name)
                perturbing.write(self.store, *here, digest, made)
                self._announce(made.cases)
                cases += made.cases
        self.progress.end()
        return cases

    def _reference(self, task: Task, items: Sequence[Item]) -> tuple[Case, ...]:
        made = perturbing.reference_cases(task, items, self.suite.reference_repeats)
        digest = perturbing.stage_digest(self.builder, None, task, self.items_ids[task.name])
        if self.store.cases.digest(task.name, REFERENCE) != digest:
            perturbing.write(self.store, task.name, REFERENCE, digest, perturbing.Perturbed(cases=made, outcomes=()))
            self._announce(made)
        return made

    def _announce(self, cases: Sequence[Case]) -> None:
        if self.events.listens("jrh_case_ready"):
            for case in cases:
                self.events.tell("jrh_case_ready", CaseReady(run_id=self.run_id, case=case))

    async def _judge(self, cases: Sequence[Case]) -> None:
        judges = judge_ids(self.resolved, self.items_ids)
        digest = content_id([case.id for case in cases], [name for _, name in judges])
        if self.store.trials.digest() != digest:
            self.store.trials.replace(digest, plan_trials(cases, judges, self.tasks))
        note_judges(self.store, (name for _, name in judges))
        pending = judging.pending_trials(self.store, cases)
        planned = self.store.trials.count()
        self.progress.begin("judge", planned, done=planned - len(pending))
        bench = judging.Bench(
            builder=self.builder,
            store=self.store,
            items=self.items,
            simulated=self.simulated,
            progress=self.progress,
            events=self.events,
            log=self.log,
            redact=self.redact,
            run_id=self.run_id,
            paid=lambda: self.gateway.ledger.paid,
            stopped=lambda: self.gateway.stopped,
        )
        self._remember(cases)
        await judging.judge_all(bench, pending)

    def _remember(self, cases: Sequence[Case] = ()) -> None:
        """Keep what a report needs of the suite."""
        tasks = tuple(loading_items.summarise(use.task, self.items[use.task.name]) for use in self.suite.tasks)
        reporting.remember(
            self.store,
            reporting.Summary(
                suite=self.suite.name,
                run_id=self.run_id,
                version=__version__,
                seed=self.suite.seed,
                level=self.suite.level,
                resamples=self.suite.resamples,
                tasks=tasks,
                judges=tuple(resolved.use.name for resolved in self.resolved.judges),
                simulated=tuple(sorted(self.simulated)),
                tests=(REFERENCE, *(test.use.name for test in self.resolved.tests)),
                components=self._components(),
                notes=tuple(self._not_put(cases)),
                reports=self._reports(),
            ),
        )

    def _reports(self) -> tuple[ComponentUsed, ...] | None:
        """Describe the reporters the suite names, so that the reports can be written again."""
        if self.suite.reports is None:
            return None
        return tuple(used("reporter", each, self.suite.base) for each in self.resolved.reporters)

    def _components(self) -> tuple[ComponentUsed, ...]:
        resolved, base = self.resolved, self.suite.base
        found = [used("data source", source, base) for source in resolved.sources]
        for test in resolved.tests:
            found += _used_by(test, base)
        found += [
            used("model", model, base, simulated=model.entry.spec.simulated) for model in resolved.models.values()
        ]
        found += [used("judge", judge, base, simulated=judge.use.name in self.simulated) for judge in resolved.judges]
        found += [used("metric", metric, base) for metric in resolved.metrics]
        refer: list[Resolved[Any]] = [*resolved.judges]
        for test in resolved.tests:
            refer += test.components
        return (*found, *parts_used(refer, base))

    def _not_put(self, cases: Sequence[Case]) -> Iterator[str]:
        """Say what of the suite does not apply."""
        for task in self.tasks.values():
            unfit = [test.use.name for test in self.resolved.tests if not is_made_for(test, task)]
            unfit += [judge.use.name for judge in self.resolved.judges if not applies(judge, task)]
            for name in unfit:
                yield f"'{name}' is not for {task.mode.value} tasks: not used on '{task.name}'"
        for judge in self.resolved.judges:
            of_its_tasks = [case for case in cases if applies(judge, self.tasks[case.task])]
            count = sum(not is_put(case, judge, self.tasks[case.task]) for case in of_its_tasks)
            if count:
                yield (
                    f"{count} cases change only how the question is asked; judge '{judge.use.name}' does not read "
                    "that and was not asked"
                )

    # -- the end -----------------------------------------------------------------------------------------------------

    def _finish(self, stop: StopRun | None) -> RunResult:
        report = self._report()
        written = reporting.Written(terminal="", files=(), problems=())
        if report is not None:
            written = reporting.write_reports(self.builder, report, self.run_dir, self.log)
        exit_code, message = conclude(stop, report, self.unfinished)
        complete = stop is None and report is not None and not report.missing_records and not self.unfinished
        reporting.note_end(self.store, Ended(exit_code=exit_code, message=message, complete=complete))
        ledger = self.gateway.ledger.spent()
        statuses = dict(Counter(report.records.text("status"))) if report and len(report.records) else {}
        self.log.info(
            "run finished", exit_code=exit_code, statuses=statuses, spent=to_json(ledger), unknown_calls=self.unknown
        )
        self.events.tell(
            "jrh_run_finished",
            RunFinished(
                run_id=self.run_id,
                run_dir=self.run_dir,
                exit_code=exit_code,
                records=len(report.records) if report else 0,
                planned=report.planned if report else 0,
                statuses={str(status): count for status, count in statuses.items()},
            ),
        )
        return RunResult(
            exit_code=exit_code,
            message=message,
            run_dir=self.run_dir,
            report=evolve(report, evidence=NoEvidence()) if report is not None else None,
            spent=ledger,
            unknown_calls=self.unknown,
            terminal=written.terminal,
            files=written.files,
            problems=written.problems,
            may_continue=asks_again(stop, report, self.unfinished),
        )

    def _report(self) -> RunReport | None:
        if not reporting.is_known(self.store):
            return None
        self.progress.begin("measure", None)
        records = reporting.read_records(self.store)
        tasks = [use.task for use in self.suite.tasks]
        measures, notes = measuring.stored_or_measured(
            self.store,
            measuring.stage_digest(self.builder, self.store, tasks),
            lambda: measuring.measure(
                self.builder,
                records,
                {task.name: task for task in tasks},
                self.log,
                items=self.items,
                evidence=StoredEvidence(store=self.store),
            ),
        )
        self.progress.end()
        return reporting.gather(self.store, reporting.recall(self.store), measures, notes, records)


def _parts(resolved: ResolvedSuite) -> Iterator[Resolved[Any]]:
    """Yield the components of a suite that may need a secret."""
    yield from resolved.sources
    yield from resolved.models.values()
    yield from resolved.judges
    for test in resolved.tests:
        yield from test.components


def _used_by(test: ResolvedTest, base: Path) -> Iterator[ComponentUsed]:
    """Describe what a test is made of; the steps of a chain are named with it."""
    for step in test.steps:
        prefix = f"{test.use.name}: " if test.use.steps else ""
        found = used("perturber", step.component, base)
        yield evolve(found, name=f"{prefix}{found.name}")
        for validator in step.validators:
            yield used("validator", validator, base)
    for validator in test.validators:
        yield used("validator", validator, base)
