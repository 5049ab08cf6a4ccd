"""A plugin that calls `sys.exit` is a plugin that raised, and a limit of the machine is one message."""

from __future__ import annotations

import errno
import json
import re
from unittest.mock import patch

import pytest
from jrh.cli import OF_THE_MACHINE, cli, invoke
from jrh_testing import Project, loop_over

PLUGIN = """
from jrh import JudgeSpec, MetricSpec, PerturberSpec, hookimpl

class Leaves:
    async def perturb(self, item): raise SystemExit(0)
    async def judge(self, question): raise SystemExit(0)
    def measure(self, records, context): raise SystemExit(0)

@hookimpl
def jrh_perturbers(): yield PerturberSpec(name="leaves", summary="", factory=Leaves)

@hookimpl
def jrh_judges(): yield JudgeSpec(name="leaves", summary="", factory=Leaves)

@hookimpl
def jrh_metrics(): yield MetricSpec(name="leaves-early", summary="", factory=Leaves)
"""

SUITE = {
    "name": "exits",
    "data": {"source": "examples", "dataset": "factual", "sample": {"n": 4, "seed": 1}},
    "task": {"instruction": "Judge.", "scale": {"labels": ["YES", "NO"]}},
    "metrics": ["missing", "leaves-early"],
}
ONLY = ["--plugins", "jrh-sources,jrh-simulated,jrh-metrics,jrh-report,leaver.py"]


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"judges": ["leaves"]}, 3),
        ({"judges": [{"judge": "simulated", "name": "s"}], "tests": ["leaves"]}, 3),
        ({"judges": [{"judge": "simulated", "name": "s"}]}, 3),  # the suite names the metric
    ],
    ids=["judge", "perturber", "metric"],
)
def test_a_plugin_that_exits_does_not_end_the_run_with_its_code(
    project: Project, more: dict[str, object], code: int
) -> None:
    project.write("leaver.py", PLUGIN)
    project.write("suite.json", json.dumps({**SUITE, **more}))
    outcome = project.run("run", "suite.json", "--run-dir", "run", *ONLY)
    assert outcome.exit_code == code, outcome.stderr
    head = " ".join(outcome.stdout.partition("\n\n")[0].split())  # long lines are wrapped
    warned = re.search(r" warning .*SystemExit", head)
    if "judges" in more and more["judges"] == ["leaves"]:
        assert "SystemExit" in outcome.stdout
    else:
        assert warned, "a warning before the findings, not a note that may not fit"
    assert (project.path / "run" / "report.json").is_file()


@pytest.mark.parametrize("words", [("run", "suite.yaml", "--run-dir", "x" * 300), ("report", "x" * 300)])
def test_a_path_that_is_too_long_is_one_message(project: Project, words: tuple[str, ...]) -> None:
    project.write("suite.yaml", json.dumps(SUITE))
    done = project.run(*words)
    assert "Traceback" not in done.stderr
    assert "File name too long ('xxx" in done.stderr
    assert "; choose a shorter path" in done.stderr
    assert done.exit_code == 2


@loop_over("number", [errno.EMFILE, errno.ENOSPC])
def test_a_limit_of_the_machine_is_one_message(capsys: pytest.CaptureFixture[str], number: int) -> None:
    with patch.object(cli, "main", side_effect=OSError(number, "as the system says", "some-file")):
        assert invoke([]) == 2
    said = capsys.readouterr().err
    assert said == f"jrh: as the system says ('some-file'); {OF_THE_MACHINE[number]}\n"
