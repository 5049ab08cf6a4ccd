"""Test the contract of every metric."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
from attrs import evolve, frozen
from jrh import Interval, Measure, MetricContext, MetricSpec, Record, RecordTable, Status, Task
from jrh.plugins import FlagSpec, MeasureInfo
from jrh.plugins.specs import Spec
from jrh_measuring import SIMULATED

from jrh_testing.building import declarations
from jrh_testing.contracts.base import ComponentContract
from jrh_testing.reports import flags_by_name, sample_records
from jrh_testing.samples import sample_tasks

OFF_SCALE: Final = "no label of any scale"
_OTHER_STATUSES: Final = frozenset(status.value for status in Status if status is not Status.OFF_SCALE)
# Any of these says why a coefficient has no value.
_NOT_ESTIMABLE: Final = frozenset({"one-item", "degenerate", "empty", "all-missing"})


@frozen(kw_only=True)
class Situation:
    """One way in which records can tell little."""

    name: str
    change: Callable[[Sequence[Record], Task], list[Record]]
    """Bring some records into the situation."""
    faults: Callable[[Measure, Set[str]], Iterator[str]]
    """Say what is wrong with a measure of such records; the names are those of measures about missing verdicts."""


def without_verdict(record: Record) -> Record:
    """Return the record as if the judge had not answered in time."""
    return evolve(record, status=Status.TIMEOUT, presented=None, canonical=None, probability=None, rationale="")


def _one_item(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return [record for record in records if record.item_id == records[0].item_id]


def _nothing(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return []


def _all_missing(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return [without_verdict(record) for record in records]


def _constant(records: Sequence[Record], task: Task) -> list[Record]:
    label = task.scale.labels[0]
    return [evolve(record, status=Status.OK, presented=label, canonical=label) for record in records]


def _off_scale(records: Sequence[Record], task: Task) -> list[Record]:  # noqa: ARG001
    return [evolve(record, status=Status.OK, presented=OFF_SCALE, canonical=OFF_SCALE) for record in records]


def _of_one_item(measure: Measure, about_missing: Set[str]) -> Iterator[str]:  # noqa: ARG001
    if measure.n_items and "few-items" not in measure.flags:
        yield "rests on one item and has no flag 'few-items'"
    if measure.unit == "coefficient" and measure.estimate is not None:
        yield f"estimates {measure.estimate} from one item, between which a coefficient is"
    if measure.unit == "coefficient" and measure.n_items and not _NOT_ESTIMABLE.intersection(measure.flags):
        yield f"has none of the flags {', '.join(sorted(_NOT_ESTIMABLE))}"


def _of_nothing(measure: Measure, about_missing: Set[str]) -> Iterator[str]:  # noqa: ARG001
    if measure.estimate is not None or measure.interval is not None:
        yield "has an estimate"
    if not measure.flags and not measure.note:
        yield "says neither in a flag nor in its note why there is no estimate"


def _of_missing(measure: Measure, about_missing: Set[str]) -> Iterator[str]:
    # A share of missing verdicts rests on exactly these trials.
    if measure.name in about_missing:
        return
    if measure.estimate is not None or measure.n_trials:
        yield "rests on trials without a verdict; see `about_missing`"
    elif measure.missing and "all-missing" not in measure.flags:
        yield "has no flag 'all-missing'"


def _of_off_scale(measure: Measure, about_missing: Set[str]) -> Iterator[str]:
    yield from _of_missing(measure, about_missing)
    if _OTHER_STATUSES.intersection(measure.missing):
        yield f"counts {dict(measure.missing)} where all verdicts are off the scale"


def _of_constant(measure: Measure, about_missing: Set[str]) -> Iterator[str]:  # noqa: ARG001
    # A single trial is always constant; the flag would say nothing.
    if measure.n_trials > 1 and "constant-verdicts" not in measure.flags:
        yield "has no flag 'constant-verdicts'"


ALL_MISSING: Final = Situation(name="all verdicts missing", change=_all_missing, faults=_of_missing)
SITUATIONS: Final = (
    Situation(name="one item", change=_one_item, faults=_of_one_item),
    Situation(name="no item", change=_nothing, faults=_of_nothing),
    ALL_MISSING,
    Situation(name="all verdicts the same", change=_constant, faults=_of_constant),
    Situation(name="all verdicts off the scale", change=_off_scale, faults=_of_off_scale),
)


_GAPS = {"no_reference", *(status.value for status in Status if status is not Status.OK)}
"""What `Measure.missing` may count by."""


COMMON_FLAGS: Final = frozenset(
    {
        "all-missing",
        "constant-verdicts",
        "empty",
        "few-clusters",
        "few-events",
        "few-items",
        "informative-missing",
        "one-item",
        "sensitive-to-missing",
        "simulated",
        "untestable-missing",
    }
)
"""Flags that any measure may have; a declaration names the others."""
_EVERYWHERE: Final = frozenset({"wilson-clusters", "imbens-manski"})
"""Intervals that replace the declared one: where no cluster differs, and where verdicts are missing."""
_OF_RATES: Final = frozenset({"clopper-pearson", "clopper-pearson-clusters", "korn-graubard"})


_CACHE: Final[dict[object, list[Measure]]] = {}
"""Contract class, task and situation -> what the metric measures there, once: bootstraps take most of the time."""


class MetricContract(ComponentContract):
    """Contract tests for every metric, on tables with many, few and no records."""

    role: ClassVar[type[Spec]] = MetricSpec
    # As in a run, all metrics read one table: it is coded once, by whichever is first.
    table_of: Callable[[tuple[Record, ...]], RecordTable] = staticmethod(lru_cache(512)(RecordTable.from_records))
    interval_tolerance: ClassVar[float] = 1e-9
    """How far interval limits may move when rows are permuted; 0 suffices for a bootstrap that sorts its clusters."""
    other_gaps: ClassVar[frozenset[str]] = frozenset()
    """Keys of `Measure.missing` other than the statuses and `no_reference`."""
    about_missing: ClassVar[frozenset[str]] = frozenset()
    """Names of measures about missing verdicts themselves: they rest on trials without one."""
    silent: ClassVar[str] = ""
    """Why the metric finds nothing in the sample records; empty: it finds something."""

    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks to test with: the one given, or one of every kind of scale."""
        return (self.task,) if self.task is not None else sample_tasks()

    def records_of(self, task: Task) -> tuple[Record, ...]:
        """Return the records to measure."""
        return sample_records(task)

    def measure(self, base: Path, task: Task, records: Sequence[Record]) -> list[Measure]:
        """Build the metric and measure the records."""
        items = {task.name: self.items} if self.items else {}
        # The fewest resamples that a suite may ask for: the contract is about form, not about precision.
        context = MetricContext(tasks={task.name: task}, items=items, resamples=100, seed=1)
        return list(self.build_component(base, task).measure(self.table_of(tuple(records)), context))

    def cached_measures(self, base: Path, task: Task, situation: Situation | None = None) -> list[Measure]:
        """Return the measures of the task's records, in a situation if one is given; each is measured once."""
        # A task is not hashable; its text says all that the measures depend on.
        place = (type(self), repr(task), situation)
        if place not in _CACHE:
            records = self.records_of(task)
            _CACHE[place] = self.measure(base, task, situation.change(records, task) if situation else records)
        return _CACHE[place]

    def test_it_measures_something(self, base: Path) -> None:
        """If this fails: nothing is estimated, so nothing else is tested; override `records_of`, or say `silent`."""
        if self.silent:
            return
        for task in self.tasks():
            estimates = [m for m in self.cached_measures(base, task) if m.estimate is not None]
            assert estimates, f"no measure has an estimate on {task.scale.kind.value} records"

    def test_every_measure_is_sound(self, base: Path) -> None:
        """If this fails: estimates are finite or None, proportions are 0 to 1, limits are in order, counts add up.

        A metric that declares its `measures` declares all of them, with their units, their flags besides
        `COMMON_FLAGS`, and how their intervals are made.
        """
        for task in self.tasks():
            records = self.records_of(task)
            for measure in self.cached_measures(base, task):
                _assert_sound(measure, records, self._gaps)
                _assert_declared(measure, self.spec.measures)

    def test_no_measure_comes_twice(self, base: Path) -> None:
        """If this fails: two measures have the same name, judge, task, test and cell; tell them apart by `cell`."""
        for task in self.tasks():
            keys = Counter(_key(measure) for measure in self.cached_measures(base, task))
            twice = [key for key, count in keys.items() if count > 1]
            assert not twice, f"measured more than once: {twice}"

    def test_nothing_comes_out_of_nothing(self, base: Path) -> None:
        """If this fails: a table without records has no estimate."""
        for task in self.tasks():
            for measure in self.measure(base, task, ()):
                assert measure.estimate is None, f"'{measure.name}' estimates {measure.estimate} from no record"

    def test_missing_verdicts_are_not_numbers(self, base: Path) -> None:
        """If this fails: where no trial has a verdict there is no estimate of what judges answer; it is None."""
        for task in self.tasks():
            records = self.records_of(task)
            for measure in self.cached_measures(base, task, ALL_MISSING):
                _assert_sound(measure, records, self._gaps)

    def test_the_flags_are_those_of_every_metric(self, base: Path) -> None:
        """If this fails: build measures with `jrh_measuring.MeasureBuilder`, which adds the flags any measure has.

        On one item, no item, verdicts that are all missing, all the same, or all off the scale, every measure has the
        same flags; the table is `jrh_testing.contracts.metrics`.
        """
        for task in self.tasks():
            for situation in SITUATIONS:
                for measure in self.cached_measures(base, task, situation):
                    faults = list(situation.faults(measure, self.about_missing))
                    assert not faults, f"{situation.name}: '{measure.name}' of '{measure.judge}' {'; '.join(faults)}"

    def test_every_flag_says_what_it_means(self, base: Path) -> None:
        """If this fails: declare the flag with `jrh_flags`, or no report can explain it and no claim heeds it."""
        declared = {spec.name for spec in declarations(self.plugin) if isinstance(spec, FlagSpec)}
        # Flags of other plugins are fine: metrics share what `MeasureBuilder` adds.
        known = declared | {*flags_by_name(), SIMULATED}
        for task in self.tasks():
            for situation in SITUATIONS:
                measures = self.cached_measures(base, task, situation)
                undeclared = {flag for measure in measures for flag in measure.flags} - known
                assert not undeclared, f"{situation.name}: undeclared flags {', '.join(sorted(undeclared))}"

    def test_one_record_is_measured(self, base: Path) -> None:
        """If this fails: small tables occur; return None if an estimate or interval needs more records."""
        for task in self.tasks():
            for record in self.records_of(task)[:5]:
                for measure in self.measure(base, task, (record,)):
                    _assert_sound(measure, (record,), self._gaps)

    def test_the_same_records_give_the_same_measures(self, base: Path) -> None:
        """If this fails: something draws without `context.seed`, or a set decides the order."""
        for task in self.tasks():
            before = self.cached_measures(base, task)
            # Another table: what is computed once per table would be equal whatever drew it.
            self.table_of = RecordTable.from_records
            assert self.measure(base, task, self.records_of(task)) == before, "a second measuring differs"

    def test_the_order_of_records_does_not_matter(self, base: Path) -> None:
        """If this fails: rows are paired by position, or a bootstrap draws clusters in order of appearance."""
        for task in self.tasks():
            records = self.records_of(task)
            # A fixed permutation, so that a failure can be repeated.
            order = np.random.default_rng(0).permutation(len(records)).tolist()
            # Rebuilt from plain rows, so that the categories too come in another order.
            mixed = [records[row] for row in order]
            before = {_key(measure): measure for measure in self.cached_measures(base, task)}
            after = {_key(measure): measure for measure in self.measure(base, task, mixed)}
            assert set(after) == set(before), "other measures come out of the same records in another order"
            for key, measure in before.items():
                self._assert_same(measure, after[key])

    @property
    def _gaps(self) -> Set[str]:
        return _GAPS | self.other_gaps

    def _assert_same(self, one: Measure, other: Measure) -> None:
        assert _counts(other) == _counts(one), f"'{one.name}' counts otherwise in another order"
        # Sums in another order differ in the last digits; estimates must not differ more.
        close = _close(one.estimate, other.estimate, 1e-9)
        assert close, f"'{one.name}' is {one.estimate}, and {other.estimate} in another order"
        pairs = zip(_limits(one), _limits(other), strict=True)
        moved = [pair for pair in pairs if not _close(*pair, self.interval_tolerance)]
        assert not moved, f"the limits of '{one.name}' move with the order: {moved}"


