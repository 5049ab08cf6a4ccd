"""Comparisons of three responses: from the prompt through records, measures and reports to the gate."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest
from jrh_testing import ChatServer, Inside, Project
from support.keys import KEY, KEY_VARIABLE
from support.looking import query, report
from support.suites import openai_http, write_suite

ITEMS = 12
GOOD = "This is the best of them."
PLACES = ("first", "second", "third")
ALWAYS = {"loopback-first": "A", "loopback-middle": "B"}


class Reader:
    """A chat model that reads three responses and answers with the label of the good one, or always with A."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, request: Mapping[str, Any]) -> str:
        prompt = request["messages"][-1]["content"]
        self.prompts.append(prompt)
        if request["model"] in ALWAYS:
            return ALWAYS[request["model"]]
        shown = re.findall(r"Response ([A-Z]):\n<response_[a-z]>\n(.*?)\n</response_", prompt, re.DOTALL)
        return str(next((label for label, text in shown if "best" in text), shown[0][0]))


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory, reader: Reader) -> Project:
    project = Inside(tmp_path_factory.mktemp("three"), env={KEY_VARIABLE: KEY})
    lines = ["id,request,response_a,response_b,response_c,label"]
    for item in range(ITEMS):
        texts = [GOOD if place == item % 3 else f"Text {item} in place {place}." for place in range(3)]
        lines.append(f"i{item},Which?,{','.join(texts)},{'ABC'[item % 3]}")
    project.write("three.csv", "\n".join(lines) + "\n")
    with ChatServer(reader) as server:
        suite = {
            "name": "three",
            "data": {"source": "csv", "path": "three.csv"},
            "task": {"scale": {"pairwise": {"options": 3}}},
            "models": {
                "reads": openai_http(server.url),
                "first": {**openai_http(server.url), "model": "loopback-first"},
                "middle": {**openai_http(server.url), "model": "loopback-middle"},
            },
            "tests": ["option-order", "identical-options", "format"],
            "judges": [
                {"name": "reads", "judge": "llm", "model": "reads"},
                {"name": "first", "judge": "llm", "model": "first"},
                {"name": "planted-first", "judge": "simulated", "position_preference": 1.0},
                {"name": "planted-last", "judge": "simulated", "position_preference": -1.0},
                {"name": "planted-right", "judge": "simulated"},
                {"name": "middle", "judge": "llm", "model": "middle"},
            ],
        }
        done = project.run("run", write_suite(project, suite), "--run-dir", "run", "--yes", "--no-cache")
    assert done.exit_code == 0, done.output
    return project


def test_the_prompt_shows_every_response_under_its_label(ran: Project, reader: Reader) -> None:
    prompt = next(each for each in reader.prompts if "Text 0 in place 1." in each and "Text 0 in place 2." in each)
    assert prompt.startswith("Compare the 3 responses below and decide which one is best.")
    for letter in "ABC":
        assert f"Response {letter}:\n<response_{letter.lower()}>\n" in prompt
    assert "A for response A, B for response B, C for response C." in prompt


def test_every_option_visits_every_place(ran: Project) -> None:
    orders = {order for (order,) in query(ran, "run", "SELECT DISTINCT option_order FROM records")}
    assert orders == {"", "BCA", "CAB", "CBA"}


def found(project: Project, name: str, judge: str, test: str = "option-order") -> Mapping[str, Any]:
    (measure,) = [
        each
        for each in report(project, "run")["measures"]
        if (each["name"], each["judge"], each["test"], each["cell"]) == (name, judge, test, {})
    ]
    return dict(measure)


