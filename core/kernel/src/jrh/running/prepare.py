"""Prepare a run: read its data, build every component once, open its files.

Nothing is written until the data and the components have proved usable.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from jrh.errors import JrhError
from jrh.hashing import canonical_json, content_id
from jrh.models.gateway import Gateway
from jrh.models.ledger import Ledger
from jrh.plugins.loading import Events, Loaded
from jrh.plugins.protocols import Logger
from jrh.running.building import Builder
from jrh.running.component_changes import alike_in_parts
from jrh.running.outcome import Settings
from jrh.running.progress import Progress
from jrh.running.rehearsal import check_components, check_stages, dry_builder, priced
from jrh.running.remembered_plugins import note_plugins
from jrh.running.run_log import RunLog
from jrh.running.stages import load as loading_items
from jrh.running.worker import spread_of
from jrh.store.cache import Cache
from jrh.store.database import FILENAME as STORE
from jrh.store.run_store import ALIKE, SEED, SHARD, Store
from jrh.suite.definition import Suite
from jrh.suite.resolved import Resolved, ResolvedSuite, deferred_models, simulated_judges
from jrh.text.redact import Redactor, named_secrets
from jrh.values.items import Item


@frozen(kw_only=True)
class Prepared:
    """Everything a run needs; its files stay open until it ends."""

    resolved: ResolvedSuite
    loaded: Loaded
    settings: Settings
    progress: Progress
    run_dir: Path
    run_id: str
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

    @property
    def suite(self) -> Suite:
        """Return the suite."""
        return self.resolved.suite


@asynccontextmanager
async def prepared(
    resolved: ResolvedSuite, loaded: Loaded, settings: Settings, progress: Progress, run_dir: Path
) -> AsyncIterator[Prepared]:
    """Read the data, open the run's files, and close them at the end.

    Raises:
        JrhError: the data, a component or the run directory cannot be used.
    """
    suite = resolved.suite
    run_id = content_id("run", suite.name, suite.seed)
    redact = Redactor.from_environment(also=named_secrets(part.options for part in _components(resolved)))
    rehearsing = dry_builder(resolved, loaded)
    check_stages(rehearsing)
    progress.begin("load", None)
    items = loading_items.read(rehearsing, progress.say)
    progress.end()
    async with AsyncExitStack() as open_files:  # closed in reverse order
        store = _open_store(rehearsing, items, run_dir, open_files)
        _note_part(store, resolved)
        note_plugins(store, loaded)
        file = RunLog(run_dir, redact)
        open_files.callback(file.close)
        log = file.logger(run=run_id[:8])
        cache = _open_cache(settings, progress, log)
        if cache is not None:
            open_files.callback(cache.close)
        unknown_calls = store.calls.settle_lost(deferred_models(resolved))
        ledger = Ledger.of_store(suite.budget, store)
        progress.spent(ledger.spent())
        gateway = Gateway(
            store, cache, ledger, redact, log, on_paid=lambda: progress.spent(ledger.spent()), wait=settings.wait
        )
        open_files.push_async_callback(gateway.aclose)
        progress.watch(gateway.concurrency.describe)
        builder = Builder(resolved, loaded.plugins, file.logger, priced(suite.budget, gateway.client))
        builder.spread = await spread_of(settings.executor, resolved, loaded.plugins, log, open_files)
        yield Prepared(
            resolved=resolved,
            loaded=loaded,
            settings=settings,
            progress=progress,
            run_dir=run_dir,
            run_id=run_id,
            items=items,
            simulated=simulated_judges(resolved),
            redact=redact,
            store=store,
            log=log,
            events=Events(
                loaded.manager,
                lambda hook, plugin, error: log.warning("event hook raised", hook=hook, plugin=plugin, error=error),
            ),
            gateway=gateway,
            builder=builder,
            unknown_calls=unknown_calls,
        )


def _open_store(
    rehearsing: Builder, items: dict[str, Sequence[Item]], run_dir: Path, open_files: AsyncExitStack
) -> Store:
    """Build every component once and open the store; a new store only if every component could be built."""
    known = (run_dir / STORE).is_file()
    if not known:
        check_components(rehearsing, None, items)
    store = Store.open(run_dir, rehearsing.resolved.suite.name)
    open_files.callback(store.close)
    if known:
        check_components(rehearsing, store, items)
    return store


def _note_part(store: Store, resolved: ResolvedSuite) -> None:
    """Note which part of the run the store holds; refuse to mix parts."""
    now, earlier = str(resolved.shard or ""), store.meta(SHARD)
    if earlier is not None and earlier != now:
        known = f"shard {earlier}" if earlier else "a run without --shard"
        raise JrhError(f"run directory '{store.path.parent}' holds {known}; choose another with --run-dir")
    alike = canonical_json(alike_in_parts(resolved, store.path.parent)) if now else ""
    for key, value in ((SHARD, now), (SEED, str(resolved.suite.seed)), (ALIKE, alike)):
        store.set_meta(key, value)


def _open_cache(settings: Settings, progress: Progress, log: Logger) -> Cache | None:
    if not settings.use_cache:
        return None
    try:
        return Cache.open()
    except Exception as error:  # the cache only saves money; the run continues without it
        log.warning("no cache", error=repr(error))
        progress.say(f"The reply cache is unavailable ({error}); continuing without it.")
        return None


def _components(resolved: ResolvedSuite) -> Iterator[Resolved[Any]]:
    """Yield the components of a suite that may need a secret."""
    yield from resolved.sources
    yield from resolved.models.values()
    yield from resolved.judges
    for test in resolved.tests:
        yield from test.components
