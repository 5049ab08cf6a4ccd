"""Test the contract of every judge, whatever its kind."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve
from jrh import JudgeKind, Judgement, JudgeSpec, Prompt, Question, Scale, Status, Task, Verdict
from jrh.plugins.specs import Spec
from jrh.values import Example

from jrh_testing.contracts.base import ComponentContract
from jrh_testing.samples import ODD_TEXTS, sample_examples, sample_question, sample_truth, with_text

_OTHER_PROMPT = Prompt(
    name="other", user="{{ task.instruction }}\n{{ request }}\nAnswer with {{ labels | join(' or ') }}."
)
_ARGUMENTS = {JudgeKind.SINGLE: 1, JudgeKind.SIMULATED: 2}


class JudgeContract(ComponentContract):
    """Contract tests for every judge, called as its declared kind says."""

    role: ClassVar[type[Spec]] = JudgeSpec
    examples: ClassVar[tuple[Example, ...]] = ()
    """What a trained judge is fitted on; empty: `sample_examples(task)`."""

    def judge(
        self, base: Path, task: Task, questions: Sequence[Question], *, examples: Sequence[Example] | None = None
    ) -> list[Judgement]:
        """Build the judge, ask it the questions as its kind says, and close it."""
        judge = self.build_component(base, task)

        async def work() -> list[Judgement]:
            try:
                return await self._ask(judge, task, questions, examples)
            finally:
                await _close(judge)

        return asyncio.run(work())

    async def _ask(
        self, judge: Any, task: Task, questions: Sequence[Question], examples: Sequence[Example] | None
    ) -> list[Judgement]:
        if self.spec.kind is JudgeKind.TRAINED:
            labelled = self.examples or sample_examples(task) if examples is None else examples
            # Training blocks for long, and a run does not let it block the event loop.
            judge = await asyncio.to_thread(judge.fit, labelled)
        if self.spec.kind in (JudgeKind.TRAINED, JudgeKind.BATCH):
            return list(await asyncio.to_thread(judge.judge_batch, questions))
        if self.spec.kind is JudgeKind.SIMULATED:
            # Questions carry no id of their item; the sample requests are distinct.
            items = {item.fields["request"]: item for item in reversed(self.items_of(task))}
            calls = [
                judge.judge(question, sample_truth(task, items[question.fields["request"]])) for question in questions
            ]
        else:
            calls = [judge.judge(question) for question in questions]
        return list(await asyncio.gather(*calls))

    def questions(self, task: Task) -> list[Question]:
        """Return a question for every item."""
        return [sample_question(task, item) for item in self.items_of(task)]

    def odd_questions(self, task: Task) -> list[Question]:
        """Return questions about unusual texts that real data contain."""
        item = self.items_of(task)[0]
        return [
            evolve(sample_question(task, item, occasion=place), fields=with_text(item, task.mode, text))
            for place, text in enumerate(ODD_TEXTS)
        ]

    def test_it_decides_something_for_every_mode(self, base: Path) -> None:
        """If this fails: no question gets a verdict, so nothing else is tested; declare its modes, or set `models`."""
        for task in self.tasks():
            judgements = self.judge(base, task, self.questions(task))
            decided = [judgement for judgement in judgements if judgement.verdict.status is Status.OK]
            statuses = sorted({judgement.verdict.status.value for judgement in judgements})
            assert decided, f"no verdict for any item of a {task.mode.value} task, only {', '.join(statuses)}"

    def test_every_question_gets_a_sound_judgement(self, base: Path) -> None:
        """If this fails: `ok` goes with a presented label of the scale, every other status with none."""
        for task in self.tasks():
            questions = self.questions(task)
            judgements = self.judge(base, task, questions)
            assert len(judgements) == len(questions), "there is not one judgement per question"
            for judgement in judgements:
                _assert_sound(judgement, task)

    def test_odd_texts_get_a_sound_judgement(self, base: Path) -> None:
        """If this fails: an unusual but real text makes it raise; return a status instead of raising."""
        for task in self.tasks():
            for judgement in self.judge(base, task, self.odd_questions(task)):
                _assert_sound(judgement, task)

    def test_the_same_question_is_judged_the_same(self, base: Path) -> None:
        """If this fails: it draws without the question's seed; a resumed run would start over."""
        for task in self.tasks():
            first = self.judge(base, task, self.questions(task))
            second = self.judge(base, task, self.questions(task))
            assert _verdicts(second) == _verdicts(first), "the same questions are judged otherwise"

    def test_other_questions_do_not_matter(self, base: Path) -> None:
        """If this fails: one answer depends on what else is asked, before it or in the same batch."""
        for task in self.tasks():
            questions = self.questions(task)
            # A batch may be cut anywhere, by a kill or a shard, so neighbours must not matter.
            together = self.judge(base, task, questions)
            assert _verdicts(self.judge(base, task, questions[::-1])) == _verdicts(together)[::-1], "order matters"
            alone = self.judge(base, task, questions[:1])
            assert _verdicts(alone) == _verdicts(together)[:1], "a question is judged otherwise when it is alone"

    def test_another_prompt_is_read_as_declared(self, base: Path) -> None:
        """If this fails: render a case's own prompt where there is one, or declare `reads_prompt=False`."""
        for task in self.tasks():
            questions = self.questions(task)
            other = self.judge(base, task, [evolve(question, prompt=_OTHER_PROMPT) for question in questions])
            for judgement in other:
                _assert_sound(judgement, task)
            if not self.spec.reads_prompt:
                plain = _verdicts(self.judge(base, task, questions))
                assert _verdicts(other) == plain, "the prompt changes the verdict, but reads_prompt is False"

    def test_only_a_simulated_judge_is_handed_the_truth(self, base: Path) -> None:
        """If this fails: a judge that needs the truth has to declare `kind=JudgeKind.SIMULATED`."""
        # Trained and batch judges have other methods, which building checks.
        wanted = _ARGUMENTS.get(self.spec.kind)
        if wanted is None:
            return
        parameters = [
            parameter
            for parameter in inspect.signature(self.build_component(base).judge).parameters.values()
            if parameter.default is parameter.empty
        ]
        assert len(parameters) == wanted, f"judge() takes {len(parameters)} arguments; its kind has {wanted}"

    def test_closing_is_harmless(self, base: Path) -> None:
        """If this fails: `aclose` is optional, async, and may be called twice, or before any question."""
        judge = self.build_component(base)
        if not hasattr(judge, "aclose"):
            return
        assert inspect.iscoroutinefunction(judge.aclose), "aclose() is not async"

        async def twice() -> None:
            await _close(judge)
            await _close(judge)

        asyncio.run(twice())

    def test_one_label_in_training_is_enough(self, base: Path) -> None:
        """If this fails: folds where all labels are equal occur; answer that label, or give a status."""
        if self.spec.kind is not JudgeKind.TRAINED:
            return
        for task in self.tasks():
            # Small or sorted data lead to folds with a single label, on which many classifiers raise.
            examples = [evolve(example, gold=task.scale.labels[0]) for example in sample_examples(task)]
            for judgement in self.judge(base, task, self.questions(task), examples=examples):
                _assert_sound(judgement, task)


