"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, MetricSpec, Mode, PerturberSpec, hookimpl
from jrh.plugins import FlagSpec, KindSpec, RuleSpec, SectionSpec
from jrh_measuring import read_metrics, read_sections

from jrh_consistency.measure_list import CYCLES, ONE_ORDER, WAYS
from jrh_consistency.options import ReferenceOptions, ResponseSetsOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the source."""
    yield DataSourceSpec(
        name="response-sets",
        summary="several responses to each request, one by one, in pairs or in lists, as the task asks",
        options=ResponseSetsOptions,
        factory="jrh_consistency.source:ResponseSets.build",
    )


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="reference-guided",
        summary="the item's reference answer added to the rubric",
        options=ReferenceOptions,
        factory="jrh_consistency.reference:ReferenceGuided",
        modes=frozenset(Mode),
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_consistency")


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    return read_sections("jrh_consistency")


@hookimpl
def jrh_flags() -> Iterable[FlagSpec]:
    """Declare the flag."""
    meaning = "options were shown in one order only: position bias may make preferences circular; add `option-order`."
    yield FlagSpec(name=ONE_ORDER, meaning=meaning)


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules."""
    yield RuleSpec(
        name="cycles",
        summary="whether preferences run in circles more often than noise explains",
        reads=("cycle-excess", "cycle-share", "cycle-noise"),
        kinds=(
            KindSpec(name=CYCLES, order=270, floored=True, floor=0.02),
            KindSpec(name="transitive", order=270),
            KindSpec(name="cycles-undecided", order=270),
        ),
        factory="jrh_consistency.rules:Cycles",
    )
    yield RuleSpec(
        name="agreement-of-ways",
        summary="whether scores, comparisons and lists contradict each other more often than noise explains",
        reads=tuple(f"{name}{end}" for name in WAYS for end in ("", "-conflict", "-excess")),
        kinds=(
            *(KindSpec(name=f"{name}-conflict", order=280, floored=True, floor=0.02) for name in WAYS),
            *(KindSpec(name=f"{name}-{end}", order=280) for name in WAYS for end in ("agree", "undecided")),
        ),
        factory="jrh_consistency.rules:Agreement",
    )
