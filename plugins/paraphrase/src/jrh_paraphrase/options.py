"""Define the options of the paraphrase test."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import and_, deep_iterable, ge, gt, le, min_len, optional
from jrh import ModelName, Text, ValidatorName
from jrh_authoring import WrittenBy, distinct


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
        raise ValueError(f"'{attribute.name}' must be [low, high] with 0 < low <= 1 <= high, got [{low}, {high}]")


@frozen(kw_only=True)
class ParaphraseOptions:
    """Options of the perturber `paraphrase`."""

    model: ModelName | None = field(
        default=None, metadata={"help": "model that writes: a name from the suite's `models`; default: rules write"}
    )
    by: WrittenBy | None = field(
        default=None, metadata={"help": "`rules` or `model`; default: `model` if one is given, otherwise `rules`"}
    )
    rewrites: tuple[Rewrite, ...] = field(
        default=tuple(Rewrite),
        validator=[min_len(1), distinct],
        metadata={"help": f"rules: kinds of swaps; default: all ({', '.join(kind.value for kind in Rewrite)})"},
    )
    strengths: tuple[float, ...] = field(
        default=(1.0,),
        validator=[min_len(1), distinct, deep_iterable(member_validator=[gt(0), le(1)])],
        metadata={"help": "rules: shares of the possible swaps to make, each in (0, 1]"},
    )
    prompt: Text | None = field(
        default=None, metadata={"help": "model: Jinja2 prompt template; variables: text, request, task, mark"}
    )
    temperature: float | None = field(
        default=0.7,
        validator=optional(and_(ge(0.0), le(2.0))),  # type: ignore[arg-type] # the default is no None
        metadata={"help": "model: sampling temperature; null: the model's setting in the suite"},
    )
    attempts: int = field(
        default=3,
        validator=and_(ge(1), le(20)),
        metadata={"help": "model: attempts per text until one is usable"},
    )
    length_ratio: tuple[float, float] = field(
        default=(0.5, 2.0),
        validator=_ratio,
        metadata={"help": "model: [low, high] ratio of words in the new text to words in the old one"},
    )
    checks: tuple[ValidatorName, ...] = field(
        default=(ValidatorName("jrh-validators/rules"),),
        validator=distinct,
        metadata={"help": "validators, with default options, that a new text must pass to become a draft"},
    )
