"""The examples of docs/importing.md, run by the real program."""

import json
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[3] / "docs" / "importing.md"


def test_every_kind_of_table_is_imported_and_reported_by_the_documented_commands(documented):
    failed = {line: done.output for line, done in documented.outcomes.items() if done.exit_code != 0}
    assert not failed
    for name in ("moderation", "coherence", "duels", "mixed", "again"):
        imported, reported = f"$ jrh import {name}.yaml", f"$ jrh report runs/{name}"
        assert imported in documented.outcomes
        assert any(line.startswith(reported) for line in documented.outcomes)
        assert (documented.path / "runs" / name / "report.json").is_file()


def test_the_long_table_becomes_a_run(documented):
    done = documented.outcomes["$ jrh import moderation.yaml"]
    assert "Imported 12 verdicts of 2 judges on 2 items into runs/moderation." in done.stdout
    records = documented.records("runs/moderation")
    assert records.text("canonical")[:3] == ["YES", "YES", "NO"]
    assert sorted(status for status in records.text("status") if status != "ok") == ["refused", "unparsable"]


def test_the_report_of_an_import_holds_the_numbers(documented):
    results = json.loads(documented.read("runs/moderation/report.json"))
    found = {
        (measure["judge"], measure["test"], measure["name"]): measure
        for measure in results["measures"]
        if not measure["cell"]
    }
    # mini: on m1 the paraphrase differs from both reference askings, on m2 its verdict is missing.
    assert found["mini", "paraphrase", "agreement"]["estimate"] == 0.0
    assert found["mini", "paraphrase", "agreement"]["missing"] == {"unparsable": 1}
    assert found["mini", "reference", "rerun-disagreement"]["estimate"] == 0.5
    assert found["large", "reference", "as-expected"]["estimate"] == 1.0
    costs = {(line["judge"], line["test"]): line for line in results["costs"]}
    assert costs["large", "paraphrase"]["unknown"] == 1
    assert any("jrh did not call these judges" in note for note in results["notes"])


def test_the_paired_log_makes_two_verdicts_of_every_row(documented):
    records = documented.records("runs/coherence")
    assert records.text("test") == ["reference", "rephrased"] * 3
    assert records.text("canonical") == ["4", "4", "2", "3", "5", "5"]


def test_swapped_options_are_undone(documented):
    records = documented.records("runs/duels")
    mini = records.where(records.equals("judge", "mini") & records.equals("item_id", "q1"))
    assert mini.text("canonical") == ["A", "A", "B", "B"]
    assert mini.text("presented") == ["A", "A", "A", "A"]
    assert mini.text("test") == ["reference", "reference", "swapped", "swapped"]
    assert records.text("canonical")[-1] == "tie"


def test_the_judges_of_an_import_are_compared(documented):
    compared = documented.outcomes["$ jrh compare runs/duels --judge large --judge mini"]
    assert "4 cases on both sides, paired: 4 by id" in compared.stdout


def test_every_row_is_of_its_task_and_only_the_simulated_judge_is_marked(documented):
    results = json.loads(documented.read("runs/mixed/report.json"))
    assert [task["task"]["name"] for task in results["tasks"]] == ["facts", "essays"]
    assert results["simulated"] == ["die"]
    accuracy = {
        (measure["task"], measure["judge"]): (measure["estimate"], measure["flags"])
        for measure in results["measures"]
        if measure["name"] == "as-expected" and not measure["cell"]
    }
    assert {key: estimate for key, (estimate, _) in accuracy.items()} == {
        ("facts", "mini"): 0.5,
        ("facts", "die"): 0.5,
        ("essays", "mini"): 0.5,
        ("essays", "die"): 0.0,
    }
    assert {judge for (_, judge), (_, flags) in accuracy.items() if "simulated" in flags} == {"die"}
    gate = documented.outcomes['$ jrh gate runs/mixed --rule "as-expected >= 0.01" --undecided 0']
    assert "essays, reference" in gate.stdout


def test_the_records_of_a_run_give_its_measures_again(documented):
    before, after = (
        [
            each
            for each in json.loads(documented.read(f"runs/{name}/report.json"))["measures"]
            if each["name"] != "audit"
        ]
        for name in ("several", "again")
    )
    assert len(after) > 50
    assert after == before


def test_the_python_example_runs(project, monkeypatch):
    monkeypatch.chdir(project.path)
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(DOCS), "exec"), {})
    assert project.records("runs/from-python").text("test") == ["reference", "paraphrase"]
