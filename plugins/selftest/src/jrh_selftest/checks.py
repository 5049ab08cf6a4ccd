"""List the checks: metrics on records of planted worlds, and estimators of `jrh_stats` on planted arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np
from attrs import frozen
from jrh import REFERENCE, Json, ScaleKind
from jrh_stats import Estimate

from jrh_selftest.world import TEST, World
from jrh_selftest.worlds import COPIED, MOVED, SAME, STABLE, worlds


@frozen(kw_only=True)
class RecordCheck:
    """One measure of one metric in one world."""

    world: World
    metric: str
    measure: str
    test: str

    @property
    def biased(self) -> bool:
        """Return whether the measure is a ratio of means over few items, with a bias of order 1 / items."""
        return self.measure in _RATIOS and self.world.clusters < FEW


@frozen(kw_only=True)
class AlarmCheck:
    """A measure that is a p-value, in a world with or without the effect."""

    world: World
    metric: str
    measure: str
    test: str = TEST
    least_power: float | None = None
    """Lowest acceptable power; None if there is no effect, so that every alarm is false."""


@frozen(kw_only=True)
class ArrayCheck:
    """An estimator of `jrh_stats` with a function that draws one study."""

    name: str
    planted: float
    draw: Callable[[np.random.Generator], Estimate]
    where: str = "arrays"
    biased: bool = False
    """The estimator is documented as biased; only its interval is checked."""


@frozen(kw_only=True)
class ArrayAlarm:
    """A test of `jrh_stats` with a function that returns whether it raises an alarm in one drawn study."""

    name: str
    draw: Callable[[np.random.Generator], bool]
    least_power: float | None = None


FEW: Final = 20
"""Coefficients from fewer items are known to be biased; only their intervals are checked."""
_RATIOS: Final = frozenset(
    {"kappa", "kappa-quadratic", "gold-kappa-quadratic", "concordance", "pearson", "spearman", "kendall-tau-b"}
)

ON_REQUEST: Final[Mapping[str, Mapping[str, Json]]] = {
    "kappa-quadratic": {},
    **{name: {"all": True} for name in ("noise-excess", "accuracy-change", "ordinal-errors", "ordinal-association")},
}
"""Metrics that runs do not compute by default -> options that enable the measures to check."""

Check: TypeAlias = RecordCheck | AlarmCheck | ArrayCheck | ArrayAlarm

_ANYWHERE: Final = (
    ("as-expected", "as-expected", REFERENCE),
    ("gold-accuracy", "gold-accuracy", TEST),
    ("agreement", "agreement", TEST),
    ("flip-rate", "flip-rate", TEST),
    ("rerun-disagreement", "rerun-disagreement", REFERENCE),
    ("noise-excess", "excess-disagreement", TEST),
    ("noise-excess", "noise-floor", TEST),
    ("kappa", "kappa", TEST),
    ("accuracy-change", "accuracy-change", TEST),
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
    *(
        ("ordinal-association", name, REFERENCE)
        for name in (
            *("pearson", "concordance", "spearman", "kendall-tau-b"),
            *("gold-kappa-quadratic", "scale-compression"),
        )
    ),
)
_OF_KIND: Final = {ScaleKind.LABELS: _TWO_LABELS, ScaleKind.ORDINAL: _ORDINAL, ScaleKind.PAIRWISE: ()}


def record_checks(*, full: bool) -> Sequence[RecordCheck]:
    """Return the measures to check in every world of a mode."""
    found = []
    for world in worlds(full=full):
        wanted = [*_ANYWHERE, *_OF_KIND[world.scale.kind]]
        if world.missing:
            wanted.append(("missing", "missing", TEST))
        found += [RecordCheck(world=world, metric=metric, measure=name, test=test) for metric, name, test in wanted]
    return found


def alarm_checks() -> Sequence[AlarmCheck]:
    """Return the p-values to check, each without and with an effect."""
    return (
        AlarmCheck(world=STABLE, metric="noise-excess", measure="excess-disagreement-p"),
        AlarmCheck(world=MOVED, metric="noise-excess", measure="excess-disagreement-p", least_power=0.8),
        AlarmCheck(world=STABLE, metric="accuracy-change", measure="accuracy-change-p"),
        *(
            AlarmCheck(world=world, metric=metric, measure=f"{measure}-p")
            for world in (COPIED, SAME)
            for metric, measure in (("noise-excess", "excess-disagreement"), ("accuracy-change", "accuracy-change"))
        ),
        AlarmCheck(world=STABLE, metric="missing-by-condition", measure="missing-by-condition-p", test=""),
        AlarmCheck(
            world=MOVED, metric="missing-by-condition", measure="missing-by-condition-p", test="", least_power=0.8
        ),
    )
