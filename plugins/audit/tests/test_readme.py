"""The README names every finding."""

from __future__ import annotations

import re
from pathlib import Path

import jrh_audit.plugin

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_findings_of_the_table_are_those_of_the_checks():
    sources = "".join(path.read_text() for path in Path(jrh_audit.plugin.__file__).parent.glob("*.py"))
    kinds = set(re.findall(r'kind="([a-z-]+)"', sources))
    rows = re.findall(r"^\| (`.*?) \|", README, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row)} == kinds
