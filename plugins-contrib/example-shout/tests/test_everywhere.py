"""What the plugin declares is in every output, though nothing else names it."""

import json
from pathlib import Path

import jrh
import pytest

SUITE = {
    "name": "loud",
    "task": {"instruction": "Is it right?", "scale": {"labels": ["YES", "NO"]}},
    "tests": [{"shout": {"share": 0.5}}],
    "metrics": {"add": ["loud-agreement"]},
    "reports": [{"terminal": {"full": True}}, "markdown", "html", "notebook", "json"],
}
STATEMENT = "Changes its verdict when the response shouts"


def startled(question):
    """Answer NO whenever a word is in capitals."""
    return "NO" if any(word.isupper() for word in question["fields"]["response"].split()) else "YES"


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    items = [
        {"id": f"{n}", "request": f"{n}?", "response": f"the answer is number {n}", "gold": "YES"} for n in range(40)
    ]
    run_dir = tmp_path_factory.mktemp("loud") / "run"
    suite = {**SUITE, "data": items, "judges": [startled]}
    result = jrh.run(suite, run_dir=run_dir, use_cache=False, quiet=True)
    assert (result.exit_code, result.message, result.problems) == (0, "", ())
    files = {
        path.name: path.read_text() for path in Path(run_dir).iterdir() if path.name.startswith(("report", "note"))
    }
    return {"terminal": result.terminal, **files}


@pytest.mark.parametrize("output", ["terminal", "report.md", "report.html", "notebook.html", "report.json"])
@pytest.mark.parametrize("thing", ["shout", "share that stays", "half-loud", STATEMENT, "Capitals"])
def test_the_test_the_measure_the_flag_the_finding_and_the_section_are_in_every_output(outputs, output, thing):
    assert thing in outputs[output]


def test_a_half_loud_test_warns_and_does_not_condemn(outputs):
    (finding,) = (each for each in json.loads(outputs["report.json"])["findings"] if each["kind"] == "minds-shouting")
    assert finding["severity"] == "warning"
    assert "half-loud" in finding["sentence"]
