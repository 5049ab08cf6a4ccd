"""Declarations of the parsers."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, NoOptions, ParserSpec, hookimpl
from jrh.plugins import Parser

from jrh_parsers.options import JsonOptions, PairwiseOptions, WeightedOptions


def _build_auto(_options: NoOptions, _context: BuildContext) -> Parser:
    from jrh_parsers.parsers import AutoParser

    return AutoParser()


def _build_json(options: JsonOptions, _context: BuildContext) -> Parser:
    from jrh_parsers.parsers import JsonParser

    return JsonParser(options)


def _build_label(_options: NoOptions, _context: BuildContext) -> Parser:
    from jrh_parsers.parsers import LabelParser

    return LabelParser()


def _build_likert(_options: NoOptions, _context: BuildContext) -> Parser:
    from jrh_parsers.parsers import LikertParser

    return LikertParser()


def _build_pairwise(options: PairwiseOptions, _context: BuildContext) -> Parser:
    from jrh_parsers.parsers import PairwiseParser

    return PairwiseParser(comparatives=options.comparatives)


def _build_weighted(options: WeightedOptions, _context: BuildContext) -> Parser:
    from jrh_parsers.weighted import WeightedParser

    return WeightedParser(options)


@hookimpl
def jrh_parsers() -> Iterable[ParserSpec]:
    """Declare the parsers."""
    yield ParserSpec(
        name="auto", summary="JSON where there is a JSON verdict, otherwise by the kind of scale", factory=_build_auto
    )
    yield ParserSpec(
        name="json",
        summary="a JSON verdict, bare, in fences, or with text around it",
        options=JsonOptions,
        factory=_build_json,
    )
    yield ParserSpec(name="label", summary="one of the scale's labels in free text", factory=_build_label)
    yield ParserSpec(name="likert", summary="a level of an ordinal scale: 4, 4/5, Score: 4", factory=_build_likert)
    yield ParserSpec(
        name="pairwise",
        summary="the letter of the preferred option, or a tie",
        options=PairwiseOptions,
        factory=_build_pairwise,
    )
    yield ParserSpec(
        name="weighted",
        summary="the expected level under the token probabilities of the reply",
        options=WeightedOptions,
        factory=_build_weighted,
    )
