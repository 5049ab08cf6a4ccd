"""Declare the parsers, and the metric that reads rationales as they read replies."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, ParserSpec, hookimpl
from jrh.plugins import NoOptions, RuleSpec, StageSpec
from jrh_measuring import read_metrics, read_rules

from jrh_parsers.options import JsonOptions, PairwiseOptions, RationaleOptions, WeightedOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_parsers() -> Iterable[ParserSpec]:
    """Declare the parsers."""
    for name, summary, options, factory in (
        ("auto", "a JSON verdict if there is one, otherwise text by the kind of scale", NoOptions, "AutoParser"),
        ("json", "a JSON verdict, bare, in fences, or with text around it", JsonOptions, "JsonParser"),
        ("label", "one of the scale's labels in free text", NoOptions, "LabelParser"),
        ("likert", "a level of an ordinal scale: 4, 4/5, Score: 4", NoOptions, "LikertParser"),
        ("pairwise", "the letter of the preferred option, or a tie", PairwiseOptions, "PairwiseParser"),
        ("weighted", "the expected level under the reply's token probabilities", WeightedOptions, "WeightedParser"),
    ):
        yield ParserSpec(name=name, summary=summary, options=options, factory=f"jrh_parsers.parsers:{factory}")


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metric."""
    return read_metrics("jrh_parsers")


@hookimpl
def jrh_stages() -> Iterable[StageSpec]:
    """Declare the reading of rationales by a model."""
    yield StageSpec(
        name="rationales",
        summary="Model that is asked which label each rationale argues for. Default: rules read the rationales.",
        key="rationale_model",
        options=RationaleOptions,
        asks=True,
        factory="jrh_parsers.reading_stage:ReadRationales",
    )


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule about rationales."""
    return read_rules("jrh_parsers")
