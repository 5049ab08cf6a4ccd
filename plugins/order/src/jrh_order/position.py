"""The metrics `position-bias` and `identical-choice`: how the order of the options affects a judge."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable, Scale
from jrh.measuring import Answers, Counts, Mask, MeasureBuilder, MetricOptions, Pairs, answers_by, answers_by_order
from jrh_stats import Estimate, mcnemar_exact, z_quantile
from numpy.typing import NDArray

PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth")
_METHOD: Final = "bonett-price"
_NO_ORDERS: Final = "no item has verdicts in both orders"
_MCNEMAR: Final = "exact McNemar test; null hypothesis: as many items stick to the first position as to the second"
_NO_GOLD: Final = "no item with a verdict has a gold label"


@frozen
class PositionBias:
    """Measure swap consistency, position rates, signed position bias, and agreement with gold by order.

    Works on every test whose records state the order of the options, from a run or imported. The orders may be crossed
    or random; swap consistency and position bias need items that were judged in both orders. Where the test shows an
    item in the swapped order only, its reference verdicts are the other side.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield all measures per judge, task and test with at least two orders."""
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        for answers in answers_by_order(builder.trials, context.tasks):
            if len(answers.levels) > 1:
                scale, shown = context.tasks[answers.cell.task].scale, answers.as_presented()
                yield _consistency(builder, answers)
                yield from place_rates(builder, shown, scale)
                yield from _bias(builder, shown, scale)
                yield from _gold(builder, answers)


def _consistency(builder: MeasureBuilder, answers: Answers) -> Measure:
    pairs = Pairs.of(answers)
    estimate = builder.proportion(answers.cell, pairs.scores.sum(axis=1), pairs.usable.sum(axis=1))
    return builder.measure(
        "swap-consistency",
        answers.cell,
        estimate,
        rows=answers.rows,
        usable=pairs.told,
        bounds=pairs.bounds,
        note="no item has verdicts in two orders" if estimate.value is None else "",
    )


def _bias(builder: MeasureBuilder, answers: Answers, scale: Scale) -> Iterator[Measure]:
    if len(scale.options) != len(PLACES[:2]):
        return  # McNemar's test is about two options
    first, second = (both_orders(answers, letter) for letter in scale.options)
    used = np.isfinite(first)
    stuck_first, stuck_second = first[used], second[used]
    told = answers.rows_at(np.broadcast_to(used[:, None], answers.planned.shape))
    usable = told[answers.said[told] >= 0]
    tends_first = int((stuck_first > stuck_second).sum())
    tends_second = int((stuck_first < stuck_second).sum())
    note = f"first position in both orders: {tends_first} items; second: {tends_second}"
    yield builder.measure(
        "position-bias",
        answers.cell,
        signed_bias(stuck_first, stuck_second, level=builder.context.level),
        rows=answers.rows,
        usable=usable,
        note=note if len(usable) else _NO_ORDERS,
        unit="difference",
        labels=answers.said,
    )
    p = mcnemar_exact(tends_first, tends_second).p if len(usable) else None
    note = _MCNEMAR if p is not None else _NO_ORDERS
    yield builder.p_value(
        "position-bias-p", answers.cell, p, rows=answers.rows, usable=usable, note=note, labels=answers.said
    )


def _gold(builder: MeasureBuilder, answers: Answers) -> Iterator[Measure]:
    right, answered = against_gold(answers)
    for place, order in enumerate(answers.levels):
        only = np.zeros(answered.shape, dtype=np.bool_)
        only[:, place] = answered[:, place] > 0
        yield _gold_measure(builder, answers, only, right[:, place], answered[:, place], {"order": order})
    # Each order of an item has the same weight, however often it was asked.
    shares = np.where(answered > 0, right / np.maximum(answered, 1.0), 0.0)
    in_all = np.asarray((answered > 0).all(axis=1))
    every = np.broadcast_to(in_all[:, None], answered.shape)
    tops, bottoms = np.where(in_all, shares.sum(axis=1), 0.0), np.where(in_all, len(answers.levels), 0)
    yield _gold_measure(builder, answers, every, tops, bottoms, {})


def _gold_measure(
    builder: MeasureBuilder, answers: Answers, told: Mask, tops: Counts, bottoms: Counts, levels: dict[str, str]
) -> Measure:
    cell, rows = answers.cell.part(levels), answers.rows_at(told)
    estimate = builder.proportion(cell, tops, bottoms)
    return builder.measure(
        "gold-agreement-by-order",
        cell,
        estimate,
        rows=answers.rows,
        usable=rows[answers.said[rows] >= 0],
        note=_NO_GOLD if estimate.value is None else "",
    )


@frozen
class IdenticalChoice:
    """Measure how often a judge picks each position, or a tie, when all options are the same response."""

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the rates per judge, task and test of the family `identical-options`."""
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        family = builder.trials.column("family")
        for answers in answers_by(builder.trials, "variant", presented=True):
            task = context.tasks.get(answers.cell.task)
            if task is not None and family.names[family.codes[answers.rows[0]]] == "identical-options":
                yield from place_rates(builder, answers, task.scale, prefix="identical-")


