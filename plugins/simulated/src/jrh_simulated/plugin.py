"""Declarations: the simulated judge and the simulated chat model."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import JudgeKind, JudgeSpec, ModelSpec, hookimpl

from jrh_simulated.options import JudgeOptions, ModelOptions

JRH_API_VERSION = 1

_STARTER = """\
- judge: simulated # made-up answers with planted defects: shows what the numbers look like when you know the truth
  name: simulated-flawed
  accuracy: 0.85 # right on 85 % of the items
  format_sensitivity: 0.10 # 10 % of the answers change when only the layout does
  rerun_noise: 0.05 # 5 % of the answers are drawn anew each time
"""


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the simulated judge."""
    yield JudgeSpec(
        name="simulated",
        summary="made-up answers with planted defects of known size (simulated)",
        options=JudgeOptions,
        factory="jrh_simulated.judge:PlantedJudge.build",
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
        factory="jrh_simulated.model:MadeUpModel.build",
        simulated=True,
    )
