"""A judge that follows length or author is one number and one finding in every output, of runs and of logs."""

from __future__ import annotations

import csv
import html
import io
import json
import random
from pathlib import Path
from typing import Any

import jrh
import pytest
from jrh_testing import Outcome, Project, call
from support.pages import read_page

FORMATS = "terminal,markdown,json,html,csv"
PREFERS = "Prefers longer responses at equal gold"
GRADES = "Gives longer responses higher grades at equal gold"
RUN = {
    "name": "planted",
    "data": {"source": "jsonl", "path": "pairs.jsonl", "covariates": ["tone"]},
    "task": {"instruction": "Which answer is better?", "scale": {"pairwise": True}},
    "reports": FORMATS.split(","),
    "reference": {"repeats": 1},
    "judges": [{"judge": "simulated", "name": "judge", "accuracy": 0.9, "length_preference": 0.5}],
    "resamples": 100,
}


def pairs(number: int = 240) -> str:
    draw = random.Random(5)
    items = []
    for place in range(number):
        sizes = [draw.randrange(4, 60) for _ in "ab"]
        items.append(
            {
                "id": f"p{place}",
                "request": f"Question {place}?",
                **{f"response_{side}": f"{place} " + "word " * size for side, size in zip("ab", sizes, strict=True)},
                **{f"tone_{side}": draw.choice(["kind", "dry"]) for side in "ab"},
                "author_a": "ada",
                "author_b": "bob",
                "label": draw.choice("AB"),
            }
        )
    return "".join(json.dumps(item) + "\n" for item in items)


def log(number: int = 120) -> str:
    """Grade essays half a level higher where they are long."""
    draw, table = random.Random(3), io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["essay", "score", "human", "text", "writer"])
    for place in range(number):
        gold, size = draw.randrange(1, 6), draw.randrange(20, 400)
        score = min(6, gold + (size > 200) * draw.choice([0, 1]))
        rows.writerow([f"e{place}", score, gold, "x" * size, draw.choice(["ada", "bob"])])
    return table.getvalue()


IMPORT: dict[str, Any] = {
    "name": "log",
    "path": "log.csv",
    "task": {"instruction": "Grade it.", "scale": {"ordinal": [1, 6]}},
    "columns": {"item": "essay", "label": "score", "gold": "human"},
    "values": {"judge": "judge"},
    "covariates": {"length": "text", "author": "writer"},
}


def imported(project: Project, **changes: Any) -> Outcome:
    project.write("log.csv", log())
    project.write("log.json", json.dumps(IMPORT | changes))
    done = call(project, "import", "log.json", "--run-dir", "run")
    assert done.exit_code == 0, done.output
    return call(project, "report", "run", "--format", FORMATS)


@pytest.fixture(scope="module", params=["run", "import"])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Outcome, str]:
    project = Project(tmp_path_factory.mktemp("covariates"))
    if request.param == "import":
        done = imported(project)
    else:
        project.write("pairs.jsonl", pairs())
        project.write("suite.json", json.dumps(RUN))
        done = call(project, "run", "suite.json", "--run-dir", "run", "--no-cache", "--yes")
    assert done.exit_code == 0, done.output
    return project, done, PREFERS if request.param == "run" else GRADES


def _effect(project: Project) -> dict[str, Any]:
    report = json.loads((project.path / "run" / "report.json").read_text(encoding="utf-8"))
    found = [each for each in report["measures"] if each["name"] == "covariate-effect"]
    (length,) = [each for each in found if each["cell"] == {"covariate": "length"}]
    return dict(length)


def test_every_output_tells_the_finding_with_the_same_number(written: tuple[Project, Outcome, str]) -> None:
    project, output, statement = written
    folder, effect = project.path / "run", _effect(project)
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    (finding,) = [each for each in report["findings"] if each["statement"] == statement]
    assert finding["severity"] == "warning"
    assert finding["basis"][0]["value"].lstrip("+") == f"{effect['estimate']:.2f}"
    assert "an association" in finding["sentence"]
    markdown = html.unescape((folder / "report.md").read_text(encoding="utf-8")).replace("\\", "")
    assert finding["sentence"] in markdown
    assert statement in read_page((folder / "report.html").read_text(encoding="utf-8")).text
    assert statement in " ".join(output.stdout.split())
    with jrh.open_report(folder, measure=True) as run:
        assert finding["sentence"] in [each.sentence for each in run.findings]


