"""The records a run writes as CSV and as Parquet are as good as the run: imported again they give the same measures."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import jrh
import pytest
from jrh_testing import Inside, Outcome, Project, call

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "plugins" / "sources" / "src" / "jrh_sources" / "data"
GOLD = {"factual": "people", "coherence": "model:gpt-4o", "preference": ""}
SCALES = {"factual": {"labels": ["YES", "NO"]}, "coherence": {"ordinal": [1, 5]}, "preference": {"pairwise": True}}
OWN_WORDS = {
    "words": {"text": "Good or bad? {{ response }}", "labels": {"good": "YES", "bad": "NO"}, "tasks": ["factual"]},
    "turned": {"text": "Any error? {{ response }}", "labels": {"YES": "NO", "NO": "YES"}, "tasks": ["factual"]},
}
SEED = 17
RESAMPLES = 100
SUITE = {
    "name": "several",
    "tasks": [
        {
            "name": name,
            "data": {
                "source": "jsonl",
                "path": f"{name}.jsonl",
                "sample": {"n": 5, "seed": 1},
                "gold_source": GOLD[name],
            },
            "task": {"instruction": "Judge it.", "scale": scale},
        }
        for name, scale in SCALES.items()
    ],
    "tests": [
        *({"stochastic": {"repeats": 2}}, "label-flip", "option-order", "identical-options"),
        {"templates": {"templates": OWN_WORDS}},
    ],
    "judges": [
        {"judge": "simulated", "name": "=flawed", "accuracy": 0.8, "rerun_noise": 0.2, "refusals": 0.1},
        {"judge": "function", "name": "own", "function": "own.py:judge", "cost": 0},
    ],
    "seed": SEED,
    "resamples": RESAMPLES,
    "reports": ["json", {"csv": {"neutralise": False}}, "parquet"],
}
JUDGE = """\
def judge(question):
    length = sum(len(text) for text in question["fields"].values())
    labels = question["labels"]
    said, other = labels[length % len(labels)], labels[(length + 1) % len(labels)]
    rationale = f"There is much to say. Therefore, the answer is {other if length % 3 else said}."
    return {"label": said, "rationale": rationale if length % 5 else ""}
"""
IMPORT = {"name": "several", "layout": "records", "seed": SEED, "resamples": RESAMPLES}


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory) -> Path:
    """Return the directory of a run that wrote its records."""
    base = tmp_path_factory.mktemp("run")
    (base / "own.py").write_text(JUDGE, encoding="utf-8")
    for name in SCALES:
        rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        grouped = [{**row, "group": str(place // 10)} for place, row in enumerate(rows)]
        (base / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in grouped), encoding="utf-8")
    (base / "suite.json").write_text(json.dumps(SUITE), encoding="utf-8")
    result = jrh.run(base / "suite.json", run_dir=base / "run", use_cache=False)
    assert sorted(path.name for path in result.files) == ["records.csv", "records.parquet", "report.json"]
    own = result.records.where(result.records.equals("judge", "own"))
    assert set(own.text("status")) == {"ok"}
    return base / "run"


def measures(report: Path) -> list[dict]:
    """Return the measures; the audit reads the texts of the items, which an import does not have."""
    found = json.loads(report.read_text(encoding="utf-8"))["measures"]
    return [each for each in found if each["name"] != "audit"]


def imported(table: Path, directory: Path, run: Callable[..., Outcome]) -> Path:
    """Import a table, and return its report."""
    project = Inside(directory)
    tasks = {name: {"scale": scale} for name, scale in SCALES.items()}
    project.write("log.json", json.dumps({**IMPORT, "path": str(table), "tasks": tasks}))
    for arguments in (("import", "log.json", "--run-dir", "again"), ("report", "again", "--format", "json")):
        done = run(project, *arguments)
        assert done.exit_code == 0, done.output
    return directory / "again" / "report.json"


@pytest.fixture(scope="module")
def again(run_dir, tmp_path_factory) -> Path:
    """Return the report of the run's parquet table, imported."""
    return imported(run_dir / "records.parquet", tmp_path_factory.mktemp("again"), Project.run)


def test_imported_again_the_measures_are_the_same(run_dir, again) -> None:
    before, after = measures(run_dir / "report.json"), measures(again)

    assert len(after) > 400
    own = [each for each in after if each["name"] == "rationale-contradiction" and each["judge"] == "own"]
    assert any(0 < (each["estimate"] or 0) < 1 for each in own), "there is something to lose"
    assert any(each["missing"].get("no_rationale") for each in own)
    assert any(0 < each["n_clusters"] < each["n_items"] for each in after)
    assert {each["task"] for each in after} == set(SCALES)
    assert after == before


def test_the_sources_of_the_gold_labels_are_the_same(run_dir, again) -> None:
    before, after = (json.loads(path.read_text(encoding="utf-8"))["tasks"] for path in (run_dir / "report.json", again))
    found = {each["task"]["name"]: each["gold_sources"] for each in after}
    assert found == {each["task"]["name"]: each["gold_sources"] for each in before}
    assert found == {"factual": {"people": 5}, "coherence": {"model:gpt-4o": 5}, "preference": {"unknown": 5}}


