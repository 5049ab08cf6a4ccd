"""What was found about the data and the tests themselves: measures with the flag `finding`, told in words."""

from __future__ import annotations

from jrh import Measure, RunReport
from jrh.measuring import FINDING

from jrh_report.tables import judge_label


def findings(report: RunReport, task: str) -> list[str]:
    """Return the findings about a task in the order they were made, each as one text."""
    return [_text(report, measure) for measure in report.measures if measure.task == task and FINDING in measure.flags]


def _text(report: RunReport, measure: Measure) -> str:
    judge = f"{judge_label(report, measure.judge)}: " if measure.judge else ""
    concerns = measure.cell.get("concerns", "")
    return f"{judge}{measure.note}{f' Concerns {concerns}.' if concerns else ''}"
