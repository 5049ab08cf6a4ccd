"""Options and a context in, a component out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from attrs import field, frozen
from jrh.errors import JrhError, PluginError
from jrh.hashing import derive_seed
from jrh.plugins.specs import JudgeSpec, MetricSpec, ModelSpec, ParserSpec, ValidatorSpec
from jrh.running.identity import describe_component, identity
from jrh.suite.resolve import load_suite
from jrh.values.option_values import ModelName, ParserName
from jrh_testing import LabelParser, ScriptedModel


@frozen(kw_only=True)
class AsksOptions:
    """Options of a judge that asks a model."""

    model: ModelName = ModelName("mini")
    parser: ParserName = ParserName("label")
    table: Path = Path("table.csv")
    strict: bool = field(default=True)


@frozen(kw_only=True)
class ProviderOptions:
    """Options of a provider."""

    endpoint: str = "here"


class Made:
    """What a factory made, and of what."""

    def __init__(self, options: Any, context: Any) -> None:
        self.options = options
        self.context = context

    async def judge(self, question: Any) -> Any: ...

    async def validate(self, item: Any, draft: Any) -> Any: ...

    def parse(self, reply: Any, scale: Any) -> Any: ...


JUDGE = JudgeSpec(name="asks", summary="", options=AsksOptions, factory=Made)  # type: ignore[arg-type]
PROVIDER = ModelSpec(
    name="fake", summary="", options=ProviderOptions, factory=lambda options, context: ScriptedModel("YES")
)
PARSER = ParserSpec(name="label", summary="", factory=lambda options, context: LabelParser())
MODELS = {"mini": {"provider": "fake", "temperature": 0.5}, "maxi": {"provider": "fake", "endpoint": "there"}}


def judge_of(lab: Any, *, specs: tuple[Any, ...] = (), judge: Any = "asks", **changes: Any) -> Any:
    builder = lab.builder(JUDGE, PROVIDER, PARSER, *specs, models=MODELS, judges=[judge], **changes)
    return builder, builder.resolved.judges[0]


def test_a_factory_is_handed_typed_options_and_its_context(lab: Any) -> None:
    builder, judge = judge_of(lab, judge={"asks": {"name": "mine", "strict": False}}, seed=7)
    task = builder.resolved.suite.tasks[0].task
    made = builder.build(judge, task)
    assert (made.options.model, made.options.strict) == ("mini", False)
    assert (made.context.name, made.context.task, made.context.base) == ("mine", task, Path())
    assert made.context.seed("item", 3) == derive_seed(7, "asks", "item", 3)
    made.context.log.info("hello")
    assert [entry.event for entry in lab.log.entries] == ["hello"]


def test_a_seed_can_belong_to_the_family_and_not_to_the_suites_name_for_it(lab: Any) -> None:
    builder, judge = judge_of(lab)
    made = builder.build(judge, None, seed_name="family")
    assert made.context.seed("x") == derive_seed(0, "family", "x")


def test_a_model_is_built_once_and_shared(lab: Any) -> None:
    opened: list[str] = []
    built: list[str] = []

    def provide(options: Any, context: Any) -> ScriptedModel:
        built.append(context.name)
        return ScriptedModel("YES")

    def open_model(use: Any, model: Any) -> Any:
        opened.append(use.name)
        return model

    provider = ModelSpec(name="fake", summary="", options=ProviderOptions, factory=provide)
    builder = lab.builder(JUDGE, provider, PARSER, models=MODELS, judges=["asks"], open_model=open_model)
    made = builder.build(builder.resolved.judges[0], None)
    assert made.context.model("mini") is made.context.model("mini") is builder.model("mini")
    assert (opened, built) == (["mini"], ["mini"])
    assert builder.model("maxi") is not builder.model("mini")
    with pytest.raises(JrhError, match="unknown model 'midi'; the suite's models: mini, maxi"):
        builder.model("midi")


def test_parsers_and_validators_are_found_by_name_and_built_with_their_defaults(lab: Any) -> None:
    @frozen(kw_only=True)
    class Strictness:
        level: int = 3

    parser = ParserSpec(name="own", summary="", options=Strictness, factory=Made)  # type: ignore[arg-type]
    validator = ValidatorSpec(name="check", summary="", options=Strictness, factory=Made)  # type: ignore[arg-type]
    builder, judge = judge_of(lab, specs=(parser, validator))
    task = builder.resolved.suite.tasks[0].task
    context = builder.build(judge, task).context
    assert context.parser("own").options == Strictness()
    assert context.parser("own").context.task == task
    assert context.validator("check").context.name == "check"
    assert isinstance(context.parser("acme/label"), LabelParser)
    with pytest.raises(JrhError, match="unknown parser 'lable'\nDid you mean 'label'"):
        context.parser("lable")


def test_a_plugin_gets_its_own_parser_where_another_has_one_of_the_same_name(lab: Any) -> None:
    other = lab.entry(ParserSpec(name="label", summary="", factory=Made), distribution="other")  # type: ignore[arg-type]
    builder, judge = judge_of(lab, specs=(other,), judge={"asks": {"parser": "acme/label"}})
    assert isinstance(builder.build(judge).context.parser("label"), LabelParser)


def test_a_component_for_all_tasks_must_not_ask_for_one(lab: Any) -> None:
    metric = MetricSpec(name="m", summary="", factory=lambda options, context: context.task)
    builder = lab.builder(metric)
    with pytest.raises(PluginError, match="'m' serves all tasks; its factory must not ask for one"):
        builder.build(builder.resolved.metrics[0])


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ValueError("no such table"), r"'acme/asks' \(1\.0\) could not be built: ValueError: no such table"),
        (
            ModuleNotFoundError("No module named 'torch'"),
            "'acme/asks' needs a package that is not installed: .*'torch'.*acme 1.0",
        ),
        (JrhError("table.csv:3: bad row"), r"^table\.csv:3: bad row$"),
    ],
)
def test_a_factory_that_fails_names_the_plugin_and_the_reason(lab: Any, error: Exception, message: str) -> None:
    def factory(options: Any, context: Any) -> Any:
        raise error

    broken = JudgeSpec(name="asks", summary="", options=AsksOptions, factory=factory)
    builder = lab.builder(broken, PROVIDER, PARSER, models=MODELS, judges=["asks"])
    with pytest.raises(JrhError, match=message):
        builder.build(builder.resolved.judges[0])


def test_a_components_identity_changes_with_its_work_and_nothing_else(lab: Any) -> None:
    def made_of(version: str = "1.0", models: Any = MODELS, **judge: Any) -> str:
        builder = lab.builder(
            lab.entry(JUDGE, version=version), PROVIDER, PARSER, models=models, judges=[{"asks": judge}]
        )
        return str(identity(builder.resolved.judges[0], builder.resolved))

    base = made_of()
    others = [
        made_of(version="1.1"),
        made_of(strict=False),
        made_of(model="maxi"),
        made_of(models={"mini": {"provider": "fake", "temperature": 0.6}}),
        made_of(models={"mini": {"provider": "fake", "temperature": 0.5, "endpoint": "there"}}),
        made_of(table="other.csv"),
    ]
    assert len({base, *others}) == len(others) + 1
    limits = {
        "provider": "fake",
        "temperature": 0.5,
        "concurrency": 2,
        "timeout": 9,
        "price": {"input": 1, "output": 2},
    }
    assert made_of(models={"mini": limits}) == base
    assert made_of(name="renamed") == base


def test_an_identity_does_not_depend_on_where_the_suite_lies(lab: Any, tmp_path: Path) -> None:
    plugins = lab.plugins(JUDGE, PROVIDER, PARSER)
    identities = []
    for folder in ("one", "two"):
        path = tmp_path / folder / "suite.yaml"
        path.parent.mkdir()
        suite = {**lab.suite, "models": MODELS, "judges": [{"asks": {"table": "table.csv"}}]}
        path.write_text(json.dumps(suite))
        resolved = load_suite(path, plugins)
        assert resolved.judges[0].options.table == tmp_path / folder / "table.csv"
        identities.append(identity(resolved.judges[0], resolved))
    assert identities[0] == identities[1]


def test_what_was_used_is_described_with_every_option(lab: Any) -> None:
    builder, judge = judge_of(lab, judge={"asks": {"name": "mine", "strict": False}})
    described = describe_component("judge", judge, Path(), simulated=True)
    assert (described.role, described.name, described.component, described.version) == (
        "judge",
        "mine",
        "acme/asks",
        "1.0",
    )
    assert described.options == {"model": "mini", "parser": "label", "table": "table.csv", "strict": False}
    assert described.simulated
    model = describe_component("model", builder.resolved.models["mini"], Path())
    assert model.options == {"endpoint": "here", "temperature": 0.5}
