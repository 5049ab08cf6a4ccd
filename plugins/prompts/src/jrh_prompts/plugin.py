"""What the plugin declares: how a judge is asked, and what that does to its verdicts."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, DataSourceSpec, MetricSpec, PerturberSpec, Scope, hookimpl
from jrh.plugins import DataSource, Metric, Perturber, SetPerturber

from jrh_prompts.options import (
    MetricOptions,
    PairedPromptsOptions,
    ParaphraseOptions,
    RubricOptions,
    ScaleOptions,
    SensitivityOptions,
    TemplatesOptions,
)


def _paired(options: PairedPromptsOptions, context: BuildContext) -> DataSource:
    from jrh.importing import PairedPrompts

    path = options.path
    shown = path.relative_to(context.base) if path.is_relative_to(context.base) else path
    return PairedPrompts(
        path=path,
        shown=shown.as_posix(),
        task=context.task,
        task_type=options.task_type,
        labels=options.labels,
        columns=options.columns,
    )


def _templates(options: TemplatesOptions, context: BuildContext) -> Perturber:
    from jrh_prompts.templates import TemplatesPerturber

    return TemplatesPerturber.of(options, context.task)


def _paraphrase(options: ParaphraseOptions, context: BuildContext) -> SetPerturber:
    from jrh_prompts.paraphrase import ParaphrasePerturber

    return ParaphrasePerturber.of(options, context)


def _scale(options: ScaleOptions, context: BuildContext) -> Perturber:
    from jrh_prompts.scale import ScalePerturber

    return ScalePerturber.of(options, context.task)


def _rubric(options: RubricOptions, context: BuildContext) -> Perturber:
    from jrh_prompts.rubric import RubricPerturber

    return RubricPerturber(options=options, task=context.task)


def _sensitivity(options: SensitivityOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_prompts.sensitivity import TemplateSensitivity

    return TemplateSensitivity(options)


def _polarity(options: MetricOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_prompts.polarity import PolarityFindings

    return PolarityFindings(options)


def _flipped(options: MetricOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_prompts.between import FlippedByEveryJudge

    return FlippedByEveryJudge(options)


def _judges(options: MetricOptions, context: BuildContext) -> Metric:  # noqa: ARG001
    from jrh_prompts.between import JudgeAgreement

    return JudgeAgreement(options)


@hookimpl
def jrh_data_sources() -> Iterable[DataSourceSpec]:
    """Declare the source of paired-prompt files."""
    yield DataSourceSpec(
        name="paired-prompts",
        summary="rows of two prompts about one text: one item per text, with the prompts it is asked with",
        options=PairedPromptsOptions,
        factory=_paired,
    )


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="templates",
        summary="other prompt templates that ask for the same thing: shipped, one's own, or the items'",
        options=TemplatesOptions,
        factory=_templates,
    )
    yield PerturberSpec(
        name="prompt-paraphrase",
        summary="paraphrases of the judge's real prompt, written by a model",
        options=ParaphraseOptions,
        factory=_paraphrase,
        scope=Scope.SET,
    )
    yield PerturberSpec(
        name="scale",
        summary="the same question on another scale, brought back to the task's own",
        options=ScaleOptions,
        factory=_scale,
    )
    yield PerturberSpec(
        name="rubric",
        summary="a stricter and a more lenient rubric, and its list of levels the other way round",
        options=RubricOptions,
        factory=_rubric,
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metrics."""
    yield MetricSpec(
        name="template-sensitivity",
        summary="JSS, flip rate and kappa between templates, raw and corrected; excluded pairs",
        options=SensitivityOptions,
        factory=_sensitivity,
    )
    yield MetricSpec(
        name="polarity",
        summary="findings: templates declared the wrong way round, judges that miss an inverted question",
        options=MetricOptions,
        factory=_polarity,
    )
    yield MetricSpec(
        name="flipped-by-every-judge",
        summary="template pairs on which every judge contradicts itself",
        options=MetricOptions,
        factory=_flipped,
    )
    yield MetricSpec(
        name="judge-agreement",
        summary="agreement and kappa of two judges asked with the same prompts",
        options=MetricOptions,
        factory=_judges,
    )
