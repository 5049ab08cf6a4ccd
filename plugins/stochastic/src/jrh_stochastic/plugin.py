"""What the plugin declares: the perturber `stochastic`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, PerturberSpec, hookimpl
from jrh.plugins import Perturber

from jrh_stochastic.options import StochasticOptions

_STARTER = """\
# The identical question, five times: how far a judge agrees with itself.
- stochastic: {repeats: 5}
"""


def _perturber(options: StochasticOptions, context: BuildContext) -> Perturber:  # noqa: ARG001
    from jrh_stochastic.perturber import StochasticPerturber

    return StochasticPerturber(options=options)


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="stochastic",
        summary="the identical question again, over seeds and temperatures",
        options=StochasticOptions,
        factory=_perturber,
        starter=_STARTER,
    )
