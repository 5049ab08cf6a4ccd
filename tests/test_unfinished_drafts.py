"""A model that fails while drafts are made costs cases for now, not for good."""

import json
from typing import Any

import pytest
import yaml
from jrh_testing import ChatServer, Fault, Project
from support.suites import llm_suite, openai_http

pytestmark = pytest.mark.inside

REWRITER = """
from attrs import field, frozen
from jrh import ChatRequest, Draft, Message, ModelName, PerturberSpec, Skip, hookimpl


@frozen(kw_only=True)
class Options:
    model: ModelName = field(metadata={"help": "who rewrites"})


class Rewriter:
    def __init__(self, options, context):
        self.model = context.model(options.model)

    async def perturb(self, item):
        text = f"rewrite {item.fields['response']}"
        reply = await self.model.ask(ChatRequest(messages=(Message(role="user", content=text),)), purpose="generate")
        if not reply.ok:
            return [Skip(reason="provider error")]
        return [Draft(fields={"response": reply.text})]


@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="rewriter", summary="asks a model", options=Options, factory=Rewriter)
"""


def _answer(request: dict[str, Any]) -> str:
    text = request["messages"][-1]["content"]
    return f"{text.removeprefix('rewrite ')} Indeed." if text.startswith("rewrite ") else "YES"


def test_drafts_a_provider_failed_to_write_are_made_by_the_next_run_and_the_others_are_not_paid_again(
    project: Project,
) -> None:
    items = [{"id": str(n), "request": "2 + 2?", "response": f"It is {n}.", "label": "YES"} for n in range(4)]
    project.write("items.jsonl", "\n".join(json.dumps(item) for item in items))
    project.write("rewriter.py", REWRITER)
    with ChatServer(answer=_answer, faults=[Fault("500", times=1, match="rewrite It is 2.")]) as server:
        model = openai_http(server.url, max_attempts=1)
        suite = llm_suite(model, tests=[{"rewriter": {"model": "mini"}}])
        project.write("suite.yaml", yaml.safe_dump(suite))
        command = ("run", "suite.yaml", "--plugins", "rewriter.py", "--run-dir", "run", "--no-cache")
        first = project.run(*command)
        asked = server.count
        second = project.run(*command)
        third = project.run(*command)

        assert first.exit_code == 3
        assert "drafts are missing because a model call failed or a plugin raised an error: rewriter" in first.stderr
        assert second.exit_code == 0, second.output
        # The missing draft is written, and the case it makes is judged.
        assert server.count - asked == 2
        assert third.exit_code == 0
        assert server.count - asked == 2
    report = json.loads((project.path / "run" / "report.json").read_text(encoding="utf-8"))
    (line,) = report["attrition"]
    assert (line["drafted"], line["skipped"]) == (4, {})
