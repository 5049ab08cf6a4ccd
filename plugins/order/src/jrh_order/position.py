"""The metric `position-bias`: what the order of the options does to a judge."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable, Scale
from jrh_stats import Estimate, mcnemar_exact, z_quantile
from numpy.typing import NDArray

from jrh_order.answers import Answers, Cell, Counts, answers_of, cells_of
from jrh_order.measuring import Basis, Resampling
from jrh_order.options import MetricOptions
from jrh_order.pairs import Pairs, agreement, bounds

PLACES: Final = ("first", "second", "third", "fourth", "fifth", "sixth")
_METHOD: Final = "bonett-price"
_NO_GOLD = "no item with a verdict has a gold label"


@frozen
class PositionBias:
    """Swap consistency, position rates, signed position bias, and agreement with gold by order.

    Works on every test whose records say in which order the options stood: of a run, or imported. The orders may be
    crossed or drawn; swap consistency and position bias need items that were judged in both.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield all measures per judge, task and test with two orders at least."""
        for cell, rows in cells_of(records, "option_order"):
            task = context.tasks.get(cell.task)
            if task is not None and len(dict.fromkeys(rows.text("option_order"))) > 1:
                yield from self._consistency(cell, rows, context)
                yield from place_rates(
                    answers_of(cell, rows, by="option_order", label="presented"), task.scale, context, self.options
                )
                yield from self._bias(cell, rows, task.scale, context)
                yield from self._gold(cell, rows, context)

    def _consistency(self, cell: Cell, rows: RecordTable, context: MetricContext) -> Iterator[Measure]:
        pairs = Pairs.of(answers_of(cell, rows, by="option_order", label="canonical"))
        yield Basis.of(pairs.answers, self.options.few_items).measure(
            "swap-consistency",
            agreement(pairs, Resampling.of(context, cell)),
            context,
            bounds=bounds(pairs),
            nothing="no item has verdicts in two orders",
        )

    def _bias(self, cell: Cell, rows: RecordTable, scale: Scale, context: MetricContext) -> Iterator[Measure]:
        answers = answers_of(cell, rows, by="option_order", label="presented")
        if len(scale.options) != len(PLACES[:2]):
            return  # McNemar's test is about two options
        first, second = (both_orders(answers, letter) for letter in scale.options)
        used = np.flatnonzero(np.isfinite(first))
        stuck_first, stuck_second = first[used], second[used]
        basis = evolve(
            Basis.of(answers, self.options.few_items),
            n_trials=int(answers.counts[used].sum()),
            n_items=len(used),
        )
        tends_first = int((stuck_first > stuck_second).sum())
        tends_second = int((stuck_first < stuck_second).sum())
        nothing = "no item has verdicts in both orders"
        yield basis.measure(
            "position-bias",
            signed_bias(stuck_first, stuck_second, level=context.level),
            context,
            unit="difference",
            note=f"first place in both orders: {tends_first} items, second: {tends_second}" if len(used) else "",
            nothing=nothing,
        )
        yield basis.measure(
            "position-bias-p", mcnemar(tends_first, tends_second, items=len(used)), context, nothing=nothing
        )

    def _gold(self, cell: Cell, rows: RecordTable, context: MetricContext) -> Iterator[Measure]:
        answers = answers_of(cell, rows, by="option_order", label="canonical")
        right, answered = against_gold(answers, rows)
        for place, order in enumerate(answers.levels):
            levels = {"order": order}
            estimate = Resampling.of(context, cell, levels).proportion(right[:, place], answered[:, place])
            yield self._gold_measure(answers, answered[:, [place]], estimate, levels, context)
        # Every order weighs the same on an item, however often it was asked.
        shares = np.where(answered > 0, right / np.maximum(answered, 1.0), 0.0)
        in_all = np.asarray((answered > 0).all(axis=1))
        estimate = Resampling.of(context, cell).proportion(
            np.where(in_all, shares.sum(axis=1), 0.0), np.where(in_all, len(answers.levels), 0)
        )
        yield self._gold_measure(answers, np.where(in_all.reshape(-1, 1), answered, 0.0), estimate, {}, context)

    def _gold_measure(
        self, answers: Answers, answered: Counts, estimate: Estimate, levels: dict[str, str], context: MetricContext
    ) -> Measure:
        basis = evolve(
            Basis.of(answers, self.options.few_items),
            n_trials=int(answered.sum()),
            n_items=int((answered.sum(axis=1) > 0).sum()),
        )
        return basis.measure("gold-agreement-by-order", estimate, context, levels=levels, nothing=_NO_GOLD)


@frozen
class IdenticalChoice:
    """Which place a judge picks when all options are the same response: each place's rate, and that of ties."""

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the rates per judge, task and test of the family `identical-options`."""
        if "family" not in records.columns or not len(records):
            return
        control = records.where(records.equals("family", "identical-options"))
        for cell, rows in cells_of(control, "variant"):
            task = context.tasks.get(cell.task)
            if task is not None:
                answers = answers_of(cell, rows, by="variant", label="presented")
                yield from place_rates(answers, task.scale, context, self.options, prefix="identical-")


def place_rates(
    answers: Answers, scale: Scale, context: MetricContext, options: MetricOptions, prefix: str = ""
) -> Iterator[Measure]:
    """Yield how often the judge picks the option shown first, second ..., and how often neither."""
    basis = Basis.of(answers, options.few_items)
    total = answers.answered.sum(axis=1)
    for name, label in _named_labels(scale):
        picked = _picked(answers, label).sum(axis=1)
        estimate = Resampling.of(context, answers.cell).proportion(picked, total)
        yield basis.measure(f"{prefix}{name}-rate", estimate, context, nothing="every verdict is missing")


def both_orders(answers: Answers, label: str) -> NDArray[np.float64]:
    """Return how probable each item's judge is to pick one place in both orders, NaN without verdicts in both.

    Args:
        answers: verdicts as presented, by order of the options.
        label: the label of the place, such as A for the first.

    Returns:
        Shape (items,): the mean over pairs of orders of the product of the shares of the label; with one repeat 0 or 1.
    """
    answered = answers.answered
    share = _picked(answers, label) / np.where(answered > 0, answered, np.nan)
    pairs = [share[:, one] * share[:, other] for one, other in combinations(range(len(answers.levels)), 2)]
    return np.asarray(np.mean(pairs, axis=0))


def signed_bias(first: NDArray[np.float64], second: NDArray[np.float64], *, level: float) -> Estimate:
    """Estimate the signed position bias: the share of items that stick to the first place less that of the second.

    +1: always the first place; -1: always the second; 0: neither, or as many of one as of the other. Ties and
    consistent verdicts count as neither. With b and c the two sums over n items, the interval is

        (b - c) / (n + 2) -+ z sqrt((p + q - (p - q)^2) / (n + 2)),   p = (b + 1) / (n + 2), q = (c + 1) / (n + 2)

    Source: Bonett and Price (2012), J. Educational and Behavioral Statistics 37:479-488.

    Args:
        first: per item the probability of the first place in both orders, shape (n,).
        second: that of the second place, shape (n,).
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


