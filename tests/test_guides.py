"""The guides: every block of a page is a file that is written or a command that is run, in the order of the page."""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml
from jrh import read_items
from jrh_review.decisions import Decision, ReviewAction
from jrh_review.desk import review_desk
from jrh_review.labelling import ScreenDecision, label_desk
from jrh_review.options import QueueRequest
from jrh_review.person_labels import LabelAction
from jrh_testing import Inside, Outcome, Project
from support.looking import until

pytestmark = pytest.mark.inside

GUIDES = Path(__file__).resolve().parents[1] / "docs" / "guides"
SKILL = GUIDES.parent / "skill" / "SKILL.md"
PORT = "8765"
FILES = {"yaml": "suite.yaml", "csv": "answers.csv"}


def text_of(guide: str) -> str:
    """Return the text of a guide, or of the skill file."""
    return (SKILL if guide == SKILL.name else GUIDES / guide).read_text(encoding="utf-8")


def followed(project: Project, guide: str, port: str = PORT) -> Iterator[tuple[str, Outcome]]:
    """Write the files of a guide and yield its commands with their outcomes."""
    page = text_of(guide).replace(PORT, port)
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for before, language, block in re.findall(r"([^\n]*)\n\n```(\w+)\n(.*?)```", page, re.DOTALL):
        if language == "console":
            for line in block.splitlines():
                yield line, project.run(*shlex.split(line.removeprefix("$ jrh ")), env={"PATH": path})
        elif language == "text":
            continue
        else:
            saved = re.search(r"[Ss]ave as `([\w.]+)`", before)
            project.write(saved[1] if saved else FILES[language], block)


def shown(guide: str, outcomes: Sequence[tuple[str, Outcome]]) -> list[str]:
    """Return the lines of output in a guide that no command has printed."""
    page = text_of(guide)
    printed = " ".join(" ".join(done.output.split()) for _, done in outcomes)
    blocks = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if " ".join(line.split()) not in printed]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Inside, list[tuple[str, Outcome]]]:
    """Follow the first guide; others go on with its run."""
    project = Inside(tmp_path_factory.mktemp("first"))
    return project, list(followed(project, "first-suite.md"))


def _listens(port: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(port))) == 0


@contextmanager
def served(project: Project, port: str) -> Iterator[None]:
    """Run the endpoint of the guide."""
    server = subprocess.Popen([sys.executable, "server.py"], cwd=project.path, stderr=subprocess.DEVNULL)
    try:
        until(lambda: server.poll() is not None or _listens(port), "the endpoint")
        yield
    finally:
        server.kill()
        server.wait()


