"""Compare judges asked the same questions: metrics `flipped-by-every-judge` and `pairwise-agreement`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

import numpy as np
from attrs import frozen
from jrh import Measure, MetricContext, RecordTable
from jrh_measuring import (
    DEGENERATE,
    Answers,
    Basis,
    BreakdownOptions,
    Cell,
    Coded,
    Counts,
    Mask,
    MeasureBuilder,
    Pairs,
    Trials,
    align_answers,
    answers_by,
    cells_of,
    combine_codes,
    condition_codes,
    joint_kappa,
)

from jrh_prompts.listing import select_pairs
from jrh_prompts.options import OverlapOptions

_QUESTION: Final = "question of an item"
"""Name of the column by which judges are compared: what was asked of an item."""
_LISTED: Final = 20
"""Pairs listed in the note; the others are only counted."""
_DEGENERATE: Final = "both judges always give the same single label: kappa is undefined"
_NO_QUESTION: Final = "no question was answered by both judges"


@frozen
class FlippedByEveryJudge:
    """Measure how many judges contradict themselves on the same template pair, up to every one.

    Flips that many judges share point at the item or the templates, not at one judge.

    Only pairs on which two judges or more have verdicts on both sides count. A judge flips a pair if its verdicts
    disagree in more than half of the combinations of repeats.
    """

    options: OverlapOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `flipped-by-every-judge`, `flipped-by` by number of judges, `flipping-judges` by template pair."""
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        for members in _by_test(builder.trials):
            if len(members) > 1:
                together = align_answers(members)
                items = context.items.get(together[0].cell.task, ())
                chosen = select_pairs(self.options.pairs, together[0], items, context.seed)
                yield from _measure_flips(builder, together, chosen)


def _measure_flips(builder: MeasureBuilder, answers: Sequence[Answers], chosen: Mask | None) -> Iterator[Measure]:
    judges = [Pairs.of(judge, chosen) for judge in answers]
    usable = np.stack([pairs.usable for pairs in judges])
    flips = np.stack([pairs.scores < 0.5 for pairs in judges]) & usable  # noqa: PLR2004 - more than half disagree
    # A pair that one judge answered cannot be flipped by several.
    common = usable.sum(axis=0) > 1
    every = common & (flips.sum(axis=0) == usable.sum(axis=0))
    listed = _flip_note([f"{answers[0].items[row]}: {judges[0].name(pair)}" for row, pair in np.argwhere(every)])
    rows = np.concatenate([judge.rows for judge in answers])
    cell = Cell(task=answers[0].cell.task, judge="", test=answers[0].cell.test, rows=rows)
    # An item without a pair that two judges answered carries no information.
    with_pair = np.broadcast_to(common.any(axis=1)[:, None], answers[0].trial_counts.shape)
    compared = np.concatenate([judge.rows_at(with_pair) for judge in answers])
    used = compared[builder.trials.usable[compared]]

    def build(name: str, tops: Counts, bottoms: Counts, note: str = "", **levels: str) -> Measure:
        estimate = builder.proportion(tops.sum(axis=1), bottoms.sum(axis=1), answers[0].clusters)
        reason = note if estimate.value is not None else "no pair has verdicts from two judges"
        return builder.measure(name, Basis(cell.part(levels), rows, used), estimate, note=reason)

    yield build("flipped-by-every-judge", every.astype(float), common.astype(float), listed)
    count = flips.sum(axis=0)
    for number in range(len(answers) + 1):
        exactly = common & (count == number)
        yield build("flipped-by", exactly.astype(float), common.astype(float), judges=str(number))
    for pair in np.flatnonzero(common.any(axis=0)):
        there = np.where(common, usable.sum(axis=0), 0.0)[:, [pair]]
        yield build("flipping-judges", (count * common)[:, [pair]], there, pair=judges[0].name(int(pair)))


