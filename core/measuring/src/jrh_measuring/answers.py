"""The verdicts of one judge in one test between conditions: counts by question, level of a factor, or option order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from attrs import evolve, frozen
from jrh import REFERENCE, Task
from numpy.typing import NDArray

from jrh_measuring.cells import Basis, Cell, cells_of
from jrh_measuring.coded import Coded, Codes, Floats, Mask, combine_codes, is_named
from jrh_measuring.conditions import LEVELS, ORDER, acts_on
from jrh_measuring.trials import Trials, once_per_table

Counts = Floats
"""Floats of verdicts; the last axis is the label."""


@frozen(kw_only=True, eq=False)
class Axes:
    """What the verdicts of one judge, or of several, are counted by; each but `items` is sorted."""

    questions: Codes
    """Floats of `questions_over`: what was asked of an item under one condition, apart from the factor."""
    items: Codes
    """The item of each question."""
    levels: Codes
    labels: Codes


@frozen(kw_only=True, eq=False)
class Answers:
    """Verdicts by question, level and label; all are sorted, so that the order of rows has no effect.

    A question is an item under one condition but for the factor: levels are compared only where the rest is the same.
    """

    trials: Trials
    cell: Cell
    """The judge, task and test, with the trials at which the factor has a level."""
    by: str
    """The factor: the text column whose values are the levels."""
    presented: bool
    """The labels are those that were shown, not those they mean."""
    axes: Axes

    @classmethod
    def of(cls, trials: Trials, cell: Cell, *, by: str, presented: bool = False) -> Answers:
        """Count the verdicts of a cell; trials at which the factor is empty are left out."""
        rows = cell.rows[~is_named(trials.column(by), "")[cell.rows]]
        none = np.zeros(0, dtype=np.int64)
        axes = Axes(questions=none, items=none, levels=none, labels=none)
        answers = cls(trials=trials, cell=evolve(cell, rows=rows), by=by, presented=presented, axes=axes)
        labels = answers.label_codes[rows]
        # Any row of a question will do, as all of them are about one item.
        questions, first = np.unique(answers.question_codes, return_index=True)
        axes = Axes(
            questions=questions,
            items=trials.item.codes[rows[first]],
            levels=np.unique(trials.column(by).codes[rows]),
            labels=np.unique(labels[labels >= 0]),
        )
        return evolve(answers, axes=axes)

    def as_presented(self) -> Answers:
        """Return the same trials with the labels that were shown."""
        return Answers.of(self.trials, self.cell, by=self.by, presented=True)

    @property
    def rows(self) -> Codes:
        """Return the trials that are counted, with or without a verdict."""
        return self.cell.rows

    @property
    def usable(self) -> Codes:
        """Return those of them with a verdict."""
        return self.rows[self.label_codes[self.rows] >= 0]

    def basis(self, usable: Codes, levels: Mapping[str, str] | None = None) -> Basis:
        """Return what a measure rests on that uses some of the trials; `levels` say of what part it is."""
        cell = self.cell if levels is None else self.cell.part(levels)
        return Basis(cell, self.rows, usable, self.label_codes if self.presented else None)

    @cached_property
    def label_codes(self) -> Codes:
        """Return the label of every trial, -1 without a verdict, shape (n,) over all trials."""
        if not self.presented:
            return self.trials.label
        shown = self.trials.column("presented")
        return np.where(self.trials.usable & (shown.codes != shown.names.index("")), shown.codes, -1)

    @property
    def items(self) -> tuple[str, ...]:
        """Return the name of the item of each question; the questions of an item follow each other."""
        return tuple(self.trials.item.names[code] for code in self.axes.items)

    @cached_property
    def clusters(self) -> Codes:
        """Return the cluster of each question, shape (questions,)."""
        return self.trials.clusters_of(self.axes.items, self.cell.task)

    @property
    def levels(self) -> tuple[str, ...]:
        """Return the levels of the factor: the names of templates, or the orders of options."""
        names = self.trials.column(self.by).names
        return tuple(names[code] for code in self.axes.levels)

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels that were given."""
        names = self.trials.column("presented").names if self.presented else self.trials.labels
        return tuple(names[code] for code in self.axes.labels)

    @cached_property
    def question_codes(self) -> Codes:
        """Return the number of the question of each row, shape (rows,)."""
        return questions_over(self.trials, self.by, self.rows)

    @cached_property
    def _places(self) -> Codes:
        """Return the place of each row among (question, level)."""
        question = np.searchsorted(self.axes.questions, self.question_codes)
        level = np.searchsorted(self.axes.levels, self.trials.column(self.by).codes[self.rows])
        return np.asarray(question * len(self.axes.levels) + level)

    @cached_property
    def counts(self) -> Counts:
        """Count the verdicts, shape (questions, levels, labels)."""
        codes = self.label_codes[self.rows]
        there = codes >= 0
        label = np.searchsorted(self.axes.labels, codes[there])
        return _count(self._places[there] * len(self.axes.labels) + label, (*self._shape, len(self.axes.labels)))

    @cached_property
    def trial_counts(self) -> Counts:
        """Count the trials with or without a verdict, shape (questions, levels)."""
        return _count(self._places, self._shape)

    @cached_property
    def verdict_counts(self) -> Counts:
        """Count the verdicts by question and level, shape (questions, levels)."""
        return np.asarray(self.counts.sum(axis=2))

    @cached_property
    def missing_counts(self) -> Mapping[str, Counts]:
        """Count by status the trials without a verdict, shape (questions, levels)."""
        gone = self.label_codes[self.rows] < 0
        status = self.trials.status.codes[self.rows]
        names = self.trials.status.names
        return {
            names[code]: _count(self._places[gone & (status == code)], self._shape) for code in np.unique(status[gone])
        }

    @cached_property
    def single(self) -> NDArray[np.int64] | None:
        """Return the label by question and level, shape (questions, levels), where none has two verdicts; else None."""
        # One label per place allows a table without the axis of labels, which is most of its size.
        if not len(self.axes.labels) or self.verdict_counts.max(initial=0.0) > 1:
            return None
        return np.where(self.verdict_counts > 0, self.counts.argmax(axis=2), -1)

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.axes.questions), len(self.axes.levels)

    def rows_at(self, places: Mask) -> Codes:
        """Return the trials at some questions and levels; `places` has the shape (questions, levels)."""
        return self.rows[places.reshape(-1)[self._places]]


