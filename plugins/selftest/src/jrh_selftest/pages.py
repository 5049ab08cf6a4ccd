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
from jrh import REFERENCE, Measure, MetricContext, RecordTable, RunReport, Scale, Task
from jrh.plugins import Metric
from jrh.values import FindingSettings, Flag, TaskSummary
from jrh_measuring import Look, findings_of, load_flags, unsure
from numpy.typing import NDArray

from jrh_selftest.judging import ALPHA
from jrh_selftest.world import build_records

_COMPARED: Final = frozenset({"accuracy-change", "noise-excess", "missing-by-condition"})


@frozen(kw_only=True)
class Page:
    """The judges and tests of one report."""

    name: str
    judges: int = 1
    tests: int = 1
    items: int = 60
    copies: int = 1
    """Items of one group: a judge believes the same of them."""
    reference_repeats: int = 2
    repeats: int = 2
    accuracy: float = 0.8
    noise: float = 0.1
    spoilt: float = 0.0
    """Share of the items on which a right belief becomes wrong under a test; none becomes right."""
    constant: bool = False
    """Judges always give the first label."""
    missing: float = 0.0
    balance: tuple[float, float] = (0.5, 0.5)
    margin: float = 0.05
    """Margin of the equivalence tests."""
    metrics: frozenset[str] = _COMPARED
    """What the sentences to check are derived from."""

    @property
    def task(self) -> Task:
        """Return the task."""
        return Task(name=self.name, scale=Scale.of_labels("YES", "NO"))

    @property
    def judge_names(self) -> tuple[str, ...]:
        """Return the names of the judges."""
        return tuple(f"judge-{number}" for number in range(self.judges))

    @property
    def test_names(self) -> tuple[str, ...]:
        """Return the names of the conditions, the reference first."""
        return (REFERENCE, *(f"test-{number}" for number in range(self.tests)))

    def draw(self, generator: np.random.Generator) -> RecordTable:
        """Draw the records of one study: new items, new judges."""
        groups = self.items // self.copies
        gold = np.repeat(generator.choice(2, size=groups, p=self.balance), self.copies)
        # Per group: the copies of an item get the same belief, hence one draw for all of them.
        wrong = np.repeat(generator.random((self.judges, groups)) >= self.accuracy, self.copies, axis=1).astype(
            np.int64
        )
        # With two labels, the wrong one is the other one: exclusive or.
        belief = np.zeros_like(wrong) if self.constant else gold ^ wrong
        parts = [self._condition(generator, gold, belief, test) for test in range(self.tests + 1)]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return build_records(
            self.task,
            columns | {"gold": gold[columns["item"]]},
            judges=self.judge_names,
            tests=self.test_names,
            items=self.items,
            copies=self.copies,
        )

    def _condition(
        self, generator: np.random.Generator, gold: NDArray[np.int64], belief: NDArray[np.int64], test: int
    ) -> dict[str, NDArray[np.int64]]:
        if test and self.spoilt:
            # One way only, so that accuracy falls by exactly the planted share.
            lost = (generator.random(belief.shape) < self.spoilt) & (belief == gold)
            belief = np.where(lost, 1 - gold, belief)
        times = self.repeats if test else self.reference_repeats
        judge, item, repeat = np.indices((self.judges, self.items, times)).reshape(3, -1)
        noisy = generator.random(len(item)) < self.noise
        answer = np.where(noisy, generator.integers(0, 2, len(item)), belief[judge, item])
        answer = np.where(generator.random(len(item)) < self.missing, -1, answer)
        tests = np.full(len(item), test)
        return {"judge": judge, "item": item, "repeat": repeat, "test": tests, "answer": answer}


@frozen(kw_only=True)
class ClaimCheck:
    """Sentences of a whole page that would be false, or true ones that it should have."""

    page: Page
    name: str
    kinds: frozenset[str]
    """What a claim says, as in `page_claims`; one of them is an alarm."""
    least_power: float | None = None
    limit: float = ALPHA

    @property
    def where(self) -> str:
        """Return the name of the page."""
        return self.page.name


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
_BETTER: Final = frozenset({"gold-agreement:good", "gold-agreement:bad", "trivial-accuracy:bad"})
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
        metrics=frozenset({"gold-accuracy", "gold-kappa"}),
    )
    for items, share in ((30, 0.55), (60, 0.5), (200, 0.6))
)
_SURE: Final = Page(
    name="page",
    accuracy=1.0,
    noise=0.0,
    reference_repeats=1,
    repeats=1,
    metrics=frozenset({"accuracy-change", "accuracy-equivalence"}),
)
_AT_MARGIN: Final = (
    evolve(_SURE, name="page: at the margin, 60 items, 0.05", items=60, spoilt=0.05),
    evolve(_SURE, name="page: at the margin, 100 items, 0.03", items=100, spoilt=0.03, margin=0.03),
    evolve(_SURE, name="page: at the margin, 200 items, 0.05", items=200, spoilt=0.05),
)
"""A judge without noise that is always right, but for rare flips one way: accuracy falls by exactly the margin."""


