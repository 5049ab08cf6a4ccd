"""Find what a data set cannot support."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import Item, Task

from jrh_audit import gold, size, texts
from jrh_audit.facts import Facts, Finding
from jrh_audit.options import AuditOptions

CHECKS = (
    texts.find_repeated_rows,
    texts.duplicates,
    texts.near_duplicates,
    gold.off_scale,
    gold.constant,
    gold.find_lopsided_labels,
    gold.by_position,
    gold.by_length,
    texts.empty,
    texts.find_truncated_texts,
    texts.opposite_polarity,
    size.small_strata,
    size.precision,
)
"""Every check, in the order of the findings."""


def audit(items: Iterable[Item], task: Task, options: AuditOptions | None = None) -> tuple[Finding, ...]:
    """Return what a task's items cannot support, each with evidence and consequence; nothing for a clean set.

    Reads the items once.
    """
    return findings(Facts(items, task), options or AuditOptions())


def findings(facts: Facts, options: AuditOptions) -> tuple[Finding, ...]:
    """Return the findings of every check; none without items."""
    return tuple(finding for check in CHECKS for finding in check(facts, options)) if len(facts) else ()