def test_the_gate_decides_on_it(written: tuple[Project, Outcome, str]) -> None:
    project, _, _ = written
    rule = "covariate-effect[covariate=length] <= 0.01"
    done = call(project, "gate", "run", "--rule", rule, "--json", "gate.json")
    assert done.exit_code == 1, done.output
    (check,) = json.loads((project.path / "gate.json").read_text())["checks"]
    assert check["measure"]["estimate"] == _effect(project)["estimate"]


def test_the_records_of_a_report_give_the_same_numbers_again(written: tuple[Project, Outcome, str]) -> None:
    project, _, statement = written
    task = {"pairwise": True} if statement == PREFERS else {"ordinal": [1, 6]}
    (table,) = (project.path / "run").glob("*records*.csv")
    again = {"name": "again", "path": str(table), "layout": "records", "task": {"scale": task}}
    project.write("again.json", json.dumps(again))
    assert call(project, "import", "again.json", "--run-dir", "again").exit_code == 0
    call(project, "report", "again", "--format", "json")
    report = json.loads((project.path / "again" / "report.json").read_text(encoding="utf-8"))
    found = [each for each in report["measures"] if each["name"] == "covariate-effect"]
    (length,) = [each for each in found if each["cell"] == {"covariate": "length"}]
    assert length["estimate"] == pytest.approx(_effect(project)["estimate"], abs=1e-9)


def test_a_run_tests_authors_and_the_columns_it_names(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("pairs.jsonl", pairs(30))
    project.write("suite.json", json.dumps(RUN | {"reports": ["json"]}))
    assert call(project, "run", "suite.json", "--run-dir", "run", "--no-cache", "--yes").exit_code == 0
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    cells = [each["cell"] for each in report["measures"] if each["name"] == "covariate-effect"]
    assert {(cell["covariate"], cell.get("level")) for cell in cells} >= {("tone", "dry"), ("tone", "kind")}
    # Declaring another covariate asks no judge again.
    project.write("suite.json", json.dumps(RUN | {"data": RUN["data"] | {"covariates": []}}))  # type: ignore[operator]
    done = call(project, "run", "suite.json", "--run-dir", "run", "--no-cache", "--yes")
    assert "30 trials, all done before" in done.output
    project.write("suite.json", json.dumps(RUN | {"data": RUN["data"] | {"covariates": ["mood"]}}))  # type: ignore[operator]
    done = call(project, "run", "suite.json", "--run-dir", "run", "--no-cache", "--yes")
    assert done.exit_code == 2
    assert "no item has the covariate 'mood'; jrh reads it from `mood_a` and `mood_b`" in " ".join(done.output.split())


def test_an_import_names_columns_in_a_list_and_says_which_are_not_there(tmp_path: Path) -> None:
    project = Project(tmp_path)
    done = imported(project, covariates=["writer"])
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "run" / "report.json").read_text(encoding="utf-8"))
    cells = [each["cell"] for each in report["measures"] if each["name"] == "covariate-effect"]
    assert {cell["covariate"] for cell in cells} == {"writer"}
    project.write("log.json", json.dumps(IMPORT | {"covariates": ["writr"]}))
    done = call(project, "import", "log.json", "--run-dir", "other")
    assert done.exit_code == 2
    assert "there is no column 'writr' (covariates.writr); did you mean 'writer'?" in " ".join(done.output.split())
    project.write("log.json", json.dumps(IMPORT | {"covariates": {"author": 3}}))
    done = call(project, "import", "log.json", "--run-dir", "other")
    assert (done.exit_code, "write columns, [length, author]" in done.output) == (2, True)


def test_an_import_without_covariates_says_which_column_would_show_a_length_bias(tmp_path: Path) -> None:
    project = Project(tmp_path)
    done = imported(project, covariates=None)
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8").replace("\\", "")
    assert "Name their columns under `covariates`." in " ".join(report.split())
    assert done.exit_code == 0
