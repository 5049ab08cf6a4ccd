"""A run from suite to report: what `jrh run`, `jrh report` and the Python API call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve

from jrh.document.yaml_reader import read_document
from jrh.errors import JrhError
from jrh.models.client import StandIn
from jrh.plugins.loading import Loaded, load_plugins
from jrh.running.building import Builder
from jrh.running.component_changes import changed_since
from jrh.running.declared_stages import add_to_report, stored_work
from jrh.running.event_loop import run_beside, run_to_end
from jrh.running.from_python import asked_for, default_run_dir, defaults_of, ended, resolve
from jrh.running.gathering import gather
from jrh.running.outcome import RunResult, RunState, Settings
from jrh.running.progress import Progress, show_progress
from jrh.running.remembered_plugins import load_for_suite, load_remembered
from jrh.running.report_sections import with_sections
from jrh.running.reporters import Written, chosen_reporters, write_reports
from jrh.running.run import run_suite
from jrh.running.run_log import Quiet
from jrh.running.stages import load as loading_items
from jrh.running.stages import summary as reporting
from jrh.running.without_suite import suite_of_summary
from jrh.store.run_store import Store
from jrh.suite.overrides import JudgeArgument, override
from jrh.suite.resolved import ResolvedSuite, judge_models
from jrh.values.items import Item, Task
from jrh.values.report import RunReport


def run(
    suite: str | Path | Mapping[str, Any],
    *,
    run_dir: str | Path | None = None,
    plugins: Sequence[str] = (),
    overrides: Sequence[str] = (),
    judges: Sequence[JudgeArgument] = (),
    tests: Sequence[str] = (),
    data: object = None,
    limit: int | None = None,
    shard: str | None = None,
    use_cache: bool = True,
    preflight: bool = True,
    wait: bool = True,
    quiet: bool = False,
    confirm: float | Callable[[str], bool] | None = None,
    executor: str = "local",
) -> RunResult:
    """Run a suite and return its records and measures; the same as `jrh run`.

    Running it again in the same run directory continues where it stopped and asks nothing twice. It works inside of a
    running event loop too, such as a notebook's. An interrupt finishes the calls in flight.

    Args:
        suite: path of a suite file, or the suite as a mapping. A mapping may hold callables as judges, and a list of
            mappings or a data frame as data.
        run_dir: where the store and the reports lie; `runs/<suite name>` by default.
        plugins: allow-list of plugins, as `--plugins`.
        overrides: `key=value`, as `--set`.
        judges: only these judges: names of the suite's, callables, or entries as in a suite.
        tests: only these tests.
        data: rows to read the items from in place of the suite's data: a list of mappings, or a data frame.
        limit: at most so many items of each task.
        shard: run only this part of the items, such as `3/8`, as `--shard`.
        use_cache: share replies with other runs.
        preflight: ask every model once before the first stage, so that a wrong key costs nothing else.
        wait: wait for people's decisions where the suite has a `review`; False ends such a run with exit code 3.
        quiet: show no progress. Progress is shown in notebooks and on terminals only.
        confirm: the most dollars the run may cost, or a function that gets the possible cost and returns whether to
            go on; None: any cost is accepted.
        executor: where tests and judges that call no model are worked on, as `--executor`.

    Raises:
        JrhError: the suite, a plugin or the run directory cannot be used, or the cost is not agreed to.
            The last is a `jrh.errors.CostNotAgreedError`.
        KeyboardInterrupt: interrupted; running it again continues.
    """
    asked = asked_for(suite, **{name: value for name, value in locals().items() if name != "suite"})
    with show_progress(quiet=asked.quiet) as progress:
        return ended(execute(asked.resolved, asked.loaded, asked.settings, progress), asked.loaded)


async def run_async(suite: str | Path | Mapping[str, Any], **options: Any) -> RunResult:
    """Run a suite without blocking the event loop; arguments and errors as for `run`.

    The suite runs in a thread of its own. Cancelling the task finishes the calls in flight first.
    """
    asked = asked_for(suite, **{**defaults_of(run), **options})
    stop = asked.settings.stopper
    assert stop is not None
    with show_progress(quiet=asked.quiet) as progress:
        work = partial(run_suite, asked.resolved, asked.loaded, asked.settings, progress, asked.run_dir)
        return ended(await run_beside(work, stop), asked.loaded)


def read_items(
    suite: str | Path | Mapping[str, Any], *, plugins: Sequence[str] = (), overrides: Sequence[str] = ()
) -> tuple[tuple[Task, Sequence[Item]], ...]:
    """Read and check a suite's data, task by task, as a run would; asks no model and writes nothing.

    Args:
        suite: path of a suite file, or the suite as a mapping.
        plugins: allow-list of plugins, as `--plugins`.
        overrides: `key=value`, as `--set`.

    Raises:
        JrhError: the suite, a plugin or the data cannot be used.
    """
    resolved, loaded = _resolved(suite, plugins, overrides)
    items = loading_items.read(Builder(resolved, loaded.plugins, Quiet, StandIn))
    return tuple((use.task, items[use.task.name]) for use in resolved.suite.tasks)


def read_judge_models(
    suite: str | Path | Mapping[str, Any], *, plugins: Sequence[str] = (), overrides: Sequence[str] = ()
) -> Mapping[str, str]:
    """Return the name of the model that each judge of a suite asks; asks no model and writes nothing.

    Arguments and errors as `read_items`; judges without a model are left out.
    """
    return judge_models(_resolved(suite, plugins, overrides)[0])


def read_suite(
    suite: str | Path, *, plugins: Sequence[str] = (), overrides: Sequence[str] = ()
) -> tuple[Mapping[str, Any], tuple[str, ...]]:
    """Read and check a suite; return it as plain values, and the names of its judges; asks no model, writes nothing.

    Arguments and errors as `read_items`.
    """
    resolved, _ = _resolved(suite, plugins, overrides)
    document = read_document(Path(suite))
    for setting in overrides:
        document = override(document, setting)
    found = document.value if isinstance(document.value, Mapping) else {}  # it is one: the suite has been read
    return found, tuple(use.name for use in resolved.suite.judges)


def _resolved(
    suite: str | Path | Mapping[str, Any], plugins: Sequence[str], overrides: Sequence[str]
) -> tuple[ResolvedSuite, Loaded]:
    settings = Settings(plugins=tuple(plugins), overrides=tuple(overrides))
    loaded = load_for_suite(suite, settings)
    return resolve(suite, loaded, settings), loaded


def execute(resolved: ResolvedSuite, loaded: Loaded, settings: Settings, progress: Progress) -> RunResult:
    """Run a resolved suite to its end, or to where it has to stop."""
    run_dir = settings.run_dir or default_run_dir(resolved)
    return run_to_end(lambda: run_suite(resolved, loaded, settings, progress, run_dir), settings.stopper)


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
        JrhError: there is no run in the directory, a reporter that is named or a metric the run was made with is not
            installed, or an option is wrong.
    """
    store = Store.view(run_dir)
    try:
        named = reporting.recall(store).reports
        reporters = chosen_reporters(loaded.plugins.reporters, named, formats=formats, settings=settings)
        said: list[str] = []
        work = stored_work(loaded, store, reporting.recall(store), again=True)
        work = evolve(work, installed_rules=installed_rules, say=said.append)
        report = add_to_report(gather(store, work.summary, work.records), work)
        builder = Builder(suite_of_summary(work.summary, loaded, reporters), loaded.plugins, Quiet, StandIn)
        report = with_sections(report, builder, Quiet())
        changed = tuple(changed_since(store, run_dir))
        report = evolve(report, notes=(*report.notes, *changed), warnings=(*report.warnings, *changed))
        written = write_reports(builder, report, _made(output or run_dir), Quiet(), full=full, said=changed)
        return evolve(written, changed=(*said, *changed), incomplete=report.totals if report.incomplete else "")
    finally:
        store.close()


