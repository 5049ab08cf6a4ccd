"""What the options of many plugins share."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute, field
from attrs.validators import ge

from jrh.errors import JrhError
from jrh.values.types import Mode


class WrittenBy(Enum):
    """Who writes a test's texts."""

    RULES = "rules"
    """Closed rules; no model is asked."""
    MODEL = "model"
    """A model of the suite."""

    @classmethod
    def of(cls, by: WrittenBy | None, model: str | None) -> WrittenBy:
        """Return the choice of the options `by` and `model`: where nothing is said, a model that is named writes."""
        return by or (cls.RULES if model is None else cls.MODEL)


class ChangedFields(Enum):
    """Which of the judged fields a test changes."""

    BOTH = "both"
    """All of them: the response, or both responses of a pair."""
    FIRST = "first"
    """Only the first response of a pair."""
    SECOND = "second"
    """Only the second response of a pair."""

    def of(self, mode: Mode, test: str) -> tuple[str, ...]:
        """Return the fields of a mode.

        Args:
            mode: of the task.
            test: the test's name, for the message.

        Raises:
            JrhError: one response is chosen, and the task has no pairs.
        """
        judged = mode.judged_fields
        if self is ChangedFields.BOTH:
            return judged
        if mode is not Mode.PAIRWISE:
            raise JrhError(
                f"{test}: `fields: {self.value}` chooses one response of a pair, "
                f"but the task is {mode.value}; leave `fields` out"
            )
        return judged[:1] if self is ChangedFields.FIRST else judged[-1:]


def distinct(instance: object, attribute: Attribute[Any], value: tuple[object, ...]) -> None:  # noqa: ARG001
    """Validate an option: nothing in it stands twice.

    Raises:
        ValueError: something does.
    """
    if len(set(value)) != len(value):
        raise ValueError(f"'{attribute.name}' names something twice")


def repeats_option() -> int:
    """Return the attrs field `repeats` of a perturber's options: how often each question is put, 1 by default."""
    repeats: int = field(
        default=1,
        validator=ge(1),
        metadata={"help": "how often each question is put; a repeat is never answered from another"},
    )
    return repeats
