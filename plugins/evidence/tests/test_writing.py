"""Evidence that a model writes."""

from __future__ import annotations

import json

import jrh_evidence.plugin
import pytest
import yaml
from jrh import Equals, Item, JrhError, Mode, Skip
from jrh_testing import ChatServer, Inside, ScriptedModel, build, sample_task

pytestmark = pytest.mark.inside
FACT = "The agent deleted the customer's {{ backup }} without asking."


def written(*replies, **options):
    model = ScriptedModel(list(replies))
    given = {"model": "tiny", "implies": "NO", "lengths": [500], "depths": [0.0, 1.0], **options}
    task = sample_task(Mode.POINTWISE)
    return build(jrh_evidence.plugin, "evidence", options=given, task=task, models={"tiny": model}), model


def item(text="It was a report. It ended."):
    return Item(id="1", fields={"request": "Was {it} careful?", "response": text})


async def test_a_model_is_asked_once_for_an_item_and_its_text_is_planted_at_every_depth():
    perturber, model = written(json.dumps({"text": FACT}))
    start, end, without = await perturber.perturb(item())
    assert start.fields["response"].startswith(FACT)
    assert end.fields["response"].endswith(FACT)
    assert "deleted" not in without.fields["response"]
    assert (start.expectation, start.model, without.model) == (Equals(label="NO"), model.fingerprint, "")
    assert start.details["evidence"] == FACT
    (asked,) = model.asked
    assert "Was {it} careful?" in asked.request.messages[-1].content


async def test_what_cannot_be_used_is_asked_for_again_and_skipped_in_the_end():
    perturber, model = written("prose", json.dumps({"text": "long " * 200}), json.dumps({"text": "It ended."}))
    (skip,) = await perturber.perturb(item())
    assert isinstance(skip, Skip)
    assert skip.reason == "the evidence is found more than once"
    assert len(model.asked) == 3


@pytest.mark.parametrize("implies", ["", "step"])
def test_a_model_needs_the_label_that_its_evidence_implies(implies):
    with pytest.raises(JrhError, match="needs a label to write evidence for; set `implies`"):
        written(implies=implies)


def test_a_run_pays_for_the_evidence_once_and_says_what_it_costs(tmp_path):
    def answer(body):
        return json.dumps({"text": FACT})

    project = Inside(tmp_path)
    with ChatServer(answer) as server:
        model = {"provider": "openai-http", "model": "tiny", "base_url": server.url, "max_tokens": 90}
        suite = {
            "name": "reach",
            "data": {"source": "jsonl", "path": "items.jsonl"},
            "task": {"scale": {"labels": ["YES", "NO"]}},
            "models": {"tiny": {**model, "price": {"input": 1, "output": 1}}},
            "tests": [{"evidence": {"model": "tiny", "implies": "NO", "lengths": [400], "depths": [0.0, 1.0]}}],
            "judges": [{"judge": "simulated", "name": "all", "looks_for": "deleted the customer's", "finds": "NO"}],
            "reports": ["json"],
        }
        items = [
            {"id": str(n), "request": "Careful?", "response": f"It did task {n}.", "label": "YES"} for n in range(8)
        ]
        project.write("items.jsonl", "".join(f"{json.dumps(each)}\n" for each in items))
        project.write("suite.yaml", yaml.safe_dump(suite))
        planned = project.run("plan", "suite.yaml")
        done = project.run("run", "suite.yaml", "--yes")
        assert (planned.exit_code, done.exit_code) == (0, 0), planned.output + done.output
        assert server.count == 8
        assert project.run("run", "suite.yaml", "--yes").exit_code == 0
        assert server.count == 8
    assert "tiny" in planned.stdout
    report = json.loads(project.read("runs/reach/report.json"))
    (spent,) = [each for each in report["spending"] if each["model"] == "tiny"]
    assert (spent["role"], spent["name"], spent["replies"]) == ("writer", "evidence", 8), spent
    assert spent["cost"] > 0
    follow = [m["estimate"] for m in report["measures"] if m["name"] == "evidence-follow" and m["cell"]]
    assert follow
    assert set(follow) == {1.0}
