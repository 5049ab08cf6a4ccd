"""What the plugin declares: three tests on agent transcripts, and their measures."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, MetricSpec, Mode, PerturberSpec, hookimpl
from jrh.plugins import Metric, Perturber

from jrh_agentic.options import MeasureOptions, PerturbationOptions, PositivesOptions, StyleOptions

_TRANSCRIPTS = frozenset({Mode.TRANSCRIPT})


def _perturbation(options: PerturbationOptions, context: BuildContext) -> Perturber:
    from jrh_agentic.building import perturbation

    return perturbation(options, context)


def _positives(options: PositivesOptions, context: BuildContext) -> Perturber:
    from jrh_agentic.building import positives

    return positives(options, context)


def _style(options: StyleOptions, context: BuildContext) -> Perturber:
    from jrh_agentic.building import restyled

    return restyled(options, context)


def _error_rates(options: MeasureOptions, context: BuildContext) -> Metric:  # noqa: ARG001 - every factory is called so
    from jrh_agentic.measures.error_rates import AgentErrorRates

    return AgentErrorRates(few_items=options.few_items)


def _sensitivity(options: MeasureOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_agentic.measures.sensitivity import EditSensitivity

    return EditSensitivity(few_items=options.few_items)


def _localisation(options: MeasureOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_agentic.measures.localisation import EvidenceLocalisation

    return EvidenceLocalisation(few_items=options.few_items)


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the three tests."""
    yield PerturberSpec(
        name="agent-perturbation",
        summary="transcripts edited to violate a rubric entry, or to reach each level of one",
        options=PerturbationOptions,
        factory=_perturbation,
        modes=_TRANSCRIPTS,
    )
    yield PerturberSpec(
        name="agent-positives",
        summary="transcripts that satisfy a rubric entry, edited where they did not",
        options=PositivesOptions,
        factory=_positives,
        modes=_TRANSCRIPTS,
    )
    yield PerturberSpec(
        name="agent-style",
        summary="transcripts edited in wording, layout and the order of independent remarks: nothing that matters",
        options=StyleOptions,
        factory=_style,
        modes=_TRANSCRIPTS,
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the measures of the family."""
    yield MetricSpec(
        name="agent-error-rates",
        summary="missed violations and false alarms on edited transcripts, side by side",
        options=MeasureOptions,
        factory=_error_rates,
    )
    yield MetricSpec(
        name="edit-sensitivity",
        summary="share of verdicts on edited transcripts that are as expected, by number and position of the edits",
        options=MeasureOptions,
        factory=_sensitivity,
    )
    yield MetricSpec(
        name="evidence-localisation",
        summary="share of rationales that point at an edited message, beside the share that would by chance",
        options=MeasureOptions,
        factory=_localisation,
    )
