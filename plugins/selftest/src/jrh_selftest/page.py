"""Draw the records of whole pages: several judges under several tests, on the same items."""

from __future__ import annotations

from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, RecordTable, Scale, Status, Task
from jrh.values import Categorical
from numpy.typing import NDArray

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
        return self._table(*(np.concatenate(column) for column in zip(*parts, strict=True)), gold=gold)

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

    def _table(
        self,
        judge: NDArray[np.int64],
        item: NDArray[np.int64],
        repeat: NDArray[np.int64],
        test: NDArray[np.int64],
        said: NDArray[np.int64],
        *,
        gold: NDArray[np.int64],
    ) -> RecordTable:
        labels, tests = self.task.scale.labels, self.test_names
        names = tuple(f"item-{number:05}" for number in range(self.items))
        cases = tuple(f"{name}/{each}" for each in tests for name in names)
        zero, changed = np.zeros(len(item), dtype=np.int64), (test > 0).astype(np.int64)
        coded = {
            "task": (zero, (self.name,)),
            "judge": (judge, self.judge_names),
            "item_id": (item, names),
            "group": (item // self.copies * self.copies, names),
            "case_id": (item + test * self.items, cases),
            "test": (test, tests),
            "family": (test, tests),
            **dict.fromkeys(("variant", "stratum", "template", "option_order"), (zero, ("",))),
            "polarity": (zero, ("positive",)),
            "gold": (gold[item], labels),
            "expectation": (changed, ("equals", "same")),
            "expected": (np.where(changed == 0, gold[item], -1), labels),
            "status": ((said < 0).astype(np.int64), (Status.OK.value, Status.UNPARSABLE.value)),
            "presented": (said, labels),
            "canonical": (said, labels),
        }
        numeric = {
            "repeat": repeat.astype(np.float64),
            "simulated": np.ones(len(item)),
            "strength": np.zeros(len(item)),
        }
        return RecordTable(
            {name: Categorical(codes.astype(np.int32), categories) for name, (codes, categories) in coded.items()},
            numeric,
        )
