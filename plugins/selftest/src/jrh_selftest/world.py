"""Draw records from worlds with planted truth: simulated judges whose every rate is known exactly.

Everything a measure should find follows from three small matrices over the labels:

* S: what the judge believes of an item with a given right label (right with the planted accuracy),
* F: what becomes of the belief under the test (it flips on a planted share of the items),
* N: the answer, given the belief (replaced by a random label at the planted noise rate, independently per call).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Mode, RecordTable, Scale, ScaleKind, Status, Task
from jrh.values import Categorical
from numpy.typing import NDArray

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
    repeats: int = 2
    """Askings of every case, in the reference condition and in the test."""
    unequal: bool = False
    """Items are asked from once to `repeats` times in the test, at random."""
    accuracy: float = 0.8
    noise: float = 0.1
    flips: float = 0.1
    missing: float = 0.0
    """Share of the verdicts that are lost, whatever they were."""
    missing_in_test: float | None = None
    """The same in the test, if it differs."""
    balance: tuple[float, ...] = ()
    """Share of every right label; equal where empty."""

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
        near = (steps == 1) if self.scale.kind is ScaleKind.ORDINAL else (steps > 0)
        return np.asarray(near / near.sum(axis=1, keepdims=True), dtype=np.float64)

    def kernel(self, change: float) -> Matrix:
        """Return the matrix that keeps a label with probability 1 - change."""
        return np.asarray((1 - change) * np.eye(len(self.scale.labels)) + change * self.others(), dtype=np.float64)

    def saying(self) -> Matrix:
        """Return N."""
        size = len(self.scale.labels)
        return np.asarray((1 - self.noise) * np.eye(size) + self.noise / size, dtype=np.float64)

    def draw(self, generator: np.random.Generator) -> RecordTable:
        """Draw the records of one study: new items, a new judge."""
        size = len(self.scale.labels)
        gold = generator.choice(size, size=self.clusters, p=self.shares)
        belief = pick(generator, self.kernel(1 - self.accuracy)[gold])
        moved = pick(generator, self.kernel(self.flips)[belief])
        if not self.identical:
            gold, belief, moved = (np.repeat(part, self.copies) for part in (gold, belief, moved))
        parts = [self._asked(generator, gold, belief, in_test=False), self._asked(generator, gold, moved, in_test=True)]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        return self._table(self._copied(columns) if self.identical else columns)

    def _copied(self, columns: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
        """Repeat every row for each copy of its item."""
        copied = {name: np.repeat(column, self.copies) for name, column in columns.items()}
        copied["item"] = copied["item"] * self.copies + np.tile(np.arange(self.copies), len(columns["item"]))
        return copied

    def asked(self, generator: np.random.Generator, raters: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Draw items, and what raters of one kind say of them.

        Returns:
            Labels, shape (questions, raters), and the cluster of every question. Items are asked about as often as in
            the test of `draw`.
        """
        gold = generator.choice(len(self.scale.labels), size=self.clusters, p=self.shares)
        belief = np.repeat(pick(generator, self.kernel(1 - self.accuracy)[gold]), self.copies)
        item = np.repeat(np.arange(self.items), self._times(generator, in_test=True))
        said = [pick(generator, self.saying()[belief[item]]) for _ in range(raters)]
        return np.stack(said, axis=1), item // self.copies

    def _times(self, generator: np.random.Generator, *, in_test: bool) -> NDArray[np.int64]:
        if in_test and self.unequal:
            return generator.integers(1, self.repeats + 1, self.items)
        return np.full(self.items, self.repeats)

    def _asked(
        self, generator: np.random.Generator, gold: NDArray[np.int64], belief: NDArray[np.int64], *, in_test: bool
    ) -> dict[str, NDArray[np.int64]]:
        times = self._times(generator, in_test=in_test)[: len(gold)]
        item = np.repeat(np.arange(len(gold)), times)
        repeat = np.concatenate([np.arange(count) for count in times])
        said = pick(generator, self.saying()[belief[item]])
        rate = self.missing_in_test if in_test and self.missing_in_test is not None else self.missing
        lost = generator.random(len(item)) < rate
        return {
            "item": item,
            "repeat": repeat,
            "gold": gold[item],
            "said": np.where(lost, -1, said),
            "lost": lost.astype(np.int64),
            "in_test": np.full(len(item), int(in_test)),
        }

    def _table(self, columns: Mapping[str, NDArray[np.int64]]) -> RecordTable:
        labels = self.scale.labels
        names = tuple(f"item-{number:05}" for number in range(self.items))
        cases = tuple(f"{name}/{test}" for test in (REFERENCE, TEST) for name in names)
        in_test, gold = columns["in_test"], columns["gold"]
        zero = np.zeros(len(in_test), dtype=np.int64)
        coded = {
            "task": (zero, (self.name,)),
            "judge": (zero, (JUDGE,)),
            "item_id": (columns["item"], names),
            "group": (columns["item"] // self.copies * self.copies, names),
            "case_id": (columns["item"] + in_test * self.items, cases),
            "test": (in_test, (REFERENCE, TEST)),
            "family": (in_test, (REFERENCE, TEST)),
            "variant": (zero, ("",)),
            "stratum": (zero, ("",)),
            "template": (zero, ("",)),
            "option_order": (zero, ("",)),
            "polarity": (zero, ("positive",)),
            "gold": (gold, labels),
            "expectation": (in_test, ("equals", "same")),
            "expected": (np.where(in_test == 0, gold, -1), labels),
            "status": (columns["lost"], (Status.OK.value, Status.UNPARSABLE.value)),
            "presented": (columns["said"], labels),
            "canonical": (columns["said"], labels),
        }
        numeric = {
            "repeat": columns["repeat"].astype(np.float64),
            "simulated": np.ones(len(zero)),
            "strength": np.zeros(len(zero)),
        }
        return RecordTable(
            {name: Categorical(codes.astype(np.int32), categories) for name, (codes, categories) in coded.items()},
            numeric,
        )


def pick(generator: np.random.Generator, chances: Matrix) -> NDArray[np.int64]:
    """Draw one label per row of probabilities."""
    edges = np.cumsum(chances, axis=1)[:, :-1]
    return np.asarray((generator.random((len(chances), 1)) > edges).sum(axis=1), dtype=np.int64)
