"""Whole runs with judges that have a planted defect, and one without: each defect is found, and only where it is."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
import yaml
from jrh_testing import Inside

pytestmark = pytest.mark.inside

WORDS = ("apple", "pear", "plum", "fig")
RUBRIC = [
    {"id": word, "instructions": f"The text mentions {word}", "weight": weight}
    for word, weight in zip(WORDS, (2, 1, 1, -1), strict=True)
]
SIMULATED = {
    "clean": {},
    "ignores": {"ignores_rubric": 1.0},
    "halo": {"halo": 0.7},
    "fatigue": {"batch_fatigue": 0.4},
    "generous": {"accuracy": {"n/a": 0.0}},
    "loses": {"drops_criteria": 0.1, "invents_criteria": 0.1},
}
N = 60
REQUESTED = "{criteria-score: {also: [score-icc, not-applicable-effect, not-applicable-rate]}}"
"""Measures that a run makes on request only."""


def rows():
    from planted import draw, truth

    for number in range(N):
        has = {word: draw("has", number, word) for word in WORDS}
        said = [word if share < 0.55 else f"no {word} here" if share > 0.85 else "and" for word, share in has.items()]
        response = f"Text {number} : " + " ; ".join(said)
        yield {
            "id": str(number),
            "request": f"Name fruit {number}",
            "response": response,
            **{f"label.{word}": truth(f"mentions {word}", response) for word in WORDS},
            **{f"evidence.{word}": word if word in said else "" for word in WORDS},
        }


def table():
    out = io.StringIO()
    made = list(rows())
    writer = csv.DictWriter(out, list(made[0]))
    writer.writeheader()
    writer.writerows(made)
    return out.getvalue()


@pytest.fixture(scope="module")
def found(tmp_path_factory, planted_file):
    project = Inside(tmp_path_factory.mktemp("planted"))
    project.write("planted.py", planted_file)
    project.write("rubric.yaml", yaml.safe_dump(RUBRIC))
    project.write("items.csv", table())
    suite = {
        "name": "fruit",
        "data": {"source": "csv", "path": "items.csv"},
        "task": {"mode": "criteria", "criteria": {"file": "rubric.yaml", "per_call": "all", "not_applicable": "n/a"}},
        "tests": [
            {"rubric-matters": {"variants": ["inverted", "empty"]}},
            "criteria-order",
            "criterion-negated",
            "halo",
        ],
        "resamples": 200,
        "reports": ["json", "html", "markdown"],
        "judges": [
            {"judge": "function", "name": "reads", "function": "planted.py:reads"},
            *(
                {"judge": "simulated", "name": name, "rerun_noise": 0.03, **planted}
                for name, planted in SIMULATED.items()
            ),
        ],
    }
    project.write("suite.yaml", yaml.safe_dump(suite))
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes")
    assert done.exit_code == 0, done.output
    report = json.loads(project.read("run/report.json"))
    shown = {"page": project.read("run/report.html"), "markdown": project.read("run/report.md")}
    # The same records, measured again: no judge is asked.
    done = project.run("run", "suite.yaml", "--run-dir", "run", "--yes", "--set", f"metrics={{add: [{REQUESTED}]}}")
    assert done.exit_code == 0, done.output
    return report | shown | {"requested": json.loads(project.read("run/report.json"))["measures"]}


def kinds(report, judge):
    ours = {"rubric-ignored", "halo", "batch-fatigue", "counts-not-applicable"}
    return {each["kind"] for each in report["findings"] if each["judge"] == judge and each["kind"] in ours}


def measure(report, judge, name, test="reference", **cell):
    (one,) = [
        each
        for each in report["measures"]
        if (each["judge"], each["name"], each["test"]) == (judge, name, test) and each["cell"] == cell
    ]
    return one


@pytest.mark.parametrize(
    ("judge", "kind"),
    [
        ("reads", set()),
        ("clean", set()),
        ("loses", set()),
        ("ignores", {"rubric-ignored"}),
        ("halo", {"halo"}),
        ("fatigue", {"batch-fatigue"}),
        ("generous", {"counts-not-applicable"}),
    ],
)
def test_a_planted_defect_is_found_and_no_other(found, judge, kind):
    assert kinds(found, judge) == kind


def test_a_dropped_criterion_and_an_invented_one_are_statuses_at_their_rates(found):
    lost = measure(found, "loses", "missing-by-condition-p", "")
    # Calls of four are lost together; the tolerances are those of 99.9%.
    assert lost["missing"]["off_scale"] / lost["n_trials"] == pytest.approx(0.1, abs=0.07)
    assert lost["missing"]["unparsable"] / lost["n_trials"] == pytest.approx(0.9 * 0.1, abs=0.033)
    assert measure(found, "loses", "missing")["missing"]["off_scale"] % len(WORDS) == 0


def test_a_judge_that_depends_on_the_order_moves_in_that_test_alone(found):
    def low(judge, test):
        return measure(found, judge, "flip-rate", test)["interval"]["low"]

    assert low("fatigue", "criteria-order") > 0.1
    assert measure(found, "clean", "flip-rate", "criteria-order")["interval"]["high"] < 0.15


def test_a_negated_criterion_keeps_its_meaning_for_a_judge_that_reads_and_for_no_other(found):
    assert measure(found, "clean", "as-expected", "criterion-negated")["estimate"] > 0.85
    assert measure(found, "ignores", "as-expected", "criterion-negated")["estimate"] < 0.3


def test_the_score_of_a_judge_that_reads_is_that_of_the_gold_labels(found):
    assert measure(found, "reads", "score-error")["estimate"] < 0.08
    assert measure({"measures": found["requested"]}, "reads", "score-icc")["estimate"] > 0.85
    assert measure(found, "halo", "score-error")["estimate"] > 3 * measure(found, "reads", "score-error")["estimate"]


def test_what_does_not_apply_is_left_out_and_its_bias_is_shown(found):
    score = measure(found, "clean", "weighted-score")
    assert score["n_clusters"] == N
    assert score["bounds"][0] < score["estimate"] < score["bounds"][1]
    requested = {"measures": found["requested"]}
    assert measure(requested, "clean", "not-applicable-effect")["interval"]["low"] > 0
    assert measure(requested, "generous", "not-applicable-rate")["estimate"] < 0.02
    assert measure(found, "generous", "not-applicable-as-met")["interval"]["low"] > 0.2


def test_the_sentence_names_rubric_and_least_share(found):
    (told, *_) = [each["sentence"] for each in found["findings"] if each["kind"] == "rubric-ignored"]
    assert "moves verdicts by less than 0.2 beyond reruns" in told
    assert "inverted" in told


def test_the_score_is_the_same_number_in_every_report(found):
    names = ("weighted-score", "score-error", "not-applicable-as-met")
    for place, each in enumerate(found["measures"]):
        if each["judge"] == "halo" and each["test"] == "reference" and not each["cell"] and each["name"] in names:
            number = f"{each['estimate']:.3f}"
            row = rf"halo \(simulated\) \| {each['name']} \| reference \|  \| {number} "
            assert f'<td data-measure="{place}"><span class="e">{number}</span>' in found["page"]
            # At its limit of characters the Markdown shows the first rows of a section, and counts the others.
            if each["name"] == "not-applicable-as-met":
                assert "more in report.json" in found["markdown"]
            else:
                assert re.search(row, found["markdown"].replace("\\", ""))
