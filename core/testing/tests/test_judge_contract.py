"""The judge contract fails on a planted mistake of every kind, for every kind of judge."""

from __future__ import annotations

import itertools

import pytest
from jrh import JudgeKind, Judgement, JudgeSpec, Mode, Reply, Status, Verdict
from jrh_testing import JudgeContract
from jrh_testing.contracts.base import ComponentContract


def answer(label, **settings):
    return Judgement(verdict=Verdict(status=Status.OK, presented=label, **settings))


class ByLength:
    """A sound judge: a label by the length of what is judged."""

    def __init__(self, context):
        self.labels = context.task.scale.labels

    async def judge(self, question):
        return self.decide(question)

    def judge_batch(self, questions):
        return [self.decide(question) for question in questions]

    def decide(self, question):
        return answer(self.label(question))

    def label(self, question):
        length = sum(len(str(question.fields[name])) for name in question.task.mode.judged_fields)
        return self.labels[length % len(self.labels)]


class Silent(ByLength):
    def decide(self, question):
        return Judgement(verdict=Verdict(status=Status.ABSTAINED))


class StrangeLabel(ByLength):
    def decide(self, question):
        return answer("MAYBE")


class LabelWithoutVerdict(ByLength):
    def decide(self, question):
        if "Paris" in question.fields["request"]:
            return answer("YES")
        return Judgement(verdict=Verdict(status=Status.UNPARSABLE, presented="NO"))


class SetsCanonical(ByLength):
    def decide(self, question):
        return answer("YES", canonical="YES")


class WrongProbability(ByLength):
    def decide(self, question):
        return answer("YES", probabilities={"YES": 1.5})


class ReadsACutReply(ByLength):
    def decide(self, question):
        return Judgement(verdict=answer("YES").verdict, reply=Reply(status=Status.TRUNCATED, text="YES"))


class Encoding(ByLength):
    def decide(self, question):
        str(question.fields["response"]).encode()
        return super().decide(question)


class Drawing(ByLength):
    counter = itertools.count()

    def decide(self, question):
        return answer("YES", rationale=str(next(self.counter)))


class BatchRelative(ByLength):
    """Gives the best label to the longest response of the batch."""

    def judge_batch(self, questions):
        longest = max(len(str(question.fields["response"])) for question in questions)
        return [answer("YES" if len(str(q.fields["response"])) == longest else "NO") for q in questions]


class Shortened(ByLength):
    def judge_batch(self, questions):
        return [] if len(questions) > 1 else super().judge_batch(questions)


class ReadsPrompt(ByLength):
    def decide(self, question):
        return answer(self.labels[0 if question.prompt else 1])


class BrokenByPrompt(ByLength):
    def decide(self, question):
        if question.prompt is not None:
            raise KeyError("prompt")
        return super().decide(question)


class NeedsTruth(ByLength):
    async def judge(self, question, truth):
        return answer(truth.gold or self.labels[0])


class ClosesOnce(ByLength):
    """Closes what it has, and what it has no more."""

    def __init__(self, context):
        super().__init__(context)
        self.connection = "open"

    async def aclose(self):
        del self.connection


class ClosesAtOnce(ByLength):
    def aclose(self):
        return None


class Closing(ByLength):
    """A sound judge that has to be closed after it was asked."""

    opened = 0
    closed = 0

    async def judge(self, question):
        type(self).opened += 1
        return self.decide(question)

    async def aclose(self):
        type(self).closed += 1


class Trained(ByLength):
    """Fits nothing, but accepts examples."""

    def fit(self, examples):
        assert examples
        return self


class TrainedNeedsTwoLabels(Trained):
    def fit(self, examples):
        if len({example.gold for example in examples}) < 2:
            raise ValueError("at least two classes are needed")
        return self


SINGLE, BATCH, TRAINED, SIMULATED = JudgeKind.SINGLE, JudgeKind.BATCH, JudgeKind.TRAINED, JudgeKind.SIMULATED
SOUND = "test_every_question_gets_a_sound_judgement"

PLANTED = [
    (Silent, SINGLE, "test_it_decides_something_for_every_mode"),
    (StrangeLabel, SINGLE, SOUND),
    (LabelWithoutVerdict, SINGLE, SOUND),
    (SetsCanonical, BATCH, SOUND),
    (WrongProbability, SINGLE, SOUND),
    (ReadsACutReply, SINGLE, SOUND),
    (Shortened, BATCH, SOUND),
    (Encoding, SINGLE, "test_odd_texts_get_a_sound_judgement"),
    (Drawing, SINGLE, "test_the_same_question_is_judged_the_same"),
    (BatchRelative, BATCH, "test_other_questions_do_not_matter"),
    (ReadsPrompt, SINGLE, "test_another_prompt_is_read_as_declared"),
    (BrokenByPrompt, BATCH, "test_another_prompt_is_read_as_declared"),
    (NeedsTruth, SINGLE, "test_only_a_simulated_judge_is_handed_the_truth"),
    (ByLength, SIMULATED, "test_only_a_simulated_judge_is_handed_the_truth"),
    (ClosesOnce, SINGLE, "test_closing_is_harmless"),
    (ClosesAtOnce, BATCH, "test_closing_is_harmless"),
    (TrainedNeedsTwoLabels, TRAINED, "test_one_label_in_training_is_enough"),
]


def spec(cls, kind, **settings):
    given = {"modes": frozenset({Mode.POINTWISE}), "reads_prompt": False, **settings}
    return JudgeSpec(name="planted", summary="planted", factory=lambda o, context: cls(context), kind=kind, **given)


@pytest.mark.parametrize(("cls", "kind", "test"), PLANTED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_planted_mistake_fails_its_test(failing, cls, kind, test):
    assert test in failing(JudgeContract, "jrh_judges", spec(cls, kind))


def test_every_test_of_the_contract_is_shown_to_fail():
    own = {name for name in dir(JudgeContract) if name.startswith("test_")} - set(dir(ComponentContract))
    assert {test for _, _, test in PLANTED} == own


@pytest.mark.parametrize(
    ("cls", "kind"), [(ByLength, SINGLE), (ByLength, BATCH), (Trained, TRAINED), (NeedsTruth, SIMULATED)]
)
def test_a_sound_judge_of_every_kind_passes_in_every_mode(failing, cls, kind):
    assert failing(JudgeContract, "jrh_judges", spec(cls, kind, modes=frozenset(Mode))) == []


def test_a_judge_is_closed_whenever_it_was_asked(failing):
    assert failing(JudgeContract, "jrh_judges", spec(Closing, SINGLE)) == []
    assert 0 < Closing.closed < Closing.opened


def test_a_judge_that_reads_prompts_may_answer_them_otherwise(failing):
    assert failing(JudgeContract, "jrh_judges", spec(ReadsPrompt, SINGLE, reads_prompt=True)) == []
