"""Judge batch by batch, and ask no more where the suite's allocator says so."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import jrh
from jrh.errors import RAISED, JrhError, PluginError
from jrh.hashing import content_id, derive_seed
from jrh.plugins.protocols import Allocator
from jrh.plugins.specs import AllocatorSpec
from jrh.running.identity import identity
from jrh.running.prepare import Prepared
from jrh.running.schedule import TrialPlanner
from jrh.running.stages.coming_trials import PlanFeed
from jrh.running.stages.judge import judge_all
from jrh.running.stages.stored import DECISIONS
from jrh.store.records_table import TrialRow
from jrh.text import count_noun, visible_line
from jrh.text.redact import error_line
from jrh.values.clusters import clusters_of

# Room for a trillion trials, so that no trial of one batch gets a place in the next.
_BITS: Final = 40
"""Positions of a plan that is judged in batches begin with the number of the batch, and this many bits follow."""
_VERDICTS: Final = frozenset({"presented", "canonical", "probability", "score", "rationale", "argued", "detail"})
"""Columns of records that say what a verdict is."""


def batch_end(batch: int) -> int:
    """Return the position that follows the last trial of a batch, the first of which is 1."""
    return batch << _BITS


def records_shown(spec: AllocatorSpec, slices: Iterable[Mapping[str, Sequence[Any]]]) -> jrh.RecordTable:
    """Return the records of some slices with the columns that an allocator is shown."""
    hidden = frozenset() if spec.sees_verdicts else _VERDICTS
    return jrh.RecordTable.from_slices({name: part[name] for name in part if name not in hidden} for part in slices)


class Batches:
    """The batches of a run, and what its allocator decides after each."""

    def __init__(self, ready: Prepared) -> None:
        """Build the allocator.

        Raises:
            JrhError: it cannot be built, or its batches have no items.
        """
        assert ready.resolved.allocator is not None
        self._ready = ready
        self._resolved = ready.resolved.allocator
        self._name = self._resolved.use.name
        self._allocator: Allocator = ready.builder.build(self._resolved)
        batch = self._allocator.batch
        if not isinstance(batch, int) or batch < 1:
            raise PluginError(f"allocator '{self._name}': a batch needs a whole number of items, at least one")
        seed = ready.resolved.suite.seed
        self._batch_of: dict[tuple[str, str], int] = {}
        for task, items in ready.items.items():
            cluster, first = clusters_of(items), dict[str, int]()
            # In the order of the data, a sorted file would show an allocator one kind of item first.
            keys = ((derive_seed(seed, self._name, cluster[item.id]), cluster[item.id], item.id) for item in items)
            for place, (_, its_cluster, item_id) in enumerate(sorted(keys)):
                # A cluster is never divided: all of it is in the batch of its first item.
                self._batch_of[task, item_id] = first.setdefault(its_cluster, place // batch)
        self._sizes = Counter(self._batch_of.values())

    def plan_id(self, plan: str) -> str:
        """Return the id of a plan in batches; another allocator makes another one."""
        return content_id(plan, identity(self._resolved, self._ready.resolved))

    def trials(self, planner: TrialPlanner, cases: Iterable[jrh.Case]) -> Iterator[TrialRow]:
        """Yield the trials of cases as planned, at positions that sort them by the batch of their item."""
        for case in cases:
            first = batch_end(self._batch_of[case.task, case.item_id])
            yield from (row._replace(position=first + row.position) for row in planner.trials([case]))

    def is_outdated(self) -> bool:
        """Tell whether records that decisions were made by are asked again, as those of failed calls are."""
        decided = self._ready.store.table(DECISIONS).select(columns=("batch",))
        end = batch_end(max((batch for (batch,) in decided), default=0))
        judges = [judge.use.name for judge in self._ready.resolved.judges]
        return any(self._ready.store.trials.trials_to_run(judge, until=end, limit=1) for judge in judges)

    async def judge(self, plan: str, *, replanned: bool) -> None:
        """Let judges answer batch after batch, and take what they are not asked out of the plan.

        Args:
            plan: id of the plan; decisions about another one are forgotten.
            replanned: whether the plan has just been made again; then every decision is, too.

        Raises:
            StopRun: the judging ended early; decisions so far are stored.
            PluginError: the allocator raised, or names judges that were not asked.
        """
        ready, table = self._ready, self._ready.store.table(DECISIONS)
        if replanned or table.digest() != plan:
            # Decisions about another plan were about other questions.
            table.replace(plan, ())
        going: Sequence[str] = [judge.use.name for judge in ready.resolved.judges]
        decided = table.select()
        for batch, judges, _ in decided:
            going = json.loads(judges)
            # Again: the process may have been killed between the decision and this.
            ready.store.trials.leave_out(going, after=batch_end(batch))
        last = max(self._sizes, default=-1) + 1
        for batch in range(len(decided) + 1, last + 1):
            await judge_all(ready, ready.progress, PlanFeed(complete=True, until=batch_end(batch)))
            ready.store.flush()
            # Nothing is left that a decision could stop.
            if batch == last or not going:
                return
            remaining = self._keep(going, batch)
            note = self._note(ready.store.trials.count_others(remaining, after=batch_end(batch)), batch)
            table.append([(batch, json.dumps(remaining), note)])
            # What is left out moves the progress as if it were done.
            pending = ready.store.trials.count_pending()
            ready.store.trials.leave_out(remaining, after=batch_end(batch))
            if note:
                ready.log.info("allocator decided", batch=batch, judges=remaining, note=note)
                ready.progress.say(f"{note[0].upper()}{note[1:]}.")
                ready.progress.advance(pending - ready.store.trials.count_pending())
            going = remaining

    def _keep(self, going: Sequence[str], batch: int) -> list[str]:
        records = records_shown(self._resolved.entry.spec, self._ready.store.records.slices(until=batch_end(batch)))
        try:
            names = _names(self._allocator.keep(tuple(going), batch, records))
        except JrhError:
            raise
        except RAISED as error:
            raise PluginError(f"allocator '{self._name}' failed after batch {batch}: {error_line(error)}") from error
        # A judge that was stopped has no records of later batches, and cannot come back.
        if unknown := sorted(names - set(going)):
            raise PluginError(
                f"allocator '{self._name}' keeps '{visible_line(unknown[0])}', which was not asked in batch {batch}"
            )
        return [judge for judge in going if judge in names]

    def _note(self, left_out: Mapping[str, int], batch: int) -> str:
        """Say which judges a decision ends, and what is not asked for it; empty where it ends none."""
        if not left_out:
            return ""
        done = sum(size for place, size in self._sizes.items() if place < batch)
        judges = ", ".join(f"'{name}' ({count_noun(left, 'question')} not asked)" for name, left in left_out.items())
        caveat = "; it saw verdicts, so intervals are conditional on this decision"
        return (
            f"allocator '{self._name}' stopped after {done:,} of {count_noun(self._sizes.total(), 'item')}: {judges}; "
            f"these are not missing verdicts{caveat if self._resolved.entry.spec.sees_verdicts else ''}"
        )


def _names(kept: object) -> frozenset[str]:
    """Return the names of judges that an allocator keeps; a string is no list of its letters."""
    names = tuple(kept) if isinstance(kept, Iterable) and not isinstance(kept, str | Mapping) else (None,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"it returns {type(kept).__name__}, which is no list of names of judges")
    return frozenset(names)