def answers_by(trials: Trials, by: str, *, presented: bool = False) -> Iterator[Answers]:
    """Yield the answers of every task, judge and test in which the factor has a level.

    A comparison between levels needs the unchanged one too: the trials of the test that ask the reference question
    again take part.
    """
    for cell in cells_of(trials):
        full_cell = evolve(cell, rows=with_unchanged(trials, cell))
        answers = Answers.of(trials, full_cell, by=by, presented=presented)
        if len(answers.rows):
            yield answers


def with_unchanged(trials: Trials, cell: Cell) -> Codes:
    """Return the trials of a test together with those that ask the reference question again."""
    again = trials.conditions.again
    # The reference has these trials already.
    if cell.test == REFERENCE or not again.any():
        return cell.rows
    # Any row will do: those of a cell are of one task, judge and test.
    row = cell.rows[0]
    added = again & (trials.written_test.codes == trials.test.codes[row])
    for column in (trials.task, trials.judge):
        added &= column.codes == column.codes[row]
    return np.concatenate([cell.rows, np.flatnonzero(added)])


def align_answers(judges: Sequence[Answers]) -> list[Answers]:
    """Return the answers of several judges with the questions, levels and labels that any of them has."""
    question, levels, labels = (
        np.concatenate([getattr(judge.axes, part) for judge in judges]) for part in ("questions", "levels", "labels")
    )
    questions, first = np.unique(question, return_index=True)
    items = np.concatenate([judge.axes.items for judge in judges])[first]
    # A judge may have answered fewer questions: on shared axes, counts can be compared place by place.
    axes = Axes(questions=questions, items=items, levels=np.unique(levels), labels=np.unique(labels))
    return [evolve(judge, axes=axes) for judge in judges]


