"""Comparisons made by the real command, checked against their schema."""

from __future__ import annotations

import json
from typing import Any

from jrh_testing import Outcome, Project, call

from support import schemas

SMALL = {"metrics": ["missing"], "reports": ["terminal"]}
"""What a comparison needs of a run: its records."""


def compare(project: Project, *arguments: str, code: int = 0) -> Outcome:
    done = call(project, "compare", *arguments)
    assert "Traceback" not in done.output
    assert done.exit_code == code, done.output
    return done


def found(project: Project, *arguments: str, code: int = 0) -> dict[str, Any]:
    """Compare, check the document against the schema, and return it."""
    document: dict[str, Any] = json.loads(compare(project, *arguments, "--format", "json", code=code).stdout)
    schemas.validate(document, "comparison")
    return document


def row(document: dict[str, Any], measure: str, test: str = "reference", pair: int = 0) -> dict[str, Any]:
    rows: list[dict[str, Any]] = document["pairs"][pair]["rows"]
    return next(each for each in rows if (each["measure"], each["test"]) == (measure, test))
