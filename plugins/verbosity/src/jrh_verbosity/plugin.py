"""Declare the perturber `verbosity`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Mode, PerturberSpec, hookimpl

from jrh_verbosity.options import VerbosityOptions

JRH_API_VERSION = 2

_STARTER = """\
# The same facts in fewer and in more words, by fixed rules; with `model:` a model writes them.
- verbosity: {}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="verbosity",
        summary="the same facts in fewer or more words, by fixed rules or by a model",
        options=VerbosityOptions,
        factory="jrh_verbosity.perturber:build",
        modes=frozenset({Mode.POINTWISE, Mode.PAIRWISE}),
        starter=_STARTER,
    )
