"""Run the stages that plugins declare, at their places between the stages of jrh, and let them add to the report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from attrs import evolve, frozen

from jrh.errors import RAISED, JrhError, StopRun
from jrh.models.client import StandIn
from jrh.models.ledger import GRADER, Payer, paid_by
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import Logger, Stage, StageOutcome, StageQuestion
from jrh.plugins.registry import Entry
from jrh.plugins.specs import OWN_STAGES, StageSpec
from jrh.running.building import Builder
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress
from jrh.running.run_log import Quiet
from jrh.running.stages.perturb import identified
from jrh.running.stages.stored import StoredEvidence, read_records, records_as_made
from jrh.running.stages.summary import Summary, recall, state
from jrh.running.without_suite import suite_of_summary
from jrh.store.calls_table import OF_STAGES
from jrh.store.run_store import Store
from jrh.suite.resolved import Resolved
from jrh.text.redact import error_line
from jrh.values.cases import Case
from jrh.values.items import Item, Task
from jrh.values.records import RecordTable
from jrh.values.report import RunReport
from jrh.values.verdicts import Evidence


async def _ask_nobody(_task: Task, _judge: str, _wanted: Callable[[Case], bool]) -> bool:
    """Ask nothing, in a run that is there already."""
    return False


def _goes_on() -> None:
    """Say that nothing stops the run."""


def _to_nobody(_sentence: str) -> None:
    """Tell nobody."""


@frozen(kw_only=True)
class StageWork:
    """What a declared stage works on (`jrh.plugins.Stage`)."""

    builder: Builder
    """The suite as resolved; builds its components."""
    store: Store
    """The run's; read-only where a report is gathered again."""
    summary: Summary
    """What the run remembers of its suite."""
    items: Mapping[str, Sequence[Item]]
    """Task -> its items."""
    records: RecordTable
    """The records of the plan; empty before judges have answered."""
    log: Logger
    progress: Progress
    again: bool = False
    """Whether a report computes results again rather than reading what is stored."""
    installed_rules: bool = False
    """Whether a report decides its findings with the rules that are installed, not with those of the run."""
    say: Callable[[str], None] = _to_nobody
    """Tells who asked for the report something that is not part of it: a sentence without its period."""
    ask: Callable[[Task, str, Callable[[Case], bool]], Awaitable[bool]] = _ask_nobody
    """Lets a judge answer the reference cases of a task that a function wants, of a stage that comes after `load`;
    returns whether there are any."""
    wait: bool = False
    """Whether the run may wait for people."""
    stopped: Callable[[], StopRun | None] = _goes_on
    """Returns why the run has to stop, as soon as it has to."""

    @property
    def run_dir(self) -> Path:
        """Return the run directory."""
        return self.store.path.parent

    @property
    def tasks(self) -> Mapping[str, Task]:
        """Return the tasks by name, in the order of the suite."""
        return {each.task.name: each.task for each in self.summary.tasks}

    @property
    def evidence(self) -> Evidence:
        """Return what stands behind the records, read on demand."""
        return StoredEvidence(store=self.store)

    def records_as_made(self, gone: Mapping[str, Case]) -> RecordTable:
        """Read the records of all cases as they were made; `gone` are those that something else counts for, by id."""
        return records_as_made(self.store, gone)

    @contextmanager
    def paying(self, stage: str, *, name: str, task: str, test: str) -> Iterator[None]:
        """Book the calls inside to a stage, until `store.spending.forget_stage`; `name` says what they are made for."""
        with paid_by(Payer(owner=f"{OF_STAGES}{stage}", role=GRADER, name=name, task=task, test=test)):
            yield

    @property
    def imported(self) -> bool:
        """Return whether the records were imported rather than asked for."""
        return state(self.store).imported


def stored_work(
    loaded: Loaded, store: Store, summary: Summary, *, records: RecordTable | None = None, again: bool = False
) -> StageWork:
    """Return what stages work on in a run that is there, without its suite.

    Args:
        loaded: what is installed.
        store: the run's.
        summary: what it remembers of its suite; the metrics that it names have to be installed.
        records: those of the run, where they have been read.
        again: whether results are computed again.

    Raises:
        JrhError: a metric is missing.
    """
    # A run of an earlier version, or an import of one, kept no flags: without them every claim would be licensed.
    flags = summary.flags or tuple(loaded.plugins.declared_flags().values())
    summary = evolve(summary, flags=flags)
    return StageWork(
        builder=Builder(suite_of_summary(summary, loaded, ()), loaded.plugins, Quiet, StandIn),
        store=store,
        summary=summary,
        items=store.items.read(),
        records=read_records(store) if records is None else records,
        log=Quiet(),
        progress=Progress(),
        again=again,
    )


def work_of(ready: Prepared, records: RecordTable | None = None) -> StageWork:
    """Return what stages work on in a run that is going on; without records before the judges' end."""
    return StageWork(
        builder=ready.builder,
        store=ready.store,
        summary=recall(ready.store),
        items=ready.items,
        records=RecordTable.from_records(()) if records is None else records,
        log=ready.log,
        progress=ready.progress,
        wait=ready.settings.wait,
        stopped=lambda: ready.gateway.stopped,
    )


