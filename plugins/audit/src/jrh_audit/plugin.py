"""What the plugin declares: the metric `audit`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, MetricSpec, hookimpl
from jrh.plugins import Metric

from jrh_audit.options import AuditOptions


def _audit(options: AuditOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_audit.metric import AuditMetric

    return AuditMetric(options)


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metric."""
    yield MetricSpec(
        name="audit",
        summary="findings about the data set: what it cannot show",
        options=AuditOptions,
        factory=_audit,
    )
