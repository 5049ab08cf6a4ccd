"""Options of the parsers."""

from __future__ import annotations

from typing import Any

from attrs import Attribute, field, frozen
from attrs.validators import and_, ge, gt, le, min_len
from jrh import JrhError

VERDICT_KEYS = (
    "verdict",
    "final_verdict",
    "overall_verdict",
    "final_score",
    "final_rating",
    "overall_score",
    "overall_rating",
    "overall",
    "label",
    "decision",
    "judgment",
    "judgement",
    "score",
    "rating",
    "grade",
    "final_answer",
    "answer",
    "choice",
    "preference",
    "winner",
    "result",
)
"""Keys a JSON verdict is looked for under, most telling first."""

RATIONALE_KEYS = ("rationale", "reason", "reasons", "reasoning", "explanation", "justification", "analysis", "comment")
"""Keys a JSON rationale is looked for under."""


def _distinct(_instance: object, attribute: Attribute[Any], value: tuple[str, ...]) -> None:
    folded = [key.casefold() for key in value]
    if len(set(folded)) != len(folded) or not all(key.strip() for key in value):
        raise JrhError(f"{attribute.name}: keys have to be distinct and not empty, upper and lower case are the same")


@frozen(kw_only=True)
class JsonOptions:
    """Where a JSON verdict stands."""

    keys: tuple[str, ...] = field(
        default=VERDICT_KEYS,
        validator=and_(min_len(1), _distinct),
        metadata={"help": "keys of the verdict, the first one present counts; case does not matter"},
    )
    rationale_keys: tuple[str, ...] = field(
        default=RATIONALE_KEYS,
        validator=_distinct,
        metadata={"help": "keys of the reasons, the first one present counts; case does not matter"},
    )


@frozen(kw_only=True)
class PairwiseOptions:
    """What counts as a choice between two options."""

    comparatives: bool = field(
        default=True,
        metadata={
            "help": "read 'B is better than A' as B; switch off where a template asks which option is the worse one"
        },
    )


@frozen(kw_only=True)
class WeightedOptions:
    """When token probabilities count."""

    min_mass: float = field(
        default=0.5,
        validator=and_(gt(0.0), le(1.0)),
        metadata={
            "help": "least probability that the levels of the scale must have together at the place of the score"
        },
    )
    fallback: bool = field(
        default=False,
        metadata={"help": "read the text as `likert` does where there are no usable token probabilities"},
    )
    max_positions: int = field(
        default=64,
        validator=ge(1),
        metadata={"help": "longest reply in tokens that is looked at; the score has to stand nearly alone"},
    )
