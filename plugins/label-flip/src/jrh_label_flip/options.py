"""Define the options of the label-flip test."""

from __future__ import annotations

from enum import Enum
from typing import Final

from attrs import frozen
from attrs.validators import deep_iterable, ge, le, min_len
from jrh import ModelName, Text
from jrh.plugins import option
from jrh_authoring import WrittenBy, by_option, distinct, temperature_option


class Error(Enum):
    """The kinds of error, by the name a suite gives them."""

    FLIP = "flip"
    """Any change that makes the target label right."""
    NEGATION = "negation"
    """A statement is negated, or a negation removed."""
    ANTONYM = "antonym"
    """A word becomes its opposite."""
    NUMBER = "number"
    """A number is replaced by a wrong one."""
    CALCULATION = "calculation"
    """The result of a calculation is wrong."""
    UNIT = "unit"
    """A quantity has a wrong unit."""
    DATE = "date"
    """A year or the month of a date is replaced by a wrong one."""
    ENTITY = "entity"
    """Two names are swapped, or a name is replaced by another."""
    OPPOSITE_FACT = "opposite-fact"
    """A fact is stated as its opposite."""
    CONSISTENCY = "consistency"
    """The response contradicts itself."""
    REMOVED_FACT = "removed-fact"
    """A fact is left out."""
    SEQUENCE = "sequence"
    """Steps or sentences are in the wrong order."""
    SPELLING = "spelling"
    """Words are misspelt."""
    GRAMMAR = "grammar"
    """Verbs do not agree with their subjects."""
    ASSUMPTION = "assumption"
    """A wrong assumption is made."""
    CONTEXTUAL = "contextual"
    """Something unrelated to the request is added."""
    COMPREHENSIVENESS = "comprehensiveness"
    """Something that a complete answer needs is vague or missing."""
    DO_LESS = "do-less"
    """Less is done than was asked."""
    DO_MORE = "do-more"
    """More is done than was asked."""
    IGNORED_FORMAT = "ignored-format"
    """The requested format is not followed."""


FALSE_STATEMENTS: Final = (
    Error.NEGATION,
    Error.ANTONYM,
    Error.NUMBER,
    Error.CALCULATION,
    Error.UNIT,
    Error.DATE,
    Error.ENTITY,
    Error.CONSISTENCY,
)
"""Rule-made errors that add something false to a right response."""
STRUCTURE: Final = (Error.REMOVED_FACT, Error.SEQUENCE)
"""Rule-made errors in completeness and order."""
FORM: Final = (Error.SPELLING, Error.GRAMMAR)
"""Rule-made errors that leave the meaning unchanged."""
NEVER_BETTER: Final = (Error.CALCULATION, Error.CONSISTENCY, *FORM)
"""Rule-made errors that only replace something right, so they cannot improve even a poor response."""
BY_RULES: Final = (*FALSE_STATEMENTS, *STRUCTURE, *FORM)
"""All rule-made errors."""


class Damage(Enum):
    """Which response of a pair is rewritten."""

    PREFERRED = "preferred"
    """The better one, so that the other one wins."""
    OTHER = "other"
    """The worse one; the better one must still win."""


@frozen(kw_only=True)
class LabelFlipOptions:
    """Options of the perturber `label-flip`."""

    variants: tuple[Error, ...] = option(
        "kinds of error; default: `flip` with a model, otherwise all that rules can make on the task's "
        f"scale; rules make {', '.join(error.value for error in BY_RULES)}; "
        f"a model makes all of {', '.join(error.value for error in Error)}",
        distinct,
        default=(),
    )
    errors: tuple[int, ...] = option(
        "numbers of errors to plant; one case per number, which is the case's strength",
        min_len(1),
        distinct,
        deep_iterable(member_validator=[ge(1), le(20)]),
        default=(1,),
    )
    positive: str | None = option("the label of a right response; default: the first on the scale", default=None)
    target: str | None = option(
        "the label the rewritten response should get; required for more than two labels; default: the "
        "other of two labels, or on an ordinal scale 'not above the unchanged response'",
        default=None,
    )
    damage: Damage | None = option(
        "pairwise tasks: rewrite the `preferred` response or the `other`; default: `preferred` with a "
        "model, `other` by rules, which cannot ensure that an error makes the better response the worse one",
        default=None,
    )
    by: WrittenBy | None = by_option()
    model: ModelName | None = option("model that rewrites the response: a name from the suite's `models`", default=None)
    prompt: Text | None = option(
        "Jinja2 prompt template, text or {file: name}; variables: task, request, response, other, target, "
        "error, description, count, mark; default: the built-in one",
        default=None,
    )
    temperature: float | None = temperature_option(
        "sampling temperature, 0 to 2; default: the model's setting in the suite"
    )
    attempts: int = option("attempts per rewrite", ge(1), le(20), default=3)
