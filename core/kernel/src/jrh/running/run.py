"""One run, from a resolved suite to its result: prepare, execute, and conclude, which measures and reports."""

from __future__ import annotations

from pathlib import Path

from attrs import evolve

from jrh.document.convert import to_json
from jrh.errors import DamagedStoreError, StoreError
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import StageOutcome
from jrh.running.component_changes import components, note_components
from jrh.running.declared_stages import add_to_report, run_stages, work_of
from jrh.running.execute import Execution, execute
from jrh.running.gathering import gather
from jrh.running.outcome import INCOMPLETE, RunResult, Settings, asks_again, how_it_ended
from jrh.running.prepare import Prepared, prepared
from jrh.running.progress import Progress
from jrh.running.report_sections import with_sections
from jrh.running.reporters import Written, write_reports
from jrh.running.stages import summary as reporting
from jrh.running.stages.stored import read_records
from jrh.suite.resolved import ResolvedSuite
from jrh.values.events import RunFinished
from jrh.values.report import RunReport
from jrh.values.verdicts import NoEvidence


async def run_suite(
    resolved: ResolvedSuite, loaded: Loaded, settings: Settings, progress: Progress, run_dir: Path
) -> RunResult:
    """Run a suite to its end, or to where it has to stop, in three steps: prepare, execute, conclude.

    Raises:
        JrhError: the data, a component or the run directory cannot be used; nothing was spent.
    """
    async with prepared(resolved, loaded, settings, progress, run_dir) as ready:
        try:
            return await conclude(ready, await execute(ready))
        except DamagedStoreError:
            raise
        except StoreError as error:  # the disk is full, or the run directory is gone
            return broken_off(ready, error)


async def conclude(ready: Prepared, executed: Execution) -> RunResult:
    """Measure and report the records so far, even if the run stopped early, and record how it ended."""
    report, outcomes = await _reported(ready, tuple(executed.declared))
    left = [outcome for outcome in (*executed.declared, *outcomes) if not outcome.complete]
    written = Written(terminal="", files=(), problems=())
    if report is not None:
        ready.progress.begin("report", None)
        written = write_reports(ready.builder, report, ready.run_dir, ready.log, full=ready.settings.full)
        ready.progress.end()
    ended = how_it_ended(executed.stop, report, executed.making.unfinished, left)
    reporting.note_end(ready.store, ended)
    spent = ready.gateway.ledger.spent()
    statuses = report.records.counts("status") if report and len(report.records) else {}
    ready.log.info(
        "run finished",
        exit_code=ended.exit_code,
        statuses=statuses,
        spent=to_json(spent),
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
        ),
    )
    return RunResult(
        exit_code=ended.exit_code,
        message=ended.message,
        run_dir=ready.run_dir,
        report=evolve(report, evidence=NoEvidence())
        if report is not None
        else None,  # the store closes before the caller could read it
        spent=spent,
        unknown_calls=ready.unknown_calls,
        terminal=written.terminal,
        files=written.files,
        problems=written.problems,
        may_continue=asks_again(executed.stop, report, executed.making.unfinished, left),
    )


def broken_off(ready: Prepared, error: StoreError) -> RunResult:
    """Return the result of a run that can write nothing more: there is no report, and what was written is kept."""
    return RunResult(
        exit_code=INCOMPLETE,
        message=str(error),
        run_dir=ready.run_dir,
        report=None,
        spent=ready.gateway.ledger.spent(),
        unknown_calls=ready.unknown_calls,
        terminal="",
        files=(),
        problems=(),
    )


async def _reported(
    ready: Prepared, earlier: tuple[StageOutcome, ...]
) -> tuple[RunReport | None, tuple[StageOutcome, ...]]:
    """Run the declared stages after the judges; return the run's report, or None if there is nothing to report yet."""
    store = ready.store
    if not reporting.is_known(store):
        return None, ()
    ready.progress.begin("measure", None)
    records = read_records(store)
    work = work_of(ready, records)
    outcomes = await run_stages("judge", work, asking=False)
    note_components(store, components(ready.resolved, ready.run_dir), ("metric",))
    report = add_to_report(gather(store, work.summary, records), work)
    notes = tuple(note for outcome in (*earlier, *outcomes) for note in outcome.notes)
    report = evolve(report, notes=(*report.notes, *notes), warnings=(*report.warnings, *notes))
    report = with_sections(report, ready.builder, ready.log)
    ready.progress.end()
    return report, outcomes
