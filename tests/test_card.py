"""`jrh card` through the command: the numbers of the run, what was not run, and a run without verdicts."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from jrh import read_items
from jrh_decide.card import card_markdown, make_card
from jrh_review.labelling import ScreenDecision, label_desk
from jrh_review.person_labels import LabelAction
from jrh_testing import Inside, Project
from support import schemas
from support.suites import simulated_suite, write_items, write_suite

pytestmark = pytest.mark.inside

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Inside(tmp_path_factory.mktemp("card"))
    write_items(project, 20)
    judges = [
        {"name": "<b>|x", "judge": "simulated", "accuracy": 0.9, "cost": 0.001},
        {"name": "mute", "judge": "simulated", "refusals": 1.0},
    ]
    tests = [{"format": {"variants": ["spaces"]}}]
    write_suite(project, simulated_suite(judges=judges, tests=tests, reports=["json"], reference={"repeats": 2}))
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code in (0, 3), done.output
    return project


def card(project: Project) -> Any:
    return json.loads(project.run("card", "run", "--judge", "<b>|x", "--format", "json").stdout)


def test_the_shipped_schema_is_what_the_classes_give() -> None:
    from jrh_authoring.suite_schema import DRAFT, TypeSchemas
    from jrh_decide.card import Card

    schemas = TypeSchemas(written=False)
    schemas.of(Card)
    root = schemas.definitions.pop("jrh_decide.Card")
    head = {"$schema": DRAFT, "title": "The card of a judge: `jrh card`"}
    expected = json.dumps({**head, **root, "$defs": dict(sorted(schemas.definitions.items()))}, indent=2) + "\n"
    shipped = ROOT / "schemas" / "card.schema.json"
    assert shipped.read_text() == expected, "write the expected text into schemas/card.schema.json"


def test_the_numbers_are_those_of_the_run(project: Project) -> None:
    found = card(project)
    schemas.validate(found, "card")
    stored = json.loads(project.read("run/report.json"))["measures"]
    keys = ("name", "judge", "test", "estimate", "n_trials")
    written = [[each[key] for key in keys] for each in stored]
    shown = [[line["measure"][key] for key in keys] for line in found["lines"] if line["measure"]]
    assert shown
    assert all(each in written for each in shown)
    assert len({found["prompt_digest"], found["data_digest"], found["results_digest"]}) == 3


def test_what_was_not_run_is_named_and_never_passed(project: Project) -> None:
    found, page = card(project), project.run("card", "run", "--judge", "<b>|x").stdout
    lines = {line["what"]: line for line in found["lines"]}
    assert lines["layout"]["status"] == "measured"
    assert lines["human ceiling"]["status"] == "not run"
    assert "human ceiling" in found["not_run"]
    assert "not run: human ceiling" in found["sentence"]
    assert "| human ceiling | NOT RUN | needs items that two people labelled |" in page
    assert found["simulated"]
    assert found["sentence"].startswith("Simulated judge")


def test_a_hostile_name_is_text_on_the_page(project: Project) -> None:
    page = project.run("card", "run", "--judge", "<b>|x").stdout
    assert "<b>" not in page
    assert all(row.replace("\\|", "").count("|") == 4 for row in page.splitlines() if row.startswith("|"))


def test_no_served_model_hides_another(project: Project) -> None:
    made = evolve(make_card(project.path / "run", judge="<b>|x"), served=("long " * 100, "another-model"))
    (line,) = (line for line in card_markdown(made).splitlines() if line.startswith("- Served by"))
    assert line.endswith(" and another-model")


def test_a_judge_without_a_verdict_has_no_card(project: Project) -> None:
    refused = project.run("card", "run", "--judge", "mute")
    assert refused.exit_code == 2
    assert "no verdict" in refused.output
    assert "Name one with --judge" in project.run("card", "run").output


def label_items(project: Project, *, errs: int) -> None:
    """Let two people label the suite's items; the second contradicts the first on every so many."""
    suite = project.path / "suite.yaml"
    with label_desk(project.path / "suite.labels.jsonl") as desk:
        desk.read(read_items(suite))
        for who in ("ann", "bob"):
            for place, screen in enumerate(desk.screens(who)):
                labels = ("A", "B") if "response_a" in screen.item.fields else ("YES", "NO")
                label = screen.item.gold or labels[0]
                if who == "bob" and place % errs == 0:
                    label = labels[label == labels[0]]
                desk.decide([ScreenDecision(who, screen, LabelAction.LABEL, label, 0)])


