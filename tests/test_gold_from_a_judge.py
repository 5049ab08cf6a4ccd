"""Where the data have no gold labels, a judge's own grading of the originals takes their place, and is named so."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from jrh_testing import ChatServer, Project, call
from jrh_testing.server.bodies import prompt_of
from support.keys import KEY, KEY_VARIABLE
from support.looking import query, report
from support.suites import llm_suite, openai_http, write_suite

pytestmark = pytest.mark.slow


def _items(project: Project) -> None:
    lines = [{"id": f"item-{n}", "request": "?", "response": f"This is answer number {n:03}."} for n in range(6)]
    lines[5]["label"] = "NO"
    project.write("items.jsonl", "".join(json.dumps(line) + "\n" for line in lines))


def test_the_judges_verdicts_are_the_gold_labels_and_no_agreement_is_called_accuracy(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    _items(project)
    asked: Counter[str] = Counter()

    def answer(body: dict[str, object]) -> str:
        prompt = prompt_of(body)
        asked[prompt] += 1
        return "YES" if "000" in prompt or "001" in prompt else "NO"

    data = {"source": "jsonl", "path": "items.jsonl", "gold_from": "mini"}
    with ChatServer(answer) as server:
        suite = llm_suite(openai_http(server.url), data=data, tests=["label-flip"], reports=["json", "markdown"])
        write_suite(project, suite)
        outcome = call(project, "run", "suite.yaml", "--run-dir", "run")
        once = server.count
        again = call(project, "run", "suite.yaml", "--run-dir", "run")
        assert server.count == once
    assert outcome.exit_code == again.exit_code == 0, outcome.output
    # The originals are asked for their gold label and as the reference condition, and paid once.
    assert set(asked.values()) == {1}
    golds = dict(query(project, "run", "SELECT DISTINCT item_id, gold FROM records WHERE test = 'reference'"))
    assert golds == {f"item-{n}": "YES" if n < 2 else "NO" for n in range(6)}
    # Without a gold label a flip can only expect a change; with one it expects the other label.
    flipped = dict(query(project, "run", "SELECT DISTINCT item_id, expected FROM records WHERE test = 'label-flip'"))
    assert flipped
    assert all(expected == ("NO" if golds[item] == "YES" else "YES") for item, expected in flipped.items())
    found = report(project, "run")
    (task,) = found["tasks"]
    assert task["gold_sources"] == {"model:loopback-1": 5, "unknown": 1}
    assert any("judge 'mini' graded the originals" in note for note in found["notes"])
    assert "Accuracy" not in " ".join(finding["statement"] for finding in found["findings"])


def test_a_judge_that_is_not_there_is_an_error(project: Project) -> None:
    _items(project)
    data = {"source": "jsonl", "path": "items.jsonl", "gold_from": "nobody"}
    write_suite(project, llm_suite(openai_http("http://127.0.0.1:9"), data=data))
    for command in ("run", "plan"):
        outcome = call(project, command, "suite.yaml", "--run-dir", "run")
        assert outcome.exit_code == 2
        assert "gold_from: there is no judge 'nobody'; the suite's judges: mini" in outcome.stderr
