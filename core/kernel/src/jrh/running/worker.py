"""The other side of an executor: a process that works on units of a run and keeps nothing of it, and what it is sent.

What is sent is pickled: it crosses the network of one cluster, between processes of one user, as Ray's own messages do.
Nothing pickled is ever stored.
"""

from __future__ import annotations

import asyncio
import io
import pickle
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import metadata
from typing import Any, Final

from attrs import evolve, frozen

from jrh.document.convert import structure
from jrh.errors import RAISED, JrhError
from jrh.plugins.component_identity import Source, code_digest, digest_of, editable_source
from jrh.plugins.factories import LOCAL, make
from jrh.plugins.loading import OnlyPlugins, load_plugins
from jrh.plugins.protocols import Executor, Job, Logger, ModelClient
from jrh.plugins.registry import Entry, Plugins
from jrh.running.building import Builder
from jrh.running.progress import Progress
from jrh.running.run_log import Noted
from jrh.running.stages.assembly import Assembly
from jrh.running.units import MOST_BYTES, Done, Drafted, Spread, answer, spreads
from jrh.suite.resolved import Resolved, ResolvedSuite
from jrh.text.redact import error_line, secret_variables
from jrh.values.items import Task


class NotHereError(Exception):
    """Report that a component needs what only the run itself has: a model, or the data."""


@frozen(kw_only=True)
class Setup:
    """What a worker needs to build the components of a run; a component is sent by name."""

    installed: Mapping[str, tuple[str, str, tuple[str, ...]]]
    """Distribution -> its version, the digest of its code where that is no release, and its modules."""
    local: tuple[tuple[str, Source], ...]
    """Local plugins as they were named, with their code."""
    resolved: bytes
    """The suite, which refers to what the plugins declare."""


class _Sending(pickle.Pickler):
    """Sends a declared component by name: a worker has the plugin, or has loaded its code before."""

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Entry):
            return _find_entry, _entry_key(obj)
        return NotImplemented


_loaded: list[Plugins] = []
"""The plugins of the suite that is being read."""


def _entry_key(entry: Entry[Any]) -> tuple[type, str, str, str]:
    return type(entry.spec), entry.distribution, entry.plugin, entry.spec.name


def _find_entry(kind: type, distribution: str, plugin: str, name: str) -> Entry[Any]:
    for registry in _loaded[-1].registries():
        for entry in registry:
            if _entry_key(entry) == (kind, distribution, plugin, name):
                return entry
    raise JrhError(f"a worker has no component '{distribution}/{name}'; install the same plugins on every machine")


def perform(setup: bytes, work: bytes) -> bytes:
    """Work on a unit; return a `Done` as bytes, whatever happens. A process works on one at a time."""
    try:
        with _one_at_a_time:
            done = _workshop(setup).work(pickle.loads(work))  # noqa: S301 - from the run, by way of its cluster
    except NotHereError:
        done = Done(here=True)
    except JrhError as error:
        done = Done(failed=str(error))
    except RAISED as error:
        done = Done(failed=error_line(error))
    try:
        # What a component returned may hold anything, such as an open file or a lock.
        data = pickle.dumps(done, pickle.HIGHEST_PROTOCOL)
    except RAISED as error:
        return pickle.dumps(Done(failed=f"its result cannot be sent: {error_line(error)}"))
    # The run takes results in order and holds those that come early: their size has to be bounded.
    if len(data) > MOST_BYTES:
        text = f"its result has {len(data) / 2**20:,.0f} MiB, more than {MOST_BYTES / 2**20:,.0f} MiB"
        return pickle.dumps(Done(failed=text))
    return data


# Components and the log of a workshop are for one unit at a time.
_one_at_a_time = threading.Lock()
_known: dict[bytes, _Workshop] = {}


def _workshop(setup: bytes) -> _Workshop:
    """Return the workshop of a run; a process keeps the last one, with what it has built."""
    if setup not in _known:
        sent: Setup = pickle.loads(setup)  # noqa: S301 - from the run, by way of its cluster
        # All code is compared before any of it is executed.
        for name, (version, digest, modules) in sent.installed.items():
            _check_installed(name, version, digest, modules)
        for name, source in sent.local:
            _check_whole(name, source)
        plugins = load_plugins(OnlyPlugins(sorted(sent.installed)), sent.local).plugins
        # Pickle calls `_find_entry` with nothing but the key.
        _loaded[:] = [plugins]
        workshop = _Workshop(pickle.loads(sent.resolved), plugins)  # noqa: S301
        # The last run only: a worker of a cluster outlives runs, and would keep the components of all of them.
        _known.clear()
        _known[setup] = workshop
    return _known[setup]


