"""What a run would do, before anything is spent: cases, calls and a range of costs per component, task and test."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from jrh.errors import RAISED, EmptyStoreError
from jrh.models.payer import GRADER, JUDGE, PREFLIGHT
from jrh.plugins.loading import Loaded
from jrh.plugins.secrets import secrets_optional
from jrh.plugins.specs import JudgeKind, JudgeSpec
from jrh.running.building import Builder, close
from jrh.running.call_meter import Amount, Meter, Reading, amount
from jrh.running.component_changes import changes
from jrh.running.draft_estimate import GROWTH, Drafting, asks, estimate, spread
from jrh.running.empty_tests import lost_drafts
from jrh.running.event_loop import run_to_end
from jrh.running.judge_models import shared_families
from jrh.running.judged_gold import check_grading_judges
from jrh.running.outcome import Settings
from jrh.running.plan_counting import OpenTrial, count_asked, made_cases
from jrh.running.preflight import ASKED, PROMPT_TOKENS, checked
from jrh.running.prepare import check_components, priced
from jrh.running.progress import Noting
from jrh.running.run_log import Quiet
from jrh.running.schedule import judge_ids
from jrh.running.stages import load as loading_items
from jrh.running.stages import perturb as perturbing
from jrh.running.stages.rationales import longest, open_questions
from jrh.running.stages.reviewed import CountedCases
from jrh.running.stored_code import unchecked, with_stored_code
from jrh.store.cache import Cache
from jrh.store.database import FILENAME
from jrh.store.item_spool import spooled_as
from jrh.store.items_table import items_id
from jrh.store.run_store import Store
from jrh.suite.definition import Review, ReviewPolicy
from jrh.suite.resolved import Resolved, ResolvedSuite, ResolvedTest, applies, tests_of
from jrh.text.numbers import counted
from jrh.values.cases import REFERENCE, Case
from jrh.values.clusters import clusters_of
from jrh.values.criteria import CRITERION_FIELD, TOGETHER_FIELD
from jrh.values.item_blocks import in_small_parts
from jrh.values.items import Item, Task
from jrh.values.verdicts import Question

SAMPLE: Final = 25
"""Questions per judge and test whose prompts are really written to estimate tokens."""


@frozen(kw_only=True)
class PlanLine:
    """What one component would do for one test."""

    role: str
    """`writer`, `validator`, `judge`, `grader` or `preflight`."""
    name: str
    """The suite's name of the component."""
    task: str
    test: str
    items: int = 0
    """Distinct items of the cases."""
    clusters: int = 0
    """Clusters of these items: the unit that intervals rest on."""
    cases: int = 0
    """Cases at most, for a judge."""
    estimated: bool = False
    """The cases are written or validated by a model and not known yet: these are the most there can be."""
    trials: int = 0
    amount: Amount = Amount()
    """Model calls and their cost; replies in the cache and in the run directory cost nothing."""


@frozen(kw_only=True)
class Plan:
    """What a run would do."""

    lines: tuple[PlanLine, ...]
    nothing: tuple[str, ...] = ()
    """Why a test makes no case for a task, what its options ask of the items in vain, and what sources leave out; one
    sentence each."""
    changes: tuple[str, ...] = ()
    """What changed in the components since the run directory was written; one sentence each."""
    review: str = ""
    """Which cases people decide about before a judge is asked; empty where none."""
    shared: tuple[str, ...] = ()
    """What judges share with the gold labels, and with the authors of what they judge, a sentence each."""
    level: float = 0.95
    """Coverage of the suite's intervals."""
    rules: tuple[str, ...] = ()
    """The suite's rules for a gate."""
    rates: frozenset[str] = frozenset()
    """The measures of the suite's metrics that are rates."""

    @property
    def total(self) -> Amount:
        """Return the sum over all lines."""
        return sum((line.amount for line in self.lines), Amount())


