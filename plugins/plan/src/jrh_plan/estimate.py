"""What a run would do, before anything is spent: cases, calls and a range of costs per component, task and test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve, frozen
from jrh import REFERENCE, Case, Item, JudgeKind, JudgeSpec, Task
from jrh.running import (
    PROBE,
    Builder,
    DryRun,
    changes,
    is_probed,
    judge_ids,
    make_cases,
    open_dry_run,
    questions_of,
    reference_cases,
    run_to_end,
    select_items,
)
from jrh.suite import Resolved, ResolvedTest, applies, judge_models, tests_of
from jrh.text import count_noun
from jrh.values import CRITERION_FIELD, TOGETHER_FIELD, clusters_of
from jrh_measuring import CHANGE_DUE, GateOptions, same_families
from jrh_measuring.named_variants import check_variants

from jrh_plan.call_meter import Amount, Meter, Reading, amount
from jrh_plan.draft_estimate import GROWTH, Drafting, estimate_drafting, put_questions, spread
from jrh_plan.trial_counts import count_trials

if TYPE_CHECKING:
    from jrh.running import RunRequest
    from jrh.suite import ResolvedSuite

_TRIED: Final = 3
"""Items or questions that are looked at to see whether stored replies answer them."""


async def _ask_judge(dry: DryRun, builder: Builder, meter: Meter, judge: Resolved[JudgeSpec]) -> None:
    """Let a judge put a few of its open questions; one that needs all of them at once calls its models."""
    # Such a judge sees all its questions at once, of which a few say nothing.
    if judge.entry.spec.kind is not JudgeKind.SINGLE:
        meter.asked.update(judge.all_models)
        return
    meter.begin(Reading.QUESTIONS)
    for task in (use.task for use in dry.request.resolved.suite.tasks):
        if task.mode in judge.entry.spec.modes:
            await put_questions(builder, judge, task, _open_questions(dry, judge, task))


async def _ask_for_stages(dry: DryRun, builder: Builder, meter: Meter, open_judges: Collection[str]) -> None:
    """Count the models of stages: they are asked about verdicts to come, and about what is stored."""
    free = [judge.use.name for judge in dry.request.resolved.judges if not judge.all_models]
    for stage in dry.request.resolved.stages.values():
        questions = list(questions_of(builder, dry.store, stage)) if stage.all_models else []
        if not questions and not (stage.all_models and open_judges):
            continue  # what is finished needs no key
        if any(meter.asked.values()) or any(judge in open_judges for judge in free):
            meter.asked.update(stage.all_models)
        for question in questions:
            await builder.model(question.model).ask(question.request)


def _open_questions(dry: DryRun, judge: Resolved[JudgeSpec], task: Task) -> Sequence[tuple[Case, int]]:
    """Return questions of a judge that have no verdict, at the start, in the middle and at the end of the plan."""
    assert dry.store is not None
    pending: Sequence[Any] = dry.store.trials.trials_to_run(judge.use.name)
    if not pending:  # there is no plan yet
        examples = reference_cases(task, dry.items[task.name][:_TRIED], 1)
        return [(case, repeat) for case in examples for repeat in range(dry.request.resolved.suite.reference_repeats)]
    # Start, middle and end: a run that was stopped has answered the start.
    some = [pending[place * (len(pending) - 1) // _TRIED] for place in range(_TRIED + 1)]
    cases = dry.store.cases.by_id([trial.case_id for trial in some])
    chosen = [(cases[trial.case_id], trial.occasion) for trial in some if trial.case_id in cases]
    return [(case, occasion) for case, occasion in chosen if case.task == task.name]


SAMPLE: Final = 25
"""Questions per judge and test whose prompts are really written to estimate tokens."""
FEW: Final = 0.6
"""Share of the items below which a test by rules is said to need a model."""
_PROBE_TOKENS: Final = 32
"""Tokens of what the preflight asks, at most."""


@frozen(kw_only=True)
class PlanLine:
    """What one component would do for one test."""

    role: str
    """`writer`, `validator`, `judge`, `grader` or `preflight`."""
    name: str
    """The suite's name of the component."""
    task: str = ""
    test: str = ""
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
    models_needed: tuple[str, ...] = ()
    """Which tests change few items by rules, and the line that lets a model write; a sentence each."""
    changes: tuple[str, ...] = ()
    """What changed in the components since the run directory was written; one sentence each."""
    stages: tuple[str, ...] = ()
    """What declared stages add to the run, and what may end it early, a sentence each."""
    shared: tuple[str, ...] = ()
    """What judges share with the gold labels, and with the authors of what they judge, a sentence each."""
    level: float = 0.95
    """Coverage of the suite's intervals."""
    rules: tuple[str, ...] = ()
    """The suite's rules for a gate."""
    rates: frozenset[str] = frozenset()
    """The measures of the suite's metrics that are rates."""
    compared: frozenset[str] = frozenset()
    """Those that compare a test with the reference condition, and have no value there."""

    @property
    def total(self) -> Amount:
        """Return the sum over all lines."""
        return sum((line.amount for line in self.lines), Amount())


