"""What the plugin declares: the order of options, and what it does to a judge."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, MetricSpec, Mode, PerturberSpec, hookimpl
from jrh.plugins import Metric, Perturber

from jrh_order.options import IdenticalOptions, MetricOptions, OrderOptions

_PAIRWISE = frozenset({Mode.PAIRWISE})


def _order(options: OrderOptions, context: BuildContext) -> Perturber:
    from jrh_order.perturbers import OrderPerturber

    return OrderPerturber(options=options, task=context.task, seed=context.seed)


def _identical(options: IdenticalOptions, context: BuildContext) -> Perturber:
    from jrh_order.perturbers import IdenticalPerturber

    return IdenticalPerturber(options=options, task=context.task)


def _position(options: MetricOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_order.position import PositionBias

    return PositionBias(options)


def _identical_choice(options: MetricOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_order.position import IdenticalChoice

    return IdenticalChoice(options)


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="option-order",
        summary="the options of a pair in both orders",
        options=OrderOptions,
        factory=_order,
        modes=_PAIRWISE,
    )
    yield PerturberSpec(
        name="identical-options",
        summary="the same response as every option: which place does the judge pick",
        options=IdenticalOptions,
        factory=_identical,
        modes=_PAIRWISE,
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    yield MetricSpec(
        name="position-bias",
        summary="swap consistency, position rates, signed position bias with McNemar's exact test, gold by order",
        options=MetricOptions,
        factory=_position,
    )
    yield MetricSpec(
        name="identical-choice",
        summary="which place a judge picks when all options are the same",
        options=MetricOptions,
        factory=_identical_choice,
    )
