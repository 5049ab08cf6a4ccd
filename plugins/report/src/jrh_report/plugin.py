"""Declares the reporters."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, Reporter, ReporterSpec, ReportTarget, hookimpl

from jrh_report.options import JsonOptions, MarkdownOptions, TerminalOptions


@hookimpl
def jrh_reporters() -> Iterable[ReporterSpec]:
    """Declare the terminal, Markdown and JSON reports."""
    yield ReporterSpec(
        name="terminal",
        summary="judges by tests with intervals, printed at the end of a run",
        options=TerminalOptions,
        factory=_terminal,
        target=ReportTarget.TERMINAL,
    )
    yield ReporterSpec(
        name="markdown",
        summary="the whole report for people: report.md",
        options=MarkdownOptions,
        factory=_markdown,
        filename="report.md",
    )
    yield ReporterSpec(
        name="json",
        summary="the whole report for programs: report.json",
        options=JsonOptions,
        factory=_json,
        filename="report.json",
    )


def _terminal(options: TerminalOptions, _context: BuildContext) -> Reporter:
    from jrh_report.terminal import TerminalReporter

    return TerminalReporter(options)


def _markdown(options: MarkdownOptions, _context: BuildContext) -> Reporter:
    from jrh_report.markdown import MarkdownReporter

    return MarkdownReporter(options)


def _json(options: JsonOptions, _context: BuildContext) -> Reporter:
    from jrh_report.json_report import JsonReporter

    return JsonReporter(options)
