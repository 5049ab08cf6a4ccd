"""Plant judges that are asked under several prompt templates, some of which invert the question."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Final

import numpy as np
from attrs import frozen
from jrh import REFERENCE, RecordTable, Scale
from numpy.typing import NDArray

from jrh_selftest.records import planted_table
from jrh_selftest.world import JUDGE, TEST, World

_NAMES: Final = ("", "plain", "short", "long", "contrary")
_TEMPLATES: Final = len(_NAMES) - 1


@frozen(kw_only=True)
class TemplateWorld(World):
    """Two labels; the test asks under four templates, once each."""

    inverted: int = 1
    """How many of them invert the question, the last ones."""
    undeclared: bool = False
    """The log calls these templates positive, and takes their labels as canonical."""

    @property
    def mixed(self) -> float:
        """Return the share of the pairs of templates of which one is inverted."""
        return self.inverted * (_TEMPLATES - self.inverted) / comb(_TEMPLATES, 2)

    def _times(self, generator: np.random.Generator, *, in_test: bool) -> NDArray[np.int64]:
        return np.full(self.items, _TEMPLATES) if in_test else super()._times(generator, in_test=in_test)

    def _table(self, columns: Mapping[str, NDArray[np.int64]]) -> RecordTable:
        template = np.where(columns["in_test"] == 1, columns["repeat"] + 1, 0)
        inverted, said = template > _TEMPLATES - self.inverted, columns["said"]
        presented = np.where(inverted & (said >= 0), 1 - said, said)
        return planted_table(
            self.task,
            judges=(JUDGE,),
            tests=(REFERENCE, TEST),
            items=self.items,
            copies=self.copies,
            item=columns["item"],
            test=columns["in_test"],
            repeat=np.where(columns["in_test"] == 1, 0, columns["repeat"]),
            gold=columns["gold"],
            said=presented if self.undeclared else said,
            presented=presented,
            more={
                "template": (template, _NAMES),
                "polarity": (np.where(self.undeclared, 0, inverted).astype(np.int64), ("positive", "inverted")),
            },
        )


_BINARY: Final = Scale.of_labels("YES", "NO")
TEMPLATES: Final = (
    TemplateWorld(name="templates", scale=_BINARY, missing=0.05),
    TemplateWorld(name="templates, near one", scale=_BINARY, accuracy=0.97, noise=0.04, flips=0.0),
    TemplateWorld(name="templates, duplicated items", scale=_BINARY, items=180, copies=3),
)
"""A judge that reads the inverted question: its verdicts agree up to its noise, the labels as presented do not."""
AT_RANDOM: Final = TemplateWorld(name="templates, answers at random", scale=_BINARY, noise=1.0)
"""Kappa is 0."""
UNDECLARED: Final = TemplateWorld(
    name="templates, polarity not declared", scale=_BINARY, flips=0.0, inverted=2, undeclared=True
)
"""Two of three pairs contradict each other."""
