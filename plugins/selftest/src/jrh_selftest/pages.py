"""Read the sentences of whole pages, through the rules that write them, and count the false ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np
from attrs import evolve
from jrh import Measure, MetricContext, RecordTable, RunReport
from jrh.plugins import Metric
from jrh.values import FindingSettings, TaskSummary
from jrh_measuring import findings_of

from jrh_selftest.checks import ClaimCheck
from jrh_selftest.gates import installed_flags
from jrh_selftest.page import Page

_RESAMPLES: Final = 1000
"""More than for a single test: the smallest p-value has to survive a correction over the page."""
_DEALINGS: Final = 100
"""The same for the permutation test of excess disagreement, which draws 20 times as many where few are as extreme."""
_LEVEL: Final = 0.95
_CHANGES: Final = frozenset(
    f"{kind}:{severity}"
    for kind in ("accuracy-change", "moves-more-than-reruns", "missing-by-condition", "accuracy-equivalence")
    for severity in ("bad", "warning", "info")
)
"""Every sentence that says that a test changes something."""
_BETTER: Final = frozenset({"trivial-accuracy:good", "trivial-accuracy:bad"})
_SAME: Final = frozenset({"accuracy-equivalence:good"})

_UNEVEN: Final = Page(name="page", accuracy=1.0, noise=0.04)
"""Always right but for rare noise: the mean of many answers and a single one are not exchangeable."""
_NULLS: Final = (
    Page(name="page: 1 judge, 1 test"),
    Page(name="page: 1 judge, 6 tests, 10% missing", tests=6, missing=0.1),
    evolve(_UNEVEN, name="page: 1 judge, 1 test, reference 10x, test 1x", reference_repeats=10, repeats=1),
    evolve(_UNEVEN, name="page: 1 judge, 6 tests, reference 5x, test 1x", tests=6, reference_repeats=5, repeats=1),
    Page(name="page: 8 judges, 6 tests", judges=8, tests=6),
)
"""Nothing changes: every sentence about a change is false."""
_USUAL: Final = tuple(
    Page(
        name=f"page: always the commonest label, {items} items",
        items=items,
        constant=True,
        balance=(share, 1 - share),
        metrics=frozenset({"gold-accuracy", "gain-over-commonest"}),
    )
    for items, share in ((30, 0.55), (60, 0.5), (200, 0.6))
)
_AT_MARGIN: Final = (
    Page(name="page: at the margin, 60 items, 0.05", items=60, spoilt=0.05),
    Page(name="page: at the margin, 100 items, 0.03", items=100, spoilt=0.03, margin=0.03),
    Page(name="page: at the margin, 200 items, 0.05", items=200, spoilt=0.05),
)
"""A judge without noise that is always right, but for rare flips one way: accuracy falls by exactly the margin."""


def claim_checks(*, full: bool) -> Iterator[ClaimCheck]:
    """Yield the sentences to count, each with the pages on which it is false."""
    if not full:
        return
    for page in _NULLS:
        yield ClaimCheck(page=page, name="any false claim of a change", kinds=_CHANGES)
    for page in _USUAL:
        yield ClaimCheck(page=page, name="better or worse than the commonest label", kinds=_BETTER)
    for page in _AT_MARGIN:
        sure = evolve(
            page,
            accuracy=1.0,
            noise=0.0,
            reference_repeats=1,
            repeats=1,
            metrics=frozenset({"accuracy-change", "accuracy-equivalence"}),
        )
        yield ClaimCheck(page=sure, name="equivalent", kinds=_SAME)


def claims_of(page: Page, metrics: Mapping[str, Metric], generator: np.random.Generator, seed: int) -> frozenset[str]:
    """Draw one study of a page and return its sentences, as `kind:severity`."""
    records = page.draw(generator)
    context = MetricContext(
        tasks={page.name: page.task}, level=_LEVEL, resamples=_RESAMPLES, seed=seed, margin=page.margin
    )
    fewer = evolve(context, resamples=_DEALINGS)
    measures = tuple(
        each
        for name in sorted(page.metrics)
        for each in metrics[name].measure(records, fewer if name == "noise-excess" else context)
    )
    found = findings_of(_report(page, records, measures), FindingSettings(margin=page.margin))
    return frozenset(f"{each.kind}:{each.severity.value}" for each in found)


def _report(page: Page, records: RecordTable, measures: tuple[Measure, ...]) -> RunReport:
    reference = records.where(records.equals("test", "reference") & records.equals("judge", page.judge_names[0]))
    first = reference.number("repeat") == 0
    counts = np.bincount(reference.codes("gold")[first], minlength=2).tolist()
    gold = dict(zip(page.task.scale.labels, counts, strict=True))
    return RunReport(
        flags=installed_flags(),
        suite=page.name,
        run_id="selftest",
        version="",
        seed=0,
        level=_LEVEL,
        tasks=(TaskSummary(task=page.task, items=page.items, labelled=page.items, gold=gold),),
        judges=page.judge_names,
        simulated=frozenset(page.judge_names),
        tests=page.test_names,
        measures=measures,
        attrition=(),
        costs=(),
        faults=(),
        components=(),
        planned=len(records),
        missing_records=0,
        notes=(),
        records=records,
    )
