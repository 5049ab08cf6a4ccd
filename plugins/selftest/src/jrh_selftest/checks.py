"""What is checked: metrics on records of planted worlds, and estimators of `jrh.stats` on planted arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Mode, Scale, ScaleKind
from jrh.stats import Estimate

from jrh_selftest.world import TEST, World

BINARY: Final = Scale.of_labels("YES", "NO")
LEVELS: Final = Scale.of_levels(1, 6)
PAIRS: Final = Scale.of_pairs()

WORLDS: Final = (
    World(name="pointwise", scale=BINARY, missing=0.05),
    World(name="pairwise", scale=PAIRS, mode=Mode.PAIRWISE, items=40, flips=0.2, balance=(0.6, 0.4)),
    World(name="ordinal", scale=LEVELS, accuracy=0.7),
    World(name="transcript", scale=BINARY, mode=Mode.TRANSCRIPT, items=20, repeats=8, unequal=True, balance=(0.7, 0.3)),
    World(name="near-one", scale=BINARY, accuracy=0.97, noise=0.02, flips=0.02),
    World(name="all-agree", scale=BINARY, accuracy=1.0, noise=0.0, flips=0.0),
)
"""One world for every kind of task, and those in which intervals usually fail."""

STABLE: Final = World(name="null", scale=BINARY, noise=0.2, flips=0.0, repeats=3, missing=0.1)
MOVED: Final = World(name="effect", scale=BINARY, noise=0.2, flips=0.25, repeats=3, missing=0.05, missing_in_test=0.25)


@frozen(kw_only=True)
class RecordCheck:
    """One measure of one metric in one world."""

    world: World
    metric: str
    measure: str
    test: str


@frozen(kw_only=True)
class AlarmCheck:
    """A measure that is a p-value, in a world with or without the effect."""

    world: World
    metric: str
    measure: str
    test: str = TEST
    least_power: float | None = None
    """Where the effect is there: the least share of alarms; None: there is none, and alarms are false."""


@frozen(kw_only=True)
class ArrayCheck:
    """An estimator of `jrh.stats`, and how one study for it is drawn."""

    name: str
    planted: float
    draw: Callable[[np.random.Generator], Estimate]
    biased: bool = False
    """The estimator is known not to centre on the planted value, and says so; only its interval is checked."""


@frozen(kw_only=True)
class ArrayAlarm:
    """A test of `jrh.stats`: whether it raises an alarm in one drawn study."""

    name: str
    draw: Callable[[np.random.Generator], bool]
    least_power: float | None = None


Check: TypeAlias = RecordCheck | AlarmCheck | ArrayCheck | ArrayAlarm

_ANYWHERE: Final = (
    ("accuracy", "accuracy", REFERENCE),
    ("gold-accuracy", "gold-accuracy", TEST),
    ("agreement", "agreement", TEST),
    ("flip-rate", "flip-rate", TEST),
    ("rerun-disagreement", "rerun-disagreement", REFERENCE),
    ("noise-excess", "excess-disagreement", TEST),
    ("noise-excess", "noise-floor", TEST),
    ("kappa", "kappa", TEST),
)
_TWO_LABELS: Final = (
    ("error-rates", "false-positive-rate", REFERENCE),
    ("error-rates", "false-negative-rate", REFERENCE),
)
_ORDINAL: Final = (
    ("kappa-quadratic", "kappa-quadratic", TEST),
    *(
        ("ordinal-errors", name, REFERENCE)
        for name in ("mean-absolute-error", "root-mean-squared-error", "bias", "exact-accuracy", "adjacent-accuracy")
    ),
    *(("ordinal-association", name, REFERENCE) for name in ("pearson", "concordance", "spearman", "kendall-tau-b")),
)
_OF_KIND: Final = {ScaleKind.LABELS: _TWO_LABELS, ScaleKind.ORDINAL: _ORDINAL, ScaleKind.PAIRWISE: ()}


def record_checks() -> Sequence[RecordCheck]:
    """Return the measures to check in every world."""
    found = []
    for world in WORLDS:
        wanted = [*_ANYWHERE, *_OF_KIND[world.scale.kind]]
        if world.missing:
            wanted.append(("missing", "missing", TEST))
        found += [RecordCheck(world=world, metric=metric, measure=name, test=test) for metric, name, test in wanted]
    return found


def alarm_checks() -> Sequence[AlarmCheck]:
    """Return the p-values to check: once where there is nothing to find, once where there is."""
    return (
        AlarmCheck(world=STABLE, metric="noise-excess", measure="excess-disagreement-p"),
        AlarmCheck(world=MOVED, metric="noise-excess", measure="excess-disagreement-p", least_power=0.8),
        AlarmCheck(world=STABLE, metric="missing-by-condition", measure="missing-by-condition-p", test=""),
        AlarmCheck(
            world=MOVED, metric="missing-by-condition", measure="missing-by-condition-p", test="", least_power=0.8
        ),
    )
