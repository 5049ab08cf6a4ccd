"""A run as it is asked for: its suite resolved, its cost agreed to, and a result that a notebook can show."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from pathlib import Path
from typing import Any

from attrs import evolve

from jrh.errors import JrhError
from jrh.plugins.loading import Loaded
from jrh.plugins.specs import ReportTarget
from jrh.running.cost_question import check_agreed, estimate_cost
from jrh.running.outcome import INTERRUPTED, RunRequest, RunResult, Settings, Stopper
from jrh.running.remembered_plugins import load_for_suite
from jrh.running.without_suite import builder_without_suite
from jrh.suite.overrides import JudgeArgument
from jrh.suite.resolve import load_suite
from jrh.suite.resolved import ResolvedSuite, Shard, shard_suite
from jrh.values.report import RunReport


def request_from_arguments(
    suite: str | Path | Mapping[str, Any],
    *,
    run_dir: str | Path | None,
    plugins: Sequence[str],
    overrides: Sequence[str],
    judges: Sequence[JudgeArgument],
    tests: Sequence[str],
    shard: str | None,
    confirm: float | Callable[[str], bool] | None,
    **others: Any,
) -> RunRequest:
    """Resolve what a caller asked for, and check that its cost is agreed to."""
    settings = Settings(
        run_dir=Path(run_dir) if run_dir is not None else None,
        plugins=plugins,
        overrides=tuple(overrides),
        judges=tuple(judges),
        tests=tuple(tests),
        shard=read_shard(shard),
        # A program that handles Ctrl-C itself keeps its handler.
        signals=(signal.SIGINT,) if signal.getsignal(signal.SIGINT) is signal.default_int_handler else (),
        stopper=Stopper(),
        **others,
    )
    request = build_request(suite, settings, load_for_suite(suite, settings))
    # Only where it was asked for: an estimate reads all data and makes cases.
    if confirm is not None:
        check_agreed(estimate_cost(request), confirm)
    return request


def build_request(suite: str | Path | Mapping[str, Any], settings: Settings, loaded: Loaded) -> RunRequest:
    """Return the run of a suite with these settings and plugins; by default in `runs/<suite name>`."""
    resolved = resolve(suite, loaded, settings)
    directory = settings.run_dir or Path("runs") / resolved.suite.name
    return RunRequest(resolved=resolved, loaded=loaded, settings=settings, run_dir=directory)


def resolve(suite: str | Path | Mapping[str, Any], loaded: Loaded, settings: Settings) -> ResolvedSuite:
    """Load a suite and look its components up."""
    resolved = load_suite(
        Path(suite) if isinstance(suite, str) else suite,
        loaded.plugins,
        overrides=settings.overrides,
        judges=settings.judges,
        tests=settings.tests,
        limit=settings.limit,
        data=settings.data,
    )
    return shard_suite(resolved, settings.shard)


def read_shard(text: str | None) -> Shard | None:
    """Read `3/8`.

    Raises:
        JrhError: it is no shard.
    """
    if text is None:
        return None
    shard = Shard.read(text)
    if shard is None:
        raise JrhError(f"shard: expected NUMBER/COUNT, such as '3/8', got {text!r}")
    return shard


def keyword_defaults(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Return the defaults of a function's keyword arguments."""
    parameters = signature(function).parameters.values()
    return {parameter.name: parameter.default for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}


def result_for_caller(result: RunResult, loaded: Loaded) -> RunResult:
    """Return a result that can show itself in a notebook.

    Raises:
        KeyboardInterrupt: the run was interrupted; it is raised here, as by everything else in Python.
    """
    if result.exit_code == INTERRUPTED:
        # A notebook that runs all its cells must stop here, too.
        raise KeyboardInterrupt(f"interrupted; repeat the call to continue. The answers so far are in {result.run_dir}")
    report = result.report
    return result if report is None else evolve(result, cell=lambda: notebook_cell(report, loaded))


def notebook_cell(report: RunReport, loaded: Loaded) -> str:
    """Return what a notebook shows of a report, as HTML; empty where no reporter is made for that."""
    entries = [entry for entry in loaded.plugins.reporters if entry.spec.target is ReportTarget.NOTEBOOK]
    if not entries:
        return ""
    content = builder_without_suite(loaded.plugins).build_default(entries[0], None).render(report)
    return content if isinstance(content, str) else content.decode("utf-8")
