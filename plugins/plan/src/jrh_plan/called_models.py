"""Which models a run would call: a few of its open questions are put to models that send nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from jrh import Case, JudgeKind, JudgeSpec, Task
from jrh.running import Builder, DryRun, questions_of, reference_cases
from jrh.suite import Resolved, tests_of

from jrh_plan.call_meter import Meter, Reading
from jrh_plan.draft_estimate import estimate_drafting, put_questions

_TRIED: Final = 3
"""Items or questions that are looked at to see whether stored replies answer them."""


async def called_models(dry: DryRun) -> Collection[str]:
    """Return the models that stored replies do not make superfluous.

    Raises:
        SuiteError: a budget in dollars cannot be held.
    """
    meter = Meter(known=dry.stored_reply)
    builder = dry.open_builder(meter.open)
    resolved, todo = dry.resolved, dry.left_to_do(builder)
    for task in (use.task for use in resolved.suite.tasks):
        for test in tests_of(resolved, task):
            if (task.name, test.use.name) in todo.tests and any(part.all_models for part in test.components):
                before = meter.asked.total()
                await estimate_drafting(builder, meter, test, task, dry.items[task.name][:_TRIED])
                if meter.asked.total() > before:
                    meter.asked.update(name for part in test.components for name in part.all_models)
    for judge in resolved.judges:
        if judge.use.name in todo.judges and judge.all_models:
            await _ask_judge(dry, builder, meter, judge)
    await _ask_for_stages(dry, builder, meter, todo.judges)
    meter.check_bounds(resolved)
    return [name for name in resolved.models if meter.asked[name]]


async def _ask_judge(dry: DryRun, builder: Builder, meter: Meter, judge: Resolved[JudgeSpec]) -> None:
    """Let a judge put a few of its open questions; one that needs all of them at once calls its models."""
    if judge.entry.spec.kind is not JudgeKind.SINGLE:
        meter.asked.update(judge.all_models)
        return
    meter.begin(Reading.QUESTIONS)
    for task in (use.task for use in dry.resolved.suite.tasks):
        if task.mode in judge.entry.spec.modes:
            await put_questions(builder, judge, task, _open_questions(dry, judge, task))


async def _ask_for_stages(dry: DryRun, builder: Builder, meter: Meter, open_judges: Collection[str]) -> None:
    """Count the models of stages: they are asked about verdicts to come, and about what is stored."""
    free = [judge.use.name for judge in dry.resolved.judges if not judge.all_models]
    for stage in dry.resolved.stages.values():
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
    pending: Sequence[Any] = dry.store.trials.pending(judge.use.name)
    if not pending:  # there is no plan yet
        made = reference_cases(task, dry.items[task.name][:_TRIED], 1)
        return [(case, repeat) for case in made for repeat in range(dry.resolved.suite.reference_repeats)]
    some = [pending[place * (len(pending) - 1) // _TRIED] for place in range(_TRIED + 1)]
    cases = dry.store.cases.by_id([trial.case_id for trial in some])
    chosen = [(cases[trial.case_id], trial.occasion) for trial in some if trial.case_id in cases]
    return [(case, occasion) for case, occasion in chosen if case.task == task.name]
