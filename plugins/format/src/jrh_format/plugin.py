"""Declare the perturbers `format` and `typos`, and what proves that they changed nothing else."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import PerturberSpec, ValidatorSpec, hookimpl

from jrh_format.options import FormatOptions, TypoOptions

JRH_API_VERSION = 2

_STARTER = """\
# Same words, different layout: a reliable judge keeps its verdict.
- format: {variants: [blank-lines, spaces, indent, bullets]}
"""

_TYPOS = """\
# Typing errors in 2% and 10% of the words: a reliable judge of content keeps its verdict.
- typos: {strengths: [0.02, 0.1]}
"""


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturbers."""
    yield PerturberSpec(
        name="format",
        summary="layout changes that keep every word: blank lines, spaces, indentation, wrapping, Markdown",
        options=FormatOptions,
        factory="jrh_format.perturber:build",
        validators=("words-unchanged",),
        starter=_STARTER,
    )
    yield PerturberSpec(
        name="typos",
        summary="typing errors at stated rates: exchanged, missing, doubled and neighbouring letters",
        options=TypoOptions,
        factory="jrh_format.perturber:build_typos",
        validators=("one-typo-per-word",),
        starter=_TYPOS,
    )


@hookimpl
def jrh_validators() -> Iterable[ValidatorSpec]:
    """Declare the validators."""
    yield ValidatorSpec(
        name="one-typo-per-word",
        summary="accepts a draft only if it differs from the item in single typing errors inside of words",
        factory="jrh_format.typos:OneTypoPerWord",
    )
    yield ValidatorSpec(
        name="words-unchanged",
        summary="accepts a draft only if its words are exactly the item's, in the same order",
        factory="jrh_format.words_unchanged:WordsUnchanged",
    )
