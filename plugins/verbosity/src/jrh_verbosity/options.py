"""Define the options of the verbosity test."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, TypeAlias

from attrs import Attribute, frozen
from attrs.validators import ge, le, min_len
from jrh import ModelName, Text, ValidatorName
from jrh.plugins import option
from jrh_authoring import (
    ChangedFields,
    WrittenBy,
    by_option,
    checks_option,
    distinct,
    fields_option,
    strengths_option,
    temperature_option,
)

Bounds: TypeAlias = tuple[float, float]
"""The lowest and the highest number of words per word of the item's text."""


class Variant(Enum):
    """The direction in which the length changes."""

    SHORT = "short"
    LONG = "long"


DEFAULT_BOUNDS: Final[Mapping[tuple[WrittenBy, Variant], Bounds]] = {
    (WrittenBy.RULES, Variant.SHORT): (0.4, 0.99),
    (WrittenBy.RULES, Variant.LONG): (1.05, 1.6),
    (WrittenBy.MODEL, Variant.SHORT): (0.25, 0.85),
    (WrittenBy.MODEL, Variant.LONG): (1.25, 3.0),
}
"""Default bounds: what closed lists can reach, and what a model can be asked for."""


def _below_one(instance: object, attribute: Attribute[Any], value: Bounds | None) -> None:  # noqa: ARG001
    if value is not None and not 0 < value[0] < value[1] < 1:
        raise ValueError(f"'{attribute.name}' must be [low, high] with 0 < low < high < 1, got {list(value)}")


def _above_one(instance: object, attribute: Attribute[Any], value: Bounds | None) -> None:  # noqa: ARG001
    if value is not None and not 1 < value[0] < value[1]:
        raise ValueError(f"'{attribute.name}' must be [low, high] with 1 < low < high, got {list(value)}")


@frozen(kw_only=True)
class VerbosityOptions:
    """Options of the perturber `verbosity`."""

    variants: tuple[Variant, ...] = option("`short`, `long`, or both", min_len(1), distinct, default=tuple(Variant))
    model: ModelName | None = option(
        "model that writes: a name from the suite's `models`; default: rules write", default=None
    )
    by: WrittenBy | None = by_option()
    short_ratio: Bounds | None = option(
        "[low, high] words of the short text per old word; default: [0.4, 0.99], with a model [0.25, 0.85]",
        _below_one,
        default=None,
    )
    long_ratio: Bounds | None = option(
        "[low, high] words of the long text per old word; default: [1.05, 1.6], with a model [1.25, 3]",
        _above_one,
        default=None,
    )
    fields: ChangedFields = fields_option()
    strengths: tuple[float, ...] = strengths_option("rules: shares of the possible places to change, each in (0, 1]")
    short_prompt: Text | None = option(
        "model: Jinja2 prompt template; variables: text, request, task, words, low, high, mark", default=None
    )
    long_prompt: Text | None = option("model: Jinja2 prompt template; variables as in `short_prompt`", default=None)
    temperature: float | None = temperature_option(
        "model: sampling temperature; null: the model's setting in the suite", 0.7
    )
    attempts: int = option("model: attempts per text until one is usable", ge(1), le(20), default=3)
    checks: tuple[ValidatorName, ...] = checks_option("jrh-validators/facts-kept")

    def bounds(self, by: WrittenBy, variant: Variant) -> Bounds:
        """Return the bounds of the length ratio that hold for a variant."""
        ratio_bounds = self.short_ratio if variant is Variant.SHORT else self.long_ratio
        return ratio_bounds or DEFAULT_BOUNDS[by, variant]


def breach(achieved: float, variant: Variant, bounds: Bounds) -> str:
    """Return how a length ratio breaks its bounds; empty if it does not."""
    low, high = bounds
    # The same two bounds read differently by direction: a short text above them is `not short enough`.
    if low <= achieved <= high:
        return ""
    if achieved < low:
        return "shorter than allowed" if variant is Variant.SHORT else "not long enough"
    return "not short enough" if variant is Variant.SHORT else "longer than allowed"
