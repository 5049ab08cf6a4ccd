"""A run before anything is spent, for what estimates its cost: no model is asked and nothing is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cached_property, partial
from typing import Any

from attrs import frozen

from jrh.models.client import OpenModel
from jrh.plugins.secrets import secrets_optional
from jrh.running.building import Builder
from jrh.running.declared_stages import between_stages, revision_of
from jrh.running.outcome import RunRequest
from jrh.running.rehearsal import Todo, check_components, read_items, suite_builder, work_left
from jrh.running.stages.cases_of_drafts import stage_digest
from jrh.store.cache import Cache, stored_reply
from jrh.store.cases_table import items_ids
from jrh.store.run_store import Store
from jrh.store.temporary import spool_values
from jrh.suite.resolved import ResolvedTest
from jrh.values.cases import Case
from jrh.values.items import Item, Task
from jrh.values.verdicts import Reply


@frozen(kw_only=True)
class DryRun:
    """What is known of a run before its first call."""

    request: RunRequest
    """The run: its suite, settings and directory."""
    items: Mapping[str, Sequence[Item]]
    """Task -> its items."""
    store: Store | None
    """What earlier runs stored in the directory; None where there were none."""
    stored_reply: Callable[[str], Reply | None]
    """Request key -> the reply that is stored for it, in the run directory or in the cache."""
    remarks: tuple[str, ...] = ()
    """What data sources say about their items, a sentence each."""

    @cached_property
    def items_ids(self) -> Mapping[str, str]:
        """Return the ids of the items of every task."""
        return items_ids(self.items)

    def open_builder(self, open_model: OpenModel) -> Builder:
        """Return what builds the suite's components, with models that a function opens."""
        return suite_builder(self.request.resolved, self.request.loaded, open_model)

    def find_cases(self, builder: Builder, test: ResolvedTest, task: Task) -> Sequence[Case] | None:
        """Return the cases of a test that an earlier run stored; None where they have to be made again."""
        digest = stage_digest(builder, test, task, self.items_ids[task.name])
        # With another digest, of an option, of code or of data, the run will make the cases again.
        if self.store is None or self.store.cases.digest(task.name, test.use.name) != digest:
            return None
        return spool_values(Case, self.store.cases.iterate(task.name, test.use.name))

    def work_left(self, builder: Builder) -> Todo:
        """Return the tests without cases and the judges with trials to run."""
        assert self.store is not None
        return work_left(builder, self.store, self.items)

    def counted(self, builder: Builder, cases: Sequence[Case]) -> Sequence[Case]:
        """Return the cases that count by what declared stages know so far."""
        if self.store is None:
            return cases
        for stage in between_stages(builder):
            if (rule := stage.foresee(self.store)) is not None:
                cases = spool_values(Case, filter(None, map(revision_of(rule, self.request.tasks), cases)))
        return cases

    def stage_notes(self, builder: Builder, lines: Sequence[Any]) -> tuple[str, ...]:
        """Return what declared stages add to a plan, a sentence each."""
        return tuple(filter(None, (stage.estimate(lines) for stage in between_stages(builder))))


@contextmanager
def open_dry_run(request: RunRequest) -> Iterator[DryRun]:
    """Read what is known of a run in a directory; no key is needed.

    What this opens (SQLite) belongs to the thread that calls it.

    Raises:
        JrhError: as a run would: the data, a component or the run directory cannot be used.
    """
    # Components are built and ask nothing: what a run will cost can be seen before there is a key.
    with secrets_optional(), ExitStack() as opened:
        store = Store.view_earlier(request.run_dir)
        cache = Cache.view() if request.settings.use_cache else None
        for file in (store, cache):
            if file is not None:
                opened.callback(file.close)

        calls = store.calls if store is not None else None
        builder = suite_builder(request.resolved, request.loaded)
        remarks: list[str] = []
        items = read_items(builder, remarks.append)
        check_components(builder, store, items)
        known = partial(stored_reply, calls=calls, cache=cache)
        yield DryRun(request=request, items=items, store=store, stored_reply=known, remarks=tuple(remarks))
