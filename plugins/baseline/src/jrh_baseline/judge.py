"""Build the baseline judge, which is fitted per fold and asked in batches."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from jrh import BuildContext, Judgement, Question, Task
from jrh.plugins import BatchJudge, TrainedJudge
from jrh.values import Example

from jrh_baseline.options import BaselineOptions
from jrh_baseline.predictions import CannotLearnError, abstention


def build(options: BaselineOptions, context: BuildContext) -> TrainedJudge:
    """Build the judge for a task."""
    return Baseline(options=options, task=context.task)


@frozen(kw_only=True)
class Baseline:
    """A judge that learns from labelled examples; equal examples give equal judges."""

    options: BaselineOptions
    task: Task

    def fit(self, examples: Sequence[Example]) -> BatchJudge:
        """Return a judge trained on these examples, or one that abstains with the reason if nothing can be learnt."""
        # Here and not above: scikit-learn takes longer to import than a plan takes.
        from jrh_baseline.training import train_judge

        try:
            return train_judge(examples, self.options, self.task)
        except CannotLearnError as reason:
            return Abstaining(detail=f"baseline: {reason}")


@frozen(kw_only=True)
class Abstaining:
    """A baseline judge that could not be trained."""

    detail: str

    def judge_batch(self, questions: Sequence[Question]) -> Sequence[Judgement]:
        """Return an abstention with the reason for every question."""
        return [abstention(self.detail) for _ in questions]
