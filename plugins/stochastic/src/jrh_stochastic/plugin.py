"""Declare the perturber `stochastic`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import PerturberSpec, hookimpl

from jrh_stochastic.options import StochasticOptions

JRH_API_VERSION = 2

_STARTER = """\
# The identical question, five times: does a judge agree with itself?
- stochastic: {repeats: 5}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="stochastic",
        summary="repeats the identical question over seeds and temperatures",
        options=StochasticOptions,
        factory="jrh_stochastic.perturber:build",
        starter=_STARTER,
    )
