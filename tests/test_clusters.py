"""Items that share a group, or what they show, are one cluster: in runs, imports, reports, gates, comparisons."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jrh_stats import binomial_limits
from jrh_testing import Project
from jrh_testing import call as inside
from support.suites import LABELS, write_suite

QUESTIONS, COPIES = 6, 10
ROWS = QUESTIONS * COPIES
SIX = tuple(round(float(end), 12) for end in binomial_limits(QUESTIONS, QUESTIONS))
SHOWN = f"1.00 [{SIX[0]:.2f}, 1.00]"
JUDGE = 'def right(request, response):\n    return "YES" if "good" in response else "NO"\n'


def rows(*, grouped: bool) -> list[dict[str, Any]]:
    """Make 60 rows of 6 questions: different texts in 6 groups, or 10 copies of every text."""
    made = []
    for number in range(ROWS):
        question = number % QUESTIONS
        word = "good" if question % 2 else "poor"
        text = f"A {word} answer to question {question}."
        row = {
            "id": f"i{number:02}",
            "request": f"Question {question}?",
            "response": text,
            "label": LABELS[1 - question % 2],
        }
        made.append({**row, "response": f"{text} Version {number}.", "group": f"g{question}"} if grouped else row)
    return made


@pytest.fixture(params=[True, False], ids=["grouped", "copies"])
def ran(request: pytest.FixtureRequest, project: Project) -> Project:
    """Run a judge that is always right on 60 rows of 6 questions."""
    data = "\n".join(json.dumps(row) for row in rows(grouped=request.param))
    project.write("items.jsonl", f"{data}\n")
    suite = {
        "name": "six",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"instruction": "Is the answer right?", "scale": {"labels": list(LABELS)}},
        "judges": [{"name": "right", "judge": "simulated"}],
        "tests": ["format"],
        "resamples": 100,
        "reports": ["json", "terminal", "markdown", "html", "csv"],
    }
    write_suite(project, suite)
    done = inside(project, "run", "suite.yaml", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    return project


def measured(project: Project, run: str, name: str, test: str = "reference") -> dict[str, Any]:
    found = json.loads(project.read(f"{run}/report.json"))["measures"]
    (one,) = [each for each in found if (each["name"], each["test"], each["cell"]) == (name, test, {})]
    return dict(one)


def ends(measure: dict[str, Any]) -> tuple[float, float]:
    return round(measure["interval"]["low"], 12), round(measure["interval"]["high"], 12)


def test_six_questions_behind_sixty_rows_have_the_interval_of_six_everywhere(ran: Project) -> None:
    found = measured(ran, "run", "gold-accuracy")
    assert (found["n_items"], found["n_clusters"]) == (ROWS, QUESTIONS)
    assert ends(found) == SIX
    assert "few-clusters" in found["flags"]
    assert "60 items in 6 clusters" in ran.read("run/report.md")
    page = re.sub(r"<[^>]+>", "", ran.read("run/report.html"))
    assert "60 items in 6 clusters" in page
    assert f"[{SIX[0]:.2f}, 1.00]" in page
    told = inside(ran, "report", "run", "--format", "terminal").stdout
    assert f"[{SIX[0]:.2f}, 1.00]" in told
    assert "60 items in 6 clusters" in " ".join(told.split())
    assert "0.94" not in told  # the lower end of 60 of 60


def test_a_gate_counts_the_clusters(ran: Project) -> None:
    done = inside(ran, "gate", "run", "--rule", "gold-accuracy[reference] >= 0.9")
    assert done.exit_code == 5, done.output  # 60 of 60 would hold
    assert "60 items in 6 clusters" in done.stdout


def test_plan_and_audit_say_what_six_questions_can_show(ran: Project) -> None:
    low, high = binomial_limits(QUESTIONS / 2, QUESTIONS)
    half = f"±{float(high - low) / 2:.2f}"
    plan = inside(ran, "plan", "suite.yaml", "--run-dir", "new").stdout
    assert "in 6 clusters" in " ".join(plan.split())
    audit = inside(ran, "audit", "suite.yaml").stdout
    assert "60 items in 6 clusters" in audit
    assert half in audit


def test_an_import_of_the_records_has_the_same_clusters(ran: Project) -> None:
    known = {
        "name": "again",
        "path": "run/records.csv",
        "layout": "records",
        "task": {"scale": {"labels": list(LABELS)}},
    }
    ran.write("import.yaml", json.dumps({**known, "resamples": 100}))
    done = inside(ran, "import", "import.yaml", "--run-dir", "again")
    assert done.exit_code == 0, done.output
    assert inside(ran, "report", "again", "--format", "json").exit_code == 0
    assert ends(measured(ran, "again", "gold-accuracy")) == SIX


def test_a_comparison_exchanges_whole_clusters(ran: Project) -> None:
    suite = ran.read("suite.yaml").replace("judge: simulated", "judge: simulated\n  accuracy: 0.0")
    ran.write("wrong.yaml", suite)
    assert inside(ran, "run", "wrong.yaml", "--run-dir", "wrong").exit_code == 0
    done = inside(ran, "compare", "run", "wrong", "--format", "json")
    document = json.loads(done.stdout)
    (row,) = [
        each
        for each in document["pairs"][0]["rows"]
        if (each["test"], each["measure"]) == ("reference", "gold-accuracy")
    ]
    assert (row["items"], row["clusters"]) == (ROWS, QUESTIONS)
    # All clusters point one way. McNemar's mid-p counts what was seen by half: 2 (1/2) 2^-K.
    assert row["p"] == pytest.approx(1 / 2**QUESTIONS)
