"""The records a run writes as CSV and as Parquet are as good as the run: imported again they give the same measures."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import jrh
import jsonschema
import pytest
from jrh.testing import Project

ROOT = Path(__file__).resolve().parents[1]
SUITE = {
    "name": "factual",
    "data": {"source": "examples", "dataset": "factual"},
    "task": {"instruction": "Is it true?", "scale": {"labels": ["YES", "NO"]}},
    "tests": ["format", {"stochastic": {"repeats": 2}}, "label-flip"],
    "judges": [
        {"judge": "simulated", "name": "=flawed", "accuracy": 0.8, "rerun_noise": 0.2, "refusals": 0.1},
        {"judge": "simulated", "name": "steady", "accuracy": 0.9},
    ],
    "reports": ["json", {"csv": {"neutralise": False}}, "parquet"],
}
IMPORT = """\
name: factual
path: {path}
task: {{scale: {{labels: ["YES", "NO"]}}}}
columns:
  item: item_id
  label: canonical
  {columns}
simulated: true
"""
SAME = (
    "judge test family variant template option_order polarity strength language temperature repeat gold expectation "
    "expected status stratum group probability cost prompt_tokens completion_tokens latency detail rationale"
)


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory) -> Path:
    """Return the directory of a run that wrote its records."""
    made = tmp_path_factory.mktemp("run") / "run"
    result = jrh.run(SUITE, run_dir=made, use_cache=False)
    assert sorted(path.name for path in result.files) == ["records.csv", "records.parquet", "report.json"]
    return made


def measures(report: Path, *, draws: bool = True) -> set[str]:
    """Return the measures as text; without `draws`, only what no random number touches."""
    found = json.loads(report.read_text(encoding="utf-8"))["measures"]
    # The audit reads the texts of the items, which an import does not have.
    kept = [each for each in found if each["name"] != "audit"]
    if not draws:
        kept = [{**each, "interval": None} for each in kept if "-p" not in each["name"]]
    return {json.dumps(each, sort_keys=True) for each in kept}


def imported(table: Path, directory: Path) -> Path:
    """Import a table, and return its report."""
    project = Project(directory)
    columns = "\n  ".join(f"{column}: {column}" for column in SAME.split())
    project.write("log.yaml", IMPORT.format(path=table, columns=columns))
    for arguments in (("import", "log.yaml", "--run-dir", "again"), ("report", "again", "--format", "json")):
        done = project.run(*arguments)
        assert done.exit_code == 0, done.output
    return directory / "again" / "report.json"


@pytest.mark.parametrize("name", ["records.csv", "records.parquet"])
def test_imported_again_the_measures_are_the_same(run_dir, tmp_path, name) -> None:
    after = measures(imported(run_dir / name, tmp_path))

    assert len(after) > 500
    assert after == measures(run_dir / "report.json")


def test_a_name_that_was_neutralised_is_the_only_difference(run_dir, tmp_path) -> None:
    done = Project(tmp_path).run("report", run_dir, "--format", "csv", "--set", "csv.neutralise=true", "--output", ".")
    assert done.exit_code == 0, done.output

    # Another name draws other random numbers.
    after = measures(imported(tmp_path / "records.csv", tmp_path), draws=False)
    before = measures(run_dir / "report.json", draws=False)
    assert any("'=flawed" in each for each in after)
    assert {each.replace("'=flawed", "=flawed") for each in after} == before


def test_the_json_report_of_a_run_fits_its_schema(run_dir) -> None:
    schema = json.loads((ROOT / "schemas" / "results.schema.json").read_text(encoding="utf-8"))
    found = json.loads((run_dir / "report.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)

    jsonschema.validate(found, schema)


def test_the_formats_are_those_of_the_suite_and_the_same_bytes_when_written_again(run_dir, tmp_path) -> None:
    assert sorted(path.suffix for path in run_dir.glob("re*.*")) == [".csv", ".json", ".parquet"]
    done = Project(tmp_path).run("report", run_dir, "--output", "again")

    assert done.exit_code == 0, done.output
    written = sorted((tmp_path / "again").iterdir())
    assert [path.name for path in written] == ["records.csv", "records.parquet", "report.json"]
    for path in written:
        assert path.read_bytes() == (run_dir / path.name).read_bytes(), path.name


def test_the_command_line_chooses_formats_and_options(run_dir, tmp_path) -> None:
    chosen = ("--format", "terminal,markdown,latex,plots,jrh-report/csv", "--set", "terminal.width=60")
    done = Project(tmp_path).run("report", run_dir, *chosen, "--set", "plots.measures=[accuracy]", "--output", "out")

    assert done.exit_code == 0, done.output
    assert max(len(line) for line in done.stdout.partition("\nReport:")[0].splitlines()) <= 60
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "plots", "records.csv", "report.md", "tables.tex",
    ]  # fmt: skip
    assert (tmp_path / "out" / "plots" / "heat-accuracy-factual.svg").is_file()
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
    done = Project(tmp_path).run("report", run_dir, *arguments)

    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.output


def test_a_run_of_a_newer_schema_is_refused_with_a_message(run_dir, tmp_path) -> None:
    shutil.copytree(run_dir, tmp_path / "newer")
    with closing(sqlite3.connect(tmp_path / "newer" / "run.sqlite")) as store:
        store.execute("PRAGMA user_version = 999")
        store.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")
        store.commit()
    done = Project(tmp_path).run("report", "newer", "--format", "csv,parquet,latex,plots,markdown,json,terminal")

    assert done.exit_code == 2
    assert "was written by a newer jrh" in done.stderr
    assert "Traceback" not in done.output
