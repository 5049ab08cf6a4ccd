"""What the heat map can show: measures as the run stored them, and the colours of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from attrs import frozen
from jrh import Measure
from jrh_measuring import (
    FINDING,
    SIMULATED,
    format_bounds,
    format_counts,
    format_estimate,
    format_interval,
    is_estimable,
)

from jrh_review.listed_cases import CaseOrder

_SHADES: Final = 9
"""Colours of a scale; the style sheet has as many."""
_DIGITS: Final = 2
_UNSAID: Final = frozenset({SIMULATED, FINDING})
"""Flags that are shown otherwise."""


@frozen(kw_only=True)
class Lens:
    """One measure that the heat map can show."""

    key: str
    name: str
    meaning: str
    order: CaseOrder
    """How the cases of a cell are sorted: those that make it bad come first."""
    middle: float = 0.0
    """Added to the estimate before it is coloured: 0.5 puts a difference of 0 in the middle of the scale."""


LENSES: Final = (
    Lens(
        key="as-expected",
        name="As expected",
        meaning="verdicts that meet the test's expectation; in the reference, verdicts equal to the gold label",
        order=CaseOrder.EXPECTED,
    ),
    Lens(key="gold-accuracy", name="Gold accuracy", meaning="verdicts equal to the gold label", order=CaseOrder.RIGHT),
    Lens(
        key="agreement",
        name="Agreement with reference",
        meaning="verdicts equal to the same judge's verdict on the item in the reference condition",
        order=CaseOrder.MOVED,
    ),
    Lens(
        key="excess-disagreement",
        name="Excess over noise floor",
        meaning="how much more verdicts differ from the reference condition than reruns differ from each other",
        order=CaseOrder.MOVED,
        middle=0.5,
    ),
    Lens(key="missing", name="Missing verdicts", meaning="trials without a verdict", order=CaseOrder.PLAN),
)
KEYS: Final = tuple(lens.key for lens in LENSES)


@frozen(kw_only=True)
class Cell:
    """One measure as a table shows it."""

    estimate: str
    interval: str
    items: int
    missing: str
    bounds: str
    flags: tuple[str, ...]
    shade: str

    @classmethod
    def of(cls, measure: Measure, lens: Lens) -> Cell:
        """Write a measure down."""
        return cls(
            estimate=format_estimate(measure, _DIGITS),
            interval=format_interval(measure, _DIGITS),
            items=measure.n_items,
            missing=format_counts(measure.missing),
            bounds=format_bounds(measure, _DIGITS) if measure.missing else "",
            flags=tuple(flag for flag in measure.flags if flag not in _UNSAID),
            shade=_shade(measure, lens),
        )


Cells = Mapping[tuple[str, str], Cell]
"""(judge, test) -> cell."""


def lens_of(key: str, measures: Iterable[Measure]) -> Lens | None:
    """Return the lens of that name, or the first that shows anything; None where none does."""
    shown = {measure.name for measure in measures}
    there = [lens for lens in LENSES if lens.key in shown]
    return next((lens for lens in there if lens.key == key), there[0] if there else None)


def cells_of(measures: Iterable[Measure], lens: Lens) -> Cells:
    """Return the cells of a heat map."""
    named = (measure for measure in measures if measure.name == lens.key)
    return {(measure.judge, measure.test): Cell.of(measure, lens) for measure in named}


def _shade(measure: Measure, lens: Lens) -> str:
    if measure.estimate is None or not is_estimable(measure):
        return "none"
    step = min(max(int((measure.estimate + lens.middle) * _SHADES), 0), _SHADES - 1)
    return f"{'d' if lens.middle else 's'}{step}"