def modal(counts: Counts) -> NDArray[np.int64]:
    """Return the most frequent label along the last axis, -1 where there is none or several."""
    if not counts.shape[-1]:
        return np.full(counts.shape[:-1], -1, dtype=np.int64)
    top = counts.max(axis=-1, keepdims=True)
    # Of a tie no label is the mode: taking the first would depend on the order of the labels.
    alone = ((counts == top).sum(axis=-1) == 1) & (top[..., 0] > 0)
    return np.where(alone, counts.argmax(axis=-1), -1)


def _count(keys: Codes, shape: tuple[int, ...]) -> Counts:
    return np.bincount(keys, minlength=int(np.prod(shape))).reshape(shape).astype(np.float64)


SHOWN: Final = "shown option order"
"""Name of the column with every trial's order: `option_order`, or that of the scale where that is empty."""
"""Separator of the variants of a chain."""
_OWN: Final[Mapping[str, frozenset[str]]] = {"template": frozenset({"polarity", "language", "strength"})}
"""What a level of a factor may bring along: a template is written in a language, asks for or against, and is changed
more or less. A temperature or an option order is none of them."""


def questions_over(trials: Trials, factor: str, rows: Codes) -> Codes:
    """Number what some trials ask apart from a factor: item, and all of the condition that is not the factor's.

    Answers are compared over a factor, template or option order, only if they have the same number, which is the same
    for all judges. A template brings its polarity, language and strength along where each template has one only. Other
    columns name whole conditions: over them every item is one question.

    Args:
        trials: all trials.
        factor: the column that answers are compared over.
        rows: the trials that take part in the comparison.

    Returns:
        Shape (rows,); numbers of one item follow each other.
    """
    item = trials.item.codes[rows]
    level = ORDER if factor == SHOWN else factor
    if level not in ("template", ORDER):
        return item
    over = trials.column(factor)
    mine = over.codes[rows]
    table = trials.conditions.table
    combined = item.astype(np.int64)
    for place, name in enumerate(LEVELS):
        codes = table[trials.conditions.levels[rows], place]
        held = name != level and (name not in _OWN.get(level, ()) or _several(mine, codes))
        # Room for every level, held or not: the numbers of all judges have to mean the same.
        combined = combined * (int(table[:, place].max(initial=0)) + 1) + codes * held
    variant = trials.compute_once(("variant without", factor), lambda: _variant(trials, over))
    size = int(variant.max(initial=0)) + 1
    return np.asarray(combined * size + _variants_as_factor(combined, mine, variant[rows]))


@once_per_table
def without_order(trials: Trials) -> Codes:
    """Number item and condition without the order and the variant, which names the order in most logs, shape (n,)."""
    table = np.delete(trials.conditions.table, LEVELS.index(ORDER), axis=1)
    number = np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)
    return combine_codes(trials.item.codes, number[trials.conditions.levels])


def _variant(trials: Trials, over: Coded) -> Codes:
    """Return the variants without the parts that name the level of the factor, from 1, shape (n,)."""
    back = combine_codes(trials.variant.codes, over.codes)
    example = np.zeros(int(back.max(initial=-1)) + 1, dtype=np.int64)
    example[back] = np.arange(len(back))  # any trial with both: it has their names
    variants = trials.variant
    names = [_without(variants.names[variants.codes[row]], over.names[over.codes[row]]) for row in example]
    # From 1, since 0 says that the variant is no factor; sorted, so that the order of rows has no effect.
    place = {name: number + 1 for number, name in enumerate(sorted(set(names)))}
    return np.array([place[name] for name in names], dtype=np.int64)[back]


def _without(variant: str, level: str) -> str:
    return _JOINT.join(part for part in variant.split(_JOINT) if part != level)


def _variants_as_factor(condition: Codes, level: Codes, variant: Codes) -> Codes:
    """Return the variants where they are a factor of their own, else 0.

    They are where one condition has several of them, and one of them several levels; a log whose variants number the
    rows, or name the level in other words, is compared as if it named none.
    """
    alone = not _several(combine_codes(condition, level), variant) or not _several(
        combine_codes(condition, variant), level
    )
    return np.zeros_like(variant) if alone else variant