@pytest.mark.parametrize(
    ("judge", "rates", "consistent", "right", "bias"),
    [
        ("reads", (1 / 3, 1 / 3, 1 / 3), 1.0, 1.0, 0.0),
        ("planted-right", (1 / 3, 1 / 3, 1 / 3), 1.0, 1.0, 0.0),
        ("first", (1.0, 0.0, 0.0), 0.0, 0.0, 1.0),
        ("planted-first", (1.0, 0.0, 0.0), 0.0, 0.0, 1.0),
        ("planted-last", (0.0, 0.0, 1.0), 0.0, 0.0, -1.0),
        ("middle", (0.0, 1.0, 0.0), 0.0, 0.0, 0.0),
    ],
)
def test_what_a_judge_does_with_the_places_is_measured(
    ran: Project, judge: str, rates: tuple[float, ...], consistent: float, right: float, bias: float
) -> None:
    assert [found(ran, f"{place}-position-rate", judge)["estimate"] for place in PLACES] == pytest.approx(rates)
    assert all(found(ran, f"{place}-position-rate", judge)["interval"] for place in PLACES)
    assert found(ran, "swap-consistency", judge)["estimate"] == consistent
    assert found(ran, "right-in-both-orders", judge)["estimate"] == right
    assert found(ran, "position-bias", judge)["estimate"] == pytest.approx(bias)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("first", "Prefers the first option"),
        ("planted-first", "Prefers the first option"),
        ("middle", "Prefers the second option"),
        ("planted-last", "Prefers the third option"),
        ("reads", "Position bias neither shown nor ruled out"),
    ],
)
def test_the_finding_names_the_preferred_place(ran: Project, judge: str, said: str) -> None:
    (finding,) = [
        each
        for each in report(ran, "run")["findings"]
        if (each["judge"], each["kind"]) == (judge, "position-bias") and "option-order" in each["tests"]
    ]
    assert finding["statement"] == said
    if said.startswith("Prefers"):
        assert finding["sentence"].startswith(f"{said}: option-order +0.67 [")


def test_the_reports_and_the_gate_know_the_third_place(ran: Project) -> None:
    rules = ["third-position-rate[option-order] <= 0.5", "right-in-both-orders[option-order] >= 0.5"]
    gate = ran.run("gate", "run", *(part for rule in rules for part in ("--rule", rule)))
    assert gate.exit_code == 1
    assert ran.run("report", "run", "--format", "html").exit_code == 0
    page = (ran.path / "run" / "report.html").read_text()
    assert "third place chosen" in page
    assert "right in both orders" in page


def test_a_log_of_three_options_is_measured_like_a_run(ran: Project) -> None:
    lines = ["item,order,said,gold"]
    for item in range(ITEMS):
        lines += [f"i{item},{order},A,{'ABC'[item % 3]}" for order in ("ABC", "BCA", "CAB")]
    ran.write("log.csv", "\n".join(lines) + "\n")
    ran.write(
        "log.yaml",
        "name: log\npath: log.csv\ntask: {scale: {pairwise: {options: 3}}}\n"
        "columns: {item: item, label: said, gold: gold, option_order: order}\n"
        "values: {judge: first, test: option-order}\npresented: true\n",
    )
    assert ran.run("import", "log.yaml", "--run-dir", "imported").exit_code == 0
    assert ran.run("report", "imported", "--format", "json").exit_code == 0
    measures = {(m["name"], m["test"]): m for m in report(ran, "imported")["measures"] if not m["cell"]}
    assert measures["first-position-rate", "option-order"]["estimate"] == 1.0
    assert measures["position-bias", "option-order"]["estimate"] == 1.0
    assert measures["flip-rate", "option-order"]["estimate"] == 1.0


def test_the_baseline_learns_the_best_of_three_and_follows_it_to_every_place(project: Project) -> None:
    lines = ["id,request,response_a,response_b,response_c,label"]
    for item in range(24):
        texts = [f"A sound reply number {item}." if place == item % 3 else f"no {item} {place}!!" for place in range(3)]
        lines.append(f"i{item},Which?,{','.join(texts)},{'ABC'[item % 3]}")
    project.write("three.csv", "\n".join(lines) + "\n")
    suite = {
        "name": "learnt",
        "data": {"source": "csv", "path": "three.csv"},
        "task": {"instruction": "Which is best?", "scale": {"pairwise": {"options": 3}}},
        "tests": ["option-order"],
        "judges": ["baseline"],
        "metrics": ["gold-accuracy", "position-bias"],
        "reports": ["json"],
    }
    outcome = project.run("run", write_suite(project, suite), "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.stderr
    found = {(m["test"], m["name"]): m["estimate"] for m in report(project, "run")["measures"] if not m["cell"]}
    assert found["reference", "gold-accuracy"] == 1.0
    assert found["option-order", "swap-consistency"] == 1.0
    assert found["option-order", "position-bias"] == 0.0
