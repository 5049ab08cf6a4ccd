"""List the checks: metrics on records of planted worlds, and estimators of `jrh_stats` on planted arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from attrs import Factory, evolve, frozen
from jrh import REFERENCE, Json, Measure, ScaleKind
from jrh_stats import Estimate
from jrh_stats.degrees import FEW_CLUSTERS

from jrh_selftest import worlds as designs
from jrh_selftest.findings import Study
from jrh_selftest.judging import ALPHA
from jrh_selftest.pages import ClaimCheck
from jrh_selftest.truth import truths
from jrh_selftest.world import TEST, World


@frozen(kw_only=True)
class WorldCheck:
    """One measure of one metric in one world."""

    world: World
    metric: str
    measure: str
    test: str = TEST
    cell: Mapping[str, str] = Factory(dict)

    @property
    def where(self) -> str:
        """Return the name of the world."""
        return self.world.name

    @property
    def name(self) -> str:
        """Return the name of the row."""
        return self.measure


@frozen(kw_only=True)
class RecordCheck(WorldCheck):
    """A measure whose estimate and interval are compared with the planted value."""

    @property
    def planted(self) -> float:
        """Return the true value of the measure."""
        return truths(self.world)[self.measure, self.test]

    @property
    def biased(self) -> bool:
        """Return whether the estimate is known to be biased.

        A ratio of means over few items has a bias of order 1 / items. Where verdicts are not missing at random every
        estimate from those that are there has one; its flag or its bounds have to say so.
        """
        # What is lost depends on the verdict itself: no estimate from the remaining ones is unbiased.
        if self.world.missing_if_wrong is not None:
            return True
        return self.measure in _RATIOS and self.world.clusters < FEW

    @property
    def clusters(self) -> int | None:
        """Return the number of independent items, where the width is judged: in designs with repeats."""
        return self.world.clusters if self.world.has_repeats and not self.world.near else None

    @property
    def whole(self) -> bool:
        """Return whether flags follow from the data.

        Designs with fewer than 30 clusters, of the rarer label for its error rate, always have one, and so do those
        that lose wrong verdicts.
        """
        # An error rate rests on the items of its label alone, so the rarer label decides.
        share = float(self.world.shares.min()) if self.metric == _TWO_LABELS[0][0] else 1.0
        return self.world.clusters * share >= FEW_CLUSTERS and self.world.missing_if_wrong is None

    def read(self, measure: Measure) -> Study:
        """Return what one study yields."""
        interval = measure.interval
        return Study(
            value=measure.estimate,
            low=interval.low if interval else None,
            high=interval.high if interval else None,
            flags=measure.flags,
            method=interval.method if interval else "",
        )


@frozen(kw_only=True)
class AlarmCheck(WorldCheck):
    """A measure that is a p-value or raises a flag, in a world with or without the effect."""

    flag: str = ""
    """The flag that is the alarm, where the measure is no p-value."""
    least_power: float | None = None
    """Lowest acceptable power; None if there is no effect, so that every alarm is false."""
    limit: float = ALPHA
    """Highest acceptable share of false alarms."""
    silent: bool = False
    """There is no such measure where there is no alarm."""

    @property
    def name(self) -> str:
        """Return the name of the row."""
        return f"{self.measure}: {self.flag}" if self.flag else self.measure

    def read(self, measure: Measure) -> Study:
        """Return what one study yields: a p-value, or 0 for an alarm and 1 for none."""
        if not self.flag:
            return Study(value=measure.estimate)
        # A flag is read like a p-value, so that alarms of both kinds are counted alike.
        return Study(value=0.0 if self.flag in measure.flags else 1.0)


@frozen(kw_only=True)
class ArrayCheck:
    """An estimator of `jrh_stats` with a function that draws one study."""

    name: str
    planted: float
    draw: Callable[[np.random.Generator], Estimate | Mapping[str, Estimate]]
    """Returns the estimate, or several by name; checks with the same function share what it draws."""
    where: str = "arrays"
    biased: bool = False
    """The estimator is documented as biased; only its interval is checked."""
    clusters: int | None = None
    """Number of independent items, where the width is judged."""
    whole: ClassVar[bool] = False
    """No array design always flags its studies, nor loses verdicts; see `RecordCheck.whole`."""

    def read(self, drawn: Any) -> Study:
        """Return what one study yields, of what `draw` returned."""
        estimate = drawn if isinstance(drawn, Estimate) else drawn[self.name]
        return Study(
            value=estimate.value, low=estimate.low, high=estimate.high, flags=estimate.flags, method=estimate.method
        )


def subtract_truth(estimate: Estimate, truth: float) -> Estimate:
    """Return an estimate less what it is about in the study at hand, so that 0 is the planted value of all studies."""
    # Without an interval nothing can be judged; the study counts as one without.
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return estimate
    return evolve(estimate, value=estimate.value - truth, low=estimate.low - truth, high=estimate.high - truth)


@frozen(kw_only=True)
class ArrayAlarm:
    """A test of `jrh_stats` with a function that returns whether it raises an alarm in one drawn study."""

    name: str
    draw: Callable[[np.random.Generator], bool]
    where: str = "arrays"
    least_power: float | None = None
    limit: float = ALPHA

    def read(self, drawn: Any) -> Study:
        """Return what one study yields: 0 for an alarm, 1 for none."""
        return Study(value=0.0 if drawn else 1.0)


FEW: Final = 20
"""Coefficients from fewer items are known to be biased; only their intervals are checked."""
_RATIOS: Final = frozenset({"self-kappa", "gold-kappa", "pearson", "spearman"})

ON_REQUEST: Final[Mapping[str, Mapping[str, Json]]] = {
    name: {"all": True} for name in ("noise-excess", "ordinal-errors", "ordinal-association")
}
"""Metrics that runs do not compute by default -> options that enable the measures to check."""

Check: TypeAlias = RecordCheck | AlarmCheck | ArrayCheck | ArrayAlarm | ClaimCheck

_ANYWHERE: Final = (
    ("as-expected", "as-expected", REFERENCE),
    ("agreement", "agreement", TEST),
    ("rerun-disagreement", "rerun-disagreement", REFERENCE),
    ("noise-excess", "excess-disagreement", TEST),
    ("noise-excess", "noise-floor", TEST),
    ("self-kappa", "self-kappa", TEST),
    ("accuracy-change", "accuracy-change", TEST),
)
_SAME: Final = (
    ("gold-accuracy", "gold-accuracy", TEST),
    ("flip-rate", "flip-rate", TEST),
)
"""Measures whose interval is that of another by construction, as-expected and 1 - agreement: the quick worlds are
enough to see that this holds."""
_TWO_LABELS: Final = (
    ("error-rates", "false-positive-rate", REFERENCE),
    ("error-rates", "false-negative-rate", REFERENCE),
)
_ORDINAL: Final = (
    ("gold-kappa", "gold-kappa", REFERENCE),
    *(
        ("ordinal-errors", name, REFERENCE)
        for name in ("mean-absolute-error", "root-mean-squared-error", "bias", "adjacent-accuracy")
    ),
    *(("ordinal-association", name, REFERENCE) for name in ("pearson", "spearman", "scale-compression")),
)
_OF_KIND: Final = {ScaleKind.LABELS: _TWO_LABELS, ScaleKind.ORDINAL: _ORDINAL, ScaleKind.PAIRWISE: ()}


def record_checks(*, full: bool) -> Sequence[RecordCheck]:
    """Return the measures to check in every world of a mode."""
    checks = []
    for world in designs.worlds(full=full):
        wanted = [*_ANYWHERE, *_OF_KIND[world.scale.kind]]
        if world in designs.WORLDS:
            wanted += _SAME
        if world.missing:
            wanted.append(("missing", "missing", TEST))
        if not world.has_repeats or (world.reference_repeats or world.repeats) == 1:
            # Without a repeat in the reference condition nothing is asked twice.
            wanted.remove(("rerun-disagreement", "rerun-disagreement", REFERENCE))
        if world.repeats == 1:  # without repeats in the test its own noise is not known
            wanted = [measure for measure in wanted if measure[0] != "noise-excess"]
        checks += [RecordCheck(world=world, metric=metric, measure=name, test=test) for metric, name, test in wanted]
    return [*checks, *(_further() if full else ())]


def _further() -> Iterator[RecordCheck]:
    """Yield the measures of designs of their own: several templates, and a covariate."""
    for world in designs.TEMPLATES:
        for name in ("jss", "jss-raw", "jss-correction", "template-kappa"):
            yield RecordCheck(world=world, metric="template-sensitivity", measure=name, test=TEST)
    for covariate_world in designs.FOLLOWING:
        name = "covariate-effect"
        yield RecordCheck(
            world=covariate_world, metric=name, measure=name, test=REFERENCE, cell={"covariate": designs.COVARIATE}
        )


_BOTH: Final = (("noise-excess", "excess-disagreement"), ("accuracy-change", "accuracy-change"))


def alarm_checks(*, full: bool) -> Iterator[AlarmCheck]:
    """Yield the p-values and equivalence tests to check, without and with an effect."""
    yield from _size(designs.STABLE)
    yield AlarmCheck(world=designs.MOVED, metric="noise-excess", measure="excess-disagreement-p", least_power=0.8)
    # Copies are what breaks a test that counts items in place of clusters.
    for world in (designs.COPIED, designs.SAME):
        yield from _size(world)
    missing = "missing-by-condition"
    yield AlarmCheck(world=designs.STABLE, metric=missing, measure=f"{missing}-p", test="")
    yield AlarmCheck(world=designs.MOVED, metric=missing, measure=f"{missing}-p", test="", least_power=0.8)
    if full:
        for world in designs.UNEQUAL:
            yield from _size(world)
        for world in designs.MARGINS:
            yield _equivalent(world)
        noisy, falls, still = designs.POWER
        yield AlarmCheck(world=noisy, metric="noise-excess", measure="excess-disagreement-p", least_power=0.5)
        yield AlarmCheck(world=falls, metric="accuracy-change", measure="accuracy-change-p", least_power=0.5)
        yield _equivalent(still, least_power=0.8)
        for world, least in ((designs.AT_RANDOM, None), (designs.UNDECLARED, 0.8)):
            yield AlarmCheck(
                world=world,
                metric="template-sensitivity",
                measure="template-kappa-p",
                silent=True,
                least_power=least,
            )
        for world, least in (*((fair, None) for fair in designs.FAIR), (designs.FOLLOWING[0], 0.5)):
            yield AlarmCheck(
                world=world,
                metric="covariate-effect",
                measure="covariate-effect-p",
                test=REFERENCE,
                cell={"covariate": designs.COVARIATE},
                least_power=least,
            )


def _size(world: World) -> Iterator[AlarmCheck]:
    for metric, measure in _BOTH:
        yield AlarmCheck(world=world, metric=metric, measure=f"{measure}-p")


def _equivalent(world: World, least_power: float | None = None) -> AlarmCheck:
    name = "accuracy-equivalence"
    return AlarmCheck(world=world, metric=name, measure=name, flag="equivalent", least_power=least_power)
