"""The metrics `position-bias` and `identical-choice`: how the order of the options affects a judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import Measure, MetricContext, RecordTable, Scale
from jrh_measuring import (
    FEW_EVENTS,
    Answers,
    Basis,
    Codes,
    Counts,
    Floats,
    Mask,
    MeasureBuilder,
    MetricOptions,
    Pairs,
    answers_by,
    answers_by_order,
)
from jrh_stats import (
    cluster_sums,
    clustered_mean,
    exchange_test,
    share_difference_limits,
)
from numpy.typing import NDArray

_NAMES: Final = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_EXACT: Final = 1e-9


def place_name(place: int) -> str:
    """Return the name of a place, counted from 0: `first`, `second`, ..., `tenth`, `11th`, ..."""
    number = place + 1
    if place < len(_NAMES):
        return _NAMES[place]
    ending = "th" if number // 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def moves_all(one: str, other: str) -> bool:
    """Tell whether every option is in another place."""
    return all(here != there for here, there in zip(one, other, strict=False))


def balance_orders(answers: Answers, own: str) -> Counts:
    """Return the weights of every item's orders, shape (items, levels), such that every option visits every place.

    All orders with a verdict weigh 1 where that balances them, or some of them 1 and the others 0 (the reverse order
    next to the rotations of three options). Where no weights balance them, all weigh 1.

    Args:
        answers: verdicts by order of the options.
        own: the options in their own order.
    """
    # Few patterns of answered orders exist, so that the weights are solved once per pattern.
    kinds, of = np.unique(answers.verdict_counts > 0, axis=0, return_inverse=True)
    weights = np.zeros(kinds.shape)
    for row, kind in enumerate(kinds):
        if kind.any():
            orders = tuple(name for name, used in zip(answers.levels, kind, strict=True) if used)
            weights[row, kind] = _weights(orders, own)
    return np.asarray(weights[of.reshape(-1)])


def is_balanced(answers: Answers, own: str, weights: Counts) -> Mask:
    """Return per item whether every option visits every place under the weights, shape (items,)."""
    visits = np.stack([_visits(order, own) for order in answers.levels], axis=1)
    total = weights.sum(axis=1, keepdims=True)
    even = np.abs(weights @ visits.T - total / len(own)).max(axis=1) < _EXACT
    return np.asarray(even & (total[:, 0] > 0))


@lru_cache(maxsize=1024)
def _weights(orders: tuple[str, ...], own: str) -> Floats:
    from scipy.optimize import nnls

    visits = np.stack([_visits(order, own) for order in orders], axis=1)
    target = np.full(len(visits), 1.0 / len(own))
    solved, residual = nnls(visits, target)
    # Equal weights where they do: those of a solver are exact to some digits only.
    for used in (np.ones(len(orders)), (solved > _EXACT).astype(np.float64)):
        if used.any() and np.abs(visits @ used / used.sum() - target).max() < _EXACT:
            return used
    # Scaled so that weights are about 1 per order, as where all of them balance.
    return np.asarray(solved * len(orders)) if residual < _EXACT else np.ones(len(orders))


def _visits(order: Sequence[str], own: str) -> Floats:
    """Return which option is in which place, flattened; all zeros for an order of other options."""
    # Records may come from elsewhere and name other options.
    if sorted(order) != sorted(own):
        return np.zeros(len(own) ** 2)
    return np.array([float(option == shown) for shown in order for option in own])


_TWO: Final = 2
_NO_ORDERS: Final = "no item has verdicts in both orders"
_SIGNS: Final = "two-sided exchange of both positions by cluster; null hypothesis: neither position is preferred"
_FIRST_LAST: Final = "share of picks in the first place minus that in the last; every option in every place"
_UNBALANCED: Final = "no item has verdicts in orders that put every option in every place"
_EXCHANGE: Final = "permutation of the places within clusters; null hypothesis: every place is picked equally often"
_EVEN_SHARE: Final = "share of picks minus the mean of all places; intervals hold for all {places} places at once"
_NO_GOLD_IN_BOTH: Final = "no item with a gold label has verdicts in all its orders"
_NO_GOLD: Final = "no item with a verdict has a gold label"


@frozen
class PositionBias:
    """Measure swap consistency, right in both orders, position rates, position bias, agreement with gold by order.

    Works on every test whose records state the order of the options, from a run or imported. The item's own order is
    the reference condition: a test that shows an item in other orders only is completed by its reference verdicts.
    Every order of an item has the same weight, however often it was asked; of three orders or more those count for the
    places in which every option is equally often in every place. Orders are compared under the same template,
    temperature and other conditions only; an item asked under several counts once for each.
    """

    options: MetricOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield all measures per judge, task and test with at least two orders."""
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        for answers in answers_by_order(builder.trials, context.tasks):
            scale = context.tasks[answers.cell.task].scale
            if len(answers.levels) > 1 and scale.own_order:
                shown = answers.as_presented()
                weights = balance_orders(shown, scale.own_order)
                yield _consistency(builder, answers)
                yield _strict(builder, answers)
                yield from place_rates(builder, shown, scale, weights)
                if len(scale.options) == _TWO:
                    yield from _bias(builder, shown, scale)
                else:
                    yield from _drift(builder, shown, scale, weights)
                yield from _gold(builder, answers)


