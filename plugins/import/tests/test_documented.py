"""The examples of docs/importing.md, run by the real program."""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs" / "importing.md"


def test_the_long_table_becomes_a_run_that_reports(documented):
    done = documented.run("import", "moderation.yaml")
    assert done.exit_code == 0, done.output
    assert "Imported 12 verdicts of 2 judges on 2 items into runs/moderation." in done.stdout
    report = documented.run("report", "runs/moderation")
    assert report.exit_code == 0, report.output
    records = documented.records("runs/moderation")
    assert records.text("canonical")[:3] == ["YES", "YES", "NO"]
    statuses = dict(zip(records.text("trial_id"), records.text("status"), strict=True))
    assert sorted(statuses.values()).count("unparsable") == 1
    assert sorted(statuses.values()).count("refused") == 1


def test_the_report_of_an_import_holds_the_numbers(documented):
    documented.run("import", "moderation.yaml")
    documented.run("report", "runs/moderation")
    results = json.loads(documented.read(_json_of(documented)))
    found = {
        (measure["judge"], measure["test"], measure["name"]): measure
        for measure in results["measures"]
        if not measure["cell"]
    }
    # mini: on m1 the paraphrase differs from both reference askings, on m2 its verdict is missing.
    assert found["mini", "paraphrase", "agreement"]["estimate"] == 0.0
    assert found["mini", "paraphrase", "agreement"]["missing"] == {"unparsable": 1}
    assert found["mini", "reference", "rerun-disagreement"]["estimate"] == 0.5
    assert found["large", "reference", "accuracy"]["estimate"] == 1.0
    costs = {(line["judge"], line["test"]): line for line in results["costs"]}
    assert costs["large", "paraphrase"]["unknown"] == 1
    assert any("not asked by jrh" in note for note in results["notes"])


def _json_of(project):
    return next(path.relative_to(project.path) for path in (project.path / "runs/moderation").glob("*.json"))


def test_the_paired_log_makes_two_verdicts_of_every_row(documented):
    done = documented.run("import", "coherence.yaml")
    assert done.exit_code == 0, done.output
    records = documented.records("runs/coherence")
    assert records.text("test") == ["reference", "rephrased"] * 3
    assert records.text("canonical") == ["4", "4", "2", "3", "5", "5"]
    assert documented.run("report", "runs/coherence").exit_code == 0


def test_swapped_options_are_undone(documented):
    done = documented.run("import", "duels.yaml")
    assert done.exit_code == 0, done.output
    records = documented.records("runs/duels")
    mini = records.where(records.equals("judge", "mini") & records.equals("item_id", "q1"))
    assert mini.text("canonical") == ["A", "A", "B", "B"]
    assert mini.text("presented") == ["A", "A", "A", "A"]
    assert mini.text("test") == ["reference", "reference", "swapped", "swapped"]
    assert records.text("canonical")[-1] == "tie"
    assert documented.run("report", "runs/duels").exit_code == 0


def test_the_python_example_runs(project, monkeypatch):
    monkeypatch.chdir(project.path)
    (code,) = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    exec(compile(code, str(DOCS), "exec"), {})
    assert project.records("runs/from-python").text("test") == ["reference", "paraphrase"]
