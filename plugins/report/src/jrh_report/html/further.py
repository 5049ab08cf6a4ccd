"""The sections that only some runs have: calibration, curves, further measures."""

from __future__ import annotations

from collections.abc import Iterator

from jrh_report.html.calibration import calibration
from jrh_report.html.found import Found
from jrh_report.html.measured_curves import measured_curves
from jrh_report.html.section import Section
from jrh_report.html.unplaced import unplaced


def sections(found: Found) -> tuple[Section, ...]:
    """Return the sections that have anything to show."""
    every = (
        Section(
            key="calibration",
            name="Calibration",
            title="Stated probabilities",
            parts=tuple(
                part for number, task in enumerate(_tasks(found)) if (part := calibration(found, number, task))
            ),
        ),
        Section(key="curves", name="Curves", title="Curves", parts=measured_curves(found)),
        Section(key="further", name="Further measures", title="Further measures", parts=unplaced(found)),
    )
    return tuple(each for each in every if each.parts)


def _tasks(found: Found) -> Iterator[str]:
    return (summary.task.name for summary in found.report.tasks)
