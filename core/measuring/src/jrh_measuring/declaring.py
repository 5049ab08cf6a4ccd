"""What declarations of metrics share: the usual kinds of measures, with their unit and interval, and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from attrs import frozen
from attrs.validators import deep_iterable, ge, in_
from jrh.document.positions import did_you_mean
from jrh.plugins import MeasureInfo, option
from jrh.values.items import Task

from jrh_measuring.flags import DEGENERATE, SENSITIVE_TO_MISSING

if TYPE_CHECKING:
    from jrh.plugins.registry import Plugins

BY_JACKKNIFE: Final = "jackknife over clusters (`jackknife-wilson`)"
"""How the interval of a share-like coefficient is made."""
BY_FISHER_Z: Final = "jackknife over clusters in Fisher's z (`jackknife-fisher-z`)"
"""How the interval of a correlation is made."""
CLUSTER_ROBUST: Final = "cluster-robust, within the bounds (`cluster-robust-wilson`)"
"""How the interval of a mean is made."""
OF_A_RATE: Final = "that of a rate"
"""The interval of a share that is not counted by verdicts."""


def describe_rate(
    name: str,
    formula: str,
    *,
    better: str = "lower",
    # `MeasureBuilder.rate` sets this flag on any rate, so that every rate has to declare it.
    flags: tuple[str, ...] = (SENSITIVE_TO_MISSING,),
    **more: Any,
) -> MeasureInfo:
    """Describe a share of verdicts (`MeasureBuilder.rate`)."""
    return MeasureInfo(name=name, formula=formula, better=better, flags=flags, rate=True, **more)


def describe_share(name: str, formula: str, *, interval: str = OF_A_RATE, **more: Any) -> MeasureInfo:
    """Describe another share, such as one of items or of pairs."""
    return MeasureInfo(name=name, formula=formula, interval=interval, **more)


def describe_coefficient(
    name: str,
    formula: str,
    source: str,
    *,
    interval: str = BY_FISHER_Z,
    flags: tuple[str, ...] = (DEGENERATE,),
    better: str = "higher",
    **more: Any,
) -> MeasureInfo:
    """Describe a correlation, or agreement beyond chance."""
    fields = {"better": better, "interval": interval, "flags": flags, "source": source, **more}
    # The unit decides more than words: `MeasureBuilder.measure` gives no coefficient for a single cluster.
    return MeasureInfo(name=name, formula=formula, unit="coefficient", **fields)


def describe_difference(
    name: str,
    formula: str,
    *,
    unit: str = "difference",
    better: str = "zero",
    interval: str = CLUSTER_ROBUST,
    **more: Any,
) -> MeasureInfo:
    """Describe a difference of two shares or levels."""
    return MeasureInfo(name=name, formula=formula, unit=unit, better=better, interval=interval, **more)


def describe_quantity(name: str, formula: str, unit: str, **more: Any) -> MeasureInfo:
    """Describe a measure in a unit of its own."""
    return MeasureInfo(name=name, formula=formula, unit=unit, **more)


def describe_p_value(name: str, formula: str, **more: Any) -> MeasureInfo:
    """Describe a p-value."""
    return MeasureInfo(name=name, formula=formula, unit="p-value", **more)


Factor: TypeAlias = Literal["variant", "stratum", "gold", "strength", "temperature", "output"]
"""What a test can be broken down by."""


@frozen(kw_only=True)
class MetricOptions:
    """Options that all metrics share."""

    few_items: int = option("estimates from fewer items than this are flagged `few-items`", ge(0), default=10)
    also: tuple[str, ...] = option("measures of this metric to make as well, of those made on request only", default=())

    def asks_for(self, measure: MeasureInfo) -> bool:
        """Return whether a measure is made: all are, but for those on request that neither `also` nor `all` names."""
        named = any(measure.describes(name) for name in self.also)
        return not measure.on_request or named or getattr(self, "all", False)

    def check_suite(self, suite: Any, plugins: Plugins) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ARG002
        """Yield the names in `also` that are no measures on request of a metric with these options."""
        metrics = [entry.spec for entry in plugins.metrics if entry.spec.options is type(self)] if self.also else []
        known = [measure for metric in metrics for measure in metric.measures if measure.on_request]
        for place, name in enumerate(self.also):
            if not any(measure.describes(name) for measure in known):
                hint = did_you_mean(name, [measure.name for measure in known])
                yield ("also", place), f"no such measure is made on request: '{name}'\n{hint}".rstrip()


@frozen(kw_only=True)
class BreakdownOptions(MetricOptions):
    """Options of metrics that can measure the parts of a test as well."""

    by: tuple[Factor, ...] = option(
        "also measure each level of: `variant`, `stratum`, `gold`, `strength`, `temperature`, `output`",
        deep_iterable(in_(get_args(Factor))),
        default=(),
    )


def positive_conflict(stated: str, task: Task) -> str:
    """Say that a metric's option `positive` contradicts the task's scale; empty where it does not."""
    declared = task.scale.positive
    if not stated or not declared or stated == declared:
        return ""
    return (
        f"`positive: {stated}` contradicts the positive label '{declared}' of task '{task.name}'; "
        "leave the option out and declare the label once, as `positive` of the task's scale"
    )


class PositiveLabelOptions(MetricOptions):
    """What options have in common that state a positive label."""

    __slots__ = ()
    positive: str

    def check_suite(self, suite: Any, plugins: Plugins) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield that the label contradicts the scale of a task, before anything is spent on the run."""
        yield from super().check_suite(suite, plugins)
        for use in suite.tasks:
            if conflict := positive_conflict(self.positive, use.task):
                yield (), conflict
