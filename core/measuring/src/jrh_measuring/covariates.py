"""Covariates: what each item's verdict is, what it is compared with, and what else is known of the item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Json, ScaleKind, Task
from jrh.values import LENGTH
from jrh.values.item_covariates import read_covariates

from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes, Floats, Mask, combine_codes
from jrh_measuring.trials import Trials

OTHER_LEVELS: Final = "(other levels)"
"""Levels of too few items, together."""
_TWO: Final = 2
_DECIMALS: Final = 9


@frozen(kw_only=True, eq=False)
class Standard:
    """What verdicts are compared with: the gold label, or the other judges' verdicts."""

    stratum: Codes
    """Items of the same number are equal in it, shape (items,); -1 where it is not known."""
    values: Floats
    """In the unit of the verdicts, shape (items, columns)."""


@frozen(kw_only=True, eq=False)
class Covariate:
    """One covariate of the items of a cell."""

    name: str
    levels: tuple[str, ...]
    """Levels of a categorical covariate; empty for a number."""
    known: Mask
    """Items that have a value, shape (items,)."""
    values: Floats
    """Shape (items, columns, options): one column for a number, otherwise one per level, 1 for it and 0 else. One
    option, but in a comparison, where every option has its own, less their mean."""
    unit: str
    """What one unit is, for readers; empty for a level."""


def columns_of(task: Task) -> tuple[str, ...]:
    """Return the labels that the columns of verdicts stand for; one, empty, for an ordinal scale.

    A column is: the level, of an ordinal scale; P(positive label), of two labels; P(label), of more; P(option chosen),
    of a comparison, in which a tie counts a part for every option.
    """
    scale = task.scale
    if scale.ordered:
        return ("",)
    if scale.kind is ScaleKind.PAIRWISE:
        return scale.options
    return (scale.positive_label,) if scale.positive_label and len(scale.labels) == _TWO else scale.labels


def item_verdicts(trials: Trials, rows: Codes, items: Codes, task: Task) -> Floats:
    """Return the mean verdict on every item of `items` (ascending codes), shape (items, columns); NaN without one."""
    usable = rows[trials.usable[rows]]
    place = np.searchsorted(items, trials.item.codes[usable])
    values = label_values(trials, task)[trials.label[usable]]
    count = np.bincount(place, minlength=len(items))
    sums = np.stack([np.bincount(place, weights=column, minlength=len(items)) for column in values.T], axis=1)
    return np.where(count[:, None] > 0, sums / np.maximum(count, 1)[:, None], np.nan)


def label_values(trials: Trials, task: Task) -> Floats:
    """Return what every label counts in every column, shape (labels + 1, columns); NaN for labels off the scale."""
    columns, scale = columns_of(task), task.scale

    def row(label: str) -> list[float]:
        if label not in scale:
            return [math.nan] * len(columns)
        if scale.ordered:
            return [float(scale.rank(label))]
        # A tie prefers no option: each counts the same part.
        if scale.tie is not None and label == scale.tie:
            return [1 / len(columns)] * len(columns)
        return [float(label == column) for column in columns]

    return np.array([*map(row, trials.labels), [math.nan] * len(columns)])


def gold_standard(trials: Trials, rows: Codes, items: Codes, task: Task) -> Standard:
    """Return the gold labels of items."""
    gold = np.full(len(items), -1, dtype=np.int64)
    known = rows[trials.gold[rows] >= 0]
    gold[np.searchsorted(items, trials.item.codes[known])] = trials.gold[known]
    return Standard(stratum=gold, values=label_values(trials, task)[gold])


def peers_standard(trials: Trials, cell: Cell, items: Codes, task: Task) -> Standard:
    """Return the mean verdict of the other judges under the same test; a judge counts once, however often it was asked.

    Items are equal in it as `strata_of` says.
    """
    same = np.flatnonzero((trials.task.codes == trials.task.codes[cell.rows[0]]) & trials.usable)
    same = same[trials.test.codes[same] == trials.test.codes[cell.rows[0]]]
    same = same[np.isin(trials.item.codes[same], items)]
    own_judge = trials.judge.codes[cell.rows[0]]
    peers = [
        item_verdicts(trials, same[trials.judge.codes[same] == judge], items, task)
        for judge in np.unique(trials.judge.codes[same])
        if judge != own_judge
    ]
    # A judge alone has no peers: nothing is known of any item.
    if not peers:
        return Standard(stratum=np.full(len(items), -1), values=np.full((len(items), len(columns_of(task))), np.nan))
    stacked = np.stack(peers)
    count = (~np.isnan(stacked)).sum(axis=0)
    means = np.where(count > 0, np.nansum(stacked, axis=0) / np.maximum(count, 1), np.nan).round(_DECIMALS)
    return Standard(stratum=strata_of(means, task), values=means)


