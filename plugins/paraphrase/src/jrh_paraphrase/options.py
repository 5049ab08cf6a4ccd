"""What a suite can say about the paraphrase test."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import and_, deep_iterable, ge, gt, le, min_len
from jrh import ModelName, Text, ValidatorName
from jrh.authoring import WrittenBy, distinct


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
    if not 0 < low <= 1 <= high:
        raise ValueError(f"'{attribute.name}' is [low, high] with 0 < low <= 1 <= high, got [{low}, {high}]")


@frozen(kw_only=True)
class ParaphraseOptions:
    """Options of the perturber `paraphrase`."""

    model: ModelName | None = field(
        default=None, metadata={"help": "the model of the suite's `models` that writes; none: rules make the text"}
    )
    by: WrittenBy | None = field(
        default=None, metadata={"help": "`rules` or `model`; default: `model` where one is given, otherwise `rules`"}
    )
    rewrites: tuple[Rewrite, ...] = field(
        default=tuple(Rewrite),
        validator=[min_len(1), distinct],
        metadata={"help": f"by rules: the kinds of swaps; default: {', '.join(kind.value for kind in Rewrite)}"},
    )
    strengths: tuple[float, ...] = field(
        default=(1.0,),
        validator=[min_len(1), distinct, deep_iterable(member_validator=[gt(0), le(1)])],
        metadata={"help": "by rules: shares of the possible swaps to make, each above 0 and at most 1"},
    )
    prompt: Text | None = field(
        default=None, metadata={"help": "by a model: Jinja2 template; variables: text, request, task, mark"}
    )
    temperature: float = field(
        default=0.7, validator=and_(ge(0.0), le(2.0)), metadata={"help": "by a model: sampling temperature"}
    )
    attempts: int = field(
        default=3,
        validator=and_(ge(1), le(20)),
        metadata={"help": "by a model: texts asked for at most until one can be used"},
    )
    length_ratio: tuple[float, float] = field(
        default=(0.5, 2.0),
        validator=_ratio,
        metadata={"help": "by a model: [low, high], the words of the new text per word of the old one"},
    )
    checks: tuple[ValidatorName, ...] = field(
        default=(ValidatorName("jrh-validators/rules"),),
        validator=distinct,
        metadata={"help": "validators, with their defaults, that every new text has to pass before it is a draft"},
    )
