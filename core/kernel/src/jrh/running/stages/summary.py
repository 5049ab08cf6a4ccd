"""Report: everything a run found, gathered from its store, and written down by the reporters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Final

from attrs import Factory, evolve, frozen

from jrh.document.serial import from_text, to_text
from jrh.errors import RAISED, EmptyStoreError, StoreError
from jrh.hashing import content_id
from jrh.models.payer import PREFLIGHT, ROLES
from jrh.plugins.protocols import Logger
from jrh.plugins.specs import ReporterSpec, ReportTarget
from jrh.running.building import Builder
from jrh.running.outcome import Ended, RunState
from jrh.running.reporters import in_full
from jrh.running.stages.drafts import PLUGIN_ERROR
from jrh.running.stages.perturb import attrition
from jrh.running.stages.report_files import write_document
from jrh.running.stages.stored_evidence import StoredEvidence
from jrh.store.run_store import Store
from jrh.suite.definition import Gate
from jrh.text.numbers import counted
from jrh.text.redact import error_line
from jrh.values.finding import ClaimFamily, Finding, FindingSettings
from jrh.values.measures import Flag
from jrh.values.records import RecordTable
from jrh.values.report import Attrition, ComponentUsed, CostLine, RunReport, SpendLine, TaskSummary
from jrh.values.spending import spending_of

SUMMARY = "summary"
"""Key of the summary in the store."""
GATE: Final = "gate"
"""Key of the suite's rules."""
ENDED: Final = "ended"
"""Key of how the run ended; empty while it goes on."""
PLAN_NOTES: Final = "plan_notes"
"""Key of the notes on the plan."""
IMPORTED: Final = "imported"
"""Key of the mark that a run directory holds imported records."""


FINDINGS: Final = "findings"
"""Key of the findings."""


@frozen(kw_only=True)
class RunFindings:
    """The findings of a run, in the words of its reports."""

    findings: tuple[Finding, ...]
    family: ClaimFamily | None


@frozen(kw_only=True)
class _Found(RunFindings):
    made_of: str
    """Id of the measures and records."""


@frozen(kw_only=True)
class TestOfTask:
    """A test of the suite as one task has it."""

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


def remember(store: Store, summary: Summary) -> None:
    """Keep the summary in the store."""
    text = to_text(summary)
    if store.meta(SUMMARY) != text:
        store.set_meta(SUMMARY, text)


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


def note_start(store: Store, gate: Gate) -> None:
    """Keep the rules of the suite, and that the run has not ended."""
    store.set_meta(GATE, to_text(gate))
    store.set_meta(ENDED, "")


def note_plan(store: Store, notes: Iterable[str]) -> None:
    """Store notes on the plan for the report, one sentence each."""
    text = to_text(tuple(notes))
    if (store.meta(PLAN_NOTES) or to_text(())) != text:
        store.set_meta(PLAN_NOTES, text)


def note_end(store: Store, ended: Ended) -> None:
    """Keep how the run ended."""
    store.set_meta(ENDED, to_text(ended))


def note_findings(store: Store, report: RunReport) -> None:
    """Keep the findings of the stored measures, for readers that do not hold all records."""
    store.set_meta(FINDINGS, to_text(_Found(made_of=_made_of(store), findings=report.findings, family=report.family)))


def recall_findings(store: Store) -> RunFindings | None:
    """Read the findings; None where there are none, or those of other measures or records."""
    text = store.meta(FINDINGS)
    found = from_text(_Found, text) if text else None
    if found is None or found.made_of != _made_of(store):
        return None
    return RunFindings(findings=found.findings, family=found.family)


def _made_of(store: Store) -> str:
    return content_id(store.measures.digest(), [*store.records.written()])


def state(store: Store) -> RunState:
    """Read what is known of a run without its records."""
    gate, ended = store.meta(GATE), store.meta(ENDED)
    return RunState(
        suite=store.meta("suite") or "",
        gate=from_text(Gate, gate) if gate else Gate(),
        ended=from_text(Ended, ended) if ended else None,
        imported=store.meta(IMPORTED) is not None,
    )


def gather(store: Store, summary: Summary, records: RecordTable) -> RunReport:
    """Gather what the store says of a run, before declared stages add what they have made of it."""
    planned = store.trials.count()
    made = tuple(_attrition(store, summary))
    failed = (*_raised(made), *_billed_beyond(store))
    return RunReport(
        suite=summary.suite,
        run_id=summary.run_id,
        version=summary.version,
        seed=summary.seed,
        level=summary.level,
        tasks=summary.tasks,
        judges=summary.judges,
        simulated=frozenset(summary.simulated),
        tests=summary.tests,
        measures=(),
        attrition=made,
        costs=tuple(_costs(store, summary)),
        spending=spending(store, summary),
        faults=store.calls.faults(),
        components=summary.components,
        planned=planned,
        missing_records=planned - len(records),
        still_planning=store.trials.grows(),
        notes=(
            *summary.notes,
            *_plan_notes(store),
            *_shown_in_part(store, summary),
            *_not_settable(store),
            *_not_available(store),
            *failed,
        ),
        warnings=failed,
        records=records,
        evidence=StoredEvidence(store=store),
        flags={flag.name: flag for flag in summary.flags},
    )


def _plan_notes(store: Store) -> tuple[str, ...]:
    text = store.meta(PLAN_NOTES)
    return from_text(tuple[str, ...], text) if text else ()


def _raised(made: Iterable[Attrition]) -> Iterable[str]:
    """Say of which tests a plugin raised, so that cases are missing."""
    for line in made:
        for reason, count in {**line.skipped, **line.rejected}.items():
            if PLUGIN_ERROR in reason:
                missing = counted(count, "draft is", "drafts are")
                yield f"test '{line.test}' on '{line.task}': a plugin raised and {missing} missing ({reason})"


