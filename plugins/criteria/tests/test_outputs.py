"""One run with criteria through every output: shards and merge, gate, comparison, review, labels, reports, records."""

from __future__ import annotations

import csv
import io
import json

import pytest
import yaml
from jrh_review.decisions import Decision, ReviewAction
from jrh_review.desk import review_desk
from jrh_testing import Inside

pytestmark = pytest.mark.inside
RUBRIC = [
    {"id": "greets", "instructions": "It greets.", "weight": 2},
    {"id": "price", "instructions": "It names the price."},
    {"id": "rude", "instructions": "It is rude.", "weight": -1},
]
LABELS = {"greets": "met", "price": "unmet", "rude": "unmet"}
SUITE = {
    "name": "desk",
    "data": {"source": "csv", "path": "items.csv"},
    "task": {"mode": "criteria", "criteria": {"file": "rubric.yaml", "per_call": "all"}},
    "tests": ["criteria-order"],
    "judges": [{"judge": "simulated", "name": "mini", "rerun_noise": 0.2}],
    "review": {"tests": ["criteria-order"], "sample": 2},
    "gate": {"rules": ["weighted-score <= 0.9", "score-error <= 0.5"]},
    "reports": ["json", "csv", "markdown", "html", "terminal"],
}
RESPONSES = 6
MANY = 14


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    made = Inside(tmp_path_factory.mktemp("outputs"))
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["id", "request", "response", *(f"label.{name}" for name in LABELS)])
    writer.writerows([n, "?", f"Reply {n}.", *LABELS.values()] for n in range(RESPONSES))
    made.write("items.csv", out.getvalue())
    writer.writerows([n, "?", f"Reply {n}.", *LABELS.values()] for n in range(RESPONSES, MANY))
    made.write("many.csv", out.getvalue())
    made.write("rubric.yaml", yaml.safe_dump(RUBRIC))
    suite = {key: value for key, value in SUITE.items() if key != "review"}
    made.write("suite.yaml", yaml.safe_dump(suite))
    made.write("reviewed.yaml", yaml.safe_dump(SUITE))
    done(made.run("run", "suite.yaml", "--yes", "--run-dir", "whole"))
    return made


def done(ran, code=0):
    assert ran.exit_code == code, ran.output
    return ran


def test_shards_of_a_run_make_the_report_of_a_whole_one(project):
    for part in (1, 2):
        done(project.run("run", "suite.yaml", "--yes", "--shard", f"{part}/2", "--run-dir", f"part{part}"), 0)
    done(project.run("merge", "part1", "part2", "--run-dir", "merged"))
    done(project.run("run", "suite.yaml", "--yes", "--run-dir", "merged"))
    for file in ("report.json", "records.csv"):
        assert project.read(f"merged/{file}") == project.read(f"whole/{file}")


def test_every_output_has_the_same_score(project):
    report = json.loads(project.read("whole/report.json"))
    (score,) = [
        m for m in report["measures"] if (m["name"], m["test"], m["cell"]) == ("weighted-score", "reference", {})
    ]
    assert (score["metric"], score["n_clusters"]) == ("criteria-score", RESPONSES)
    shown = f"{score['estimate']:.3f}"
    assert shown in project.read("whole/report.md")
    assert shown in project.read("whole/report.html")
    full = done(project.run("report", "whole", "--full")).stdout
    assert f"{score['estimate']:.2f}" in full
    assert "pointwise by criteria" in full
    gate = project.run("gate", "whole", "--rule", "weighted-score <= 0.9").stdout
    assert f"{score['estimate']:.4g}" in gate
    rows = list(csv.DictReader(io.StringIO(project.read("whole/records.csv"))))
    assert {row["item_id"] for row in rows} == {f"{n}#{name}" for n in range(RESPONSES) for name in LABELS}


def test_a_comparison_counts_responses_as_clusters(project):
    other = yaml.safe_load(project.read("suite.yaml"))
    other["judges"][0]["rerun_noise"] = 0.4
    project.write("other.yaml", yaml.safe_dump(other))
    done(project.run("run", "other.yaml", "--yes", "--run-dir", "other"))
    told = done(project.run("compare", "whole", "other")).stdout
    assert f"{RESPONSES * len(RUBRIC)} items in {RESPONSES} clusters" in told
    assert "rerun_noise: 0.2 -> 0.4" in told


