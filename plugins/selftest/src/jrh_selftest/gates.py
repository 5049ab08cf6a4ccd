"""Decide rules as a gate does, at thresholds that are exactly met, and count the wrong decisions.

`jrh gate` takes one-sided limits of the measures at an error rate that rules share over places and looks. The limits
are those of the installed metrics, the share of a look is the kernel's; how a decision follows from them is written
here once more, because plugins do not import each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable
from jrh.plugins import Metric
from jrh.running import load_flags
from jrh.values import Flag
from jrh_measuring import Look, unsure

from jrh_selftest.checks import ClaimCheck
from jrh_selftest.page import Page

ERROR: Final = 0.025
"""Error rate of a rule, for holding and for failing."""
_METRIC: Final = "gold-accuracy"
_RESAMPLES: Final = 200


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
        tasks={gate.name: gate.task}, level=1 - 2 * error, resamples=_RESAMPLES, seed=seed, one_sided=True
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