def mcnemar(first: int, second: int, *, items: int) -> Estimate:
    """Test by McNemar's exact test whether as many items stick to the first place as to the second: the p-value."""
    if not items:
        return Estimate(value=None, flags=("empty",))
    return Estimate(value=mcnemar_exact(first, second).p, n=float(items), clusters=items)


def against_gold(answers: Answers, rows: RecordTable) -> tuple[Counts, Counts]:
    """Return verdicts that equal the gold label and all verdicts of labelled items, each of shape (items, levels)."""
    gold = dict(zip(rows.text("item_id"), rows.text("gold"), strict=True)) if "gold" in rows.columns else {}
    right = np.zeros(answers.planned.shape)
    labelled = np.zeros(len(answers.items), dtype=np.bool_)
    for row, item in enumerate(answers.items):
        label = gold.get(item)
        labelled[row] = label is not None
        if label in answers.labels:
            right[row] = answers.counts[row, :, answers.labels.index(str(label))]
    return right, np.where(labelled[:, None], answers.answered, 0.0)


def _named_labels(scale: Scale) -> list[tuple[str, str]]:
    named = [(f"{name}-position", label) for name, label in zip(PLACES, scale.options, strict=False)]
    return [*named, *([("tie", scale.tie)] if scale.tie is not None else [])]


def _picked(answers: Answers, label: str) -> Counts:
    if label not in answers.labels:
        return np.zeros(answers.planned.shape)
    return answers.counts[:, :, answers.labels.index(label)]