def _key(measure: Measure) -> tuple[object, ...]:
    return (measure.name, measure.judge, measure.task, measure.test, tuple(sorted(measure.cell.items())))


def _close(one: float | None, other: float | None, tolerance: float) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=0.0, abs_tol=tolerance)


def _counts(measure: Measure) -> Measure:
    return evolve(measure, estimate=None, interval=None, bounds=None)


def _limits(measure: Measure) -> tuple[float | None, ...]:
    interval = measure.interval
    limits = (interval.low, interval.high) if interval else (None, None)
    return (*limits, *(measure.bounds or (None, None)))


def _assert_sound(measure: Measure, records: Sequence[Record], gaps: Set[str]) -> None:
    what = f"'{measure.name}' of '{measure.judge}'"
    judges = {record.judge for record in records}
    assert measure.judge in judges | {""}, f"{what}: no record is of that judge"
    assert 0 <= measure.n_items <= measure.n_trials <= len(records), (
        f"{what}: {measure.n_items} items and {measure.n_trials} trials of {len(records)} records"
    )
    # A mean of nothing is NaN in most libraries, and NaN passes most comparisons.
    assert measure.n_trials or measure.estimate is None, f"{what}: {measure.estimate} estimated from no trial"
    strange = [status for status in measure.missing if status not in gaps]
    assert not strange, f"{what}: missing by {', '.join(strange)}, which is no status and not in other_gaps"
    _assert_numbers(measure, what)
    if measure.interval is not None:
        _assert_interval(measure, measure.interval, what)


