"""Declare the perturber `synthetic-ordinal`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Mode, PerturberSpec, Scope, hookimpl

from jrh_synthetic_ordinal.options import SyntheticOrdinalOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="synthetic-ordinal",
        summary="new responses written to reach every level of an ordinal scale",
        options=SyntheticOrdinalOptions,
        factory="jrh_synthetic_ordinal.building:build",
        scope=Scope.SET,
        modes=frozenset({Mode.POINTWISE}),
        whole_data=True,
    )
