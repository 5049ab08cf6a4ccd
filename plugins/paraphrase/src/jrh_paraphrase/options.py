"""Define the options of the paraphrase test."""

from __future__ import annotations

from enum import Enum
from typing import Any, ClassVar

from attrs import Attribute, frozen
from attrs.validators import ge, le, min_len
from jrh import ModelName, Text, ValidatorName
from jrh.plugins import option
from jrh_authoring import WrittenBy, by_option, checks_option, distinct, strengths_option, temperature_option


class Rewrite(Enum):
    """The kinds of swaps the rules know."""

    CONTRACTIONS = "contractions"
    """`they do not` and `they don't`, `it is a` and `it's a`."""
    PHRASES = "phrases"
    """`in order to` becomes `to`; `for example` and `for instance`."""
    CONNECTIVES = "connectives"
    """`Furthermore,` and `Moreover,` at the beginning of a sentence."""
    PRONOUNS = "pronouns"
    """`everyone` and `everybody`; `each other` and `one another`."""
    NUMBERS = "numbers"
    """`3 parts` and `three parts`; `5%` and `5 percent`."""


def _ratio(instance: object, attribute: Attribute[Any], value: tuple[float, float]) -> None:  # noqa: ARG001
    low, high = value
    # The length of the text itself has to be allowed: a good paraphrase need be neither shorter nor longer.
    if not 0 < low <= 1 <= high:
        raise ValueError(f"'{attribute.name}' must be [low, high] with 0 < low <= 1 <= high, got [{low}, {high}]")


@frozen(kw_only=True)
class ParaphraseOptions:
    """Options of the perturber `paraphrase`."""

    variants: ClassVar = (WrittenBy.RULES,)
    """The variants that rules make."""
    model: ModelName | None = option(
        "model that writes: a name from the suite's `models`; default: rules write", default=None
    )
    by: WrittenBy | None = by_option()
    rewrites: tuple[Rewrite, ...] = option(
        f"rules: kinds of swaps; default: all ({', '.join(kind.value for kind in Rewrite)})",
        min_len(1),
        distinct,
        default=tuple(Rewrite),
    )
    strengths: tuple[float, ...] = strengths_option("rules: shares of the possible swaps to make, each in (0, 1]")
    prompt: Text | None = option("model: Jinja2 prompt template; variables: text, request, task, mark", default=None)
    temperature: float | None = temperature_option(
        "model: sampling temperature; null: the model's setting in the suite", 0.7
    )
    attempts: int = option("model: attempts per text until one is usable", ge(1), le(20), default=3)
    length_ratio: tuple[float, float] = option(
        "model: [low, high] ratio of words in the new text to words in the old one", _ratio, default=(0.5, 2.0)
    )
    # Whoever wrote the text: by default `rules` proves that numbers, names, negations and language are unchanged.
    checks: tuple[ValidatorName, ...] = checks_option("jrh-validators/rules")