class Estimator:
    """Estimates what runs cost (`jrh.running.CostEstimator`)."""

    def estimate(self, request: RunRequest) -> Amount:
        """Return the sum of the plan."""
        return make_plan(request).total

    async def models_to_call(self, dry: DryRun) -> Collection[str]:
        """Return the models that stored replies do not make superfluous.

        Raises:
            SuiteError: a budget in dollars cannot be held.
        """
        meter = Meter(known=dry.stored_reply)
        builder = dry.open_builder(meter.open)
        resolved, todo = dry.request.resolved, dry.work_left(builder)
        for task in (use.task for use in resolved.suite.tasks):
            for test in tests_of(resolved, task):
                if (task.name, test.use.name) in todo.tests and any(part.all_models for part in test.components):
                    before = meter.asked.total()
                    await estimate_drafting(builder, meter, test, task, dry.items[task.name][:_TRIED])
                    if meter.asked.total() > before:
                        # Replies that are made up end a chain of calls early, so every model of the test may be called.
                        meter.asked.update(name for part in test.components for name in part.all_models)
        for judge in resolved.judges:
            if judge.use.name in todo.judges and judge.all_models:
                await _ask_judge(dry, builder, meter, judge)
        await _ask_for_stages(dry, builder, meter, todo.judges)
        meter.check_bounds(resolved)
        return [name for name in resolved.models if meter.asked[name]]


def _models_needed(
    resolved: ResolvedSuite, test: ResolvedTest, task: Task, items: Sequence[Item], drafting: Drafting
) -> Iterator[str]:
    """Say which variants rules make of few items, where the test's option `model` lets a model write."""
    options = test.steps[0].component.options
    if len(test.steps) > 1 or drafting.estimated or getattr(options, "model", "") is not None:
        return
    declared = getattr(options, "variants", ())
    reached: dict[str, set[str]] = {variant.value: set() for variant in declared}
    # Where no variants are declared, as for planted errors, a change need not suit every item.
    for case in drafting.cases if declared else ():
        reached.setdefault(case.condition.variant, set()).add(case.item_id)
    chosen = len(select_items(items, test.use))
    name = next(iter(resolved.models), "NAME")
    add = f"Add `model: {name}` to the test" + ("" if resolved.models else ", and a model of this name to `models`")
    few = [f"{len(ids):,} ({variant})" for variant, ids in reached.items() if len(ids) < FEW * chosen]
    if few:
        changed = f"rules change {', '.join(few)} of {chosen:,} items"
        yield f"Test '{test.use.name}' needs a model on task '{task.name}': {changed}. {add}"


def make_plan(request: RunRequest) -> Plan:
    """Say what a run would do; nothing is asked and nothing is written, and no key is needed.

    Raises:
        JrhError: as a run would: the data, a component or the run directory cannot be used.
    """

    async def plan() -> Plan:
        with open_dry_run(request) as dry:
            return await _Planning(dry, request.settings.preflight).plan()

    return run_to_end(plan)


