"""Define options that many plugins share."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from attrs import Attribute
from attrs.validators import and_, deep_iterable, ge, gt, le, min_len, optional
from jrh import JrhError, Mode, ModelName, Task, ValidatorName
from jrh.plugins import option

MOST_REPLY_TOKENS: Final = 10_000_000
"""Largest `max_tokens`: beyond what any model writes, a number is a typing error."""


class WrittenBy(Enum):
    """Choose who writes a test's texts."""

    RULES = "rules"
    """A fixed set of rules; no model calls."""
    MODEL = "model"
    """A model of the suite."""

    @classmethod
    def of(cls, by: WrittenBy | None, model: str | None) -> WrittenBy:
        """Resolve the options `by` and `model`: without `by`, a model writes if one is named."""
        # `model` without `by` means that the model writes; `by: rules` with a model stays an explicit choice.
        return by or (cls.RULES if model is None else cls.MODEL)


def required_model(model: ModelName | None, test: str) -> ModelName:
    """Return the option `model` of a test in which a model writes.

    Raises:
        JrhError: it is missing, as with `by: model` alone.
    """
    if model is None:
        raise JrhError(f"{test}: `by: model` needs `model`, the name of a model in the suite")
    return model


class ChangedFields(Enum):
    """Choose which of the judged fields a test changes."""

    BOTH = "both"
    """All of them: the response, or all responses of a comparison."""
    FIRST = "first"
    """Only the first response of a pair."""
    SECOND = "second"
    """Only the second response of a pair."""

    def of(self, task: Task, test: str) -> tuple[str, ...]:
        """Return the fields of a task.

        Args:
            task: the task.
            test: the test's name, for the message.

        Raises:
            JrhError: a single response is chosen, but the task is not pairwise.
        """
        judged = task.judged_fields
        if self is ChangedFields.BOTH:
            return judged
        if task.mode is not Mode.PAIRWISE:
            raise JrhError(
                f"{test}: `fields: {self.value}` chooses one response of a pair, "
                f"but the task is {task.mode.value}; leave `fields` out"
            )
        # Scales of more than two options exist: "second" is the second response, not all after the first.
        return judged[:1] if self is ChangedFields.FIRST else judged[1:2]


def distinct(instance: object, attribute: Attribute[Any], value: tuple[object, ...]) -> None:  # noqa: ARG001
    """Validate an option: its values must be distinct.

    Raises:
        ValueError: a value is repeated.
    """
    if len(set(value)) != len(value):
        raise ValueError(f"'{attribute.name}' has a repeated value")


def repeats_option() -> int:
    """Return the attrs field `repeats` of a perturber's options: calls per question, 1 by default."""
    repeats: int = option("number of times each question is asked; every repeat is a separate call", ge(1), default=1)
    return repeats


def by_option() -> WrittenBy | None:
    """Return the attrs field `by` of a perturber's options: who writes; `WrittenBy.of` resolves it."""
    by: WrittenBy | None = option(
        "`rules` or `model`; default: `model` if one is given, otherwise `rules`", default=None
    )
    return by


def fields_option() -> ChangedFields:
    """Return the attrs field `fields` of a perturber's options: which responses change, all by default."""
    fields: ChangedFields = option(
        "pairwise tasks: change `both` responses, only the `first` or only the `second`", default=ChangedFields.BOTH
    )
    return fields


def strengths_option(text: str) -> tuple[float, ...]:
    """Return the attrs field `strengths` of a perturber's options: shares of what can change, all of it by default."""
    shares = deep_iterable(member_validator=and_(gt(0), le(1)))
    strengths: tuple[float, ...] = option(text, min_len(1), distinct, shares, default=(1.0,))
    return strengths


def temperature_option(text: str, default: float | None = None) -> float | None:
    """Return the attrs field of a sampling temperature from 0 to 2; None: the model's own."""
    temperature: float | None = option(text, optional(and_(ge(0.0), le(2.0))), default=default)
    return temperature


def checks_option(*usual: str) -> tuple[ValidatorName, ...]:
    """Return the attrs field `checks` of a perturber's options, for `Checks.of`."""
    text = "validators, with default options, that a new text must pass to become a draft"
    checks: tuple[ValidatorName, ...] = option(text, distinct, default=tuple(map(ValidatorName, usual)))
    return checks
