"""What a notebook shows of a run: its findings and its heat maps, as one piece of HTML without scripts."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.values import Importance, Severity

from jrh_report.findings import findings_by_judge
from jrh_report.html.parts import page_sections, trust_markup
from jrh_report.html.reporter import render_template, source
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


@frozen
class NotebookReporter:
    """Writes a piece of HTML that works in any page: its style reaches nothing else, and nothing in it runs."""

    def render(self, report: RunReport) -> str:
        """Return the piece; the same report gives the same text."""
        report = finite(report)
        sections = tuple(page_sections(report))
        # A notebook is one page for all cells: without the class in front, colours would reach other cells' tables.
        shades = _SHADE.sub(r"\1.jrh-cell \2", source("shades.css"))
        return render_template(
            "notebook.html.j2",
            report,
            judges=tuple(findings_by_judge(report)),
            grades=_GRADES,
            in_sight=_SHOWN,
            first=tuple(section for section in sections if section.importance is Importance.FIRST),
            sections=tuple(section for section in sections if section.importance is Importance.MAIN),
            details=tuple(section.title for section in sections if section.importance is Importance.DETAIL),
            style=trust_markup(source("notebook.css") + shades),
        )
