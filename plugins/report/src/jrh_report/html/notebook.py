"""What a notebook shows of a run: its findings and its heat maps, as one piece of HTML without scripts."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.values import Finding, Importance, Severity

from jrh_report.findings import JudgeFindings, findings_by_judge, flag_meanings
from jrh_report.html.parts import Section, shown_sections
from jrh_report.html.reporter import environment, source, trusted
from jrh_report.tables import finite

_SHOWN: Final = 5
"""Findings of one judge that are in sight."""
_GRADES: Final = {
    Severity.BAD: "Fails",
    Severity.WARNING: "Warning",
    Severity.INFO: "Note",
    Severity.GOOD: "Holds",
    Severity.INCONCLUSIVE: "Inconclusive",
}
_SHADE: Final = re.compile(r"(^|\s)(\.[sd]\d)")


@frozen(kw_only=True)
class _Cell:
    """What the template shows."""

    totals: str
    level: str
    several: bool
    found: tuple[JudgeFindings, ...]
    sections: tuple[Section, ...]
    named: tuple[str, ...]
    """Titles of sections that are not shown."""
    shown: int = _SHOWN

    @staticmethod
    def grade(finding: Finding) -> str:
        """Return the severity as the first word of a line."""
        return _GRADES[finding.severity]


@frozen
class NotebookReporter:
    """Writes a piece of HTML that works in any page: its style reaches nothing else, and nothing in it runs."""

    def render(self, report: RunReport) -> str:
        """Return the piece; the same report gives the same text."""
        report = finite(report)
        sections = tuple(shown_sections(report))
        cell = _Cell(
            totals=report.totals,
            level=f"{report.level:.0%}",
            several=len(report.tasks) > 1,
            found=tuple(findings_by_judge(report)),
            sections=tuple(each for each in sections if each.importance is not Importance.DETAIL),
            named=tuple(each.title for each in sections if each.importance is Importance.DETAIL),
        )
        shades = _SHADE.sub(r"\1.jrh-cell \2", source("shades.css"))
        style = trusted(source("notebook.css") + shades)
        return (
            environment()
            .get_template("notebook.html.j2")
            .render(report=report, cell=cell, flag_meanings=flag_meanings(report), style=style)
        )
