"""Define the options of the parsers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from attrs import Attribute, frozen
from attrs.validators import ge, gt, le, min_len
from jrh import JrhError, ModelName
from jrh.plugins import option

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

    keys: tuple[str, ...] = option(
        "keys of the verdict; the first one present counts, ignoring case", min_len(1), _distinct, default=VERDICT_KEYS
    )
    rationale_keys: tuple[str, ...] = option(
        "keys of the rationale; the first one present counts, ignoring case", _distinct, default=RATIONALE_KEYS
    )


@frozen(kw_only=True)
class PairwiseOptions:
    """Options of `pairwise`: what counts as a choice between two options."""

    comparatives: bool = option(
        "read 'B is better than A' as B; switch off if a template asks for the worse option", default=True
    )


@frozen(kw_only=True)
class WeightedOptions:
    """Options of `weighted`: when token probabilities count."""

    min_mass: float = option(
        "lowest total probability of the scale's levels at the score token", gt(0.0), le(1.0), default=0.5
    )
    fallback: bool = option("read the text like `likert` if there are no usable token probabilities", default=False)
    max_positions: int = option("longest reply in tokens; the score must be nearly the whole reply", ge(1), default=64)


METRIC: Final = "rationale-contradiction"
"""The metric for which a model is asked about rationales."""


@frozen(kw_only=True)
class RationaleOptions:
    """Which model reads rationales."""

    model: ModelName = option(
        "One of `models`: asked which label each rationale argues for, without seeing the verdict. "
        "Default: rules read the rationales."
    )

    def check_suite(self, suite: Any, plugins: object) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ARG002
        """Yield that no metric of the suite has a use for the answers."""
        if suite.metrics is not None:
            uses = {use.component.rpartition("/")[2] for use in (*suite.metrics, *suite.added_metrics)}
            if METRIC not in uses:
                yield (), "no metric of the suite reads rationales; remove this key, or add such a metric"
