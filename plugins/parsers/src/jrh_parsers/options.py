"""Define the options of the parsers."""

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
"""Default keys of a JSON verdict, most specific first."""

RATIONALE_KEYS = ("rationale", "reason", "reasons", "reasoning", "explanation", "justification", "analysis", "comment")
"""Default keys of a JSON rationale."""


def _distinct(_instance: object, attribute: Attribute[Any], value: tuple[str, ...]) -> None:
    folded = [key.casefold() for key in value]
    if len(set(folded)) != len(folded) or not all(key.strip() for key in value):
        raise JrhError(f"{attribute.name}: keys must be non-empty and distinct, ignoring case")


@frozen(kw_only=True)
class JsonOptions:
    """Options of `json`: the keys of the verdict and the rationale."""

    keys: tuple[str, ...] = field(
        default=VERDICT_KEYS,
        validator=and_(min_len(1), _distinct),
        metadata={"help": "keys of the verdict; the first one present counts, ignoring case"},
    )
    rationale_keys: tuple[str, ...] = field(
        default=RATIONALE_KEYS,
        validator=_distinct,
        metadata={"help": "keys of the rationale; the first one present counts, ignoring case"},
    )


@frozen(kw_only=True)
class PairwiseOptions:
    """Options of `pairwise`: what counts as a choice between two options."""

    comparatives: bool = field(
        default=True,
        metadata={"help": "read 'B is better than A' as B; switch off if a template asks for the worse option"},
    )


@frozen(kw_only=True)
class WeightedOptions:
    """Options of `weighted`: when token probabilities count."""

    min_mass: float = field(
        default=0.5,
        validator=and_(gt(0.0), le(1.0)),
        metadata={"help": "lowest total probability of the scale's levels at the score token"},
    )
    fallback: bool = field(
        default=False,
        metadata={"help": "read the text like `likert` if there are no usable token probabilities"},
    )
    max_positions: int = field(
        default=64,
        validator=ge(1),
        metadata={"help": "longest reply in tokens; the score must be nearly the whole reply"},
    )
