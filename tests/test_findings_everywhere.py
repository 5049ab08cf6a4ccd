"""A planted defect is the same finding in every output of a real run."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from jrh import open_report, run
from jrh_testing import ChatServer, Project, call
from support.keys import KEY, KEY_VARIABLE
from support.suites import llm_suite, openai_http, write_suite

SUITE = {
    "name": "planted",
    "data": {"source": "examples", "dataset": "relevance"},
    "task": {"instruction": "Which passage answers the query?", "scale": {"pairwise": True}},
    "tests": ["option-order"],
    "judges": [{"judge": "simulated", "name": "first", "accuracy": 0.5, "position_preference": 0.95}],
    "seed": 1,
    "resamples": 100,
}
STATEMENT = "Prefers the first option"


@pytest.mark.slow
def test_position_bias_reads_the_same_in_terminal_file_page_json_and_python(tmp_path: Path) -> None:
    result = run(SUITE, run_dir=tmp_path / "run", use_cache=False)
    assert result.exit_code == 0
    assert result.report is not None
    (finding,) = [each for each in result.report.findings if each.kind == "position-bias"]
    assert (finding.severity.value, finding.statement) == ("bad", STATEMENT)
    assert len(result.terminal.splitlines()) <= 22
    (basis,) = finding.basis
    assert f"{STATEMENT}: option-order {basis.value} {basis.interval} n=30" in " ".join(result.terminal.split())
    texts = {path.suffix: path.read_text(encoding="utf-8") for path in result.files}
    assert finding.sentence in texts[".md"].replace("\\", "")
    page = texts[".html"]
    assert STATEMENT in page
    assert f">{basis.value}<" in page
    stored = [each for each in json.loads(texts[".json"])["findings"] if each["kind"] == "position-bias"]
    assert [each["sentence"] for each in stored] == [finding.sentence]
    files = [part for kind in ("markdown", "json", "junit") for part in (f"--{kind}", f"gate.{kind}")]
    checked = call(Project(tmp_path), "gate", "run", "--rule", "position-bias[option-order] <= 0.9", *files)
    assert finding.sentence in checked.output
    assert finding.sentence in (tmp_path / "gate.markdown").read_text(encoding="utf-8").replace("\\", "")
    assert finding.sentence in [
        each["sentence"] for each in json.loads((tmp_path / "gate.json").read_text())["findings"]
    ]
    printed = [each.text or "" for each in ET.parse(tmp_path / "gate.junit").getroot().iter("system-out")]
    assert any(finding.sentence in text for text in printed)
    with open_report(tmp_path / "run") as again:
        assert again.findings == result.report.findings


@pytest.mark.slow
def test_floor_and_margin_of_the_suite_reach_findings_and_metrics(tmp_path: Path) -> None:
    lenient = SUITE | {"findings": {"floors": {"position-bias": 0.99}, "margin": 0.2}}
    report = run(lenient, run_dir=tmp_path / "run", use_cache=False).report
    assert report is not None
    (finding,) = [each for each in report.findings if each.kind == "position-bias"]
    assert (finding.severity.value, finding.floor) == ("info", 0.99)
    notes = {each.note for each in report.measures if each.name == "excess-equivalence"}
    assert notes == {"margin 0.2"}
    assert {each.margin for each in report.measures if each.name.endswith("-equivalence")} == {0.2}
    assert {each.margin for each in report.measures if not each.name.endswith("-equivalence")} == {None}


@pytest.mark.slow
def test_a_report_made_again_knows_which_model_a_judge_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory remembers it: `jrh report` has no suite, and computes the measures again."""
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    project = Project(tmp_path)
    items = [
        {"id": f"i{place}", "request": "?", "response": f"answer {place}", "label": "YES", "author": "gpt-4o"}
        for place in range(12)
    ]
    project.write("items.jsonl", "".join(json.dumps(item) + "\n" for item in items))
    with ChatServer("YES") as server:
        model = openai_http(server.url) | {"model": "openai/gpt-4o-mini"}
        data = {"source": "jsonl", "path": "items.jsonl", "gold_source": "model:gpt-4o"}
        write_suite(project, llm_suite(model, data=data, reports=["json"]))
        done = call(project, "run", "suite.yaml", "--run-dir", "run", "--no-cache", "--yes", "--no-preflight")
        assert done.exit_code == 0, done.output
    first = _kinds(tmp_path)
    assert {"gold-of-own-family", "responses-of-own-family"} <= first
    assert call(project, "report", "run", "--format", "json").exit_code == 0
    assert _kinds(tmp_path) == first


def _kinds(folder: Path) -> set[str]:
    document = json.loads((folder / "run" / "report.json").read_text(encoding="utf-8"))
    return {each["kind"] for each in document["findings"]}
