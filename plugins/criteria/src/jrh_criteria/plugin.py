"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jrh import DataSourceSpec, MetricSpec, PerturberSpec, hookimpl
from jrh.plugins import KindSpec, ModeSpec, RuleSpec
from jrh_measuring import read_metrics

from jrh_criteria.options import (
    BenchmarkOptions,
    FillerOptions,
    HaloOptions,
    NegatedOptions,
    OrderOptions,
    PerCallOptions,
    RubricOptions,
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


# The tests differ in these four alone.
_TESTS: Final = (
    (
        "rubric-matters",
        "an inverted, empty or unrelated rubric: a judge that reads it must change its verdicts",
        RubricOptions,
        "RubricMatters",
    ),
    ("criteria-order", "the criteria of a call in reverse and in random order", OrderOptions, "OtherOrder"),
    ("criteria-per-call", "the criteria one by one, or more of them in one call", PerCallOptions, "OtherSize"),
    ("irrelevant-criterion", "an irrelevant criterion added to the call, first or last", FillerOptions, "Filler"),
    ("criterion-wording", "a stricter and a more lenient wording of the criterion", WordingOptions, "OtherWording"),
    ("criterion-negated", "the criterion negated: the opposite label means the same", NegatedOptions, "Negated"),
    (
        "halo",
        "the evidence of one criterion removed: its verdict should change, the others should not",
        HaloOptions,
        "Halo",
    ),
)
"""Name, summary, options and class of every test."""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    for name, summary, options, factory in _TESTS:
        yield PerturberSpec(name=name, summary=summary, options=options, factory=f"jrh_criteria.perturbers:{factory}")


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_criteria")


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule."""
    yield RuleSpec(
        name="criteria",
        summary="whether a judge reads its rubric, and judges every criterion by itself wherever it is",
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