def _consistency(builder: MeasureBuilder, answers: Answers) -> Measure:
    """Measure agreement between pairs of orders in which every option is elsewhere; between all if there is none.

    An option that keeps its place would let a judge that always picks that place look consistent.
    """
    pairs = Pairs.of(answers)
    orders = answers.levels
    both = zip(pairs.first, pairs.second, strict=True)
    # Of two options the one swap moves both; the choice matters from three on.
    moving = [pair for pair, (one, other) in enumerate(both) if moves_all(orders[one], orders[other])]
    if 0 < len(moving) < len(pairs.first):
        pairs = pairs.select(np.array(moving, dtype=np.int64))
    estimate = builder.proportion(pairs.scores.sum(axis=1), pairs.usable.sum(axis=1), answers.clusters)
    note = "no item has verdicts in two orders" if estimate.value is None else ""
    return builder.measure(
        "swap-consistency", answers.basis(pairs.verdict_rows), estimate, bounds=pairs.bounds, note=note
    )


def _strict(builder: MeasureBuilder, answers: Answers) -> Measure:
    """Measure the share of labelled items with the gold verdict in every order they were shown in.

    With repeats an item scores the probability that one asking in each order is right every time.
    """
    right, answered = against_gold(answers)
    in_plan = answers.trial_counts > 0
    labelled = (_gold_of(answers) >= 0) & (in_plan.sum(axis=1) >= _TWO)
    there = labelled & ((answered > 0) | ~in_plan).all(axis=1)

    def product(tops: Counts, bottoms: Counts) -> Counts:
        # An order that was not planned for an item cannot fail it.
        shares = np.where(in_plan, tops / np.maximum(bottoms, 1.0), 1.0)
        return np.asarray(shares.prod(axis=1))

    planned = answers.trial_counts
    # Manski bounds: missing verdicts are all wrong, then all right.
    ends = product(right, planned)[labelled], product(right + planned - answers.verdict_counts, planned)[labelled]
    labelled_rows = answers.rows_at(there[:, None] & in_plan)
    about = answers.rows_at(labelled[:, None] & in_plan)
    estimate = builder.proportion(np.where(there, product(right, answered), 0.0), there, answers.clusters)
    basis = Basis(answers.cell, about, labelled_rows[answers.label_codes[labelled_rows] >= 0])
    bounds = (float(ends[0].mean()), float(ends[1].mean())) if len(ends[0]) else None
    note = "" if estimate.value is not None else _NO_GOLD_IN_BOTH
    return builder.measure("right-in-both-orders", basis, estimate, bounds=bounds, note=note)