class _Planning:
    def __init__(self, dry: DryRun, preflight: bool) -> None:
        self.dry = dry
        self.resolved = dry.request.resolved
        self.preflight = preflight
        self.meter = Meter(known=dry.stored_reply)
        self.builder = dry.open_builder(self.meter.open)
        self.nothing = list(dry.remarks)
        self.models_needed: list[str] = []
        self.clusters = {task: clusters_of(items) for task, items in dry.items.items()}
        self.tasks = {use.task.name: use.task for use in self.resolved.suite.tasks}

    async def plan(self) -> Plan:
        dry, earlier = self.dry, self.dry.store
        changed = changes(earlier, self.resolved, dry.items_ids, dry.request.run_dir) if earlier is not None else ()
        lines = await self._lines()
        self.meter.check_bounds(self.resolved)
        measures = [measure for metric in self.resolved.metrics for measure in metric.entry.spec.measures]
        return Plan(
            lines=(*lines, *self._preflight(lines)),
            nothing=tuple(self.nothing),
            models_needed=tuple(self.models_needed),
            changes=changed,
            stages=(*self.dry.stage_notes(self.builder, lines), *self._early_end()),
            shared=tuple(dict.fromkeys(_family_warnings(self.resolved, self.dry.items))),
            level=self.resolved.suite.level,
            rules=self._gate_rules(),
            rates=frozenset(name for metric in self.resolved.metrics for name in metric.entry.spec.rates),
            compared=frozenset(measure.name for measure in measures if CHANGE_DUE in measure.flags),
        )

    def _early_end(self) -> Iterator[str]:
        allocator = self.resolved.allocator
        if allocator is not None:
            most = "the numbers are the most there can be, all judges and all batches"
            yield f"Allocator '{allocator.use.name}' may end the judging early: {most}"
            sizes = {
                task: [*Counter(self.clusters[task][item.id] for item in items).values()]
                for task, items in self.dry.items.items()
            }
            # Optional: few allocators can know how soon they would decide.
            foresee = getattr(allocator.options, "foresee", lambda *_: ())
            yield from foresee(sizes, len(self.resolved.judges))

    def _gate_rules(self) -> tuple[str, ...]:
        options = (stage.options for stage in self.resolved.stages.values())
        return next((stage_options.rules for stage_options in options if isinstance(stage_options, GateOptions)), ())

    async def _lines(self) -> list[PlanLine]:
        lines: list[PlanLine] = []
        cases: dict[tuple[str, str], Sequence[Case]] = {}
        estimated: set[tuple[str, str]] = set()
        for task in self.tasks.values():
            cases[task.name, REFERENCE] = reference_cases(
                task, self.dry.items[task.name], self.resolved.suite.reference_repeats
            )
            for test in tests_of(self.resolved, task):
                drafting = await self._draft(test, task, self.dry.items[task.name])
                self.models_needed += _models_needed(self.resolved, test, task, self.dry.items[task.name], drafting)
                # A test without cases is a sentence, not a line: a person has to see it before the run is paid for.
                if drafting.nothing:
                    self.nothing.append(f"Test '{test.use.name}' has no cases on task '{task.name}'{drafting.nothing}")
                    continue
                cases[task.name, test.use.name] = drafting.cases
                if drafting.estimated:
                    estimated.add((task.name, test.use.name))
                for role, name, spent in drafting.spending:
                    lines.append(PlanLine(role=role, name=name, task=task.name, test=test.use.name, amount=spent))
        cases = {key: self.dry.counted(self.builder, drafted) for key, drafted in cases.items()}

        def made(test: str) -> set[str] | None:
            own = [key for key in cases if key[1] == test]
            # What a model will write is known once the run has its cases.
            return None if estimated & {*own} else {case.condition.variant for key in own for case in cases[key]}

        check_variants(self.resolved.metrics, made)
        return lines + await self._judges(cases, estimated)

    async def _draft(self, test: ResolvedTest, task: Task, items: Sequence[Item]) -> Drafting:
        """Return the cases of a test with what drafting them costs."""
        stored = self.dry.find_cases(self.builder, test, task)
        if stored is not None:
            return Drafting(cases=stored, nothing="" if stored else f" ({self._count_lost_drafts(test, task)})")
        if any(part.all_models for part in test.components):
            drafting = await estimate_drafting(self.builder, self.meter, test, task, items)
            return evolve(drafting, nothing=drafting.nothing and f": {drafting.nothing}", estimated=True)
        cases, why, remarks = await make_cases(self.builder, test, task, items)
        self.nothing += remarks
        return Drafting(cases=cases, nothing=why and f": {why}")

    def _count_lost_drafts(self, test: ResolvedTest, task: Task) -> str:
        """Count what a test that made no case drafted, such as `2 of 2 drafts rejected`."""
        assert self.dry.store is not None
        states: Counter[str] = Counter()
        for line in self.dry.store.cases.count_drafts(task.name, test.use.name):
            states[line.state] += line.drafts
        skipped = states.pop("skipped", 0)
        drafted = states.total()
        parts = [f"{states['rejected']:,} of {count_noun(drafted, 'draft')} rejected"] if drafted else []
        parts += [f"{skipped:,} skipped"] if skipped else []
        return ", ".join(parts) or "no draft"

    async def _judges(
        self, cases: Mapping[tuple[str, str], Sequence[Case]], estimated: set[tuple[str, str]]
    ) -> list[PlanLine]:
        """Return a line for every judge and test, in the order of the suite."""
        judges = judge_ids(self.resolved, self.dry.items_ids)
        # As a run plans them, so that the plan and the run agree to the trial.
        trials = count_trials(self.dry, cases, judges, self.clusters)
        lines = []
        unjudged: Counter[tuple[str, str]] = Counter()
        for task in self.tasks.values():
            for judge in (judge for judge, _ in judges if applies(judge, task)):
                for key in (key for key in cases if key[0] == task.name):
                    trials_of_judge = trials[judge.use.name, key]
                    unjudged[key] += len(trials_of_judge.open)
                    spent = await self._questions(judge, task, trials_of_judge.open)
                    guess = key in estimated
                    lines.append(
                        PlanLine(
                            role="judge",
                            name=judge.use.name,
                            task=task.name,
                            test=key[1],
                            items=trials_of_judge.items,
                            clusters=trials_of_judge.clusters,
                            cases=trials_of_judge.cases,
                            estimated=guess,
                            trials=trials_of_judge.trials,
                            amount=_longer(spent).at_most() if guess else spent,
                        )
                    )
        return lines + await self._stages({key: some for key, some in cases.items() if some}, unjudged)

    async def _stages(
        self, cases: Mapping[tuple[str, str], Sequence[Case]], unjudged: Mapping[tuple[str, str], int]
    ) -> list[PlanLine]:
        """Return what stages would ask models about what is stored, and at most about verdicts to come."""
        first = {key: some[0] for key, some in cases.items()}
        spent: dict[tuple[tuple[str, str], str], Amount] = {}
        for stage in self.resolved.stages.values():
            built = self.builder.stage(stage.entry)
            for question in built.questions(self.builder, self.dry.store, first, unjudged):
                self.meter.begin(Reading.QUESTIONS)
                await self.builder.model(question.model).ask(question.request)
                once, key = self.meter.total(), ((question.task, question.test), question.name)
                most = once if question.most is None else once.at_most().times(question.most)
                spent[key] = spent.get(key, Amount()) + most
        places = list(cases)
        lines = sorted(spent.items(), key=lambda line: places.index(line[0][0]) if line[0][0] in cases else len(places))
        return [
            PlanLine(role="grader", name=name, task=place[0], test=place[1], amount=amount)
            for (place, name), amount in lines
            if amount.high and place in cases
        ]

    async def _questions(self, judge: Resolved[JudgeSpec], task: Task, left: Sequence[tuple[Case, int]]) -> Amount:
        """Let the judge put a sample of its questions to the counting model."""
        # Judges without models cost nothing, and those that see all questions at once cannot be sampled.
        if not left or not judge.all_models or judge.entry.spec.kind is not JudgeKind.SINGLE:
            return Amount()
        calls = distinct_calls(left) if task.criteria is not None else left
        some = spread(calls, SAMPLE)
        self.meter.begin(Reading.QUESTIONS)
        await put_questions(self.builder, judge, task, some)
        # Prompts of the sample are written out; their calls and tokens are scaled to all.
        return self.meter.total().times(len(calls) / len(some))

    def _preflight(self, lines: Sequence[PlanLine]) -> Iterator[PlanLine]:
        """Yield the preflight, one call for every model that may be called."""
        if not self.preflight or not any(line.amount.high for line in lines):
            return
        for name in sorted(self.meter.asked):
            if is_probed(self.resolved, name):
                # At most: a run that finds all replies stored probes no model.
                once = amount(*self.meter.opened[name], 0, _PROBE_TOKENS, PROBE.sampling.max_tokens)
                yield PlanLine(role="preflight", name=name, amount=once.at_most())


def _longer(asked: Amount) -> Amount:
    """Allow for texts that a model has yet to write."""
    return evolve(
        asked,
        cost_high=GROWTH * asked.cost_high,
        worst=GROWTH * asked.worst,
        prompt_high=GROWTH * asked.prompt_high,
    )


def distinct_calls(left: Sequence[tuple[Case, int]]) -> list[tuple[Case, int]]:
    """Return one question per call: criteria that are asked together share it."""
    calls: dict[tuple[object, ...], tuple[Case, int]] = {}
    for case, occasion in left:
        together = case.fields.get(TOGETHER_FIELD)
        fields = tuple(
            (name, str(value)) for name, value in case.fields.items() if name != CRITERION_FIELD or not together
        )
        calls.setdefault((fields, case.prompt, case.presented_task, case.test, occasion), (case, occasion))
    return list(calls.values())


def _family_warnings(resolved: ResolvedSuite, items: Mapping[str, Sequence[Item]]) -> Iterator[str]:
    """Yield a sentence per task and judge that shares a family with gold labels, or with authors of the responses."""
    models = judge_models(resolved)
    for task, some in items.items():
        for shared in same_families(some, models):
            yield f"Task '{task}', judge '{shared.judge}': {shared.sentence}"
