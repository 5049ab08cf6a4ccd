"""Metric `panel-by-test`: majority vote and best panel of three in every test, and what rates average to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Measure, MetricContext, RecordTable, Scale
from jrh_measuring import (
    Ballots,
    Basis,
    Cell,
    Codes,
    Mask,
    MeasureBuilder,
    Trials,
    against_gold,
    as_expected,
    ballots_of,
    is_named,
    judged_tasks_of,
    numbered,
    panels_of,
    positive_label,
    tasks_of,
)
from jrh_stats import BestPanel, Estimate, best_panel, majority_vote, mean_of_rates

from jrh_metrics.options import PanelTestOptions
from jrh_metrics.panel import MOST_JUDGES

CHOSEN: Final = "chosen"
"""Level of a panel of three: whether it was chosen on the cases it is scored on."""
IN_SAMPLE: Final = "in sample"
HELD_OUT: Final = "held out"
_TWO: Final = 2
_TRIO: Final = 3
_NOTHING: Final = "no case has a right label and a verdict"
_TOO_FEW: Final = "a panel of three needs more than three judges, and cases with a right label in two clusters"


@frozen
class PanelByTest:
    """Measure what three judges, or all of them, decide together in every test and over all tests.

    A panel decides by majority; a tie decides nothing, and counts as wrong and as not positive. The best panel of three
    is the most often right. Chosen and scored on the same cases it looks better than it is: `in sample` is that number,
    as the Judge Reliability Harness has it, `held out` is what to expect.
    """

    options: PanelTestOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield the measures of every task with two judges or more, then the means over tests and over judges."""
        builder = MeasureBuilder.of(records, context, self.options)
        for cell in _tests_and_tasks(builder.trials):
            task = context.tasks.get(cell.task)
            if task is None:
                continue
            ballots = ballots_of(builder.trials, cell, task.scale)
            if len(ballots.judges) >= _TWO:
                positive = positive_label(task, self.options.positive, "panel-by-test")
                yield from _decided(builder, cell, ballots, task.scale, positive)
        yield from _means(builder)


def _tests_and_tasks(trials: Trials) -> Iterator[Cell]:
    """Yield every test of every task with all judges, then all tests of a task together; `test` is empty there."""
    panels = list(panels_of(trials))
    yield from panels
    for whole in judged_tasks_of(trials):
        tests = [cell for cell in panels if cell.task == whole.task and cell.test != REFERENCE]
        if len(tests) >= _TWO:
            yield evolve(whole, rows=np.sort(np.concatenate([cell.rows for cell in tests])))


def _decided(
    builder: MeasureBuilder, cell: Cell, ballots: Ballots, scale: Scale, positive: str | None
) -> Iterator[Measure]:
    size = len(scale.labels)
    code = None if positive is None else scale.rank(positive)
    counted = _counted(ballots, code)

    def made(name: str, estimate: Estimate, note: str = "", **levels: str) -> Measure:
        rows = ballots.rows[counted[name.partition("-")[2]][ballots.ballot]]
        usable = rows[builder.trials.usable[rows]]
        known = estimate if len(usable) else Estimate(value=None)
        given = note if len(usable) else _NOTHING
        return builder.measure(name, Basis(cell.part(levels), rows, usable), known, note=given)

    decided = majority_vote(ballots.votes, n_labels=size) if len(ballots.votes) else np.empty(0, dtype=np.int64)
    told = f"{len(ballots.judges)} judges by majority; a tie is wrong"
    happened = {"accuracy": decided == ballots.truth}
    if code is not None:
        happened |= {"false-positive-rate": decided == code, "false-negative-rate": decided != code}
    for name, hits in happened.items():
        note = told if name == "accuracy" else f"positive label: {positive}"
        yield made(f"majority-{name}", _share(builder, cell, ballots, hits, counted[name]), note)
    # A judge without any verdict is no member of a panel: the other two would be taken for three.
    voting = np.flatnonzero((ballots.votes >= 0).any(axis=0))
    if not _TRIO < len(voting) <= MOST_JUDGES:
        return
    best = best_panel(
        ballots.votes[:, voting],
        ballots.truth,
        ballots.clusters,
        n_labels=size,
        size=_TRIO,
        level=builder.context.level,
        seed=builder.seed(cell),
        positive=code,
    )
    if best is None:
        yield made("trio-accuracy", Estimate(value=None), _TOO_FEW, chosen=HELD_OUT)
        return
    names = ", ".join(ballots.judges[voting[judge]] for judge in best.judges)
    for name, found in _of_trio(best):
        for levels, estimate, note in (
            (HELD_OUT, found[1], f"{names}; {best.same:.0%} of the halves choose these three"),
            (IN_SAMPLE, found[0], f"{names}; too good: chosen on the cases it is scored on, as in the paper"),
        ):
            yield made(name, estimate, note, **{CHOSEN: levels})


