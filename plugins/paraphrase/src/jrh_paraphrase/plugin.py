"""What the plugin declares: the perturber `paraphrase`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Mode, PerturberSpec, hookimpl

from jrh_paraphrase.options import ParaphraseOptions

JRH_API_VERSION = 1

_STARTER = """\
# The same meaning in other words, by closed rules; with `model:` a model writes it.
- paraphrase: {}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="paraphrase",
        summary="other words and sentences, same meaning and facts; by closed rules or by a model",
        options=ParaphraseOptions,
        factory="jrh_paraphrase.perturber:build",
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
        starter=_STARTER,
    )