def strata_of(means: Floats, task: Task) -> Codes:
    """Number the items whose mean verdicts are equal: round to the same level, or say the same labels most often.

    Args:
        means: shape (items, columns), NaN where not known.
        task: the task.

    Returns:
        Shape (items,); -1 where not known.
    """
    # Strata have to be few: every distinct mean as one of its own would leave single items to compare.
    if task.scale.ordered:
        key = np.rint(means)
    elif means.shape[1] == 1:
        key = np.sign(means - 0.5)  # which of the two labels is said most often, or neither
    else:
        key = (means == means.max(axis=1, keepdims=True)).astype(np.float64)
    known = ~np.isnan(means[:, 0])
    stratum = combine_codes(*(_dense(np.where(known, column, -9.0)) for column in key.T))
    return np.asarray(np.where(known, stratum, -1), dtype=np.int64)


def _dense(values: Floats) -> Codes:
    return np.asarray(np.unique(values, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def covariate_values(trials: Trials) -> list[Mapping[str, Json]]:
    """Return the covariates that each code of the column `covariates` means.

    Raises:
        JrhError: a text is none that a run writes.
    """
    # The same few texts occur in many records: each is parsed once.
    return trials.compute_once(
        "covariates", lambda: [read_covariates(text) for text in trials.column("covariates").names]
    )


def covariates_of_items(trials: Trials, rows: Codes, items: Codes, task: Task, few: int) -> Iterator[Covariate]:
    """Yield the covariates that vary between the items, or between the options of an item, by name.

    Args:
        trials: all trials.
        rows: those of a cell.
        items: the items of these, as ascending codes.
        task: the task.
        few: levels of fewer items are put together.
    """
    column, known = trials.column("covariates"), covariate_values(trials)
    written = np.full(len(items), -1, dtype=np.int64)
    written[np.searchsorted(items, trials.item.codes[rows])] = column.codes[rows]
    by_item = [known[code] for code in written.tolist()]
    for name in sorted({name for facts in by_item for name in facts}):
        covariate = _covariate(name, [facts.get(name) for facts in by_item], task, few)
        if covariate is not None:
            yield covariate


def _covariate(name: str, values: Sequence[Json], task: Task, few: int) -> Covariate | None:
    options = task.scale.options if task.scale.kind is ScaleKind.PAIRWISE else ("",)
    cells = [_by_option(value, options) for value in values]
    known = np.array([None not in cell for cell in cells])
    present = [cell for cell, there in zip(cells, known.tolist(), strict=True) if there]
    numbers = [[_number(value) for value in cell] for cell in present]
    if not present:
        return None
    # A single value that is no number makes a text column: a slope over the others would leave items out.
    if all(number is not None for row in numbers for number in row):
        return _numeric(name, known, np.array(numbers, dtype=np.float64))
    return _categorical(name, known, [[str(value) for value in cell] for cell in present], few)


def _by_option(value: Json, options: Sequence[str]) -> list[Json]:
    if options == ("",):
        cells: list[Json] = [None if isinstance(value, Mapping) else value]
    else:
        cells = [value.get(option) if isinstance(value, Mapping) else None for option in options]
    # A blank cell of a table is a missing value, not a level of its own.
    return [None if isinstance(cell, str) and not cell.strip() else cell for cell in cells]


def _number(value: Json) -> float | None:
    # True and false are levels of a text column, although Python counts with them.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _numeric(name: str, known: Mask, numbers: Floats) -> Covariate | None:
    """Return a number in standard deviations: of the logarithm for a length, whose differences are ratios."""
    # Twice as long is the same step for short and for long responses.
    logged = name == LENGTH and bool(np.all(numbers >= 0))
    scored = _subtract_mean(np.log1p(numbers) if logged else numbers)
    deviation = float(np.std(scored))
    # Relative to the size of the numbers: what rounding leaves of equal ones is no variation.
    if deviation <= 10.0**-_DECIMALS * max(float(np.abs(scored).max()), 1.0):
        return None
    what = f"log length (a factor of {math.exp(deviation):.2g})" if logged else f"'{name}' ({deviation:.3g})"
    values = np.zeros((len(known), 1, numbers.shape[1]))
    values[known, 0] = scored / deviation
    return Covariate(name=name, levels=(), known=known, values=values, unit=f"one standard deviation of {what}")


def _categorical(name: str, known: Mask, texts: Sequence[Sequence[str]], few: int) -> Covariate | None:
    counts = Counter(level for row in texts for level in set(row))
    named = sorted(level for level, count in counts.items() if count >= few)
    levels = (*named, *((OTHER_LEVELS,) if len(named) < len(counts) else ()))
    place = {level: levels.index(level if level in named else OTHER_LEVELS) for level in counts}
    codes = np.array([[place[level] for level in row] for row in texts], dtype=np.int64)
    values = np.zeros((len(known), len(levels), codes.shape[1]))
    for level in range(len(levels)):
        values[known, level] = _subtract_mean((codes == level).astype(np.float64))
    # In a comparison nothing is left of a level that the options of every item share.
    if len(levels) < _TWO or not np.any(np.ptp(values[known], axis=0 if codes.shape[1] == 1 else None)):
        return None
    return Covariate(name=name, levels=levels, known=known, values=values, unit="")


def _subtract_mean(values: Floats) -> Floats:
    """Subtract the mean of the options, where there are several."""
    return values - values.mean(axis=1, keepdims=True) if values.shape[1] > 1 else values
