"""Open the executor of a run, and send it what its workers need."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any, Final

from attrs import evolve

from jrh.document.convert import structure
from jrh.errors import RAISED, JrhError
from jrh.plugins.component_identity import code_digest
from jrh.plugins.executors import Executor, Job
from jrh.plugins.factories import LOCAL, make
from jrh.plugins.protocols import Logger
from jrh.plugins.registry import Plugins
from jrh.running.units import Spread, spreads
from jrh.running.worker import Setup, packed
from jrh.suite.resolved import Resolved, ResolvedSuite
from jrh.text.redact import error_line, secret_variables

IN_PROCESS: Final = "local"
"""What `--executor` means by this process alone."""


async def spread_of(
    name: str, resolved: ResolvedSuite, plugins: Plugins, log: Logger, open_files: AsyncExitStack
) -> Spread | None:
    """Return what spreads the units of a run; None where all of them are worked on in this process.

    Raises:
        JrhError: the executor is unknown or cannot be used, or the suite cannot be sent.
    """
    if name in ("", IN_PROCESS):
        return None
    entry = plugins.executors.find(name)
    executor: Executor = make(entry, structure({}, entry.spec.options), log)
    job = Job(setup=_setup(resolved), secrets=secret_variables(part.options for part in _with_keys(resolved)))
    open_files.push_async_callback(executor.aclose)
    await executor.open(job)
    return Spread(executor, name, log)


def _with_keys(resolved: ResolvedSuite) -> Iterator[Resolved[Any]]:
    yield from resolved.sources
    yield from resolved.models.values()
    yield from _workers(resolved)


def _workers(resolved: ResolvedSuite) -> Iterator[Resolved[Any]]:
    """Yield every component that may work elsewhere, with its parts."""
    for component in (*(part for test in resolved.tests for part in test.components), *resolved.judges):
        yield from (component, *component.parts)


def _setup(resolved: ResolvedSuite) -> bytes:
    """Return what workers need of the suite: no model, data source, metric or report, and no component that stays here.

    Raises:
        JrhError: an option cannot be sent.
    """
    sent = evolve(
        resolved,
        suite=evolve(resolved.suite, models={}, metrics=(), reports=()),
        sources=(),
        models={},
        metrics=(),
        reporters=(),
        stages={},
        tests=tuple(test for test in resolved.tests if spreads(test.components)),
        judges=tuple(judge for judge in resolved.judges if spreads([judge])),
        parsers={},
    )
    used = list(_workers(sent))
    try:
        suite = packed(sent)
    except RAISED:
        for part in used:
            _check_sendable(part)
        raise
    local = {part.entry.plugin: source for part in used if part.entry.version == LOCAL for source in part.entry.code()}
    installed = {part.entry.distribution: _identity(part) for part in used if part.entry.version != LOCAL}
    return pickle.dumps(Setup(installed=installed, local=tuple(local.items()), resolved=suite))


def _identity(part: Resolved[Any]) -> tuple[str, str, tuple[str, ...]]:
    declared = part.entry.spec.factory
    modules = (declared.partition(":")[0],) if isinstance(declared, str) else ()
    return part.entry.version, code_digest(part.entry.code()), modules


def _check_sendable(part: Resolved[Any]) -> None:
    try:
        pickle.dumps((part.use, part.options))
    except RAISED as error:
        raise JrhError(
            f"'{part.use.name}' cannot be sent to other machines: {error_line(error)}; "
            "use options that are text, numbers or lists, or leave out --executor"
        ) from None
