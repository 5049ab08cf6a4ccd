"""`jrh court` through its command: what referees see, what their rulings mean, and labels that are corrected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from jrh import read_items
from jrh_authoring.suite_schema import DRAFT, TypeSchemas
from jrh_court.docket import docket_directory
from jrh_court.estimates import CourtAnswer
from jrh_review.labelling import ScreenDecision, label_desk
from jrh_review.person_labels import LabelAction
from jrh_testing import Inside, Project
from support.schemas import validate
from support.suites import simulated_suite, write_suite

pytestmark = pytest.mark.inside
ROOT = Path(__file__).resolve().parents[1]
SCHEMA = ROOT / "schemas" / "court.schema.json"
ITEMS = 80
WRONG = range(0, ITEMS, 10)
"""Items with a label that is wrong."""


def truth(place: int) -> str:
    return "YES" if place % 2 else "NO"


def write_planted(project: Project) -> None:
    rows = []
    for place in range(ITEMS):
        label = truth(place + 1) if place in WRONG else truth(place)
        response = f"This is answer number {place:03}."
        rows.append({"id": f"item-{place:03}", "request": "What is it?", "response": response, "label": label})
    project.write("items.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Inside(tmp_path_factory.mktemp("court"))
    write_planted(project)
    judges = [{"name": "sim", "judge": "simulated", "accuracy": 0.8}]
    write_suite(project, simulated_suite(judges=judges, tests=[], reports=["json", "markdown"]))
    assert project.run("run", "suite.yaml", "--run-dir", "run", "--yes").exit_code == 0
    return project


def shown_cases(project: Project, docket: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the place of each case's item, which its text tells, and what a referee sees."""
    for line in project.read(f"{docket}/cases.jsonl").splitlines():
        case = json.loads(line)
        yield int(case["response"][-4:-1]), case


def rule(project: Project, docket: str, *referees: str, of: Callable[[int], bool] = lambda _: True) -> None:
    """Let referees who know the truth rule on the cases of some items."""
    suite = project.path / docket / "suite.yaml"
    with label_desk(suite.with_name("suite.labels.jsonl")) as desk:
        desk.read(read_items(suite))
        for who in referees:
            for screen in desk.screens(who):
                place = int(str(screen.fields["response"])[-4:-1])
                right = [name for name in ("verdict_1", "verdict_2") if screen.fields[name] == truth(place)]
                label = f"only {right[0].replace('_', ' ')}"
                if of(place):
                    desk.decide([ScreenDecision(who, screen, LabelAction.LABEL, label, 0)])


