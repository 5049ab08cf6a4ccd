"""Declare three tests on agent transcripts and their measures."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, Mode, PerturberSpec, hookimpl
from jrh.plugins import SectionSpec
from jrh_measuring import read_metrics, read_sections

from jrh_agentic.options import PerturbationOptions, PositivesOptions, StyleOptions

JRH_API_VERSION = 2

_TRANSCRIPTS = frozenset({Mode.TRANSCRIPT})


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the three tests."""
    yield PerturberSpec(
        name="agent-perturbation",
        summary="transcripts edited to violate a rubric entry, or to reach each level of one",
        options=PerturbationOptions,
        factory="jrh_agentic.building:perturbation",
        modes=_TRANSCRIPTS,
    )
    yield PerturberSpec(
        name="agent-positives",
        summary="transcripts that satisfy a rubric entry, edited if they did not",
        options=PositivesOptions,
        factory="jrh_agentic.building:positives",
        modes=_TRANSCRIPTS,
    )
    yield PerturberSpec(
        name="agent-style",
        summary="transcripts edited only in style: wording, layout, the order of independent remarks",
        options=StyleOptions,
        factory="jrh_agentic.building:style",
        modes=_TRANSCRIPTS,
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the measures of the family."""
    return read_metrics("jrh_agentic")


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    return read_sections("jrh_agentic")
