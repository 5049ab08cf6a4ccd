"""The headline of a test is over what the test changed: the reference question is never averaged into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from jrh_testing import Inside, Project
from support.looking import query, report
from support.suites import write_suite

ITEMS = 24
PLUGINS = "doses.py," + ",".join(
    f"jrh-{name}"
    for name in ("sources", "order", "prompts", "format", "stochastic", "simulated", "metrics", "report", "gate")
)
LOCAL = '''
from collections.abc import Iterable
from attrs import frozen
from jrh import Draft, PerturberSpec, Same, hookimpl

JRH_API_VERSION = 2


@frozen
class NoOptions:
    """None."""


class Doses:
    """Appends words, none for the strength 0, and yields the unchanged question as a variant."""

    async def perturb(self, item):
        text = item.fields["response_a"]
        yielded = [Draft(variant="original", expectation=Same())]
        for dose in (0, 1, 2):
            words = text + " indeed" * dose
            yielded.append(
                Draft(variant="words", strength=float(dose), fields={"response_a": words}, expectation=Same())
            )
        return yielded


@hookimpl
def jrh_perturbers() -> Iterable[PerturberSpec]:
    yield PerturberSpec(name="doses", summary="words", options=NoOptions, factory=lambda options, context: Doses())
'''
TEMPLATE = "{{ task.instruction }}\n\n%s\nA: {{ response_a }}\nB: {{ response_b }}\n\n{{ answer_format }}"
TESTS: Mapping[str, Any] = {
    "option-order": {"option-order": {"repeats": 2}},
    "identical-options": "identical-options",
    "templates": {
        "templates": {
            "templates": {
                "short": {"text": TEMPLATE % "Choose."},
                "long": {"text": TEMPLATE % "Choose the better one."},
                "worse": {"text": TEMPLATE % "Choose the worse one.", "labels": {"A": "B", "B": "A"}},
            }
        }
    },
    "scale": {"scale": {"variants": {"numbers": {"labels": ["1", "2"]}, "same": {"labels": ["A", "B"]}}}},
    "format": {"format": {"variants": ["spaces"], "strengths": [0.25, 1.0]}},
    "crossed": {"cross": ["option-order", {"format": {"variants": ["spaces"]}}]},
    "stochastic": {"stochastic": {"temperatures": [0.0, 1.0]}},
    "doses": "doses",
}


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Run every test over pairs, judged by one that always says A and one that is always right."""
    project = Inside(tmp_path_factory.mktemp("headlines"))
    lines = ["id,request,response_a,response_b,label"]
    for item in range(ITEMS):
        words = f"It rains a lot in town {item}, and more of it falls in the winter than in the summer"
        lines.append(f'i{item},Where does it rain?,"{words}.","No, {words} there.",{"AB"[item % 2]}')
    project.write("pairs.csv", "\n".join(lines) + "\n")
    project.write("doses.py", LOCAL)
    suite = {
        "name": "headlines",
        "data": {"source": "csv", "path": "pairs.csv"},
        "task": {"instruction": "Which is better?", "scale": {"pairwise": True}},
        "tests": list(TESTS.values()),
        "judges": [
            {"name": "first", "judge": "simulated", "position_preference": 1.0},
            {"name": "right", "judge": "simulated"},
        ],
    }
    outcome = project.run("run", write_suite(project, suite), "--run-dir", "run", "--plugins", PLUGINS)
    assert outcome.exit_code == 0, outcome.stderr
    return project


def asked(project: Project) -> dict[str, list[dict[str, Any]]]:
    """Return the cases by test."""
    found: dict[str, list[dict[str, Any]]] = {}
    for test, payload in query(project, "run", "SELECT test, unpacked(texts, payload) FROM cases ORDER BY position"):
        found.setdefault(test, []).append(json.loads(payload))
    return found


def question(case: Mapping[str, Any]) -> str:
    """Return what a case asks, without its names and its expectation."""
    kept = ("item_id", "fields", "prompt", "presented_task", "label_map", "sampling")
    return json.dumps({name: case.get(name) for name in kept}, sort_keys=True)


def test_no_test_asks_the_reference_question(ran: Project) -> None:
    found = asked(ran)
    reference = {question(case) for case in found.pop("reference")}
    assert len(found) == len(TESTS) + 2, sorted(found)
    again = {test: sum(question(case) in reference for case in cases) for test, cases in found.items()}
    assert again == dict.fromkeys(found, 0)


@pytest.mark.parametrize("test", ["option-order", "crossed.option-order"])
@pytest.mark.parametrize(
    ("name", "first", "right"),
    [
        ("flip-rate", 1.0, 0.0),
        ("agreement", 0.0, 1.0),
        ("excess-disagreement", 1.0, 0.0),
        ("gold-accuracy", 0.5, 1.0),
        ("as-expected", 0.0, 1.0),
        ("swap-consistency", 0.0, 1.0),
        ("position-bias", 1.0, 0.0),
        ("first-position-rate", 1.0, 0.5),
        ("right-in-both-orders", 0.0, 1.0),
    ],
)
def test_an_order_test_is_over_the_swapped_pairs(
    ran: Project, test: str, name: str, first: float, right: float
) -> None:
    wanted = (name, test, {})
    found = {m["judge"]: m for m in report(ran, "run")["measures"] if (m["name"], m["test"], m["cell"]) == wanted}
    assert (found["first"]["estimate"], found["right"]["estimate"]) == (first, right)
    assert found["first"]["n_items"] == ITEMS


def test_a_gate_on_agreement_fails_a_judge_that_always_says_a(ran: Project) -> None:
    gate = ran.run("gate", "run", "--rule", "agreement[option-order] >= 0.5")
    assert gate.exit_code == 1
    assert "fails" in gate.stdout
