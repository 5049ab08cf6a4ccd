"""What a run would do, before anything is spent: cases, calls, tokens and cost per judge and test."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from attrs import define, frozen

from jrh.errors import EmptyStoreError
from jrh.models.client import rates_of
from jrh.models.ledger import estimate_prompt_tokens
from jrh.models.stand_in import StandIn
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import ChatModel, ChatRequest, Rates
from jrh.plugins.specs import JudgeKind, JudgeSpec
from jrh.running.building import Builder, close
from jrh.running.component_changes import changes
from jrh.running.judge_models import shared_families
from jrh.running.progress import Silent
from jrh.running.run_log import Quiet
from jrh.running.schedule import is_put, judge_ids, trial_id
from jrh.running.stages import load as loading_items
from jrh.running.stages import perturb as perturbing
from jrh.store.database import FILENAME
from jrh.store.items_table import items_id
from jrh.store.run_store import Store
from jrh.suite.definition import ModelUse
from jrh.suite.resolved import Resolved, ResolvedSuite, ResolvedTest, applies, references, tests_of
from jrh.values.clusters import clusters_of
from jrh.values.types import REFERENCE, Case, Item, Question, Reply, Status, Task

SAMPLE: Final = 25
"""Questions per judge and test whose prompts are really written to estimate tokens."""
USUAL_OUTPUT: Final = 300
"""Tokens assumed for a reply where the model has no `max_tokens`."""


@frozen(kw_only=True)
class PlanLine:
    """What one judge would do for one test."""

    judge: str
    task: str
    test: str
    items: int
    """Distinct items of the cases."""
    clusters: int
    """Clusters of these items: the unit that intervals rest on."""
    cases: int
    estimated: bool
    """The cases are written by a model and not known yet: one per item is assumed."""
    trials: int
    calls: int
    """Model calls at most; replies in the cache and in the run directory cost nothing."""
    prompt_tokens: int
    """Estimated from a sample of prompts, four characters a token."""
    output_tokens: int
    """At most: `max_tokens`, or 300 a reply where the model has none."""
    cost: float | None
    """US dollars for these tokens; None where the price is unknown."""


@frozen(kw_only=True)
class Plan:
    """What a run would do."""

    lines: tuple[PlanLine, ...]
    generated: tuple[str, ...]
    """Tests whose cases are written or validated by a model; these calls come on top."""
    changes: tuple[str, ...] = ()
    """What changed in the components since the run directory was written; one sentence each."""
    shared: tuple[str, ...] = ()
    """What judges share with the gold labels, and with the authors of what they judge, a sentence each."""

    @property
    def calls(self) -> int:
        """Return the model calls at most."""
        return sum(line.calls for line in self.lines)

    @property
    def cost(self) -> float | None:
        """Return the US dollars at most, None where a price is unknown."""
        costs = [line.cost for line in self.lines if line.calls]
        return None if any(cost is None for cost in costs) else sum(cost or 0.0 for cost in costs)


@define
class _Meter:
    """What the planned calls add up to."""

    calls: int = 0
    prompt: int = 0
    output: int = 0
    cost: float | None = 0.0

    def count(self, use: ModelUse, model: ChatModel, request: ChatRequest) -> Reply:
        """Count a request, and answer nothing."""
        prompt = estimate_prompt_tokens(request)
        output = request.sampling.max_tokens or USUAL_OUTPUT
        self.calls += 1
        self.prompt += prompt
        self.output += output
        cost = _cost(rates_of(use, model), prompt, output)
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        return Reply(status=Status.PROVIDER_ERROR, detail="planned only")


def _cost(rates: Rates | None, prompt: int, output: int) -> float | None:
    return None if rates is None else prompt * rates.input + output * rates.output


def make_plan(resolved: ResolvedSuite, loaded: Loaded, run_dir: Path) -> Plan:
    """Say what a run in this directory would do; nothing is asked and nothing is written.

    Raises:
        JrhError: the data or a component cannot be used.
    """
    return asyncio.run(_Planning(resolved, loaded, run_dir).plan())


class _Planning:
    def __init__(self, resolved: ResolvedSuite, loaded: Loaded, run_dir: Path) -> None:
        self.resolved = resolved
        self.meter = _Meter()
        self.builder = Builder(
            resolved,
            loaded.plugins,
            Quiet,
            lambda use, model: StandIn(use, model, self.meter.count),
        )
        self.items: dict[str, tuple[Item, ...]] = {}
        self.run_dir = run_dir
        self.store = _earlier_run(run_dir)
        self.lasting = self.store.trials.lasting() if self.store is not None else frozenset()

    async def plan(self) -> Plan:
        try:
            self.items = loading_items.read(self.builder)
            self.clusters = {task: clusters_of(items) for task, items in self.items.items()}
            items_ids = {task: items_id(items) for task, items in self.items.items()}
            self.judge_ids = judge_ids(self.resolved, items_ids)
            changed = changes(self.store, self.resolved, items_ids, self.run_dir) if self.store is not None else ()
            lines = [line for use in self.resolved.suite.tasks for line in await self._task(use.task)]
        finally:
            if self.store is not None:
                self.store.close()
        generated = dict.fromkeys(test.use.name for test in self.resolved.tests if _asks(test))
        shared = tuple(dict.fromkeys(shared_families(self.resolved, self.items)))
        return Plan(lines=tuple(lines), generated=tuple(generated), changes=changed, shared=shared)

    async def _task(self, task: Task) -> list[PlanLine]:
        items = self.items[task.name]
        tests: list[tuple[str, Sequence[Case], bool]] = [
            (REFERENCE, perturbing.reference_cases(task, items, self.resolved.suite.reference_repeats), False)
        ]
        tests += [(test.use.name, *await self._cases(test, task, items)) for test in tests_of(self.resolved, task)]
        return [
            await self._line(judge, task, name, cases, estimated)
            for judge in self.resolved.judges
            if applies(judge, task)
            for name, cases, estimated in tests
        ]

    async def _cases(self, test: ResolvedTest, task: Task, items: Sequence[Item]) -> tuple[Sequence[Case], bool]:
        """Return the cases of a test, and whether they are a guess."""
        digest = perturbing.stage_digest(self.builder, test, task, items_id(items))
        if self.store is not None and self.store.cases.digest(task.name, test.use.name) == digest:
            return self.store.cases.read(task.name, test.use.name), False
        if _asks(test):
            return perturbing.reference_cases(task, items, test.use.repeats or 1), True
        made = await perturbing.perturb(self.builder, test, task, items, Silent(), Quiet())
        return made.cases, False

    async def _line(
        self, resolved: Resolved[JudgeSpec], task: Task, test: str, cases: Sequence[Case], estimated: bool
    ) -> PlanLine:
        put = [case for case in cases if is_put(case, resolved, task)]
        trials = sum(case.repeats for case in put)
        done = self._done(resolved, put)
        meter = await self._measure(resolved, task, put)
        asked = min(len(put), SAMPLE)
        share = (trials - done) / asked if asked else 0.0
        items = frozenset(case.item_id for case in put)
        return PlanLine(
            judge=resolved.use.name,
            task=task.name,
            test=test,
            items=len(items),
            clusters=len({self.clusters[task.name][item] for item in items}),
            cases=len(put),
            estimated=estimated,
            trials=trials,
            calls=round(meter.calls * share),
            prompt_tokens=round(meter.prompt * share),
            output_tokens=round(meter.output * share),
            cost=None if meter.cost is None else meter.cost * share,
        )

    def _done(self, resolved: Resolved[JudgeSpec], cases: Sequence[Case]) -> int:
        """Count the trials that have a lasting record in the run directory already."""
        judge_id = next(each for judge, each in self.judge_ids if judge is resolved)
        trials = (trial_id(case.id, judge_id, repeat) for case in cases for repeat in range(case.repeats))
        return sum(trial in self.lasting for trial in trials)

    async def _measure(self, resolved: Resolved[JudgeSpec], task: Task, cases: Sequence[Case]) -> _Meter:
        """Let the judge put a sample of its questions to the counting model."""
        asks_models = any(kind == "model" for kind, _ in references(resolved.options))
        self.meter.calls = self.meter.prompt = self.meter.output = 0
        self.meter.cost = 0.0
        judge: Any = self.builder.build(resolved, task)
        if asks_models and resolved.entry.spec.kind is JudgeKind.SINGLE:
            try:
                for case in spread(cases, SAMPLE):
                    await judge.judge(_question(case, task))
            finally:
                await close(judge, resolved.use.name, Quiet())
        return _Meter(self.meter.calls, self.meter.prompt, self.meter.output, self.meter.cost)


def _earlier_run(run_dir: Path) -> Store | None:
    if not (run_dir / FILENAME).is_file():
        return None
    try:
        return Store.view(run_dir)
    except EmptyStoreError:
        return None


def spread(cases: Sequence[Case], most: int) -> list[Case]:
    """Return at most so many cases, evenly spread over all."""
    if len(cases) <= most:
        return list(cases)
    return [cases[position * len(cases) // most] for position in range(most)]


def _question(case: Case, task: Task) -> Question:
    return Question(
        trial_id=case.id,
        task=case.presented_task or task,
        fields=case.fields,
        prompt=case.prompt,
        sampling=case.sampling,
    )


def _asks(test: ResolvedTest) -> bool:
    """Tell whether a model writes or validates the test's cases."""
    return any(kind == "model" for part in test.components for kind, _ in references(part.options))
