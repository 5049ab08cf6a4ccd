"""Write what `jrh selftest` finds as Markdown tables of coverage by design, for docs/statistics.md.

jrh selftest --full --format json | python tools/coverage_tables.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from jrh import ScaleKind
from jrh_selftest.checks import record_checks
from jrh_selftest.findings import Finding, Verdict
from jrh_selftest.judging import WIDEST
from jrh_selftest.worlds import worlds

_ORDERED: Final = frozenset(world.name for world in worlds(full=True) if world.scale.kind is ScaleKind.ORDINAL)
_OF_RECORDS: Final = frozenset(check.measure for check in record_checks(full=True))
_OF_LEVELS: Final = frozenset(
    {
        *("mean-absolute-error", "root-mean-squared-error", "bias", "adjacent-accuracy"),
        *("pearson", "spearman", "self-kappa", "gold-kappa", "scale-compression"),
    }
)
_RATERS: Final = "raters: "

_SECTIONS: Final[tuple[tuple[str, Callable[[Finding], bool]], ...]] = (
    ("Labels and pairs", lambda found: found.name in _OF_RECORDS and found.where not in _ORDERED),
    ("Levels: rates and kappa", lambda found: found.where in _ORDERED and found.name not in _OF_LEVELS),
    ("Levels: errors and association", lambda found: found.where in _ORDERED and found.name in _OF_LEVELS),
    ("Agreement of three raters", lambda found: found.where.startswith(_RATERS)),
    ("Other estimators", lambda found: found.name not in _OF_RECORDS and not found.where.startswith(_RATERS)),
)


def coverage_tables(findings: Sequence[Finding]) -> str:
    """Return one table per kind of measure, the tests, the widths, the rows that fail, and all rows in full.

    In the first, designs are in rows and measures in columns. Coverage over all studies is in bold if the row fails,
    with a question mark if it is unclear, and in parentheses if it is outside the limits but right without the flagged
    studies. An asterisk marks rows where most studies are flagged anyway.
    """
    intervals = [found for found in findings if found.kind == "interval" and found.verdict is not Verdict.ABSENT]
    parts = []
    for title, belongs in _SECTIONS:
        chosen = [found for found in intervals if belongs(found)]
        if chosen:
            parts.append(f"### {title}\n\n" + "\n".join(_matrix(chosen)))
    alarms = [found for found in findings if found.kind in ("false alarms", "power") and found.rate is not None]
    if alarms:
        parts.append("### Tests, sentences and gates\n\n" + "\n".join(_alarms(alarms)))
    judged = [found for found in intervals if found.width_judged and found.width is not None]
    if judged:
        parts.append("### Widths in designs with repeats\n\n" + "\n".join(_widths(judged)))
    open_rows = [found for found in findings if found.verdict in (Verdict.FAIL, Verdict.UNCLEAR)]
    if open_rows:
        parts.append("### Rows that fail, or are unclear\n\n" + "\n".join(_open(open_rows)))
    if intervals:
        parts.append("### All intervals\n\n" + "\n".join(_rows(intervals)))
    return "\n\n".join(parts) + "\n"


def _matrix(findings: Sequence[Finding]) -> Iterator[str]:
    names = list(dict.fromkeys(found.name for found in findings))
    cells = {(found.where, found.name): _cell(found) for found in findings}
    yield f"| design | {' | '.join(names)} |"
    yield "|---|" + "---:|" * len(names)
    for where in dict.fromkeys(found.where for found in findings):
        row = " | ".join(cells.get((where, name), "") for name in names)
        yield f"| {where.removeprefix(_RATERS)} | {row} |"


def _cell(found: Finding) -> str:
    text = "none" if found.rate is None or "no interval" in found.reason else f"{100 * found.rate:.1f}"
    cautious = f"{text}\\*" if (found.flagged or 0.0) > 1 / 2 else text
    return {Verdict.FLAGGED: f"({text})", Verdict.FAIL: f"**{text}**", Verdict.UNCLEAR: f"{text}?"}.get(
        found.verdict, cautious
    )


def _alarms(findings: Sequence[Finding]) -> Iterator[str]:
    yield "| data | test | studies | limit, % | false alarms, % | least, % | power, % |"
    yield "|---|---|---:|---:|---:|---:|---:|"
    for found in findings:
        rate, limit = _percent(found.rate), _percent(found.nominal)
        shown = (
            f"**{rate}**" if found.verdict is Verdict.FAIL else f"{rate}?" if found.verdict is Verdict.UNCLEAR else rate
        )
        cells = (limit, shown, "", "") if found.least is None else ("", "", _percent(found.least), shown)
        yield f"| {found.where} | {found.name} | {found.studies} | {' | '.join(cells)} |"


def _widths(findings: Sequence[Finding]) -> Iterator[str]:
    """Compare with the narrowest interval, 2 t s: see `judging`."""
    yield "| measure | designs | least | mean | greatest | in the design | above 1.15 |"
    yield "|---|---:|---:|---:|---:|---|---|"
    for name in dict.fromkeys(found.name for found in findings):
        rows = {found.where: found.width or 0.0 for found in findings if found.name == name}
        widest = max(rows, key=lambda where: rows[where])
        above = "; ".join(where for where, width in rows.items() if width > WIDEST)
        mean = sum(rows.values()) / len(rows)
        numbers = f"{min(rows.values()):.2f} | {mean:.2f} | {rows[widest]:.2f}"
        yield f"| {name} | {len(rows)} | {numbers} | {widest.removeprefix(_RATERS)} | {above} |"


def _open(findings: Sequence[Finding]) -> Iterator[str]:
    yield "| design | measure | | what is outside | why it is not mended |"
    yield "|---|---|---|---|---|"
    for found in findings:
        yield f"| {found.where} | {found.name} | {found.verdict.value} | {found.reason} | {found.known} |"


def _rows(findings: Sequence[Finding]) -> Iterator[str]:
    yield "| design | measure | studies | coverage | flagged | unflagged | their coverage | below | above | width | |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|"
    for found in findings:
        cells = (
            str(found.studies),
            _percent(found.rate),
            _percent(found.flagged),
            "" if found.without_flag is None else str(found.without_flag),
            *(_percent(each) for each in (found.rate_without_flag, found.too_low, found.too_high)),
            "" if found.width is None else f"{found.width:.2f}",
            found.verdict.value,
        )
        yield f"| {found.where} | {found.name} | {' | '.join(cells)} |"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def read_findings(text: str) -> list[Finding]:
    """Return the rows that `jrh selftest --format json` has printed."""
    return [Finding(**{**row, "verdict": Verdict(row["verdict"])}) for row in json.loads(text)]


if __name__ == "__main__":
    print(coverage_tables(read_findings(sys.stdin.read())), end="")
