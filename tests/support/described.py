"""Which measures of runs the page of measures describes."""

from __future__ import annotations

import json
import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "measures.md"


def undescribed(*reports: str) -> set[str]:
    """Return the measures of reports, as JSON, that the page does not have."""
    names = {each["name"] for report in reports for each in json.loads(report)["measures"]}
    assert len(names) > 1
    return {name for name in names if not any(each.fullmatch(name) for each in _described())}


def _described() -> list[re.Pattern[str]]:
    rows = re.findall(r"^\| `([a-z0-9*-]+)`( \([a-z, ]+\))? \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    tested = "(-p(-least|-holm|-bh)?)?"
    return [re.compile(name.replace("*", "[a-z]+") + (tested if "tested" in marked else "")) for name, marked in rows]