def test_the_smallest_suite_fills_the_card_and_a_good_judge_passes_its_gate(tmp_path: Path) -> None:
    project = Inside(tmp_path)
    rows = [f"{at},Which is better?,It is {at} of one.,It is {at} of the other.,{'AB'[at % 2]}" for at in range(40)]
    project.write("pairs.csv", "\n".join(["id,request,response_a,response_b,label", *rows]))
    written = project.run("init", "--data", "pairs.csv", "--protocol", "minimum")
    assert written.stdout.endswith("Next: jrh label suite.yaml --name first --name second\n"), written.output
    label_items(project, errs=8)
    suite = project.read("suite.yaml")
    for accuracy, code in ((0.97, 0), (0.4, 1)):
        project.write("suite.yaml", suite.replace("accuracy: 0.85", f"accuracy: {accuracy}"))
        assert project.run("plan", "suite.yaml").exit_code == 0
        done = project.run("run", "suite.yaml", "--run-dir", f"run{code}", "--yes")
        assert done.exit_code == code, done.output
        assert project.run("gate", f"run{code}").exit_code == code
    found = json.loads(project.run("card", "run0", "--format", "json").stdout)
    assert {line["what"]: line["status"] for line in found["lines"]} == dict.fromkeys(
        ("agreement", "agreement beyond chance", "noise floor", "order", "layout", "human ceiling",
         "judge less human ceiling", "missing"), "measured",
    ) | {"change beyond reruns": "measured"}  # fmt: skip
    assert found["not_run"] == []


def test_a_protocol_that_no_plugin_has_is_one_message(tmp_path: Path) -> None:
    refused = Inside(tmp_path).run("init", "--protocol", "maximum")
    assert (refused.exit_code, refused.stderr) == (2, "jrh: no protocol 'maximum'. Protocols: minimum\n")
    # Always saying YES is no pass: 30 items are too few to show more than a share of 0.8.
    from jrh import Item, Scale, Task
    from jrh_decide.protocol import smallest_suite

    task = Task(name="t", instruction="?", scale=Scale.of_labels("YES", "NO"))
    items = [Item(id=str(at), fields={}, gold="YES" if at % 5 else "NO") for at in range(30)]
    text = smallest_suite("data:\n", "x", task, items)
    assert "gold-accuracy >= 0.85]\n" in text
    assert "Too few items here (30). A judge that is right on 9 of 10 items passes in 4 of 5 runs of 409 items." in text


def test_a_badge_is_safe_and_says_what_was_not_run(project: Project) -> None:
    from xml.etree import ElementTree

    project.run("card", "run", "--judge", "<b>|x", "--badge", "badge.svg")
    found, written = card(project), project.read("badge.svg")
    left, right = (text.text for text in ElementTree.fromstring(written).iter("{http://www.w3.org/2000/svg}text"))
    assert left == "judge <b>|x"
    assert right.startswith("kappa 0.")
    assert right.endswith(f", {len(found['not_run'])} NOT RUN, simulated")
    assert "pass" not in written
    # Only a card without a gap has the colour of an answer.
    assert "#0b5cad" not in written
    # As on a full disk: what cannot be written whole leaves the earlier badge as it is.
    (project.path / ".badge.svg.partial").mkdir()
    refused = project.run("card", "run", "--judge", "<b>|x", "--badge", "badge.svg")
    assert refused.exit_code == 2
    assert "cannot write 'badge.svg'" in refused.output
    assert project.read("badge.svg") == written
    (project.path / ".badge.svg.partial").rmdir()


def test_the_next_spending_is_what_the_findings_of_the_report_need(project: Project) -> None:
    text, found = (
        project.run("advise", "run").output,
        json.loads(project.run("advise", "run", "--format", "json").stdout),
    )
    schemas.validate(found, "advice")
    report = json.loads(project.read("run/report.json"))
    bases = [basis for each in report["findings"] if each["severity"] == "inconclusive" for basis in each["basis"]]
    assert found["open"] == len(bases) > 0
    assert text.startswith(found["sentence"])
    items = [each for each in found["spendings"] if each["kind"] == "items"]
    # The most that decides anything decides all that can be decided.
    assert max(each["claims"] for each in items) == found["open"] - found["hopeless"] > 0
    first = items[0]
    named = [int(number) for basis in bases for number in re.findall(r"([\d]+) items in all$", basis["decide"])]
    assert first["add"] == f"{min(named) - 20} items"
    # Both judges answer every question: two originals and one variant of each item.
    assert first["calls"] == (min(named) - 20) * 2 * 3
    assert first["cost"] == pytest.approx(first["calls"] * 0.001 / 2)
    assert {each["cost"] for each in found["spendings"] if each["kind"] == "labels"} == {None}, "people are not free"
    assert [each["add"] for each in found["spendings"] if each["kind"] == "labels"] == [
        "items that two people labelled"
    ]
    assert text.splitlines()[-1] == "Next: jrh view run"


def test_the_advice_of_a_claim_is_read_as_it_is_written() -> None:
    from jrh_measuring import Advice, items_in_all

    for low, high, most in (
        (20, 200, 200),
        (5, 300, 300),
        (60, 60, 60),
        (60, 5000, None),
        (3000, 9000, None),
        (0, 0, None),
    ):
        for unit in ("item", "cluster", "labelled item"):
            assert items_in_all(Advice(goal="80% power for an effect of 0.05", low=low, high=high).write(unit)) == most
