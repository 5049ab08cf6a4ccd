"""Which of the measures that were asked for exist."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from jrh import JrhError, RunReport
from jrh.text import clean_text as clean

from jrh_report.overview import COLUMNS, EXPECTED

_LISTED: Final = 60


def check_measures(report: RunReport, reporter: str, names: Sequence[str], defaults: Sequence[str]) -> None:
    """Refuse names that no measure of the run has; those of the main table, and the defaults, may be absent from it.

    Raises:
        JrhError: with every unknown name, the nearest known one, and the names that there are.
    """
    there = sorted({measure.name for measure in report.measures if not measure.cell})
    known = {*there, *COLUMNS, EXPECTED, *defaults}
    unknown = [name for name in names if name not in known]
    if not unknown:
        return
    told = []
    for name in unknown:
        close = get_close_matches(name, sorted(known), n=1)
        told.append(f"'{clean(name, 80)}'" + (f" (did you mean '{clean(close[0], 80)}'?)" if close else ""))
    some = ", ".join(clean(name, 80) for name in there[:_LISTED])
    more = f" and {len(there) - _LISTED} more" if len(there) > _LISTED else ""
    raise JrhError(f"{reporter}.measures: the run has no measure {', '.join(told)}; it has: {some or 'none'}{more}")
