"""Define predictions and the interface of fitted models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from attrs import Factory, frozen

DIGITS: Final = 6
"""Probabilities are rounded so that reports do not depend on the last bits of a processor's exponential."""


@frozen(kw_only=True)
class Prediction:
    """A label with its probabilities, or the reason for having none."""

    label: str | None
    probabilities: Mapping[str, float] = Factory(dict)
    detail: str = ""


class FittedModel(Protocol):
    """A trained model."""

    @property
    def method(self) -> str:
        """Return the model's name for rationales."""

    def predict(self, rows: Any) -> list[Prediction]:
        """Return one prediction per question, from what `rows_of` returns."""


class CannotLearnError(Exception):
    """Nothing can be learnt from the training examples; the text says why."""
