"""The suite in the README runs, and every name in its tables exists."""

from __future__ import annotations

import re
from pathlib import Path

import jrh_prompts.plugin
import pytest
import yaml
from jrh import MetricSpec, PerturberSpec
from jrh_prompts.options import Format, Inventory
from jrh_testing import declarations

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)


def first_cells(heading):
    section = README.split(f"## {heading}\n", 1)[1].split("\n## ")[0].split("\n### ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_tables_name_every_test_and_metric():
    specs = declarations(jrh_prompts.plugin)
    assert first_cells("Tests") == [spec.name for spec in specs if isinstance(spec, PerturberSpec)]
    assert first_cells("Metrics") == [spec.name for spec in specs if isinstance(spec, MetricSpec)]


def test_every_choice_is_described():
    for choice in (*Inventory, *Format):
        assert f"`{choice.value}`" in README


@pytest.mark.slow
def test_the_first_suite_runs(project):
    tests = yaml.safe_load(BLOCKS[0])
    scales = {"factual": {"labels": ["YES", "NO"]}, "coherence": {"ordinal": [1, 5]}, "relevance": {"pairwise": True}}
    suite = {
        "name": "readme",
        "tasks": [
            {"name": name, "data": {"source": "examples", "dataset": name}, "task": {"scale": scale}}
            for name, scale in scales.items()
        ],
        "judges": ["simulated"],
        "metrics": ["template-sensitivity"],
        **tests,
    }
    project.write("suite.yaml", yaml.safe_dump(suite))
    done = project.run("run", "suite.yaml", "--limit", "2")
    assert done.exit_code == 0, done.output
    tables = project.run("report", "runs/readme", "--full").stdout
    assert "no template for this task" in " ".join(tables.split()), "relevance has no inventory here"


@pytest.mark.parametrize("block", BLOCKS[1:3])
def test_the_other_tests_are_yaml(block):
    assert yaml.safe_load(block)
