"""Export a run to Langfuse as scores, by its public ingestion API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
from jrh import JrhError, RunReport, content_id
from jrh.plugins import read_secret
from jrh.text import clean_text, counted

from jrh_export.langfuse_api import Endpoint
from jrh_export.options import LangfuseOptions
from jrh_export.rows import SIMULATED, about, keyed

Event = dict[str, Any]
_ROWS: Final = 2000
_TOLD: Final = (
    "task", "test", "family", "variant", "template", "option_order", "polarity", "language", "gold", "expected",
    "status", "presented",
)  # fmt: skip
"""Columns of a record that go with its score. Texts of items and replies stay here."""


class LangfuseExporter:
    """Send every measure as a numeric score of one trace, and every verdict as a categorical score of its item's."""

    def __init__(self, options: LangfuseOptions) -> None:
        """Read the keys from the environment.

        Raises:
            JrhError: one is missing, or the address is none.
        """
        keys = [read_secret(options.public_key_env), read_secret(options.secret_key_env)]
        lacking = [
            name for name, key in zip((options.public_key_env, options.secret_key_env), keys, strict=True) if not key
        ]
        if lacking:
            raise JrhError(f"Langfuse needs its keys: set {' and '.join(lacking)}")
        self._options = options
        self._endpoint = Endpoint.of(options.host, *keys, timeout=options.timeout)

    def export(self, report: RunReport, attached: Sequence[Path]) -> Iterator[str]:  # noqa: ARG002 - files have no place
        """Send the events; ids follow from the run, so that sending it again replaces what is there.

        Raises:
            JrhError: Langfuse cannot be reached or refuses.
        """
        run = content_id("langfuse", report.run_id)
        scores = self._endpoint.send(_stamped(_of_measures(report, run)))
        without = sum(measure.estimate is None for measure in report.measures)
        yield f"Langfuse trace {run}: {counted(scores - 1, 'estimate')} as scores."
        if without:
            yield f"{counted(without, 'measure')} without an estimate: no score."
        if self._options.verdicts and len(report.records):
            self._endpoint.send(_stamped(_of_verdicts(report, own=self._options.traces == "own")))
            answered = int(report.records.equals("status", "ok").sum())
            missing = len(report.records) - answered
            yield f"{counted(answered, 'verdict')} as scores; {missing} missing: their scores end in /missing."


def _stamped(events: Iterator[tuple[str, Event]]) -> Iterator[Event]:
    """Wrap events; the id of an envelope follows from its content, so that a repeated request counts once."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    for kind, body in events:
        yield {"id": content_id(kind, body, now), "type": kind, "timestamp": now, "body": body}


def _of_measures(report: RunReport, run: str) -> Iterator[tuple[str, Event]]:
    yield (
        "trace-create",
        {"id": run, "name": clean_text(report.suite), "metadata": about(report), "tags": _tags(report)},
    )
    for key, row in keyed(report):
        if row["estimate"] is not None:
            yield (
                "score-create",
                {
                    "id": content_id(run, key),
                    "traceId": run,
                    "name": key,
                    "value": row["estimate"],
                    "dataType": "NUMERIC",
                    "comment": _comment(row),
                    "metadata": row,
                },
            )


def _comment(row: Mapping[str, Any]) -> str:
    """Say interval, sizes and missing verdicts, as people see the comment and not the metadata."""
    known = row["low"] is not None and row["high"] is not None
    interval = f"{row['level']:.0%} interval {row['low']:.4g} to {row['high']:.4g}" if known else "no interval"
    sizes = f"n = {row['trials']} trials, {row['items']} items, {row['clusters']} clusters"
    missing = f"missing {row['missing']}" + (f" ({row['missing_by_status']})" if row["missing"] else "")
    marks = "; ".join(
        part for part in ("simulated judge" if row["simulated"] else "", row["flags"], row["note"]) if part
    )
    return clean_text("; ".join(part for part in (interval, sizes, missing, marks) if part), 900)


def _of_verdicts(report: RunReport, *, own: bool) -> Iterator[tuple[str, Event]]:
    seen: set[str] = set()
    for start in range(0, len(report.records), _ROWS):
        part = report.records.where(np.arange(start, min(start + _ROWS, len(report.records))))
        columns = {name: part.text(name) for name in (*_TOLD, "trial_id", "item_id", "judge", "canonical")}
        repeats = part.number("repeat").tolist()
        for place, repeat in enumerate(repeats):
            row = {name: values[place] for name, values in columns.items()}
            item = str(row["item_id"])
            trace = content_id("langfuse", report.run_id, row["task"], item) if own else item
            if own and trace not in seen:
                seen.add(trace)
                yield "trace-create", {"id": trace, "name": clean_text(item), "tags": _tags(report)}
            yield "score-create", _verdict(report, row, trace, int(repeat))


def _verdict(report: RunReport, row: Mapping[str, Any], trace: str, repeat: int) -> Event:
    mark = f" {SIMULATED}" if row["judge"] in report.simulated else ""
    name = clean_text(f"{row['judge']}{mark}/{row['test']}")
    answered = row["status"] == "ok"
    return {
        "id": content_id("langfuse", report.run_id, row["trial_id"]),
        "traceId": trace,
        "name": name if answered else f"{name}/missing",
        "value": str(row["canonical"] if answered else row["status"]),
        "dataType": "CATEGORICAL",
        "metadata": {column: row[column] for column in _TOLD if row[column]} | {"repeat": repeat},
    }


def _tags(report: RunReport) -> list[str]:
    return ["jrh", clean_text(report.suite)]
