"""The page about the two papers names only tests, plugins and examples that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")


def test_every_file_it_names_exists() -> None:
    named = set(re.findall(r"`((?:tests|plugins|core|examples)/[\w/.-]+)`", PAGE))
    assert len(named) > 30
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_row_says_where_it_is_and_what_shows_it() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| row", "|---"))]
    assert len(rows) > 70
    assert [row for row in rows if len([cell for cell in row.strip("|").split(" | ") if cell.strip()]) != 3] == []
