"""Tasks with criteria: an item per response and criterion, asked one by one or several in a call."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from jrh_plan.estimate import distinct_calls
from jrh_testing import ChatServer, Inside
from support.keys import KEY, KEY_VARIABLE
from support.looking import one, query
from support.suites import REPORTS, openai_http, write_suite

pytestmark = pytest.mark.inside

RUBRIC = """\
- {id: hello, instructions: The text says hello., weight: 2}
- {id: price, instructions: The text names a price.}
- {id: rude, instructions: The text is rude., weight: -1}
"""
ITEMS = """\
id,response,label.hello,label.price,label.rude
1,hello 5 dollars,met,met,unmet
2,go away,unmet,unmet,met
3,hello there,met,unmet,unmet
4,hello and goodbye,met,unmet,unmet
"""
WORDS = {"hello": "hello", "price": "dollar", "rude": "away"}


def suite(url: str = "http://127.0.0.1:9/v1", **changes: Any) -> dict[str, Any]:
    judge = {"name": "mini", "judge": "llm", "model": "mini"}
    return {
        "name": "grading",
        "data": {"source": "csv", "path": "items.csv"},
        "task": {"mode": "criteria", "criteria": {"file": "rubric.yaml", "per_call": "all"}},
        "models": {"mini": openai_http(url, concurrency=1)},
        "reference": {"repeats": 2},
        "reports": list(REPORTS),
        "resamples": 100,
        "judges": [judge],
        **changes,
    }


def project_with(path: Path, written: dict[str, Any], rubric: str = RUBRIC, items: str = ITEMS) -> Inside:
    project = Inside(path, {KEY_VARIABLE: KEY})
    project.write("rubric.yaml", rubric)
    project.write("items.csv", items)
    write_suite(project, written)
    return project


def listed(body: dict[str, Any]) -> tuple[list[str], str]:
    prompt = body["messages"][-1]["content"]
    return re.findall(r"^\[(\w+)\]", prompt, re.MULTILINE), prompt.split("<response>")[1].split("</response>")[0]


def reads(body: dict[str, Any]) -> str:
    """A judge that reads: all criteria of the call, each under its id."""
    ids, text = listed(body)
    return json.dumps({name: "met" if WORDS[name] in text else "unmet" for name in ids})


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> tuple[Inside, int]:
    with ChatServer(reads) as server:
        model = openai_http(server.url, concurrency=1, price={"input": 1.0, "output": 1.0})
        changes = {"models": {"mini": model}, "tests": [{"format": {"variants": ["spaces"]}}]}
        project = project_with(tmp_path_factory.mktemp("together"), suite(server.url, **changes))
        outcome = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
        assert outcome.exit_code == 0, outcome.output
        return project, len(server.requests)


def test_criteria_of_one_call_share_a_reply(together: tuple[Inside, int]) -> None:
    project, requests = together
    assert one(project, "run", "SELECT count(*) FROM records WHERE status = 'ok' AND canonical = gold") == 36
    assert requests == 4 * 3  # responses, each twice unchanged and once in another format


def test_the_cost_of_a_shared_reply_is_counted_once(together: tuple[Inside, int]) -> None:
    project, _ = together
    paid = one(project, "run", "SELECT sum(cost) FROM calls")
    ((of_records, prompt),) = query(project, "run", "SELECT sum(cost), sum(prompt_tokens) FROM records")
    ((uses,),) = query(project, "run", "SELECT sum(t) FROM (SELECT max(prompt_tokens) AS t FROM uses GROUP BY key)")
    assert of_records == pytest.approx(paid)
    assert prompt == uses
    report = json.loads(project.read("run/report.json"))
    assert sum(line["cost"] for line in report["spending"]) == pytest.approx(paid)
    assert f"| ${paid:,.4f}" in project.read("run/report.md").replace("\\", "").replace("&#36;", "$")


def test_the_criteria_of_a_response_are_one_cluster(together: tuple[Inside, int]) -> None:
    project, _ = together
    report = json.loads(project.read("run/report.json"))
    (found,) = [
        m for m in report["measures"] if m["name"] == "gold-accuracy" and m["test"] == "reference" and not m["cell"]
    ]
    assert (found["n_items"], found["n_clusters"]) == (12, 4)


def test_all_criteria_of_a_response_are_asked_about_the_same_changed_text(together: tuple[Inside, int]) -> None:
    project, _ = together
    sql = "SELECT unpacked(texts, payload) FROM cases WHERE test = 'format'"
    texts: dict[str, set[str]] = {}
    for (payload,) in query(project, "run", sql):
        case = json.loads(payload)
        texts.setdefault(case["item_id"].split("#")[0], set()).add(case["fields"]["response"])
    assert len(texts) == 4
    assert all(len(own) == 1 for own in texts.values())


@pytest.mark.parametrize(
    ("change", "statuses"),
    [
        (
            lambda said: {k: v for k, v in said.items() if k != "price"},
            {"hello": "ok", "price": "unparsable", "rude": "ok"},
        ),
        (lambda said: {**said, "style": "met"}, dict.fromkeys(WORDS, "off_scale")),
        (lambda said: {**said, "rude": "maybe"}, {"hello": "ok", "price": "ok", "rude": "off_scale"}),
        (lambda said: {**said, "rude": None}, {"hello": "ok", "price": "ok", "rude": "unparsable"}),
    ],
    ids=["dropped", "invented", "off the scale", "null"],
)
def test_a_criterion_that_a_reply_drops_or_invents_has_no_verdict(tmp_path: Path, change: Any, statuses: Any) -> None:
    with ChatServer(lambda body: json.dumps(change(json.loads(reads(body))))) as server:
        project = project_with(tmp_path, suite(server.url, reference={"repeats": 1}))
        project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    found = query(project, "run", "SELECT stratum, status FROM records GROUP BY 1, 2 ORDER BY 1, 2")
    assert dict(found) == statuses


MISTAKES = [
    ({}, RUBRIC.replace("weight: 2", "weight: 0"), ITEMS, "rubric.yaml:1:"),
    ({}, RUBRIC.replace("weight: 2", "weight: .nan"), ITEMS, "rubric.yaml:1:"),
    ({}, RUBRIC.replace("weight: 2", "weight: .inf"), ITEMS, "rubric.yaml:1:"),
    ({}, RUBRIC.replace("id: price", "id: hello"), ITEMS, "rubric.yaml:2:4: id: entry 1 has the same id"),
    ({}, "- {id: rude, instructions: The text is rude., weight: -1}\n", ITEMS, "all weights are negative"),
    (
        {},
        RUBRIC,
        ITEMS.replace("label.price", "label.prize"),
        "items.csv:2: column 'label.prize' names no criterion; did",
    ),
    ({}, RUBRIC, ITEMS.replace("met,met,", "MET!,met,"), "label 'MET!' is not on the scale met, unmet"),
    ({"per_call": 0}, RUBRIC, ITEMS, "must be at least 1, or `all`; got 0"),
    ({"not_applicable": "met"}, RUBRIC, ITEMS, "distinct labels"),
]


@pytest.mark.parametrize(
    ("keys", "rubric", "items", "said"), MISTAKES, ids=[m[3][:30] + str(i) for i, m in enumerate(MISTAKES)]
)
def test_a_mistake_is_one_message(tmp_path: Path, keys: dict[str, Any], rubric: str, items: str, said: str) -> None:
    task = {"mode": "criteria", "criteria": {"file": "rubric.yaml", **keys}}
    project = project_with(tmp_path, suite(task=task), rubric, items)
    outcome = project.run("plan", "suite.yaml")
    assert outcome.exit_code == 2
    assert said in outcome.output
    assert len(outcome.output.strip().splitlines()) <= 3, outcome.output


def test_weights_need_the_mode_that_scores_them(tmp_path: Path) -> None:
    task = {"criteria": {"file": "rubric.yaml", "per_call": 2}}
    outcome = project_with(tmp_path, suite(task=task)).run("plan", "suite.yaml")
    assert "is for `mode: criteria`" in outcome.output
    assert "the entries have weights" in outcome.output


def test_a_thousand_criteria_are_planned_as_one_call_per_response_and_one_more_is_refused(tmp_path: Path) -> None:
    many = "".join(f"- {{id: c{n}, instructions: The text has {n} words.}}\n" for n in range(1001))
    items = "id,response\n1,hello\n"
    project = project_with(tmp_path, suite(reference={"repeats": 1}), many, items)
    assert "a rubric file has 1 to 1,000 entries, got 1,001" in project.run("plan", "suite.yaml").output
    project.write("rubric.yaml", "".join(many.splitlines(keepends=True)[:1000]))
    outcome = project.run("plan", "suite.yaml")
    assert outcome.exit_code == 0, outcome.output
    assert re.search(r"reference *│ *1,000 │ *1,000 │ *1 │", outcome.output), outcome.output


def test_criteria_with_other_scales_are_other_tasks_of_one_score(tmp_path: Path) -> None:
    levels = "- {id: style, instructions: How good?, score_levels: [{level: 0, label: bad}, {level: 1, label: good}]}\n"
    project = project_with(tmp_path, suite(), RUBRIC + levels, ITEMS)
    outcome = project.run("plan", "suite.yaml")
    assert outcome.exit_code == 0, outcome.output
    assert "grading.met-unmet" in outcome.output
    assert "grading.0-1" in outcome.output


def test_a_sample_takes_whole_responses_and_a_changed_weight_asks_no_judge_again(tmp_path: Path) -> None:
    written = suite(judges=["simulated"], models={}, tests=["format"])
    written["data"]["sample"] = {"n": 2, "seed": 1}
    project = project_with(tmp_path, written)
    assert project.run("run", "suite.yaml", "--run-dir", "run", "--yes").exit_code == 0
    asked = query(project, "run", "SELECT item_id, count(*) FROM records WHERE test = 'reference' GROUP BY 1")
    assert sorted(name.split("#")[1] for name, _ in asked) == sorted([*WORDS, *WORDS])
    before = one(project, "run", "SELECT max(rowid) FROM records")
    project.write("rubric.yaml", RUBRIC.replace("weight: 2", "weight: 5"))
    assert project.run("run", "suite.yaml", "--run-dir", "run", "--yes").exit_code == 0
    assert one(project, "run", "SELECT max(rowid) FROM records") == before


def test_items_must_bring_criteria_where_no_file_names_them_and_may_not_use_their_fields(tmp_path: Path) -> None:
    outcome = project_with(tmp_path, suite(task={"mode": "criteria"})).run("plan", "suite.yaml")
    assert "items.csv:2: has no criterion; name a rubric `file`" in outcome.output
    columns = {"criterion": "label.hello"}
    written = suite(data={"source": "csv", "path": "items.csv", "columns": columns})
    outcome = project_with(tmp_path, written).run("plan", "suite.yaml")
    assert "items.csv:2: the field 'criterion' is where jrh puts the criteria" in outcome.output


def test_criteria_asked_one_by_one_are_estimated_as_a_call_each() -> None:
    def asked(together: str) -> int:
        known = {"prompt": "", "presented_task": None, "test": "criteria-per-call"}
        cases = [
            SimpleNamespace(fields={"response": "x", "criterion": {"id": each}, "criteria": together}, **known)
            for each in WORDS
        ]
        return len(distinct_calls([(case, 0) for case in cases]))  # type: ignore[misc]

    assert (asked(""), asked("all three")) == (3, 1)
