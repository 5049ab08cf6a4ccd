"""Tell where the reference rows of a log hold several conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from jrh.values.cases import REFERENCE
from jrh.values.items import Task
from jrh.values.verdicts import Record

_LEVELS: Final[Mapping[str, str]] = {
    "template": "templates",
    "option_order": "option orders",
    "polarity": "polarities",
    "strength": "strengths",
    "temperature": "temperatures",
    "language": "languages",
}
_SHOWN: Final = 4


def several_references(tasks: Sequence[Task], records: Sequence[Record]) -> Iterator[str]:
    """Yield a note for every level that varies between reference rows of one judge and item."""
    own = {task.name: task.scale.own_order for task in tasks}
    for level, name in _LEVELS.items():
        seen: dict[tuple[str, str, str], set[str]] = {}
        for row in records:
            if row.test == REFERENCE:
                text = _text(getattr(row, level)) or (own.get(row.task, "") if level == "option_order" else "")
                seen.setdefault((row.task, row.judge, row.item_id), set()).add(text)
        several = sorted({text for texts in seen.values() if len(texts) > 1 for text in texts})
        if several:
            shown = ", ".join(text or "none" for text in several[:_SHOWN])
            more = ", ..." if len(several) > _SHOWN else ""
            yield (
                f"The reference rows of an item hold several {name} ({shown}{more}). Reruns are counted within each. A "
                "verdict is compared with the reference rows nearest to its own condition. To measure what changes "
                "between them, assign all but one to a test."
            )


def _text(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
