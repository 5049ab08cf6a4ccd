"""A run from suite to report: what `jrh run` and the Python API call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from jrh.running.event_loop import run_in_thread, run_to_end
from jrh.running.from_python import build_request, keyword_defaults, request_from_arguments, result_for_caller
from jrh.running.outcome import RunRequest, RunResult, Settings
from jrh.running.progress import Progress, show_progress
from jrh.running.rehearsal import suite_builder
from jrh.running.remembered_plugins import load_for_suite
from jrh.running.run import run_suite
from jrh.running.stages.load import read
from jrh.suite.overrides import JudgeArgument
from jrh.values.items import Item, Task


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
        plugins: plugins to load, as `--plugins`.
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
    # The arguments of `run` are named once: what it accepts is what the request takes.
    request = request_from_arguments(suite, **{name: value for name, value in locals().items() if name != "suite"})
    with show_progress(quiet=quiet) as progress:
        return result_for_caller(execute(request, progress), request.loaded)


async def run_async(suite: str | Path | Mapping[str, Any], **options: Any) -> RunResult:
    """Run a suite without blocking the event loop; arguments and errors as for `run`.

    The suite runs in a thread of its own. Cancelling the task finishes the calls in flight first.
    """
    request = request_from_arguments(suite, **{**keyword_defaults(run), **options})
    stop = request.settings.stopper
    assert stop is not None
    with show_progress(quiet=request.settings.quiet) as progress:
        # In a thread, because a run reads and writes files, which would block the caller's event loop.
        return result_for_caller(await run_in_thread(partial(run_suite, request, progress), stop), request.loaded)


def read_items(
    suite: str | Path | Mapping[str, Any], *, plugins: Sequence[str] = (), overrides: Sequence[str] = ()
) -> tuple[tuple[Task, Sequence[Item]], ...]:
    """Read and check a suite's data, task by task, as a run would; asks no model and writes nothing.

    Args:
        suite: path of a suite file, or the suite as a mapping.
        plugins: plugins to load, as `--plugins`.
        overrides: `key=value`, as `--set`.

    Raises:
        JrhError: the suite, a plugin or the data cannot be used.
    """
    settings = Settings(plugins=plugins, overrides=tuple(overrides))
    request = build_request(suite, settings, load_for_suite(suite, settings))
    items = read(suite_builder(request.resolved, request.loaded))
    return tuple((use.task, items[use.task.name]) for use in request.suite.tasks)


def execute(request: RunRequest, progress: Progress) -> RunResult:
    """Run a resolved suite to its end, or to where it has to stop."""
    return run_to_end(lambda: run_suite(request, progress), request.settings.stopper)