def answer(project: Project, docket: str, *words: str) -> Any:
    done = project.run("court", "run", "--docket", docket, *words, "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    validate(found, "court")
    return found


def test_the_shipped_schema_is_what_the_classes_give() -> None:
    schemas = TypeSchemas(written=False)
    schemas.of(CourtAnswer)
    root = schemas.definitions.pop("jrh_court.CourtAnswer")
    added = {"sentence": {"type": "string"}}
    root["properties"] = added | root["properties"]
    head = {"$schema": DRAFT, "title": "Who is wrong: `jrh court --format json`"}
    expected = json.dumps({**head, **root, "$defs": dict(sorted(schemas.definitions.items()))}, indent=2) + "\n"
    assert SCHEMA.read_text("utf-8") == expected, "write the expected text into schemas/court.schema.json"


def test_no_case_tells_which_verdict_is_whose(project: Project) -> None:
    first = project.run("court", "run", "--docket", "blind", "--cases", "40")
    assert first.stdout.startswith("Not known yet: no case has a ruling.\n")
    assert first.stdout.endswith("Next: jrh label blind/suite.yaml --name ann --name bob\n"), first.output
    drawn = {case["id"]: case for case in json.loads(project.read("blind/docket.json"))["cases"]}
    agreeing, order = set(), set()
    for _, case in shown_cases(project, "blind"):
        known = drawn[case["id"]]
        assert set(case) == {"id", "request", "response", "verdict_1", "verdict_2"}
        # Two labels on every case, also where judge and people agree.
        assert {case["verdict_1"], case["verdict_2"]} == {"YES", "NO"}
        agreeing.add(known["judge"] == known["label"])
        order.add((known["judge"] == known["label"], case["verdict_1"] == known["label"]))
    assert agreeing == {True, False}
    assert len(order) == 4, "the label of people comes first and second on both sides"
    assert not {"item-", "sim", "gold"} & set(project.read("blind/cases.jsonl").split('"'))
    # The same seed draws the same cases; another one is another docket.
    project.run("court", "run", "--docket", "again", "--cases", "40")
    assert project.read("again/cases.jsonl") == project.read("blind/cases.jsonl")
    refused = project.run("court", "run", "--docket", "blind", "--seed", "2")
    assert refused.exit_code == 2
    assert "are drawn (judge sim, task trial, seed 1)" in refused.output


def test_rulings_find_the_planted_labels(project: Project) -> None:
    project.run("court", "run", "--docket", "whole", "--cases", str(ITEMS))
    rule(project, "whole", "ann")
    single = answer(project, "whole")
    assert single["disputed"]
    assert single["sentence"].startswith(
        "Disputed, as one referee is not the truth: of 80 items the label is wrong on "
    )
    rule(project, "whole", "bob")
    found = answer(project, "whole")
    assert not found["disputed"]
    shares = {share["name"]: share for share in found["shares"]}
    # All items are drawn, so that the shares are those of the run.
    assert shares["the label is wrong"]["value"] == pytest.approx(len(WRONG) / ITEMS)
    assert shares["the label is wrong"]["low"] < len(WRONG) / ITEMS < shares["the label is wrong"]["high"]
    right = shares["the judge is right"]["value"]
    assert shares["the judge is wrong"]["value"] == pytest.approx(1 - right)
    # Its accuracy by wrong labels is another one.
    assert found["naive"]["value"] != pytest.approx(right)
    text = project.run("court", "run", "--docket", "whole").stdout
    assert "All referees ruled alike on 80 of the 80 cases that several ruled on" in text
    assert "Simulated judges: sim." in text
    assert text.endswith("Next: jrh court run --docket whole --write-labels labels.json\n")


def test_agreements_left_out_are_no_estimate(project: Project) -> None:
    project.run("court", "run", "--docket", "half", "--cases", "30")
    drawn = json.loads(project.read("half/docket.json"))["cases"]
    differ = {int(case["item"][-3:]) for case in drawn if case["judge"] != case["label"]}
    rule(project, "half", "ann", "bob", of=lambda place: place in differ)
    found = answer(project, "half")
    assert found["refused"].startswith("no agreement has a ruling")
    assert found["shares"] == []
    assert found["disagreements"] == len(differ)


def test_corrected_labels_count_and_every_report_says_so(project: Project) -> None:
    project.run("court", "run", "--docket", "fix", "--cases", str(ITEMS))
    rule(project, "fix", "ann")
    alone = project.run("court", "run", "--docket", "fix", "--write-labels", "labels.json")
    assert alone.exit_code == 2
    assert "on no case do all who ruled, two or more, name the same other label" in alone.output
    rule(project, "fix", "bob")
    done = project.run("court", "run", "--docket", "fix", "--write-labels", "labels.json")
    assert "Wrote 8 corrected labels to labels.json." in done.output
    corrections = json.loads(project.read("labels.json"))["labels"]
    assert {row["item"]: (row["was"], row["label"]) for row in corrections} == {
        f"item-{place:03}": (truth(place + 1), truth(place)) for place in WRONG
    }
    assert all(set(row["rulings"]) == {"ann", "bob"} for row in corrections)
    assert project.run("court", "run", "--docket", "fix", "--write-labels", "labels.json").exit_code == 2, "it is there"

    suite = simulated_suite(
        judges=[{"name": "sim", "judge": "simulated", "accuracy": 0.8}], tests=[], reports=["json", "markdown"]
    )
    suite["data"]["corrected_by"] = "labels.json"
    write_suite(project, suite, "corrected.yaml")
    assert [item.gold for _, items in read_items(project.path / "corrected.yaml") for item in items] == [
        truth(place) for place in range(ITEMS)
    ]
    assert project.run("run", "corrected.yaml", "--run-dir", "corrected", "--yes").exit_code == 0
    said = "Task 'trial': 8 labels are as corrected by ann, bob (labels.json)."
    assert said in project.read("corrected/report.md")
    assert said in json.loads(project.read("corrected/report.json"))["notes"]
    assert said in project.run("report", "corrected").output + project.read("corrected/report.md")
    # Neither another question nor other texts were ruled on.
    write_suite(project, suite | {"task": suite["task"] | {"instruction": "Is it polite?"}}, "polite.yaml")
    asked = project.run("plan", "polite.yaml")
    assert asked.exit_code == 2
    assert "made under another instruction, rubric or scale" in asked.output.replace("\n", " ")
    forged = json.loads(project.read("labels.json"))
    forged["labels"][0]["rulings"] = {"zoe": "total nonsense"}
    project.write("forged.json", json.dumps(forged))
    write_suite(project, suite | {"data": suite["data"] | {"corrected_by": "forged.json"}}, "forged.yaml")
    assert "has no two rulings" in project.run("plan", "forged.yaml").output
    project.write("items.jsonl", project.read("items.jsonl").replace("answer number 010", "another text 010"))
    refused = project.run("plan", "corrected.yaml")
    write_planted(project)
    assert refused.exit_code == 2
    assert "the correction of item 'item-010'" in refused.output


def test_cases_that_were_changed_are_refused(project: Project) -> None:
    project.run("court", "run", "--docket", "changed", "--cases", "10")
    project.write("changed/cases.jsonl", project.read("changed/cases.jsonl").replace("answer", "reply"))
    refused = project.run("court", "run", "--docket", "changed")
    assert refused.exit_code == 2
    assert "was changed since the cases were drawn" in refused.output
    assert project.run("run", "suite.yaml", "--run-dir", "other", "--set", "seed=3", "--yes").exit_code == 0
    project.run("court", "run", "--docket", "mine", "--cases", "10")
    assert "were drawn from another run, 'run'" in project.run("court", "other", "--docket", "mine").output
    # The files of somebody else stay as they are.
    for name in ("run", "."):
        kept = project.run("court", "run", "--docket", name)
        assert "name another one with --docket" in kept.output
    assert "source: jsonl" in project.read("suite.yaml")
    here = Path.cwd()
    assert docket_directory(Path()).resolve() == here.parent / f"{here.name}.court"
    assert docket_directory(Path("runs/x")) == Path("runs/x.court")
    forged = json.loads(project.read("mine/docket.json"))
    project.write("mine/docket.json", json.dumps(forged | {"differ": [2, 1, 3], "agreements": -5}))
    assert "was changed since the cases were drawn" in project.run("court", "run", "--docket", "mine").output
    project.write("changed/docket.json", "{}")
    assert "docket.json: " in project.run("court", "run", "--docket", "changed").output


def judged_texts(project: Project, name: str, words: Sequence[str]) -> dict[str, str]:
    assert project.run("court", *words, "--docket", name, "--cases", "4").exit_code == 0
    return dict(json.loads(project.read(f"{name}/cases.jsonl").splitlines()[0]))


def test_comparisons_and_transcripts_are_shown_whole(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    suite = {
        "name": "pairs",
        "tasks": [
            {"name": "pairs", "data": {"source": "examples", "dataset": "preference"},
             "task": {"instruction": "Which is better?", "scale": {"pairwise": True}}},
        ],
        "judges": [{"name": "sim", "judge": "simulated", "accuracy": 0.5}],
        "reference": {"repeats": 1}, "reports": ["json"], "tests": [],
    }  # fmt: skip
    write_suite(project, suite, "pairs.yaml")
    assert project.run("run", "pairs.yaml", "--run-dir", "pairs", "--yes").exit_code == 0
    case = judged_texts(project, "pairs.court", ["pairs"])
    assert case["response"].startswith("response_a:\n")
    assert "\n\nresponse_b:\n" in case["response"]
    assert {case["verdict_1"], case["verdict_2"]} == {"A", "B"}
