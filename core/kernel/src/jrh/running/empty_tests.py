"""Tests that made no case: which they are, and why, in the words that every output uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import frozen

from jrh.text.numbers import counted
from jrh.values.report import Attrition

NO_CASES: Final = "no cases"
_REASONS: Final = 3
"""Reasons that are named; the others are counted."""


@frozen(kw_only=True)
class EmptyTest:
    """A test, as the suite has it, without a case in any task it is meant for."""

    test: str
    tasks: tuple[str, ...]
    own: bool
    """The tasks list it themselves: a test of this name may have cases of other tasks."""
    why: str
    """Such as `no cases: 30 of 30 drafts rejected: exact-rules: a number changed`."""
    allowed: bool
    """The suite accepts that (`allow_empty: true`)."""


def why_no_cases(line: Attrition) -> str:
    """Say why a test made no case for a task; empty if it made some, or if the run stopped before it was drafted."""
    if line.kept or not line.made:
        return ""
    if not line.applies:
        return f"{NO_CASES}: the test does not apply to this task"
    return _why(line.drafted, line.rejected, line.skipped)


def lost_drafts(line: Attrition) -> str:
    """Count what a test without cases drafted for a task, such as `2 of 2 drafts rejected`."""
    parts = [f"{sum(line.rejected.values()):,} of {counted(line.drafted, 'draft')} rejected"] if line.drafted else []
    parts += [f"{sum(line.skipped.values()):,} skipped"] if line.skipped else []
    return ", ".join(parts) or "no draft"


def empty_tests(attrition: Iterable[Attrition]) -> tuple[EmptyTest, ...]:
    """Return the tests without a case in any task, in order.

    A task whose mode the test does not support does not count. A test that still has to be drafted is not empty.
    A test in a task's own list is meant for that task only, whatever other tasks call theirs.
    """
    found: dict[tuple[str, tuple[str, ...]], list[Attrition]] = {}
    for line in attrition:
        if line.applies:
            found.setdefault((line.test, line.own_of), []).append(line)
    return tuple(_empty(lines) for lines in found.values() if all(map(why_no_cases, lines)))


def listed_reasons(counts: Mapping[str, int]) -> str:
    """Name the commonest reasons with their counts, and count the others."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    # A single further reason takes no more room than the sentence that would count it.
    shown = len(ordered) if len(ordered) == _REASONS + 1 else _REASONS
    named = [f"{reason} ({count:,})" for reason, count in ordered[:shown]]
    rest = ordered[shown:]
    if rest:
        named.append(f"{counted(len(rest), 'other reason')} ({sum(count for _, count in rest):,})")
    return ", ".join(named)


def _empty(lines: list[Attrition]) -> EmptyTest:
    rejected: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for line in lines:
        rejected.update(line.rejected)
        skipped.update(line.skipped)
    return EmptyTest(
        test=lines[0].test,
        tasks=tuple(line.task for line in lines),
        own=bool(lines[0].own_of),
        why=_why(sum(line.drafted for line in lines), rejected, skipped),
        allowed=all(line.allow_empty for line in lines),
    )


def _reasons(counts: Mapping[str, int]) -> str:
    """List the reasons; a single one without its count, which stands before it."""
    return next(iter(counts)) if len(counts) == 1 else listed_reasons(counts)


def _why(drafted: int, rejected: Mapping[str, int], skipped: Mapping[str, int]) -> str:
    parts = []
    if drafted:
        parts.append(f"{sum(rejected.values()):,} of {counted(drafted, 'draft')} rejected: {_reasons(rejected)}")
    if skipped:
        parts.append(f"{sum(skipped.values()):,} skipped: {_reasons(skipped)}")
    return f"{NO_CASES}: {'; '.join(parts) or 'the perturber returned no draft'}"
