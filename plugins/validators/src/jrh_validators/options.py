"""Define the options of the validators."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, frozen
from attrs.validators import ge, le, optional
from jrh import ModelName, ParserName, Text, ValidatorName
from jrh.plugins import option


@frozen(kw_only=True)
class LabelOptions:
    """Options of `llm-label`."""

    model: ModelName = option("model that applies the rubric: a name from the suite's `models`")
    parser: ParserName = option("the parser that reads its reply", default=ParserName("auto"))
    prompt: Text | None = option(
        "Jinja2 prompt template; variables: task, labels, fields, mark, item fields", default=None
    )
    attempts: int = option("attempts until a label can be read", ge(1), le(10), default=3)


@frozen(kw_only=True)
class EquivalenceOptions:
    """Options of `llm-equivalence`."""

    model: ModelName = option("model that compares the texts: a name from the suite's `models`")
    prompt: Text | None = option(
        "Jinja2 prompt template; variables: first, second, option_a, option_b, task, mark", default=None
    )
    attempts: int = option("attempts per order until an answer can be read", ge(1), le(10), default=3)


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

    equivalence_by: tuple[ModelName, ...] = option("models that vote with llm-equivalence, one voter each", default=())
    label_by: tuple[ModelName, ...] = option("models that vote with llm-label, one voter each", default=())
    validators: tuple[ValidatorName, ...] = option(
        "validators that vote with their default options, such as rules", default=()
    )
    labels: Text | None = option(
        "{file: name}: a csv table of labels by people, who vote as `people`: columns variant (of a "
        "template: its name), label (YES, NO or UNSURE) and, for labels of one item, item",
        default=None,
    )
    rule: Rule = option(
        "`majority` (more than half of all voters), `unanimous`, or `at-least` k of them", default=Rule.MAJORITY
    )
    k: int | None = option("for `rule: at-least`: how many voters must accept", optional(ge(1)), default=None)

    def __attrs_post_init__(self) -> None:
        """Reject a `k` without its rule and the rule without its `k`."""
        if (self.rule is Rule.AT_LEAST) != (self.k is not None):
            raise ValueError("'k' is required with `rule: at-least` and not allowed otherwise")


@frozen(kw_only=True)
class FallbackOptions:
    """Options of `fallback`: who is asked, in this order."""

    equivalence_by: tuple[ModelName, ...] = option("models asked with llm-equivalence, in this order", default=())
    label_by: tuple[ModelName, ...] = option(
        "models asked with llm-label, in this order, after those of `equivalence_by`", default=()
    )
    validators: tuple[ValidatorName, ...] = option("validators asked last, with their default options", default=())


def _ratio(instance: object, attribute: Attribute[Any], value: tuple[float, float]) -> None:  # noqa: ARG001
    low, high = value
    if not 0 <= low <= high:
        raise ValueError(f"'{attribute.name}' must be [low, high] with 0 <= low <= high, got [{low}, {high}]")


@frozen(kw_only=True)
class RulesOptions:
    """Options of `rules`: the properties that a draft must keep."""

    words: bool = option("the same words in the same order", default=False)
    numbers: bool = option("the same numbers, equally often", default=True)
    names: bool = option("the same names (capitalised words inside sentences)", default=True)
    negations: bool = option("the same number of English negations", default=True)
    repeats: bool = option("allow numbers and negations to be repeated, but not lost", default=False)
    language: bool = option("the same script and language", default=True)
    length_ratio: tuple[float, float] | None = option(
        "[low, high] ratio of words in the draft to words in the item's text", optional(_ratio), default=None
    )


def _cosine(instance: object, attribute: Attribute[Any], value: float | None) -> None:  # noqa: ARG001
    if value is not None and not 0 < value <= 1:
        raise ValueError(f"'{attribute.name}' must be above 0 and at most 1, got {value}")


@frozen(kw_only=True)
class DiversityOptions:
    """Options of `cosine-diversity`."""

    max_to_seeds: float | None = option(
        "highest cosine similarity to any item's text; null: no limit", _cosine, default=0.95
    )
    max_to_kept: float | None = option(
        "highest cosine similarity to any draft already kept; null: no limit", _cosine, default=0.95
    )
    encoder: str | None = option(
        "a sentence-transformers model, as a name or a directory relative to the suite; needs "
        "jrh-validators[embeddings]; default: TF-IDF, which downloads nothing",
        default=None,
    )


@frozen(kw_only=True)
class SimilarityOptions:
    """Options of `cosine-similarity`."""

    min_to_original: float = option(
        "lowest cosine similarity of a changed text, or prompt template, to what it replaces", _cosine, default=0.5
    )
    encoder: str | None = option(
        "a sentence-transformers model, as a name or a directory relative to the suite; needs "
        "jrh-validators[embeddings]; default: TF-IDF, which downloads nothing",
        default=None,
    )
