"""What the plugin declares: the perturber `verbosity`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, Mode, PerturberSpec, hookimpl
from jrh.plugins import Perturber

from jrh_verbosity.options import VerbosityOptions

_STARTER = """\
# The same facts in fewer and in more words, by closed rules; with `model:` a model writes it.
- verbosity: {}
"""


def _perturber(options: VerbosityOptions, context: BuildContext) -> Perturber:
    from jrh_verbosity.perturber import build

    return build(options, context)


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="verbosity",
        summary="the same facts in fewer or in more words; by closed rules or by a model",
        options=VerbosityOptions,
        factory=_perturber,
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
        starter=_STARTER,
    )
