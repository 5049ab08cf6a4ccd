"""One run, from a resolved suite to its result: prepare, execute, and conclude, which measures and reports."""

from __future__ import annotations

from jrh.errors import DamagedStoreError, StoreError
from jrh.plugins.protocols import StageOutcome
from jrh.running.declared_stages import add_to_report, run_stages
from jrh.running.execute import Execution, execute
from jrh.running.gathering import gather
from jrh.running.outcome import INCOMPLETE, Ended, RunRequest, RunResult, Written, how_it_ended, result_of
from jrh.running.prepare import Prepared, prepare_run
from jrh.running.progress import Progress
from jrh.running.reporters import with_sections, write_reports
from jrh.running.stage_work import work_of
from jrh.running.stages import summary as reporting
from jrh.running.stages.stored import read_records
from jrh.values.report import RunReport


async def run_suite(request: RunRequest, progress: Progress) -> RunResult:
    """Run a suite to its end, or to where it has to stop, in three steps: prepare, execute, conclude.

    Raises:
        JrhError: the data, a component or the run directory cannot be used; nothing was spent.
    """
    async with prepare_run(request, progress) as ready:
        try:
            return await conclude(ready, await execute(ready))
        # What a damaged store holds cannot be trusted, so there is no result to return: that is an error.
        except DamagedStoreError:
            raise
        except StoreError as error:  # the disk is full, or the run directory is gone: what was written is kept
            ended = Ended(exit_code=INCOMPLETE, message=str(error), complete=False)
            return result_of(ended, None, Written(), ready.run_dir, ready.gateway.ledger.totals(), ready.unknown_calls)


async def conclude(ready: Prepared, executed: Execution) -> RunResult:
    """Measure and report the records so far, even if the run stopped early, and record how it ended."""
    report, outcomes = await _build_report(ready, tuple(executed.declared))
    written = Written()
    if report is not None:
        ready.progress.begin("report", None)
        answer, full = ready.progress.print_answer, ready.settings.full
        written = write_reports(ready.builder, report, ready.run_dir, ready.log, full=full, answer=answer)
        ready.progress.end()
    # Noted after the reports are written: a run whose disk fills up before that has not ended.
    ended = how_it_ended(executed.stop, report, executed.making.unfinished, (*executed.declared, *outcomes))
    reporting.note_finish(ready, ended, report)
    return result_of(ended, report, written, ready.run_dir, ready.gateway.ledger.totals(), ready.unknown_calls)


async def _build_report(
    ready: Prepared, earlier: tuple[StageOutcome, ...]
) -> tuple[RunReport | None, tuple[StageOutcome, ...]]:
    """Run the declared stages after the judges; return the run's report, or None if there is nothing to report yet."""
    store = ready.store
    if not reporting.is_known(store):
        return None, ()
    ready.progress.begin("measure", None)
    records = read_records(store)
    work = work_of(ready, records)
    # Stages that ask models have run in `execute`, where an interrupt and the budget still end them.
    outcomes = await run_stages("judge", work, asking=False)
    # Only now: until their measures are stored, another version of a metric has changed nothing.
    ready.note_components("metric")
    report = add_to_report(gather(store, work.summary, records), work)
    # A stage may have written what is missing into the report already.
    notes = tuple(note for outcome in (*earlier, *outcomes) for note in outcome.notes if note not in report.notes)
    report = with_sections(report.add_notes(notes), ready.builder, ready.log)
    ready.progress.end()
    return report, outcomes
