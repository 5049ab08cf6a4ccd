"""Declares the metrics."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, Metric, MetricSpec, hookimpl

from jrh_metrics.options import MetricOptions


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare accuracy, agreement, flip rate, rerun disagreement, kappa and missing verdicts."""
    yield MetricSpec(
        name="accuracy",
        summary="share of verdicts that are as expected: gold, a stated label, or relative to the reference verdict",
        options=MetricOptions,
        factory=_accuracy,
    )
    yield MetricSpec(
        name="gold-accuracy",
        summary="share of verdicts that equal the gold label, where the condition keeps it",
        options=MetricOptions,
        factory=_gold_accuracy,
    )
    yield MetricSpec(
        name="agreement",
        summary="share of verdicts that equal the same judge's verdict in the reference condition",
        options=MetricOptions,
        factory=_agreement,
    )
    yield MetricSpec(
        name="flip-rate",
        summary="share of verdicts that differ from the same judge's verdict in the reference condition",
        options=MetricOptions,
        factory=_flip_rate,
    )
    yield MetricSpec(
        name="rerun-disagreement",
        summary="share of pairs of repeats of the identical question that differ: the noise floor",
        options=MetricOptions,
        factory=_rerun_disagreement,
    )
    yield MetricSpec(
        name="kappa",
        summary="Cohen's kappa between the verdicts and those of the reference condition",
        options=MetricOptions,
        factory=_kappa,
    )
    yield MetricSpec(
        name="kappa-quadratic",
        summary="quadratically weighted kappa with the reference condition; ordinal scales only",
        options=MetricOptions,
        factory=_kappa_quadratic,
    )
    yield MetricSpec(
        name="missing",
        summary="share of trials without a verdict, and why",
        options=MetricOptions,
        factory=_missing,
    )


def _accuracy(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.accuracy import Accuracy

    return Accuracy(options)


def _gold_accuracy(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.accuracy import GoldAccuracy

    return GoldAccuracy(options)


def _agreement(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.agreement import Agreement

    return Agreement(options)


def _flip_rate(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.agreement import FlipRate

    return FlipRate(options)


def _rerun_disagreement(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.rerun import RerunDisagreement

    return RerunDisagreement(options)


def _kappa(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.kappa import Kappa

    return Kappa(options)


def _kappa_quadratic(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.kappa import QuadraticKappa

    return QuadraticKappa(options)


def _missing(options: MetricOptions, _context: BuildContext) -> Metric:
    from jrh_metrics.missing import Missing

    return Missing(options)
