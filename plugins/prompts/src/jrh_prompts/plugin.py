"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import DataSourceSpec, MetricSpec, PerturberSpec, Scope, hookimpl
from jrh.plugins import RuleSpec, SectionSpec
from jrh_measuring import read_metrics, read_rules, read_sections

from jrh_prompts.options import (
    OutputModeOptions,
    PairedPromptsOptions,
    ParaphraseOptions,
    RubricOptions,
    ScaleOptions,
    TemplatesOptions,
)

JRH_API_VERSION = 2


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the source of paired-prompt files."""
    yield DataSourceSpec(
        name="paired-prompts",
        summary="files with two prompts per row: one item per judged text, with all its prompts",
        options=PairedPromptsOptions,
        factory="jrh_prompts.source:build_source",
    )


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="templates",
        summary="equivalent prompt templates: shipped, your own, or those of the items",
        options=TemplatesOptions,
        factory="jrh_prompts.templates:TemplatesPerturber.build",
    )
    yield PerturberSpec(
        name="prompt-paraphrase",
        summary="paraphrases of the judge's real prompt, written by a model",
        options=ParaphraseOptions,
        factory="jrh_prompts.paraphrase:ParaphrasePerturber.of",
        scope=Scope.SET,
    )
    yield PerturberSpec(
        name="scale",
        summary="the same question on another scale, mapped back to the task's levels",
        options=ScaleOptions,
        factory="jrh_prompts.scale:ScalePerturber.build",
    )
    yield PerturberSpec(
        name="rubric",
        summary="a stricter and a more lenient rubric, and its levels listed in reverse order",
        options=RubricOptions,
        factory="jrh_prompts.rubric:RubricPerturber",
    )
    yield PerturberSpec(
        name="output-mode",
        summary="the verdict as free text, JSON, JSON of a schema or a tool call; reasoning on or off; token limits",
        options=OutputModeOptions,
        factory="jrh_prompts.output_mode:OutputModePerturber",
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    return read_metrics("jrh_prompts")


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rules about prompt templates and polarity."""
    return read_rules("jrh_prompts")


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    return read_sections("jrh_prompts")