def _drift(builder: MeasureBuilder, answers: Answers, scale: Scale, weights: Counts) -> Iterator[Measure]:
    """Measure the position bias of three options or more: by place, and of the first place against the last."""
    even = is_balanced(answers, scale.own_order, weights)
    total = weights.sum(axis=1)
    shares = np.stack([(weights * _shares(answers, letter)).sum(axis=1) for letter in scale.options], axis=1)
    # Rounded, so that equal shares are equal for the exchange test whatever the order of the sums.
    shares = (shares[even] / total[even, None]).round(12)
    balanced_rows = answers.rows_at(even[:, None] & (weights > 0))
    usable = balanced_rows[answers.label_codes[balanced_rows] >= 0]
    counts = np.ones(len(shares))
    leaning = cluster_sums(answers.clusters[even], shares[:, 0] - shares[:, -1], counts)
    drift = builder.exchange_sides(answers.cell, leaning)
    basis, known = answers.basis(usable), len(usable) > 0
    note = _FIRST_LAST if known else _UNBALANCED
    yield builder.measure("position-bias", basis, drift.estimate, note=note, unit="difference")
    sums = [cluster_sums(answers.clusters[even], column, counts)[:, 0] for column in shares.T]
    stacked, seed = np.stack(sums, axis=1), builder.seed(answers.cell)
    p = exchange_test(stacked, resamples=builder.context.resamples, seed=seed).p
    yield builder.p_value("position-bias-p", basis, p, note=_EXCHANGE if known else _UNBALANCED)
    if known:
        yield from _preferences(builder, basis, shares, answers.clusters[even])


def _preferences(builder: MeasureBuilder, basis: Basis, shares: Counts, clusters: Codes) -> Iterator[Measure]:
    """Measure how much more often than the mean of all places each is picked, with simultaneous intervals."""
    places = shares.shape[1]
    # Bonferroni: the intervals of all places hold at once.
    level = 1 - (1 - builder.context.level) / places
    for place, column in enumerate((shares - shares.mean(axis=1, keepdims=True)).round(12).T):
        sums = cluster_sums(clusters, column, np.ones(len(column)))
        # A place that is always picked is above the mean by 1 - 1/k, one that never is below it by 1/k.
        estimate = clustered_mean(sums[:, 0], sums[:, 1], bounds=(-1 / places, 1 - 1 / places), level=level)
        part, note = basis.part({**basis.cell.levels, "place": place_name(place)}), _EVEN_SHARE.format(places=places)
        yield builder.at(level).measure("position-preference", part, estimate, note=note, unit="difference")


def _bias(builder: MeasureBuilder, answers: Answers, scale: Scale) -> Iterator[Measure]:
    first, second = (both_orders(answers, letter) for letter in scale.options)
    used = np.isfinite(first)
    stuck_first, stuck_second, clusters = first[used], second[used], answers.clusters[used]
    used_rows = answers.rows_at(np.broadcast_to(used[:, None], answers.trial_counts.shape))
    usable = used_rows[answers.label_codes[used_rows] >= 0]
    tends_first = int((stuck_first > stuck_second).sum())
    tends_second = int((stuck_first < stuck_second).sum())
    unit = "items" if len(np.unique(answers.axes.items[used])) == len(clusters) else "questions"
    note = f"first position in both orders: {tends_first} {unit}; second: {tends_second}"
    sums = cluster_sums(clusters, stuck_first - stuck_second, np.ones(len(clusters)))
    bias = builder.exchange_sides(answers.cell, sums)
    estimate = bias.estimate
    if builder.context.one_sided and FEW_EVENTS in estimate.flags:
        wins = (np.maximum(sign * (stuck_first - stuck_second), 0.0) for sign in (1, -1))
        limits = share_difference_limits(
            *cluster_sums(clusters, *wins, np.ones(len(clusters))).T, level=builder.context.level
        )
        estimate = evolve(estimate, low=limits.low, high=limits.high, method=limits.method, flags=limits.flags)
    basis, known = answers.basis(usable), len(usable) > 0
    yield builder.measure("position-bias", basis, estimate, note=note if known else _NO_ORDERS, unit="difference")
    yield builder.p_value("position-bias-p", basis, bias.test.p, note=_SIGNS if known else _NO_ORDERS)


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
    rows = answers.rows_at(told)
    basis = answers.basis(rows[answers.label_codes[rows] >= 0], levels)
    estimate = builder.proportion(tops, bottoms, answers.clusters)
    note = _NO_GOLD if estimate.value is None else ""
    return builder.measure("gold-agreement-by-order", basis, estimate, note=note)


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
            # By family and not by name: a suite may call the test anything.
            if task is not None and family.names[family.codes[answers.rows[0]]] == "identical-options":
                yield from place_rates(builder, answers, task.scale, prefix="identical-")


