"""What the options of many plugins share."""

from __future__ import annotations

from enum import Enum
from typing import Any

from attrs import Attribute


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


def distinct(instance: object, attribute: Attribute[Any], value: tuple[object, ...]) -> None:  # noqa: ARG001
    """Validate an option: nothing in it stands twice.

    Raises:
        ValueError: something does.
    """
    if len(set(value)) != len(value):
        raise ValueError(f"'{attribute.name}' names something twice")
