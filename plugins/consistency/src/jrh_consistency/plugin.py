"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, MetricSpec, Mode, PerturberSpec, hookimpl
from jrh.plugins import SectionSpec
from jrh_measuring import MetricOptions

from jrh_consistency.measure_list import MEASURES
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
    yield MetricSpec(
        name="transitivity",
        summary="share of triples with circular preferences, compared with chance and noise",
        measures=MEASURES["transitivity"],
        options=MetricOptions,
        factory="jrh_consistency.transitivity:Transitivity",
    )
    yield MetricSpec(
        name="pointwise-pairwise",
        summary="whether comparisons prefer the response with the higher score",
        measures=MEASURES["pointwise-pairwise"],
        options=MetricOptions,
        factory="jrh_consistency.agreement:PointwisePairwise",
    )
    yield MetricSpec(
        name="listwise-pairwise",
        summary="whether comparisons prefer the response that ranks higher in a list",
        measures=MEASURES["listwise-pairwise"],
        options=MetricOptions,
        factory="jrh_consistency.agreement:ListwisePairwise",
    )
    yield MetricSpec(
        name="score-ranking",
        summary="whether the response with the higher score also ranks higher in lists",
        measures=MEASURES["score-ranking"],
        options=MetricOptions,
        factory="jrh_consistency.agreement:ScoreRanking",
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    yield SectionSpec(
        name="consistency",
        summary="circular preferences, and scores, comparisons and lists that contradict each other",
        title="Consistency of preferences",
        reads=tuple(measure.name for measures in MEASURES.values() for measure in measures if not measure.flags),
        factory="jrh_consistency.sections:consistency",
    )
