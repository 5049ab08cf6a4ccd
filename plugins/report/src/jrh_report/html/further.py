"""The sections that only some runs have: calibration, variance, interactions, judges together, further measures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from jrh_report.html.calibration import calibration
from jrh_report.html.found import Found
from jrh_report.html.listing import by_test, columns
from jrh_report.html.measured_curves import measured_curves
from jrh_report.html.section import Part, Section
from jrh_report.html.together import together
from jrh_report.html.unplaced import unplaced
from jrh_report.html.variance import variance

_INTERACTION: Final = columns(("interaction", "interaction, difference of shares"))


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
        Section(
            key="variance",
            name="Variance",
            title="Sources of variance",
            parts=tuple(part for task in _tasks(found) if (part := variance(found, task))),
        ),
        Section(
            key="interactions",
            name="Interactions",
            title="Interactions of perturbations",
            parts=tuple(part for task in _tasks(found) if (part := _interactions(found, task))),
        ),
        Section(
            key="together",
            name="Judges together",
            title="The judges as a panel",
            parts=tuple(part for task in _tasks(found) if (part := together(found, task))),
        ),
        Section(key="curves", name="Curves", title="Curves", parts=measured_curves(found)),
        Section(key="further", name="Further measures", title="Further measures", parts=unplaced(found)),
    )
    return tuple(each for each in every if each.parts)


def _tasks(found: Found) -> Iterator[str]:
    return (summary.task.name for summary in found.report.tasks)


def _interactions(found: Found, task: str) -> Part | None:
    shown = by_test(found, task, _INTERACTION, "Effects of chains beyond their parts")
    return Part(task=task, tables=(shown,)) if shown else None
