"""From scored trials to measures: estimate, interval clustered by item, what is missing, bounds, flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np
from attrs import Factory, evolve, frozen
from jrh import Interval, Measure, MetricContext, RecordTable, Status, derive_seed
from jrh_stats import Estimate, cluster_sums, clustered_mean, clustered_proportion
from numpy.typing import NDArray

Scores: TypeAlias = NDArray[np.float64]
"""Shape (n,), from 0 to 1 (differences: from -1), NaN where it is missing."""

PERTURBATION: Final = "agent-perturbation"
POSITIVES: Final = "agent-positives"
STYLE: Final = "agent-style"
FAMILIES: Final = (PERTURBATION, POSITIVES, STYLE)


@frozen(kw_only=True)
class Cell:
    """Where a measure stands."""

    task: str
    judge: str
    test: str = ""
    levels: Mapping[str, str] = Factory(dict)


def of_families(records: RecordTable, *families: str) -> RecordTable:
    """Return the records of some families."""
    masks = [records.equals("family", family) for family in families] if "family" in records.columns else []
    return records.where(np.any(masks, axis=0)) if masks else records.where(np.zeros(len(records), dtype=np.bool_))


def cells_of(records: RecordTable, *names: str) -> Iterator[tuple[tuple[str, ...], RecordTable]]:
    """Yield the parts of a table by text columns, in the order of their values."""
    yield from sorted(records.split(*names), key=lambda part: part[0])


def answered(records: RecordTable, context: MetricContext, task: str) -> NDArray[np.bool_]:
    """Return which trials have a verdict on the task's scale."""
    labels = records.text("canonical")
    known = context.tasks[task].scale.labels if task in context.tasks else None
    on_scale = [label is not None and (known is None or label in known) for label in labels]
    return records.equals("status", Status.OK.value) & np.array(on_scale, dtype=np.bool_)


def gaps(records: RecordTable, verdicts: NDArray[np.bool_]) -> list[str]:
    """Return for every trial why it has no verdict; empty where it has one."""
    return [
        "" if verdict else str(status if status != Status.OK.value else Status.OFF_SCALE.value)
        for status, verdict in zip(records.text("status"), verdicts.tolist(), strict=True)
    ]


@frozen(kw_only=True, eq=False)
class Scored:
    """Some trials and what each scores on a measure."""

    records: RecordTable
    scores: Scores
    missing: list[str]
    """Why a score is missing, trial by trial; empty where it is not."""

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Return which trials have a score."""
        return ~np.isnan(self.scores)

    def where(self, rows: NDArray[np.bool_]) -> Scored:
        """Return the trials of a mask."""
        missing = [why for why, within in zip(self.missing, rows.tolist(), strict=True) if within]
        return Scored(records=self.records.where(rows), scores=self.scores[rows], missing=missing)

    def sums(self) -> NDArray[np.float64]:
        """Return scores and trials per item, shape (items, 2)."""
        usable = self.usable
        return cluster_sums(self.records.codes("item_id")[usable], self.scores[usable], np.ones(int(usable.sum())))


@frozen(kw_only=True)
class Measuring:
    """Turns scored trials into measures."""

    context: MetricContext
    few_items: int
    """Estimates from fewer items are flagged."""

    def rate(self, name: str, cell: Cell, scored: Scored, *, note: str = "") -> Measure:
        """Measure the mean of scores from 0 to 1, with bounds for what is missing."""
        sums = scored.sums()
        levels = [part for pair in cell.levels.items() for part in pair]
        estimate = clustered_proportion(
            sums[:, 0],
            sums[:, 1],
            level=self.context.level,
            resamples=self.context.resamples,
            seed=derive_seed(self.context.seed, "agentic", cell.task, cell.judge, cell.test, *levels),
        )
        return evolve(self._measure(name, cell, scored, estimate, note), bounds=_bounds(scored, estimate.value))

    def difference(self, name: str, cell: Cell, scored: Scored, *, note: str = "") -> Measure:
        """Measure the mean of differences of two shares."""
        sums = scored.sums()
        estimate = clustered_mean(sums[:, 0], sums[:, 1], bounds=(-1.0, 1.0), level=self.context.level)
        return evolve(self._measure(name, cell, scored, estimate, note), unit="difference")

    def _measure(self, name: str, cell: Cell, scored: Scored, estimate: Estimate, note: str) -> Measure:
        items = len(np.unique(scored.records.codes("item_id")[scored.usable]))
        return Measure(
            name=name,
            judge=cell.judge,
            task=cell.task,
            test=cell.test,
            cell=cell.levels,
            estimate=estimate.value,
            interval=_interval(estimate, self.context.level),
            n_trials=int(scored.usable.sum()),
            n_items=items,
            missing=dict(sorted(Counter(why for why in scored.missing if why).items())),
            flags=self._flags(scored, items, estimate),
            note=note if items else "no trial with a verdict that counts",
        )

    def _flags(self, scored: Scored, items: int, estimate: Estimate) -> tuple[str, ...]:
        few = 0 < items < self.few_items
        # The estimator's own flags; few events say nothing more where there are few items.
        own = [flag for flag in estimate.flags if flag != "empty" and not (few and flag == "few-events")]
        records = scored.records
        simulated = "simulated" in records.columns and bool(np.any(records.number("simulated") == 1))
        found = {"all-missing": len(records) > 0 and not items, "few-items": few, "simulated": simulated}
        return (*own, *(flag for flag, applies in found.items() if applies))


def _interval(estimate: Estimate, level: float) -> Interval | None:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return Interval(low=estimate.low, high=estimate.high, level=level, method=estimate.method)


def _bounds(scored: Scored, value: float | None) -> tuple[float, float] | None:
    """Return the rate if every missing score had been 0, and 1; rounding must not put them beside the estimate."""
    trials = len(scored.scores)
    if not trials:
        return None
    total, missing = float(np.nansum(scored.scores)), trials - int(scored.usable.sum())
    low, high = total / trials, (total + missing) / trials
    return max(0.0, min(low, high if value is None else value)), min(1.0, max(high, low if value is None else value))