def _billed_beyond(store: Store) -> Iterable[str]:
    """Say which models billed more than their price and their longest reply allow."""
    for line in store.calls.billed_beyond():
        yield (
            f"model '{line.model}' billed ${line.cost:.4f} for {counted(line.calls, 'call')} that could cost "
            f"${line.worst:.4f} at most, by its price and `max_tokens`: the budget cannot hold it"
        )


def _not_settable(store: Store) -> Iterable[str]:
    """Say which settings are not available, and for how many replies of whom."""
    lines = store.spending.not_settable()
    for model, settings in dict.fromkeys((line.model, line.settings) for line in lines):
        of = [line for line in lines if (line.model, line.settings) == (model, settings)]
        users = dict.fromkeys(PREFLIGHT if line.role == PREFLIGHT else f"{line.role} {line.name}" for line in of)
        tests = dict.fromkeys(line.test for line in of if line.test)
        where = f" in {', '.join(tests)}" if tests else ""
        replies = counted(sum(line.replies for line in of), "reply", "replies")
        yield (
            f"{settings}: not available for model '{model}', which refuses it; {replies} "
            f"({', '.join(users)}{where}) came without it"
        )


def _not_available(store: Store) -> Iterable[str]:
    """Say which conditions a judge's model does not have: their questions have no verdict."""
    for judge, test, output, trials in store.records.not_available():
        yield (
            f"{output or 'a setting'}: not available for judge '{judge}', whose model refuses it; "
            f"{counted(trials, 'question')} of test '{test}' without a verdict"
        )


def _attrition(store: Store, summary: Summary) -> Iterable[Attrition]:
    items = {task.task.name: task.items for task in summary.tasks}
    for each in summary.tests_of_tasks:
        yield evolve(
            attrition(store, each.task, each.test, items[each.task]),
            applies=each.applies,
            made=not each.applies or store.cases.digest(each.task, each.test) is not None,
            allow_empty=each.allow_empty,
            own_of=each.own_of,
        )


def _costs(store: Store, summary: Summary) -> Iterable[CostLine]:
    lines = store.records.costs()
    for judge in summary.judges:
        for task in summary.tasks:
            for test in summary.tests:
                if (judge, task.task.name, test) in lines:
                    yield lines[judge, task.task.name, test]


def spending(store: Store, summary: Summary) -> tuple[SpendLine, ...]:
    """Return what the replies the run rests on cost, in the order of the suite; of an import, what its log says."""
    if store.meta(IMPORTED) is not None:
        return tuple(spending_of(line) for line in _costs(store, summary))
    models = {used.name for used in summary.components if used.role == "model"}
    tasks, tests = [each.task.name for each in summary.tasks], list(summary.tests)

    def in_suite(line: SpendLine) -> bool:
        return line.model in models if line.role == PREFLIGHT else line.task in tasks and line.test in tests

    def place(line: SpendLine) -> tuple[object, ...]:
        judge = summary.judges.index(line.name) if line.name in summary.judges else -1
        if line.role == PREFLIGHT:
            return ROLES.index(line.role), line.model
        return ROLES.index(line.role), judge, tasks.index(line.task), tests.index(line.test), line.name, line.model

    return tuple(sorted(filter(in_suite, store.spending.lines()), key=place))


def _shown_in_part(store: Store, summary: Summary) -> Iterable[str]:
    """Say of every judge how many questions it was shown only a part of."""
    found = store.records.partly_shown()
    for judge in summary.judges:
        if judge in found:
            shown = found[judge]
            yield (
                f"judge '{judge}' saw only part of the transcript in {shown.times} of {shown.questions} questions "
                f"because of its length limit; at most {shown.most:,} characters were left out"
            )


@frozen(kw_only=True)
class Written:
    """What the reporters made."""

    terminal: str
    files: tuple[Path, ...]
    problems: tuple[str, ...]
    changed: tuple[str, ...] = ()
    """Components whose code has changed since the run; one sentence each."""
    incomplete: str = ""
    """How much of the plan has been answered, where it is not all."""


def write_reports(
    builder: Builder, report: RunReport, run_dir: Path, log: Logger, *, full: bool = False, said: Collection[str] = ()
) -> Written:
    """Let every reporter of the suite write; one that breaks costs nothing but its own report.

    `full` asks the reporters of the terminal for everything they have, except the notes that the command prints itself
    (`said`).
    """
    shown = evolve(
        report,
        notes=tuple(each for each in report.notes if each not in said),
        warnings=tuple(each for each in report.warnings if each not in said),
    )
    terminal: list[str] = []
    files: list[Path] = []
    problems: list[str] = []
    unwritten: list[StoreError] = []
    reporters = builder.resolved.reporters
    for resolved in in_full(reporters) if full else reporters:
        spec: ReporterSpec = resolved.entry.spec
        try:
            content = builder.build(resolved).render(shown if spec.target is ReportTarget.TERMINAL else report)
            if spec.target is ReportTarget.TERMINAL:
                terminal.append(content if isinstance(content, str) else content.decode("utf-8"))
            else:  # that of a notebook too, where a suite names it
                files.append(write_document(run_dir / spec.filename, content))
        except StoreError as error:  # the others are still written; then this one is said
            unwritten.append(error)
        except RAISED as error:
            log.warning("reporter raised", reporter=resolved.use.name, error=repr(error))
            problems.append(f"reporter '{resolved.use.name}' failed: {error_line(error)}")
    if unwritten:
        raise unwritten[0]
    return Written(terminal="\n".join(terminal), files=tuple(files), problems=tuple(problems))