def _assert_declared(measure: Measure, declared: Sequence[MeasureInfo]) -> None:
    infos = [info for info in declared if info.describes(measure.name)]
    assert infos or not declared, f"'{measure.name}' is not among the `measures` of its MetricSpec"
    # The p-value of a measure goes with it under the name `-p` and need not be declared.
    units = {"p-value", *(unit for info in infos for unit in info.unit.split(" or "))}
    assert not infos or measure.unit in units, f"'{measure.name}' has the unit {measure.unit}, not {infos[0].unit}"
    if infos:
        undeclared = set(measure.flags) - COMMON_FLAGS - {flag for info in infos for flag in info.flags}
        assert not undeclared, f"'{measure.name}' has flags that its declaration does not name: {sorted(undeclared)}"
    if infos and measure.interval is not None:
        _assert_method(measure.name, measure.interval.method, infos)


def _assert_method(name: str, method: str, declared: Sequence[MeasureInfo]) -> None:
    stated = " ".join(info.interval for info in declared)
    rate = any(info.rate or "rate" in info.interval for info in declared)
    assert stated or rate, f"'{name}' has the interval '{method}', and its declaration says none"
    # Methods are written in backquotes in the text that explains the interval.
    named = set(re.findall(r"`([^`]+)`", stated))
    if named or not stated:
        methods = named | _EVERYWHERE | (_OF_RATES if rate else frozenset())
        assert method in methods, f"'{name}' has the interval '{method}', which its declaration does not name: {stated}"


