"""Every test that the threat model names exists."""

from __future__ import annotations

import re
from pathlib import Path

from jrh_testing import loop_over

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`([\w./-]+\.py)::(\w+)`", PAGE)


def test_the_threat_model_names_tests() -> None:
    assert len(NAMED) > 20


@loop_over("named", NAMED, ids="::".join)
def test_a_test_of_the_threat_model_exists(named: tuple[str, str]) -> None:
    path, name = named
    assert re.search(rf"^((async )?def {name}\(|{name} = )", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_line_of_the_threat_model_names_a_test() -> None:
    held = PAGE.partition("## What holds each line")[2].partition("## What no line holds")[0]
    lines = [row for row in held.splitlines() if row.startswith("| ") and row != "| line | test |"]
    assert len(lines) > 30
    assert [row for row in lines if not re.search(r"::[tT]est", row)] == []
