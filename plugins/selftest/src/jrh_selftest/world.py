"""Draw records from worlds with planted truth: simulated judges whose every rate is known exactly.

Everything a measure should find follows from three small matrices over the labels:

* S: what the judge believes of an item with a given right label (right with the planted accuracy),
* F: what becomes of the belief under the test (it flips on a planted share of the items),
* N: the answer, given the belief (replaced by a random label at the planted noise rate, independently per call).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Mode, RecordTable, Scale, ScaleKind, Status, Task
from jrh.values import Categorical
from numpy.typing import NDArray

Codes = NDArray[np.int64]
_CONSTANT: Final = {
    **dict.fromkeys(("variant", "stratum", "template", "option_order"), ("",)),
    "polarity": ("positive",),
}
"""Columns with one value, unless a design has others."""


def build_records(
    task: Task,
    columns: Mapping[str, Any],
    *,
    judges: tuple[str, ...],
    tests: tuple[str, ...],
    items: int,
    copies: int,
) -> RecordTable:
    """Return the records.

    Args:
        task: with the scale whose labels `gold` and `answer` are codes of.
        columns: arrays of codes, one value per verdict: `item`, `test`, `repeat`, `gold` and `answer`, -1 where it is
            missing; `judge`, by default the only one; `presented`, the answer as presented if it differs. Further
            columns are pairs of codes and their texts.
        judges: names.
        tests: names, the reference first.
        items: number of items.
        copies: items of one group; they follow each other.
    """
    item, test, answer = columns["item"], columns["test"], columns["answer"]
    labels, zero, changed = task.scale.labels, np.zeros(len(item), dtype=np.int64), (test > 0).astype(np.int64)
    names = tuple(f"item-{number:05}" for number in range(items))
    coded = {
        **{name: (zero, values) for name, values in _CONSTANT.items()},
        "task": (zero, (task.name,)),
        "judge": (columns.get("judge", zero), judges),
        "item_id": (item, names),
        # A group is named by the first of its items.
        "group": (item // copies * copies, names),
        "case_id": (item + test * items, tuple(f"{name}/{condition}" for condition in tests for name in names)),
        "test": (test, tests),
        "family": (test, tests),
        "gold": (columns["gold"], labels),
        # A reliable judge gives the gold label in the reference condition, and in the test what it gave there.
        "expectation": (changed, ("equals", "same")),
        "expected": (np.where(changed == 0, columns["gold"], -1), labels),
        "status": ((answer < 0).astype(np.int64), (Status.OK.value, Status.UNPARSABLE.value)),
        "presented": (columns.get("presented", answer), labels),
        "canonical": (answer, labels),
        **{name: column for name, column in columns.items() if isinstance(column, tuple)},
    }
    numeric = {
        "repeat": columns["repeat"].astype(np.float64),
        "simulated": np.ones(len(item)),
        "strength": np.zeros(len(item)),
    }
    return RecordTable(
        {name: Categorical(codes.astype(np.int32), categories) for name, (codes, categories) in coded.items()},
        numeric,
    )


JUDGE: Final = "planted"
TEST: Final = "changed"
Matrix = NDArray[np.float64]


@frozen(kw_only=True)
class World:
    """A task, a design, and a judge with planted defects."""

    name: str
    scale: Scale
    mode: Mode = Mode.POINTWISE
    items: int = 60
    copies: int = 1
    """Items of one cluster: the judge believes the same of them, and flips on all of them or on none."""
    identical: bool = False
    """Copies get the same answers, as the same text does from a judge without randomness."""
    near: float = 0.0
    """Share of the copies that are items of their own after all: copies are alike, not identical."""
    repeats: int = 2
    """Askings of every case, in the reference condition and in the test."""
    reference_repeats: int | None = None
    """Askings in the reference condition, if they differ."""
    unequal: bool = False
    """Items are asked from once to `repeats` times in the test, at random."""
    accuracy: float = 0.8
    noise: float = 0.1
    unsteady: tuple[float, float] | None = None
    """A share of the items whose answers are as noisy as the second number: heavy tails over items."""
    flips: float = 0.1
    wild: bool = False
    """A wrong level is any other level, not a neighbour."""
    constant: bool = False
    """The judge always believes the first label, whatever the item."""
    missing: float = 0.0
    """Share of the verdicts that are lost, whatever they were."""
    missing_in_test: float | None = None
    """The same in the test, if it differs."""
    missing_if_wrong: float | None = None
    """The same of wrong verdicts, if it differs: they are not missing at random."""
    balance: tuple[float, ...] = ()
    """Share of every right label; equal where empty."""

    margin: float = 0.05
    """Margin of the equivalence tests."""

    @property
    def has_repeats(self) -> bool:
        """Return whether questions are asked several times."""
        return max(self.repeats, self.reference_repeats or 0) > 1

    @property
    def task(self) -> Task:
        """Return the task."""
        return Task(name=self.name, scale=self.scale, mode=self.mode)

    @property
    def clusters(self) -> int:
        """Return the number of independent items."""
        return self.items // self.copies

    @property
    def shares(self) -> Matrix:
        """Return the share of every right label, shape (K,)."""
        size = len(self.scale.labels)
        return np.array(self.balance or [1 / size] * size)

    def others(self) -> Matrix:
        """Return which label a wrong answer is: a neighbour on an ordinal scale, any other elsewhere."""
        size = len(self.scale.labels)
        steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        near = (steps == 1) if self.scale.kind is ScaleKind.ORDINAL and not self.wild else (steps > 0)
        return np.asarray(near / near.sum(axis=1, keepdims=True), dtype=np.float64)

    def kernel(self, change: float) -> Matrix:
        """Return the matrix that keeps a label with probability 1 - change."""
        return np.asarray((1 - change) * np.eye(len(self.scale.labels)) + change * self.others(), dtype=np.float64)

    def belief_matrix(self) -> Matrix:
        """Return S."""
        if not self.constant:
            return self.kernel(1 - self.accuracy)
        return np.eye(len(self.scale.labels))[np.zeros(len(self.scale.labels), dtype=np.int64)]

    def answer_matrices(self) -> Sequence[tuple[float, Matrix]]:
        """Return N for every kind of item, with the share of the kind."""
        share, loud = self.unsteady or (0.0, 0.0)
        return [(1 - share, self._noise_matrix(self.noise)), *([(share, self._noise_matrix(loud))] if share else [])]

    def answer_matrix(self) -> Matrix:
        """Return N, averaged over the kinds of items."""
        return np.asarray(sum(share * matrix for share, matrix in self.answer_matrices()), dtype=np.float64)

    def _noise_matrix(self, noise: float) -> Matrix:
        size = len(self.scale.labels)
        return np.asarray((1 - noise) * np.eye(size) + noise / size, dtype=np.float64)

    def draw(self, generator: np.random.Generator) -> RecordTable:
        """Draw the records of one study: new items, a new judge."""
        drawn = self._items(generator, self.clusters)
        if not self.identical:
            drawn = tuple(np.repeat(part, self.copies) for part in drawn)
        if self.near:
            # A group that looks like copies, some of which are items of their own after all.
            alone = generator.random(self.items) < self.near
            fresh = self._items(generator, self.items)
            drawn = tuple(np.where(alone, new, old) for new, old in zip(fresh, drawn, strict=True))
        gold, belief, moved, kind = drawn
        parts = [
            self._draw_answers(generator, gold, belief, kind, in_test=False),
            self._draw_answers(generator, gold, moved, kind, in_test=True),
        ]
        columns: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        if self.identical:
            columns = self._repeat_copies(columns)
        return build_records(
            self.task,
            columns | self._own_columns(columns),
            judges=(JUDGE,),
            tests=(REFERENCE, TEST),
            items=self.items,
            copies=self.copies,
        )

    def _items(self, generator: np.random.Generator, count: int) -> tuple[Codes, ...]:
        """Draw right labels, beliefs, beliefs under the test, and kinds of items."""
        gold = generator.choice(len(self.scale.labels), size=count, p=self.shares)
        belief = pick(generator, self.belief_matrix()[gold])
        moved = pick(generator, self.kernel(self.flips)[belief])
        share, _ = self.unsteady or (0.0, 0.0)
        kind = (generator.random(count) < share).astype(np.int64) if share else np.zeros(count, dtype=np.int64)
        return gold, belief, moved, kind

    def _repeat_copies(self, columns: Mapping[str, Codes]) -> dict[str, Codes]:
        """Repeat every row for each copy of its item."""
        copied = {name: np.repeat(column, self.copies) for name, column in columns.items()}
        copied["item"] = copied["item"] * self.copies + np.tile(np.arange(self.copies), len(columns["item"]))
        return copied

    def draw_labels(self, generator: np.random.Generator, raters: int) -> tuple[Codes, Codes]:
        """Draw items, and what raters of one kind say of them.

        Returns:
            Labels, shape (questions, raters), and the cluster of every question. Items are asked about as often as in
            the test of `draw`.
        """
        gold = generator.choice(len(self.scale.labels), size=self.clusters, p=self.shares)
        belief = np.repeat(pick(generator, self.kernel(1 - self.accuracy)[gold]), self.copies)
        item = np.repeat(np.arange(self.items), self._times(generator, in_test=True))
        answer = [pick(generator, self.answer_matrix()[belief[item]]) for _ in range(raters)]
        return np.stack(answer, axis=1), item // self.copies

    def _times(self, generator: np.random.Generator, *, in_test: bool) -> Codes:
        if in_test and self.unequal:
            return generator.integers(1, self.repeats + 1, self.items)
        return np.full(self.items, self.repeats if in_test else self.reference_repeats or self.repeats)

    def _draw_answers(
        self, generator: np.random.Generator, gold: Codes, belief: Codes, kind: Codes, *, in_test: bool
    ) -> dict[str, Codes]:
        # Copies that give the same answers are drawn as one item and repeated later.
        times = self._times(generator, in_test=in_test)[: len(gold)]
        item = np.repeat(np.arange(len(gold)), times)
        repeat = np.concatenate([np.arange(count) for count in times])
        answer_matrices = np.stack([matrix for _, matrix in self.answer_matrices()])
        answer = pick(generator, answer_matrices[kind[item], belief[item]])
        usual = self.missing_in_test if in_test and self.missing_in_test is not None else self.missing
        wrong = usual if self.missing_if_wrong is None else self.missing_if_wrong
        # Lost by what the verdict was, where that is planted: not missing at random.
        lost = generator.random(len(item)) < np.where(answer == gold[item], usual, wrong)
        return {
            "item": item,
            "repeat": repeat,
            "gold": gold[item],
            "answer": np.where(lost, -1, answer),
            "test": np.full(len(item), int(in_test)),
        }

    def _own_columns(self, columns: Mapping[str, Codes]) -> dict[str, Any]:  # noqa: ARG002
        """Return the columns that a design has besides the usual, or in their place; see `build_records`."""
        return {}


def pick(generator: np.random.Generator, chances: Matrix) -> Codes:
    """Draw one label per row of probabilities."""
    # Inverse transform sampling; the last edge is 1 and is left out, so that rounding cannot pass it.
    edges = np.cumsum(chances, axis=1)[:, :-1]
    return np.asarray((generator.random((len(chances), 1)) > edges).sum(axis=1), dtype=np.int64)