def claim_checks() -> Iterator[ClaimCheck]:
    """Yield the sentences to count, each with the pages on which it is false."""
    for page in _NULLS:
        yield ClaimCheck(page=page, name="any false claim of a change", kinds=_CHANGES)
    for page in _USUAL:
        yield ClaimCheck(page=page, name="agreement beyond chance", kinds=_BETTER)
    for page in _AT_MARGIN:
        yield ClaimCheck(page=page, name="equivalent", kinds=_SAME)


def page_claims(page: Page, metrics: Mapping[str, Metric], generator: np.random.Generator, seed: int) -> frozenset[str]:
    """Draw one study of a page and return its sentences, as `kind:severity`."""
    records = page.draw(generator)
    context = MetricContext(
        tasks={page.name: page.task}, level=_LEVEL, resamples=_RESAMPLES, seed=seed, margin=page.margin
    )
    fewer = evolve(context, resamples=_DEALINGS)
    measures = tuple(
        item
        for name in sorted(page.metrics)
        for item in metrics[name].measure(records, fewer if name == "noise-excess" else context)
    )
    findings = findings_of(_report(page, records, measures), FindingSettings(margin=page.margin))
    return frozenset(f"{item.kind}:{item.severity.value}" for item in findings)


def _report(page: Page, records: RecordTable, measures: tuple[Measure, ...]) -> RunReport:
    # Gold labels are counted once per item: first repeat of one judge in the reference condition.
    reference = records.where(records.equals("test", "reference") & records.equals("judge", page.judge_names[0]))
    counts = np.bincount(reference.codes("gold")[reference.number("repeat") == 0], minlength=2).tolist()
    gold = dict(zip(page.task.scale.labels, counts, strict=True))
    return RunReport(
        flags=_flags(), suite=page.name, run_id="selftest", version="", seed=0, level=_LEVEL,
        tasks=(TaskSummary(task=page.task, items=page.items, labelled=page.items, gold=gold),), judges=page.judge_names,
        simulated=frozenset(page.judge_names), tests=page.test_names, measures=measures, planned=len(records),
        missing_records=0, records=records,
    )  # fmt: skip


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


def gate_checks() -> Iterator[ClaimCheck]:
    """Yield the wrong decisions at the threshold, and the right one well above it."""
    for gate in _GATES:
        for outcome in ("holds", "fails"):
            yield ClaimCheck(page=gate, name=f"a rule {outcome} by mistake", kinds=frozenset({outcome}), limit=ERROR)
    yield ClaimCheck(page=_ABOVE, name="a rule holds", kinds=frozenset({"holds"}), least_power=0.8)


def gate_outcomes(
    gate: Gate, metrics: Mapping[str, Metric], generator: np.random.Generator, seed: int
) -> frozenset[str]:
    """Draw one study of a gate and return what the rule comes to at any look."""
    records = gate.draw(generator)
    outcomes = set()
    for number, items in enumerate(gate.looks or (gate.items,), start=1):
        # A run that grows: later looks see the items of earlier ones again.
        there = records.where(records.codes("item_id") < items)
        outcomes.add(_outcome(gate, metrics, there, ERROR * Look(number=number).share, seed))
    return frozenset(outcomes)


def _outcome(gate: Gate, metrics: Mapping[str, Metric], records: RecordTable, error: float, seed: int) -> str:
    hold = _limits(gate, metrics, records, error, seed)
    # A rule over several places fails if any place is surely below: the error is shared among them.
    fail = _limits(gate, metrics, records, error / len(hold), seed) if len(hold) > 1 else hold
    if any(high is not None and high < gate.threshold for _, high in fail):
        return "fails"
    # To hold, all places must be above, and the error of each alone is enough (intersection-union test).
    return "holds" if all(low is not None and low >= gate.threshold for low, _ in hold) else "undecided"


def _limits(
    gate: Gate, metrics: Mapping[str, Metric], records: RecordTable, error: float, seed: int
) -> list[tuple[float | None, float | None]]:
    """Return the limits at every place; none where a flag forbids a decision."""
    context = MetricContext(
        tasks={gate.name: gate.task}, level=1 - 2 * error, resamples=_GATE_RESAMPLES, seed=seed, one_sided=True
    )
    return [
        (None, None)
        if measure.interval is None or unsure(measure, _flags())
        else (measure.interval.low, measure.interval.high)
        for measure in metrics[_METRIC].measure(records, context)
        if not measure.cell and (gate.everywhere or measure.test == REFERENCE)
    ]


# Loaded once: every study of a page needs them.
@cache
def _flags() -> Mapping[str, Flag]:
    """Return the flags that the installed plugins declare."""
    return load_flags()
