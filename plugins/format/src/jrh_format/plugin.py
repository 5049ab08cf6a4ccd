"""What the plugin declares: the perturber `format` and the validator `words-unchanged`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, NoOptions, PerturberSpec, ValidatorSpec, hookimpl
from jrh.plugins import Perturber, Validator

from jrh_format.options import FormatOptions

_STARTER = """\
# Same words, other layout: a reliable judge does not move.
- format: {variants: [blank-lines, spaces, indent, bullets]}
"""


def _perturber(options: FormatOptions, context: BuildContext) -> Perturber:
    from jrh_format.perturber import FormatPerturber

    return FormatPerturber.of(options, context.task.mode, context.seed)


def _words_unchanged(options: NoOptions, context: BuildContext) -> Validator:  # noqa: ARG001
    from jrh_format.words_unchanged import WordsUnchanged

    return WordsUnchanged()


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    """Declare the perturber."""
    yield PerturberSpec(
        name="format",
        summary="layout changes that touch no word: blank lines, spaces, indentation, wrapping, Markdown",
        options=FormatOptions,
        factory=_perturber,
        validators=("words-unchanged",),
        starter=_STARTER,
    )


@hookimpl
def jrh_validators() -> Iterable[ValidatorSpec]:
    """Declare the validator."""
    yield ValidatorSpec(
        name="words-unchanged",
        summary="accepts a draft only if its words are the item's, in order and to the character",
        factory=_words_unchanged,
    )
