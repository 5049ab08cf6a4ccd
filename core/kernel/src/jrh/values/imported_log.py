"""What an importer reads from the export of another tool."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import Factory, frozen

from jrh.values.items import Item, Task
from jrh.values.json_values import Json
from jrh.values.verdicts import Record


@frozen(kw_only=True)
class ImportedLog:
    """Tasks and records of one export."""

    tasks: tuple[Task, ...]
    records: tuple[Record, ...]
    """From `jrh_interchange.imported_record`."""
    origins: tuple[str, ...] = ()
    """Where each record comes from, such as `log.jsonl:12`, for messages."""
    notes: tuple[str, ...] = ()
    """How the file was read, one sentence each; readers of the report see them."""
    unmapped: tuple[str, ...] = ()
    """What the file holds and the records do not, one phrase each."""
    items: Mapping[str, tuple[Item, ...]] = Factory(dict)
    """Task -> items, if metrics need their texts."""
    metrics: Json = None
    """What the report computes, as `metrics` in a suite; None: the defaults."""
