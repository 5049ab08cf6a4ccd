"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, MetricSpec, PerturberSpec, hookimpl
from jrh.plugins import KindSpec, ModeSpec, RuleSpec
from jrh_measuring import MetricOptions

from jrh_criteria.measure_list import MEASURES
from jrh_criteria.options import (
    BenchmarkOptions,
    FillerOptions,
    HaloOptions,
    NegatedOptions,
    OrderOptions,
    PerCallOptions,
    RubricOptions,
    ScoreOptions,
    WordingOptions,
    WrittenCriteriaTask,
)

JRH_API_VERSION = 2


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the source."""
    yield DataSourceSpec(
        name="rubric-benchmark",
        summary="responses with their own criteria: one row per criterion, or a list in every row",
        options=BenchmarkOptions,
        factory="jrh_criteria.benchmark:BenchmarkSource.of",
    )


@hookimpl
def jrh_modes() -> Iterable[ModeSpec]:
    """Declare the mode."""
    yield ModeSpec(
        name="criteria",
        summary="one verdict per criterion of a rubric, or a task for every entry of one",
        options=WrittenCriteriaTask,
        factory="jrh_criteria.mode:CriteriaMode",
    )


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="rubric-matters",
        summary="an inverted, empty or unrelated rubric: a judge that reads it must change its verdicts",
        options=RubricOptions,
        factory="jrh_criteria.rubric:RubricMatters",
    )
    yield PerturberSpec(
        name="criteria-order",
        summary="the criteria of a call in reverse and in random order",
        options=OrderOptions,
        factory="jrh_criteria.calls:OtherOrder",
    )
    yield PerturberSpec(
        name="criteria-per-call",
        summary="the criteria one by one, or more of them in one call",
        options=PerCallOptions,
        factory="jrh_criteria.calls:OtherSize",
    )
    yield PerturberSpec(
        name="irrelevant-criterion",
        summary="an irrelevant criterion added to the call, first or last",
        options=FillerOptions,
        factory="jrh_criteria.calls:Filler",
    )
    yield PerturberSpec(
        name="criterion-wording",
        summary="a stricter and a more lenient wording of the criterion",
        options=WordingOptions,
        factory="jrh_criteria.wording:OtherWording",
    )
    yield PerturberSpec(
        name="criterion-negated",
        summary="the criterion negated: the opposite label means the same",
        options=NegatedOptions,
        factory="jrh_criteria.wording:Negated",
    )
    yield PerturberSpec(
        name="halo",
        summary="the evidence of one criterion removed: its verdict should change, the others should not",
        options=HaloOptions,
        factory="jrh_criteria.halo:Halo",
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    yield MetricSpec(
        name="criteria-score",
        summary="the weighted score of the criteria, its error against gold, and criteria that do not apply",
        measures=MEASURES["criteria-score"],
        options=ScoreOptions,
        factory="jrh_criteria.score:CriteriaScore",
    )
    yield MetricSpec(
        name="rubric-effect",
        summary="share of verdicts that change under another rubric, or when another criterion's evidence is cut",
        measures=MEASURES["rubric-effect"],
        options=MetricOptions,
        factory="jrh_criteria.effect:RubricEffect",
    )
    yield MetricSpec(
        name="criteria-place",
        summary="whether criteria late in a call are judged worse than the same ones early in it",
        measures=MEASURES["criteria-place"],
        options=MetricOptions,
        factory="jrh_criteria.place:CriteriaPlace",
    )


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule."""
    yield RuleSpec(
        name="criteria",
        summary="whether a judge reads its rubric, and judges every criterion by itself wherever it stands",
        reads=("rubric-effect", "halo-effect", "late-accuracy-change", "not-applicable-as-met"),
        kinds=(
            # The smallest share of verdicts, beyond reruns, that another rubric moves if a judge reads it.
            KindSpec(name="rubric-ignored", order=260, floored=True, floor=0.2),
            KindSpec(name="halo", order=260, floored=True),
            KindSpec(name="batch-fatigue", order=260, floored=True),
            KindSpec(name="counts-not-applicable", order=260),
        ),
        factory="jrh_criteria.rules:Criteria",
    )
