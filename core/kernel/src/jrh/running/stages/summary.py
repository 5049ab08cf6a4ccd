"""What a run remembers of its suite, and everything it found, gathered from its store."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import Factory, evolve, frozen

from jrh.document.convert import from_text, to_json, to_text, unstructure
from jrh.errors import EmptyStoreError
from jrh.running.identity import describe_component, parts_used
from jrh.running.outcome import INTERRUPTED, Ended, RunState
from jrh.running.prepare import Prepared
from jrh.running.stages import load as loading_items
from jrh.store.run_store import Store
from jrh.suite.resolved import Resolved, ResolvedSuite, ResolvedTest, applies, is_made_for, judge_models, serves
from jrh.values.cases import REFERENCE
from jrh.values.events import RunFinished, RunStarted
from jrh.values.finding import FindingSettings
from jrh.values.measures import Flag
from jrh.values.report import ComponentUsed, RunReport, TaskSummary
from jrh.version import __version__

SUMMARY = "summary"
"""Key of the summary in the store."""
SECTIONS: Final = "sections"
"""Key of the sections that declared stages have in the suite."""
ENDED: Final = "ended"
"""Key of how the run ended; empty while it goes on."""
PLAN_NOTES: Final = "plan_notes"
"""Key of the notes on the plan."""
IMPORTED: Final = "imported"
"""Key of the mark that a run directory holds imported records."""


@frozen(kw_only=True)
class TestOfTask:
    """A test of the suite as one task has it."""

    # pytest would take the class for tests.
    __test__ = False

    task: str
    test: str
    applies: bool
    """The test is for tasks of this mode."""
    allow_empty: bool
    own_of: tuple[str, ...] = ()
    """The tasks whose own list has the test; empty if it serves all."""
    validators: tuple[str, ...] = ()


@frozen(kw_only=True)
class Summary:
    """What a report needs of the suite, kept in the store so that a report needs no suite."""

    suite: str
    run_id: str
    version: str
    seed: int
    level: float
    resamples: int
    tasks: tuple[TaskSummary, ...]
    judges: tuple[str, ...]
    simulated: tuple[str, ...]
    tests: tuple[str, ...]
    tests_of_tasks: tuple[TestOfTask, ...] = ()
    """What the suite asks for, task by task; nothing where the records are imported."""
    components: tuple[ComponentUsed, ...]
    notes: tuple[str, ...] = ()
    reports: tuple[ComponentUsed, ...] | None = None
    """The reporters the suite names; None where it names none."""
    findings: FindingSettings = FindingSettings()
    """The effect floors and the equivalence margin of findings."""
    models: Mapping[str, str] = Factory(dict)
    """Judge -> name of the model it asks; judges without a model are left out."""
    flags: tuple[Flag, ...] = ()
    """The flags that the plugins of the run declare."""

    @property
    def metrics(self) -> tuple[ComponentUsed, ...]:
        """Return the metrics of the run."""
        return tuple(component for component in self.components if component.role == "metric")


def remember(store: Store, summary: Summary) -> None:
    """Keep the summary in the store."""
    store.set_meta(SUMMARY, to_text(summary))


def is_known(store: Store) -> bool:
    """Tell whether the run got far enough for a report."""
    return store.meta(SUMMARY) is not None


def recall(store: Store) -> Summary:
    """Read the summary.

    Raises:
        EmptyStoreError: the run stopped before there was anything to report.
    """
    text = store.meta(SUMMARY)
    if text is None:
        raise EmptyStoreError(f"'{store.path.parent}' holds nothing to report yet; run the suite first")
    return from_text(Summary, text)


def note_start(ready: Prepared) -> None:
    """Keep what declared stages have in the suite, and that the run has not ended; tell log and plugins."""
    sections = {stage.entry.spec.key: unstructure(stage.options) for stage in ready.resolved.stages.values()}
    ready.store.set_meta(SECTIONS, to_text(sections))
    # Empty until the run ends: a process that is killed leaves it so.
    ready.store.set_meta(ENDED, "")
    ready.log.info("run started", suite=ready.suite.name, version=__version__, plugins=list(ready.loaded.names))
    ready.events.tell("jrh_run_started", RunStarted(run_id=ready.run_id, suite=ready.suite.name, run_dir=ready.run_dir))


def note_end(store: Store, ended: Ended) -> None:
    """Keep how the run ended."""
    store.set_meta(ENDED, to_text(ended))


def note_interrupted(store: Store) -> None:
    """Keep that the run was interrupted; `note_finish` writes over it if the run gets there."""
    note_end(store, Ended(exit_code=INTERRUPTED, message="interrupted", complete=False))


def note_finish(ready: Prepared, ended: Ended, report: RunReport | None) -> None:
    """Keep how the run ended; tell log and plugins."""
    note_end(ready.store, ended)
    # A table without rows may have no columns either.
    statuses = report.records.counts("status") if report and len(report.records) else {}
    ready.log.info(
        "run finished",
        exit_code=ended.exit_code,
        statuses=statuses,
        spent=to_json(ready.gateway.ledger.totals()),
        unknown_calls=ready.unknown_calls,
    )
    ready.events.tell(
        "jrh_run_finished",
        RunFinished(
            run_id=ready.run_id,
            run_dir=ready.run_dir,
            exit_code=ended.exit_code,
            records=len(report.records) if report else 0,
            planned=report.planned if report else 0,
            statuses={str(status): count for status, count in statuses.items()},
            seconds=ready.progress.seconds,
        ),
    )


def state(store: Store) -> RunState:
    """Read what is known of a run without its records."""
    sections, ended = store.meta(SECTIONS), store.meta(ENDED)
    return RunState(
        suite=store.meta("suite") or "",
        sections=from_text(dict[str, Any], sections) if sections else {},
        ended=from_text(Ended, ended) if ended else None,
        imported=store.meta(IMPORTED) is not None,
    )


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
        # Each name once: two tasks may have tests of one name in lists of their own.
        tests=(REFERENCE, *dict.fromkeys(test.use.name for test in resolved.tests)),
        tests_of_tasks=tuple(_tests_of_tasks(resolved)),
        components=_components(resolved, ready.simulated),
        notes=tuple(_unfit(resolved)),
        reports=_reports(resolved),
        findings=suite.findings,
        models=judge_models(resolved),
        # Kept with the run: without its flags, a report made where a plugin is missing would license every claim.
        flags=tuple(ready.loaded.plugins.flags_by_name().values()),
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
                    validators=tuple(validator.use.name for validator in (*test.steps[0].validators, *test.validators)),
                )


def _components(resolved: ResolvedSuite, simulated: frozenset[str]) -> tuple[ComponentUsed, ...]:
    base = resolved.suite.base
    result = [describe_component("data source", source, base) for source in resolved.sources]
    for test in resolved.tests:
        result += _used_by(test, base)
    result += [
        describe_component("model", model, base, simulated=model.entry.spec.simulated)
        for model in resolved.models.values()
    ]
    result += [
        describe_component("judge", judge, base, simulated=judge.use.name in simulated) for judge in resolved.judges
    ]
    if resolved.allocator is not None:
        result.append(describe_component("allocator", resolved.allocator, base))
    result += [describe_component("metric", metric, base) for metric in resolved.metrics]
    # Parsers and validators that options refer to are parts of no test, and verdicts depend on them all the same.
    refer: list[Resolved[Any]] = [*resolved.judges]
    for test in resolved.tests:
        refer += test.components
    return (*result, *parts_used(refer, base))


def _used_by(test: ResolvedTest, base: Path) -> Iterator[ComponentUsed]:
    """Describe the components of a test; the steps of a chain carry the test's name, own tests that of their task."""
    for step in test.steps:
        # Two tasks may have a test of the same name in lists of their own.
        prefix = f"{', '.join(test.use.tasks)}: " if test.use.tasks else ""
        prefix += f"{test.use.name}: " if test.use.steps else ""
        component = describe_component("perturber", step.component, base)
        yield evolve(component, name=f"{prefix}{component.name}")
        yield from (describe_component("validator", validator, base) for validator in step.validators)
    yield from (describe_component("validator", validator, base) for validator in test.validators)


