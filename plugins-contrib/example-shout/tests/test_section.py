"""The section is in every report, though no report knows it."""

import json
from pathlib import Path
from typing import ClassVar

import jrh
import jrh_contrib_shout.plugin
import pytest
from attrs import evolve
from jrh import Measure
from jrh_testing import SectionContract, sample_report

SUITE = {
    "name": "capitals",
    "data": {"source": "jsonl", "path": "items.jsonl"},
    "task": {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}},
    "tests": ["shout"],
    "metrics": {"add": ["loud-agreement"]},
    "judges": ["simulated"],
    "reports": [{"terminal": {"full": True}}, "markdown", "html", "notebook", "json", "latex", "xlsx"],
}
TEXT = "a reliable judge does not change its verdict"
TASK = sample_report().tasks[0].task.name
CAPTION = "Verdicts that stay in capitals"


class TestContract(SectionContract):
    plugin = jrh_contrib_shout.plugin
    component = "capitals"
    reports: ClassVar = (
        evolve(
            sample_report(),
            measures=(Measure(name="loud-agreement", judge="a", task=TASK, test="shout", estimate=0.5),),
        ),
    )


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    place = tmp_path_factory.mktemp("shout")
    items = [{"id": f"{n}", "request": f"{n}?", "response": f"it is {n}", "gold": "YES"} for n in range(8)]
    (place / "items.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    suite = {**SUITE, "data": {**SUITE["data"], "path": str(place / "items.jsonl")}}
    result = jrh.run(suite, run_dir=place / "run", use_cache=False, quiet=True)
    assert result.problems == ()
    return result


@pytest.mark.parametrize("name", ["report.md", "report.html", "notebook.html", "report.json"])
def test_the_section_is_in_the_file(result, name):
    text = (Path(result.run_dir) / name).read_text()
    assert "Capitals" in text
    assert TEXT in text
    assert CAPTION in text


def test_the_section_is_in_the_terminal(result):
    assert "\nCapitals\n" in result.terminal
    assert TEXT in result.terminal
    assert CAPTION in result.terminal


def test_its_number_is_the_measure(result):
    document = json.loads((Path(result.run_dir) / "report.json").read_text())
    (section,) = (each for each in document["sections"] if each["name"] == "capitals")
    (row,) = section["parts"][1]["rows"]
    measure = document["measures"][row["cells"][0]["measure"]]
    assert (measure["name"], measure["test"], measure["judge"]) == ("loud-agreement", "shout", "simulated")


def test_the_simulated_judge_is_marked(result):
    text = (Path(result.run_dir) / "report.md").read_text()
    table = text.partition(CAPTION)[2].partition("##")[0]
    assert "simulated (simulated)" in table
