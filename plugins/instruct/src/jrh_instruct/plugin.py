"""Declare the perturber `instruct`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Mode, PerturberSpec, hookimpl

from jrh_instruct.options import InstructOptions

JRH_API_VERSION = 1


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="instruct",
        summary="a change that you describe in a sentence and a model makes, with the verdict you expect",
        options=InstructOptions,
        factory="jrh_instruct.perturber:build",
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
    )
