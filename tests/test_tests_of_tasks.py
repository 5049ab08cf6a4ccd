"""A task of a suite may have tests of its own, besides those that serve all tasks."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from jrh import SuiteError
from jrh.plugins.loading import load_plugins
from jrh.suite.resolve import load_suite
from jrh_testing import Project
from support.looking import report

pytestmark = pytest.mark.inside

FACTS = {
    "name": "facts",
    "data": {"source": "examples", "dataset": "factual", "sample": {"n": 6, "seed": 1}},
    "task": {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}},
}
PAIRS = {
    "name": "pairs",
    "data": {"source": "examples", "dataset": "preference", "sample": {"n": 6, "seed": 1}},
    "task": {"instruction": "Which is better?", "scale": {"pairwise": True}},
}
MANY = 30
GATE = {"rules": ["flip-rate[option-order] <= 1"]}
TRAILING = {"test": "format", "variants": ["trailing"]}


def _suite(top: list[Any], facts: list[Any], pairs: list[Any], **more: Any) -> str:
    tasks = [{**FACTS, "tests": facts}, {**PAIRS, "tests": pairs}]
    judges = [{"judge": "simulated", "name": "s", "format_sensitivity": 0.3}]
    return yaml.safe_dump({"name": "own", "tasks": tasks, "tests": top, "judges": judges, **more}, sort_keys=False)


def _planned(project: Project) -> set[tuple[str, str]]:
    return {(line["task"], line["test"]) for line in report(project, "run")["attrition"]}


def test_tests_at_the_top_serve_all_tasks_and_a_task_adds_its_own(project: Project) -> None:
    own = [{"cross": [TRAILING, {"verbosity": {"variants": ["long"], "long_ratio": [1.05, 3.0]}}], "name": "x"}]
    project.write("suite.yaml", _suite([TRAILING], own, ["option-order"], metrics={"add": ["interaction"]}))
    plan = project.run("plan", "suite.yaml", "--run-dir", "run")
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.stderr
    crossed = {("facts", name) for name in ("x.format", "x.verbosity", "x.format+verbosity")}
    assert _planned(project) == {("facts", "format"), ("pairs", "format"), ("pairs", "option-order")} | crossed
    found = report(project, "run")
    assert found["tests"] == ["reference", "format", "x.format", "x.verbosity", "x.format+verbosity", "option-order"]
    measured = {(measure["task"], measure["test"]) for measure in found["measures"] if measure["name"] == "flip-rate"}
    assert measured == _planned(project)
    assert {measure["task"] for measure in found["measures"] if measure["name"] == "interaction"} == {"facts"}
    assert "option-order" in plan.stdout
    rows = [line.split() for line in plan.stdout.splitlines() if "option-order" in line]
    assert rows
    assert all("pairs" in row for row in rows)
    assert not [note for note in found["notes"] if "option-order" in note], "it is no test of the task `facts`"


def test_two_tasks_may_have_different_tests_of_one_name(project: Project) -> None:
    once = {"test": "stochastic", "name": "again", "repeats": 2}
    thrice = {"test": "stochastic", "name": "again", "repeats": 3}
    # Small samples decide no rule on reruns: 30 items of a judge whose reruns differ.
    noisy = [{"judge": "simulated", "name": "s", "rerun_noise": 0.8}]
    project.write("suite.yaml", _suite([], [once], [thrice], judges=noisy).replace("n: 6", f"n: {MANY}"))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run")
    assert outcome.exit_code == 0, outcome.stderr
    found = report(project, "run")
    assert {line["task"]: line["trials"] for line in found["costs"] if line["test"] == "again"} == {
        "facts": 2 * MANY,
        "pairs": 3 * MANY,
    }
    assert found["tests"] == ["reference", "again"]
    used = {part["name"]: part["options"] for part in found["components"] if part["role"] == "perturber"}
    assert set(used) == {"facts: again", "pairs: again"}
    gate = project.run("gate", "run", "--rule", "rerun-disagreement[again] <= 1", "--rule", "flip-rate[again] <= 1")
    assert gate.exit_code == 0, gate.stdout
    nothing_new = project.run("run", "suite.yaml", "--run-dir", "run")
    assert nothing_new.exit_code == 0


@pytest.mark.parametrize(
    ("top", "facts", "pairs", "line", "message"),
    [
        (["format"], [], ["format"], "  - format", "the suite has a test 'format' that serves all tasks"),
        ([], [], ["format", "format"], "  - format", "two tests are named 'format'"),
        ([], ["option-order"], [], "  - option-order", "'option-order' fits no task: 'facts'"),
        (
            [],
            [["format", "option-order"]],
            [],
            "    - option-order",
            "'option-order' fits no task: 'facts' is pointwise",
        ),
        ([], ["formt"], [], "  - formt", "unknown perturber 'formt'"),
        (
            [],
            [{"name": "reference", "test": "format"}],
            [],
            "  - name: reference",
            "'reference' is the name of the unperturbed",
        ),
        ([], [{"test": "format", "allow_empty": "often"}], [], "    allow_empty: often", "allow_empty"),
    ],
)
def test_mistakes_are_reported_where_they_are(
    tmp_path: Path, top: list[Any], facts: list[Any], pairs: list[Any], line: str, message: str
) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(_suite(top, facts, pairs))
    with pytest.raises(SuiteError) as raised:
        load_suite(path, load_plugins(()).plugins)
    (problem,) = [each for each in raised.value.problems if message in each.message or message in str(each)]
    written = path.read_text().splitlines()
    assert problem.line is not None
    assert (written[problem.line - 1], problem.column) == (line, line.index(line.strip(" -")) + 1)


def test_a_rule_may_name_a_test_of_one_task_and_tests_can_be_chosen(project: Project) -> None:
    project.write("suite.yaml", _suite([], [TRAILING], ["option-order"], gate=GATE))
    outcome = project.run("run", "suite.yaml", "--run-dir", "run", "--test", "option-order")
    assert outcome.exit_code == 0, outcome.stderr
    assert _planned(project) == {("pairs", "option-order")}
    assert project.run("gate", "run").exit_code == 0
    changed = project.run("plan", "suite.yaml", "--set", "tasks.facts.tests.format.name=layout")
    assert "layout" in changed.stdout, changed.stderr