@frozen
class PairwiseAgreement:
    """Measure agreement and Cohen's kappa of each pair of judges on the same questions, in every test.

    A question is an item under one condition; with repeats it scores the share of agreeing combinations.
    """

    options: BreakdownOptions

    def measure(self, records: RecordTable, context: MetricContext) -> Iterator[Measure]:
        """Yield `pairwise-agreement` and `pairwise-kappa` per task, test, factor of `by`, and pair (`cell`: with)."""
        builder = MeasureBuilder.of(records, context, self.options, draws="prompts")
        trials = builder.trials
        trials.compute_once(("column", _QUESTION), lambda: _questions(trials))
        cells: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[Answers]] = {}
        for cell in cells_of(trials, self.options.by):
            key = cell.task, cell.test, tuple(cell.levels.items())
            cells.setdefault(key, []).append(Answers.of(trials, cell, by=_QUESTION))
        for members in cells.values():
            for pair in combinations(members, 2):
                yield from _between(builder, *align_answers(pair))


def _questions(trials: Trials) -> Coded:
    """Name the questions that an item is asked: condition, and case of those that the records tell apart."""
    # Reference trials of an item are one question, however many cases the log gives them.
    case = np.where(trials.reference, 0, trials.case.codes)
    key = combine_codes(condition_codes(trials), trials.item.codes, case)
    # Cases of one item and condition are numbered from 0, so that the questions of all items share few columns.
    pairs, first = np.unique(key, return_index=True)
    of_item = combine_codes(condition_codes(trials), trials.item.codes)[first]
    place = np.arange(len(pairs)) - np.searchsorted(of_item, of_item)
    number = combine_codes(condition_codes(trials), place[key])
    return Coded(codes=number + 1, names=("", *(str(code) for code in range(int(number.max(initial=-1)) + 1))))


def _between(builder: MeasureBuilder, first: Answers, second: Answers) -> Iterator[Measure]:
    answered = first.verdict_counts * second.verdict_counts
    usable = answered > 0
    # Of repeats, every combination counts the same.
    agreeing = (first.counts * second.counts).sum(axis=2) / np.maximum(answered, 1.0)
    rows = np.concatenate([first.rows, second.rows])
    cell = first.cell.part({**first.cell.levels, "with": second.cell.judge}, rows)
    # No cluster parts an item, so only the sum over the prompts of an item matters.
    joint = np.einsum("itl,itm,it->ilm", first.counts, second.counts, usable / np.maximum(answered, 1.0))
    sums = (agreeing * usable).sum(axis=1), usable.sum(axis=1)
    kappa = joint_kappa(joint, first.clusters, level=builder.context.level)
    compared = np.concatenate([first.rows_at(usable), second.rows_at(usable)])
    basis = Basis(cell, rows, compared[builder.trials.usable[compared]])
    for name, estimate, unit in (
        ("pairwise-agreement", builder.proportion(*sums, first.clusters), "proportion"),
        ("pairwise-kappa", kappa, "coefficient"),
    ):
        note = _DEGENERATE if DEGENERATE in estimate.flags else _NO_QUESTION if estimate.value is None else ""
        yield builder.measure(name, basis, estimate, note=note, unit=unit)


def _by_test(trials: Trials) -> Iterator[list[Answers]]:
    """Yield, for every task and test, the answers of each judge by template, in the order of their names."""
    tests: dict[tuple[str, str], list[Answers]] = {}
    for answers in answers_by(trials, "template"):
        tests.setdefault((answers.cell.task, answers.cell.test), []).append(answers)
    yield from tests.values()


def _flip_note(flipped: Sequence[str]) -> str:
    if not flipped:
        return ""
    # An item that is asked under several conditions is listed once.
    flipped = list(dict.fromkeys(flipped))
    more = f"; and {len(flipped) - _LISTED} more" if len(flipped) > _LISTED else ""
    return f"flipped by every judge: {'; '.join(flipped[:_LISTED])}{more}"
