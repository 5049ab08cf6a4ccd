"""The result of a run that is there, as `jrh.run` returned it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attrs import evolve

from jrh.models.ledger import Ledger
from jrh.plugins.specs import ReportTarget
from jrh.running.from_python import notebook_cell
from jrh.running.outcome import INCOMPLETE, Ended, RunResult, result_of
from jrh.running.remembered_plugins import load_remembered
from jrh.running.reporters import find_reporters, with_sections, write_reports
from jrh.running.run_log import Quiet
from jrh.running.stages.summary import recall, state
from jrh.running.stored_run import open_report, open_store
from jrh.running.without_suite import builder_of_summary
from jrh.suite.definition import Budget


def open_run(run_dir: str | Path, *, plugins: Sequence[str] = ()) -> RunResult:
    """Return what a run gave, as `jrh.run` did; asks no model and writes nothing.

    Args:
        run_dir: the run or the import; the measures of an import are computed.
        plugins: plugins to load, as `--plugins`.

    Raises:
        JrhError: there is no run in the directory, or it stopped before there was anything to report.
    """
    directory = Path(run_dir)
    with open_store(directory) as store:
        known, summary, loaded = state(store), recall(store), load_remembered(store, plugins)
        spent = Ledger.of_store(Budget(), store).totals()
    unended = Ended(exit_code=INCOMPLETE, message="it goes on, was killed, or was merged and not run", complete=False)
    ended = Ended() if known.imported else known.ended or unended
    reporters = find_reporters(loaded.plugins.reporters, summary.reports)
    printing = tuple(each for each in reporters if each.entry.spec.target is ReportTarget.TERMINAL)
    builder = builder_of_summary(summary, loaded, printing)
    with open_report(directory, measure=True, plugins=plugins) as stored:
        report = with_sections(stored, builder, Quiet())
        written = write_reports(builder, report, directory, Quiet())
    files = (directory / each.entry.spec.filename for each in reporters if each not in printing)
    written = evolve(written, files=tuple(file for file in files if file.exists()))
    return evolve(result_of(ended, report, written, directory, spent), cell=lambda: notebook_cell(report, loaded))