def _reports(resolved: ResolvedSuite) -> tuple[ComponentUsed, ...] | None:
    """Describe the reporters named by the suite, so that `jrh report` can use them again."""
    # Not the same as an empty list: without `reports` the defaults are written, with an empty one nothing is.
    if resolved.suite.reports is None:
        return None
    return tuple(describe_component("reporter", reporter, resolved.suite.base) for reporter in resolved.reporters)


def _unfit(resolved: ResolvedSuite) -> Iterator[str]:
    """Yield a note for each test and judge that does not apply to a task."""
    for task in (use.task for use in resolved.suite.tasks):
        tests = [test for test in resolved.tests if serves(test.use, task)]
        unfit = [test.use.name for test in tests if not is_made_for(test, task)]
        unfit += [judge.use.name for judge in resolved.judges if not applies(judge, task)]
        for name in unfit:
            yield f"'{name}' does not apply to {task.mode.value} tasks: skipped on '{task.name}'"


def note_plan(store: Store, resolved: ResolvedSuite, unseen: Mapping[str, int]) -> None:
    """Store a note for each judge that skips cases because it does not read prompts; `unseen` counts them by judge."""
    notes = tuple(
        f"{count} cases change only the prompt; judge '{judge.use.name}' does not read prompts and was not asked"
        for judge in resolved.judges
        if (count := unseen.get(judge.use.name, 0))
    )
    # Also where there are none: notes on an earlier plan must not stay.
    store.set_meta(PLAN_NOTES, to_text(notes))