def make_plan(resolved: ResolvedSuite, loaded: Loaded, run_dir: Path, settings: Settings = Settings()) -> Plan:  # noqa: B008
    """Say what a run in this directory would do; nothing is asked and nothing is written, and no key is needed.

    Raises:
        JrhError: as a run would: the data, a component or the run directory cannot be used.
    """
    with secrets_optional():
        resolved = with_stored_code(resolved, run_dir)
        check_grading_judges(resolved)
        # built where it works: what it opens (SQLite) belongs to one thread
        return run_to_end(lambda: _Planning(resolved, loaded, run_dir, settings).plan())


class _Planning:
    def __init__(self, resolved: ResolvedSuite, loaded: Loaded, run_dir: Path, settings: Settings) -> None:
        self.resolved = resolved
        self.settings = settings
        self.cache = Cache.view() if settings.use_cache else None
        self.run_dir = run_dir
        self.store = _earlier_run(run_dir)
        self.meter = Meter(known=self._known)
        opening = priced(resolved.suite.budget, self.meter.open)
        self.builder = Builder(resolved, loaded.plugins, Quiet, opening)
        self.nothing: list[str] = []
        self.clusters: dict[str, Mapping[str, str]] = {}

    def _known(self, key: str) -> str | None:
        found = self.store.calls.usable_reply(key) if self.store is not None else None
        return self.cache.get(key) if found is None and self.cache is not None else found

    async def plan(self) -> Plan:
        try:
            items = loading_items.read(self.builder, self.nothing.append)
            check_components(self.builder, self.store, items)
            self.clusters = {task: clusters_of(own) for task, own in items.items()}
            ids = {name: items_id(own) for name, own in items.items()}
            changed = changes(self.store, self.resolved, ids, self.run_dir) if self.store is not None else ()
            lines = await self._lines(items)
            self.meter.check_bounds(self.resolved)
        finally:
            for opened in (self.store, self.cache):
                if opened is not None:
                    opened.close()
        return Plan(
            lines=(*lines, *self._preflight(lines)),
            nothing=tuple(self.nothing),
            changes=(*unchecked(self.resolved), *changed),
            review=_review(self.resolved.suite.review, lines),
            shared=tuple(dict.fromkeys(shared_families(self.resolved, items))),
            level=self.resolved.suite.level,
            rules=self.resolved.suite.gate.rules,
            rates=frozenset(name for metric in self.resolved.metrics for name in metric.entry.spec.rates),
        )

    async def _lines(self, items: dict[str, Sequence[Item]]) -> list[PlanLine]:
        lines: list[PlanLine] = []
        cases: dict[tuple[str, str], Sequence[Case]] = {}
        estimated: set[tuple[str, str]] = set()
        for task in (use.task for use in self.resolved.suite.tasks):
            own = items[task.name]
            cases[task.name, REFERENCE] = spooled_as(Case, self._reference(task, own))
            for test in tests_of(self.resolved, task):
                drafting, guessed = await self._cases(test, task, own)
                if drafting.nothing:
                    self.nothing.append(f"Test '{test.use.name}' has no cases on task '{task.name}'{drafting.nothing}")
                    continue
                cases[task.name, test.use.name] = drafting.cases
                if guessed:
                    estimated.add((task.name, test.use.name))
                for role, name, spent in drafting.spending:
                    lines.append(PlanLine(role=role, name=name, task=task.name, test=test.use.name, amount=spent))
        if self.store is not None:
            tasks = {use.task.name: use.task for use in self.resolved.suite.tasks}
            review = self.resolved.suite.review
            if review is not None and review.policy is ReviewPolicy.WAIT:  # what waits now will be asked
                review = evolve(review, policy=ReviewPolicy.OPTIONAL)
            rule = CountedCases(self.store, tasks, review)
            if not rule.all_count:
                cases = {key: spooled_as(Case, filter(None, map(rule.of, made))) for key, made in cases.items()}
        return lines + await self._judges(cases, estimated, {name: items_id(own) for name, own in items.items()})

    def _reference(self, task: Task, items: Sequence[Item]) -> Iterator[Case]:
        for some in in_small_parts(items, perturbing.SLICE):
            yield from perturbing.reference_cases(task, some, self.resolved.suite.reference_repeats)

    async def _cases(self, test: ResolvedTest, task: Task, items: Sequence[Item]) -> tuple[Drafting, bool]:
        """Return the cases of a test with what drafting them costs, and whether they are a guess."""
        digest = perturbing.stage_digest(self.builder, test, task, items_id(items))
        if self.store is not None and self.store.cases.digest(task.name, test.use.name) == digest:
            found = spooled_as(Case, self.store.cases.iterate(task.name, test.use.name))
            return Drafting(cases=found, nothing="" if found else self._lost(task, test)), False
        if any(asks(part) for part in test.components):
            drafting = await estimate(self.builder, self.meter, test, task, items)
            return evolve(drafting, nothing=drafting.nothing and f": {drafting.nothing}"), True
        noting = Noting()
        made, why = await made_cases(self.builder, test, task, items, noting, Quiet())
        self.nothing += noting.said
        return Drafting(cases=made, nothing=why and f": {why}"), False

    def _lost(self, task: Task, test: ResolvedTest) -> str:
        """Say how many drafts were lost that are already made."""
        assert self.store is not None
        line = perturbing.attrition(self.store, task.name, test.use.name, 0)
        return f" ({lost_drafts(line)})"

    async def _judges(
        self, cases: dict[tuple[str, str], Sequence[Case]], estimated: set[tuple[str, str]], ids: dict[str, str]
    ) -> list[PlanLine]:
        """Return a line for every judge and test, in the order of the suite."""
        tasks = {use.task.name: use.task for use in self.resolved.suite.tasks}
        judges = judge_ids(self.resolved, ids)
        earlier = self.store.trials.occasions() if self.store is not None else iter(())
        lasting = self.store.trials.lasting if self.store is not None else _none
        counted = count_asked(cases, judges, tasks, self.clusters, earlier, lasting)
        self.meter.begin(Reading.QUESTIONS)
        lines = []
        unjudged: Counter[tuple[str, str]] = Counter()
        for task in tasks.values():
            for judge in (judge for judge, _ in judges if applies(judge, task)):
                for key in (key for key in cases if key[0] == task.name):
                    own = counted[judge.use.name, key]
                    unjudged[key] += len(own.left)
                    asked = await self._questions(judge, task, own.left)
                    guess = key in estimated
                    lines.append(
                        PlanLine(
                            role=JUDGE,
                            name=judge.use.name,
                            task=task.name,
                            test=key[1],
                            items=own.items.count,
                            clusters=own.clusters.count,
                            cases=own.cases,
                            estimated=guess,
                            trials=own.trials,
                            amount=_longer(asked).at_most() if guess else asked,
                        )
                    )
        return lines + await self._rationales({key: some for key, some in cases.items() if some}, unjudged)

    async def _rationales(
        self, cases: Mapping[tuple[str, str], Sequence[Case]], unjudged: Mapping[tuple[str, str], int]
    ) -> list[PlanLine]:
        """Return what reading rationales would cost: those in the run directory, and at most one per open trial."""
        metric = self.resolved.reading
        if metric is None:
            return []
        model = self.builder.model(self.resolved.suite.rationale_model or "")
        tasks = {use.task.name: use.task for use in self.resolved.suite.tasks}
        told = open_questions(self.builder, self.store) if self.store is not None else []
        lines = []
        for key, some in cases.items():
            self.meter.begin(Reading.QUESTIONS)
            for question in told:
                if (question.task, question.test) == key:
                    await model.ask(question.request)
            amount = self.meter.total()
            if unjudged[key]:
                self.meter.begin(Reading.QUESTIONS)
                await model.ask(self.builder.reader(metric).request(longest(some[0], tasks[key[0]])))
                amount += self.meter.total().at_most().times(unjudged[key])
            if amount.high:
                lines.append(PlanLine(role=GRADER, name=metric.use.name, task=key[0], test=key[1], amount=amount))
        return lines

    async def _questions(
        self, resolved: Resolved[JudgeSpec], task: Task, left: Sequence[tuple[Case, OpenTrial]]
    ) -> Amount:
        """Let the judge put a sample of its questions to the counting model."""
        if not left or not asks(resolved) or resolved.entry.spec.kind is not JudgeKind.SINGLE:
            return Amount()
        left = _calls(left) if task.criteria is not None else left
        some = spread(left, SAMPLE)
        self.meter.begin(Reading.QUESTIONS)
        judge: Any = self.builder.build(resolved, task)
        try:
            for case, trial in some:
                with suppress(*RAISED):  # a judge may not expect a reply that is made up
                    await judge.judge(_question(case, trial, task))
        finally:
            await close(judge, resolved.use.name, Quiet())
        return self.meter.total().times(len(left) / len(some))

    def _preflight(self, lines: Sequence[PlanLine]) -> Iterator[PlanLine]:
        """Yield the preflight, one call for every model that may be called."""
        if not self.settings.preflight or not any(line.amount.high for line in lines):
            return
        for name in sorted(self.meter.asked):
            use, model = self.meter.opened[name]
            if checked(self.resolved, name):
                once = amount(use, model, 0, PROMPT_TOKENS, ASKED.sampling.max_tokens)
                yield PlanLine(role=PREFLIGHT, name=name, task="", test="", amount=once.at_most())