def _made(directory: Path) -> Path:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise JrhError(f"cannot make the directory '{directory}': {error.strerror or error}") from error
    return directory


@contextmanager
def open_run(run_dir: str | Path, *, measure: bool = False, plugins: Sequence[str] = ()) -> Iterator[RunReport]:
    """Open a run directory and yield what it found, with the measures as they were stored.

    The report's `evidence` can be read until the context ends. Asks no model and writes nothing.

    Args:
        run_dir: the directory.
        measure: compute the measures where none are stored, as after an import.
        plugins: allow-list of plugins for that, as `--plugins`.

    Raises:
        JrhError: there is no run in the directory, or it stopped before there was anything to report.
    """
    store = Store.view(Path(run_dir))
    try:
        summary = reporting.recall(store)
        again = measure and not store.measures.read()[0]
        loaded = load_remembered(store, tuple(plugins)) if again else load_plugins()
        work = stored_work(loaded, store, summary if again else evolve(summary, components=()), again=again)
        yield add_to_report(gather(store, evolve(summary, flags=work.summary.flags), work.records), work)
    finally:
        store.close()


def run_state(run_dir: str | Path) -> RunState:
    """Read the rules of a run and how it ended; also of one that holds nothing to report yet.

    Raises:
        JrhError: there is no run in the directory.
    """
    store = Store.view(Path(run_dir))
    try:
        return reporting.state(store)
    finally:
        store.close()


def code_changes(run_dir: str | Path) -> tuple[str, ...]:
    """Say whose code has changed since the run was made, a sentence each, for a command that reads what is stored.

    Raises:
        JrhError: there is no run in the directory.
    """
    store = Store.view(Path(run_dir))
    try:
        return tuple(changed_since(store, Path(run_dir), measured=False))
    finally:
        store.close()


def meant_by(measure: str) -> str:
    """Ask which measure is meant by a name that none has, such as `accuracy`; empty for any other name.

    Loads the installed plugins: their metrics declare such names.
    """
    return load_plugins().plugins.metrics.meant_by(measure)