def _counted(ballots: Ballots, positive: int | None) -> dict[str, Mask]:
    """Return the ballots that each rate is about."""
    return {
        "accuracy": np.ones(len(ballots.truth), dtype=np.bool_),
        "false-positive-rate": ballots.truth != positive,
        "false-negative-rate": ballots.truth == positive,
    }


def _of_trio(best: BestPanel) -> Iterator[tuple[str, tuple[Estimate, Estimate]]]:
    yield "trio-accuracy", (best.accuracy, best.held_out)
    if best.false_positive is not None and best.false_negative is not None:
        yield "trio-false-positive-rate", best.false_positive
        yield "trio-false-negative-rate", best.false_negative


def _share(builder: MeasureBuilder, cell: Cell, ballots: Ballots, happened: Mask, counted: Mask) -> Estimate:
    return builder.proportion(cell, (happened & counted).astype(float), counted.astype(float), ballots.clusters)


def _means(builder: MeasureBuilder) -> Iterator[Measure]:
    """Yield `mean-over-tests` of every judge and `mean-over-judges` of every test, each rate with the same weight."""
    trials = builder.trials
    value, eligible = _right(trials)
    for name, cells, over in (
        ("mean-over-tests", tasks_of(trials), trials.test.codes),
        ("mean-over-judges", panels_of(trials), trials.judge.codes),
    ):
        for cell in cells:
            rows = cell.rows[eligible[cell.rows]]
            if name == "mean-over-tests":
                rows = rows[trials.test.codes[rows] != _code(trials.test.names, REFERENCE)]
            usable = rows[~np.isnan(value[rows])]
            if len(np.unique(over[usable])) < _TWO:
                continue
            estimate = _mean(value, trials.cluster.codes, over, usable, builder.context.level)
            yield builder.measure(name, Basis(cell, rows, usable), estimate)


def _right(trials: Trials) -> tuple[np.ndarray, np.ndarray]:
    """Return what every trial scores in the main table of a report: against gold, else as its test expects."""
    gold, expected = against_gold(trials), as_expected(trials)
    group = numbered(trials.task.codes, trials.test.codes)
    with_gold = np.isin(group, np.unique(group[gold.eligible]))
    # A verdict that only has to stay the same is neither right nor wrong.
    stated = expected.eligible & ~is_named(trials.expectation, "same")
    return np.where(with_gold, gold.value, expected.value), np.where(with_gold, gold.eligible, stated)


def _mean(value: np.ndarray, cluster: Codes, over: Codes, usable: Codes, level: float) -> Estimate:
    units, unit = np.unique(cluster[usable], return_inverse=True)
    rates, rate = np.unique(over[usable], return_inverse=True)
    tops, counts = np.zeros((len(units), len(rates))), np.zeros((len(units), len(rates)))
    np.add.at(tops, (unit, rate), value[usable])
    np.add.at(counts, (unit, rate), 1.0)
    return mean_of_rates(tops.round(12), counts, level=level)


def _code(names: Sequence[str], name: str) -> int:
    return names.index(name) if name in names else -1
