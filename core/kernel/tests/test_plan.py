"""What a run would do, before anything is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pluggy
import pytest
from attrs import evolve, frozen
from jrh.api import execute
from jrh.plugins.hookspecs import PROJECT
from jrh.plugins.loading import Loaded
from jrh.plugins.protocols import ChatRequest, Rates
from jrh.plugins.specs import JudgeSpec, ModelSpec, PerturberSpec
from jrh.running.cost_estimate import SAMPLE, USUAL_OUTPUT, Plan, PlanLine, make_plan, spread
from jrh.running.outcome import Settings
from jrh.running.progress import Silent
from jrh.suite.resolved import ResolvedSuite
from jrh.values.types import Draft, Item, Judgement, Message, ModelName, Prompt, Question, Sampling, Status, Verdict
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
            Draft(variant="again", repeats=3),
            Draft(variant="prompt", prompt=Prompt(name="terse", user="{{ response }}?")),
        ]


class Writes(Repeats):
    """A perturber that asks a model."""

    def __init__(self, model: Any) -> None:
        self.model = model

    async def perturb(self, item: Item) -> list[Draft]:
        raise AssertionError("planning must not ask")


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
        return make_plan(self.resolve(**changes), self.loaded, self.run_dir)

    def lines(self, **changes: Any) -> dict[tuple[str, str], PlanLine]:
        return {(line.judge, line.test): line for line in self.plan(**changes).lines}

    def run(self, **changes: Any) -> Any:
        settings = Settings(run_dir=self.run_dir, use_cache=False)
        return execute(self.resolve(**changes), self.loaded, settings, Silent())


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
    counted = {key: (line.cases, line.trials, line.calls) for key, line in lines.items()}
    assert counted == {
        ("asks", "reference"): (4, 8, 8),
        ("asks", "repeats"): (8, 16, 16),
        ("fixed", "reference"): (4, 8, 0),
        # It reads no prompt, so it is not asked about the one that changes only that.
        ("fixed", "repeats"): (4, 12, 0),
    }
    assert not any(line.estimated for line in lines.values())


def test_tokens_and_costs_follow_from_the_prompts_the_judge_writes(lab2: Lab2) -> None:
    line = lab2.lines()["asks", "reference"]
    # "answer 0." is 9 characters: 2 tokens and 4 for the message.
    assert (line.prompt_tokens, line.output_tokens) == (8 * 6, 8 * USUAL_OUTPUT)
    assert line.cost == pytest.approx(48 * 1e-6 + 2400 * 1e-5)
    limited = lab2.lines(models={"mini": {"provider": "fake", "max_tokens": 5}})["asks", "reference"]
    assert limited.output_tokens == 8 * 5
    priced = lab2.lines(models={"mini": {"provider": "fake", "price": {"input": 2, "output": 20}}})
    assert priced["asks", "reference"].cost == pytest.approx(48 * 2e-6 + 2400 * 20e-6)


def test_the_whole_plan_adds_up_and_an_unknown_price_is_unknown(lab: Any, tmp_path: Path, lab2: Lab2) -> None:
    plan = lab2.plan()
    assert plan.calls == 24
    assert plan.cost == pytest.approx(sum(line.cost or 0 for line in plan.lines))
    assert plan.cost is not None
    assert plan.cost > 0
    unpriced = Lab2(lab, tmp_path / "other", rates=None).plan()
    assert unpriced.cost is None
    assert unpriced.calls == 24
    assert lab2.plan(judges=["fixed"]).cost == 0.0


def test_planning_asks_no_model_and_writes_nothing(lab2: Lab2) -> None:
    lab2.plan(tests=["repeats", "writes"])
    assert lab2.model.asked == []
    assert not lab2.run_dir.exists()


def test_cases_that_a_model_writes_are_estimated_and_named(lab2: Lab2) -> None:
    plan = lab2.plan(tests=["repeats", {"writes": {"repeats": 2}}])
    assert plan.generated == ("writes",)
    line = next(line for line in plan.lines if (line.judge, line.test) == ("asks", "writes"))
    assert (line.estimated, line.cases, line.trials, line.calls) == (True, 4, 8, 8)


def test_a_long_test_is_estimated_from_a_sample(lab2: Lab2) -> None:
    lab2.lab.items = tuple(
        Item(id=f"i{number}", fields={"request": "r", "response": "x" * 4 * number}, gold="YES")
        for number in range(100)
    )
    line = lab2.lines(tests=[])["asks", "reference"]
    assert (line.trials, line.calls) == (200, 200)
    assert line.prompt_tokens == pytest.approx(2 * sum(number + 4 for number in range(100)), rel=0.05)
    assert spread(range(100), SAMPLE) == list(range(0, 100, 4))  # type: ignore[arg-type,comparison-overlap]


def test_what_is_done_is_not_planned_again(lab2: Lab2) -> None:
    assert lab2.run().exit_code == 0
    assert lab2.plan().calls == 0
    lines = lab2.lines()
    assert (lines["asks", "reference"].trials, lines["asks", "reference"].cost) == (8, 0.0)


def test_what_a_change_of_the_suite_makes_necessary_again_is_planned(lab2: Lab2) -> None:
    lab2.run()
    assert lab2.plan(judges=[{"asks": {"strict": True}}]).calls == 24
    assert lab2.plan(models={"mini": {"provider": "fake", "temperature": 1.0}}).calls == 24
    assert lab2.plan(reference={"repeats": 3}).calls == 12
    lab2.lab.items = (evolve(lab2.lab.items[0], gold="YES"), *lab2.lab.items[1:])
    assert lab2.plan(judges=["asks"]).calls == 2 + 4


def test_trials_that_may_succeed_when_asked_again_are_planned(lab2: Lab2) -> None:
    answers = iter(range(1000))
    lab2.model = ScriptedModel(lambda _: KeyError("a bug") if next(answers) % 4 == 0 else "YES")
    result = lab2.run()
    failed = result.records.text("status").count(Status.PROVIDER_ERROR.value)
    assert failed == 6
    assert lab2.plan().calls == 6


def test_planning_an_empty_directory_left_by_a_kill_is_planning_from_the_start(lab2: Lab2) -> None:
    lab2.run_dir.mkdir()
    (lab2.run_dir / "run.sqlite").touch()
    assert lab2.plan().calls == 24


def test_sampling_of_a_case_is_part_of_what_is_planned(lab2: Lab2) -> None:
    class Long:
        async def perturb(self, item: Item) -> list[Draft]:
            return [Draft(sampling=Sampling(max_tokens=7))]

    lab2.specs = (*lab2.specs, PerturberSpec(name="long", summary="", factory=lambda options, context: Long()))
    lab2.loaded = Loaded(plugins=lab2.lab.plugins(*lab2.specs), manager=_manager())
    assert lab2.lines(tests=["long"])["asks", "long"].output_tokens == 4 * 7
