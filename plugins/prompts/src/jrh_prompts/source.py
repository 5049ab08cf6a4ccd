"""Build the data source `paired-prompts` from its options."""

from __future__ import annotations

from jrh import BuildContext
from jrh_interchange import PairedPrompts

from jrh_prompts.options import PairedPromptsOptions


def build_source(options: PairedPromptsOptions, context: BuildContext) -> PairedPrompts:
    """Build the source of a file, which is shown relative to the suite's directory where it is below it."""
    path = options.path
    # Messages must not depend on where the suite is.
    shown = path.relative_to(context.base) if path.is_relative_to(context.base) else path
    return PairedPrompts(
        path=path,
        shown=shown.as_posix(),
        task=context.task,
        task_type=options.task_type,
        labels=options.labels,
        columns=options.columns,
    )
