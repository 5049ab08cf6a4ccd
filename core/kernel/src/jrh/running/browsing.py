"""Read a run part by part, for a front end that never holds all of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from jrh.models.ledger import Spent
from jrh.running.outcome import RunState
from jrh.running.stages import summary as reporting
from jrh.running.stages.summary import RunFindings, recall_findings
from jrh.store.case_rows_table import Page
from jrh.store.run_store import Store
from jrh.values.cases import Case
from jrh.values.items import Item
from jrh.values.listed_cases import CaseChoices, CaseFilter, CaseOrder, CaseRecord, CaseRow
from jrh.values.measures import Flag, Measure
from jrh.values.report import FaultLine, TaskSummary
from jrh.values.verdicts import Reply


@frozen(kw_only=True)
class RunOutline:
    """The tasks, judges and tests of a run; known as soon as its plan is made."""

    suite: str
    tasks: tuple[TaskSummary, ...]
    judges: tuple[str, ...]
    simulated: frozenset[str]
    tests: tuple[str, ...]
    notes: tuple[str, ...]
    flags: Mapping[str, Flag]
    """The flags that the plugins of the run declare, by name."""


@frozen(kw_only=True)
class RunProgress:
    """How far a run has progressed."""

    planned: int
    """Trials of the plan; 0 until it is made."""
    done: int
    """Trials with a record."""
    spent: Spent
    """All calls of the run directory."""
    faults: tuple[FaultLine, ...]
    """Failed attempts by model and kind."""


@frozen(kw_only=True)
class StoredRun:
    """A run directory that is open for reading; another process may be writing to it."""

    _store: Store

    def state(self) -> RunState:
        """Return the suite, and how the run ended."""
        return reporting.state(self._store)

    def outline(self) -> RunOutline | None:
        """Return what the run is about; None before there is anything to report."""
        if not reporting.is_known(self._store):
            return None
        summary = reporting.recall(self._store)
        return RunOutline(
            suite=summary.suite,
            tasks=summary.tasks,
            judges=summary.judges,
            simulated=frozenset(summary.simulated),
            tests=summary.tests,
            notes=summary.notes,
            flags={flag.name: flag for flag in summary.flags},
        )

    def progress(self) -> RunProgress:
        """Count what is done."""
        totals = self._store.calls.totals()
        planned = self._store.trials.count()
        return RunProgress(
            planned=planned,
            done=self._store.trials.count_done(),
            spent=Spent(
                paid=totals.paid,
                uncertain=totals.uncertain,
                calls=totals.calls,
                unpriced=totals.unpriced,
                unbounded=totals.unbounded,
            ),
            faults=self._store.calls.faults(),
        )

    def findings(self) -> RunFindings | None:
        """Return the findings of the run's reports; None where it was not measured since its last record."""
        return recall_findings(self._store)

    def measures(self, task: str, names: Sequence[str]) -> tuple[Measure, ...]:
        """Return the stored measures of whole tests of a task, by name."""
        return self._store.measures.wholes(task, names)

    def version(self) -> str:
        """Return an id that changes whenever the list of cases does; empty where there is none."""
        return self._store.case_rows.digest() or ""

    def has_cases(self) -> bool:
        """Tell whether the list of cases was made."""
        return self._store.case_rows.digest() is not None

    def cases(self, wanted: CaseFilter, order: CaseOrder, limit: int, after: tuple[Any, int] | None = None) -> Page:
        """Return one page of the list of cases; arguments as for `CaseRowsTable.page`."""
        return self._store.case_rows.page(wanted, order, limit, after)

    def choices(self, task: str = "") -> CaseChoices:
        """Return what the list can be filtered by."""
        return self._store.case_rows.choices(task)

    def rows_of_item(self, task: str, item_id: str) -> tuple[CaseRow, ...]:
        """Return an item's cases and judges, in plan order."""
        return self._store.case_rows.of_item(task, item_id)

    def rows_of_case(self, case_id: str) -> tuple[CaseRow, ...]:
        """Return a case's judges, in plan order."""
        return self._store.case_rows.of_case(case_id)

    def item(self, task: str, item_id: str) -> Item | None:
        """Return an item; None where only its records were imported."""
        return self._store.items.find(task, item_id)

    def texts(self, case_ids: Sequence[str]) -> Mapping[str, Case]:
        """Return cases by id; those that are not stored, as of an import, are left out."""
        return self._store.cases.by_id(case_ids)

    def records_of_case(self, case_id: str) -> list[CaseRecord]:
        """Return the trials of a case, in plan order."""
        return self._store.records.of_case(case_id)

    def replies(self, trial_ids: Sequence[str]) -> Mapping[str, Reply]:
        """Return the stored replies by the id of their trial."""
        return self._store.records.replies(trial_ids)


@contextmanager
def stored_run(run_dir: str | Path) -> Iterator[StoredRun]:
    """Open a run directory for reading, cheaply: nothing is read before it is asked for.

    Raises:
        JrhError: there is no run in the directory.
    """
    store = Store.view(Path(run_dir))
    try:
        yield StoredRun(store=store)
    finally:
        store.close()
