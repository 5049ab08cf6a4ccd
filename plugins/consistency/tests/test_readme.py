"""Every name in the README's tables exists."""

from __future__ import annotations

import re
from pathlib import Path

import jrh_consistency.plugin
from jrh import DataSourceSpec, MetricSpec, PerturberSpec
from jrh_testing import declarations

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def first_cells(heading):
    section = README.split(f"## {heading}\n", 1)[1].split("\n## ")[0]
    section = section.split("\n\nThe task decides")[0].split("\n| option")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_the_tables_name_every_test_and_metric():
    specs = declarations(jrh_consistency.plugin)
    assert first_cells("Source") == [spec.name for spec in specs if isinstance(spec, DataSourceSpec)]
    assert first_cells("Tests") == [spec.name for spec in specs if isinstance(spec, PerturberSpec)]
    assert first_cells("Metrics") == [spec.name for spec in specs if isinstance(spec, MetricSpec)]
