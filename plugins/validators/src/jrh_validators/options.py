"""Define the options of the validators."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import and_, ge, le, optional
from jrh import ModelName, ParserName, Text, ValidatorName


@frozen(kw_only=True)
class LabelOptions:
    """Options of `llm-label`."""

    model: ModelName = field(metadata={"help": "model that applies the rubric: a name from the suite's `models`"})
    parser: ParserName = field(default=ParserName("auto"), metadata={"help": "the parser that reads its reply"})
    prompt: Text | None = field(
        default=None,
        metadata={"help": "Jinja2 prompt template; variables: task, labels, fields, mark, item fields"},
    )
    attempts: int = field(
        default=3,
        validator=and_(ge(1), le(10)),
        metadata={"help": "attempts until a label can be read"},
    )


@frozen(kw_only=True)
class EquivalenceOptions:
    """Options of `llm-equivalence`."""

    model: ModelName = field(metadata={"help": "model that compares the texts: a name from the suite's `models`"})
    prompt: Text | None = field(
        default=None,
        metadata={"help": "Jinja2 prompt template; variables: first, second, option_a, option_b, task, mark"},
    )
    attempts: int = field(
        default=3,
        validator=and_(ge(1), le(10)),
        metadata={"help": "attempts per order until an answer can be read"},
    )


class Rule(Enum):
    """How many voters must accept."""

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
    labels: Text | None = field(
        default=None,
        metadata={
            "help": "{file: name}: a csv table of labels by people, who vote as `people`: columns variant (of a "
            "template: its name), label (YES, NO or UNSURE) and, for labels of one item, item"
        },
    )
    rule: Rule = field(
        default=Rule.MAJORITY,
        metadata={"help": "`majority` (more than half of all voters), `unanimous`, or `at-least` k of them"},
    )
    k: int | None = field(
        default=None, validator=optional(ge(1)), metadata={"help": "for `rule: at-least`: how many voters must accept"}
    )

    def __attrs_post_init__(self) -> None:
        """Reject a `k` without its rule and the rule without its `k`."""
        if (self.rule is Rule.AT_LEAST) != (self.k is not None):
            raise ValueError("'k' is required with `rule: at-least` and not allowed otherwise")


@frozen(kw_only=True)
class FallbackOptions:
    """Options of `fallback`: who is asked, in this order."""

    equivalence_by: tuple[ModelName, ...] = field(
        default=(), metadata={"help": "models asked with llm-equivalence, in this order"}
    )
    label_by: tuple[ModelName, ...] = field(
        default=(), metadata={"help": "models asked with llm-label, in this order, after those of `equivalence_by`"}
    )
    validators: tuple[ValidatorName, ...] = field(
        default=(), metadata={"help": "validators asked last, with their default options"}
    )


def _ratio(instance: object, attribute: Attribute[Any], value: tuple[float, float]) -> None:  # noqa: ARG001
    low, high = value
    if not 0 <= low <= high:
        raise ValueError(f"'{attribute.name}' must be [low, high] with 0 <= low <= high, got [{low}, {high}]")


@frozen(kw_only=True)
class RulesOptions:
    """Options of `rules`: the properties that a draft must keep."""

    words: bool = field(default=False, metadata={"help": "the same words in the same order"})
    numbers: bool = field(default=True, metadata={"help": "the same numbers, equally often"})
    names: bool = field(default=True, metadata={"help": "the same names (capitalised words inside sentences)"})
    negations: bool = field(default=True, metadata={"help": "the same number of English negations"})
    repeats: bool = field(
        default=False,
        metadata={"help": "allow numbers and negations to be repeated, but not lost"},
    )
    language: bool = field(default=True, metadata={"help": "the same script and language"})
    length_ratio: tuple[float, float] | None = field(
        default=None,
        validator=optional(_ratio),
        metadata={"help": "[low, high] ratio of words in the draft to words in the item's text"},
    )


def _cosine(instance: object, attribute: Attribute[Any], value: float | None) -> None:  # noqa: ARG001
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"'{attribute.name}' must be above 0 and at most 1, got {value}")


@frozen(kw_only=True)
class DiversityOptions:
    """Options of `cosine-diversity`."""

    max_to_seeds: float | None = field(
        default=0.95,
        validator=_cosine,
        metadata={"help": "highest cosine similarity to any item's text; null: no limit"},
    )
    max_to_kept: float | None = field(
        default=0.95,
        validator=_cosine,
        metadata={"help": "highest cosine similarity to any draft already kept; null: no limit"},
    )
    encoder: str | None = field(
        default=None,
        metadata={
            "help": "a sentence-transformers model, as a name or a directory relative to the suite; needs "
            "jrh-validators[embeddings]; default: TF-IDF, which downloads nothing"
        },
    )


@frozen(kw_only=True)
class SimilarityOptions:
    """Options of `cosine-similarity`."""

    min_to_original: float = field(
        default=0.5,
        validator=_cosine,
        metadata={"help": "lowest cosine similarity of a changed text, or prompt template, to what it replaces"},
    )
    encoder: str | None = field(
        default=None,
        metadata={
            "help": "a sentence-transformers model, as a name or a directory relative to the suite; needs "
            "jrh-validators[embeddings]; default: TF-IDF, which downloads nothing"
        },
    )