def _check_whole(name: str, source: Source) -> None:
    """Check that the code that came is the code whose digest the run records."""
    contents = {file.shown: digest_of(file.content) for file in source.modules.values()}
    if any(contents.get(shown) != digest for shown, digest in source.files.items()):
        raise JrhError(f"the code of the local plugin '{name}' did not arrive as it was sent")


def _no_model(*_model: Any) -> ModelClient:
    raise NotHereError


class _Builder(Builder):
    """Builds components that need neither models nor data."""

    def model(self, name: str) -> ModelClient:
        # Models stay in the run, with its keys, its budget and its cache.
        raise NotHereError(name)

    def data(self, task: Task) -> Any:
        # Data stay in the run: a worker gets the items of its unit and no others.
        raise NotHereError(task.name)


class _Workshop:
    """Builds the components of one run, each once, and applies them."""

    def __init__(self, resolved: ResolvedSuite, plugins: Plugins) -> None:
        self._resolved = resolved
        self._log = Noted()
        self._builder = _Builder(resolved, plugins, lambda **_: self._log, _no_model)
        self._judges: dict[tuple[str, str], Any] = {}
        self._assemblies: dict[tuple[str, str], Assembly] = {}

    def work(self, unit: Any) -> Done:
        # The lines go back with the unit that wrote them.
        self._log.lines.clear()
        if isinstance(unit, Drafted):
            value: Any = asyncio.run(self._draft(unit))
        else:
            value = answer(self._judge(unit.judge, unit.task), unit)
        return Done(value=value, log=tuple(self._log.lines))

    def _task(self, name: str) -> Task:
        return next(use.task for use in self._resolved.suite.tasks if use.task.name == name)

    async def _draft(self, unit: Drafted) -> Any:
        key = (unit.task, unit.test)
        if key not in self._assemblies:
            test = next(candidate for candidate in self._resolved.tests if candidate.use == unit.use)
            self._assemblies[key] = Assembly(self._builder, test, self._task(unit.task), Progress(), self._log)
        return await self._assemblies[key].by_turns(unit.items)

    def _judge(self, name: str, task: str) -> Any:
        if (name, task) not in self._judges:
            resolved = next(candidate for candidate in self._resolved.judges if candidate.use.name == name)
            self._judges[name, task] = self._builder.build(resolved, self._task(task))
        return self._judges[name, task]


def _check_installed(name: str, version: str, digest: str, modules: tuple[str, ...]) -> None:
    """Check that this machine has the code that the run records.

    Raises:
        JrhError: it has another version, another source, or none.
    """
    try:
        here = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        raise JrhError(
            f"a worker does not have {name} {version}; install everything the run uses on every machine"
        ) from None
    if here.version != version:
        raise JrhError(f"a worker has {name} {here.version}, the run {version}; install the same on every machine")
    # A release is known by its version; only an editable installation has a digest to compare.
    if digest and code_digest(editable_source(here, modules)) != digest:
        raise JrhError(f"a worker's source code of {name} differs from the run's; install the same on every machine")


IN_PROCESS: Final = "local"
"""What `--executor` means by this process alone."""


@asynccontextmanager
async def open_executor(name: str, builder: Builder, log: Logger) -> AsyncIterator[None]:
    """Let an executor work on units of a run, unless all of them are worked on in this process.

    Raises:
        JrhError: the executor is unknown or cannot be used, or the suite cannot be sent.
    """
    if name in ("", IN_PROCESS):
        yield
        return
    resolved, entry = builder.resolved, builder.plugins.executors.find(name)
    executor: Executor = make(entry, structure({}, entry.spec.options), log)
    async with AsyncExitStack() as open_files:
        open_files.push_async_callback(executor.aclose)
        await executor.open(Job(setup=_setup(resolved), secrets=secret_variables(resolved.options())))
        builder.spread = Spread(executor, name, log)
        yield


def _setup(resolved: ResolvedSuite) -> bytes:
    """Return what workers need of the suite: no model, data source, metric or report, and no component that stays here.

    Raises:
        JrhError: an option cannot be sent.
    """
    # Components that need a model stay in the run, so that no address of one is sent.
    sent = ResolvedSuite(
        suite=evolve(resolved.suite, models={}, metrics=(), reports=()),
        tests=tuple(test for test in resolved.tests if spreads(test.components)),
        judges=tuple(judge for judge in resolved.judges if spreads([judge])),
    )
    used = list(sent.components())
    suite = io.BytesIO()
    try:
        _Sending(suite, pickle.HIGHEST_PROTOCOL).dump(sent)
    except RAISED:
        # Pickle names a type; the user needs the component.
        for part in used:
            _check_sendable(part)
        raise
    local = {part.entry.plugin: source for part in used if part.entry.version == LOCAL for source in part.entry.code()}
    installed = {part.entry.distribution: _identity(part) for part in used if part.entry.version != LOCAL}
    return pickle.dumps(Setup(installed=installed, local=tuple(local.items()), resolved=suite.getvalue()))


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
