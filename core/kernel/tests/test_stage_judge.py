"""Cases in, records out: every judge answers as its kind says, and none sees what it must not see."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
from attrs import evolve, frozen
from jrh.errors import StopReason, StopRun, StoreError
from jrh.models.client import Client
from jrh.models.concurrency import SharedConcurrency
from jrh.plugins.loading import Events, load_plugins
from jrh.plugins.protocols import ChatRequest
from jrh.plugins.specs import JudgeKind, JudgeSpec, ModelSpec
from jrh.running.building import Builder
from jrh.running.progress import Progress
from jrh.running.schedule import TrialPlanner, folds_of
from jrh.running.stages import judge as stage
from jrh.running.stages.cases_of_drafts import reference_cases
from jrh.store.run_store import Store
from jrh.text.redact import Redactor
from jrh.values.cases import Case, Changes, Condition, Equals, Sampling
from jrh.values.clusters import clusters_of
from jrh.values.events import RecordCommitted
from jrh.values.items import Item, Mode
from jrh.values.option_values import ModelName
from jrh.values.verdicts import Example, Judgement, Question, Reply, Status, Truth, Usage, Verdict
from jrh_testing import ScriptedModel

KEY = "sk-canary-0123456789"


def yes(_: Any = None) -> Judgement:
    return Judgement(verdict=Verdict(status=Status.OK, presented="YES"))


class Single:
    """A judge that answers what a function says."""

    def __init__(self, say: Callable[[Question], Any]) -> None:
        self.say = say
        self.asked: list[Question] = []

    async def judge(self, question: Question) -> Any:
        self.asked.append(question)
        return self.say(question)


class Batch:
    def __init__(self, say: Callable[[Sequence[Question]], Any]) -> None:
        self.say = say
        self.sizes: list[int] = []
        self.threads: list[int] = []

    def judge_batch(self, questions: Sequence[Question]) -> Any:
        self.sizes.append(len(questions))
        self.threads.append(threading.get_ident())
        return self.say(questions)


def store_cases(store: Store, cases: Sequence[Case]) -> None:
    """Write the cases where the judging reads them."""
    for place in dict.fromkeys((case.task, case.test) for case in cases):
        own = {case.id: case for case in cases if (case.task, case.test) == place}
        writing = store.cases.writing(*place)
        writing.put(list(own.values()), ())
        writing.finish("made")


class Gate:
    """What judging asks of a gateway: whether the run is to end, and the ledger."""

    ledger = SimpleNamespace(note_stated=lambda cost: None, totals=lambda: None)

    def __init__(self, court: Court) -> None:
        self.court = court

    @property
    def stopped(self) -> StopRun | None:
        stop: StopRun | None = self.court.stopped()
        return stop


class Court:
    """A judge, its cases, and the store its records go to."""

    def __init__(self, lab: Any, store: Store, judge: Any, kind: JudgeKind = JudgeKind.SINGLE, **spec: Any) -> None:
        self.lab = lab
        self.store = store
        declared = JudgeSpec(name="j", summary="", kind=kind, factory=lambda options, context: judge, **spec)
        self.builder: Builder = lab.builder(declared, judges=["j"])
        self.task = self.builder.resolved.suite.tasks[0].task
        self.events: Any = Nobody()
        self.stopped: Any = lambda: None

    def cases(self, repeats: int = 1) -> tuple[Case, ...]:
        return reference_cases(self.task, self.lab.items, repeats)

    def ready(self, simulated: bool = False) -> Any:
        return SimpleNamespace(
            resolved=self.builder.resolved,
            tasks={self.task.name: self.task},
            builder=self.builder,
            store=self.store,
            items={self.task.name: self.lab.items},
            simulated=frozenset({"j"} if simulated else ()),
            progress=Progress(),
            events=self.events,
            log=self.lab.log,
            redact=Redactor(frozenset({KEY})),
            run_id="run",
            gateway=Gate(self),
        )

    async def judge_all(self, simulated: bool = False) -> None:
        await stage.judge_all(self.ready(simulated), Progress())

    async def judge(self, cases: Sequence[Case] | None = None, simulated: bool = False) -> None:
        cases = self.cases() if cases is None else cases
        (judge,) = self.builder.resolved.judges
        self.store.trials.replace("plan", TrialPlanner([(judge, "j-id")], {self.task.name: self.task}).trials(cases))
        try:
            store_cases(self.store, cases)
            await self.judge_all(simulated)
        finally:
            self.store.flush()

    def column(self, name: str) -> list[Any]:
        return [value for part in self.store.records.slices() for value in part[name]]


class Nobody:
    """Events that nobody listens to."""

    def listens(self, hook: str) -> bool:
        return False


@pytest.fixture
def court(lab: Any, store: Store) -> Callable[..., Court]:
    return lambda judge, *arguments, **spec: Court(lab, store, judge, *arguments, **spec)


def reachable(root: object) -> list[object]:
    """Return every object that can be reached from an object by its attributes and parts."""
    found: list[object] = []
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        found.append(each)
        if isinstance(each, str | bytes | int | float | bool | type | Enum) or each is None:
            continue
        if isinstance(each, dict):
            waiting += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            waiting += list(each)
        names = [field.name for field in attrs.fields(type(each))] if attrs.has(type(each)) else []
        waiting += [getattr(each, name) for name in names] + list(
            vars(each).values() if hasattr(each, "__dict__") else []
        )
    return found


async def test_the_gold_label_cannot_be_reached_from_a_question(lab: Any, court: Any) -> None:
    hidden = ("canary-id", "canary-stratum", "canary-group", "canary-metadata", "canary-origin", "canary-variant")
    lab.items = (
        Item(
            id=hidden[0],
            fields={"request": "r", "response": "x"},
            gold="YES",
            stratum=hidden[1],
            group=hidden[2],
            metadata={"label": hidden[3]},
            origin=hidden[4],
        ),
    )
    judge = Single(yes)
    here = court(judge)
    (case,) = here.cases()
    await here.judge([evolve(case, condition=Condition(family="f", variant=hidden[5]))])
    (question,) = judge.asked
    found = reachable(question)
    assert question.fields["response"] in found
    assert not [text for text in found if isinstance(text, str) and any(each in text for each in hidden)]
    assert not [each for each in found if isinstance(each, Case | Item | Truth | Condition | Equals | Example)]
    # The one place where the label may stand is the scale, which is the same whatever the label is.
    assert [text for text in found if text == "YES"] == ["YES"]


async def test_a_question_is_the_same_whatever_the_gold_label_is(lab: Any, store: Store, court: Any) -> None:
    asked = []
    for gold in ("YES", "NO", None):
        lab.items = tuple(evolve(item, gold=gold) for item in lab.items)
        judge = Single(yes)
        await court(judge).judge()
        # Ids and seeds are hashes: they differ, and tell nothing.
        asked.append([evolve(question, trial_id="", seed=0) for question in judge.asked])
    assert asked[0] == asked[1] == asked[2]


async def test_a_question_is_presented_as_the_case_says(court: Any) -> None:
    judge = Single(yes)
    here = court(judge)
    case = here.cases()[0]
    presented = evolve(here.task, rubric="Be strict.")
    changed = evolve(
        case, fields={"request": "r", "response": "new"}, presented_task=presented, sampling=Sampling(temperature=0.3)
    )
    await here.judge([changed])
    (question,) = judge.asked
    assert (question.task, question.fields, question.sampling) == (presented, changed.fields, changed.sampling)


async def test_repeats_differ_in_occasion_and_seed_and_only_where_asked_in_the_models_seed(court: Any) -> None:
    judge = Single(yes)
    here = court(judge)
    case = here.cases(3)[0]
    await here.judge([case, evolve(case, id="varied", vary_seed=True)])
    plain, varied = judge.asked[:3], judge.asked[3:]
    assert [question.occasion for question in judge.asked] == [0, 1, 2, 3, 4, 5]
    assert len({question.seed for question in judge.asked}) == 6
    assert {question.sampling.seed for question in plain} == {None}
    assert [question.sampling.seed for question in varied] == [question.seed for question in varied]


async def test_every_trial_gets_a_record_with_what_its_case_says(
    lab: Any, court: Any, store: Store, stored: Any
) -> None:
    lab.items = (evolve(lab.items[0], stratum="s", group="g"),)
    reply = Reply(
        status=Status.OK,
        text="YES",
        usage=Usage(prompt_tokens=7, completion_tokens=2),
        cost=0.25,
        latency=1.5,
        attempts=3,
    )
    verdict = Verdict(status=Status.OK, presented="YES", rationale="because", probabilities={"YES": 0.75, "NO": 0.25})
    here = court(Single(lambda _: Judgement(verdict=verdict, reply=reply)))
    await here.judge()
    row = {name: values[0] for name, values in next(store.records.slices()).items()}
    expected = {
        "item_id": "i0",
        "task": "lab",
        "test": "reference",
        "family": "reference",
        "polarity": "positive",
        "judge": "j",
        "simulated": 0,
        "repeat": 0,
        "stratum": "s",
        "group": "g",
        "gold": "NO",
        "expectation": "equals",
        "expected": "NO",
        "status": "ok",
        "presented": "YES",
        "canonical": "YES",
        "probability": 0.75,
        "cost": 0.25,
        "prompt_tokens": 7,
        "completion_tokens": 2,
        "latency": 1.5,
        "attempts": 3,
        "rationale": "because",
        "detail": "",
        "temperature": None,
    }
    assert {name: row[name] for name in expected} == expected
    ((stored, chances),) = stored(store, "SELECT reply, probabilities FROM records")
    assert '"cost":0.25' in stored
    assert chances == '{"YES":0.75,"NO":0.25}'


async def test_an_inverted_label_map_is_brought_back_to_the_canonical_scale(court: Any) -> None:
    here = court(Single(yes))
    case = here.cases()[0]
    await here.judge([evolve(case, label_map={"YES": "NO", "NO": "YES"})])
    assert (here.column("presented"), here.column("canonical")) == (["YES"], ["NO"])


@pytest.mark.parametrize(
    ("verdict", "status", "presented"),
    [
        (Verdict(status=Status.OK, presented="MAYBE"), "off_scale", None),
        (Verdict(status=Status.OK, presented="yes"), "off_scale", None),
        (Verdict(status=Status.OK), "plugin_error", None),
        (Verdict(status=Status.OK, presented=5), "plugin_error", None),  # type: ignore[arg-type]
        (Verdict(status=Status.OK, presented=["YES"]), "plugin_error", None),  # type: ignore[arg-type]
        (Verdict(status=Status.OK, presented="YES", probabilities={"YES": float("nan")}), "plugin_error", None),
        (Verdict(status=Status.REFUSED, presented="YES", canonical="YES"), "refused", None),
        (Verdict(status=Status.UNPARSABLE, presented="YES"), "unparsable", None),
        (Verdict(status=Status.OK, presented="YES", canonical="NO"), "ok", "YES"),
    ],
)
async def test_a_verdict_is_a_label_of_the_scale_or_a_status(
    court: Any, verdict: Verdict, status: str, presented: str | None
) -> None:
    here = court(Single(lambda _: Judgement(verdict=verdict)))
    await here.judge()
    assert here.column("status") == [status] * 4
    assert here.column("presented") == here.column("canonical") == [presented] * 4


async def test_the_label_off_the_scale_is_named(court: Any) -> None:
    here = court(Single(lambda _: Judgement(verdict=Verdict(status=Status.OK, presented="M" * 200))))
    await here.judge()
    assert here.column("detail")[0] == f"'{'M' * 80}' is not one of YES, NO"


@pytest.mark.parametrize("answer", [None, "YES", Verdict(status=Status.OK, presented="YES")])
async def test_what_is_no_judgement_is_the_plugins_error(court: Any, answer: Any) -> None:
    here = court(Single(lambda _: answer))
    await here.judge()
    assert here.column("status") == ["plugin_error"] * 4
    assert f"returned {type(answer).__name__}, not a Judgement" in here.column("detail")[0]


async def test_a_judge_that_raises_loses_this_trial_and_no_other(court: Any) -> None:
    def say(question: Question) -> Judgement:
        if "1" in str(question.fields["response"]):
            raise ConnectionError(f"refused with {KEY}\n" + "x" * 5000)
        return yes()

    here = court(Single(say))
    await here.judge()
    assert here.column("status") == ["ok", "plugin_error", "ok", "ok"]
    detail = here.column("detail")[1]
    assert detail.startswith("ConnectionError: refused with [redacted]")
    assert re.search(r"xxx \.\.\. \(tests/test_stage_judge\.py, line \d+\)$", detail)
    assert len(detail) < 400 < stage.DETAIL
    assert KEY not in str(here.lab.log.entries)


async def test_text_that_utf8_cannot_hold_is_kept_as_far_as_it_goes(court: Any) -> None:
    verdict = Verdict(status=Status.ABSTAINED, detail="odd \ud800", rationale="x\udfff" * 3000)
    here = court(Single(lambda _: Judgement(verdict=verdict)))
    await here.judge()
    assert here.column("detail")[0] == "odd ?"
    assert here.column("rationale")[0] == ("x?" * 3000)[: stage.DETAIL]


async def test_odd_text_of_a_source_or_a_perturber_does_not_break_the_store(lab: Any, court: Any) -> None:
    lab.items = (evolve(lab.items[0], stratum="s\ud800", group="g\ud800"),)
    here = court(Single(yes))
    case = here.cases()[0]
    await here.judge([evolve(case, condition=Condition(variant="v\ud800", template="t\ud800", language="l\ud800"))])
    columns = ("stratum", "group", "variant", "template", "language")
    assert [here.column(name) for name in columns] == [[f"{name[0]}?"] for name in columns]


async def test_a_judge_is_free_only_where_its_reply_says_so(court: Any) -> None:
    """One without a reply may have called a model by itself."""
    here = court(Single(yes))
    await here.judge()
    assert (here.column("cost")[0], here.column("prompt_tokens")[0], here.column("latency")[0]) == (None, None, None)
    unknown = court(Single(lambda _: evolve(yes(), reply=Reply(status=Status.OK))))
    cases = [evolve(case, id=f"other {case.id}") for case in unknown.cases()]
    await unknown.judge(cases)
    assert (unknown.column("cost")[0], unknown.column("prompt_tokens")[0]) == (None, None)


async def test_a_key_in_a_rationale_never_gets_into_the_store(court: Any, tmp_path: Path, store: Store) -> None:
    verdict = Verdict(status=Status.OK, presented="YES", rationale=f"my key is {KEY}")
    here = court(Single(lambda _: Judgement(verdict=verdict, reply=Reply(status=Status.OK, text=KEY))))
    await here.judge()
    assert here.column("rationale")[0] == "my key is [redacted]"
    files = [path.read_bytes() for path in (tmp_path / "run").iterdir()]
    assert not [content for content in files if KEY.encode() in content]


async def test_a_batch_judge_is_asked_in_a_thread_and_answers_in_order(court: Any) -> None:
    def say(questions: Sequence[Question]) -> list[Judgement]:
        labels = ["NO" if "0" in str(question.fields["response"]) else "YES" for question in questions]
        return [Judgement(verdict=Verdict(status=Status.OK, presented=label)) for label in labels]

    judge = Batch(say)
    here = court(judge, JudgeKind.BATCH)
    await here.judge()
    assert judge.sizes == [4]
    assert here.column("canonical") == ["NO", "YES", "YES", "YES"]
    assert threading.get_ident() not in judge.threads


async def test_many_questions_are_handed_over_in_batches(lab: Any, court: Any) -> None:
    lab.items = (lab.items[0],)
    judge = Batch(lambda questions: [yes()] * len(questions))
    here = court(judge, JudgeKind.BATCH)
    await here.judge(here.cases(stage.AT_ONCE + 5))
    assert judge.sizes == [stage.AT_ONCE, 5]


@pytest.mark.parametrize(
    ("say", "detail"),
    [
        (lambda questions: [yes()], "JrhError: answered 1 of 4 questions"),
        (lambda questions: [yes()] * 5, "JrhError: answered 5 of 4 questions"),
        (lambda questions: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda questions: None, "TypeError"),
        (lambda questions: ["YES"] * 4, "TypeError: the judge returned str"),
    ],
)
async def test_a_batch_that_does_not_fit_is_an_error_of_every_trial_and_a_label_of_none(
    court: Any, say: Any, detail: str
) -> None:
    here = court(Batch(say), JudgeKind.BATCH)
    await here.judge()
    assert here.column("status") == ["plugin_error"] * 4
    assert all(each.startswith(detail) for each in here.column("detail"))


class Spy:
    """A trained judge that remembers what it learnt from and what it was then asked."""

    def __init__(self) -> None:
        self.learnt: list[list[Example]] = []
        self.asked: list[tuple[list[Example], Question]] = []

    def fit(self, examples: Sequence[Example]) -> Any:
        self.learnt.append(list(examples))

        def say(questions: Sequence[Question]) -> list[Judgement]:
            self.asked.extend((list(examples), question) for question in questions)
            return [yes()] * len(questions)

        return Batch(say)


async def test_a_trained_judge_never_learnt_from_the_group_it_judges(lab: Any, court: Any) -> None:
    lab.items = tuple(
        Item(
            id=f"i{number}",
            fields={"request": "r", "response": f"text {number} of group {number // 3}"},
            gold=None if number == 7 else ("YES", "NO")[number % 2],
            group=f"group {number // 3}",
        )
        for number in range(30)
    )
    spy = Spy()
    here = court(spy, JudgeKind.TRAINED)
    perturbed = [
        evolve(case, id=f"p {case.id}", fields={**case.fields, "response": str(case.fields["response"]).upper()})
        for case in here.cases()
    ]
    await here.judge([*here.cases(2), *perturbed])
    assert here.column("status") == ["ok"] * 90
    assert len(spy.asked) == 90
    for examples, question in spy.asked:
        own = str(question.fields["response"]).lower().rpartition("of ")[2]
        assert own not in {str(each.fields["response"]).rpartition("of ")[2] for each in examples}
        assert not [each for each in examples if own in str(each.fields["response"]).split("of ")[1:]]
    # Everything labelled of the other folds is there to learn from, the unlabelled item never.
    cluster = clusters_of(lab.items)
    folds = folds_of([(cluster[item.id], item.gold or "") for item in lab.items], 5)
    assert len(spy.learnt) == 5
    for fold, examples in enumerate(spy.learnt):
        assert len(examples) == sum(folds[cluster[item.id]] != fold and item.gold is not None for item in lab.items)
    # What it learns from is the items as they are, not as they were changed.
    assert not [each for examples in spy.learnt for each in examples if str(each.fields["response"]).isupper()]


async def test_an_item_without_a_group_is_a_group_of_its_own(lab: Any, court: Any) -> None:
    lab.items = tuple(
        Item(id=f"i{n}", fields={"request": "r", "response": f"<{n}>"}, gold=("YES", "NO")[n % 2]) for n in range(10)
    )
    spy = Spy()
    here = court(spy, JudgeKind.TRAINED)
    await here.judge()
    for examples, question in spy.asked:
        assert question.fields["response"] not in {example.fields["response"] for example in examples}
        assert len(examples) == 8


async def test_a_judge_that_cannot_be_trained_is_an_error_of_that_folds_trials(lab: Any, court: Any) -> None:
    class Picky(Spy):
        def fit(self, examples: Sequence[Example]) -> Any:
            if len(self.learnt) == 1:
                self.learnt.append([])
                raise ValueError("one class only")
            return super().fit(examples)

    here = court(Picky(), JudgeKind.TRAINED)
    await here.judge()
    assert sorted(here.column("status")) == ["ok", "ok", "ok", "plugin_error"]
    assert "ValueError: one class only" in here.column("detail")


class Liar:
    """A simulated judge that keeps the truth it is handed."""

    def __init__(self) -> None:
        self.truths: list[Truth] = []

    async def judge(self, question: Question, truth: Truth) -> Judgement:
        self.truths.append(truth)
        return yes()


async def test_a_simulated_judge_is_handed_the_truth_and_marked(lab: Any, court: Any) -> None:
    liar = Liar()
    here = court(liar, JudgeKind.SIMULATED)
    case = here.cases()[1]
    swapped = evolve(
        case,
        fields={**case.fields, "response": "changed"},
        label_map={"YES": "NO", "NO": "YES"},
        condition=Condition(family="polarity"),
    )
    await here.judge([swapped], simulated=True)
    (truth,) = liar.truths
    assert truth == Truth(
        item_id="i1",
        gold="YES",
        expected="NO",
        condition=Condition(family="polarity"),
        label_map={"YES": "NO", "NO": "YES"},
        reference_fields=lab.items[1].fields,
    )
    assert here.column("simulated") == [1]


async def test_the_truth_follows_the_expectation_and_is_unknown_where_nothing_is_known(lab: Any, court: Any) -> None:
    lab.items = lab.relabelled(i2=None)
    liar = Liar()
    here = court(liar, JudgeKind.SIMULATED)
    flipped = evolve(here.cases()[1], expectation=Equals(label="NO"))
    await here.judge([flipped, here.cases()[2]], simulated=True)
    assert [(truth.gold, truth.expected) for truth in liar.truths] == [("YES", "NO"), (None, None)]


async def test_a_right_answer_that_changes_is_no_longer_the_gold_label(lab: Any, court: Any) -> None:
    """A judge told that the gold label stays right looked as if it did not read."""
    liar = Liar()
    here = court(liar, JudgeKind.SIMULATED)
    await here.judge([evolve(here.cases()[1], expectation=Changes())], simulated=True)
    assert [(truth.gold, truth.expected, truth.changes) for truth in liar.truths] == [("YES", None, True)]


async def test_trials_that_are_done_are_not_put_again_and_failed_ones_are(court: Any) -> None:
    failing = {"answer 1.", "answer 2."}

    def say(question: Question) -> Judgement:
        if question.fields["response"] in failing:
            return Judgement(verdict=Verdict(status=Status.TIMEOUT))
        return yes()

    judge = Single(say)
    here = court(judge)
    await here.judge()
    judge.asked.clear()
    failing.clear()
    await here.judge()
    assert [question.fields["response"] for question in judge.asked] == ["answer 1.", "answer 2."]
    assert here.column("status") == ["ok"] * 4


async def test_the_end_of_the_run_keeps_what_was_finished_and_starts_nothing_more(lab: Any, court: Any) -> None:
    def say(question: Question) -> Judgement:
        if "answer 2" in str(question.fields["response"]):
            raise StopRun(StopReason.BUDGET, "no more")
        return yes()

    here = court(Single(say))
    with pytest.raises(StopRun, match="no more"):
        await here.judge()
    assert here.column("item_id") == ["i0", "i1"]


@pytest.mark.parametrize("kind", list(JudgeKind))
async def test_a_judge_that_asks_no_model_stops_when_the_run_does(lab: Any, court: Any, kind: JudgeKind) -> None:
    judge = {
        JudgeKind.SINGLE: Single(yes),
        JudgeKind.BATCH: Batch(lambda questions: [yes()] * len(questions)),
        JudgeKind.TRAINED: Spy(),
        JudgeKind.SIMULATED: Liar(),
    }[kind]
    here = court(judge, kind)
    here.stopped = lambda: StopRun(StopReason.INTERRUPTED, "interrupted")
    with pytest.raises(StopRun, match="interrupted"):
        await here.judge()
    assert here.column("status") == []
    here.stopped = lambda: StopRun(StopReason.BUDGET, "out of money, which this judge does not need")
    await here.judge()
    assert len(here.column("status")) == 4


async def test_a_store_that_cannot_be_written_ends_the_run(court: Any, store: Store) -> None:
    async def slow(question: Question) -> Judgement:
        await asyncio.sleep(0.05)
        return yes()

    class Slow:
        judge = staticmethod(slow)

    store._database.writer.put(("INSERT INTO nowhere VALUES (?)", [(1,)]))
    here = court(Slow())
    with pytest.raises(StoreError, match="nowhere"):
        await here.judge()


async def test_a_record_is_durable_before_a_plugin_is_told(court: Any, site: Any, tmp_path: Path, stored: Any) -> None:
    site.install("acme-ear", "from jrh import hookimpl\n@hookimpl\ndef jrh_record_committed(event):\n    hear(event)\n")
    here = court(Single(yes))
    heard: list[tuple[RecordCommitted, int]] = []
    loaded = load_plugins()
    import acme_ear

    viewed = Store.view(tmp_path / "run")
    acme_ear.hear = lambda event: heard.append(
        (event, stored(viewed, "SELECT count(*) FROM records WHERE trial_id = ?", event.record.trial_id)[0][0])
    )
    here.events = Events(loaded.manager, lambda *what: pytest.fail(str(what)))
    await here.judge()
    viewed.close()
    assert [event.record.item_id for event, _ in heard] == ["i0", "i1", "i2", "i3"]
    assert [count for _, count in heard] == [1, 1, 1, 1]
    assert heard[0][0].run_id == "run"


async def test_several_judges_work_at_the_same_time_and_one_that_breaks_costs_the_others_nothing(
    lab: Any, store: Store
) -> None:
    met = asyncio.Barrier(2) if hasattr(asyncio, "Barrier") else None

    class Meets:
        async def judge(self, question: Question) -> Judgement:
            if met is not None:
                await asyncio.wait_for(met.wait(), 20)
            return yes()

    specs = [
        JudgeSpec(name=name, summary="", factory=lambda options, context: Meets(), modes=frozenset({Mode.POINTWISE}))
        for name in ("a", "b")
    ]
    here = Court(lab, store, None)
    here.builder = lab.builder(*specs, judges=["a", "b"])
    cases = here.cases()
    judges = [(judge, judge.use.name) for judge in here.builder.resolved.judges]
    store.trials.replace("plan", TrialPlanner(judges, {here.task.name: here.task}).trials(cases))
    store_cases(store, cases)
    await here.judge_all()
    store.flush()
    assert sorted(zip(here.column("judge"), here.column("item_id"), strict=True)) == [
        (judge, f"i{number}") for judge in "ab" for number in range(4)
    ]


@frozen(kw_only=True)
class Asks:
    """Options of a judge that asks a model."""

    model: ModelName = ModelName("m")


class Crowded:
    """A gate that notes how many questions wait at it."""

    def __init__(self) -> None:
        self.waiting = self.most = 0
        self.concurrency = SharedConcurrency(self.sleep)

    async def answer(self, *_: Any) -> Reply:
        self.waiting += 1
        self.most = max(self.most, self.waiting)
        await asyncio.sleep(0.02)
        self.waiting -= 1
        return Reply(status=Status.OK, text="YES", cost=0.0)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@frozen
class Asking:
    """A judge that asks a model."""

    client: Any

    async def judge(self, _: Question) -> Judgement:
        reply = await self.client.ask(ChatRequest(messages=()))
        return Judgement(verdict=Verdict(status=Status.OK, presented="YES"), reply=reply)


@pytest.mark.parametrize(("places", "waiting"), [(1, 1), (3, 4), (8, 12)])
async def test_a_few_more_questions_are_made_ready_than_there_are_places_at_the_model(
    lab: Any, court: Any, places: int, waiting: int
) -> None:
    gate = Crowded()
    there = court(Single(yes))
    there.builder = lab.builder(
        JudgeSpec(name="j", summary="", options=Asks, factory=lambda options, at: Asking(at.model(options.model))),
        ModelSpec(name="fake", summary="", factory=lambda options, context: ScriptedModel([])),
        judges=["j"],
        models={"m": {"provider": "fake", "concurrency": places}},
        open_model=lambda use, model: Client(use, model, gate),
    )
    await there.judge(there.cases(repeats=5))
    assert gate.most == waiting
    assert there.column("canonical") == ["YES"] * 20


def test_nothing_to_do_is_done_at_once(lab: Any, store: Store, stored: Any) -> None:
    asyncio.run(Court(lab, store, None).judge_all())
    store.flush()
    assert stored(store, "SELECT count(*) FROM records") == [(0,)]


class Closing(Single):
    """A judge that holds something; it says what it saw closed."""

    def __init__(self, say: Callable[[Question], Any], *, breaks: bool = False) -> None:
        super().__init__(say)
        self.breaks = breaks
        self.closed_after: list[int] = []

    async def aclose(self) -> None:
        self.closed_after.append(len(self.asked))
        if self.breaks:
            raise OSError(f"cannot close with {KEY}")


async def test_a_judge_is_closed_once_after_its_last_question(court: Any) -> None:
    judge = Closing(yes)
    await court(judge).judge()
    assert judge.closed_after == [4]


async def test_a_judge_is_closed_where_the_run_ends_early(court: Any) -> None:
    judge = Closing(yes)
    here = court(judge)
    here.stopped = lambda: StopRun(StopReason.INTERRUPTED, "interrupted") if judge.asked else None
    with pytest.raises(StopRun):
        await here.judge()
    assert len(judge.closed_after) == 1


async def test_a_judge_that_cannot_be_closed_costs_nothing_but_a_line_in_the_log(lab: Any, court: Any) -> None:
    here = court(Closing(yes, breaks=True))
    await here.judge()
    assert here.column("status") == ["ok"] * 4
    assert [entry.event for entry in lab.log.entries] == ["judge did not close"]


@pytest.mark.parametrize(
    ("status", "said", "recorded"),
    [(Status.OK, 1, 1), (Status.OK, 3, 3), (Status.TIMEOUT, 1, 0), (Status.REFUSED, 1, 0)],
)
async def test_a_record_says_how_many_replies_were_read_for_the_verdict(
    court: Callable[..., Court], status: Status, said: int, recorded: int
) -> None:
    class Persistent:
        async def judge(self, question: Question) -> Judgement:
            verdict = Verdict(status=status, presented="YES" if status is Status.OK else None)
            return Judgement(verdict=verdict, reply=Reply(status=status, text="YES"), parse_attempts=said)

    judged = court(Persistent())
    await judged.judge()
    assert set(judged.column("parse_attempts")) == {recorded}


async def test_a_question_carries_the_output_mode_and_its_record_the_level(court: Callable[..., Court]) -> None:
    asked: list[str] = []

    class Noting:
        async def judge(self, question: Question) -> Judgement:
            asked.append(question.output)
            return Judgement(verdict=Verdict(status=Status.OK, presented="YES"))

    judged = court(Noting())
    varied = [
        evolve(case, condition=Condition(output="json"), sampling=Sampling(reasoning_effort="high"))
        for case in judged.cases()
    ]
    await judged.judge(varied)
    assert set(asked) == {"json"}
    assert set(judged.column("output")) == {"json, reasoning=high"}
