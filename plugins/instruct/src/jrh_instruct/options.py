"""Define the options of a perturbation by instruction."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, frozen
from attrs.validators import ge, le
from jrh import ModelName, Text, ValidatorName
from jrh.plugins import option
from jrh_authoring import ChangedFields, checks_option, fields_option, temperature_option


class Expected(Enum):
    """What a reliable judge does after the change."""

    SAME = "same"
    """It gives the verdict of the reference condition."""
    CHANGES = "changes"
    """It gives another verdict."""
    NOT_ABOVE = "not-above"
    """It gives no higher level."""
    NOT_BELOW = "not-below"
    """It gives no lower level."""


@frozen(kw_only=True)
class ExpectedLabel:
    """The label that a reliable judge gives after the change."""

    label: str = option("a label of the task's scale")


def _instruction(instance: object, attribute: Attribute[Any], value: Text) -> None:  # noqa: ARG001
    if not value.content.strip():
        raise ValueError(f"'{attribute.name}' is empty; describe in a sentence what the model should change")


def _ratio(instance: object, attribute: Attribute[Any], value: tuple[float, float]) -> None:  # noqa: ARG001
    low, high = value
    # Wider than for a paraphrase: an instruction may ask for a text of any length.
    if not 0 < low < high:
        raise ValueError(f"'{attribute.name}' must be [low, high] with 0 < low < high, got [{low:g}, {high:g}]")


@frozen(kw_only=True)
class WritingOptions:
    """Options of every perturber in which a model writes text from an instruction."""

    model: ModelName = option("model that writes: a name from the suite's `models`")
    fields: ChangedFields = fields_option()
    temperature: float | None = temperature_option("sampling temperature; default: the model's own")
    attempts: int = option("attempts per text until one is usable", ge(1), le(20), default=3)
    length_ratio: tuple[float, float] = option(
        "[low, high] ratio of words in the new text to words in the old one", _ratio, default=(0.2, 5.0)
    )
    # No default: an instruction may ask for the very change that a rule forbids.
    checks: tuple[ValidatorName, ...] = checks_option()


@frozen(kw_only=True)
class InstructOptions(WritingOptions):
    """Options of the perturber `instruct`."""

    text: Text = option("what the model should change, in plain words, or {file: name}", _instruction)
    expect: Expected | ExpectedLabel = option(
        "what a reliable judge does then: same, changes, not-above, not-below, or {label: NO}; the levels "
        "and verdicts are compared with the reference condition"
    )
    variant: str = option("name of the variant in reports", default="instructed")


@frozen(kw_only=True)
class AnswerAgainOptions(WritingOptions):
    """Options of the perturber `answer-again`."""
