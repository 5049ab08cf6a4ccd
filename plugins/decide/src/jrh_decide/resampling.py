"""Draw what a judge would answer another night: the same questions again, other items, a worse judge.

Every question has a chance of each verdict. Two equal verdicts of a question do not show that it never wavers, and
drawing from the verdicts that are there loses 1/m of the noise of m repeats. So the chances are drawn from a Dirichlet
distribution whose spread is the disagreement between repeats of all questions of a judge and a test, which is unbiased
however few they are. Drawing them again for every study carries what the repeats leave open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import JrhError, MetricContext, RecordTable, Status
from jrh.values import Categorical
from jrh_measuring import Codes, Floats, combine_codes, read_trials, rerun_codes, right_label
from numpy.typing import NDArray

Random: TypeAlias = np.random.Generator
Picks: TypeAlias = NDArray[np.int64]
"""The clusters of a night, by number; one that is drawn twice counts as two."""

_NOT_DRAWN: Final = frozenset({
    "trial_id", "presented", "probability", "score", "argued", "rationale", "group", "cluster", "detail", "status",
    "canonical", "item_id", "case_id", "repeat",
})  # fmt: skip
"""Columns that do not go with another verdict, or are written again."""
_OK: Final = Status.OK.value
_NO_LIMIT: Final = 1e6
_COPY: Final = "\x1f"
"""Before the number of a copy of an item; ids of items cannot have this character."""


@frozen(kw_only=True)
class Question:
    """A question and the verdicts that its repeats have given."""

    judge: str
    task: str
    test: str
    item: str
    right: str
    """The right label; empty where none is stated."""
    verdicts: Mapping[str, int]
    """Verdict, or the status of a missing one -> how often."""
    unrest: float
    """Unbiased variance of whether the verdict is its most common one."""


def join_runs(tables: Sequence[RecordTable]) -> tuple[RecordTable, int]:
    """Return the records of all runs in one table, those of the first run first, and how many runs repeat another.

    A run whose verdicts are all those of an earlier one is left out: its replies came from the cache, or its judge
    answers without chance, and either way it shows nothing that the first does not.
    """
    names = [name for name in tables[0].columns if name != "trial_id" and all(name in each.columns for each in tables)]
    known: list[list[tuple[str | None, ...]]] = []
    different = []
    for table in tables:
        rows = zip(*(table.text(name) for name in ("case_id", "judge", "canonical", "status")), strict=True)
        verdicts = sorted(rows, key=lambda row: tuple(part or "" for part in row))
        if verdicts not in known:
            known.append(verdicts)
            different.append(table)
    numeric = set(tables[0].columns) - set(_texts(tables[0]))
    slices = [
        {name: table.number(name).tolist() if name in numeric else table.text(name) for name in names}
        for table in different
    ]
    return RecordTable.from_slices(slices), len(tables) - len(different)


def _texts(table: RecordTable) -> Iterator[str]:
    for name in table.columns:
        try:
            table.categories(name)
        except KeyError:
            continue
        yield name


class Nights:
    """The verdicts that judges have given, and what they would give another night."""

    def __init__(self, records: RecordTable, own: int, context: MetricContext) -> None:
        """Count the verdicts of every question; the first `own` records are the design of a night.

        Raises:
            JrhError: no question of a judge has two verdicts, so that nothing shows how much it wavers.
        """
        trials = read_trials(records, context)
        self.trials = trials
        scales = [label for task in context.tasks.values() for label in task.scale.labels]
        labels = tuple(dict.fromkeys((*trials.labels, *scales)))
        gone = [name for name in trials.status.names if name and name != _OK]
        self.verdicts: tuple[str, ...] = (*labels, *gone)
        """Every verdict: a label, or the status of a missing one."""
        self.n_labels = len(labels)
        status = np.array([len(labels) + gone.index(name) if name in gone else -1 for name in trials.status.names])
        given = np.where(trials.usable, trials.label, status[trials.status.codes])
        questions = rerun_codes(trials)
        self.question = questions
        self.counts = np.zeros((int(questions.max()) + 1, len(self.verdicts)))
        np.add.at(self.counts, (questions, given), 1)
        _, self.first = np.unique(questions, return_index=True)
        cell = combine_codes(trials.judge.codes, trials.task.codes, trials.test.codes)
        _, self.cell = np.unique(cell[self.first], return_inverse=True)
        self.right: Codes = right_label(trials)[self.first]
        groups = combine_codes(self.cell.astype(np.int32), self.right + 1)
        _, self.group = np.unique(groups, return_inverse=True)
        design = np.flatnonzero(trials.place < own)
        self.weight = np.bincount(questions[design], minlength=len(self.counts)).astype(np.float64)
        order = design[np.argsort(trials.cluster.codes[design], kind="stable")]
        _, starts = np.unique(trials.cluster.codes[order], return_index=True)
        self.rows_of_cluster: list[Codes] = np.split(order, starts[1:])
        texts = [name for name in _texts(trials.records) if name not in _NOT_DRAWN]
        self._texts = {name: (trials.records.codes(name), trials.records.categories(name)) for name in texts}
        numbers = set(trials.records.columns) - set(_texts(trials.records)) - _NOT_DRAWN
        self._numbers = {name: trials.records.number(name) for name in numbers}
        self._disagreement = self._measure_disagreement()

    @property
    def n_clusters(self) -> int:
        """Return the number of clusters of a night."""
        return len(self.rows_of_cluster)

    def _measure_disagreement(self) -> list[tuple[float, float]]:
        """Return, by cell, how many pairs of repeats differ, and of how many independent ones.

        A test that asks nothing twice has those of the same judge and task, and else of the same judge.

        Raises:
            JrhError: a judge has no question with two verdicts.
        """
        asked = self.counts.sum(axis=1)
        again = np.maximum(asked - 1, 0)
        pairs = np.maximum(asked * (asked - 1), 1)
        differ = 1 - (self.counts * (self.counts - 1)).sum(axis=1) / pairs
        own = [(float((differ * again)[self.cell == cell].sum()), float(again[self.cell == cell].sum()))
               for cell in range(int(self.cell.max()) + 1)]  # fmt: skip
        first = [int(np.flatnonzero(self.cell == cell)[0]) for cell in range(len(own))]
        judge, task = (column.codes[self.first[first]] for column in (self.trials.judge, self.trials.task))
        found = []
        for cell in range(len(own)):
            near = [own[cell]]
            near += [
                own[other] for other in range(len(own)) if (judge[other], task[other]) == (judge[cell], task[cell])
            ]
            near += [own[other] for other in range(len(own)) if judge[other] == judge[cell]]
            shown = next((each for each in near if each[1]), None)
            if shown is None:
                raise JrhError(f"judge '{self.trials.judge.names[judge[cell]]}' has answered no question twice")
            found.append(shown)
        return found

    def draw_chances(self, random: Random) -> Floats:
        """Draw the chance of every verdict of every question, shape (questions, verdicts)."""
        total = np.zeros((int(self.group.max()) + 1, len(self.verdicts)))
        np.add.at(total, self.group, self.counts)
        shares = total / total.sum(axis=1, keepdims=True)
        mixed = 1 - (shares**2).sum(axis=1)
        strength = np.empty(len(self.counts))
        for cell, (differ, pairs) in enumerate(self._disagreement):
            here = self.cell == cell
            spread = float(mixed[self.group[here]].mean())
            noise = random.beta(differ + 0.5, pairs - differ + 0.5)
            strength[here] = noise / (spread - noise) if spread > noise else _NO_LIMIT
        drawn = random.standard_gamma(strength[:, None] * shares[self.group] + self.counts)
        chances: Floats = drawn / drawn.sum(axis=1, keepdims=True)
        return chances

    def lose(self, chances: Floats, loss: float, random: Random) -> Floats:
        """Return the chances of a judge that is right on `loss` less of the verdicts of every judge, task and test.

        The loss is for good: some questions lose their right verdict, drawn by chance, so that repeats do not show it
        less. Where no label is right, a question loses its most common verdict.
        """
        worse = chances.copy()
        usual = np.where(self.right >= 0, self.right, self.counts[:, : self.n_labels].argmax(axis=1))
        for cell in range(int(self.cell.max()) + 1):
            open_loss = loss * self.weight[self.cell == cell].sum()
            for question in random.permutation(np.flatnonzero(self.cell == cell)):
                if open_loss <= 0 or not self.weight[question]:
                    continue
                taken = min(worse[question, usual[question]], open_loss / self.weight[question])
                others = self.counts[self.group == self.group[question], : self.n_labels].sum(axis=0)
                others[usual[question]] = 0
                if not others.any():
                    others = np.where(np.arange(self.n_labels) == usual[question], 0.0, 1.0)
                worse[question, : self.n_labels] += taken * others / others.sum()
                worse[question, usual[question]] -= taken
                open_loss -= taken * self.weight[question]
        return worse

    def night(self, chances: Floats, picks: Picks, times: int, random: Random) -> RecordTable:
        """Return the records of a night: the questions of some clusters, each asked `times` as often as in the run."""
        parts = [self.rows_of_cluster[pick] for pick in picks]
        copies = np.repeat(_copies(picks), [len(part) for part in parts])
        rows, copies = np.tile(np.concatenate(parts), times), np.tile(copies, times)
        limits = chances.cumsum(axis=1)[self.question[rows]]
        # Rounding may leave the last limit below 1.
        drawn = (random.random(len(rows))[:, None] > limits[:, :-1]).sum(axis=1)
        return self.table(rows, drawn, copies)

    def table(self, rows: Codes, drawn: NDArray[np.int64], copies: NDArray[np.int64]) -> RecordTable:
        """Return records with the questions of some rows, and other verdicts."""
        trials = self.trials
        texts = {name: Categorical(codes[rows], names) for name, (codes, names) in self._texts.items()}
        answered = drawn < self.n_labels
        texts["canonical"] = Categorical(np.where(answered, drawn, -1), self.verdicts[: self.n_labels])
        statuses = (_OK, *self.verdicts[self.n_labels :])
        texts["status"] = Categorical(np.where(answered, 0, drawn - self.n_labels + 1), statuses)
        for name, column in (("item_id", trials.item), ("case_id", trials.case), ("cluster", trials.cluster)):
            codes = column.codes[rows] + copies * len(column.names)
            used, code = np.unique(codes, return_inverse=True)
            copy, place = np.divmod(used, len(column.names))
            names = [
                f"{column.names[at]}{f'{_COPY}{again}' if again else ''}" for again, at in zip(copy, place, strict=True)
            ]
            texts[name] = Categorical(code, tuple(names))
        numbers = {name: values[rows] for name, values in self._numbers.items()}
        numbers["repeat"] = np.arange(len(rows), dtype=np.float64)
        return RecordTable(texts, numbers)

    def observed(self) -> RecordTable:
        """Return the records of the run itself, with the columns that other nights have."""
        rows = np.concatenate(self.rows_of_cluster)
        given = np.where(self.trials.usable[rows], self.trials.label[rows], -1)
        names = list(self.verdicts[self.n_labels :])
        gone = np.array([names.index(name) if name in names else 0 for name in self.trials.status.names])
        drawn = np.where(given >= 0, given, self.n_labels + gone[self.trials.status.codes[rows]])
        return self.table(rows, drawn, np.zeros(len(rows), dtype=np.int64))

    def restless_questions(self) -> list[Question]:
        """Return the questions of the run whose repeats differ, those that waver most first."""
        asked = self.counts.sum(axis=1)
        share = self.counts.max(axis=1) / asked
        unrest = np.where(asked > 1, share * (1 - share) * asked / np.maximum(asked - 1, 1), 0.0) * self.weight
        trials = self.trials
        return [
            Question(
                judge=trials.judge.names[trials.judge.codes[self.first[at]]],
                task=trials.task.names[trials.task.codes[self.first[at]]],
                test=trials.test.names[trials.test.codes[self.first[at]]],
                item=trials.item.names[trials.item.codes[self.first[at]]],
                right=trials.labels[self.right[at]] if self.right[at] >= 0 else "",
                verdicts={name: int(n) for name, n in zip(self.verdicts, self.counts[at], strict=True) if n},
                unrest=float(unrest[at]),
            )
            for at in np.argsort(-unrest, kind="stable")
            if unrest[at] > 0
        ]


def _copies(picks: Picks) -> Picks:
    """Number the draws of each cluster: 0 for the first, 1 where it is drawn again."""
    order = np.argsort(picks, kind="stable")
    ordered = picks[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    lengths = np.diff(np.append(starts, len(picks)))
    copies = np.empty(len(picks), dtype=np.int64)
    copies[order] = np.arange(len(picks)) - np.repeat(starts, lengths)
    return copies
