"""Decision logs become records, and a run directory that `jrh report` reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jrh import JrhError, Status
from jrh_import.decisions import read_log
from jrh_import.options import JudgeSenseOptions
from jrh_testing import prompt_pair_row

REAL = Path(__file__).parents[4] / "shared" / "data" / "judgesense"


def records_of(path, **options):
    return read_log(path, JudgeSenseOptions(scale="YES,NO", **options)).records


def write(path, rows):
    path.write_text("\n".join(json.dumps(each) for each in rows), encoding="utf-8")
    return path.name


def decided(number, a, b, **more):
    return {**prompt_pair_row(number), "decision_a": a, "decision_b": b, **more}


def test_a_decision_log_becomes_records_with_one_template_per_prompt(tmp_path):
    rows = [decided(1, "YES", "NO"), decided(2, "yes", "YES", judge="other"), decided(1, "YES", "YES", pair_id="again")]
    path = tmp_path / "log.jsonl"
    write(path, rows)
    records = records_of(path)
    assert [(each.judge, each.item_id, each.template, each.repeat, each.canonical) for each in records] == [
        ("judge", "p1", "prompt-1", 0, "YES"),
        ("judge", "p1", "prompt-2", 0, "NO"),
        ("other", "p2", "prompt-1", 0, "YES"),
        ("other", "p2", "prompt-2", 0, "YES"),
        ("judge", "p1", "prompt-1", 1, "YES"),
        ("judge", "p1", "prompt-2", 1, "YES"),
    ]
    assert len({record.trial_id for record in records}) == 6
    assert len({record.case_id for record in records}) == 4


TEMPLATES = {
    "coherence": (
        "Rate coherence 1-5. One number only.",
        "Coherence score 1 to 5, respond with number only.",
        "Assign coherence rating 1-5. Single digit response.",
        "Coherence: 1 (incoherent) to 5 (very coherent). Reply with number.",
        "How coherent is this? Score: 1=poor 5=excellent. Number only.",
    ),
    "relevance": (
        "Which is more relevant? A or B only.",
        "More relevant? Reply A or B.",
        "Choose A or B by relevance.",
        "Which answer is better? A or B.",
        "Which answer is more relevant? A or B only.",
    ),
}


def benchmark(name):
    """Return the rows of JudgeSense: the real ones, or as many made ones that repeat 25 pairs over 5 items."""
    if REAL.exists():
        return [json.loads(line) for line in (REAL / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = ["Dogs bark.", "The sea is wide.", "Sales grew.", "Rain fell.", "The budget passed."]
    if name == "relevance":
        texts = [f"A: {text} | B: The capital of France is Paris." for text in texts]
    pairs = [(item, place) for item in range(5) for place in range(5)] * 5
    return [
        {
            "pair_id": f"{name[:4]}_{number:03}",
            "task_type": name,
            "prompt_a": f"{TEMPLATES[name][place]}\n" + texts[item].replace(" | ", "\n"),
            "prompt_b": f"{TEMPLATES[name][(place + 1) % 5]}\n" + texts[item].replace(" | ", "\n"),
            "response_being_judged": texts[item],
            "ground_truth_label": f"score_{item + 1}" if name == "coherence" else "A",
        }
        for number, (item, place) in enumerate(pairs)
    ]


@pytest.mark.slow
def test_a_log_becomes_a_report_without_one_model_call(project):
    rows = []
    for name in ("coherence", "relevance"):
        for each in benchmark(name):
            right = each["ground_truth_label"].removeprefix("score_")
            # The made-up judge loses its head over one of the five templates.
            told = [
                "2" if name == "coherence" and "Single digit" in each[side] else right
                for side in ("prompt_a", "prompt_b")
            ]
            rows.append({**each, "decision_a": told[0], "decision_b": told[1], "judge": "made-up"})
    write(project.path / "log.jsonl", rows)
    done = project.run("import", "log.jsonl", "--from", "judgesense", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    assert "Imported 500 verdicts of 1 judge on 10 items into run." in done.stdout
    assert "- No rationales: verdicts that contradict their reasons cannot be found." in done.stdout
    reported = project.run("report", "run")
    assert reported.exit_code == 0, reported.output
    assert reported.exit_code == 0, reported.output
    results = json.loads(project.read("run/report.json"))
    assert "125 rows are 25 distinct pairs over 5 items" in " ".join(str(each["note"]) for each in results["measures"])
    measures = results["measures"]
    found = {each["task"]: each["estimate"] for each in measures if each["name"] == "jss" and not each["cell"]}
    # Of ten pairs of templates four hold the odd one, which is right on one item of five.
    assert found == pytest.approx({"coherence": (6 + 4 / 5) / 10, "relevance": 1.0})


def test_missing_decisions_are_statuses_and_inverted_prompts_are_turned_around(tmp_path):
    path = tmp_path / "log.jsonl"
    write(path, [decided(1, "", "YES"), decided(2, "YES", "x", status_b="truncated")])
    records = records_of(path, inverted=("Right?\ntext 2",))
    assert [each.status for each in records] == [Status.UNPARSABLE, Status.OK, Status.OK, Status.TRUNCATED]
    assert (records[2].presented, records[2].canonical, records[2].polarity) == ("YES", "NO", "inverted")


def test_a_log_without_decisions_or_with_an_unknown_status_is_refused(tmp_path):
    path = tmp_path / "log.jsonl"
    write(path, [prompt_pair_row()])
    with pytest.raises(JrhError, match="no column 'decision_a'"):
        records_of(path)
    write(path, [decided(1, "YES", "NO", status_a="lost")])
    with pytest.raises(JrhError, match=r"log\.jsonl:1: `status_a`: 'lost' is not a status"):
        records_of(path)
