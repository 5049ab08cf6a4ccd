"""Read the sentences of whole pages and the decisions of gates, and count the false ones.

Sentences come from the rules that write them. `jrh gate` takes one-sided limits of the measures at an error rate that
rules share over places and looks. The limits are those of the installed metrics; how a decision follows from them is
written here once more, because plugins do not import each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable, RunReport
from jrh.plugins import Metric
from jrh.values import FindingSettings, Flag, TaskSummary
from jrh_measuring import Look, findings_of, load_flags, unsure

from jrh_selftest.checks import ClaimCheck
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


ERROR: Final = 0.025
"""Error rate of a rule, for holding and for failing."""
_METRIC: Final = "gold-accuracy"
_GATE_RESAMPLES: Final = 200


@frozen(kw_only=True)
class Gate(Page):
    """A page with the rule `gold-accuracy >= threshold`."""

    metrics: frozenset[str] = frozenset({_METRIC})
    looks: tuple[int, ...] = ()
    """Number of items at each look, if the run grows."""
    below: float = 0.0
    """How far the threshold is below the planted accuracy."""
    everywhere: bool = False
    """The rule is about every test of every judge, not about the reference condition of one."""

    @property
    def threshold(self) -> float:
        """Return the threshold."""
        return self.accuracy * (1 - self.noise) + self.noise / 2 - self.below


_GATES: Final = (
    Gate(name="gate: 60 items asked once, 0.95", items=60, accuracy=0.95, noise=0.0, tests=0, reference_repeats=1),
    Gate(name="gate: 60 items asked 3 times, 0.90", items=60, accuracy=0.947, noise=0.1, tests=0, reference_repeats=3),
    Gate(name="gate: 12 groups of 5, 0.90", items=60, copies=5, accuracy=0.9, noise=0.0, tests=0, reference_repeats=1),
    Gate(name="gate: 40 groups of 5, 0.80", items=200, copies=5, accuracy=0.85, tests=0, reference_repeats=2),
    Gate(name="gate: 14 places, 0.86", judges=2, tests=6, items=100, accuracy=0.9, everywhere=True),
    Gate(
        name="gate: 10 looks, 0.90",
        items=200,
        accuracy=0.9,
        noise=0.0,
        tests=0,
        reference_repeats=1,
        looks=tuple(range(20, 201, 20)),
    ),
)
_ABOVE: Final = Gate(name="gate: 0.10 above the threshold, 200 items", items=200, accuracy=0.95, tests=0, below=0.1)


def gate_checks(*, full: bool) -> Iterator[ClaimCheck]:
    """Yield the wrong decisions at the threshold, and the right one well above it."""
    if not full:
        return
    for gate in _GATES:
        for outcome in ("holds", "fails"):
            yield ClaimCheck(page=gate, name=f"a rule {outcome} by mistake", kinds=frozenset({outcome}), limit=ERROR)
    yield ClaimCheck(page=_ABOVE, name="a rule holds", kinds=frozenset({"holds"}), least_power=0.8)


def outcomes_of(gate: Gate, metrics: Mapping[str, Metric], generator: np.random.Generator, seed: int) -> frozenset[str]:
    """Draw one study of a gate and return what the rule comes to at any look."""
    records = gate.draw(generator)
    found = set()
    for number, items in enumerate(gate.looks or (gate.items,), start=1):
        there = records.where(records.codes("item_id") < items)
        error = ERROR * Look(number=number).share
        if not gate.looks:  # a run that has a single look
            error = ERROR * Look().share
        found.add(_outcome(gate, metrics, there, error, seed))
    return frozenset(found)


def _outcome(gate: Gate, metrics: Mapping[str, Metric], records: RecordTable, error: float, seed: int) -> str:
    hold = _limits(gate, metrics, records, error, seed)
    fail = _limits(gate, metrics, records, error / len(hold), seed) if len(hold) > 1 else hold
    if any(high is not None and high < gate.threshold for _, high in fail):
        return "fails"
    return "holds" if all(low is not None and low >= gate.threshold for low, _ in hold) else "undecided"


def _limits(
    gate: Gate, metrics: Mapping[str, Metric], records: RecordTable, error: float, seed: int
) -> list[tuple[float | None, float | None]]:
    """Return the limits at every place; none where a flag forbids a decision."""
    context = MetricContext(
        tasks={gate.name: gate.task}, level=1 - 2 * error, resamples=_GATE_RESAMPLES, seed=seed, one_sided=True
    )
    measures = [each for each in metrics[_METRIC].measure(records, context) if not each.cell]
    return [_ends(each) for each in measures if gate.everywhere or each.test == REFERENCE]


@cache
def installed_flags() -> Mapping[str, Flag]:
    """Return the flags that the installed plugins declare."""
    return load_flags()


def _ends(measure: Measure) -> tuple[float | None, float | None]:
    interval = measure.interval
    return (None, None) if interval is None or unsure(measure, installed_flags()) else (interval.low, interval.high)