async def _close(judge: Any) -> None:
    if hasattr(judge, "aclose"):
        await judge.aclose()


def _verdicts(judgements: Sequence[Judgement]) -> list[object]:
    # The reply is left out: its latency is measured.
    return [judgement.verdict for judgement in judgements]


def assert_sound(verdict: Verdict, scale: Scale) -> None:
    """Require a label of the scale where there is a decision and none elsewhere, and probabilities of labels."""
    decided = verdict.status is Status.OK
    assert decided == (verdict.presented is not None), f"{verdict.status.value} with label {verdict.presented!r}"
    assert not decided or verdict.presented in scale, f"label {verdict.presented!r} is not on the scale"
    # A presented label means another one where labels were swapped, which a judge must not know.
    assert verdict.canonical is None, "the canonical label is the kernel's to set"
    strange = [label for label in verdict.probabilities if label not in scale]
    assert not strange, f"probabilities of {', '.join(strange)}, which are not on the scale"
    wrong = [value for value in verdict.probabilities.values() if not 0.0 <= value <= 1.0]
    assert not wrong, f"probabilities outside 0 to 1: {wrong}"


def _assert_sound(judgement: Judgement, task: Task) -> None:
    assert_sound(judgement.verdict, task.scale)
    if judgement.reply is not None and not judgement.reply.ok:
        assert judgement.verdict.status is not Status.OK, (
            f"a verdict was read from a reply with status {judgement.reply.status.value}"
        )
