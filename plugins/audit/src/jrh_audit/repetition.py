"""Check for items and rows that repeat each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh.text import counted
from jrh_stats import wilson

from jrh_audit.facts import EXAMPLES, Facts, Finding, some
from jrh_audit.options import AuditOptions

_SAMPLE_RATE: Final = 0.9
"""The rate whose interval the finding shows as an example."""


def repeated_rows(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find rows that repeat each other, if the source reports how many rows it read."""
    rows, pairs = facts.rows, facts.pairs
    if rows <= len(facts):
        return
    what = (
        f"{counted(pairs, 'distinct pair')} over {counted(len(facts), 'item')}"
        if pairs
        else counted(len(facts), "item")
    )
    yield Finding(
        kind="repeated-rows",
        evidence=f"{counted(rows, 'row')} are {what}",
        consequence=_unit(rows, len(facts)),
        affected=len(facts),
        items=len(facts),
    )


def duplicates(facts: Facts, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find items that ask the same question about the same texts."""
    repeated = facts.repeated()
    if not repeated:
        return
    contradicting = sum(len({facts.golds[place] for place in members}) > 1 for members in repeated)
    contradiction = (
        f" {counted(contradicting, 'question')} of them with several gold labels: no judge can match all of them."
        if contradicting
        else ""
    )
    surplus = sum(len(members) - 1 for members in repeated)
    distinct = counted(len(facts) - surplus, "distinct question")
    yield Finding(
        kind="duplicate-items",
        evidence=f"{counted(len(facts), 'item')} are {distinct}; {surplus} repeat another",
        consequence=f"{_clusters(len(facts), facts.clusters)}{contradiction}",
        affected=sum(map(len, repeated)),
        items=len(facts),
        examples=some([" = ".join(facts.ids[place] for place in members[:3]) for members in repeated]),
    )


def near_duplicates(facts: Facts, options: AuditOptions) -> Iterator[Finding]:
    """Find items of different clusters whose texts share most word triples without being equal."""
    found = facts.texts.similar(options.near_duplicate)
    both = ((facts.places[one], facts.places[other]) for one, other in found.pairs)
    pairs = [(one, other) for one, other in both if facts.cluster[one] != facts.cluster[other]]
    if not pairs and not found.cut:
        return
    share = f"{options.near_duplicate:.0%} of their word triples"
    number = f"{'at least ' if found.cut else ''}{counted(len(pairs), 'pair')} of items share {share}"
    cut = (
        f"; not searched exhaustively: {counted(found.cut, 'item')} may resemble more items than were compared"
        if found.cut
        else ""
    )
    affected = dict.fromkeys(place for pair in pairs for place in pair)
    yield Finding(
        kind="near-duplicate-items",
        evidence=(number if pairs else f"no pair of items was found that shares {share}") + cut,
        consequence="Such items are not independent: intervals that count both are too narrow. Give them a common "
        "`group`: every interval then counts them once.",
        affected=len(affected),
        items=len(facts),
        examples=some([f"{facts.ids[one]} = {facts.ids[other]}" for one, other in pairs[: EXAMPLES + 1]]),
    )


def _clusters(items: int, clusters: int) -> str:
    """Say which interval the report prints, and which one it would be if every item counted."""
    ends = [" to ".join(f"{float(end):.2f}" for end in wilson(_SAMPLE_RATE * n, n)) for n in (clusters, items)]
    return (
        f"Every interval counts {counted(clusters, 'cluster')}, not {counted(items, 'item')}: the 95% interval "
        f"of a rate of {_SAMPLE_RATE:.0%} is {ends[0]}, not {ends[1]}."
    )


def _unit(rows: int, items: int) -> str:
    """Compare the intervals with rows and with items as the unit of analysis."""
    counted, real = (" to ".join(f"{float(end):.2f}" for end in wilson(_SAMPLE_RATE * n, n)) for n in (rows, items))
    return (
        f"Repeating a question adds no information about other questions: the 95% interval of a rate of "
        f"{_SAMPLE_RATE:.0%} is {real} by item, not {counted} by row."
    )
