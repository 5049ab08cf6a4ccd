"""Collect everything a simulated judge needs to answer one question."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen
from jrh import Json, Question, Task
from jrh.values import CRITERION_FIELD, Truth

from jrh_simulated.criteria import Call
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
    fields: Mapping[str, Json]
    """All fields as presented."""
    reworded: bool
    """Whether the criterion, or the task's rubric, has another text than before any change."""
    apart: str
    """The label of criteria that do not apply; empty: there is none."""

    @classmethod
    def of(cls, task: Task, question: Question, truth: Truth) -> View:
        """Take a question apart; `task` is the suite's own."""
        return cls(
            truth=truth,
            frame=Frame.of(task.scale, question, truth),
            texts=judged_texts(question.fields, question.task),
            reference=judged_texts(truth.reference_fields, question.task),
            asking=(truth.condition.template, question.prompt.user if question.prompt else ""),
            fields=question.fields,
            reworded=_rubric(task, question.task, question.fields) != _rubric(task, task, truth.reference_fields),
            apart=task.criteria.not_applicable if task.criteria else "",
        )

    @property
    def call(self) -> Call:
        """Return the criteria that are asked together."""
        return Call.of(self.fields)

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


def _rubric(task: Task, shown: Task, fields: Mapping[str, Json]) -> Json:
    """Return what the item is judged by: its own criterion, or the rubric of the task."""
    return fields.get(CRITERION_FIELD) if task.criteria is not None else shown.rubric
