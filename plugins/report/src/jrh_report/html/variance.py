"""Where the variance of verdicts comes from, and how dependable that leaves them."""

from __future__ import annotations

from typing import Final

from jrh import Measure

from jrh_report.html.found import Found
from jrh_report.html.listing import EVERY, Line, columns, mixed_mark, table
from jrh_report.html.section import Part

_COMPONENTS: Final = columns(("variance", "variance, squared score"))
_ESTIMATE: Final = columns(("", "estimate"))
_DIGITS: Final = 4
_WHAT: Final = {
    "generalizability": ("generalizability of one verdict", 3),
    "dependability": ("dependability of one verdict", 3),
    "cheapest-design": ("cheapest design that is dependable enough (D-study), calls per item", 0),
}
"""Measure -> what it is called, and its digits."""


def variance(found: Found, task: str) -> Part | None:
    """Gather the components, and what follows from them; None where nothing was measured."""
    components = [each for each in found.parts.get((task, "variance"), ()) if set(each.cell) == {"component"}]
    coefficients = [found.whole(name, task, "", EVERY) for name in _WHAT]
    tables = (
        table(
            task,
            "Variance components of verdicts",
            ("Component",),
            _COMPONENTS,
            [_line(found, each, each.cell["component"].replace(":", " by "), _DIGITS) for each in components],
        ),
        table(
            task,
            "Reliability from the components",
            ("Coefficient",),
            _ESTIMATE,
            [_line(found, each, *_WHAT[each.name]) for each in coefficients if each is not None],
        ),
    )
    shown = tuple(each for each in tables if each is not None)
    return Part(task=task, tables=shown) if shown else None


def _line(found: Found, measure: Measure, head: str, digits: int) -> Line:
    return Line(heads=(head,), cells=(found.cell(measure, digits),), mark=mixed_mark((measure,)), note=measure.note)
