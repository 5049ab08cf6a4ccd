"""Declare the perturber `paraphrase`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Mode, PerturberSpec, hookimpl

from jrh_paraphrase.options import ParaphraseOptions

JRH_API_VERSION = 2

_STARTER = """\
# Same meaning in other words, by fixed rules; with `model:` a model writes them.
- paraphrase: {}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="paraphrase",
        summary="same meaning and facts in other words, by fixed rules or by a model",
        options=ParaphraseOptions,
        factory="jrh_paraphrase.perturber:build",
        # Not transcripts: swaps are for running text, and a transcript has messages and tool calls.
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
        starter=_STARTER,
    )
