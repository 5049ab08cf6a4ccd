"""Pairs of conditions, how often their verdicts agree; pairs of templates in items, and of judges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np
from attrs import evolve, frozen
from jrh import Item, Scale
from jrh_stats import Estimate, clustered_kappa
from numpy.typing import NDArray

from jrh_measuring.answers import Answers, Counts, questions_over
from jrh_measuring.cells import Cell
from jrh_measuring.coded import Codes, Mask, combine_codes, split_rows
from jrh_measuring.scoring import right_label
from jrh_measuring.trials import Trials, condition_codes, once_per_table


@frozen(kw_only=True, eq=False)
class Pairs:
    """Every unordered pair of levels on every question; arrays of shape (questions, pairs)."""

    answers: Answers
    first: NDArray[np.int64]
    """The level of each pair that sorts first, shape (pairs,)."""
    second: NDArray[np.int64]
    agreeing: Counts
    """Products of verdicts that agree: sum over labels of n_first n_second."""
    combined: Counts
    """All products of verdicts, N_first N_second."""
    planned: Counts
    """All products of trials, with or without a verdict; 0 where the pair is not looked at."""

    @classmethod
    def of(cls, answers: Answers, chosen: Mask | None = None) -> Pairs:
        """Pair the levels up: all of them, in the order of `all_pairs`, or those chosen, shape (questions, pairs)."""
        first, second = all_pairs(answers)
        counts, answered = answers.counts, answers.verdict_counts
        planned = answers.trial_counts[:, first] * answers.trial_counts[:, second]
        if chosen is not None:
            planned = planned * chosen
        looked = planned > 0
        return cls(
            answers=answers,
            first=first,
            second=second,
            agreeing=np.where(looked, (counts[:, first] * counts[:, second]).sum(axis=2), 0.0),
            combined=np.where(looked, answered[:, first] * answered[:, second], 0.0),
            planned=planned,
        )

    @property
    def in_plan(self) -> Mask:
        """Return the pairs of the plan, shape (questions, pairs)."""
        return np.asarray(self.planned > 0)

    @property
    def usable(self) -> Mask:
        """Return the pairs with a verdict on both sides, shape (questions, pairs)."""
        return np.asarray(self.combined > 0)

    @property
    def scores(self) -> Counts:
        """Return the agreement of every usable pair, 0 to 1; 0 elsewhere.

        The share of agreeing combinations of a verdict of one side with one of the other: with one repeat 0 or 1, with
        several the unbiased estimate of the probability that two askings agree. Every pair weighs the same.
        """
        return np.asarray(self.agreeing / np.maximum(self.combined, 1.0))

    @property
    def rows(self) -> Codes:
        """Return the trials that stand in a pair that is looked at, with or without a verdict."""
        return self._rows_of(self.in_plan)

    @property
    def verdict_rows(self) -> Codes:
        """Return the verdicts that are compared: those that stand in a usable pair."""
        rows = self._rows_of(self.usable)
        return rows[self.answers.label_codes[rows] >= 0]

    def _rows_of(self, chosen: Mask) -> Codes:
        used = np.zeros(self.answers.trial_counts.shape, dtype=np.bool_)
        row, pair = np.nonzero(chosen)
        used[row, self.first[pair]] = True
        used[row, self.second[pair]] = True
        return self.answers.rows_at(used)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Return the agreement if every missing verdict had disagreed, and if every one had agreed."""
        used = self.in_plan
        if not used.any():
            return None
        planned = np.maximum(self.planned, 1.0)
        # Sorted below: the order of addition must not show in the last digit.
        low = self.agreeing / planned
        high = (self.agreeing + self.planned - self.combined) / planned
        return float(np.sort(low[used]).mean()), min(float(np.sort(high[used]).mean()), 1.0)

    def select(self, chosen: NDArray[np.int64]) -> Pairs:
        """Return some of the pairs, by their numbers."""
        return evolve(
            self,
            first=self.first[chosen],
            second=self.second[chosen],
            agreeing=self.agreeing[:, chosen],
            combined=self.combined[:, chosen],
            planned=self.planned[:, chosen],
        )

    def name(self, pair: int) -> str:
        """Return a pair's name."""
        levels = self.answers.levels
        return f"{levels[self.first[pair]]} | {levels[self.second[pair]]}"

    def kappa(self, *, level: float) -> Estimate:
        """Compute Cohen's kappa over the pairs, the level that sorts first against the other, by cluster.

        Every pair weighs 1 in total, divided over the combinations of its repeats.
        """
        counts, single = self.answers.counts, self.answers.single
        # With one verdict on each side the labels do, without a table of labels for every question.
        if single is not None:
            row, column = np.nonzero(self.usable)
            first, second = single[row, self.first[column]], single[row, self.second[column]]
            return clustered_kappa(first, second, self.answers.clusters[row], level=level)
        labels = counts.shape[2]
        joint = np.zeros((len(counts), labels, labels))
        for pair, (first, second) in enumerate(zip(self.first, self.second, strict=True)):
            # Pairs of one item are added up at once: no cluster parts an item, so that only their sums count.
            weight = self.usable[:, pair] / np.maximum(self.combined[:, pair], 1.0)
            joint += counts[:, first, :, None] * counts[:, second, None, :] * weight[:, None, None]
        return joint_kappa(joint, self.answers.clusters, level=level)


