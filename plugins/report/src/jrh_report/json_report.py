"""The report for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from enum import Enum

import attrs
from jrh import RunReport

from jrh_report.tables import finite


@attrs.frozen
class JsonReporter:
    """Writes the whole report as JSON: full floating-point numbers, `null` for what is not known, never NaN.

    The document is the `RunReport` without its records, which stay in the run's store; `schemas/results.schema.json`
    describes it. It is written in ASCII, so that nothing in it can act on the terminal it is printed to.
    """

    def render(self, report: RunReport) -> str:
        """Return the document."""
        lines = []  # every entry of a list on a line of its own: short, and a changed measure is one changed line
        for name, value in document(report).items():
            entries = [_text(entry) for entry in value] if isinstance(value, list) else []
            lines.append(f"{_text(name)}:" + ("[\n" + ",\n".join(entries) + "\n]" if entries else _text(value)))
        return "{\n" + ",\n".join(lines) + "\n}\n"


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def document(report: RunReport) -> dict[str, object]:
    """Return the report as JSON-like values, without the records."""
    report = finite(report)
    return {
        attribute.name: plain(getattr(report, attribute.name))
        for attribute in attrs.fields(RunReport)
        if attribute.name not in RunReport.NOT_IN_RESULTS
    }


def plain(value: object) -> object:
    """Return a value as JSON-like types: classes as objects, sets sorted, enums as their values, NaN as null."""
    # Before the other types: some enums are texts as well.
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list | tuple | frozenset):
        return [plain(entry) for entry in (sorted(value) if isinstance(value, frozenset) else value)]
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    kind: type = type(value)
    if attrs.has(kind):
        return {attribute.name: plain(getattr(value, attribute.name)) for attribute in attrs.fields(kind)}
    return value
