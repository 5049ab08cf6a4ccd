"""Declare three tests on agent transcripts and their measures."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import MetricSpec, Mode, PerturberSpec, hookimpl
from jrh.plugins import SectionSpec
from jrh_measuring import MetricOptions

from jrh_agentic.measure_list import MEASURES
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
    yield MetricSpec(
        name="agent-error-rates",
        summary="missed violations and false alarms on edited transcripts, side by side",
        measures=MEASURES["agent-error-rates"],
        options=MetricOptions,
        factory="jrh_agentic.measures.error_rates:AgentErrorRates",
    )
    yield MetricSpec(
        name="edit-sensitivity",
        summary="share of expected verdicts on edited transcripts, by number and position of the edits",
        measures=MEASURES["edit-sensitivity"],
        options=MetricOptions,
        factory="jrh_agentic.measures.edited_cases:EditSensitivity",
    )
    yield MetricSpec(
        name="evidence-localisation",
        summary="share of rationales that point at an edited message, compared with chance",
        measures=MEASURES["evidence-localisation"],
        options=MetricOptions,
        factory="jrh_agentic.measures.localisation:EvidenceLocalisation",
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    yield SectionSpec(
        name="agent-transcripts",
        summary="missed violations, false alarms and edits that rationales point at",
        title="Agents' transcripts",
        reads=tuple(measure.name for measures in MEASURES.values() for measure in measures),
        factory="jrh_agentic.section:Transcripts",
    )