def all_pairs(answers: Answers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the first and the second level of every pair."""
    levels = range(len(answers.axes.levels))
    # Of no pair numpy would make an array of one dimension.
    pairs = np.array(list(combinations(levels, 2)), dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def joint_kappa(joint: Counts, clusters: Codes, *, level: float) -> Estimate:
    """Compute Cohen's kappa from weights per item, label of one side, and label of the other.

    Args:
        joint: weights, shape (items, labels, labels).
        clusters: the cluster of each item, shape (items,).
        level: coverage.
    """
    item, first, second = np.nonzero(joint)
    # Weights are sums of parts: rounded, they are equal in whatever order they were added.
    return clustered_kappa(
        first, second, clusters[item], case_weights=joint[item, first, second].round(12), level=level
    )


TemplatePair: TypeAlias = tuple[str, str]
"""The templates of `prompt_a` and `prompt_b`."""
PAIRS: Final = "pairs"
"""Key of an item's metadata: the listed pairs of templates."""
DECISIONS: Final = "decisions"
"""Key of an item's metadata: the rows of a decision log by judge, each `[template, repeat, template, repeat]`.

A prompt occurs in several rows and was asked in each of them: only the log knows which two answers share a row.
"""
_TEMPLATE: Final = "template"
_Place: TypeAlias = tuple[str, int]
_ROW: Final = 4


def template_pairs(items: Sequence[Item]) -> Mapping[str, tuple[TemplatePair, ...]]:
    """Return the pairs of templates that each item lists, `prompt_a` first; items that list none are left out."""
    listed = {}
    for item in items:
        pairs = item.metadata.get(PAIRS)
        # Metadata belong to the user: another value under this key lists no pairs.
        if isinstance(pairs, Sequence) and not isinstance(pairs, str):
            listed[item.id] = tuple((str(pair[0]), str(pair[1])) for pair in pairs if isinstance(pair, Sequence))
    return listed


def decision_rows(trials: Trials, items: Mapping[str, Sequence[Item]]) -> tuple[Codes, Codes]:
    """Return the trials of `prompt_a` and of `prompt_b`, row by row of the files the items come from.

    Of a decision log these are its rows. In a run a pair is asked once per repeat, however many rows list it, and both
    sides have the same repeat.
    """
    question = np.zeros(len(trials.item.codes), dtype=np.int64)
    # Task by task: templates of two tasks may share a name and differ in polarity.
    for rows in split_rows(trials.task.codes):
        question[rows] = questions_over(trials, _TEMPLATE, rows)
    template = trials.column(_TEMPLATE)
    by_question: dict[tuple[int, int, int, int], dict[_Place, int]] = {}
    groups = (trials.task.codes, trials.test.codes, trials.judge.codes, question)
    repeats = trials.repeat.astype(np.int64).tolist()
    for row, key in enumerate(zip(*(column.tolist() for column in groups), strict=True)):
        by_question.setdefault(key, {})[template.names[template.codes[row]], repeats[row]] = row
    known = {task: {item.id: item for item in of_task} for task, of_task in items.items()}
    pairs = {task: template_pairs(of_task) for task, of_task in items.items()}
    matches: list[tuple[int, int]] = []
    for (task, _, judge, _), places in by_question.items():
        name = trials.task.names[task]
        item = trials.item.names[trials.item.codes[next(iter(places.values()))]]
        # Records may hold items that the data do not have.
        if item in known.get(name, ()):
            decisions = _row_places(known[name][item], trials.judge.names[judge], pairs[name].get(item, ()), places)
            matches += [(places[a], places[b]) for a, b in decisions if a in places and b in places]
    both = np.array(matches, dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _row_places(
    item: Item, judge: str, pairs: Sequence[TemplatePair], places: Mapping[_Place, int]
) -> Iterator[tuple[_Place, _Place]]:
    log = item.metadata.get(DECISIONS)
    if isinstance(log, Mapping):
        rows = log.get(judge, ())
        for row in rows if isinstance(rows, Sequence) else ():
            if isinstance(row, Sequence) and len(row) == _ROW:
                yield (str(row[0]), int(str(row[1]))), (str(row[2]), int(str(row[3])))
        return
    for repeat in sorted({repeat for _, repeat in places}):
        for first, second in pairs:
            yield (first, repeat), (second, repeat)


@once_per_table
def questions(trials: Trials) -> Codes:
    """Number the questions: trials of several judges have the same one if case and repeat are the same, shape (n,)."""
    key = [column.codes for column in (trials.task, trials.written_test, trials.case)]
    dense = combine_codes(*key, condition_codes(trials), trials.item.codes)
    # The k-th answers of all judges to a case are one question.
    return np.asarray(dense * (int(trials.repeat.max(initial=0)) + 1) + trials.repeat)


def judge_pairs(trials: Trials, panel: Cell) -> Iterator[tuple[Cell, Codes, Codes]]:
    """Yield, for each pair of judges by name, the cell and the rows of both on the questions put to both."""
    question = questions(trials)
    judges = trials.judge.codes[panel.rows]
    rows = {int(judge): panel.rows[judges == judge] for judge in np.unique(judges)}
    for first, second in combinations(sorted(rows), 2):
        _, here, there = np.intersect1d(question[rows[first]], question[rows[second]], return_indices=True)
        cell = Cell(
            task=panel.task,
            judge=trials.judge.names[first],
            test=panel.test,
            levels={"against": trials.judge.names[second]},
            rows=np.concatenate([rows[first], rows[second]]),
        )
        yield cell, rows[first][here], rows[second][there]


@frozen(kw_only=True, eq=False)
class Ballots:
    """One row per case and repeat, one column per judge; labels are positions on the task's scale, -1 where missing."""

    votes: NDArray[np.int64]
    """Shape (ballots, judges)."""
    truth: NDArray[np.int64]
    """The right label as the metrics know it, -1 where none is stated, shape (ballots,)."""
    clusters: Codes
    """Shape (ballots,)."""
    first: Codes
    """A trial of each ballot, shape (ballots,): its case, test, item and repeat are those of all."""
    judges: tuple[str, ...]
    rows: Codes
    """The trials they come from, those without a verdict included, shape (trials,)."""
    ballot: Codes
    """The ballot of each of them, shape (trials,)."""


def ballots_of(trials: Trials, cell: Cell, scale: Scale, *, labelled: bool = True) -> Ballots:
    """Return the votes on the cases of a cell that holds the trials of all judges; the judges in order of their names.

    The k-th repeat of a case is one ballot: the k-th answers of all judges.

    Args:
        trials: all trials.
        cell: the cases.
        scale: the scale of the cell's task.
        labelled: whether to leave out cases without a right label.
    """
    position = np.array([scale.rank(label) if label in scale else -1 for label in trials.labels] + [-1], dtype=np.int64)
    # `position` ends in -1, which is what a label of -1 reads.
    right = position[right_label(trials)]
    rows = cell.rows[right[cell.rows] >= 0] if labelled else cell.rows
    judges, judge = np.unique(trials.judge.codes[rows], return_inverse=True)
    _, first, ballot = np.unique(questions(trials)[rows], return_index=True, return_inverse=True)
    votes = np.full((len(first), len(judges)), -1, dtype=np.int64)
    votes[ballot, judge] = position[trials.label[rows]]
    return Ballots(
        votes=votes,
        truth=right[rows[first]],
        clusters=trials.cluster.codes[rows[first]],
        first=rows[first],
        judges=tuple(trials.judge.names[code] for code in judges),
        rows=rows,
        ballot=ballot,
    )
