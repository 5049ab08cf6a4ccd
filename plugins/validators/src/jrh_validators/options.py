"""What a suite can say about the validators."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import and_, ge, le, optional
from jrh import ModelName, ParserName, Text, ValidatorName


@frozen(kw_only=True)
class LabelOptions:
    """Options of `llm-label`."""

    model: ModelName = field(metadata={"help": "the model of the suite's `models` that applies the rubric"})
    parser: ParserName = field(default=ParserName("auto"), metadata={"help": "the parser that reads its reply"})
    prompt: Text | None = field(
        default=None,
        metadata={"help": "Jinja2 template of the question; variables: task, labels, fields, mark, item fields"},
    )
    attempts: int = field(
        default=3,
        validator=and_(ge(1), le(10)),
        metadata={"help": "times it is asked at most until a label can be read"},
    )


@frozen(kw_only=True)
class EquivalenceOptions:
    """Options of `llm-equivalence`."""

    model: ModelName = field(metadata={"help": "the model of the suite's `models` that compares the texts"})
    prompt: Text | None = field(
        default=None,
        metadata={"help": "Jinja2 template of the question; variables: first, second, option_a, option_b, task, mark"},
    )
    attempts: int = field(
        default=3,
        validator=and_(ge(1), le(10)),
        metadata={"help": "times each order is asked at most until an answer can be read"},
    )


class Rule(Enum):
    """How many voters have to accept."""

    MAJORITY = "majority"
    """More than half of all voters."""
    UNANIMOUS = "unanimous"
    """All of them."""
    AT_LEAST = "at-least"
    """At least `k` of them."""


@frozen(kw_only=True)
class ConsensusOptions:
    """Options of `consensus`."""

    equivalence_by: tuple[ModelName, ...] = field(
        default=(), metadata={"help": "models that vote with llm-equivalence, one voter each"}
    )
    label_by: tuple[ModelName, ...] = field(
        default=(), metadata={"help": "models that vote with llm-label, one voter each"}
    )
    validators: tuple[ValidatorName, ...] = field(
        default=(), metadata={"help": "validators that vote with their default options, such as rules"}
    )
    rule: Rule = field(
        default=Rule.MAJORITY,
        metadata={"help": "`majority` (more than half of all voters), `unanimous`, or `at-least` k of them"},
    )
    k: int | None = field(
        default=None, validator=optional(ge(1)), metadata={"help": "for `rule: at-least`: how many have to accept"}
    )

    def __attrs_post_init__(self) -> None:
        """Reject a `k` without its rule and the rule without its `k`."""
        if (self.rule is Rule.AT_LEAST) != (self.k is not None):
            raise ValueError("'k' belongs to `rule: at-least`, and is needed there")


def _ratio(instance: object, attribute: Attribute[Any], value: tuple[float, float]) -> None:  # noqa: ARG001
    low, high = value
    if not 0 <= low <= high:
        raise ValueError(f"'{attribute.name}' is [low, high] with 0 <= low <= high, got [{low}, {high}]")


@frozen(kw_only=True)
class RulesOptions:
    """Options of `rules`: what has to hold."""

    words: bool = field(default=False, metadata={"help": "the same words in the same order"})
    numbers: bool = field(default=True, metadata={"help": "the same numbers, each as often"})
    names: bool = field(default=True, metadata={"help": "the same names (capitalised words inside sentences)"})
    negations: bool = field(default=True, metadata={"help": "as many English negations"})
    repeats: bool = field(
        default=False,
        metadata={"help": "saying a number or a negation more often than the item does is fine; losing one is not"},
    )
    language: bool = field(default=True, metadata={"help": "the same script and language"})
    length_ratio: tuple[float, float] | None = field(
        default=None,
        validator=optional(_ratio),
        metadata={"help": "[low, high]: the words of the draft per word of the item's text"},
    )


def _cosine(instance: object, attribute: Attribute[Any], value: float | None) -> None:  # noqa: ARG001
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"'{attribute.name}' is above 0 and at most 1, got {value}")


@frozen(kw_only=True)
class DiversityOptions:
    """Options of `cosine-diversity`."""

    max_to_seeds: float | None = field(
        default=0.95,
        validator=_cosine,
        metadata={"help": "highest cosine similarity to any item's own text; none: no limit"},
    )
    max_to_kept: float | None = field(
        default=0.95,
        validator=_cosine,
        metadata={"help": "highest cosine similarity to any draft kept before; none: no limit"},
    )
    encoder: str | None = field(
        default=None,
        metadata={
            "help": "a sentence-transformers model, by name or as a directory beside the suite; "
            "none: TF-IDF, which downloads nothing; needs jrh-validators[embeddings]"
        },
    )
