"""A test that makes no case has a row in every output, passes no gate, and ends the run with code 3."""

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from jrh_testing import Outcome, Project
from support.looking import report

pytestmark = pytest.mark.inside

PLUGIN = """
from jrh import Draft, Mode, PerturberSpec, Same, Skip, Validation, ValidatorSpec, hookimpl

class Drafts:
    async def perturb(self, item):
        if "response" not in item.fields:
            return [Skip(reason="two responses")]
        return [Draft(fields={"response": item.fields["response"] + "!"}, expectation=Same())]

class Skips:
    async def perturb(self, item): return [Skip(reason="no number to change")]

class Nothing:
    async def perturb(self, item): return []

class Never:
    async def validate(self, item, draft): return Validation(accepted=False, reason="a number changed")

@hookimpl
def jrh_perturbers():
    yield PerturberSpec(name="drafts", summary="", factory=Drafts)
    yield PerturberSpec(name="skips", summary="", factory=Skips)
    yield PerturberSpec(name="nothing", summary="", factory=Nothing)
    yield PerturberSpec(name="agents", summary="", factory=Nothing, modes=frozenset({Mode.TRANSCRIPT}))

@hookimpl
def jrh_validators():
    yield ValidatorSpec(name="never", summary="", factory=Never)
"""
REJECTED = {"test": "drafts", "name": "rejected", "validate": ["never"]}
WHY = {
    "rejected": "no cases: 6 of 6 drafts rejected: never: a number changed",
    "skips": "no cases: 6 skipped: no number to change",
    "nothing": "no cases: the perturber returned no draft",
}


def _run(project: Project, *tests: Any, **more: Any) -> Outcome:
    task = {
        "data": {"source": "examples", "dataset": "factual", "sample": {"n": 6, "seed": 1}},
        "task": {"instruction": "Judge.", "scale": {"labels": ["YES", "NO"]}},
    }
    suite = {"name": "empty", **task, "judges": [{"judge": "simulated", "name": "s"}], "tests": [*tests], **more}
    project.write("maker.py", PLUGIN)
    project.write("suite.json", json.dumps(suite))
    return project.run("run", "suite.json", "--run-dir", "run", "--plugins", "maker.py", "--full")


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.rows.append("")

    def handle_data(self, data: str) -> None:
        if self.rows:
            self.rows[-1] += f"{data} "


@pytest.mark.parametrize("name", WHY)
def test_an_empty_test_ends_the_run_with_code_3_and_one_line(project: Project, name: str) -> None:
    outcome = _run(project, "drafts", REJECTED if name == "rejected" else name)
    assert outcome.exit_code == 3
    said = [line for line in outcome.stderr.splitlines() if line.startswith("jrh:")]
    assert said == [
        f"jrh: not done: test '{name}' made {WHY[name]} (to accept this, set `allow_empty: true` on the test)."
    ]


def test_it_has_a_row_with_the_reason_in_every_output(project: Project) -> None:
    outcome = _run(project, REJECTED, "skips", "nothing")
    terminal = " ".join(outcome.stdout.split())
    markdown = project.read("run/report.md")
    page = _Texts()
    page.feed(project.read("run/report.html"))
    lines = {line["test"]: line for line in report(project, "run")["attrition"]}
    for name, why in WHY.items():
        assert f"{name}: {why}" in terminal
        assert f"- {name}: {why}" in markdown.replace("\\", "")
        assert [row for row in page.rows if name in row and why in row]
        assert lines[name]["kept"] == 0
        assert (lines[name]["applies"], lines[name]["made"], lines[name]["allow_empty"]) == (True, True, False)


def test_a_suite_may_allow_an_empty_test(project: Project) -> None:
    outcome = _run(project, {**REJECTED, "allow_empty": True}, {"skips": {"allow_empty": True}})
    assert outcome.exit_code == 0
    assert "jrh:" not in outcome.stderr
    assert f"rejected: {WHY['rejected']}" in " ".join(outcome.stdout.split())
    assert all(line["allow_empty"] for line in report(project, "run")["attrition"])


@pytest.mark.parametrize("rule", ["flip-rate[rejected] <= 0.9", "flip-rate <= 0.9", "no-such-thing[rejected] <= 1"])
def test_no_rule_passes_a_test_without_cases(project: Project, rule: str) -> None:
    _run(project, "drafts", REJECTED)
    gate = project.run("gate", "run", "--rule", rule, "--json", "gate.json")
    assert gate.exit_code == 5, gate.stdout
    decisions = json.loads(project.read("gate.json"))["checks"]
    (found,) = [each for each in decisions if each["test"] == "rejected"]
    assert (found["outcome"], found["reason"]) == ("undecided", WHY["rejected"])


def test_a_rule_for_all_tests_leaves_out_an_empty_test_that_is_allowed(project: Project) -> None:
    _run(project, "drafts", {**REJECTED, "allow_empty": True})
    assert project.run("gate", "run", "--rule", "flip-rate <= 0.9").exit_code == 0
    assert project.run("gate", "run", "--rule", "flip-rate[rejected] <= 0.9").exit_code == 5