def place_rates(builder: MeasureBuilder, answers: Answers, scale: Scale, prefix: str = "") -> Iterator[Measure]:
    """Yield how often the judge picks the option shown first, second ..., and how often neither."""
    total = answers.answered.sum(axis=1)
    for name, label in _named_labels(scale):
        estimate = builder.proportion(answers.cell, _picked(answers, label).sum(axis=1), total)
        yield builder.measure(
            f"{prefix}{name}-rate",
            answers.cell,
            estimate,
            rows=answers.rows,
            usable=answers.usable,
            note="every verdict is missing" if estimate.value is None else "",
            labels=answers.said,
        )


def both_orders(answers: Answers, label: str) -> NDArray[np.float64]:
    """Return, per item, the probability that the judge picks one position in both orders; NaN if one has no verdict.

    Args:
        answers: verdicts as presented, by order of the options.
        label: the label of the position, such as A for the first.

    Returns:
        Shape (items,): the mean over pairs of orders of the product of the shares of the label; with one repeat 0 or 1.
    """
    answered = answers.answered
    share = _picked(answers, label) / np.where(answered > 0, answered, np.nan)
    pairs = [share[:, one] * share[:, other] for one, other in combinations(range(len(answers.levels)), 2)]
    return np.asarray(np.mean(pairs, axis=0))


def signed_bias(first: NDArray[np.float64], second: NDArray[np.float64], *, level: float) -> Estimate:
    """Estimate the signed position bias: the share of items that stick to the first position minus that of the second.

    +1: always the first position; -1: always the second; 0: neither, or both equally often. Ties and consistent
    verdicts count as neither. With b and c the two sums over n items, the interval is

        (b - c) / (n + 2) -+ z sqrt((p + q - (p - q)^2) / (n + 2)),   p = (b + 1) / (n + 2), q = (c + 1) / (n + 2)

    Source: Bonett and Price (2012), J. Educational and Behavioral Statistics 37:479-488.

    Args:
        first: per item the probability of the first position in both orders, shape (n,).
        second: that of the second position, shape (n,).
        level: coverage.
    """
    n = len(first)
    if not n:
        return Estimate(value=None, flags=("empty",))
    b, c = float(np.sort(first).sum()), float(np.sort(second).sum())
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = z_quantile(level) * ((p + q - (p - q) ** 2) / (n + 2)) ** 0.5
    value = (b - c) / n
    return Estimate(
        value=value,
        low=max(min(p - q - half, value), -1.0),
        high=min(max(p - q + half, value), 1.0),
        method=_METHOD,
        n=float(n),
        clusters=n,
    )


def against_gold(answers: Answers) -> tuple[Counts, Counts]:
    """Return verdicts that equal the gold label and all verdicts of labelled items, each of shape (items, levels)."""
    trials = answers.trials
    gold = np.full(len(trials.item.names), -1, dtype=np.int64)
    gold[trials.item.codes[answers.rows]] = trials.gold[answers.rows]
    own = gold[answers.axes.items]
    same = answers.axes.labels[None, :] == own[:, None]
    right = (answers.counts * same[:, None, :]).sum(axis=2)
    return right, np.where((own >= 0)[:, None], answers.answered, 0.0)


def _named_labels(scale: Scale) -> list[tuple[str, str]]:
    named = [(f"{name}-position", label) for name, label in zip(PLACES, scale.options, strict=False)]
    return [*named, *([("tie", scale.tie)] if scale.tie is not None else [])]


def _picked(answers: Answers, label: str) -> Counts:
    if label not in answers.labels:
        return np.zeros(answers.planned.shape)
    return answers.counts[:, :, answers.labels.index(label)]
