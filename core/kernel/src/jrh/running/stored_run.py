"""A run that is there: open it, read how it ended, and write its reports again. Nothing here asks a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve

from jrh.plugins.loading import Loaded, load_plugins
from jrh.running.component_changes import source_changes
from jrh.running.declared_stages import add_to_report
from jrh.running.gathering import gather
from jrh.running.outcome import RunState, Written
from jrh.running.remembered_plugins import load_remembered
from jrh.running.reporters import find_reporters, make_directory, with_sections, write_reports
from jrh.running.run_log import Quiet
from jrh.running.stage_work import work_of_store
from jrh.running.stages.summary import recall, state
from jrh.running.without_suite import builder_of_summary
from jrh.store.run_store import Store
from jrh.values.report import RunReport


@contextmanager
def open_store(run_dir: str | Path, *, writing: bool = False) -> Iterator[Store]:
    """Open the store of a run directory: to read it, even while another process writes to it, or to write tables.

    Raises:
        JrhError: there is no run in the directory, or another process writes to it.
    """
    store = Store.view(Path(run_dir))
    if writing:
        # Opened for reading first, which refuses a directory without a run; opened for writing, it would get one.
        suite = store.meta("suite") or ""
        store.close()
        store = Store.open(Path(run_dir), suite)
    try:
        yield store
    finally:
        store.close()


def report_again(
    run_dir: Path,
    loaded: Loaded,
    *,
    formats: Sequence[str] = (),
    settings: Sequence[str] = (),
    output: Path | None = None,
    full: bool = False,
    installed_rules: bool = False,
) -> Written:
    """Compute the measures of a run again and write its reports; needs no suite and asks no model.

    Args:
        run_dir: the run.
        loaded: what is installed.
        formats: names of reporters; where empty, those its suite named, or the defaults.
        settings: options of reporters, as `REPORTER.OPTION=VALUE`.
        output: the directory to write to, made where it is missing; the run's own by default.
        full: print all tables, not the findings in brief.
        installed_rules: decide the findings again with the rules that are installed.

    Raises:
        JrhError: there is no run in the directory, a reporter that is named is not
            installed, or an option is wrong.
    """
    with open_store(run_dir) as store:
        summary = recall(store)
        reporters = find_reporters(loaded.plugins.reporters, summary.reports, formats=formats, settings=settings)
        writing = {reporter.entry.qualified for reporter in reporters}
        named = summary.reports if summary.reports and not formats else ()
        gone = [component.name for component in named if component.component not in writing]
        sentences: list[str] = []
        work = work_of_store(loaded, store, summary, again=True)
        work = evolve(work, installed_rules=installed_rules, say=sentences.append)
        report = add_to_report(gather(store, work.summary, work.records), work)
        builder = builder_of_summary(work.summary, loaded, reporters)
        shown = with_sections(report, builder, Quiet())
        # The report says so, since code that has changed no longer explains the numbers. On the terminal the command
        # does it.
        changed = tuple(source_changes(store, run_dir))
        report, directory = shown.add_notes(changed), make_directory(output or run_dir)
        written = write_reports(builder, report, directory, Quiet(), full=full, shown=shown)
        problems = (*written.problems, *(f"reporter '{name}' writes nothing: it is not loaded" for name in gone))
        incomplete = report.totals if report.incomplete else ""
        return evolve(written, problems=problems, changed=(*sentences, *changed), incomplete=incomplete)


@contextmanager
def open_report(run_dir: str | Path, *, measure: bool = False, plugins: Sequence[str] = ()) -> Iterator[RunReport]:
    """Open a run directory and yield what it found, with the measures as they were stored.

    The report's `evidence` can be read until the context ends. Asks no model and writes nothing.

    Args:
        run_dir: the directory.
        measure: compute the measures where none are stored, as after an import.
        plugins: plugins to load for that, as `--plugins`.

    Raises:
        JrhError: there is no run in the directory, or it stopped before there was anything to report.
    """
    with open_store(run_dir) as store:
        summary = recall(store)
        # Measures that are stored need no plugin.
        again = measure and not store.measures.read()[0]
        loaded = load_remembered(store, plugins) if again else load_plugins()
        work = work_of_store(loaded, store, summary if again else evolve(summary, components=()), again=again)
        yield add_to_report(gather(store, evolve(summary, flags=work.summary.flags), work.records), work)


def run_state(run_dir: str | Path) -> RunState:
    """Read the rules of a run and how it ended; also of one that holds nothing to report yet.

    Raises:
        JrhError: there is no run in the directory.
    """
    with open_store(run_dir) as store:
        return state(store)


def code_changes(run_dir: str | Path) -> tuple[str, ...]:
    """Say whose code has changed since the run was made, a sentence each, for a command that reads what is stored.

    Raises:
        JrhError: there is no run in the directory.
    """
    with open_store(run_dir) as store:
        return tuple(source_changes(store, Path(run_dir), measured=False))
