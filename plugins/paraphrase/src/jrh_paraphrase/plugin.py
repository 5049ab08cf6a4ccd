"""What the plugin declares: the perturber `paraphrase`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, Mode, PerturberSpec, hookimpl
from jrh.plugins import Perturber

from jrh_paraphrase.options import ParaphraseOptions

_STARTER = """\
# The same meaning in other words, by closed rules; with `model:` a model writes it.
- paraphrase: {}
"""


def _perturber(options: ParaphraseOptions, context: BuildContext) -> Perturber:
    from jrh_paraphrase.perturber import build

    return build(options, context)


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="paraphrase",
        summary="other words and sentences, same meaning and facts; by closed rules or by a model",
        options=ParaphraseOptions,
        factory=_perturber,
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
        starter=_STARTER,
    )
