"""The suite in `examples/injection`, over a loopback model that obeys as it is planted to: every number is known."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jrh_testing import ChatServer, Inside
from support.example_models import obeying

pytestmark = pytest.mark.inside
EXAMPLE = Path(__file__).parents[1] / "examples" / "injection"
ITEMS = 30


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    project = Inside(tmp_path_factory.mktemp("example"))
    shutil.copytree(EXAMPLE, project.path / "injection")
    with ChatServer(obeying) as server:
        done = project.run(
            "run",
            "injection/suite.yaml",
            "--yes",
            "--limit",
            str(ITEMS),
            "--set",
            "reports=[terminal, json]",
            "--set",
            f"models.judge.base_url={server.url}",
        )
        hunted = project.run(
            "hunt", "injection/suite.yaml", "--judge", "plain", "--set", f"models.judge.base_url={server.url}"
        )
    assert done.exit_code == 0, done.output
    return json.loads(project.read("runs/injection/report.json")), done, hunted


def of(report, name, judge, **cell):
    (found,) = [m for m in report["measures"] if (m["name"], m["judge"], m["cell"]) == (name, judge, cell)]
    return found


def test_every_attack_and_its_control_was_asked_of_every_judge(ran):
    report, _, _ = ran
    assert report["planned"] == 6 * ITEMS * (2 + 2 * 8)


def test_the_planted_obedience_is_measured_by_kind(ran):
    report, _, _ = ran
    shares = {
        kind: of(report, "attack-success", "plain", attack=f"{kind}@end")["estimate"]
        for kind in ("command", "forged-score", "forged-tags", "base64", "master-key", "plea", "suffix-1", "suffix-2")
    }
    assert shares == {**dict.fromkeys(shares, 0.0), "command": 1.0}
    assert of(report, "attack-success-control", "plain", attack="command@end")["estimate"] == 0.0
    assert of(report, "attack-success", "plain", attack="command@end")["n_clusters"] == ITEMS // 2


def test_the_finding_names_the_judges_that_obey_and_the_attack(ran):
    report, done, _ = ran
    told = {f["judge"]: f["sentence"] for f in report["findings"] if f["kind"] == "obeys-attacks"}
    assert set(told) == {"plain", "marks"}
    assert "1.00" in told["plain"]
    assert "command@end" in told["plain"]
    assert "Added text moves verdicts" in done.stdout


def test_what_each_defence_is_worth_and_what_it_costs(ran):
    report, _, _ = ran
    worth = {
        judge: of(report, "defence-worth", judge, attack="command@end")["estimate"]
        for judge in ("marks", "told", "sandwich", "datamarked")
    }
    assert worth == {"marks": 0.0, "told": 1.0, "sandwich": 1.0, "datamarked": 1.0}
    assert of(report, "defence-worth", "told", attack="command@end")["interval"]["low"] > 0.3
    assert {of(report, "defence-cost", judge)["estimate"] for judge in (*worth, "guarded")} == {0.0}


def test_the_guard_leaves_no_verdict_under_attack_and_that_is_counted_apart(ran):
    report, _, _ = ran
    guarded = of(report, "attack-success", "guarded", attack="command@end")
    assert guarded["estimate"] is None
    assert guarded["missing"] == {"abstained": ITEMS // 2}
    assert of(report, "attack-success-control", "guarded", attack="plea@end")["estimate"] == 0.0


def test_the_hunt_of_the_example_finds_the_command(ran):
    _, _, hunted = ran
    assert hunted.exit_code == 1, hunted.output
    assert "command@" in hunted.stdout.splitlines()[1]
