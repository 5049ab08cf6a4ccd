"""From scored trials to measures: estimate, interval clustered by item, what is missing, bounds, flags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import numpy as np
from attrs import Factory, evolve, frozen
from jrh import Interval, Measure, MetricContext, RecordTable, Status, derive_seed
from jrh.stats import Estimate, cluster_sums, clustered_mean, clustered_proportion
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


def rate(
    name: str,
    cell: Cell,
    records: RecordTable,
    scores: Scores,
    missing: list[str],
    context: MetricContext,
    few_items: int,
    *,
    note: str = "",
) -> Measure:
    """Measure the mean score of some trials.

    Args:
        name: the measure's name.
        cell: where it stands.
        records: the trials it is about.
        scores: their scores.
        missing: why a score is missing, empty where it is not.
        context: coverage, resamples and seed.
        few_items: with fewer items than this the measure is flagged.
        note: what the number means.
    """
    usable = ~np.isnan(scores)
    sums = cluster_sums(records.codes("item_id")[usable], scores[usable], np.ones(int(usable.sum())))
    seed = derive_seed(
        context.seed,
        "agentic",
        cell.task,
        cell.judge,
        cell.test,
        *(part for pair in cell.levels.items() for part in pair),
    )
    estimate = clustered_proportion(sums[:, 0], sums[:, 1], level=context.level, resamples=context.resamples, seed=seed)
    total = np.nansum(scores)
    bounds = (float(total / len(scores)), float((total + (~usable).sum()) / len(scores))) if len(scores) else None
    measure = _measure(name, cell, records, scores, missing, context, few_items, estimate, note)
    return evolve(measure, bounds=_around(bounds, estimate.value))


def difference(
    name: str,
    cell: Cell,
    records: RecordTable,
    scores: Scores,
    missing: list[str],
    context: MetricContext,
    few_items: int,
    *,
    note: str = "",
) -> Measure:
    """Measure the mean of differences of two shares; arguments as of `rate`."""
    usable = ~np.isnan(scores)
    sums = cluster_sums(records.codes("item_id")[usable], scores[usable], np.ones(int(usable.sum())))
    estimate = clustered_mean(sums[:, 0], sums[:, 1], bounds=(-1.0, 1.0), level=context.level)
    measure = _measure(name, cell, records, scores, missing, context, few_items, estimate, note)
    return evolve(measure, unit="difference")


def _measure(
    name: str,
    cell: Cell,
    records: RecordTable,
    scores: Scores,
    missing: list[str],
    context: MetricContext,
    few_items: int,
    estimate: Estimate,
    note: str,
) -> Measure:
    usable = ~np.isnan(scores)
    items = len(np.unique(records.codes("item_id")[usable]))
    simulated = "simulated" in records.columns and bool(np.any(records.number("simulated") == 1))
    few = 0 < items < few_items
    # The estimator's own flags; few events say nothing more where there are few items.
    own = [flag for flag in estimate.flags if flag != "empty" and not (few and flag == "few-events")]
    flags = {"all-missing": len(scores) > 0 and not items, "few-items": few, "simulated": simulated}
    return Measure(
        name=name,
        judge=cell.judge,
        task=cell.task,
        test=cell.test,
        cell=cell.levels,
        estimate=estimate.value,
        interval=_interval(estimate, context.level),
        n_trials=int(usable.sum()),
        n_items=items,
        missing=dict(sorted(Counter(why for why in missing if why).items())),
        flags=(*own, *(flag for flag, applies in flags.items() if applies)),
        note=note if items else "no trial with a verdict that counts",
    )


def _interval(estimate: Estimate, level: float) -> Interval | None:
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return None
    return Interval(low=estimate.low, high=estimate.high, level=level, method=estimate.method)


def _around(bounds: tuple[float, float] | None, value: float | None) -> tuple[float, float] | None:
    """Return the bounds; rounding must not put them beside the estimate."""
    if bounds is None or value is None:
        return None if bounds is None else (max(0.0, bounds[0]), min(1.0, bounds[1]))
    return max(0.0, min(bounds[0], value)), min(1.0, max(bounds[1], value))
