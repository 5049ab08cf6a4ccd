"""From per-trial scores to measures: estimate, interval, missing verdicts, bounds, flags."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from jrh import Interval, Measure, MetricContext, RecordTable
from jrh_stats import Estimate, cluster_sums, clustered_mean, clustered_proportion
from numpy.typing import NDArray

from jrh_metrics.cells import Cell
from jrh_metrics.options import MetricOptions
from jrh_metrics.trials import Codes, Mask, Trials, read_trials

Flags: TypeAlias = tuple[str, ...]

_PARTS: Final = 4
_REMEMBERED: Final = 8
_FEW_ITEMS: Final = "few-items"
_FEW_EVENTS: Final = "few-events"
_COEFFICIENT: Final = "coefficient"
_ONE_ITEM: Final = "one item tells nothing of agreement beyond chance"
_UNEXPLAINED: Final = frozenset({_FEW_ITEMS, "few-events", "constant-verdicts", "simulated"})
"""Flags that do not say why there is no estimate."""
NO_REFERENCE: Final = "no_reference"
"""Counted as missing: there is a verdict, but none of the reference condition to compare it with."""


@frozen(kw_only=True, eq=False)
class Scores:
    """What every trial scores on a rate; arrays of shape (n,) over all trials."""

    eligible: Mask
    """The trials the rate is about."""
    value: NDArray[np.float64]
    """Score from 0 to 1; NaN where it is missing."""
    low: NDArray[np.float64]
    """Score if every verdict that is missing had been the worst, the reference's included."""
    high: NDArray[np.float64]
    """Score if every verdict that is missing had been the best."""
    truth: Codes | None = None
    """Label the trial was compared with where that is a stated one, else -1."""
    answered: Mask = field(repr=False)
    """Where there is a value; scores that share this array and `eligible` are counted once."""

    @answered.default
    def _answered(self) -> Mask:
        return ~np.isnan(self.value)

    @cached_property
    def exact(self) -> bool:
        """Tell whether sums of the bounds are exact in any order: they are whole numbers, halves, quarters."""
        return all(np.array_equal(side * _PARTS, np.rint(side * _PARTS)) for side in (self.low, self.high))


@frozen(kw_only=True, eq=False)
class _Selected:
    """The trials of a cell that scores are about, and of what arrays they were taken."""

    asked: tuple[Codes, Mask, Mask]
    rows: Codes
    usable: Codes


@frozen(kw_only=True, eq=False)
class _Facts:
    """What is counted of the trials that a measure rests on."""

    rows: Codes
    items: int
    constant: bool
    """There are several verdicts, and all are the same label."""


