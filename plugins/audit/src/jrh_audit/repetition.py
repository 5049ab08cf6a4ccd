"""Check for items and rows that repeat each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Final

from jrh import Item, Json, Task
from jrh.text import counted
from jrh.values import Severity, clusters_of, shown_text
from jrh_stats import wilson

from jrh_audit.finding import EXAMPLES, Finding, some
from jrh_audit.options import AuditOptions
from jrh_audit.similarity import similar

_SAMPLE_RATE: Final = 0.9
"""The rate whose interval the finding shows as an example."""


def repeated_rows(items: Sequence[Item], task: Task, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find rows that repeat each other, if the source reports how many rows it read."""
    rows = sum(_whole(item.metadata.get("rows")) for item in items)
    if rows <= len(items):
        return
    pairs = sum(len(value) for item in items if isinstance(value := item.metadata.get("pairs"), Sequence))
    what = (
        f"{counted(pairs, 'distinct pair')} over {counted(len(items), 'item')}"
        if pairs
        else counted(len(items), "item")
    )
    yield Finding(
        kind="repeated-rows",
        evidence=f"{counted(rows, 'row')} are {what}",
        consequence=_unit(rows, len(items)),
        affected=len(items),
        items=len(items),
    )


def duplicates(items: Sequence[Item], task: Task, options: AuditOptions) -> Iterator[Finding]:  # noqa: ARG001
    """Find items that ask the same question about the same texts."""
    groups = questions(items)
    repeated = [members for members in groups.values() if len(members) > 1]
    if not repeated:
        return
    contradicting = sum(len({gold for _, gold in members}) > 1 for members in repeated)
    contradiction = (
        f" {counted(contradicting, 'question')} of them with several gold labels: no judge can match all of them."
        if contradicting
        else ""
    )
    surplus = sum(len(members) - 1 for members in repeated)
    distinct = counted(len(groups), "distinct question")
    yield Finding(
        kind="duplicate-items",
        evidence=f"{counted(len(items), 'item')} are {distinct}; {surplus} repeat another",
        consequence=f"{_clusters(len(items), independent(items))}{contradiction}",
        affected=sum(map(len, repeated)),
        items=len(items),
        examples=some([" = ".join(name for name, _ in members[:3]) for members in repeated]),
    )


def questions(items: Iterable[Item]) -> dict[bytes, list[tuple[str, str | None]]]:
    """Group ids and gold labels of the items by the text a judge sees, of which only a digest is kept."""
    groups: dict[bytes, list[tuple[str, str | None]]] = {}
    for item in items:
        groups.setdefault(_digest(shown_text(item)), []).append((item.id, item.gold))
    return groups


def _digest(text: str) -> bytes:
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def independent(items: Sequence[Item]) -> int:
    """Count the clusters of the items: what every interval counts."""
    return len(set(clusters_of(items).values()))


def near_duplicates(items: Sequence[Item], task: Task, options: AuditOptions) -> Iterator[Finding]:
    """Find items of different clusters whose texts share most word triples without being equal."""
    first: dict[bytes, int] = {}
    for place, item in enumerate(items):
        first.setdefault(_digest(_shown(item, task)), place)
    distinct = list(first.values())
    chosen = frozenset(distinct)
    found = similar((_shown(item, task) for place, item in enumerate(items) if place in chosen), options.near_duplicate)
    cluster = clusters_of(items)
    pairs = [
        (distinct[one], distinct[other])
        for one, other in found.pairs
        if cluster[items[distinct[one]].id] != cluster[items[distinct[other]].id]
    ]
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
        items=len(items),
        severity=Severity.WARNING if pairs else Severity.INFO,
        examples=some([f"{items[one].id} = {items[other].id}" for one, other in pairs[: EXAMPLES + 1]]),
    )


def _shown(item: Item, task: Task) -> str:
    """Return the parts of an item that a judge sees, as one text."""
    return "\n".join(" ".join(_flat(item.fields.get(name)).split()) for name in ("request", *task.judged_fields))


def _flat(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return " ".join(map(_flat, value.values()))
    if isinstance(value, Sequence):
        return " ".join(map(_flat, value))
    return "" if value is None else str(value)


def _whole(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 1


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
