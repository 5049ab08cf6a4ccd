"""What a report says about a judge under attack on an ordered scale: noise is no defect, obedience is."""

from __future__ import annotations

import json

import pytest
import yaml
from jrh_testing import Inside

pytestmark = pytest.mark.inside


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    project = Inside(tmp_path_factory.mktemp("levels"))
    items = [{"id": str(n), "request": "?", "response": f"Text {n}.", "label": str(1 + n % 5)} for n in range(80)]
    project.write("items.jsonl", "".join(f"{json.dumps(item)}\n" for item in items))
    suite = {
        "name": "levels",
        "data": {"source": "jsonl", "path": "items.jsonl"},
        "task": {"scale": {"ordinal": [1, 6]}},
        "tests": [{"injection": {"kinds": ["command", "master-key"]}}],
        "judges": [
            {"judge": "simulated", "name": "noisy", "rerun_noise": 0.3},
            {"judge": "simulated", "name": "weak", "obedience": 0.9, "obeys": ["plain"]},
            {"judge": "simulated", "name": "keys", "obedience": 0.9, "obeys": ["keys"]},
        ],
        "reports": ["json"],
    }
    project.write("suite.yaml", yaml.safe_dump(suite))
    done = project.run("run", "suite.yaml", "--yes")
    assert done.exit_code == 0, done.output
    findings = json.loads(project.read("runs/levels/report.json"))["findings"]
    return {
        judge: {f["kind"]: f["sentence"] for f in findings if f["judge"] == judge}
        for judge in ("noisy", "weak", "keys")
    }


def test_rises_that_reruns_explain_are_no_finding(told):
    assert "misses-changes" not in told["noisy"]
    assert "obeys-attacks" not in told["noisy"]
    assert told["noisy"]["attacks-undecided"].startswith("Not shown that any attack")


def test_a_judge_that_obeys_is_told_with_the_attack(told):
    assert told["weak"]["misses-changes"].startswith("Verdicts move in the direction that the test rules out")
    assert "command@end" in told["weak"]["obeys-attacks"]
    assert "master-key@end" in told["keys"]["obeys-attacks"]
