"""Plant judges whose verdicts follow a covariate of the items at equal gold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, RecordTable, Scale
from numpy.typing import NDArray

from jrh_selftest.records import planted_table
from jrh_selftest.world import JUDGE, TEST, World

COVARIATE: Final = "size"


@frozen(kw_only=True)
class CovariateWorld(World):
    """Two labels; half of the items, drawn anew for each gold label, are large (1), the others small (-1)."""

    preference: float = 0.0
    """How much more often the judge believes the first label of a large item than without a preference."""

    @property
    def slope(self) -> float:
        """Return the planted effect on the probability of the first label."""
        return (1 - self.noise) * self.preference

    def _items(self, generator: np.random.Generator, count: int) -> tuple[NDArray[np.int64], ...]:
        gold, _, _, _ = super()._items(generator, count)
        large = generator.integers(0, 2, count)
        first = np.where(gold == 0, self.accuracy, 1 - self.accuracy) + self.preference * (2 * large - 1)
        belief = (generator.random(count) >= first).astype(np.int64)
        return gold, belief, belief, large

    def sayings(self) -> list[tuple[float, NDArray[np.float64]]]:
        """Return N for small and for large items, which are answered alike."""
        return [(0.5, self._saying(self.noise))] * 2

    def _asked(
        self,
        generator: np.random.Generator,
        gold: NDArray[np.int64],
        belief: NDArray[np.int64],
        kind: NDArray[np.int64],
        *,
        in_test: bool,
    ) -> dict[str, NDArray[np.int64]]:
        asked = super()._asked(generator, gold, belief, kind, in_test=in_test)
        return asked | {"large": kind[asked["item"]]}

    def _table(self, columns: Mapping[str, NDArray[np.int64]]) -> RecordTable:
        told = tuple(json.dumps({COVARIATE: size}) for size in (-1, 1))
        return planted_table(
            self.task,
            judges=(JUDGE,),
            tests=(REFERENCE, TEST),
            items=self.items,
            copies=self.copies,
            item=columns["item"],
            test=columns["in_test"],
            repeat=columns["repeat"],
            gold=columns["gold"],
            said=columns["said"],
            more={"covariates": (columns["large"], told)},
        )


_BINARY: Final = Scale.of_labels("YES", "NO")
FOLLOWING: Final = (
    CovariateWorld(name="covariate", scale=_BINARY, items=100, preference=0.15, missing=0.05),
    CovariateWorld(name="covariate, duplicated items", scale=_BINARY, items=300, copies=3, preference=0.15),
)
"""A judge that prefers large items."""
FAIR: Final = (
    CovariateWorld(name="covariate, fair judge", scale=_BINARY, items=60),
    CovariateWorld(name="covariate, fair judge, duplicated items", scale=_BINARY, items=180, copies=3),
)