def _assert_numbers(measure: Measure, what: str) -> None:
    numbers = [number for number in (measure.estimate, *(measure.bounds or ())) if number is not None]
    assert all(math.isfinite(number) for number in numbers), f"{what}: {numbers} is not finite; None says 'unknown'"
    if measure.unit == "proportion":
        assert all(0.0 <= number <= 1.0 for number in numbers), f"{what}: {numbers} is no proportion; say its unit"
    if measure.bounds is not None:
        low, high = measure.bounds
        assert low <= high, f"{what}: bounds {measure.bounds} are not in order"
        # Bounds are what the missing verdicts could have made of the estimate, so they hold it.
        within = measure.estimate is None or low - 1e-9 <= measure.estimate <= high + 1e-9
        assert within, f"{what}: {measure.estimate} is outside {measure.bounds}"


def _assert_interval(measure: Measure, interval: Interval, what: str) -> None:
    assert measure.estimate is not None, f"{what}: an interval around no estimate"
    assert math.isfinite(interval.low), f"{what}: the interval's lower limit is {interval.low}"
    assert math.isfinite(interval.high), f"{what}: the interval's upper limit is {interval.high}"
    assert interval.low <= interval.high, f"{what}: limits {interval.low} and {interval.high} are not in order"
    assert interval.method, f"{what}: an interval without the name of its method"