def _none(trial_ids: Sequence[str]) -> frozenset[str]:  # noqa: ARG001
    return frozenset()


def _review(review: Review | None, lines: Iterable[PlanLine]) -> str:
    """Say how many cases people decide about."""
    if review is None:
        return ""
    of_tests = {(line.task, line.test): line for line in lines if line.role == JUDGE and line.test != REFERENCE}
    chosen = [line for line in of_tests.values() if not review.tests or line.test in review.tests]
    number = min(sum(line.cases for line in chosen), review.sample or sys.maxsize)
    about = "up to " if any(line.estimated for line in chosen) else ""
    who = "1 person decides" if review.reviewers == 1 else f"{review.reviewers} people decide"
    return (
        f"Review: {who} about each of {about}{counted(number, 'case')} before any judge is asked. The plan counts "
        "every case that is not rejected"
    )


def _longer(asked: Amount) -> Amount:
    """Allow for texts that a model has yet to write."""
    return evolve(
        asked,
        cost_high=GROWTH * asked.cost_high,
        worst=GROWTH * asked.worst,
        prompt_high=GROWTH * asked.prompt_high,
    )


def _earlier_run(run_dir: Path) -> Store | None:
    if not (run_dir / FILENAME).is_file():
        return None
    try:
        return Store.view(run_dir)
    except EmptyStoreError:
        return None


def _calls(left: Sequence[tuple[Case, OpenTrial]]) -> list[tuple[Case, OpenTrial]]:
    """Return one question per call: criteria that are asked together share it."""
    found: dict[tuple[Any, ...], tuple[Case, OpenTrial]] = {}
    for case, trial in left:
        together = case.fields.get(TOGETHER_FIELD)
        fields = tuple(
            (name, str(value)) for name, value in case.fields.items() if name != CRITERION_FIELD or not together
        )
        found.setdefault((fields, case.prompt, case.presented_task, case.test, trial.occasion), (case, trial))
    return list(found.values())


def _question(case: Case, trial: OpenTrial, task: Task) -> Question:
    return Question(
        trial_id=trial.trial_id,
        task=case.presented_task or task,
        fields=case.fields,
        prompt=case.prompt,
        sampling=case.sampling,
        occasion=trial.occasion,
    )
