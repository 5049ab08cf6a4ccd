"""Read the file that `wandb sync` uploads."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

_BLOCK: Final = 32768


def told(path: Path) -> dict[str, dict[str, Any]]:
    """Return the configuration and the summary that the file holds, by key."""
    found: dict[str, dict[str, Any]] = {"config": {}, "summary": {}}
    for record in _records(path):
        for update in record.summary.update:
            found["summary"]["/".join(update.nested_key) or update.key] = json.loads(update.value_json)
        for update in (*record.config.update, *record.run.config.update):
            found["config"][update.key] = json.loads(update.value_json)
    return found


def _records(path: Path) -> Iterator[Any]:
    """Yield the records of the file: blocks of 32 KB; a record is whole, or has a first, middle and last part."""
    from wandb.proto import wandb_internal_pb2

    content, place, gathered = path.read_bytes(), 7, b""
    while place + 7 <= len(content):
        left = _BLOCK - place % _BLOCK
        if left < 7:
            place += left
            continue
        _, length, kind = struct.unpack_from("<IHB", content, place)
        gathered += content[place + 7 : place + 7 + length]
        place += 7 + length
        if kind in (1, 4):
            record = wandb_internal_pb2.Record()
            record.ParseFromString(gathered)
            gathered = b""
            yield record
