"""Collect everything a simulated judge needs to answer one question."""

from __future__ import annotations

from attrs import frozen
from jrh import Question, Scale
from jrh.values import Truth

from jrh_simulated.frame import Frame
from jrh_simulated.presentation import judged_texts


@frozen(kw_only=True)
class View:
    """One question with its truth, taken apart."""

    truth: Truth
    frame: Frame
    texts: tuple[str, ...]
    """The judged texts as presented."""
    reference: tuple[str, ...]
    """The judged texts before any change."""
    asking: tuple[str, str]
    """The template's name and wording."""

    @classmethod
    def of(cls, scale: Scale, question: Question, truth: Truth) -> View:
        """Take a question apart; `scale` is the task's own."""
        return cls(
            truth=truth,
            frame=Frame.of(scale, question, truth),
            texts=judged_texts(question.fields, question.task),
            reference=judged_texts(truth.reference_fields, question.task),
            asking=(truth.condition.template, question.prompt.user if question.prompt else ""),
        )

    @property
    def identical(self) -> bool:
        """Return whether all options are the same text."""
        return len(self.texts) > 1 and all(text == self.texts[0] for text in self.texts)

    def wording_of(self, canonical: str) -> str:
        """Return the presented label for a canonical one: the expected one if it has that meaning, else the first."""
        expected = self.truth.expected
        if expected is not None and self.frame.meaning.get(expected) == canonical:
            return expected
        return self.frame.wording[canonical]
