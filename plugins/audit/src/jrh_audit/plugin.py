"""What the plugin declares: the metric `audit`, and the rule that tells what it finds."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, hookimpl
from jrh.plugins import KindSpec, RuleScope, RuleSpec, SectionSpec

from jrh_audit.measure_list import AUDIT, CONCERNS, MEASURES, SEVERITIES
from jrh_audit.options import AuditOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metric."""
    yield MetricSpec(
        name=AUDIT,
        summary="findings about the data set: conclusions that it cannot support",
        measures=MEASURES,
        options=AuditOptions,
        factory="jrh_audit.metric:AuditMetric",
    )


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule."""
    yield RuleSpec(
        name="data-problems",
        summary="conclusions that the data set cannot support",
        scope=RuleScope.DATA,
        reads=(AUDIT,),
        kinds=tuple(KindSpec(name=kind, doubts=CONCERNS.get(kind, ())) for kind in SEVERITIES),
        factory="jrh_audit.rules:Problems",
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    yield SectionSpec(
        name="data-problems",
        summary="share of items with each problem of the data",
        title="The data",
        reads=(AUDIT,),
        factory="jrh_audit.section:problems",
    )
