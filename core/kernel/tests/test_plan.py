"""What a run would do, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pluggy
import pytest
from attrs import evolve, frozen
from jrh.api import execute
from jrh.errors import JrhError, StoreError
from jrh.plugins.hookspecs import PROJECT
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import ChatRequest, Rates
from jrh.plugins.specs import JudgeSpec, ModelSpec, PerturberSpec
from jrh.running.outcome import RunRequest, Settings
from jrh.running.progress import Progress
from jrh.suite.resolved import ResolvedSuite
from jrh.values.cases import Draft, Message, Prompt, Sampling, Skip
from jrh.values.items import Item
from jrh.values.option_values import ModelName
from jrh.values.verdicts import Judgement, Question, Status, Verdict
from jrh_plan.call_meter import LEAST_OUTPUT, MOST_OUTPUT, Amount
from jrh_plan.draft_estimate import spread
from jrh_plan.estimate import SAMPLE, Plan, PlanLine, make_plan
from jrh_testing import LabelParser, ScriptedModel


@frozen(kw_only=True)
class AsksOptions:
    """Options of something that asks a model."""

    model: ModelName = ModelName("mini")
    strict: bool = False


class Asks:
    """A judge that asks its model once."""

    def __init__(self, model: Any) -> None:
        self.model = model

    async def judge(self, question: Question) -> Judgement:
        text = str(question.fields["response"]) + ("?" if question.prompt else "")
        request = ChatRequest(messages=(Message(role="user", content=text),), sampling=question.sampling)
        reply = await self.model.ask(request, repeat=question.occasion)
        if not reply.ok:
            return Judgement(verdict=Verdict(status=reply.status), reply=reply)
        return Judgement(verdict=LabelParser().parse(reply, question.task.scale), reply=reply)


class Repeats:
    """A perturber that asks the same again, and another with a prompt of its own."""

    async def perturb(self, item: Item) -> list[Draft]:
        return [
            Draft(variant="again", repeats=3, expectation=None),
            Draft(variant="prompt", prompt=Prompt(name="terse", user="{{ response }}?")),
        ]


class Writes(Repeats):
    """A perturber that asks a model."""

    def __init__(self, model: Any) -> None:
        self.model = model

    async def perturb(self, item: Item) -> list[Draft | Skip]:  # type: ignore[override]
        text = str(item.fields["response"])
        for attempt in range(3):
            request = ChatRequest(messages=(Message(role="user", content=f"Rewrite: {text}"),))
            reply = await self.model.ask(request, repeat=attempt)
            if reply.ok and reply.text == "YES":
                return [Draft(variant="new", fields={"response": f"{text}!"})]
            if not reply.ok:
                break
        return [Skip(reason="nothing usable")]


RATES = Rates(input=1e-6, output=1e-5)


class Lab2:
    """A suite with a judge that asks a model and one that does not."""

    def __init__(self, lab: Any, run_dir: Path, rates: Rates | None = RATES) -> None:
        self.lab = lab
        self.run_dir = run_dir
        self.model = ScriptedModel("YES", rates=rates)
        self.specs = (
            JudgeSpec(
                name="asks", summary="", options=AsksOptions, factory=lambda o, context: Asks(context.model(o.model))
            ),
            ModelSpec(name="fake", summary="", factory=lambda options, context: self.model),
            PerturberSpec(name="repeats", summary="", factory=lambda options, context: Repeats()),
            PerturberSpec(
                name="writes",
                summary="",
                options=AsksOptions,
                factory=lambda o, context: Writes(context.model(o.model)),
            ),
        )
        self.loaded = Loaded(plugins=lab.plugins(*self.specs), manager=_manager())

    def resolve(self, **changes: Any) -> ResolvedSuite:
        suite = {"judges": ["asks", "fixed"], "tests": ["repeats"], "models": {"mini": {"provider": "fake"}}, **changes}
        return self.lab.resolve(*self.specs, **suite)

    def plan(self, **changes: Any) -> Plan:
        settings = Settings(preflight=False, use_cache=False)
        return make_plan(self.request(settings, **changes))

    def lines(self, **changes: Any) -> dict[tuple[str, str], PlanLine]:
        return {(line.name, line.test): line for line in self.plan(**changes).lines}

    def run(self, **changes: Any) -> Any:
        settings = Settings(use_cache=False, preflight=False)
        return execute(self.request(settings, **changes), Progress())

    def request(self, settings: Settings, **changes: Any) -> RunRequest:
        resolved = self.resolve(**changes)
        return RunRequest(resolved=resolved, loaded=self.loaded, settings=settings, run_dir=self.run_dir)


def _manager() -> pluggy.PluginManager:
    from jrh.plugins import hookspecs

    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


@pytest.fixture
def lab2(lab: Any, tmp_path: Path) -> Lab2:
    return Lab2(lab, tmp_path / "run")


def test_cases_trials_and_calls_are_counted_per_judge_and_test(lab2: Lab2) -> None:
    lines = lab2.lines()
    assert list(lines) == [("asks", "reference"), ("asks", "repeats"), ("fixed", "reference"), ("fixed", "repeats")]
    counted = {key: (line.cases, line.trials, line.amount.high) for key, line in lines.items()}
    assert counted == {
        ("asks", "reference"): (4, 8, 8),
        ("asks", "repeats"): (8, 16, 16),
        ("fixed", "reference"): (4, 8, 0),
        # It reads no prompt, so it is not asked about the one that changes only that.
        ("fixed", "repeats"): (4, 12, 0),
    }
    assert not any(line.estimated for line in lines.values())


def test_the_range_of_costs_follows_from_the_prompts_the_judge_writes(lab2: Lab2) -> None:
    spent = lab2.lines()["asks", "reference"].amount
    # "answer 0." is 9 characters: at least 1 token, at most 3 and 16 for the message.
    assert (spent.low, spent.high, spent.prompt_high, spent.output_high) == (8, 8, 8 * 19, 8 * MOST_OUTPUT)
    assert spent.cost_low == pytest.approx(8 * (1 * 1e-6 + LEAST_OUTPUT * 1e-5))
    assert spent.cost_high == pytest.approx(8 * (19 * 1e-6 + MOST_OUTPUT * 1e-5))
    limited = lab2.lines(models={"mini": {"provider": "fake", "max_tokens": 5}})["asks", "reference"]
    assert limited.amount.output_high == 8 * 5
    priced = lab2.lines(models={"mini": {"provider": "fake", "price": {"input": 2, "output": 20}}})
    assert priced["asks", "reference"].amount.cost_high == pytest.approx(2 * spent.cost_high)


def test_the_whole_plan_adds_up_and_an_unknown_price_is_unknown(lab: Any, tmp_path: Path, lab2: Lab2) -> None:
    plan = lab2.plan()
    assert plan.total.high == 24
    assert plan.total.cost_high == pytest.approx(sum(line.amount.cost_high for line in plan.lines))
    assert plan.total.cost_high > 0
    unpriced = Lab2(lab, tmp_path / "other", rates=None).plan().total
    assert (unpriced.high, unpriced.unpriced, unpriced.cost_high) == (24, 24, 0.0)
    assert lab2.plan(judges=["fixed"]).total == Amount()


def test_planning_asks_no_model_and_writes_nothing(lab2: Lab2) -> None:
    lab2.plan(tests=["repeats", "writes"])
    assert lab2.model.asked == []
    assert not lab2.run_dir.exists()


def test_cases_that_a_model_writes_are_a_range_from_one_call_each_to_all_attempts(lab2: Lab2) -> None:
    lines = lab2.lines(tests=["repeats", {"writes": {"repeats": 2}}])
    writer = lines["writes", "writes"]
    assert (writer.role, writer.amount.low, writer.amount.high) == ("writer", 4, 12)
    judge = lines["asks", "writes"]
    assert (judge.estimated, judge.cases, judge.trials, judge.amount.low, judge.amount.high) == (True, 4, 8, 0, 8)


def test_a_tests_own_sample_is_all_that_is_written(lab2: Lab2) -> None:
    lines = lab2.lines(tests=[{"writes": {"sample": {"n": 2}}}])
    assert (lines["writes", "writes"].amount.high, lines["asks", "writes"].cases) == (6, 2)


def test_a_test_that_makes_nothing_is_named_and_not_listed(lab2: Lab2) -> None:
    class Nothing:
        async def perturb(self, item: Item) -> list[Skip]:
            return [Skip(reason="the scale has no levels")]

    nothing = PerturberSpec(name="levels", summary="", options=AsksOptions, factory=lambda options, context: Nothing())
    lab2.specs = (*lab2.specs, nothing)
    lab2.loaded = Loaded(plugins=lab2.lab.plugins(*lab2.specs), manager=_manager())
    plan = lab2.plan(tests=["levels"])
    assert plan.nothing == ("Test 'levels' has no cases on task 'lab': the scale has no levels (4)",)
    assert {line.test for line in plan.lines} == {"reference"}


def test_a_plan_refuses_what_a_run_refuses(lab: Any, tmp_path: Path, lab2: Lab2) -> None:
    unpriced = Lab2(lab, tmp_path / "other", rates=None)
    for attempt in (unpriced.plan, unpriced.run):
        with pytest.raises(JrhError, match="model 'mini' has no known price, and the suite has a budget in dollars"):
            attempt(budget={"usd": 1.0})
    lab2.run()
    for attempt in (lab2.plan, lab2.run):
        with pytest.raises(StoreError, match="belongs to the suite"):
            attempt(name="other")


def test_a_long_test_is_estimated_from_a_sample(lab2: Lab2) -> None:
    lab2.lab.items = tuple(
        Item(id=f"i{number}", fields={"request": "r", "response": "x" * 4 * number}, gold="YES")
        for number in range(100)
    )
    line = lab2.lines(tests=[])["asks", "reference"]
    assert (line.trials, line.amount.high) == (200, 200)
    most = 2 * sum(4 * number / 3 + 16 for number in range(100))
    assert line.amount.prompt_high == pytest.approx(most, rel=0.05)
    assert spread(range(100), SAMPLE) == list(range(0, 100, 4))  # type: ignore[arg-type,comparison-overlap]


def test_what_is_done_is_not_planned_again(lab2: Lab2) -> None:
    assert lab2.run().exit_code == 0
    assert lab2.plan().total.high == 0
    lines = lab2.lines()
    assert (lines["asks", "reference"].trials, lines["asks", "reference"].amount) == (8, Amount())


@pytest.mark.parametrize(
    ("changes", "calls"),
    [
        ({"judges": [{"asks": {"strict": True}}]}, 0),  # other verdicts, the same requests
        ({"models": {"mini": {"provider": "fake", "temperature": 1.0}}}, 24),
        ({"tests": []}, 0),
    ],
)
def test_what_a_change_of_the_suite_makes_necessary_again_is_planned(
    lab2: Lab2, changes: dict[str, Any], calls: int
) -> None:
    lab2.run()
    assert lab2.plan(**changes).total.high == calls
    before = len(lab2.model.asked)
    lab2.run(**changes)
    assert len(lab2.model.asked) - before == calls


def test_another_item_is_planned_again(lab2: Lab2) -> None:
    lab2.run()
    lab2.lab.items = (evolve(lab2.lab.items[0], fields={"request": "r", "response": "new"}), *lab2.lab.items[1:])
    assert lab2.plan(judges=["asks"]).total.high == 2 + 4


def test_trials_that_may_succeed_when_asked_again_are_planned(lab2: Lab2) -> None:
    answers = iter(range(1000))
    lab2.model = ScriptedModel(lambda _: KeyError("a bug") if next(answers) % 4 == 0 else "YES")
    result = lab2.run()
    failed = result.records.text("status").count(Status.PROVIDER_ERROR.value)
    assert failed == 6
    assert lab2.plan().total.high == 6


def test_planning_an_empty_directory_left_by_a_kill_is_planning_from_the_start(lab2: Lab2) -> None:
    lab2.run_dir.mkdir()
    (lab2.run_dir / "run.sqlite").touch()
    assert lab2.plan().total.high == 24


def test_sampling_of_a_case_is_part_of_what_is_planned(lab2: Lab2) -> None:
    class Long:
        async def perturb(self, item: Item) -> list[Draft]:
            return [Draft(sampling=Sampling(max_tokens=7))]

    lab2.specs = (*lab2.specs, PerturberSpec(name="long", summary="", factory=lambda options, context: Long()))
    lab2.loaded = Loaded(plugins=lab2.lab.plugins(*lab2.specs), manager=_manager())
    assert lab2.lines(tests=["long"])["asks", "long"].amount.output_high == 4 * 7
