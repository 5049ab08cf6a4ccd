"""The fakes do what the real things do."""

from __future__ import annotations

import subprocess
import sys

import attrs
import pytest
from jrh import ChatRequest, JrhError, JudgeSpec, Message, Mode, ParserSpec, Reply, Scale, Status, derive_seed
from jrh.errors import FaultKind, ModelFault, StopReason, StopRun
from jrh.plugins import Completion, NoOptions
from jrh.plugins.protocols import ChatModel, ModelClient
from jrh_testing import (
    FakeContext,
    LabelParser,
    ScriptedModel,
    build,
    declarations,
    find_spec,
    loop_over,
    sample_examples,
    sample_items,
    sample_question,
    sample_task,
    sample_tasks,
    sample_truth,
    with_text,
)


def request(text):
    return ChatRequest(messages=(Message(role="system", content="Judge."), Message(role="user", content=text)))


def test_a_scripted_model_is_a_client_and_a_provider():
    model = ScriptedModel("YES")
    assert isinstance(model, ModelClient)
    assert isinstance(model, ChatModel)


async def test_a_text_answers_everything():
    reply = await ScriptedModel("YES").ask(request("q" * 39))
    assert (reply.status, reply.text, reply.finish_reason, reply.cost) == (Status.OK, "YES", "stop", None)
    # "Judge.", a blank line and 39 letters: 47 characters.
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (12, 1)
    assert reply.fingerprint == "scripted/scripted"


async def test_a_list_is_used_up_in_order_and_then_fails_the_test():
    model = ScriptedModel(["YES", "NO"], name="m")
    assert [(await model.ask(request(text))).text for text in "ab"] == ["YES", "NO"]
    with pytest.raises(AssertionError, match="the script of 'm' has no answer number 3"):
        await model.ask(request("c"))


async def test_a_mapping_answers_by_a_piece_of_the_prompt():
    model = ScriptedModel({"Paris": "YES", "Rome": "NO"})
    assert (await model.ask(request("Is it in Rome?"))).text == "NO"
    with pytest.raises(AssertionError, match="no answer for the prompt"):
        await model.ask(request("Is it in Oslo?"))


async def test_a_function_sees_the_request():
    model = ScriptedModel(lambda asked: asked.messages[-1].content.upper())
    assert (await model.ask(request("quiet"))).text == "QUIET"


async def test_requests_are_kept_with_repeat_and_purpose():
    model = ScriptedModel("YES")
    await model.ask(request("a"), repeat=2, purpose="judge")
    await model.complete(request("b"))
    assert model.prompts == ["Judge.\n\na", "Judge.\n\nb"]
    assert [(asked.repeat, asked.purpose) for asked in model.asked] == [(2, "judge"), (0, "")]


async def test_a_fresh_model_starts_its_script_again():
    model = ScriptedModel(["YES"], name="m")
    await model.ask(request("a"))
    fresh = model.fresh()
    assert (await fresh.ask(request("a"))).text == "YES"
    assert (fresh.name, fresh.fingerprint, len(fresh.asked)) == ("m", model.fingerprint, 1)


@loop_over(
    ("completion", "status"),
    [
        (Completion(text="YES", finish_reason="stop"), Status.OK),
        (Completion(text="YES", finish_reason="length"), Status.TRUNCATED),
        (Completion(text="", finish_reason="content_filter"), Status.REFUSED),
        (Completion(text=None, finish_reason="stop", refusal="no"), Status.REFUSED),
        (Completion(text=None, finish_reason="stop"), Status.OK),
        (ModelFault(FaultKind.TIMEOUT, "late"), Status.TIMEOUT),
        (ModelFault(FaultKind.SERVER_ERROR, "500"), Status.PROVIDER_ERROR),
        (Reply(status=Status.REFUSED), Status.REFUSED),
    ],
)
async def test_a_client_turns_failures_into_statuses(completion, status):
    assert (await ScriptedModel([completion]).ask(request("q"))).status is status


async def test_a_refused_key_stops_the_run_and_other_exceptions_are_raised():
    with pytest.raises(StopRun) as caught:
        await ScriptedModel([ModelFault(FaultKind.UNAUTHORIZED, "key")]).ask(request("q"))
    assert caught.value.reason is StopReason.UNAUTHORIZED
    with pytest.raises(StopRun):
        await ScriptedModel([StopRun(StopReason.BUDGET, "spent")]).ask(request("q"))


async def test_a_provider_raises_its_faults():
    model = ScriptedModel([ModelFault(FaultKind.RATE_LIMIT, "429", retry_after=2), "YES"])
    with pytest.raises(ModelFault) as caught:
        await model.complete(request("q"))
    assert caught.value.retry_after == 2
    assert (await model.complete(request("q"))).text == "YES"


