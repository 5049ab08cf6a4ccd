"""Build the components from their options and their task."""

from __future__ import annotations

from jrh import BuildContext
from jrh_interchange import PairedPrompts

from jrh_prompts.options import PairedPromptsOptions, RubricOptions, ScaleOptions, TemplatesOptions
from jrh_prompts.rubric import RubricPerturber
from jrh_prompts.scale import ScalePerturber
from jrh_prompts.templates import TemplatesPerturber


def paired_prompts(options: PairedPromptsOptions, context: BuildContext) -> PairedPrompts:
    """Build the data source `paired-prompts`; messages show the path relative to the suite's directory."""
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


def templates(options: TemplatesOptions, context: BuildContext) -> TemplatesPerturber:
    """Build the perturber `templates`."""
    return TemplatesPerturber.of(options, context.task)


def scale(options: ScaleOptions, context: BuildContext) -> ScalePerturber:
    """Build the perturber `scale`."""
    return ScalePerturber.of(options, context.task)


def rubric(options: RubricOptions, context: BuildContext) -> RubricPerturber:
    """Build the perturber `rubric`."""
    return RubricPerturber(options=options, task=context.task)