def test_a_comparison_tells_the_change_of_the_weighted_score_with_an_interval(project):
    """Runs were compared by the verdicts on single criteria alone."""
    worse = yaml.safe_load(project.read("suite.yaml"))
    worse["judges"][0] |= {"accuracy": {"met": 0.0, "unmet": 1.0}, "rerun_noise": 0.0}
    right = yaml.safe_load(project.read("suite.yaml"))
    right["judges"][0]["rerun_noise"] = 0.0
    for name, suite in (("right", right), ("worse", worse)):
        suite["data"]["path"] = "many.csv"
        project.write(f"{name}.yaml", yaml.safe_dump(suite))
        done(project.run("run", f"{name}.yaml", "--yes", "--run-dir", name))
    (pair,) = json.loads(done(project.run("compare", "right", "worse", "--format", "json")).stdout)["pairs"]
    rows = {row["measure"]: row for row in pair["rows"] if row["test"] == "reference"}
    # Weights 2, 1, -1; `greets` alone is met: 2 / 3 of the score, and no judge gives it any more.
    assert (rows["weighted-score"]["first"], rows["weighted-score"]["second"]) == (pytest.approx(2 / 3), 0.0)
    for name, sign, answer in (("weighted-score", -1, "lower"), ("score-error", 1, "worse")):
        row = rows[name]
        assert row["difference"] == pytest.approx(sign * 2 / 3)
        assert row["low"] < row["difference"] < row["high"]
        assert row["low"] * row["high"] > 0
        assert (row["answer"], row["unit"], row["items"], row["clusters"]) == (answer, "score", MANY, MANY)
    for run, side in (("right", "first"), ("worse", "second")):
        measures = json.loads(project.read(f"{run}/report.json"))["measures"]
        (told,) = [m for m in measures if (m["name"], m["test"], m["cell"]) == ("weighted-score", "reference", {})]
        assert told["estimate"] == pytest.approx(rows["weighted-score"][side])
    assert pair["missing_first"] == {}
    text = done(project.run("compare", "right", "worse")).stdout
    assert "lower" in text
    assert "neither higher nor lower is better" in text


def test_cases_of_a_criterion_are_reviewed(project):
    project.run("run", "reviewed.yaml", "--yes", "--no-wait", "--run-dir", "reviewed")
    done(project.run("review", "reviewed", "--reviewer", "Ann", "--export", "cases.csv"))
    rows = list(csv.DictReader(io.StringIO(project.read("cases.csv"))))
    assert {row["item_id"].split("#")[1] for row in rows} <= set(LABELS)
    with review_desk(project.path / "reviewed") as desk:
        for queued in desk.make_queue(None):
            accepted = Decision(case_id=queued.case_id, reviewer="Ann", made="", action=ReviewAction.ACCEPT)
            desk.decide(accepted, desk.review(queued.case_id).version("Ann"))
    done(project.run("run", "reviewed.yaml", "--yes", "--no-wait", "--run-dir", "reviewed"))


def test_people_label_one_criterion_and_their_labels_hold_at_any_number_per_call(project):
    """The sheet showed the whole rubric as JSON, and labels were lost where `per_call` changed."""
    project.write("unlabelled.csv", "id,request,response\n" + "".join(f"{n},?,Reply {n}.\n" for n in range(RESPONSES)))
    suite = yaml.safe_load(project.read("suite.yaml"))
    suite["data"]["path"] = "unlabelled.csv"
    del suite["gate"]
    suite["tests"] = ["irrelevant-criterion"]
    project.write("people.yaml", yaml.safe_dump(suite))
    done(project.run("label", "people.yaml", "--name", "Ann", "--labels", "people.jsonl", "--export", "sheet.csv"))
    rows = list(csv.DictReader(io.StringIO(project.read("sheet.csv"))))
    assert "text: criterion" in rows[0]
    assert "text: criteria" not in rows[0]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows({**row, "label": "met"} for row in rows)
    project.write("filled.csv", out.getvalue())
    done(project.run("label", "people.yaml", "--name", "Ann", "--labels", "people.jsonl", "--import", "filled.csv"))
    for per_call in ("all", 1):
        suite["data"]["labels_from"] = "people.jsonl"
        suite["task"]["criteria"]["per_call"] = per_call
        project.write("taken.yaml", yaml.safe_dump(suite))
        done(project.run("run", "taken.yaml", "--yes", "--run-dir", f"taken-{per_call}"))
        (task,) = json.loads(project.read(f"taken-{per_call}/report.json"))["tasks"]
        assert task["gold"]["met"] == RESPONSES * len(RUBRIC)
