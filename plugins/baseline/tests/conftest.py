"""Examples, questions and judges in few words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from attrs import frozen
from jrh import Judgement, Mode, Question, Scale, Task
from jrh.values import Example
from jrh_baseline.judge import Baseline
from jrh_baseline.options import BaselineOptions


@frozen(kw_only=True)
class Bench:
    """A baseline judge for one task."""

    judge: Baseline

    def example(self, gold: str, *texts: str, request: str = "") -> Example:
        """Make a labelled example."""
        return Example(fields=self.fields(texts, request), gold=gold, group="")

    def fields(self, texts: Sequence[str], request: str = "") -> dict[str, Any]:
        """Name the judged texts as the mode does."""
        return {"request": request, **dict(zip(self.judge.task.mode.judged_fields, texts, strict=True))}

    def learn(self, examples: Sequence[Example]) -> Callable[..., Judgement]:
        """Fit, and return a function that judges the texts of one question."""
        trained = self.judge.fit(examples)

        def ask(*texts: str, request: str = "", task: Task | None = None) -> Judgement:
            question = Question(trial_id="1", task=task or self.judge.task, fields=self.fields(texts, request))
            return trained.judge_batch([question])[0]

        return ask


@pytest.fixture
def bench() -> Callable[..., Bench]:
    """Return a builder: `scale`, `mode`, and options of the judge."""

    def build(*, scale: Scale | None = None, mode: Mode = Mode.POINTWISE, **options: Any) -> Bench:
        default = Scale.of_pairs() if mode is Mode.PAIRWISE else Scale.of_labels("YES", "NO")
        task = Task(name="t", scale=scale or default, mode=mode)
        return Bench(judge=Baseline(options=BaselineOptions(**options), task=task))

    return build
