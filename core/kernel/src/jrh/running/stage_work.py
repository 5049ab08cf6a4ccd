"""What the stages that plugins declare work on: a run that is going on, or one that is there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve, frozen

import jrh
from jrh.errors import StopRun
from jrh.models.ledger import Payer, book_to
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import Logger
from jrh.running.building import Builder
from jrh.running.prepare import Prepared
from jrh.running.progress import Progress
from jrh.running.run_log import Quiet
from jrh.running.stages.stored import StoredEvidence, read_records, records_as_made
from jrh.running.stages.summary import Summary, recall, state
from jrh.running.without_suite import builder_of_summary
from jrh.store.run_store import Store
from jrh.values.cases import Case
from jrh.values.items import Item, Task


async def _ask_nothing(_task: Task, _judge: str, _wanted: Callable[[Case], bool]) -> bool:
    """Ask nothing, in a run that is there already."""
    return False


def _goes_on() -> None:
    """Say that nothing stops the run."""


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
    _records: jrh.RecordTable | None = None
    log: Logger
    progress: Progress
    again: bool = False
    """Whether a report computes results again rather than reading what is stored."""
    installed_rules: bool = False
    """Whether a report decides its findings with the rules that are installed, not with those of the run."""
    say: Callable[[str], None] = Progress().say
    """Tells who asked for the report something that is not part of it: a sentence without its period."""
    ask: Callable[[Task, str, Callable[[Case], bool]], Awaitable[bool]] = _ask_nothing
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
        return {summary.task.name: summary.task for summary in self.summary.tasks}

    @property
    def evidence(self) -> StoredEvidence:
        """Return the cases and replies of the records, read on demand."""
        return StoredEvidence(store=self.store)

    @property
    def records(self) -> jrh.RecordTable:
        """Return the records of the plan; none before judges have answered."""
        return jrh.RecordTable({}, {}) if self._records is None else self._records

    def records_as_made(self, gone: Mapping[str, Case]) -> jrh.RecordTable:
        """Read the records of all cases as they were made; `gone` are those that something else counts for, by id."""
        return records_as_made(self.store, gone)

    @contextmanager
    def book_calls(self, stage: str, *, name: str, task: str, test: str) -> Iterator[None]:
        """Book the calls inside to a stage, until `store.spending.forget_stage`; `name` says what they are made for."""
        with book_to(Payer.of_stage(stage, name=name, task=task, test=test)):
            yield

    @property
    def imported(self) -> bool:
        """Return whether the records were imported rather than asked for."""
        return state(self.store).imported


def work_of_store(
    loaded: Loaded, store: Store, summary: Summary, *, records: jrh.RecordTable | None = None, again: bool = False
) -> StageWork:
    """Return what stages work on in a run that is there, without its suite.

    Args:
        loaded: what is installed.
        store: the run's.
        summary: what it remembers of its suite; metrics that are not installed are not built.
        records: those of the run, where they have been read.
        again: whether results are computed again.
    """
    # A run of an earlier version, or an import of one, kept no flags: without them every claim would be licensed.
    summary = evolve(summary, flags=summary.flags or tuple(loaded.plugins.flags_by_name().values()))
    return StageWork(
        builder=builder_of_summary(summary, loaded),
        store=store,
        summary=summary,
        items=store.items.read(),
        records=read_records(store) if records is None else records,
        log=Quiet(),
        progress=Progress(),
        again=again,
    )


def work_of(ready: Prepared, records: jrh.RecordTable | None = None) -> StageWork:
    """Return what stages work on in a run that is going on; without records before the judges' end."""
    return StageWork(
        builder=ready.builder,
        store=ready.store,
        summary=recall(ready.store),
        items=ready.items,
        records=records,
        log=ready.log,
        progress=ready.progress,
        wait=ready.settings.wait,
        # Asked each time: the run may stop while a stage is at work.
        stopped=lambda: ready.gateway.stopped,
    )
