"""What declarations of metrics share: the usual kinds of measures, with their unit and interval, and options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias, get_args

from attrs import frozen
from attrs.validators import deep_iterable, ge, in_
from jrh.plugins import MeasureInfo, option
from jrh.values.items import Task

from jrh_measuring.flags import DEGENERATE, SENSITIVE_TO_MISSING

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
) -> MeasureInfo:
    """Describe a correlation, or agreement beyond chance."""
    # The unit decides more than words: `MeasureBuilder.measure` gives no coefficient for a single cluster.
    return MeasureInfo(
        name=name, formula=formula, unit="coefficient", better=better, interval=interval, flags=flags, source=source
    )


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


class PositiveLabelOptions:
    """What options have in common that state a positive label."""

    __slots__ = ()
    positive: str

    def check_suite(self, suite: Any, plugins: object) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ARG002
        """Yield that the label contradicts the scale of a task, before anything is spent on the run."""
        for use in suite.tasks:
            if conflict := positive_conflict(self.positive, use.task):
                yield (), conflict
