"""Summarise a suite for its reports: tasks, components, and what does not apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from jrh.running.building import parts_used, used
from jrh.running.judge_models import judge_models
from jrh.running.prepare import Prepared
from jrh.running.stages import load as loading_items
from jrh.running.stages.summary import Summary, TestOfTask
from jrh.suite.resolved import Resolved, ResolvedSuite, ResolvedTest, applies, is_made_for, serves
from jrh.values.cases import REFERENCE
from jrh.values.report import ComponentUsed
from jrh.version import __version__


def summarise(ready: Prepared) -> Summary:
    """Describe the suite of a run and its items."""
    resolved, suite = ready.resolved, ready.suite
    return Summary(
        suite=suite.name,
        run_id=ready.run_id,
        version=__version__,
        seed=suite.seed,
        level=suite.level,
        resamples=suite.resamples,
        tasks=tuple(loading_items.summarise(use.task, ready.items[use.task.name]) for use in suite.tasks),
        judges=tuple(judge.use.name for judge in resolved.judges),
        simulated=tuple(sorted(ready.simulated)),
        tests=(REFERENCE, *dict.fromkeys(test.use.name for test in resolved.tests)),
        tests_of_tasks=tuple(_tests_of_tasks(resolved)),
        components=_components(resolved, ready.simulated),
        notes=tuple(_unfit(resolved)),
        reports=_reports(resolved),
        findings=suite.findings,
        models=judge_models(resolved),
        flags=tuple(ready.loaded.plugins.declared_flags().values()),
    )


def _tests_of_tasks(resolved: ResolvedSuite) -> Iterator[TestOfTask]:
    for task in (use.task for use in resolved.suite.tasks):
        for test in resolved.tests:
            if serves(test.use, task):
                yield TestOfTask(
                    task=task.name,
                    test=test.use.name,
                    applies=is_made_for(test, task),
                    allow_empty=test.use.allow_empty,
                    own_of=test.use.tasks or (),
                    validators=tuple(each.use.name for each in (*test.steps[0].validators, *test.validators)),
                )


def _components(resolved: ResolvedSuite, simulated: frozenset[str]) -> tuple[ComponentUsed, ...]:
    base = resolved.suite.base
    found = [used("data source", source, base) for source in resolved.sources]
    for test in resolved.tests:
        found += _used_by(test, base)
    found += [used("model", model, base, simulated=model.entry.spec.simulated) for model in resolved.models.values()]
    found += [used("judge", judge, base, simulated=judge.use.name in simulated) for judge in resolved.judges]
    found += [used("metric", metric, base) for metric in resolved.metrics]
    refer: list[Resolved[Any]] = [*resolved.judges]
    for test in resolved.tests:
        refer += test.components
    return (*found, *parts_used(refer, base))


def _used_by(test: ResolvedTest, base: Path) -> Iterator[ComponentUsed]:
    """Describe the components of a test; the steps of a chain carry the test's name, own tests that of their task."""
    for step in test.steps:
        prefix = f"{', '.join(test.use.tasks)}: " if test.use.tasks else ""
        prefix += f"{test.use.name}: " if test.use.steps else ""
        found = used("perturber", step.component, base)
        yield evolve(found, name=f"{prefix}{found.name}")
        for validator in step.validators:
            yield used("validator", validator, base)
    for validator in test.validators:
        yield used("validator", validator, base)


def _reports(resolved: ResolvedSuite) -> tuple[ComponentUsed, ...] | None:
    """Describe the reporters named by the suite, so that `jrh report` can use them again."""
    if resolved.suite.reports is None:
        return None
    return tuple(used("reporter", each, resolved.suite.base) for each in resolved.reporters)


def _unfit(resolved: ResolvedSuite) -> Iterator[str]:
    """Yield a note for each test and judge that does not apply to a task."""
    for task in (use.task for use in resolved.suite.tasks):
        own = [test for test in resolved.tests if serves(test.use, task)]
        unfit = [test.use.name for test in own if not is_made_for(test, task)]
        unfit += [judge.use.name for judge in resolved.judges if not applies(judge, task)]
        for name in unfit:
            yield f"'{name}' does not apply to {task.mode.value} tasks: skipped on '{task.name}'"


def notes_of_plan(resolved: ResolvedSuite, unseen: Mapping[str, int]) -> Iterator[str]:
    """Yield a note for each judge that skips cases because it does not read prompts; `unseen` counts them by judge."""
    for judge in resolved.judges:
        if count := unseen.get(judge.use.name, 0):
            yield (
                f"{count} cases change only the prompt; judge '{judge.use.name}' does not read "
                "prompts and was not asked"
            )