def test_the_label_parser_reads_bare_labels_only():
    parser = LabelParser()
    scale = Scale.of_labels("YES", "NO")
    assert parser.parse(Reply(status=Status.OK, text=" yes\n"), scale).presented == "YES"
    assert parser.parse(Reply(status=Status.OK, text="yes."), scale).status is Status.UNPARSABLE


class Both:
    """What its factory was given."""

    def __init__(self, options, context):
        self.given = options, context

    async def judge(self, question): ...


class Plugin:
    """Two roles that share a name."""

    @staticmethod
    def jrh_judges():
        return [JudgeSpec(name="both", summary="s", factory=Both)]

    @staticmethod
    def jrh_parsers():
        yield ParserSpec(name="both", summary="s", factory=lambda options, context: LabelParser())
        yield ParserSpec(name="other", summary="s", factory=lambda options, context: context, options=Depth)


@attrs.frozen(kw_only=True)
class Depth:
    depth: int = attrs.field(default=1, metadata={"help": "how deep"})


def test_a_name_in_two_roles_needs_the_role():
    assert [spec.name for spec in declarations(Plugin)] == ["both", "both", "other"]
    with pytest.raises(JrhError, match=r"'both' is declared 2 times \(JudgeSpec, ParserSpec\); say which with role="):
        find_spec(Plugin, "both")
    assert isinstance(build(Plugin, "both", role=ParserSpec), LabelParser)
    assert isinstance(find_spec(Plugin, "both", JudgeSpec), JudgeSpec)


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(JrhError, match=r"no Spec 'bth' is declared; the plugin declares JudgeSpec 'both', ParserSpec"):
        find_spec(Plugin, "bth")


def test_a_hook_that_yields_another_kind_is_an_error():
    class Mixed:
        @staticmethod
        def jrh_metrics():
            return Plugin.jrh_judges()

    with pytest.raises(JrhError, match="jrh_metrics yields JudgeSpec; it has to yield MetricSpec"):
        declarations(Mixed)


@loop_over("options", [{"depht": 2}, {"depth": "2"}, {"depth": 2.5}, {"depth": True}])
def test_options_are_structured_strictly(options):
    with pytest.raises(JrhError, match="dep"):
        build(Plugin, "other", options=options)


def test_the_context_gives_what_the_test_gave(tmp_path):
    model, parser, validator = ScriptedModel("YES"), LabelParser(), object()
    task = sample_task(Mode.PAIRWISE)
    options, context = build(
        Plugin,
        "both",
        role=JudgeSpec,
        task=task,
        base=tmp_path,
        models={"m": model},
        parsers={"p": parser},
        validators={"v": validator},
        seed=5,
    ).given
    assert options == NoOptions()
    assert (context.name, context.task, context.base) == ("both", task, tmp_path)
    assert (context.model("m"), context.parser("p"), context.validator("v")) == (model, parser, validator)
    assert context.seed("item-1", "x") == derive_seed(5, "both", "item-1", "x")
    with pytest.raises(JrhError, match=r"the test gave no model 'n' \(given: m\)"):
        context.model("n")


def test_a_log_keeps_what_it_is_told():
    context = FakeContext(name="x", task=sample_task())
    context.log.warning("odd", event_id=3)
    context.log.info("fine")
    assert [(entry.level, entry.event, dict(entry.values)) for entry in context.log.entries] == [
        ("warning", "odd", {"event_id": 3}),
        ("info", "fine", {}),
    ]
    assert FakeContext(name="y", task=sample_task()).log.entries == []


@loop_over("task", sample_tasks(), ids=lambda task: f"{task.mode.value}-{len(task.scale.labels)}")
def test_samples_fit_their_task(task):
    items = sample_items(task)
    assert all(set(task.mode.judged_fields) < set(item.fields) for item in items)
    assert [item.gold for item in items[:-1]] == [task.scale.labels[n % len(task.scale.labels)] for n in range(5)]
    assert items[-1].gold is None
    question, truth = sample_question(task, items[1]), sample_truth(task, items[1])
    assert (question.fields, truth.reference_fields) == (items[1].fields, items[1].fields)
    assert truth.expected == items[1].gold
    assert {example.gold for example in sample_examples(task)} == set(task.scale.labels)
    assert set(with_text(items[0], task.mode, "new")) == set(items[0].fields)


def test_identical_questions_are_told_apart_by_their_occasion():
    first, second = sample_question(), sample_question(occasion=1)
    assert first.fields == second.fields
    assert (first.trial_id, first.seed) != (second.trial_id, second.seed)


def test_importing_the_kit_loads_nothing():
    script = "import jrh_testing, sys; print({'pytest', 'aiohttp', 'hypothesis', 'numpy', 'attrs'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_public_name_can_be_loaded():
    import jrh_testing as kit

    assert all(getattr(kit, name) is not None for name in kit.__all__)
    assert dir(kit) == kit.__all__
    with pytest.raises(AttributeError, match="No jrh_testing attribute nothing"):
        kit.nothing  # noqa: B018
