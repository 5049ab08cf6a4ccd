"""`--judge`, `--test` and `--limit`: run a part of a suite."""

from __future__ import annotations

from collections.abc import Sequence

from jrh.document.positions import did_you_mean
from jrh.errors import Problem
from jrh.suite.definition import Suite
from jrh.values.types import REFERENCE


def filter_problems(suite: Suite, judges: Sequence[str], tests: Sequence[str], limit: int | None) -> list[Problem]:
    """Report filters that name nothing of the suite, and limits that leave nothing."""
    problems = [
        *_unknown_filters("judge", judges, [use.name for use in suite.judges]),
        *_unknown_filters("test", tests, [REFERENCE, *(use.name for use in suite.tests)]),
    ]
    if limit is not None and limit < 1:
        problems.append(Problem(message=f"must be at least 1, got {limit}", source="--limit"))
    return problems


def _unknown_filters(role: str, asked: Sequence[str], known: list[str]) -> list[Problem]:
    return [
        Problem(
            message=f"the suite has no {role} '{name}'\n{did_you_mean(name, known)}It has: {', '.join(known)}.",
            source=f"--{role}",
        )
        for name in asked
        if name not in known
    ]
