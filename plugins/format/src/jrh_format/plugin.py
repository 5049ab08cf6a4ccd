"""Declare the perturber `format` and the validator `words-unchanged`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import PerturberSpec, ValidatorSpec, hookimpl

from jrh_format.options import FormatOptions

JRH_API_VERSION = 2

_STARTER = """\
# Same words, different layout: a reliable judge keeps its verdict.
- format: {variants: [blank-lines, spaces, indent, bullets]}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="format",
        summary="layout changes that keep every word: blank lines, spaces, indentation, wrapping, Markdown",
        options=FormatOptions,
        factory="jrh_format.perturber:build",
        validators=("words-unchanged",),
        starter=_STARTER,
    )


@hookimpl
def jrh_validators() -> Iterable[ValidatorSpec]:
    """Declare the validator."""
    yield ValidatorSpec(
        name="words-unchanged",
        summary="accepts a draft only if its words are exactly the item's, in the same order",
        factory="jrh_format.words_unchanged:WordsUnchanged",
    )