def test_a_test_that_does_not_apply_to_a_task_or_is_empty_in_one_of_two_is_no_empty_test(project: Project) -> None:
    one = {
        "data": {"source": "examples", "dataset": "factual", "sample": {"n": 3, "seed": 1}},
        "task": {"instruction": "Judge.", "scale": {"labels": ["YES", "NO"]}},
    }
    pairs = {
        "data": {"source": "examples", "dataset": "preference", "sample": {"n": 3, "seed": 1}},
        "task": {"instruction": "Which?", "scale": {"pairwise": True}},
    }
    tasks = [{"name": "one", **one}, {"name": "two", **pairs}]
    suite = {"name": "s", "tasks": tasks, "tests": ["drafts", "option-order"]}
    suite["judges"] = [{"judge": "simulated", "name": "s"}]
    project.write("maker.py", PLUGIN)
    project.write("suite.json", json.dumps(suite))
    outcome = project.run("run", "suite.json", "--run-dir", "run", "--plugins", "maker.py", "--full")
    assert outcome.exit_code == 0, outcome.stderr
    lines = {(line["task"], line["test"]): line for line in report(project, "run")["attrition"]}
    assert not lines["one", "option-order"]["applies"]
    assert lines["two", "option-order"]["kept"]
    assert "the test does not apply to this task" in " ".join(outcome.stdout.split())
    assert (lines["two", "drafts"]["kept"], lines["two", "drafts"]["skipped"]) == (0, {"two responses": 3})
    said = " ".join(outcome.stdout.split())
    assert "drafts: no cases: 3 skipped: two responses" in said
    assert "the test does not apply to this task" in said
    # A rule holds everywhere or says where it cannot be decided.
    assert project.run("gate", "run", "--rule", "flip-rate[drafts] <= 0.9", "--undecided", "1").exit_code == 1
    assert project.run("gate", "run", "--rule", "flip-rate[drafts, task=one] <= 0.9").exit_code == 0


LENIENT = {
    "as-expected": "as-expected[*] >= 0.01",
    "flip-rate": "flip-rate <= 1",
    "one judge": "as-expected[*, judge=s] >= 0",
}


@pytest.mark.parametrize("rule", LENIENT.values(), ids=LENIENT)
def test_no_rule_passes_when_the_only_test_is_empty(project: Project, rule: str) -> None:
    """Measures of the reference alone, or of nothing at all, say nothing about the test."""
    assert _run(project, REJECTED).exit_code == 3
    gate = project.run("gate", "run", "--rule", rule, "--json", "gate.json")
    assert gate.exit_code == 5, gate.output
    checks = json.loads(project.read("gate.json"))["checks"]
    (found,) = [each for each in checks if each["test"] == "rejected"]
    assert (found["outcome"], found["reason"]) == ("undecided", WHY["rejected"])
    assert f"bad: data on empty: Test 'rejected' has {WHY['rejected']}." in gate.stdout


def test_a_rule_about_whole_tasks_and_one_for_the_reference_leave_out_an_empty_test(project: Project) -> None:
    _run(project, REJECTED)
    assert project.run("gate", "run", "--rule", "as-expected[reference] >= 0.01").exit_code == 0
    assert project.run("gate", "run", "--rule", "as-expected >= 0.01").exit_code == 0
    _run(project, {**REJECTED, "allow_empty": True})
    assert project.run("gate", "run", "--rule", "as-expected[*] >= 0.01").exit_code == 0
    assert project.run("gate", "run", "--rule", "flip-rate <= 1").exit_code == 2


def test_an_empty_test_is_not_hidden_by_another_tasks_test_of_its_name(project: Project) -> None:
    task = {"instruction": "Judge.", "scale": {"labels": ["YES", "NO"]}}

    def named(name: str, count: int, *tests: Any) -> dict[str, Any]:
        data = {"source": "examples", "dataset": "factual", "sample": {"n": count, "seed": 1}}
        return {"name": name, "data": data, "task": task, "tests": [*tests]}

    own = {**REJECTED, "name": "dup"}
    tasks = [named("t1", 2, own), named("t2", 3, {"test": "drafts", "name": "dup"}), named("t3", 4, own)]
    project.write("maker.py", PLUGIN)
    project.write(
        "suite.json", json.dumps({"name": "s", "tasks": tasks, "judges": [{"judge": "simulated", "name": "s"}]})
    )
    outcome = project.run("run", "suite.json", "--run-dir", "run", "--plugins", "maker.py")
    assert outcome.exit_code == 3
    why = "test 'dup' on task '{0}' made no cases: {1} of {1} drafts rejected: never: a number changed"
    assert f"jrh: not done: {why.format('t1', 2)}; {why.format('t3', 4)} (to accept" in outcome.stderr
    plan = project.run("plan", "suite.json", "--run-dir", "run", "--plugins", "maker.py")
    assert "Test 'dup' has no cases on task 't1' (2 of 2 drafts rejected).\n" in plan.stdout
    found = [each for each in report(project, "run")["findings"] if each["kind"] == "no-cases"]
    assert [(each["task"], each["severity"]) for each in found] == [("t1", "bad"), ("t3", "bad")]
