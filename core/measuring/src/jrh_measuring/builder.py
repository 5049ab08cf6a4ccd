"""From per-trial scores to measures: estimate, interval, missing verdicts, bounds, flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, field, frozen
from jrh import Interval, Measure, MetricContext, RecordTable
from jrh_stats import (
    Change,
    Estimate,
    cluster_sums,
    clustered_mean,
    clustered_proportion,
    difference_by_exchange,
    mean_signed_error,
)
from numpy.typing import ArrayLike

from jrh_measuring.cells import Basis, Cell
from jrh_measuring.coded import Codes, Floats, Mask, number_of
from jrh_measuring.declaring import MetricOptions
from jrh_measuring.flags import (
    ALL_MISSING,
    CONSTANT_GOLD,
    CONSTANT_VERDICTS,
    EMPTY,
    FEW_CLUSTERS,
    FEW_EVENTS,
    FEW_ITEMS,
    INFORMATIVE_MISSING,
    ONE_ITEM,
    SENSITIVE_TO_MISSING,
    SIMULATED,
    UNTESTABLE_MISSING,
)
from jrh_measuring.missing_verdicts import allow_for_missing, is_informative, sensitive
from jrh_measuring.scoring import NO_REFERENCE, Scores
from jrh_measuring.trials import Trials, count_missing_by_status, read_trials

Flags: TypeAlias = tuple[str, ...]

_REMEMBERED: Final = 8
_DECIMALS: Final = 12  # of sums: the order of addition must not show
_COEFFICIENT: Final = "coefficient"
_ONE_ITEM: Final = "chance-corrected agreement needs more than one item"
_UNEXPLAINED: Final = frozenset({FEW_ITEMS, FEW_CLUSTERS, FEW_EVENTS, CONSTANT_VERDICTS, SIMULATED})
"""Flags that do not say why there is no estimate."""


@frozen(kw_only=True, eq=False)
class _Facts:
    """What is counted of the trials that a measure rests on."""

    rows: Codes
    labels: Codes
    items: int
    clusters: int
    constant: bool
    """There are several verdicts, and all are the same label."""


@frozen(kw_only=True, eq=False)
class MeasureBuilder:
    """Builds the measures of one metric from the trials of one table.

    Every measure says how many trials and items it rests on, which trials have no verdict and why, and carries the
    flags that apply to any measure: `all-missing`, `empty`, `constant-verdicts`, `constant-gold`, `few-items`,
    `few-clusters`, `few-events`, `one-item`, `simulated`.
    """

    trials: Trials
    context: MetricContext
    options: MetricOptions
    draws: str = "metrics"
    """Random numbers are drawn under this name: metrics that share it draw the same ones in the same cell."""
    _last: list[tuple[tuple[Codes, Mask, Mask], Codes, Codes]] = field(factory=list, init=False, repr=False)
    _facts: dict[tuple[int, int], _Facts] = field(factory=dict, init=False, repr=False)
    """Of the last few arrays of rows: several measures of a cell rest on the same ones."""

    @classmethod
    def of(
        cls, records: RecordTable, context: MetricContext, options: MetricOptions, *, draws: str = "metrics"
    ) -> MeasureBuilder:
        """Read the table.

        Raises:
            JrhError: a trial occurs twice, or a gold or expected label is not on the scale of its task.
        """
        return cls(trials=read_trials(records, context), context=context, options=options, draws=draws)

    def at(self, level: float) -> MeasureBuilder:
        """Return a builder whose intervals have another coverage."""
        return evolve(self, context=evolve(self.context, level=level))

    def seed(self, cell: Cell) -> int:
        """Derive the seed of what is drawn for a cell."""
        return cell.seed(self.context, self.draws)

    def proportion(self, numerators: ArrayLike, denominators: ArrayLike, clusters: Codes | None = None) -> Estimate:
        """Estimate a proportion from sums per item; items without a denominator are left out.

        Args:
            numerators: shape (items,).
            denominators: shape (items,).
            clusters: the cluster of each item, shape (items,); None: the sums are those of clusters already.
        """
        tops, bottoms = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
        if clusters is not None:
            sums = cluster_sums(clusters[bottoms > 0], tops[bottoms > 0], bottoms[bottoms > 0])
            tops, bottoms = sums[:, 0], sums[:, 1]
        there = bottoms > 0
        return clustered_proportion(tops[there].round(_DECIMALS), bottoms[there], level=self.context.level)

    def rate(
        self, name: str, cell: Cell, scores: Scores, *, nothing: str, note: str = "", flags: Flags = ()
    ) -> Measure:
        """Measure the mean of scores from 0 to 1, with an interval by cluster.

        Args:
            name: the measure's name.
            cell: the trials.
            scores: the scores of all trials.
            nothing: what to note where no trial of the cell is eligible.
            note: what to note where there is an estimate.
            flags: further flags.
        """
        basis, sums = self.basis_and_sums(cell, scores)
        plain = self.measure(
            name,
            basis,
            self.proportion(sums[:, 0], sums[:, 1]),
            bounds=scores.bounds(basis.rows),
            flags=(*self._constant_truth(scores, basis.usable), *flags),
            note=self.why_none(basis, nothing, scores.unscored) or note,
            unscored=scores.unscored,
        )

        def ends(sums: Floats, level: float) -> Estimate:
            return self.at(level).proportion(*sums.T)

        return sensitive(allow_for_missing(plain, self.trials, scores, basis.rows, ends))

    def flag_missing(self, coefficients: Iterable[Measure], cell: Cell, scores: Scores) -> Iterator[Measure]:
        """Flag coefficients of a cell where missing verdicts could sway the rate over the same trials.

        A coefficient has no bounds, and its interval says nothing about missing verdicts. It has the flag
        `sensitive-to-missing` or `untestable-missing` where the rate has it; the second forbids decisions, because no
        interval of the coefficient allows for what is missing.

        Args:
            coefficients: agreement beyond chance, or correlations.
            cell: where they stand.
            scores: those of the rate, such as whether verdicts equal the gold label.
        """
        flags: Flags = ()
        basis = self.basis(cell, scores)
        if len(basis.usable) < len(basis.rows):
            # Measured for its flags alone.
            rate = self.rate("", cell, scores, nothing="")
            flags = tuple(flag for flag in (SENSITIVE_TO_MISSING, UNTESTABLE_MISSING) if flag in rate.flags)
        for coefficient in coefficients:
            more = () if coefficient.interval is None else flags
            yield evolve(coefficient, flags=(*coefficient.flags, *more))

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
        sizes: Scores | None = None,
        heavy_tailed: bool = False,
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
            sizes: of signed errors, their sizes: the interval stays within the upper end of the mean size.
            heavy_tailed: whether few large scores can make up most of the mean, as squares do.
        """
        basis, sums = self.basis_and_sums(cell, scores)
        # The mean of signed errors lies within that of their sizes, which is known better than the length of the
        # scale.
        if sizes is None:
            estimate = clustered_mean(
                sums[:, 0], sums[:, 1], bounds=limits, heavy_tailed=heavy_tailed, level=self.context.level
            )
        else:
            size = self._sums(sizes, basis.usable)[:, 0]
            estimate = mean_signed_error(sums[:, 0], size, sums[:, 1], span=limits[1], level=self.context.level)
        numbers = (estimate.value, estimate.low, estimate.high)
        ends = [None if number is None else transform(number) for number in numbers]
        bounds = scores.bounds(basis.rows)
        return self.measure(
            name,
            basis,
            evolve(estimate, value=ends[0], low=ends[1], high=ends[2]),
            bounds=None if bounds is None else (transform(bounds[0]), transform(bounds[1])),
            note=self.why_none(basis, nothing, scores.unscored),
            unit=unit,
            unscored=scores.unscored,
        )

    def basis(self, cell: Cell, scores: Scores) -> Basis:
        """Return the eligible trials of a cell, and those of them that have a score."""
        # Several measures of a cell rest on the same arrays; they are compared by identity, which costs nothing.
        key = (cell.rows, scores.eligible, scores.answered)
        if not self._last or any(before is not after for before, after in zip(self._last[0][0], key, strict=True)):
            rows = cell.rows[scores.eligible[cell.rows]]
            self._last[:] = [(key, rows, rows[scores.answered[rows]])]
        return Basis(cell, *self._last[0][1:])

    def basis_and_sums(self, cell: Cell, scores: Scores) -> tuple[Basis, Floats]:
        """Return the basis of scores in a cell, and per cluster the sum of its scores and their number."""
        basis = self.basis(cell, scores)
        return basis, self._sums(scores, basis.usable)

    def exchange_sides(self, cell: Cell, sums: Floats) -> Change:
        """Estimate and test a mean difference by exchanging the sides of whole clusters.

        Args:
            cell: what it is about; seeds the draws.
            sums: the sum of differences and the number of pairs of each cluster, shape (K, 2).
        """
        context = self.context
        return difference_by_exchange(
            sums[:, 0], sums[:, 1], level=context.level, resamples=context.resamples, seed=self.seed(cell)
        )

    def p_value(self, name: str, basis: Basis, p: float | None, *, note: str, flags: Flags = ()) -> Measure:
        """Put the p-value of a test together; `note` names the test, or says why there is none.

        `basis` is that of the estimate that is tested.
        """
        # A p-value without any trial would read as a test that was made.
        estimate = Estimate(value=p if len(basis.usable) else None)
        return self.measure(name, basis, estimate, flags=flags, note=note, unit="p-value")

    def measure(
        self,
        name: str,
        basis: Basis,
        estimate: Estimate,
        *,
        bounds: tuple[float, float] | None = None,
        flags: Flags = (),
        note: str = "",
        unit: str = "proportion",
        unscored: str = "",
        margin: float | None = None,
    ) -> Measure:
        """Put a measure together.

        A coefficient of one item is not estimable: agreement beyond chance, or a correlation, is between items.

        Args:
            name: the measure's name.
            basis: the cell, and the trials it rests on. Its labels serve `constant-verdicts`.
            estimate: what was estimated.
            bounds: where the estimate would lie if all missing verdicts had been the worst, and the best.
            flags: flags of its own; those that any measure can have are added.
            note: what has to be known, or why there is no estimate.
            unit: unit of the estimate; `coefficient` for agreement beyond chance and for correlations.
            unscored: what those of the rows count as in `missing` that have a verdict and are not usable; with labels,
                those that have a verdict and no label there; empty: as nothing.
            margin: that an equivalence was tested with.
        """
        cell, rows, usable, labels = basis.cell, basis.rows, basis.usable, basis.labels
        # Agreement beyond chance is relative to how items differ: a single cluster has no such variance.
        one_item = unit == _COEFFICIENT and self.clusters(usable) == 1
        if one_item and estimate.value is not None:
            estimate, flags, note = Estimate(value=None), (*flags, ONE_ITEM), note or _ONE_ITEM
        flags = (*flags, *self._common_flags(basis))
        # A missing number without a reason looks like a defect of jrh: some flag has to give one.
        if estimate.value is None and len(rows) and _UNEXPLAINED.issuperset((*_own_flags(estimate), *flags)):
            flags = (*flags, ONE_ITEM if one_item else EMPTY)
        return Measure(
            name=name, judge=cell.judge, task=cell.task, test=cell.test, cell=cell.levels, estimate=estimate.value,
            interval=interval_of(estimate, self.context.level), unit=unit, n_trials=len(usable),
            n_items=self.items(usable), n_clusters=self.clusters(usable),
            missing=self.count_missing(rows, usable if labels is None else rows[labels[rows] >= 0], unscored),
            bounds=bounds, flags=_cautious((*_own_flags(estimate), *flags), estimate), note=note, margin=margin,
        )  # fmt: skip

    def items(self, rows: Codes) -> int:
        """Count the distinct items of some trials."""
        return self._of(rows, self.trials.label).items

    def clusters(self, rows: Codes) -> int:
        """Count the distinct clusters of some trials: the unit of analysis."""
        return self._of(rows, self.trials.label).clusters

    def count_missing(self, rows: Codes, usable: Codes, unscored: str = "") -> Mapping[str, int]:
        """Count by status the trials among `rows` without a verdict, and as `unscored` those that are not usable."""
        counts, answered = count_missing_by_status(self.trials, rows), self.trials.usable
        alone = int(np.count_nonzero(answered[rows])) - int(np.count_nonzero(answered[usable]))
        return counts | {unscored: alone} if alone and unscored else counts

    def why_none(self, basis: Basis, nothing: str = "no trial", unscored: str = NO_REFERENCE) -> str:
        """Say why there is no estimate; empty where there is one. `unscored`: what verdicts without a score lack."""
        if not len(basis.rows):
            return nothing
        if len(basis.usable):
            return ""
        if not np.any(self.trials.usable[basis.rows]):
            return "every verdict is missing"
        if unscored == NO_REFERENCE:
            return "no verdict of the reference condition to compare with"
        return f"no verdict has a score: {unscored.replace('_', ' ')}"

    def _sums(self, scores: Scores, usable: Codes) -> Floats:
        ones = np.broadcast_to(1.0, scores.value.shape)
        return cluster_sums(self.trials.cluster.codes, scores.value, ones, rows=usable)

    def _of(self, rows: Codes, labels: Codes) -> _Facts:
        key = id(rows), id(labels)
        known = self._facts.get(key)
        if known is not None and known.rows is rows and known.labels is labels:
            return known
        if len(self._facts) >= _REMEMBERED:
            self._facts.clear()  # an id is of use only while its array is alive, which the facts keep it
        trials, answered = self.trials, rows[self.trials.usable[rows]]
        items = number_of(trials.item.codes, rows)
        # One object says that every item is its own cluster: then one count serves for both.
        facts = _Facts(
            rows=rows,
            labels=labels,
            items=items,
            clusters=items if trials.cluster is trials.item else number_of(trials.cluster.codes, rows),
            constant=len(answered) > 1 and number_of(labels, answered) == 1,
        )
        self._facts[key] = facts
        return facts

    def _common_flags(self, basis: Basis) -> Flags:
        """Return the flags that any measure can have."""
        cell, rows, usable, labels = basis.cell, basis.rows, basis.usable, basis.labels
        # Where items share clusters, the number of items would promise more than there is.
        few = 0 < self.clusters(usable) < self.options.few_items
        alone = self.clusters(usable) == self.items(usable)
        applicable = {
            CONSTANT_VERDICTS: self._of(usable, self.trials.label if labels is None else labels).constant,
            ALL_MISSING: len(rows) > 0 and not len(usable) and not np.any(self.trials.usable[rows]),
            FEW_ITEMS: few and alone,
            FEW_CLUSTERS: few and not alone,
            SIMULATED: bool(np.any(self.trials.simulated[cell.rows])),
            # Where nothing is missing there is nothing to test.
            INFORMATIVE_MISSING: len(usable) < len(rows) and is_informative(self.trials, cell),
        }
        return tuple(name for name, applies in applicable.items() if applies)

    def _constant_truth(self, scores: Scores, usable: Codes) -> Flags:
        if scores.truth is None or len(usable) <= 1:
            return ()
        truth = scores.truth[usable]
        return (CONSTANT_GOLD,) if truth[0] >= 0 and np.all(truth == truth[0]) else ()


def _own_flags(estimate: Estimate) -> Flags:
    """Return what the estimate says about itself; that there is nothing to estimate is in the note."""
    # `jrh_stats` says `empty` for any lack of data; here the flag is kept for what nothing else explains.
    return tuple(flag for flag in estimate.flags if flag != EMPTY)


def _cautious(flags: Flags, estimate: Estimate) -> Flags:
    """Put the estimate's `few-events` last, and leave it out where `few-items` or `few-clusters` says as much."""
    remaining = tuple(flag for flag in dict.fromkeys(flags) if flag != FEW_EVENTS)
    rare = FEW_EVENTS in estimate.flags and not {FEW_ITEMS, FEW_CLUSTERS} & set(flags)
    return (*remaining, FEW_EVENTS) if rare else remaining


def interval_of(estimate: Estimate, level: float) -> Interval | None:
    """Return the interval of an estimate; None where it has none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return Interval(low=estimate.low, high=estimate.high, level=level, method=estimate.method)