def test_only_the_judges_that_were_simulated_are_marked(again) -> None:
    report = json.loads(again.read_text(encoding="utf-8"))

    assert report["simulated"] == ["=flawed"]
    # A measure that names no judge is of both together.
    marked = {(each["judge"], "simulated" in each["flags"]) for each in report["measures"] if each["judge"]}
    assert marked == {("=flawed", True), ("own", False)}


def test_an_import_is_compared_and_gated_like_the_run(run_dir, again) -> None:
    project = Inside(again.parent.parent)
    compared = json.loads(call(project, "compare", str(run_dir), "again", "--format", "json").stdout)

    # Every record but the reruns: `option-order` holds the swapped order alone, 5 records per judge.
    assert [pair["matching"]["by_id"] for pair in compared["pairs"]] == [76, 66]
    assert [pair["matching"]["by_place"] for pair in compared["pairs"]] == [0, 0]
    assert {row["difference"] for pair in compared["pairs"] for row in pair["rows"]} <= {0.0, None}
    rule = ("--rule", "as-expected[label-flip] >= 0.1", "--allow-missing", "0.5")
    gates = [call(project, "gate", directory, *rule) for directory in ("again", str(run_dir))]
    assert "as-expected[label-flip] >= 0.1" in gates[0].stdout
    assert [gate.exit_code for gate in gates] == [gates[1].exit_code] * 2
    # What is typed next names the directory.
    assert gates[0].stdout.partition("Next:")[0] == gates[1].stdout.partition("Next:")[0]


def test_names_that_were_neutralised_are_restored_and_the_measures_are_the_same(run_dir, tmp_path) -> None:
    neutralised = ("--format", "csv", "--set", "csv.neutralise=true", "--output", ".")
    done = call(Inside(tmp_path), "report", str(run_dir), *neutralised)
    assert done.exit_code == 0, done.output
    assert ',"\'=flawed",' in (tmp_path / "records.csv").read_text(encoding="utf-8")

    assert measures(imported(tmp_path / "records.csv", tmp_path, call)) == measures(run_dir / "report.json")


def test_the_json_report_of_a_run_fits_its_schema(run_dir) -> None:
    import jsonschema

    schema = json.loads((ROOT / "schemas" / "results.schema.json").read_text(encoding="utf-8"))
    found = json.loads((run_dir / "report.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)

    jsonschema.validate(found, schema)


def test_the_formats_are_those_of_the_suite_and_the_same_bytes_when_written_again(run_dir, tmp_path) -> None:
    assert sorted(path.suffix for path in run_dir.glob("re*.*")) == [".csv", ".json", ".parquet"]
    done = Inside(tmp_path).run("report", run_dir, "--output", "again")

    assert done.exit_code == 0, done.output
    written = sorted((tmp_path / "again").iterdir())
    assert [path.name for path in written] == ["records.csv", "records.parquet", "report.json"]
    for path in written:
        assert path.read_bytes() == (run_dir / path.name).read_bytes(), path.name


def test_the_command_line_chooses_formats_and_options(run_dir, tmp_path) -> None:
    chosen = ("--format", "terminal,markdown,latex,plots,jrh-report/csv", "--set", "terminal.width=60")
    done = call(Inside(tmp_path), "report", str(run_dir), *chosen, "--set", "latex.digits=3", "--output", "out")

    assert done.exit_code == 0, done.output
    assert max(len(line) for line in done.stdout.partition("\nReport:")[0].splitlines()) <= 60
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "plots", "records.csv", "report.md", "tables.tex",
    ]  # fmt: skip
    assert (tmp_path / "out" / "plots" / "judges-by-tests-factual.svg").is_file()
    # The option the suite gives its reporter holds where the command line says nothing.
    assert ',"=flawed",' in (tmp_path / "out" / "records.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--format", "markdwon"), "unknown reporter 'markdwon'\nDid you mean 'markdown'?"),
        (("--set", "csv.neutralize=true"), "reporter 'csv': neutralize: unknown key\nDid you mean 'neutralise'?"),
        (("--set", "csv=1"), "--set csv=1: write `REPORTER.OPTION=VALUE`"),
        (("--set", "latex.digits=3"), "no report is written by 'latex'; these write: json, csv, parquet"),
        (("--output", "occupied"), "'occupied'"),
    ],
)
def test_a_wrong_choice_gets_a_message(run_dir, tmp_path, arguments, message) -> None:
    (tmp_path / "occupied").write_text("a file", encoding="utf-8")
    done = call(Inside(tmp_path), "report", str(run_dir), *arguments)

    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_a_run_of_a_newer_schema_is_refused_with_a_message(run_dir, tmp_path) -> None:
    shutil.copytree(run_dir, tmp_path / "newer")
    with closing(sqlite3.connect(tmp_path / "newer" / "run.sqlite")) as store:
        store.execute("PRAGMA user_version = 999")
        store.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
        store.commit()
    done = call(Inside(tmp_path), "report", "newer", "--format", "csv,parquet,latex,plots,markdown,json,terminal")

    assert done.exit_code == 2
    assert "was written by a newer jrh" in done.stderr
    assert "Traceback" not in done.output