def test_the_three_judges_of_the_guide_answer_alike(project: Project) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    page = (GUIDES / "your-own-judge.md").read_text(encoding="utf-8")
    (code,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "HTTPServer(" in block]
    (rule,) = [block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def judge(" in block]
    project.write("rules.py", rule)
    project.write("server.py", code.replace(PORT, port))
    with served(project, port):
        ((_, done),) = followed(project, "your-own-judge.md", port)
    assert done.exit_code == 0, done.output
    records = project.records("runs/mine")
    given: dict[str, list[tuple[str, ...]]] = {}
    for judge, *rest in zip(*(records.text(each) for each in ("judge", "test", "item_id", "canonical")), strict=True):
        given.setdefault(judge, []).append(tuple(str(each) for each in rest))
    assert sorted(given) == ["program", "rules", "service"]
    assert sorted(given["program"]) == sorted(given["rules"]) == sorted(given["service"])
    assert {row[2] for row in given["rules"] if row[1] in "ac"} == {"YES"}
    assert {row[2] for row in given["rules"] if row[1] in "bd"} == {"NO"}
    report = json.loads(project.read("runs/mine/report.json"))
    assert {line["unknown"] for line in report["costs"]} == {0}  # `cost: 0` is free, not unknown


def test_the_first_suite_shows_what_was_planted(first: tuple[Inside, list[tuple[str, Outcome]]]) -> None:
    project, outcomes = first
    assert [(line, done.exit_code) for line, done in outcomes if done.exit_code] == [("$ jrh run suite.yaml", 1)]
    assert shown("first-suite.md", outcomes) == []
    moved = [
        each
        for each in json.loads(project.read("runs/first/report.json"))["findings"]
        if "asking again" in each["statement"]
    ]
    assert [(each["severity"], each["tests"]) for each in moved] == [("bad", ["format"])]


def test_the_gate_of_the_guide_fails_and_writes_what_a_workflow_shows(
    first: tuple[Inside, list[tuple[str, Outcome]]],
) -> None:
    outcomes = list(followed(first[0], "ci-gate.md"))
    assert [done.exit_code for _, done in outcomes] == [1, 1, 1]
    assert shown("ci-gate.md", outcomes) == []
    assert ": failed, " in first[0].read("comment.md")
    assert "<failure" in first[0].read("gate.xml")


def test_decisions_change_the_report(first: tuple[Inside, list[tuple[str, Outcome]]]) -> None:
    project, outcomes = first[0], []
    with review_desk(project.path / "runs/first") as desk:
        for place, queued in enumerate(desk.make_queue(QueueRequest(tests=("label-flip",), sample=6, seed=1))):
            action, reason = (ReviewAction.ACCEPT, "") if place else (ReviewAction.REJECT, "right")
            desk.decide(Decision(case_id=queued.case_id, reviewer="anna", made="", action=action, reason=reason), 0)
    for line, done in followed(project, "reviewing.md"):
        outcomes.append((line, done))
        # The gate fails, and a run of the suite says so.
        assert done.exit_code == line.startswith("$ jrh run"), done.output
    assert shown("reviewing.md", outcomes) == []
    assert "1 of 6" in project.read("runs/first/report.md")


STANDALONE = {
    "your-own-perturbation.md": [0, 0],
    "your-own-metric.md": [0, 0],
    "agents.md": [0],
    "costs.md": [0, 4, 0],
    "big-runs.md": [0, 0, 0, 0],
    "migrating.md": [0, 0, 0],
    "SKILL.md": [0, 0, 0, 0, 0, 0],
}


@pytest.mark.parametrize("guide", STANDALONE)
def test_a_guide_does_what_it_shows(project: Project, guide: str) -> None:
    outcomes = list(followed(project, guide))
    assert [done.exit_code for _, done in outcomes] == STANDALONE[guide], [done.output for _, done in outcomes]
    assert shown(guide, outcomes) == []


def test_the_guide_of_a_red_gate_shows_how_often_it_is_wrong(project: Project) -> None:
    pytest.importorskip("jrh_decide", reason="the environment was made before this distribution")
    outcomes = list(followed(project, "red-gate.md"))
    assert [done.exit_code for _, done in outcomes] == [0, 5, 0], [done.output for _, done in outcomes]
    assert shown("red-gate.md", outcomes) == []


def test_the_guide_of_a_retired_judge_answers_whether_it_may_be_swapped(project: Project) -> None:
    outcomes = list(followed(project, "retired-judge.md"))
    assert [done.exit_code for _, done in outcomes] == [0] * len(outcomes), [done.output for _, done in outcomes]
    assert shown("retired-judge.md", outcomes) == []


def test_the_guide_of_a_hundred_labels_shows_what_may_be_decided_alone(project: Project) -> None:
    outcomes = list(followed(project, "hundred-labels.md"))
    assert [done.exit_code for _, done in outcomes] == [0] * 7, [done.output for _, done in outcomes]
    assert shown("hundred-labels.md", outcomes) == []


def test_the_guide_of_a_quarterly_audit_raises_an_alarm_when_the_judge_changes(project: Project) -> None:
    outcomes = list(followed(project, "quarterly-audit.md"))
    # A file that the page saves twice holds what it holds at each place.
    assert [done.exit_code for _, done in outcomes] == [0] * 9 + [1], [done.output for _, done in outcomes]
    assert shown("quarterly-audit.md", outcomes) == []


def test_the_skill_file_has_the_head_that_assistants_look_for() -> None:
    head, _, body = text_of("SKILL.md").removeprefix("---\n").partition("\n---\n")
    found = yaml.safe_load(head)
    assert set(found) == {"name", "description"}
    assert re.fullmatch(r"[a-z0-9-]{1,64}", found["name"])
    assert 0 < len(found["description"]) <= 1024
    assert "Use it when" in found["description"]
    assert body.strip().startswith("# ")


def test_every_guide_is_tested() -> None:
    names = set(re.findall(r'"([\w-]+\.md)"', Path(__file__).read_text(encoding="utf-8")))
    assert {path.name for path in GUIDES.glob("*.md")} <= names


def test_the_plans_of_the_guide_show_the_columns_it_explains(project: Project) -> None:
    outcomes = dict(followed(project, "choosing-n.md"))
    assert {line: done.output for line, done in outcomes.items() if done.exit_code != 0} == {}
    planned, _, pilot, advised = (done.stdout for done in outcomes.values())
    page = (GUIDES / "choosing-n.md").read_text(encoding="utf-8")
    for column in re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE):
        assert column in planned, column
    assert "Pilot: rerun noise" in pilot
    assert "two askings of a question differ on 10% of items" not in pilot
    assert re.match(r"(No claim is open\. )?Add ", advised)


def test_the_report_of_the_guide_has_the_parts_it_explains(project: Project) -> None:
    ((_, done),) = followed(project, "reading-a-report.md")
    assert done.exit_code == 0, done.output
    report = project.read("runs/read/report.md")
    page = (GUIDES / "reading-a-report.md").read_text(encoding="utf-8")
    parts = re.findall(r"^\| `([^`]+)` \|", page, re.MULTILINE)
    assert len(parts) == 8
    positions = [report.find(part) for part in parts]
    assert [part for part, found in zip(parts, positions, strict=True) if found < 0] == []
    assert "95% confidence intervals, clustered by item" in report
    assert "- inconclusive: " in report


def rule_on_cases(project: Project, docket: str, wrong: set[str]) -> None:
    """Let two made-up referees rule: the labels of some items are wrong, and all others right."""
    suite = project.path / docket / "suite.yaml"
    drawn = {case["id"]: case for case in json.loads((suite.parent / "docket.json").read_text("utf-8"))["cases"]}
    with label_desk(suite.with_name("suite.labels.jsonl")) as desk:
        desk.read(read_items(suite))
        for who in ("ann", "bob"):
            for screen in desk.screens(who):
                case = drawn[screen.item.id]
                first = (case["shown"][0] == case["label"]) != (case["item"] in wrong)
                label = "only verdict 1" if first else "only verdict 2"
                if who == "bob" and case["item"] == "factual-02":
                    label = "the rubric does not say"
                desk.decide([ScreenDecision(who, screen, LabelAction.LABEL, label, 0)])


def test_the_guide_of_low_agreement_finds_and_corrects_labels(project: Project) -> None:
    outcomes = []
    for line, done in followed(project, "low-agreement.md"):
        outcomes.append((line, done))
        if line.endswith("--cases 30"):
            rule_on_cases(project, "runs/kappa.court", {"factual-03", "factual-06", "factual-16", "factual-17"})
    assert [(line, done.output) for line, done in outcomes if done.exit_code] == []
    assert shown("low-agreement.md", outcomes) == []
