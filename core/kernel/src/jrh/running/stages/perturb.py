"""Perturb and validate: items in, cases out, slice by slice; what did not become a case is recorded with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final

from jrh.plugins.protocols import Logger
from jrh.running.building import Builder
from jrh.running.progress import Noting, Progress
from jrh.running.run_log import Quiet
from jrh.running.stages.assembly import Assembly
from jrh.running.stages.cases_of_drafts import Perturbed, build_cases, reason_of
from jrh.running.stages.load import choose
from jrh.store.temporary import Spool
from jrh.suite.definition import TestUse
from jrh.suite.resolved import ResolvedTest
from jrh.values.cases import Case, Skip
from jrh.values.clusters import in_small_parts
from jrh.values.items import Item, Task

AT_ONCE: Final = 4
"""Items treated together where somebody waits for the cases."""
SLICE: Final = 500
"""Items that are perturbed, validated and written together. Fewer wait more often for the last call of a slice."""
BETWEEN_ANSWERS: Final = 25
"""The same where judges get answers meanwhile, which wait for a slice to end: a tenth of a second."""
UNIT: Final = 100
"""The same where an executor works on several slices at once."""
OUTSIDE: Final = "not in the test's sample"
"""Reason why an item was not perturbed."""


async def make_cases(
    builder: Builder, test: ResolvedTest, task: Task, items: Sequence[Item]
) -> tuple[Sequence[Case], str, Sequence[str]]:
    """Draft and validate the cases of one test over one task before a run.

    Returns:
        The cases, why there are none, and what perturbers remark.
    """
    spool, noting = Spool(Case), Noting()
    reasons: Counter[str] = Counter()
    changes = False
    async for perturbed in in_slices(builder, test, task, items, noting, Quiet()):
        if not changes and len(perturbed.unchanged) < len(perturbed.cases):
            changes = True  # so far every case asked the reference question
            spool.clear()
        spool.add((perturbed.drop_unchanged() if changes else perturbed).cases)
        if not perturbed.cases:
            reasons.update(reason_of(draft, rejection) for _, draft, rejection in perturbed.outcomes)
    cases = spool.all()
    commonest = ", ".join(f"{reason} ({count:,})" for reason, count in reasons.most_common(3)) or "no draft"
    return cases, "" if cases else commonest, noting.said


async def in_slices(
    builder: Builder,
    test: ResolvedTest,
    task: Task,
    items: Sequence[Item],
    progress: Progress,
    log: Logger,
    size: int | None = None,
) -> AsyncIterator[Perturbed]:
    """Draft and validate the cases of one test over one task, so many items at a time.

    All at once where a component has to see all of them.
    """
    chosen = select_items(items, test.use)
    assembly = Assembly(builder, test, task, progress, log)
    # Before the slices: a remark is about all items of the test.
    assembly.remark(chosen)
    usual = SLICE if builder.spread is None else UNIT
    parts = [chosen] if assembly.sees_everything else in_small_parts(chosen, size or usual)
    async for lines in assembly.run_all(parts):
        yield build_cases(lines, test, task, builder.resolved.suite.seed)
    if chosen is items:
        return
    ids = {item.id for item in chosen}
    left = [item for item in items if item.id not in ids]
    if left:
        progress.advance(len(left))
        yield Perturbed(cases=(), outcomes=tuple((item, Skip(reason=OUTSIDE), "") for item in left))


def select_items(items: Sequence[Item], use: TestUse) -> Sequence[Item]:
    """Return the items that a test perturbs, unchanged: those of its ids, and of them its sample."""
    if use.ids:
        wanted = frozenset(use.ids)
        items = [item for item in items if item.id in wanted or item.response_id in wanted]
    sample = use.sample
    # `choose` refuses a sample larger than the items, of which `--limit` may have left few.
    if sample is None or sample.n >= len({item.response_id for item in items}):
        return items
    chosen = {item.id for item in choose(items, sample, None)}
    return [item for item in items if item.id in chosen]
