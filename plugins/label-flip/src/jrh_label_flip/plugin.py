"""Declare the perturber `label-flip`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Mode, PerturberSpec, hookimpl

from jrh_label_flip.options import LabelFlipOptions

JRH_API_VERSION = 2

_STARTER = """\
# False statements planted in right answers: a judge that reads changes its verdict. For answers graded right or wrong.
- label-flip: {variants: [negation, antonym, number, unit]}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="label-flip",
        summary="planted errors that change the right label: negations, numbers, units, names",
        options=LabelFlipOptions,
        factory="jrh_label_flip.perturber:build",
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
        starter=_STARTER,
    )
