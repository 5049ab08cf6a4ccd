"""Declaration: the baseline judge."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, JrhError, JudgeKind, JudgeSpec, Mode, hookimpl
from jrh.plugins import TrainedJudge

from jrh_baseline.options import BaselineOptions

_STARTER = """\
- baseline # learns from the labels of the other folds; what an LLM judge has to beat
"""
_PAIR = 2


def _build(options: BaselineOptions, context: BuildContext) -> TrainedJudge:
    task, options_shown = context.task, len(context.task.scale.options)
    if task.mode is Mode.PAIRWISE and options_shown != _PAIR:
        raise JrhError(
            f"baseline: task '{task.name}' is pairwise, but its scale has {options_shown} labels beside the tie; "
            "give it the scale `{pairwise: true}`"
        )
    from jrh_baseline.judge import Baseline

    return Baseline(options=options, task=task)


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the baseline judge."""
    yield JudgeSpec(
        name="baseline",
        summary="cross-fitted TF-IDF and style statistics; no key, no network, does not read the prompt",
        options=BaselineOptions,
        factory=_build,
        kind=JudgeKind.TRAINED,
        reads_prompt=False,
        starter=_STARTER,
    )
