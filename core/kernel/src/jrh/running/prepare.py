"""Prepare a run: read its data, build every component once, open its files.

Nothing is written until the data and the components have proved usable.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cached_property
from pathlib import Path

from attrs import frozen

from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger
from jrh.plugins.loading import Events
from jrh.plugins.protocols import Logger
from jrh.running.building import Builder
from jrh.running.component_changes import ComponentState, components, note_components, note_part
from jrh.running.outcome import RunRequest
from jrh.running.progress import Progress
from jrh.running.rehearsal import check_components, read_items, suite_builder
from jrh.running.remembered_plugins import note_plugins
from jrh.running.run_log import RunLog
from jrh.store.cache import Cache
from jrh.store.run_store import Store
from jrh.text.redact import Redactor, secrets_of_options
from jrh.values.items import Item


@frozen(kw_only=True)
class Prepared(RunRequest):
    """Everything a run needs; its files stay open until it ends."""

    progress: Progress
    items: dict[str, Sequence[Item]]
    """Task -> its items."""
    simulated: frozenset[str]
    """Judges with planted behaviour."""
    redact: Redactor
    store: Store
    log: Logger
    events: Events
    gateway: Gateway
    builder: Builder
    unknown_calls: int
    """Calls that were in flight when an earlier process was killed."""

    @cached_property
    def component_states(self) -> tuple[ComponentState, ...]:
        """Return what the run is made with: sources were read when the suite was resolved, so that nothing changes."""
        return components(self.resolved, self.run_dir)

    def note_components(self, *roles: str) -> None:
        """Remember the components of these roles: what they made is stored."""
        note_components(self.store, self.component_states, roles)


@asynccontextmanager
async def prepare_run(request: RunRequest, progress: Progress) -> AsyncIterator[Prepared]:
    """Read the data, open the run's files, and close them at the end.

    Raises:
        JrhError: the data, a component or the run directory cannot be used.
    """
    resolved, loaded, settings, run_dir = request.resolved, request.loaded, request.settings, request.run_dir
    # First, since everything below may log or store a text with a key in it.
    redact = Redactor.from_environment(also=secrets_of_options(resolved.options()))
    # A builder without a gateway: a component that asks a model while it is built gets an error, not a reply.
    rehearsing = suite_builder(resolved, loaded)
    progress.begin("load", None)
    items = read_items(rehearsing, progress.say)
    progress.end()
    async with AsyncExitStack() as open_files:  # closed in reverse order
        store = _open_store(rehearsing, items, run_dir, open_files)
        note_part(store, resolved)
        note_plugins(store, loaded)
        file = RunLog(run_dir, redact)
        open_files.callback(file.close)
        log = file.logger(run=request.run_id[:8])
        cache = _open_cache(progress, log) if settings.use_cache else None
        if cache is not None:
            open_files.callback(cache.close)
        # Before the ledger reads the store: calls that a killed process left open count at their worst case.
        unknown_calls = store.calls.settle_lost(resolved.deferred_models)
        ledger = Ledger.of_store(request.suite.budget, store)
        progress.note_spent(ledger.totals())
        gateway = Gateway(
            store, cache, ledger, redact, log, on_paid=lambda: progress.note_spent(ledger.totals()), wait=settings.wait
        )
        # Pushed last and so closed first: calls write their outcomes to the store, the cache and the log.
        open_files.push_async_callback(gateway.aclose)
        progress.watch(gateway.concurrency.describe)
        yield Prepared(
            resolved=resolved,
            loaded=loaded,
            settings=settings,
            run_dir=run_dir,
            progress=progress,
            items=items,
            simulated=resolved.simulated_judges,
            redact=redact,
            store=store,
            log=log,
            events=Events(
                loaded.manager,
                lambda hook, plugin, error: log.warning("event hook raised", hook=hook, plugin=plugin, error=error),
            ),
            gateway=gateway,
            builder=suite_builder(resolved, loaded, gateway.client, file.logger),
            unknown_calls=unknown_calls,
        )


def _open_store(
    rehearsing: Builder, items: dict[str, Sequence[Item]], run_dir: Path, open_files: AsyncExitStack
) -> Store:
    """Build every component once and open the store; a new store only if every component could be built."""
    known = Store.exists(run_dir)
    if not known:
        check_components(rehearsing, None, items)
    store = Store.open(run_dir, rehearsing.resolved.suite.name)
    open_files.callback(store.close)
    # In a known run directory only unfinished work is built: what is finished needs no key and no module.
    if known:
        check_components(rehearsing, store, items)
    return store


def _open_cache(progress: Progress, log: Logger) -> Cache | None:
    try:
        return Cache.open()
    except Exception as error:  # the cache only saves money; the run continues without it
        log.warning("no cache", error=repr(error))
        progress.say(f"The reply cache is unavailable ({error}); continuing without it.")
        return None
