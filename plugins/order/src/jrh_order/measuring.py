"""From estimates to measures."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from attrs import frozen
from jrh import Interval, Measure, MetricContext, derive_seed
from jrh_stats import Estimate, clustered_proportion
from numpy.typing import ArrayLike

from jrh_order.answers import Answers, Cell

_DECIMALS = 12
"""Sums are rounded to so many decimals: the order of addition must not show."""


@frozen(kw_only=True)
class Basis:
    """What a measure rests on."""

    cell: Cell
    n_trials: int
    n_items: int
    missing: Mapping[str, int]
    few_items: int
    constant: bool = False
    """Every verdict is the same label."""

    @classmethod
    def of(cls, answers: Answers, few_items: int) -> Basis:
        """Count what stands in some answers."""
        per_label = answers.counts.sum(axis=(0, 1))
        return cls(
            cell=answers.cell,
            n_trials=int(answers.counts.sum()),
            n_items=int((answers.counts.sum(axis=(1, 2)) > 0).sum()),
            missing=answers.missing_by_status,
            few_items=few_items,
            constant=int((per_label > 0).sum()) == 1 and per_label.sum() > 1,
        )

    def measure(
        self,
        name: str,
        estimate: Estimate,
        context: MetricContext,
        *,
        levels: Mapping[str, str] | None = None,
        bounds: tuple[float, float] | None = None,
        unit: str = "proportion",
        note: str = "",
        nothing: str = "nothing to compare",
    ) -> Measure:
        """Put a measure together; what cannot be estimated says why."""
        return Measure(
            name=name,
            judge=self.cell.judge,
            task=self.cell.task,
            test=self.cell.test,
            cell=levels or {},
            estimate=estimate.value,
            interval=interval_of(estimate, context.level),
            unit=unit,
            n_trials=self.n_trials,
            n_items=self.n_items,
            missing=self.missing,
            bounds=bounds,
            flags=self._flags(estimate),
            note=note or (nothing if estimate.value is None else ""),
        )

    def _flags(self, estimate: Estimate) -> tuple[str, ...]:
        found = {
            "degenerate": "degenerate" in estimate.flags,
            "constant-verdicts": self.constant,
            "all-missing": not self.n_trials and bool(self.missing),
            "few-items": 0 < self.n_items < self.few_items,
            "few-events": "few-events" in estimate.flags and self.n_items >= self.few_items,
        }
        return tuple(name for name, applies in found.items() if applies)


def interval_of(estimate: Estimate, level: float) -> Interval | None:
    """Return the interval of an estimate, None where it has none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return Interval(low=estimate.low, high=estimate.high, level=level, method=estimate.method)


@frozen(kw_only=True)
class Resampling:
    """How the interval of one cell is made."""

    level: float
    resamples: int
    seed: int

    @classmethod
    def of(cls, context: MetricContext, cell: Cell, levels: Mapping[str, str] | None = None) -> Resampling:
        """Derive the seed of a cell: another cell draws other numbers."""
        parts = [part for level in sorted((levels or {}).items()) for part in level]
        seed = derive_seed(context.seed, "prompts", cell.task, cell.judge, cell.test, *parts)
        return cls(level=context.level, resamples=context.resamples, seed=seed)

    def proportion(self, numerators: ArrayLike, denominators: ArrayLike) -> Estimate:
        """Estimate a proportion whose trials are clustered in items; items without a trial are left out."""
        tops, bottoms = np.asarray(numerators, dtype=np.float64), np.asarray(denominators, dtype=np.float64)
        there = bottoms > 0
        return clustered_proportion(
            tops[there].round(_DECIMALS),
            bottoms[there],
            level=self.level,
            resamples=self.resamples,
            seed=self.seed,
        )
