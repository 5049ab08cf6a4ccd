"""A run before anything is spent, for what estimates its cost: no model is asked and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from jrh.document.convert import from_text
from jrh.errors import EmptyStoreError
from jrh.plugins.loading import Loaded
from jrh.plugins.secrets import secrets_optional
from jrh.running.building import Builder, OpenModel
from jrh.running.component_changes import changes
from jrh.running.declared_stages import between_stages, revision_of
from jrh.running.gathering import attrition
from jrh.running.outcome import Settings, lost_drafts
from jrh.running.prepare import Prepared
from jrh.running.rehearsal import Todo, check_components, check_stages, dry_builder, left_to_do
from jrh.running.stages import load as loading_items
from jrh.running.stages import perturb as perturbing
from jrh.store.cache import Cache
from jrh.store.cases_table import items_ids
from jrh.store.database import FILENAME
from jrh.store.run_store import Store
from jrh.store.temporary import spooled_as
from jrh.suite.resolved import ResolvedSuite, ResolvedTest
from jrh.values.cases import Case
from jrh.values.items import Item, Task
from jrh.values.verdicts import Reply


@frozen(kw_only=True)
class DryRun:
    """What is known of a run before its first call."""

    resolved: ResolvedSuite
    run_dir: Path
    items: Mapping[str, Sequence[Item]]
    """Task -> its items."""
    items_ids: Mapping[str, str]
    store: Store | None
    """What earlier runs stored in the directory; None where there were none."""
    stored_text: Callable[[str], str | None]
    """Request key -> the reply that is stored for it, in the run directory or in the cache."""
    open_builder: Callable[[OpenModel], Builder]
    """Returns what builds the suite's components, with models that a function opens."""
    remarks: tuple[str, ...] = ()
    """What data sources say about their items, a sentence each."""

    @classmethod
    def of(cls, ready: Prepared) -> DryRun:
        """Return what is known of a run whose files are open."""
        return cls(
            resolved=ready.resolved,
            run_dir=ready.run_dir,
            items=ready.items,
            items_ids=items_ids(ready.items),
            store=ready.store,
            stored_text=ready.gateway.known,
            open_builder=partial(dry_builder, ready.resolved, ready.loaded),
        )

    def stored_reply(self, key: str) -> Reply | None:
        """Return the reply that is stored for a request, in the run directory or in the cache."""
        text = self.stored_text(key)
        return None if text is None else from_text(Reply, text)

    def changes(self) -> tuple[str, ...]:
        """Say what changed in the components since the run directory was written, a sentence each."""
        if self.store is None:
            return ()
        return changes(self.store, self.resolved, self.items_ids, self.run_dir)

    def reference_cases(self, task: Task) -> Sequence[Case]:
        """Return the cases of the reference condition."""
        repeats = self.resolved.suite.reference_repeats
        return spooled_as(Case, (perturbing.reference_case(task, item, repeats) for item in self.items[task.name]))

    def stored_cases(self, builder: Builder, test: ResolvedTest, task: Task) -> Sequence[Case] | None:
        """Return the cases of a test that an earlier run stored; None where they have to be made again."""
        digest = perturbing.stage_digest(builder, test, task, self.items_ids[task.name])
        if self.store is None or self.store.cases.digest(task.name, test.use.name) != digest:
            return None
        return spooled_as(Case, self.store.cases.iterate(task.name, test.use.name))

    def lost_drafts(self, test: ResolvedTest, task: Task) -> str:
        """Count what a test that made no case drafted, such as `2 of 2 drafts rejected`."""
        assert self.store is not None
        return lost_drafts(attrition(self.store, task.name, test.use.name, 0))

    def left_to_do(self, builder: Builder) -> Todo:
        """Return the tests without cases and the judges with trials to run."""
        assert self.store is not None
        return left_to_do(builder, self.store, self.items)

    def counted(self, builder: Builder, cases: Sequence[Case]) -> Sequence[Case]:
        """Return the cases that count by what declared stages know so far."""
        if self.store is None:
            return cases
        tasks = {use.task.name: use.task for use in self.resolved.suite.tasks}
        for stage in between_stages(builder):
            if (rule := stage.foresee(self.store)) is not None:
                cases = spooled_as(Case, filter(None, map(revision_of(rule, tasks), cases)))
        return cases

    def said_by_stages(self, builder: Builder, lines: Sequence[Any]) -> tuple[str, ...]:
        """Return what declared stages add to a plan, a sentence each."""
        return tuple(filter(None, (stage.estimate(lines) for stage in between_stages(builder))))


@contextmanager
def open_dry_run(resolved: ResolvedSuite, loaded: Loaded, run_dir: Path, settings: Settings) -> Iterator[DryRun]:
    """Read what is known of a run in a directory; no key is needed.

    What this opens (SQLite) belongs to the thread that calls it.

    Raises:
        JrhError: as a run would: the data, a component or the run directory cannot be used.
    """
    with secrets_optional():
        check_stages(dry_builder(resolved, loaded))
        store, cache = _earlier_run(run_dir), Cache.view() if settings.use_cache else None

        def stored_text(key: str) -> str | None:
            reply = store.calls.usable_reply(key) if store is not None else None
            return cache.get(key) if reply is None and cache is not None else reply

        try:
            builder = dry_builder(resolved, loaded)
            remarks: list[str] = []
            items = loading_items.read(builder, remarks.append)
            check_components(builder, store, items)
            yield DryRun(
                resolved=resolved,
                run_dir=run_dir,
                items=items,
                items_ids=items_ids(items),
                store=store,
                stored_text=stored_text,
                open_builder=partial(dry_builder, resolved, loaded),
                remarks=tuple(remarks),
            )
        finally:
            for opened in (store, cache):
                if opened is not None:
                    opened.close()


def _earlier_run(run_dir: Path) -> Store | None:
    if not (run_dir / FILENAME).is_file():
        return None
    try:
        return Store.view(run_dir)
    except EmptyStoreError:
        return None
