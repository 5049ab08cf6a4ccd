"""Declare the simulated judge and the simulated chat model."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import JudgeKind, JudgeSpec, ModelSpec, hookimpl

from jrh_simulated.options import JudgeOptions, ModelOptions

JRH_API_VERSION = 2

_STARTER = """\
- judge: simulated # planted defects of known size, no model: see what the numbers look like when you know the truth
  name: simulated-flawed
  accuracy: 0.85 # right on 85% of the items
  format_sensitivity: 0.10 # 10% of the answers change when only the layout does
  rerun_noise: 0.05 # 5% of the answers are random on every call
"""


@hookimpl
def jrh_judges() -> Iterable[JudgeSpec]:
    """Declare the simulated judge."""
    yield JudgeSpec(
        name="simulated",
        summary="simulated judge: planted defects of known size, no model",
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
        summary="simulated chat model: made-up replies, no network",
        options=ModelOptions,
        factory="jrh_simulated.model:MadeUpModel.build",
        simulated=True,
    )
