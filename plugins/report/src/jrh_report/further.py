"""Measures that no table of the reports knows by name, those of third-party metrics above all."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Final

from jrh import REFERENCE, Measure, RunReport
from jrh_measuring import FINDING, Place, counted_items, format_counts, format_estimate, format_interval

from jrh_report.flags import MAIN
from jrh_report.overview import HEADINGS
from jrh_report.sections import Kind, kind_of, shown_kinds
from jrh_report.tables import Table, judge_label

_TEST: Final = ("-p", "-p-least")
"""Ends of the names of tests that belong to a measure."""
_KNOWN: Final = (
    MAIN
    | frozenset(HEADINGS)
    | frozenset(
        {
            "accuracy-change",
            "accuracy-equivalence",
            "excess-disagreement",
            "excess-equivalence",
            "gain-over-commonest",
            "covariate-effect",
            "covariate-gap",
            "missing-by-condition",
            "missing-by-confidence",
            "missing-by-error",
            "missing-by-label",
            "concordance",
            "pearson",
            "spearman",
            "mean-absolute-error",
            "bias",
            "confusion",
            "brier",
            "calibration-error",
            "calibration",
            "reliability",
        }
    )
)
"""Measures that have a place of their own in a report, or stand behind one that has."""
_LINES: Final = 400
"""Lines of the table; the others are counted."""


def is_further(
    measure: Measure, shown: AbstractSet[Kind] = frozenset(), told: AbstractSet[Place] = frozenset()
) -> bool:
    """Tell whether no table knows a measure by name, no section shows it, and no finding says in words what it is."""
    name = measure.name
    for end in _TEST:
        name = name.removesuffix(end)
    return (
        name not in _KNOWN
        and kind_of(measure) not in shown
        and FINDING not in measure.flags
        and Place.of(measure) not in told
    )


def told_in_words(report: RunReport) -> frozenset[Place]:
    """Return what findings rest on whose sentences say all of it."""
    rested = (basis for finding in report.findings for basis in finding.basis if not basis.value)
    return frozenset(
        Place(name=each.name, judge=each.judge, task=each.task, test=each.test, cell=tuple(sorted(each.cell.items())))
        for each in rested
    )


def cell_of(measure: Measure) -> str:
    """Write the cell of a measure; empty for a whole test."""
    return ", ".join(f"{key}={value}" for key, value in measure.cell.items())


def further_measures(report: RunReport) -> list[Measure]:
    """Return these measures, name by name; whole tests stand before their parts."""
    shown = shown_kinds(report)
    told = told_in_words(report)
    found = [measure for measure in report.measures if is_further(measure, shown, told)]
    names = {name: place for place, name in enumerate(dict.fromkeys(each.name for each in found))}
    return sorted(found, key=lambda each: (names[each.name], bool(each.cell)))


def further(report: RunReport, digits: int = 2, *, cells: bool = True) -> Table | None:
    """Tabulate these measures; None where there are none.

    Args:
        report: the run.
        digits: of the numbers.
        cells: also those of parts of a test; without them the reference condition stands first.
    """
    found = [each for each in further_measures(report) if cells or not each.cell]
    if not cells:  # what does not fit is cut off at the end
        found.sort(key=lambda each: each.test != REFERENCE)
    if not found:
        return None
    several = len(report.tasks) > 1
    more = len(found) - _LINES
    return Table(
        title="Further measures",
        columns=(
            *("measure", "judge", *(("task",) if several else ()), "test", *(("cell",) if cells else ())),
            *("estimate", "n", "missing", "flags"),
        ),
        rows=tuple(
            (
                each.name,
                judge_label(report, each.judge),
                *((each.task,) if several else ()),
                each.test,
                *((cell_of(each),) if cells else ()),
                f"{format_estimate(each, digits)} {format_interval(each, digits)}".strip(),
                counted_items(each),
                format_counts(each.missing),
                ", ".join(each.flags),
            )
            for each in found[:_LINES]
        ),
        note=f"{more:,} more are in report.json." if more > 0 else "",
    )
