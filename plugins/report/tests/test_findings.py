"""Findings about the data stand beside the numbers they concern."""

from __future__ import annotations

from attrs import evolve
from jrh import Measure, RunReport
from jrh_report.findings import findings
from jrh_report.markdown import MarkdownReporter
from jrh_report.options import MarkdownOptions, TerminalOptions
from jrh_report.terminal import TerminalReporter
from jrh_testing import sample_report


def found(report: RunReport, judge: str = "", task: str | None = None) -> RunReport:
    measure = Measure(
        name="audit",
        judge=judge,
        task=report.tasks[0].task.name if task is None else task,
        cell={"finding": "constant-gold", "concerns": "as-expected"},
        estimate=1.0,
        flags=("finding",),
        note="every gold label is A (5 items). Always-A is the right answer.",
    )
    return evolve(report, measures=(*report.measures, measure))


TEXT = "every gold label is A (5 items). Always-A is the right answer. Concerns as-expected."


def test_a_finding_is_told_once_under_its_task_before_the_numbers() -> None:
    report = found(sample_report())
    terminal = TerminalReporter(TerminalOptions(color="never", width=200, full=True)).render(report)
    assert terminal.count(TEXT) == 1
    assert terminal.index("Task ") < terminal.index(TEXT) < terminal.index("  careful")
    markdown = MarkdownReporter(MarkdownOptions()).render(report)
    assert f"- {TEXT}" in markdown


def test_a_finding_of_another_task_is_not_told_here() -> None:
    report = found(sample_report(), task="elsewhere")
    assert findings(report, report.tasks[0].task.name) == []


def test_a_finding_about_a_judge_names_it_and_marks_a_simulated_one() -> None:
    report = found(sample_report(), judge="careless")
    assert findings(report, report.tasks[0].task.name) == [f"careless (simulated): {TEXT}"]


def test_a_report_without_findings_has_no_heading_for_them() -> None:
    assert "Findings" not in MarkdownReporter(MarkdownOptions()).render(sample_report())
