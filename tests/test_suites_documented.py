"""What docs/suites.md says about tests, parsers and judges can be planned as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jrh_testing import Project

pytestmark = pytest.mark.inside

DOCUMENT = Path(__file__).parents[1] / "docs" / "suites.md"
ONE_TASK = """\
data: {source: examples, dataset: factual}
task: {instruction: Is the answer right?, scale: {labels: ["YES", "NO"]}}
"""
FRAME = """\
name: documented
models:
  mini: {provider: simulated}
  checker: {provider: simulated}
"""
TESTS = "tests: [format]\n"
JUDGES = "judges: [baseline]\n"


def fragments() -> list[str]:
    blocks = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    return [block for block in blocks if re.match(r"(?:tests|parsers|judges|metrics):", block)]


def test_the_document_has_examples_of_components_chains_parsers_and_metrics() -> None:
    assert len(fragments()) == 5


@pytest.mark.parametrize("fragment", fragments(), ids=["components", "chains", "tasks", "parsers", "metrics"])
def test_a_documented_part_of_a_suite_can_be_planned(project: Project, fragment: str) -> None:
    rest = "".join(part for part in (TESTS, JUDGES) if part.partition(":")[0] + ":" not in fragment)
    rest += "" if "tasks:" in fragment else ONE_TASK
    project.write("suite.yaml", FRAME + rest + fragment)
    outcome = project.run("plan", "suite.yaml", "--limit", "4")
    assert outcome.exit_code == 0, outcome.output
    assert "reference" in outcome.stdout
