"""Simulated judges, and questions with their truth, many and small."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from attrs import frozen
from jrh import Mode, Prompt, Question, Scale, Task
from jrh.values import Condition, Truth
from jrh.values.scales import invert
from jrh_simulated.judge import PlantedJudge
from jrh_simulated.options import JudgeOptions
from jrh_testing import FakeContext

TEXTS = {"response": "Some text.", "response_a": "A.", "response_b": "B."}
REFERENCE_CONDITION = Condition()


@frozen(kw_only=True)
class Bench:
    """A judge with planted defects, and what it is asked."""

    judge: PlantedJudge
    task: Task
    texts: Mapping[str, Any]
    maps: tuple[Mapping[str, str], Mapping[str, str]]
    """The label map of a question as it is, and of a swapped one."""

    def pose(
        self,
        item: int,
        gold: str | None,
        *,
        expected: str | None = None,
        occasion: int = 0,
        texts: Mapping[str, Any] | None = None,
        swapped: bool = False,
        condition: Condition | None = None,
        prompt: str = "",
    ) -> tuple[Question, Truth]:
        """Make one question; `expected` is canonical, by default the gold label; `swapped` is the label map's."""
        label_map = self.maps[swapped]
        right = expected or gold
        question = Question(
            trial_id=f"{item}-{occasion}",
            task=self.task,
            fields=texts or self.texts,
            prompt=Prompt(name=prompt, user=prompt) if prompt else None,
            occasion=occasion,
            seed=1000 * item + occasion,
        )
        truth = Truth(
            item_id=str(item),
            gold=gold,
            expected=None if right is None else invert(label_map, right),
            condition=condition or REFERENCE_CONDITION,
            label_map=label_map,
            reference_fields=self.texts,
        )
        return question, truth

    def ask(self, item: int, gold: str | None, **how: Any) -> str | None:
        """Put one question; return the canonical label, or None where there is none."""
        question, truth = self.pose(item, gold, **how)
        presented = self.judge.answer(question, truth).verdict.presented
        return None if presented is None else truth.label_map[presented]


@pytest.fixture
def bench() -> Callable[..., Bench]:
    """Return a builder of judges: `scale`, `mode`, `seed`, `name`, `texts`, and options of the judge."""

    def build(
        *,
        scale: Scale | None = None,
        mode: Mode = Mode.POINTWISE,
        seed: int = 1,
        name: str = "sim",
        texts: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Bench:
        default = Scale.of_pairs() if mode is Mode.PAIRWISE else Scale.of_labels("YES", "NO")
        task = Task(name="t", scale=scale or default, mode=mode)
        judge = PlantedJudge.build(JudgeOptions(**options), FakeContext(name=name, task=task, run_seed=seed))
        maps = (task.scale.identity_map(), task.scale.swap_map())
        return Bench(judge=judge, task=task, texts=texts or TEXTS, maps=maps)

    return build


@pytest.fixture
def near() -> Callable[[int, int, float], bool]:
    """Return a check: is a count within four binomial standard deviations of what a probability predicts?"""

    def check(count: int, n: int, probability: float) -> bool:
        # A right probability fails this once in 16,000 seeds; the seeds are fixed.
        return abs(count / n - probability) <= 4 * (probability * (1 - probability) / n) ** 0.5

    return check