def place_rates(
    builder: MeasureBuilder, answers: Answers, scale: Scale, weights: Counts | None = None, prefix: str = ""
) -> Iterator[Measure]:
    """Yield how often the judge picks the option shown first, second ..., and how often neither.

    Args:
        builder: the metric's.
        answers: verdicts as presented.
        scale: of the task.
        weights: of every item's levels, shape (items, levels); by default all with a verdict weigh the same.
        prefix: of the names.
    """
    weighed = np.where(answers.verdict_counts > 0, 1.0 if weights is None else weights, 0.0)
    chance = f"chance: {1 / len(scale.options):.3f}" if len(scale.options) > _TWO else ""
    for name, label in _label_names(scale):
        picked = (weighed * _shares(answers, label)).sum(axis=1)
        estimate = builder.proportion(picked, weighed.sum(axis=1), answers.clusters)
        note = "every verdict is missing" if estimate.value is None else chance if label != scale.tie else ""
        yield builder.measure(f"{prefix}{name}-rate", answers.basis(answers.usable), estimate, note=note)


def both_orders(answers: Answers, label: str) -> Floats:
    """Return, per item, the probability that the judge picks one position in both orders; NaN if one has no verdict.

    Args:
        answers: verdicts as presented, by order of the options.
        label: the label of the position, such as A for the first.

    Returns:
        Shape (items,): the mean over pairs of orders of the product of the shares of the label; with one repeat 0 or 1.
    """
    answered = answers.verdict_counts
    share = _pick_counts(answers, label) / np.where(answered > 0, answered, np.nan)
    pairs = [share[:, one] * share[:, other] for one, other in combinations(range(len(answers.levels)), 2)]
    return np.asarray(np.mean(pairs, axis=0))


def against_gold(answers: Answers) -> tuple[Counts, Counts]:
    """Return verdicts that equal the gold label and all verdicts of labelled items, each of shape (items, levels)."""
    gold = _gold_of(answers)
    same = answers.axes.labels[None, :] == gold[:, None]
    right = (answers.counts * same[:, None, :]).sum(axis=2)
    return right, np.where((gold >= 0)[:, None], answers.verdict_counts, 0.0)


def _gold_of(answers: Answers) -> NDArray[np.int64]:
    """Return the gold label of every item, -1 where it has none."""
    trials = answers.trials
    gold = np.full(len(trials.item.names), -1, dtype=np.int64)
    gold[trials.item.codes[answers.rows]] = trials.gold[answers.rows]
    return np.asarray(gold[answers.axes.items])


def _label_names(scale: Scale) -> list[tuple[str, str]]:
    named = [(f"{place_name(place)}-position", label) for place, label in enumerate(scale.options)]
    return [*named, *([("tie", scale.tie)] if scale.tie is not None else [])]


def _shares(answers: Answers, label: str) -> Counts:
    """Return the share of a label among the verdicts, shape (items, levels); 0 without a verdict."""
    return np.asarray(_pick_counts(answers, label) / np.maximum(answers.verdict_counts, 1.0))


def _pick_counts(answers: Answers, label: str) -> Counts:
    if label not in answers.labels:
        return np.zeros(answers.trial_counts.shape)
    return answers.counts[:, :, answers.labels.index(label)]
