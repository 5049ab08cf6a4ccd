"""Declare the components of the plugin."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import JudgeSpec, MetricSpec, Mode, hookimpl
from jrh.plugins import KindSpec, RuleSpec, SectionSpec
from jrh_measuring import read_metrics, read_sections

from jrh_reward.options import AUC, SHIFT, ClassifierOptions, ScoreFunctionOptions, ScoreHttpOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the judges."""
    yield JudgeSpec(
        name="score-function",
        summary="your own Python callable that returns a number for a response, such as a reward model",
        options=ScoreFunctionOptions,
        factory="jrh_reward.judges:function_judge",
        reads_prompt=False,
    )
    yield JudgeSpec(
        name="score-http",
        summary="your own HTTP endpoint that returns a number for a response",
        options=ScoreHttpOptions,
        factory="jrh_reward.judges:http_judge",
        reads_prompt=False,
    )
    yield JudgeSpec(
        name="score-classifier",
        summary="a sequence classifier of transformers, such as a published reward model",
        options=ClassifierOptions,
        factory="jrh_reward.judges:classifier_judge",
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
        reads_prompt=False,
    )


@hookimpl
def jrh_metrics() -> Iterable[MetricSpec]:
    """Declare the metric."""
    return read_metrics("jrh_reward")


@hookimpl
def jrh_findings() -> Iterable[RuleSpec]:
    """Declare the rule."""
    yield RuleSpec(
        name="scores",
        summary="whether scores tell right from wrong, and which tests move them",
        reads=(AUC, SHIFT),
        kinds=(
            *(KindSpec(name=f"scores-{what}", order=240) for what in ("order", "inverted", "undecided")),
            # Shifts below a tenth of a standard deviation are no defect, however significant they are.
            KindSpec(name="scores-shift", order=250, floored=True, floor=0.1),
        ),
        factory="jrh_reward.rules:Scores",
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section."""
    return read_sections("jrh_reward")
