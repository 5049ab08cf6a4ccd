"""Define predictions and the interface of fitted models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Protocol

from attrs import Factory, frozen
from jrh import Judgement, Reply, Status, Usage, Verdict

DIGITS: Final = 6
"""Probabilities are rounded so that reports do not depend on the last bits of a processor's exponential."""
FREE: Final = Reply(
    status=Status.OK, usage=Usage(prompt_tokens=0, completion_tokens=0), cost=0.0, fingerprint="baseline"
)
"""What every judgement of the baseline was answered with."""


@frozen(kw_only=True)
class Prediction:
    """A label with its probabilities, or the reason for having none."""

    label: str | None
    probabilities: Mapping[str, float] = Factory(dict)
    detail: str = ""


class FittedModel(Protocol):
    """A trained model."""

    method: ClassVar[str]
    """The model's name for rationales."""

    def predict(self, rows: Any) -> list[Prediction]:
        """Return one prediction per question, from what `rows_of` returns."""


class CannotLearnError(Exception):
    """Nothing can be learnt from the training examples; the text says why."""


def abstention(detail: str) -> Judgement:
    """Return a judgement without a label, with the reason."""
    return Judgement(verdict=Verdict(status=Status.ABSTAINED, detail=detail), reply=FREE)
