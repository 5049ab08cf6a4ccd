"""Declare the perturber `misspelling`: jrh imports this file at every start, and no work."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import PerturberSpec, hookimpl

from jrh_typos.options import MisspellingOptions

JRH_API_VERSION = 2

_STARTER = """\
# The response misspelt at two rates: a reliable judge of content keeps its verdict.
- misspelling: {variants: [keyboard, ocr], strengths: [0.05, 0.2]}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        # Not `typos`: the perturber of jrh-format has that name, and a suite would have to name the distribution.
        name="misspelling",
        summary="misspelt words at stated rates: keyboard slips, OCR, case, homophones, look-alike letters",
        options=MisspellingOptions,
        factory="jrh_typos.misspelling:build",
        starter=_STARTER,
    )
