"""What a suite can say about the label-flip test."""

from __future__ import annotations

from enum import Enum
from typing import Final

from attrs import field, frozen
from attrs.validators import deep_iterable, ge, le, min_len, optional
from jrh import ModelName, Text
from jrh.authoring import WrittenBy, distinct


class Error(Enum):
    """The kinds of error, by the name a suite gives them."""

    FLIP = "flip"
    """Whatever makes the wanted label right."""
    NEGATION = "negation"
    """A statement is negated, or a negation taken away."""
    ANTONYM = "antonym"
    """A word becomes its opposite."""
    NUMBER = "number"
    """A number is another one."""
    CALCULATION = "calculation"
    """The result of a calculation is wrong."""
    UNIT = "unit"
    """A quantity has a wrong unit."""
    DATE = "date"
    """A year or the month of a date is another one."""
    ENTITY = "entity"
    """Names change places, or another name stands where one was."""
    OPPOSITE_FACT = "opposite-fact"
    """A fact is stated as its opposite."""
    CONSISTENCY = "consistency"
    """The response contradicts itself."""
    REMOVED_FACT = "removed-fact"
    """A fact is left out."""
    SEQUENCE = "sequence"
    """Steps or sentences stand in the wrong order."""
    SPELLING = "spelling"
    """Words are misspelt."""
    GRAMMAR = "grammar"
    """Verbs do not agree with their subjects."""
    ASSUMPTION = "assumption"
    """A wrong assumption is made."""
    CONTEXTUAL = "contextual"
    """Something that does not belong to the request is brought in."""
    COMPREHENSIVENESS = "comprehensiveness"
    """What a complete answer needs is vague or missing."""
    DO_LESS = "do-less"
    """Less is done than was asked."""
    DO_MORE = "do-more"
    """More is done than was asked."""
    IGNORED_FORMAT = "ignored-format"
    """The format that was asked for is not kept."""


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
"""Errors that rules make and that put something false into a response that is right."""
STRUCTURE: Final = (Error.REMOVED_FACT, Error.SEQUENCE)
"""Errors that rules make in what is said and in which order."""
FORM: Final = (Error.SPELLING, Error.GRAMMAR)
"""Errors that rules make and that leave what is said as it is."""
NEVER_BETTER: Final = (Error.CALCULATION, Error.CONSISTENCY, *FORM)
"""Errors that rules make only where something was right, so that they improve no response, however poor."""
BY_RULES: Final = (*FALSE_STATEMENTS, *STRUCTURE, *FORM)
"""All errors that need no model."""


class Damage(Enum):
    """Which response of a pair is rewritten."""

    PREFERRED = "preferred"
    """The better one, so that the other one wins."""
    OTHER = "other"
    """The worse one; the better one has to win all the more."""


@frozen(kw_only=True)
class LabelFlipOptions:
    """Options of the perturber `label-flip`."""

    variants: tuple[Error, ...] = field(
        default=(),
        validator=distinct,
        metadata={
            "help": "the kinds of error; default: with a model `flip`, without one all that rules can make on the "
            f"task's scale; rules make {', '.join(error.value for error in BY_RULES)}; "
            f"a model makes all of {', '.join(error.value for error in Error)}"
        },
    )
    errors: tuple[int, ...] = field(
        default=(1,),
        validator=[min_len(1), distinct, deep_iterable(member_validator=[ge(1), le(20)])],
        metadata={"help": "how many errors a response gets, one case for each number; the case's strength"},
    )
    positive: str | None = field(
        default=None, metadata={"help": "the label of a response that is right; default: the first of the scale"}
    )
    target: str | None = field(
        default=None,
        metadata={
            "help": "the label the rewritten response has to get; needed for more than two labels; default: on two "
            "labels the other one, on an ordinal scale no label but 'not above the unchanged response'"
        },
    )
    damage: Damage | None = field(
        default=None,
        metadata={
            "help": "pairs: rewrite the `preferred` response or the `other`; default: with a model `preferred`, by "
            "rules `other`, since no rule can tell that an error makes the better response the worse one"
        },
    )
    by: WrittenBy | None = field(
        default=None, metadata={"help": "`rules` or `model`; default: the model if one is named, else rules"}
    )
    model: ModelName | None = field(default=None, metadata={"help": "the suite's model that rewrites the response"})
    prompt: Text | None = field(
        default=None,
        metadata={
            "help": "Jinja2 template of the request to the model, text or {file: name}; sees task, request, response, "
            "other, target, error, description, count, mark; default: the package's"
        },
    )
    temperature: float | None = field(
        default=None,
        validator=optional([ge(0), le(2)]),
        metadata={"help": "sampling temperature of the model, from 0 to 2; default: the suite's for the model"},
    )
    attempts: int = field(
        default=3, validator=[ge(1), le(20)], metadata={"help": "how often the model is asked for one rewriting"}
    )
