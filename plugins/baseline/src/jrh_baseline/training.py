"""Train the baseline judge and ask it; kept apart because scikit-learn takes longer to import than a plan takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import evolve, frozen
from jrh import Json, Judgement, Mode, Question, Status, Task, Verdict
from jrh.plugins import BatchJudge
from jrh.values import Example
from threadpoolctl import threadpool_limits

from jrh_baseline.features import Document, Features, documents_of
from jrh_baseline.models import Choices, Classes, Levels, Numbers, Pairs
from jrh_baseline.options import BaselineOptions
from jrh_baseline.predictions import FREE, CannotLearnError, FittedModel, Prediction, abstention

NAME: Final = "baseline: TF-IDF + style statistics"
"""Every rationale begins with it."""

_PAIR: Final = 2


def train_judge(examples: Sequence[Example], options: BaselineOptions, task: Task) -> BatchJudge:
    """Return a judge trained on these examples.

    Raises:
        CannotLearnError: nothing can be learnt from them.
    """
    # Multi-threaded sums depend on the number of threads; with one, every machine adds in the same order.
    with threadpool_limits(limits=1):
        return _fit(examples, options, task)


def _fit(examples: Sequence[Example], options: BaselineOptions, task: Task) -> BatchJudge:
    needed = options.min_examples
    if len(examples) < needed:
        raise CannotLearnError(f"{len(examples)} labelled examples outside the fold; needs at least {needed}")
    fields = [example.fields for example in examples]
    documents = [text for item_fields in fields for text in documents_of(item_fields, task.judged_fields)]
    # The request is the same for all responses of a comparison: its own words say nothing about which is better.
    features = Features.fit(documents, requests=task.mode is not Mode.PAIRWISE)
    rows = rows_of(features, fields, task)
    # An example without a group is a group of its own.
    groups = [example.group or str(place) for place, example in enumerate(examples)]
    model = _model(rows, [example.gold for example in examples], groups, options, task, features.weightings())
    return Trained(task=task, features=features, model=model)


def _model(
    rows: Any,
    golds: Sequence[str],
    groups: Sequence[str],
    options: BaselineOptions,
    task: Task,
    weightings: Sequence[Numbers],
) -> FittedModel:
    if task.mode is Mode.PAIRWISE and len(task.judged_fields) > _PAIR:
        return Choices.fit(rows, golds, groups, task.scale, options)
    if task.mode is Mode.PAIRWISE:
        return Pairs.fit(rows, golds, groups, task.scale, options)
    if task.scale.ordered:
        return Levels.fit(rows, golds, groups, task.scale, options)
    return Classes.fit(rows, golds, groups, options, weightings)


@frozen(kw_only=True)
class Trained:
    """A baseline judge after training."""

    task: Task
    features: Features
    model: FittedModel

    def judge_batch(self, questions: Sequence[Question]) -> Sequence[Judgement]:
        """Return one judgement per question in the given order; each depends only on its own question."""
        if not questions:
            return []
        with threadpool_limits(limits=1):
            rows = rows_of(self.features, [question.fields for question in questions], self.task)
            predictions = self.model.predict(rows)
        return [
            self._judgement(question, prediction) for question, prediction in zip(questions, predictions, strict=True)
        ]

    def _judgement(self, question: Question, prediction: Prediction) -> Judgement:
        # A template may bring another scale, whose labels this judge has never seen.
        if set(question.task.scale.labels) != set(self.task.scale.labels):
            return abstention("baseline: the question's scale differs from the one it was trained on")
        if prediction.label is None:
            return abstention(f"baseline: {prediction.detail}")
        verdict = Verdict(
            status=Status.OK,
            presented=prediction.label,
            rationale=f"{NAME}, {self.model.method}",
            probabilities=prediction.probabilities,
        )
        return Judgement(verdict=verdict, reply=evolve(FREE, text=prediction.label))


def rows_of(features: Features, fields: Sequence[Mapping[str, Json]], task: Task) -> Any:
    """Return one feature row per question; for pairs, the first response's features minus the second's.

    Of comparisons of more responses, return a matrix per response, each with one row per question. Each distinct text
    is analysed only once.
    """
    shown = [documents_of(item_fields, task.judged_fields) for item_fields in fields]
    places: dict[Document, int] = {}
    for documents in shown:
        for document in documents:
            places.setdefault(document, len(places))
    matrix = features.transform(list(places))
    rows = [matrix[[places[documents[number]] for documents in shown]] for number in range(len(task.judged_fields))]
    if len(rows) == _PAIR:
        return rows[0] - rows[1]
    # Three responses or more have no single difference; `Choices` makes them itself.
    return rows if len(rows) > _PAIR else rows[0]
