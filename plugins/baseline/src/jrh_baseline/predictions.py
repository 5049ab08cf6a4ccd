"""What a fitted model says of one row, and what every fitted model can do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from attrs import Factory, frozen

DIGITS: Final = 6
"""Probabilities are rounded, so that the last bits of a processor's exponential do not show in a report."""


@frozen(kw_only=True)
class Prediction:
    """A label with its probabilities, or the reason why there is none."""

    label: str | None
    probabilities: Mapping[str, float] = Factory(dict)
    detail: str = ""


class FittedModel(Protocol):
    """A model that has learnt."""

    @property
    def method(self) -> str:
        """Return the model's name for rationales."""

    def predict(self, rows: Any) -> list[Prediction]:
        """Return one prediction per row of a sparse matrix."""


class CannotLearnError(Exception):
    """Report training examples that nothing can be learnt from; the text says why."""
