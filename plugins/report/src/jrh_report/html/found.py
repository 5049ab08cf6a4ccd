"""The measures of a report, by what they are about, and as the page writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from attrs import frozen
from jrh import Measure, RunReport
from jrh_measuring import (
    FINDING,
    SIMULATED,
    format_bounds,
    format_counts,
    format_estimate,
    format_interval,
    is_estimable,
)

SHADES: Final = 9
"""Colours of the scales, from 0; the style sheet has as many."""
_UNSAID: Final = frozenset({SIMULATED, FINDING})
"""Flags that are shown otherwise: simulated judges are marked by name, findings are told in words."""


@frozen(kw_only=True)
class Cell:
    """One measure as the page shows it."""

    measure: int
    """Its place among the measures of `report.json`."""
    estimate: str
    interval: str
    trials: int
    items: int
    clusters: int
    """0 unless items share clusters."""
    missing: int
    statuses: str
    """The missing verdicts by status."""
    bounds: str
    """Worst and best case."""
    flags: tuple[str, ...]
    note: str
    shade: str
    """Class of the colour; empty: none."""


@frozen(kw_only=True, eq=False)
class Found:
    """The measures of a report by task, judge, test and name."""

    report: RunReport
    wholes: Mapping[tuple[str, str, str, str], Measure]
    """(task, judge, test, name) -> the measure of the whole test."""
    judged: Mapping[str, tuple[Measure, ...]]
    """Judge -> its measures of whole tests."""
    parts: Mapping[tuple[str, str], tuple[Measure, ...]]
    """(task, name) -> the measures by variant, stratum, level and the like."""
    places: Mapping[int, int]

    @classmethod
    def of(cls, report: RunReport) -> Found:
        """Sort the measures of a report."""
        wholes: dict[tuple[str, str, str, str], Measure] = {}
        judged: dict[str, list[Measure]] = {}
        parts: dict[tuple[str, str], list[Measure]] = {}
        for measure in report.measures:
            if measure.cell:
                parts.setdefault((measure.task, measure.name), []).append(measure)
            else:
                wholes.setdefault((measure.task, measure.judge, measure.test, measure.name), measure)
                judged.setdefault(measure.judge, []).append(measure)
        return cls(
            report=report,
            wholes=wholes,
            judged={judge: tuple(found) for judge, found in judged.items()},
            parts={key: tuple(found) for key, found in parts.items()},
            places={id(measure): place for place, measure in enumerate(report.measures)},
        )

    def whole(self, name: str, task: str, judge: str, test: str) -> Measure | None:
        """Return the measure of a whole test."""
        return self.wholes.get((task, judge, test, name))

    def place(self, measure: Measure) -> int:
        """Return where the measure stands among the report's."""
        return self.places[id(measure)]

    def cell(self, measure: Measure, digits: int = 3, shade: str = "") -> Cell:
        """Write a measure down."""
        return Cell(
            measure=self.place(measure),
            estimate=format_estimate(measure, digits),
            interval=format_interval(measure, digits),
            trials=measure.n_trials,
            items=measure.n_items,
            clusters=measure.n_clusters if measure.n_clusters < measure.n_items else 0,
            missing=sum(measure.missing.values()),
            statuses=format_counts(measure.missing),
            bounds=format_bounds(measure, digits) if measure.missing else "",
            flags=tuple(flag for flag in measure.flags if flag not in _UNSAID),
            note=measure.note,
            shade=shade,
        )

    def maybe(self, measure: Measure | None, digits: int = 3, shade: str = "") -> Cell | None:
        """Write a measure down, where there is one."""
        return None if measure is None else self.cell(measure, digits, shade)


def sequential(measure: Measure) -> str:
    """Return the class of the colour of a proportion; empty where it is not estimable."""
    if measure.estimate is None or not is_estimable(measure):
        return "none"
    return f"s{_step(measure.estimate)}"


def diverging(measure: Measure) -> str:
    """Return the class of the colour of a difference of proportions, -0.5 to 0.5; the middle one is about 0."""
    if measure.estimate is None or not is_estimable(measure):
        return "none"
    return f"d{_step(measure.estimate + 0.5)}"


def _step(share: float) -> int:
    return min(max(int(share * SHADES), 0), SHADES - 1)
