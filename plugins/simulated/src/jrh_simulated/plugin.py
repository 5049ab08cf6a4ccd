"""Declarations: the simulated judge and the simulated chat model."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, ChatModel, JudgeKind, JudgeSpec, ModelSpec, hookimpl
from jrh.plugins import SimulatedJudge

from jrh_simulated.options import JudgeOptions, ModelOptions

_STARTER = """\
- judge: simulated # made-up answers with planted defects: shows what the numbers look like when you know the truth
  name: simulated-flawed
  accuracy: 0.85 # right on 85 % of the items
  format_sensitivity: 0.10 # 10 % of the answers change when only the layout does
  rerun_noise: 0.05 # 5 % of the answers are drawn anew each time
"""


def _build_judge(options: JudgeOptions, context: BuildContext) -> SimulatedJudge:
    from jrh_simulated.judge import PlantedJudge

    return PlantedJudge.build(options, context)


def _build_model(options: ModelOptions, context: BuildContext) -> ChatModel:
    from jrh_simulated.model import MadeUpModel

    return MadeUpModel(options, seed=context.seed("simulated-model"))


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the simulated judge."""
    yield JudgeSpec(
        name="simulated",
        summary="made-up answers with planted defects of known size (simulated)",
        options=JudgeOptions,
        factory=_build_judge,
        kind=JudgeKind.SIMULATED,
        starter=_STARTER,
    )


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the simulated chat model."""
    yield ModelSpec(
        name="simulated",
        summary="a chat model whose replies are made up (simulated)",
        options=ModelOptions,
        factory=_build_model,
        simulated=True,
    )
