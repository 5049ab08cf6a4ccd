"""What the plugin declares: the metric `audit`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, hookimpl

from jrh_audit.measure_list import MEASURES
from jrh_audit.options import AuditOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metric."""
    yield MetricSpec(
        name="audit",
        summary="findings about the data set: conclusions that it cannot support",
        measures=MEASURES["audit"],
        options=AuditOptions,
        factory="jrh_audit.metric:AuditMetric",
    )
