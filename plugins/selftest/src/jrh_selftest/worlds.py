"""Define the worlds for the checks: one per kind of task, and designs in which intervals often fail."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import comb
from typing import Any, Final

import numpy as np
from attrs import evolve, frozen
from jrh import Mode, Scale

from jrh_selftest.world import Codes, Matrix, World

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
    def opposite_share(self) -> float:
        """Return the share of the pairs of templates of which one is inverted."""
        return self.inverted * (_TEMPLATES - self.inverted) / comb(_TEMPLATES, 2)

    def _times(self, generator: np.random.Generator, *, in_test: bool) -> Codes:
        # One answer under each template, which the records number as repeats until `_own_columns`.
        return np.full(self.items, _TEMPLATES) if in_test else super()._times(generator, in_test=in_test)

    def _own_columns(self, columns: Mapping[str, Codes]) -> dict[str, Any]:
        template = np.where(columns["test"] == 1, columns["repeat"] + 1, 0)
        inverted, answer = template > _TEMPLATES - self.inverted, columns["answer"]
        # An inverted question swaps the labels; a missing answer stays missing.
        presented = np.where(inverted & (answer >= 0), 1 - answer, answer)
        polarity = np.where(self.undeclared, 0, inverted).astype(np.int64)
        return {
            "repeat": np.where(columns["test"] == 1, 0, columns["repeat"]),
            "answer": presented if self.undeclared else answer,
            "presented": presented,
            "template": (template, _NAMES),
            "polarity": (polarity, ("positive", "inverted")),
        }


BINARY: Final = Scale.of_labels("YES", "NO")
TEMPLATES: Final = (
    TemplateWorld(name="templates", scale=BINARY, missing=0.05),
    TemplateWorld(name="templates, near one", scale=BINARY, accuracy=0.97, noise=0.04, flips=0.0),
    TemplateWorld(name="templates, duplicated items", scale=BINARY, items=180, copies=3),
)
"""A judge that reads the inverted question: its verdicts agree up to its noise, the labels as presented do not."""
AT_RANDOM: Final = TemplateWorld(name="templates, answers at random", scale=BINARY, noise=1.0)
"""Kappa is 0."""
UNDECLARED: Final = TemplateWorld(
    name="templates, polarity not declared", scale=BINARY, flips=0.0, inverted=2, undeclared=True
)
"""Two of three pairs contradict each other."""


COVARIATE: Final = "size"


@frozen(kw_only=True)
class CovariateWorld(World):
    """Two labels; half of the items, drawn separately for each gold label, are large (1), the others small (-1)."""

    preference: float = 0.0
    """How much more often the judge believes the first label of a large item than without a preference."""

    @property
    def slope(self) -> float:
        """Return the planted effect on the probability of the first label."""
        return (1 - self.noise) * self.preference

    def _items(self, generator: np.random.Generator, count: int) -> tuple[Codes, ...]:
        gold, _, _, _ = super()._items(generator, count)
        large = generator.integers(0, 2, count)
        # Half of the items are large and half small, so the preference leaves accuracy as planted.
        first = np.where(gold == 0, self.accuracy, 1 - self.accuracy) + self.preference * (2 * large - 1)
        belief = (generator.random(count) >= first).astype(np.int64)
        return gold, belief, belief, large

    def answer_matrices(self) -> list[tuple[float, Matrix]]:
        """Return N for small and for large items, which are answered alike."""
        return [(0.5, self._noise_matrix(self.noise))] * 2

    def _draw_answers(
        self, generator: np.random.Generator, gold: Codes, belief: Codes, kind: Codes, *, in_test: bool
    ) -> dict[str, Codes]:
        columns = super()._draw_answers(generator, gold, belief, kind, in_test=in_test)
        return columns | {"large": kind[columns["item"]]}

    def _own_columns(self, columns: Mapping[str, Codes]) -> dict[str, Any]:
        covariates = tuple(json.dumps({COVARIATE: size}) for size in (-1, 1))
        return {"covariates": (columns["large"], covariates)}


FOLLOWING: Final = (
    CovariateWorld(name="covariate", scale=BINARY, items=100, preference=0.15, missing=0.05),
    CovariateWorld(name="covariate, duplicated items", scale=BINARY, items=300, copies=3, preference=0.15),
)
"""A judge that prefers large items."""
FAIR: Final = (
    CovariateWorld(name="covariate, fair judge", scale=BINARY, items=60),
    CovariateWorld(name="covariate, fair judge, duplicated items", scale=BINARY, items=180, copies=3),
)


LEVELS: Final = Scale.of_levels(1, 6)
PAIRS: Final = Scale.of_pairs()

WORLDS: Final = (
    World(name="pointwise", scale=BINARY, missing=0.05),
    World(name="pairwise", scale=PAIRS, mode=Mode.PAIRWISE, items=40, flips=0.2, balance=(0.6, 0.4)),
    World(name="ordinal", scale=LEVELS, accuracy=0.7),
    World(name="transcript", scale=BINARY, mode=Mode.TRANSCRIPT, items=20, repeats=8, unequal=True, balance=(0.7, 0.3)),
    World(name="near one", scale=BINARY, accuracy=0.97, noise=0.02, flips=0.02),
    World(name="all agree", scale=BINARY, accuracy=1.0, noise=0.0, flips=0.0),
    World(name="duplicated items", scale=BINARY, items=180, copies=3),
)
"""Worlds of the quick mode: one per kind of task, and those in which intervals usually fail."""

DESIGNS: Final = (
    World(name="large", scale=BINARY, items=200),
    World(name="rare label", scale=BINARY, balance=(0.9, 0.1)),
    World(name="rare label, near one", scale=BINARY, accuracy=0.97, noise=0.02, flips=0.02, balance=(0.9, 0.1)),
    World(name="thirty items", scale=BINARY, items=30, repeats=3),
    World(name="near zero", scale=BINARY, accuracy=0.03, noise=0.02, flips=0.9),
    World(name="few items, many trials", scale=BINARY, items=12, repeats=20),
    World(name="unequal clusters", scale=BINARY, items=60, repeats=10, unequal=True),
    World(name="three options", scale=Scale.of_pairs(options=3), mode=Mode.PAIRWISE, balance=(0.5, 0.3, 0.2)),
    World(name="ordinal, large", scale=LEVELS, items=200, accuracy=0.7),
    World(name="ordinal, noisy", scale=LEVELS, items=60, accuracy=0.5, noise=0.3),
    World(name="ordinal, few items", scale=LEVELS, items=12, repeats=10, accuracy=0.7),
    World(name="ordinal, unequal", scale=LEVELS, items=60, repeats=6, unequal=True, accuracy=0.7),
    World(name="ordinal, near one", scale=LEVELS, accuracy=0.95, noise=0.02, flips=0.02),
    World(name="ordinal, all agree", scale=LEVELS, accuracy=1.0, noise=0.0, flips=0.0),
    World(name="ordinal, thirty items", scale=LEVELS, items=30, repeats=3, accuracy=0.7),
    World(name="duplicated items, same answers", scale=BINARY, items=300, copies=3, identical=True),
    World(name="ordinal, duplicated items", scale=LEVELS, items=180, copies=3, accuracy=0.7),
    World(name="six questions, ten copies", scale=BINARY, items=60, copies=10),
    World(name="transcript, large", scale=BINARY, mode=Mode.TRANSCRIPT, items=80, repeats=5, unequal=True),
    World(name="reference 5x, test 1x", scale=BINARY, repeats=1, reference_repeats=5),
    World(name="reference 10x, test 1x", scale=BINARY, repeats=1, reference_repeats=10),
    World(
        name="reference 10x, test 1x, right", scale=BINARY, accuracy=1.0, noise=0.04, repeats=1, reference_repeats=10
    ),
    World(name="reference 2x, test 10x", scale=BINARY, repeats=10, reference_repeats=2),
    World(name="five repeats, noisy", scale=BINARY, repeats=5, noise=0.4, flips=0.0),
    World(name="two repeats, noisy", scale=BINARY, items=100, noise=0.4, flips=0.0),
    World(name="few noisy items", scale=BINARY, repeats=5, noise=0.02, unsteady=(0.1, 0.8)),
    World(name="ordinal, wild errors", scale=LEVELS, items=100, accuracy=0.9, wild=True),
    World(name="near-duplicates", scale=BINARY, items=180, copies=3, near=0.1),
    World(name="wrong verdicts lost", scale=BINARY, items=200, missing=0.03, missing_if_wrong=0.3),
)
"""Additional worlds of the full mode: few items with many trials, all agree, near 0 and 1, unequal clusters, large,
duplicated items and near-duplicates; unequal repeats, heavy tails over items, verdicts not missing at random."""

STABLE: Final = World(name="null", scale=BINARY, noise=0.2, flips=0.0, repeats=3, missing=0.1)
MOVED: Final = World(name="effect", scale=BINARY, noise=0.2, flips=0.25, repeats=3, missing=0.05, missing_in_test=0.25)
"""Worlds for the significance tests: without and with an effect."""
COPIED: Final = World(name="null, duplicated items", scale=BINARY, items=180, copies=3, noise=0.2, flips=0.0, repeats=3)
SAME: Final = World(
    name="null, same answers", scale=BINARY, items=180, copies=3, identical=True, noise=0.2, flips=0.0, repeats=3
)
"""Worlds without an effect in which items are not independent."""
_UNEVEN: Final = World(name="null", scale=BINARY, accuracy=1.0, noise=0.04, flips=0.0)
"""A judge that is always right but for rare noise. The side asked more often has a few small slips; the side asked
less often often has none, so that all differences point one way: exchanging answers is no symmetry."""
UNEQUAL: Final = (
    evolve(_UNEVEN, name="null, reference 5x, test 1x", items=30, noise=0.12, reference_repeats=5, repeats=1),
    evolve(_UNEVEN, name="null, reference 10x, test 1x", reference_repeats=10, repeats=1),
    evolve(_UNEVEN, name="null, reference 2x, test 10x", reference_repeats=2, repeats=10),
    World(name="null, few noisy items", scale=BINARY, noise=0.02, unsteady=(0.1, 0.8), flips=0.0, repeats=5),
)
"""Worlds without an effect that ask the two conditions unequally often, or have heavy tails."""
MARGINS: Final = tuple(
    World(
        name=f"at the margin, {items} items, {margin}",
        scale=BINARY,
        items=items,
        repeats=1,
        accuracy=1.0,
        noise=0.0,
        flips=margin,
        margin=margin,
    )
    for items, margin in ((60, 0.05), (100, 0.03), (200, 0.05))
)
"""A judge without noise that is always right, but for rare flips one way: accuracy falls by exactly the margin."""
POWER: Final = (
    World(name="effect, 10% flips, noisy", scale=BINARY, noise=0.2, flips=0.1),
    World(name="effect, accuracy falls", scale=BINARY, accuracy=0.95, noise=0.1, flips=0.15),
    World(name="no change, 200 items", scale=BINARY, items=200, repeats=1, noise=0.0, flips=0.0),
)
"""Worlds with an effect, or without any change, for power."""


def worlds(*, full: bool) -> Sequence[World]:
    """Return the worlds of a mode."""
    return (*WORLDS, *DESIGNS) if full else WORLDS
