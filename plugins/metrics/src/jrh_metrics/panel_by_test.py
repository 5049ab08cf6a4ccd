"""Metric `panel-by-test`: majority vote and best panel of three in every test, and what rates average to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    combine_codes,
    is_named,
    panels_of,
    positive_label,
    tasks_of,
    tasks_of_all_judges,
)
from jrh_stats import BestPanel, Estimate, majority_vote, mean_of_rates

from jrh_metrics.options import PanelTestOptions
from jrh_metrics.panel import MOST_JUDGES, TRIO, best_trio

CHOSEN: Final = "chosen"
"""Level of a panel of three: whether it was chosen on the cases it is scored on."""
IN_SAMPLE: Final = "in sample"
HELD_OUT: Final = "held out"
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
        for cell in panel_cells(builder.trials):
            task = context.tasks.get(cell.task)
            if task is None:
                continue
            ballots = ballots_of(builder.trials, cell, task.scale)
            if len(ballots.judges) > 1:
                positive = positive_label(task, self.options.positive, "panel-by-test")
                yield from _measure_panel(builder, cell, ballots, task.scale, positive)
        yield from _means(builder)


def panel_cells(trials: Trials) -> Iterator[Cell]:
    """Yield every test of every task with all judges, then all tests of a task together; `test` is empty there."""
    panels = list(panels_of(trials))
    yield from panels
    for task_cell in tasks_of_all_judges(trials):
        # The reference is what tests are compared with, and none of them.
        tests = [cell for cell in panels if cell.task == task_cell.task and cell.test != REFERENCE]
        if len(tests) > 1:
            yield evolve(task_cell, rows=np.sort(np.concatenate([cell.rows for cell in tests])))


def _measure_panel(
    builder: MeasureBuilder, cell: Cell, ballots: Ballots, scale: Scale, positive: str | None
) -> Iterator[Measure]:
    size = len(scale.labels)
    code = None if positive is None else scale.rank(positive)
    counted = _ballots_of_rates(ballots, code)

    def build(name: str, estimate: Estimate, note: str = "", **levels: str) -> Measure:
        rows = ballots.rows[counted[name.partition("-")[2]][ballots.ballot]]
        usable = rows[builder.trials.usable[rows]]
        known = estimate if len(usable) else Estimate(value=None)
        text = note if len(usable) else _NOTHING
        return builder.measure(name, Basis(cell.part(levels), rows, usable), known, note=text)

    # Without ballots there is nothing to count.
    decided = majority_vote(ballots.votes, n_labels=size) if len(ballots.votes) else np.empty(0, dtype=np.int64)
    rule = f"{len(ballots.judges)} judges by majority; a tie is wrong"
    happened = {"accuracy": decided == ballots.truth}
    if code is not None:
        happened |= {"false-positive-rate": decided == code, "false-negative-rate": decided != code}
    for name, hits in happened.items():
        # The rates depend on the positive label, and accuracy on what a tie counts as.
        note = rule if name == "accuracy" else f"positive label: {positive}"
        sums = (hits & counted[name]).astype(float), counted[name].astype(float)
        yield build(f"majority-{name}", builder.proportion(*sums, ballots.clusters), note)
    # A judge without any verdict is no member of a panel: the other two would be taken for three.
    voting = np.flatnonzero((ballots.votes >= 0).any(axis=0))
    if not TRIO < len(voting) <= MOST_JUDGES:
        return
    best = best_trio(builder, cell, ballots, size, voting, code)
    # Too few clusters to choose on one half and score on the other.
    if best is None:
        yield build("trio-accuracy", Estimate(value=None), _TOO_FEW, chosen=HELD_OUT)
        return
    names = name_panel(ballots.judges[voting[judge]] for judge in best.judges)
    for name, versions in _of_trio(best):
        # Held out first: it is the number to expect.
        for levels, estimate, note in (
            (HELD_OUT, versions[1], f"{names}; {best.same:.0%} of the halves choose these three"),
            (IN_SAMPLE, versions[0], f"{names}; too good: chosen on the cases it is scored on, as in the paper"),
        ):
            yield build(name, estimate, note, **{CHOSEN: levels})


def name_panel(judges: Iterable[str]) -> str:
    """Return the names of some judges in one text, from which a table finds them again."""
    # Quoted where a name holds what separates names, or what ends them in a note.
    return ", ".join(f"'{judge}'" if {",", ";"} & set(judge) else judge for judge in judges)


def _ballots_of_rates(ballots: Ballots, positive: int | None) -> dict[str, Mask]:
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


def _means(builder: MeasureBuilder) -> Iterator[Measure]:
    """Yield `mean-over-tests` of every judge and `mean-over-judges` of every test, each rate with the same weight."""
    trials = builder.trials
    value, eligible = right_scores(trials)
    by_test = combine_codes(trials.task.codes, trials.test.codes)
    for name, cells, over in (
        ("mean-over-tests", (*tasks_of(trials), *_over_tasks(trials)), by_test),
        ("mean-over-judges", panels_of(trials), trials.judge.codes),
    ):
        for cell in cells:
            rows = cell.rows[eligible[cell.rows]]
            if name == "mean-over-tests":
                rows = rows[~is_named(trials.test, REFERENCE)[rows]]
            usable = rows[~np.isnan(value[rows])]
            if len(np.unique(over[usable])) <= 1:
                continue
            estimate = mean_rate(value, trials.cluster.codes, over, usable, builder.context.level)
            yield builder.measure(name, Basis(cell, rows, usable), estimate)


def _over_tasks(trials: Trials) -> Iterator[Cell]:
    """Yield the trials of every judge in all tasks together, of a table with several; `task` and `test` are empty."""
    cells = list(tasks_of(trials))
    if len({cell.task for cell in cells}) > 1:
        for judge in dict.fromkeys(cell.judge for cell in cells):
            rows = np.sort(np.concatenate([cell.rows for cell in cells if cell.judge == judge]))
            yield Cell(task="", judge=judge, test="", rows=rows)


def right_scores(trials: Trials) -> tuple[np.ndarray, np.ndarray]:
    """Return what every trial scores in the main table of a report: against gold, else as its test expects."""
    gold, expected = against_gold(trials), as_expected(trials)
    group = combine_codes(trials.task.codes, trials.test.codes)
    # By task and test: one column of the table has one kind of rate.
    with_gold = np.isin(group, np.unique(group[gold.eligible]))
    # A verdict that only has to stay the same is neither right nor wrong.
    stated = expected.eligible & ~is_named(trials.expectation, "same")
    return np.where(with_gold, gold.value, expected.value), np.where(with_gold, gold.eligible, stated)


def mean_rate(value: np.ndarray, cluster: Codes, over: Codes, usable: Codes, level: float) -> Estimate:
    """Estimate the mean of the rates of the groups `over`, each with the same weight."""
    units, unit = np.unique(cluster[usable], return_inverse=True)
    rates, rate = np.unique(over[usable], return_inverse=True)
    tops, counts = np.zeros((len(units), len(rates))), np.zeros((len(units), len(rates)))
    np.add.at(tops, (unit, rate), value[usable])
    np.add.at(counts, (unit, rate), 1.0)
    # The order of addition must not show in the last digit.
    return mean_of_rates(tops.round(12), counts, level=level)
