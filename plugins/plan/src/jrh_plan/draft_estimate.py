"""Estimate what drafting a test would cost: its perturbers and validators are run with replies that are made up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

from attrs import evolve, frozen
from jrh import Case, Changes, Draft, Item, JudgeSpec, Question, Scope, Skip, Task, ValidatorSpec
from jrh.errors import RAISED
from jrh.plugins import CountsCalls
from jrh.running import Builder, reference_cases, select_items
from jrh.suite import Resolved, ResolvedTest, Step

from jrh_plan.call_meter import Amount, Meter, Reading, amount
from jrh_plan.trial_counts import Computed

T = TypeVar("T")
MOST_ITEMS: Final = 200
"""Items that are really treated; the calls of more items are estimated from these."""
_RAISED: Final = "plugin error"
GROWTH: Final = 2
"""A written text is at most so many times as long as the old one."""


@frozen(kw_only=True)
class Drafting:
    """What drafting one test over one task would take."""

    spending: tuple[tuple[str, str, Amount], ...] = ()
    """Role, component and amount."""
    cases: Sequence[Case] = ()
    """Cases at most; those that a model has yet to write are the items as they are."""
    estimated: bool = False
    """The cases are not known yet."""
    nothing: str = ""
    """Why there will be no case; empty if there may be."""


def spread(values: Sequence[T], most: int) -> Sequence[T]:
    """Return at most so many values, evenly spread over all."""
    if len(values) <= most:
        return values
    return [values[position * len(values) // most] for position in range(most)]


async def put_questions(
    builder: Builder, judge: Resolved[JudgeSpec], task: Task, trials: Sequence[tuple[Case, int]]
) -> None:
    """Let a judge put questions, cases with occasions, to models that send nothing."""
    async with builder.open_judge(judge, task) as built:
        for case, occasion in trials:
            question = Question(
                trial_id=case.id,
                task=case.presented_task or task,
                fields=case.fields,
                prompt=case.prompt,
                sampling=case.sampling,
                occasion=occasion,
            )
            with suppress(*RAISED):  # a judge may not expect a reply that is made up
                await built.judge(question)


async def estimate_drafting(
    builder: Builder, meter: Meter, test: ResolvedTest, task: Task, items: Sequence[Item]
) -> Drafting:
    """Estimate the calls and the cases of a test that asks models."""
    chosen = select_items(items, test.use)
    some = spread(chosen, MOST_ITEMS)
    # Calls grow with the items: those of the sample are scaled to all.
    scale = len(chosen) / len(some) if some else 0.0
    shown: list[tuple[Item, Draft | None]] = [(item, None) for item in some]
    spending: list[tuple[str, str, Amount]] = []
    reasons: Counter[str] = Counter()
    for number, step in enumerate(test.steps):
        shown, spent = await _step(builder, meter, step, task, shown, reasons, first=number == 0)
        spending += spent
    spending += await _validation(builder, meter, test.validators, task, shown)
    cases = reference_cases(task, [item for item, _ in shown], 1)
    drafts = [draft for _, draft in shown]
    drafted = [_case(case, draft, test, place) for place, (case, draft) in enumerate(zip(cases, drafts, strict=True))]
    return Drafting(
        spending=tuple((role, name, spent.times(scale)) for role, name, spent in spending),
        cases=drafted if scale <= 1.0 else _repeat_cases(drafted, round(len(drafted) * scale)),
        nothing="" if shown else ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(3)),
    )


async def _step(
    builder: Builder,
    meter: Meter,
    step: Step,
    task: Task,
    shown: Sequence[tuple[Item, Draft | None]],
    reasons: Counter[str],
    *,
    first: bool,
) -> tuple[list[tuple[Item, Draft | None]], list[tuple[str, str, Amount]]]:
    """Return what a step may make of every item, None for a text that is not known, and what it costs."""
    items = [item for item, _ in shown]
    distinct = list({item.id: item for item in items}.values())
    # A step sees each item once; drafts of an earlier step multiply what it costs.
    times = len(items) / len(distinct) if distinct else 0.0
    meter.begin(Reading.FIRST)
    if step.component.all_models:
        await _treat(builder, step, task, distinct, meter)
    least = meter.total()
    meter.begin(Reading.UNREADABLE)
    outcomes = await _treat(builder, step, task, distinct, meter)
    most = _most_calls(builder, step, task, distinct, meter)
    drafts = [
        (item, outcome if isinstance(outcome, Draft) else None)
        for item in items
        for outcome, was_asked in outcomes[item.id]
        if isinstance(outcome, Draft) or was_asked
    ]
    skips = [outcome for treated in outcomes.values() for outcome, was_asked in treated if not was_asked]
    reasons.update(skip.reason for skip in skips if isinstance(skip, Skip))
    # What a later step gets depends on replies that are not there yet: its fewest calls are none.
    low = least if first else Amount()
    spent = evolve(most.times(times), low=low.low, cost_low=low.cost_low)
    spending = [("writer", step.use.name, spent)] if spent.high else []
    validation = await _validation(builder, meter, step.validators, task, drafts)
    return drafts, [*spending, *validation]


async def _treat(
    builder: Builder, step: Step, task: Task, items: Sequence[Item], meter: Meter
) -> dict[str, list[tuple[Draft | Skip, bool]]]:
    """Return the outcomes of every item, each with whether a model was asked for it."""
    perturber = builder.build(step.component, task, seed_name=step.component.entry.spec.name)
    outcomes: dict[str, list[tuple[Draft | Skip, bool]]] = {item.id: [] for item in items}
    if step.component.entry.spec.scope is Scope.SET:
        # Perturbers of sets are asked for all items at once: which of them was asked for which item is not known.
        before = meter.asked.total()
        results = await _result_or(perturber.perturb_set(items), [(item, Skip(reason=_RAISED)) for item in items])
        was_asked = meter.asked.total() > before
        for item, outcome in results:
            if item.id in outcomes:
                outcomes[item.id].append((outcome, was_asked))
        return outcomes
    for item in items:
        before = meter.asked.total()
        results = await _result_or(perturber.perturb(item), [Skip(reason=_RAISED)])
        was_asked = meter.asked.total() > before
        outcomes[item.id] = [(outcome, was_asked) for outcome in results]
    return outcomes


async def _result_or(work: Awaitable[Any], instead: Any) -> Any:
    """Return what a component makes of replies that are made up, or `instead` if it does not expect them."""
    try:
        return await work
    except RAISED:
        return instead


def _most_calls(builder: Builder, step: Step, task: Task, items: Sequence[Item], meter: Meter) -> Amount:
    """Return the most calls: those counted, or those that the perturber declares, with its longest prompts."""
    perturber = builder.build(step.component, task, seed_name=step.component.entry.spec.name)
    # Such a perturber knows how many calls it makes at most; replies that are made up may end it before that.
    if not isinstance(perturber, CountsCalls) or not meter.total().high:
        return meter.total()
    total = Amount()
    for name, calls in perturber.most_calls(items).items():
        builder.model(name)
        use, model = meter.opened[name]
        meter.asked[name] += calls
        total += amount(use, model, 0, GROWTH * meter.longest, use.sampling.max_tokens).times(calls)
    return total


async def _validation(
    builder: Builder,
    meter: Meter,
    validators: Sequence[Resolved[ValidatorSpec]],
    task: Task,
    drafts: Sequence[tuple[Item, Draft | None]],
) -> list[tuple[str, str, Amount]]:
    """Return what validating the drafts costs; one that a model has yet to write may never come to be validated."""
    spending = []
    pairs = [(item, draft or _stand_in(item, place)) for place, (item, draft) in enumerate(drafts)]
    # A draft that is not written yet may be rejected before it comes to be validated.
    certain = all(draft is not None for _, draft in drafts)
    for place, resolved in enumerate(validators):
        if not resolved.all_models:
            certain = False
            continue
        least = Amount()
        if certain and place == 0:
            meter.begin(Reading.FIRST)
            await _ask(builder.build(resolved, task), resolved, pairs)
            least = meter.total()
        meter.begin(Reading.UNREADABLE)
        await _ask(builder.build(resolved, task), resolved, pairs)
        # A written text may be longer than its stand-in, which costs more tokens and no more calls.
        growth = 1 if certain else GROWTH
        most = meter.total().times(growth)
        most = evolve(most, high=round(most.high / growth), unpriced=round(most.unpriced / growth))
        if most.high:
            spending.append(("validator", resolved.use.name, evolve(most, low=least.low, cost_low=least.cost_low)))
        certain = False
    return spending


def _stand_in(item: Item, place: int) -> Draft:
    """Return a placeholder for a draft that is not written yet, with a text of its own, as a written one has."""
    fields = {name: f"{value} [{place}]" for name, value in item.fields.items() if isinstance(value, str)}
    return Draft(fields=fields, expectation=Changes())


async def _ask(validator: Any, resolved: Resolved[ValidatorSpec], pairs: Sequence[tuple[Item, Draft]]) -> None:
    if resolved.entry.spec.scope is Scope.SET:
        await _result_or(validator.validate_set(pairs), None)
        return
    for pair in pairs:
        await _result_or(validator.validate(*pair), None)


def _case(case: Case, draft: Draft | None, test: ResolvedTest, place: int) -> Case:
    """Return the case of a draft; its id only has to differ from the others'."""
    case = evolve(case, id=f"{case.id}:{test.use.name}:{place}", test=test.use.name)
    if draft is None:
        return evolve(case, repeats=test.use.repeats or 1)
    return evolve(
        case,
        fields={**case.fields, **draft.fields},
        prompt=draft.prompt,
        presented_task=draft.task,
        sampling=draft.sampling,
        repeats=test.use.repeats or draft.repeats,
    )


def _repeat_cases(cases: Sequence[Case], count: int) -> Sequence[Case]:
    """Return the cases of a sample again and again, so that there are as many as the whole has."""

    def make(place: int) -> Case:
        case = cases[place % len(cases)]
        return evolve(case, id=f"{case.id}:{place}")

    return Computed(count, make)