@contextmanager
def open_store(run_dir: str | Path, *, writing: bool = False) -> Iterator[Store]:
    """Open the store of a run directory: to read it, even while another process writes to it, or to write tables.

    Raises:
        JrhError: there is no run in the directory, or another process writes to it.
    """
    store = Store.view(Path(run_dir))
    if writing:
        suite = store.meta("suite") or ""
        store.close()
        store = Store.open(Path(run_dir), suite)
    try:
        yield store
    finally:
        store.close()


def between_stages(builder: Builder) -> list[Stage]:
    """Return the declared stages between perturbing and judging."""
    return [stage for _, stage in _built(builder, "perturb")]


def questions_of(builder: Builder, store: Store | None, stage: Resolved[StageSpec]) -> Iterable[StageQuestion]:
    """Return what a stage of the suite would ask about what is stored."""
    return builder.stage(stage.entry).questions(builder, store, {}, {})


def stages_of_cases(work: StageWork) -> tuple[Stage, ...]:
    """Return the declared stages between perturbing and judging that have something to do: judges wait for them."""
    return tuple(stage for _, stage in _built(work.builder, "perturb") if stage.applies(work))


@asynccontextmanager
async def serving(stages: Sequence[Stage], work: StageWork) -> AsyncIterator[None]:
    """Let stages work in the background, until the end."""
    tasks = [asyncio.ensure_future(stage.serve(work)) for stage in stages]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(error, Exception):
                work.log.warning("stage raised", error=repr(error))


def revision_of(rule: Callable[[Case], Case | None], tasks: Mapping[str, Task]) -> Callable[[Case], Case | None]:
    """Return a stage's rule with what counts under the id of what it says: another text is another question."""

    def revise(case: Case) -> Case | None:
        counted = rule(case)
        return counted if counted is None or counted is case else identified(tasks[case.task], counted)

    return revise


async def run_stages(after: str, work: StageWork, *, asking: bool | None = None) -> tuple[StageOutcome, ...]:
    """Run the declared stages between one of jrh's and the next, in order; return how those that apply ended.

    Args:
        after: the stage of jrh.
        work: what they work on.
        asking: only those that ask models, or only those that do not; None: all.

    Raises:
        JrhError: the stages cannot be ordered or built, or the run directory cannot be written to.
        StopRun: the run has to stop.
    """
    outcomes = []
    for name, stage in _built(work.builder, after, asking):
        if not stage.applies(work):
            continue
        try:
            outcomes.append(await stage.run(work))
        except (JrhError, StopRun):
            raise
        except RAISED as error:  # what the other stages make is not lost with it
            outcomes.append(StageOutcome(complete=False, notes=(_raised(name, error, work.log),)))
    return tuple(outcomes)


def add_to_report(report: RunReport, work: StageWork) -> RunReport:
    """Return the report with what declared stages say in it, in their order."""
    for place in OWN_STAGES:
        for name, stage in _built(work.builder, place):
            if not stage.applies(work):
                continue
            try:
                report = stage.report(report, work)
            except JrhError:
                raise
            except RAISED as error:
                note = _raised(name, error, work.log)
                report = evolve(report, notes=(*report.notes, note), warnings=(*report.warnings, note))
    return report


def _raised(name: str, error: BaseException, log: Logger) -> str:
    log.warning("stage raised", stage=name, error=repr(error))
    return f"stage '{name}' failed: {error_line(error)}"


def _built(builder: Builder, after: str, asking: bool | None = None) -> Iterator[tuple[str, Stage]]:
    for entry in in_order(builder.plugins.stages)[after]:
        if asking in (None, entry.spec.asks):
            yield entry.spec.name, builder.stage(entry)


def in_order(entries: Iterable[Entry[StageSpec]]) -> Mapping[str, tuple[Entry[StageSpec], ...]]:
    """Return, for each stage of jrh, the declared ones that run between it and the next, in order.

    Stages that name no order among each other keep the order in which plugins are loaded.

    Raises:
        JrhError: an order that cannot be kept.
    """
    declared = {entry.spec.name: entry for entry in entries}
    earlier = {name: {*entry.spec.after} for name, entry in declared.items()}
    for name, entry in declared.items():
        for later in entry.spec.before:
            earlier.setdefault(later, set()).add(name)
    placed: dict[str, tuple[str, ...]] = {}
    done: set[str] = set()
    for place in OWN_STAGES:
        if late := sorted(earlier.get(place, set()) & (declared.keys() - done)):
            raise JrhError(f"stage '{late[0]}' cannot run before '{place}': it waits for a stage that runs after it")
        done.add(place)
        chosen: list[str] = []
        known = {*OWN_STAGES, *declared}
        while ready := next((n for n in declared if n not in done and earlier[n] & known <= done), None):
            done.add(ready)
            chosen.append(ready)
        placed[place] = tuple(chosen)
    if stuck := sorted(declared.keys() - done):
        raise JrhError(f"the stages {', '.join(stuck)} wait for each other; see `after` and `before` of their plugins")
    return {place: tuple(declared[name] for name in names) for place, names in placed.items()}
