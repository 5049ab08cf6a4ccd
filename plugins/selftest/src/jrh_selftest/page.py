"""Draw the records of whole pages: several judges under several tests, on the same items."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, RecordTable, Scale, Task
from numpy.typing import NDArray

from jrh_selftest.world import planted_table

_COMPARED: Final = frozenset({"accuracy-change", "noise-excess", "missing-by-condition"})


@frozen(kw_only=True)
class Page:
    """The judges and tests of one report."""

    name: str
    judges: int = 1
    tests: int = 1
    items: int = 60
    copies: int = 1
    """Items of one group: a judge believes the same of them."""
    reference_repeats: int = 2
    repeats: int = 2
    accuracy: float = 0.8
    noise: float = 0.1
    spoilt: float = 0.0
    """Share of the items on which a right belief becomes wrong under a test; none becomes right."""
    constant: bool = False
    """Judges always give the first label."""
    missing: float = 0.0
    balance: tuple[float, float] = (0.5, 0.5)
    margin: float = 0.05
    """Margin of the equivalence tests."""
    metrics: frozenset[str] = _COMPARED
    """What the sentences to check are derived from."""

    @property
    def task(self) -> Task:
        """Return the task."""
        return Task(name=self.name, scale=Scale.of_labels("YES", "NO"))

    @property
    def judge_names(self) -> tuple[str, ...]:
        """Return the names of the judges."""
        return tuple(f"judge-{number}" for number in range(self.judges))

    @property
    def test_names(self) -> tuple[str, ...]:
        """Return the names of the conditions, the reference first."""
        return (REFERENCE, *(f"test-{number}" for number in range(self.tests)))

    def draw(self, generator: np.random.Generator) -> RecordTable:
        """Draw the records of one study: new items, new judges."""
        groups = self.items // self.copies
        gold = np.repeat(generator.choice(2, size=groups, p=self.balance), self.copies)
        wrong = np.repeat(generator.random((self.judges, groups)) >= self.accuracy, self.copies, axis=1).astype(
            np.int64
        )
        belief = np.zeros_like(wrong) if self.constant else gold ^ wrong
        parts = [self._condition(generator, gold, belief, test) for test in range(self.tests + 1)]
        judge, item, repeat, test, said = (np.concatenate(column) for column in zip(*parts, strict=True))
        return planted_table(
            self.task,
            judges=self.judge_names,
            tests=self.test_names,
            items=self.items,
            copies=self.copies,
            judge=judge,
            item=item,
            test=test,
            repeat=repeat,
            gold=gold[item],
            said=said,
        )

    def _condition(
        self, generator: np.random.Generator, gold: NDArray[np.int64], belief: NDArray[np.int64], test: int
    ) -> tuple[NDArray[np.int64], ...]:
        if test and self.spoilt:
            lost = (generator.random(belief.shape) < self.spoilt) & (belief == gold)
            belief = np.where(lost, 1 - gold, belief)
        times = self.repeats if test else self.reference_repeats
        judge, item, repeat = np.indices((self.judges, self.items, times)).reshape(3, -1)
        noisy = generator.random(len(item)) < self.noise
        said = np.where(noisy, generator.integers(0, 2, len(item)), belief[judge, item])
        said = np.where(generator.random(len(item)) < self.missing, -1, said)
        return judge, item, repeat, np.full(len(item), test), said
