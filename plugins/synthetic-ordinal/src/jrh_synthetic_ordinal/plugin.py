"""What the plugin declares: the perturber `synthetic-ordinal`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, Mode, PerturberSpec, Scope, hookimpl
from jrh.plugins import SetPerturber

from jrh_synthetic_ordinal.options import SyntheticOrdinalOptions


def _perturber(options: SyntheticOrdinalOptions, context: BuildContext) -> SetPerturber:
    from jrh_synthetic_ordinal.building import build

    return build(options, context)


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="synthetic-ordinal",
        summary="new responses written to reach every level of an ordinal scale",
        options=SyntheticOrdinalOptions,
        factory=_perturber,
        scope=Scope.SET,
        modes=frozenset({Mode.POINTWISE}),
    )