@frozen(kw_only=True, eq=False)
class MeasureBuilder:
    """Builds the measures of one metric from the trials of one table."""

    trials: Trials
    context: MetricContext
    options: MetricOptions
    _last: list[_Selected] = field(factory=list, init=False, repr=False)
    _facts: dict[int, _Facts] = field(factory=dict, init=False, repr=False)
    """Of the last few arrays of rows: several measures of a cell rest on the same ones."""

    @classmethod
    def of(cls, records: RecordTable, context: MetricContext, options: MetricOptions) -> MeasureBuilder:
        """Read the table."""
        return cls(trials=read_trials(records, context), context=context, options=options)

    def at(self, level: float) -> MeasureBuilder:
        """Return a builder whose intervals have another coverage."""
        return evolve(self, context=evolve(self.context, level=level))

    def rate(self, name: str, cell: Cell, scores: Scores, *, nothing: str) -> Measure:
        """Measure the mean score of a cell.

        Args:
            name: the measure's name.
            cell: the trials.
            scores: the scores of all trials.
            nothing: what to note where no trial of the cell is eligible.
        """
        rows, usable = self._selected(cell, scores)
        sums = cluster_sums(self.trials.item.codes[usable], scores.value[usable], np.ones(len(usable)))
        estimate = clustered_proportion(
            sums[:, 0],
            sums[:, 1],
            level=self.context.level,
            resamples=self.context.resamples,
            seed=cell.seed(self.context),
        )
        flags = (*self._constant_truth(scores, usable), *self.flags(cell, rows, usable))
        return self.measure(
            name,
            cell,
            estimate,
            rows=rows,
            usable=usable,
            bounds=_bounds(scores, rows),
            flags=flags,
            note=self.why_none(rows, usable, nothing),
        )

    def mean(
        self,
        name: str,
        cell: Cell,
        scores: Scores,
        *,
        limits: tuple[float, float],
        nothing: str,
        unit: str,
        transform: Callable[[float], float] = float,
    ) -> Measure:
        """Measure the mean score of a cell, in any unit, with the closed-form interval.

        Args:
            name: the measure's name.
            cell: the trials.
            scores: the scores of all trials.
            limits: the least and the greatest score a trial can have.
            nothing: what to note where no trial of the cell is eligible.
            unit: unit of the estimate.
            transform: applied to estimate, interval and bounds; increasing.
        """
        rows, usable = self._selected(cell, scores)
        sums = cluster_sums(self.trials.item.codes[usable], scores.value[usable], np.ones(len(usable)))
        found = clustered_mean(sums[:, 0], sums[:, 1], bounds=limits, level=self.context.level)
        ends = [None if number is None else transform(number) for number in (found.value, found.low, found.high)]
        bounds = _bounds(scores, rows)
        return self.measure(
            name,
            cell,
            evolve(found, value=ends[0], low=ends[1], high=ends[2]),
            rows=rows,
            usable=usable,
            bounds=None if bounds is None else (transform(bounds[0]), transform(bounds[1])),
            flags=self.flags(cell, rows, usable),
            note=self.why_none(rows, usable, nothing),
            unit=unit,
        )

    def p_value(
        self, name: str, cell: Cell, p: float | None, *, usable: Codes, flags: Flags = (), note: str
    ) -> Measure:
        """Put the p-value of a test together; `note` names the test, or says why there is none."""
        estimate = Estimate(value=p if len(usable) else None)
        found = self.flags(cell, usable, usable)
        return self.measure(
            name, cell, estimate, rows=usable, usable=usable, flags=(*flags, *found), note=note, unit="p-value"
        )

    def measure(
        self,
        name: str,
        cell: Cell,
        estimate: Estimate,
        *,
        rows: Codes,
        usable: Codes,
        bounds: tuple[float, float] | None = None,
        flags: tuple[str, ...] = (),
        note: str = "",
        unit: str = "proportion",
    ) -> Measure:
        """Put a measure together; `rows` are the eligible trials of the cell, `usable` those it rests on.

        A coefficient of one item is not estimable: agreement beyond chance, or a correlation, is between items.
        """
        if unit == _COEFFICIENT and estimate.value is not None and self.items(usable) == 1:
            estimate = Estimate(value=None)
            flags, note = (*flags, "one-item"), note or _ONE_ITEM
        if estimate.value is None and len(rows) and _UNEXPLAINED.issuperset((*_own_flags(estimate), *flags)):
            flags = (*flags, "empty")
        return Measure(
            name=name,
            judge=cell.judge,
            task=cell.task,
            test=cell.test,
            cell=cell.levels,
            estimate=estimate.value,
            interval=_interval(estimate, self.context.level),
            unit=unit,
            n_trials=len(usable),
            n_items=self.items(usable),
            missing=self.missing(rows, usable),
            bounds=bounds,
            flags=_cautious((*_own_flags(estimate), *flags), estimate),
            note=note,
        )

    def items(self, rows: Codes) -> int:
        """Count the distinct items of some trials."""
        return self._of(rows).items

    def _selected(self, cell: Cell, scores: Scores) -> tuple[Codes, Codes]:
        """Return the eligible trials of a cell, and those of them that have a score."""
        asked = (cell.rows, scores.eligible, scores.answered)
        if not self._last or any(one is not other for one, other in zip(self._last[0].asked, asked, strict=True)):
            rows = cell.rows[scores.eligible[cell.rows]]
            self._last[:] = [_Selected(asked=asked, rows=rows, usable=rows[scores.answered[rows]])]
        return self._last[0].rows, self._last[0].usable

    def _of(self, rows: Codes) -> _Facts:
        known = self._facts.get(id(rows))
        if known is not None and known.rows is rows:
            return known
        if len(self._facts) >= _REMEMBERED:
            self._facts.clear()
        labels = self.trials.label[rows]
        top, bottom = labels.max(initial=-1), labels.min(initial=len(self.trials.labels))
        if bottom < 0:
            answered = labels[labels >= 0]
            several, bottom = len(answered) > 1, answered.min(initial=len(self.trials.labels))
        else:
            several = len(labels) > 1
        found = _Facts(
            rows=rows,
            items=int(np.count_nonzero(np.bincount(self.trials.item.codes[rows]))),
            constant=several and bool(top == bottom),
        )
        self._facts[id(rows)] = found
        return found

    def missing(self, rows: Codes, usable: Codes) -> Mapping[str, int]:
        """Count by status the trials among `rows` without a verdict, and those without a reference, by name."""
        status, answered = self.trials.status, self.trials.usable[rows]
        counts = np.bincount(status.codes[rows[~answered]], minlength=len(status.names))
        found = {name: int(count) for name, count in zip(status.names, counts, strict=True) if count}
        alone = int(np.count_nonzero(answered)) - int(np.count_nonzero(self.trials.usable[usable]))
        return found | ({NO_REFERENCE: alone} if alone else {})

    def flags(self, cell: Cell, rows: Codes, usable: Codes) -> tuple[str, ...]:
        """Return the flags that any measure can have."""
        found = {
            "constant-verdicts": self._of(usable).constant,
            "all-missing": len(rows) > 0 and not len(usable) and not np.any(self.trials.usable[rows]),
            _FEW_ITEMS: 0 < self.items(usable) < self.options.few_items,
            "simulated": bool(np.any(self.trials.simulated[cell.rows])),
        }
        return tuple(name for name, applies in found.items() if applies)

    def why_none(self, rows: Codes, usable: Codes, nothing: str = "no trial") -> str:
        """Say why there is no estimate; empty where there is one."""
        if not len(rows):
            return nothing
        if len(usable):
            return ""
        compared = bool(np.any(self.trials.usable[rows]))
        return "no verdict of the reference condition to compare with" if compared else "every verdict is missing"

    def _constant_truth(self, scores: Scores, usable: Codes) -> tuple[str, ...]:
        if scores.truth is None or len(usable) <= 1:
            return ()
        truth = scores.truth[usable]
        return ("constant-gold",) if truth[0] >= 0 and np.all(truth == truth[0]) else ()


def _own_flags(estimate: Estimate) -> Flags:
    """Return what the estimate says about itself; that there is nothing to estimate stands in the note."""
    return tuple(flag for flag in estimate.flags if flag != "empty")


def _cautious(flags: Flags, estimate: Estimate) -> Flags:
    """Put the estimate's `few-events` last, and leave it out where `few-items` says as much."""
    others = tuple(flag for flag in dict.fromkeys(flags) if flag != _FEW_EVENTS)
    return (*others, _FEW_EVENTS) if _FEW_EVENTS in estimate.flags and _FEW_ITEMS not in flags else others


def _interval(estimate: Estimate, level: float) -> Interval | None:
    if estimate.low is None or estimate.high is None:
        return None
    return Interval(low=estimate.low, high=estimate.high, level=level, method=estimate.method)


def _bounds(scores: Scores, rows: Codes) -> tuple[float, float] | None:
    if not len(rows):
        return None
    low, high = scores.low[rows], scores.high[rows]
    if not scores.exact:  # the order of addition must not show in the last digit
        low, high = np.sort(low), np.sort(high)
    return float(low.mean()), float(high.mean())