def _several(one: Codes, other: Codes) -> bool:
    """Tell whether some value of one column goes with several of the other."""
    return len(np.unique(combine_codes(one, other))) > len(np.unique(one))


_JOINT: Final = "+"
"""Joins the families of a chain: its steps change more than the order."""


def answers_by_order(trials: Trials, tasks: Mapping[str, Task]) -> Iterator[Answers]:
    """Yield the answers of every task, judge and test that states an order, by order.

    A test that shows an item in other orders only is completed by the verdicts on the otherwise same question: the
    item's reference verdicts, or for a chain those of the test that does the same without the order. Both sides of a
    swap count, whether a log or a suite puts them under one test or two.
    """
    # Put where `Trials.column` looks, so that it serves as a factor like any column of the records.
    trials.compute_once(("column", SHOWN), lambda: trials.conditions.order)
    stated = ~is_named(trials.column(ORDER), "")
    question = without_order(trials)
    for cell in cells_of(trials):
        if cell.task not in tasks or not stated[cell.rows].any():
            continue
        # The reference condition rarely states an order: it has that of the scale.
        rows = cell.rows[stated[cell.rows] | (cell.test == REFERENCE)]
        if cell.test != REFERENCE:
            rows = np.union1d(with_unchanged(trials, cell.part({}, rows)), _others(trials, rows, tasks, question))
        yield Answers.of(trials, cell.part(cell.levels, rows), by=SHOWN)


def _others(trials: Trials, rows: Codes, tasks: Mapping[str, Task], question: Codes) -> Codes:
    """Return the trials in the item's own order on the questions that the test shows in other orders only."""
    task = trials.task.names[trials.task.codes[rows[0]]]
    in_own_order = is_named(trials.conditions.order, tasks[task].scale.own_order)
    for column in (trials.task, trials.judge):
        in_own_order &= column.codes == column.codes[rows[0]]
    family = trials.column("family")
    families = {family.names[code] for code in np.unique(family.codes[rows])}
    if any(_JOINT in name for name in families):
        same, variant = _without_order(trials, rows, families, in_own_order)
        question = combine_codes(question, variant)
    else:
        same = trials.reference & in_own_order
    # A question that the test itself asks in the own order has both sides: the reference must not be added to them.
    open_questions = np.setdiff1d(question[rows], question[rows[in_own_order[rows]]])
    return np.flatnonzero(same & np.isin(question, open_questions))


def _without_order(trials: Trials, rows: Codes, families: Collection[str], own: Mask) -> tuple[Mask, Codes]:
    """Find the test that takes the steps of a chain but for the order.

    Returns:
        A mask of its trials, and codes of the variants in which those of the chain lack the order, both of shape (n,).
        The mask is empty where no test does the same, or several do and the names do not tell which: their texts may
        differ.
    """
    family, variant, written = trials.column("family"), trials.column("variant"), trials.column(ORDER)
    steps = {_without_order_steps(name) for name in families}
    wanted = [code for code, name in enumerate(family.names) if name and name in steps]
    same = own & ~trials.reference & np.isin(family.codes, wanted)
    test = trials.test
    candidates = {test.names[code]: code for code in np.unique(test.codes[same])}
    named = _without_order_steps(test.names[test.codes[rows[0]]])
    # Several tests may take the same steps with other texts; the name of the chain tells which of them it repeats.
    chosen = [candidates[named]] if named in candidates else list(candidates.values())
    same &= np.isin(test.codes, chosen) & (len(chosen) == 1)
    place = {name: code for code, name in enumerate(variant.names)}
    codes = variant.codes + 1
    for variant_code, order in np.unique(np.stack([variant.codes[rows], written.codes[rows]]), axis=1).T:
        base = _without(variant.names[variant_code], written.names[order])
        those = rows[(variant.codes[rows] == variant_code) & (written.codes[rows] == order)]
        # 0 is the code of no variant: what no other test has matches nothing.
        codes[those] = place.get(base, -1) + 1
    return same, codes


def _without_order_steps(chain: str) -> str:
    return _JOINT.join(step for step in chain.split(_JOINT) if not acts_on(ORDER, step))
