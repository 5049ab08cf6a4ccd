"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, MetricSpec, PerturberSpec, hookimpl
from jrh.plugins import KindSpec, RuleSpec, SectionSpec
from jrh_measuring import read_metrics, read_sections

from jrh_evidence.options import ErrorsOptions, EvidenceOptions, FailureOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the source."""
    yield DataSourceSpec(
        name="failed-runs",
        summary="transcripts of failed agents with the step and the agent that failed",
        options=FailureOptions,
        factory="jrh_evidence.failures:FailedRuns.build",
    )


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="evidence",
        summary="the decisive text at every depth of a text of every length, and the text without it",
        options=EvidenceOptions,
        factory="jrh_evidence.perturber:Evidence.build",
    )
    yield PerturberSpec(
        name="errors",
        summary="a rising number of errors of one kind: wrong numbers, negations, dropped sentences",
        options=ErrorsOptions,
        factory="jrh_evidence.errors:Errors.build",
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_evidence")


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    return read_sections("jrh_evidence")


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules."""
    yield RuleSpec(
        name="planted-evidence",
        summary="whether verdicts follow planted evidence, and which part of a text is read",
        reads=("evidence-effect", "evidence-position-p", "reads-first", "reads-last"),
        kinds=tuple(
            KindSpec(name=f"evidence-{what}", order=300)
            for what in ("reach", "middle", "ignored", "followed", "undecided")
        ),
        factory="jrh_evidence.rules:Evidence",
    )
    yield RuleSpec(
        name="planted-errors",
        summary="whether a judge notices half of the texts with errors",
        reads=("error-noticed", "error-threshold"),
        kinds=tuple(KindSpec(name=f"errors-{what}", order=310) for what in ("missed", "noticed", "undecided")),
        factory="jrh_evidence.rules:Errors",
    )
