"""Render the findings as a table."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from io import StringIO

from jrh_selftest.findings import Finding

_WIDTH = 150
_HEADER = ("where", "measure", "planted", "estimated", "rate", "of", "verdict", "why")


def table_text(findings: Sequence[Finding]) -> str:
    """Return the table: planted and estimated values, then coverage, false alarms or power with an interval.

    The last column is left out where no finding has a reason.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table(*_HEADER[:2], title="Simulated judges with planted truth")
    for name in _HEADER[2:5]:
        table.add_column(name, justify="right")
    explained = any(finding.reason for finding in findings)
    for name in _HEADER[5:] if explained else _HEADER[5:-1]:
        table.add_column(name)
    for finding in findings:
        table.add_row(
            finding.where,
            finding.name,
            _number(finding.planted),
            _number(finding.estimated),
            _rate(finding),
            "coverage" if finding.kind == "interval" else finding.kind,
            finding.verdict.value,
            *((finding.reason,) if explained else ()),
        )
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    out = StringIO()
    width = shutil.get_terminal_size().columns if terminal else _WIDTH
    Console(file=out, width=width, highlight=False, markup=False, no_color=True).print(table)
    return out.getvalue()


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _rate(finding: Finding) -> str:
    if finding.rate is None or finding.rate_low is None or finding.rate_high is None:
        return ""
    return f"{finding.rate:.1%} ({finding.rate_low:.1%} to {finding.rate_high:.1%})"
