"""The judge `cascade`: who is asked, what it costs, and what is left to people."""

from __future__ import annotations

import json

import jrh_judges.plugin
import pytest
from jrh import JrhError, Question, Scale, Status, Task
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import Rates
from jrh_testing import Inside, LabelParser, ScriptedModel, build

FACTS = Task(name="facts", instruction="Is it right?", scale=Scale.of_labels("YES", "NO"))
QUESTION = Question(trial_id="t", task=FACTS, fields={"request": "?", "response": "Canberra."}, occasion=1)
LATE = ModelFault(FaultKind.TIMEOUT, "late")


def cascade(cheap, dear=None, **options):
    return build(
        jrh_judges.plugin, "cascade", options={"model": "cheap", "then": ["dear"], "at": [1.0, 0.6], **options},
        task=FACTS, models={"cheap": cheap, "dear": dear or ScriptedModel([])}, parsers={"auto": LabelParser()},
    )  # fmt: skip


async def test_the_dear_model_is_asked_only_where_the_cheap_one_disagrees_with_itself():
    cheap, dear = ScriptedModel(["YES"] * 3, rates=Rates(input=1.0, output=1.0)), ScriptedModel([])
    sure = await cascade(cheap, dear).judge(QUESTION)
    assert (sure.verdict.status, sure.verdict.presented) == (Status.OK, "YES")
    # Votes are repeats of their own, which a judge `llm` asked 6 times shares.
    assert [call.repeat for call in cheap.asked] == [3, 4, 5]
    assert dear.asked == []
    cheap, dear = ScriptedModel(["YES", "NO", "YES"]), ScriptedModel(["NO", LATE, "NO"])
    unsure = await cascade(cheap, dear).judge(QUESTION)
    assert unsure.verdict.presented == "NO"
    assert (len(cheap.asked), len(dear.asked)) == (3, 3)
    assert unsure.reply.attempts == 6
    # The price of one call is unknown, and so is that of the verdict.
    assert unsure.reply.cost is None


async def test_what_no_model_is_sure_of_is_left_to_people_but_for_failures_of_the_moment():
    left = await cascade(ScriptedModel(["YES", "NO", "?"]), ScriptedModel(["NO", "YES", "?"])).judge(QUESTION)
    assert left.verdict.status is Status.ABSTAINED
    assert left.verdict.presented is None
    assert left.verdict.detail.startswith("left to people")
    failed = await cascade(ScriptedModel(["YES", "NO", "?"]), ScriptedModel(["NO", LATE, LATE])).judge(QUESTION)
    assert failed.verdict.status is Status.TIMEOUT
    # An outage of the cheap model buys nothing from the dear one: it is over when the run is resumed.
    dear = ScriptedModel(["NO"] * 3)
    early = await cascade(ScriptedModel(["YES", LATE, "YES"]), dear).judge(QUESTION)
    assert (early.verdict.status, early.reply.attempts, dear.asked) == (Status.TIMEOUT, 3, [])


def test_every_model_needs_a_threshold():
    with pytest.raises(JrhError, match="1 threshold for 2 models"):
        cascade(ScriptedModel([]), at=[0.5])
    with pytest.raises(JrhError, match="above 0 and at most 1"):
        cascade(ScriptedModel([]), at=[0.5, 1.5])


def test_a_run_books_every_call_to_its_model_and_asks_none_again(tmp_path):
    project = Inside(tmp_path)
    project.write("suite.yaml", """
name: cascaded
data: {source: examples, dataset: factual}
task: {instruction: Is it right?, scale: {labels: ["YES", "NO"]}}
models:
  cheap: {provider: simulated, garbage: 0.4, price: {input: 0.1, output: 0.4}}
  dear: {provider: simulated, garbage: 0.5, price: {input: 2, output: 8}}
tests: []
reference: {repeats: 1}
judges: [{judge: cascade, name: both, model: cheap, then: [dear], at: [1.0, 0.6]}]
reports: [json]
""")  # fmt: skip
    project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    report = json.loads(project.read("run/report.json"))
    replies = {line["model"]: line["replies"] for line in report["spending"]}
    (missing,) = (each["missing"] for each in report["measures"] if each["name"] == "missing" and not each["cell"])
    assert replies["cheap"] == 90
    assert 0 < 3 * missing["abstained"] < replies["dear"] < 90
    assert sum(line["cost"] for line in report["costs"]) == pytest.approx(
        sum(line["cost"] for line in report["spending"])
    )
    again = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert "($0 of it now)" in again.output
    card = json.loads(project.run("card", "run", "--format", "json").stdout)
    assert card["model"] == "cheap, dear"
    advised = json.loads(project.run("advise", "run", "--format", "json").stdout)
    added = [each for each in advised["spendings"] if each["kind"] == "items"]
    # Items like these 30 take as many calls each, and not one a verdict.
    calls = {int(each["add"].split()[0]): each["calls"] for each in added}
    assert calls == {more: pytest.approx(more * sum(replies.values()) / 30, abs=1) for more in calls}
    # A judge whose further model is another one is another judge.
    project.write("suite.yaml", project.read("suite.yaml").replace("garbage: 0.5", "garbage: 0.55"))
    project.run("run", "suite.yaml", "--run-dir", "other", "--yes")
    other = json.loads(project.run("card", "other", "--format", "json").stdout)
    assert card["prompt_digest"] != other["prompt_digest"]
