"""Make plain rows and keys of a report's measures, the same for every tool."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from jrh import Measure, RunReport, content_id
from jrh.text import clean_text
from jrh_measuring import measure_rows, served_note

_CREDENTIALS: Final = re.compile(r"(?<=://)[^/\s@]+@")


def without_keys(text: str) -> str:
    """Mask the user and the password of every address in a text."""
    return _CREDENTIALS.sub("[redacted]@", text)


SIMULATED: Final = "simulated"
_ODD: Final = re.compile(r"[^\w.\- /]", re.ASCII)
_LONGEST: Final = 200
_HASH: Final = 8


def rows(report: RunReport) -> Iterator[dict[str, Any]]:
    """Yield one row per measure, whose texts are all valid UTF-8."""
    for row in measure_rows(report):
        yield {name: _storable(value) for name, value in row.items()}


def rows_by_key(report: RunReport) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows, each with a key that no other row has.

    Tools allow few characters in the name of a number: others become `_`, and where that makes two names one, or a name
    too long, the end of the key is a digest of the whole name.
    """
    named = [(_whole(measure, report), row) for measure, row in zip(report.measures, rows(report), strict=True)]
    # Servers and file systems take upper and lower case for the same.
    plain = [_ODD.sub("_", name).casefold() for name, _ in named]
    times = Counter(plain)
    for place, (name, row) in enumerate(named):
        key = _ODD.sub("_", name)
        if key != name or len(key) > _LONGEST or times[plain[place]] > 1:
            # With the place, as two measures may have the same whole name.
            key = f"{key[: _LONGEST - _HASH - 1].rstrip()}-{content_id(name, place)[:_HASH]}"
        yield key, row


def numbers(row: Mapping[str, Any]) -> dict[str, float]:
    """Return what goes with an estimate: interval, sizes and missing verdicts; nothing where there is no estimate."""
    # Tools plot every number they get: sizes alone would look like results.
    if row["estimate"] is None:
        return {}
    named = {"": "estimate", "/low": "low", "/high": "high", "/trials": "trials", "/items": "items"}
    named |= {"/clusters": "clusters", "/missing": "missing"}
    return {end: float(row[name]) for end, name in named.items() if row[name] is not None}


def about(report: RunReport) -> dict[str, str]:
    """Return what identifies the run, for tags."""
    return {
        "jrh.suite": clean_text(report.suite, _LONGEST),
        "jrh.run_id": report.run_id,
        "jrh.version": report.version,
        "jrh.seed": str(report.seed),
        "jrh.level": f"{report.level:g}",
        "jrh.judges": clean_text(", ".join(report.judges), _LONGEST),
        "jrh.simulated": clean_text(", ".join(sorted(report.simulated)), _LONGEST) or "none",
        "jrh.served": clean_text(served_note(report.served, report.judges), _LONGEST) or "not stated",
        "jrh.planned": str(report.planned),
        "jrh.missing_records": str(report.missing_records),
        "jrh.still_planning": str(report.still_planning).lower(),
    }


def digest(report: RunReport) -> str:
    """Return an id of what is exported: the same run with further verdicts has another one."""
    return content_id(report.run_id, len(report.records), [list(map(repr, row.values())) for row in rows(report)])


def _whole(measure: Measure, report: RunReport) -> str:
    judge = f"{measure.judge} {SIMULATED}" if measure.judge in report.simulated else measure.judge
    parts = (
        measure.name,
        judge,
        measure.task,
        measure.test,
        *(f"{key} {value}" for key, value in measure.cell.items()),
    )
    return "/".join(_part(part) for part in parts if part)


def _part(text: str) -> str:
    """Return a part of a name: dots alone would be a directory, which MLflow refuses."""
    return text.replace("/", "_").strip() if text.strip(" .") else "_"


def _storable(value: Any) -> Any:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
