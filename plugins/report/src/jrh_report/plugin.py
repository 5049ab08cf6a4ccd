"""Declares the reporters."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, ReporterSpec, hookimpl
from jrh.plugins import Reporter, ReportTarget

from jrh_report.options import (
    CsvOptions,
    HtmlOptions,
    JsonOptions,
    LatexOptions,
    MarkdownOptions,
    ParquetOptions,
    PlotOptions,
    TerminalOptions,
)


@hookimpl
def jrh_reporters() -> Iterable[ReporterSpec]:
    """Declare the reports; tables of the records, LaTeX and plots are written where they are named."""
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
        name="html",
        summary="the whole report as one page for a browser, with plots and examples: report.html",
        options=HtmlOptions,
        factory=_html,
        filename="report.html",
    )
    yield ReporterSpec(
        name="json",
        summary="the whole report for programs: report.json",
        options=JsonOptions,
        factory=_json,
        filename="report.json",
    )
    yield ReporterSpec(
        name="csv",
        summary="the records as a table, safe to open in a spreadsheet: records.csv",
        options=CsvOptions,
        factory=_csv,
        filename="records.csv",
        default=False,
    )
    yield ReporterSpec(
        name="parquet",
        summary="the records as a typed table: records.parquet",
        options=ParquetOptions,
        factory=_parquet,
        filename="records.parquet",
        default=False,
    )
    yield ReporterSpec(
        name="latex",
        summary="judges by tests as papers print them: tables.tex",
        options=LatexOptions,
        factory=_latex,
        filename="tables.tex",
        default=False,
    )
    yield ReporterSpec(
        name="plots",
        summary="heat maps, forest plots and the cost plane as svg or png files: plots/",
        options=PlotOptions,
        factory=_plots,
        target=ReportTarget.DIRECTORY,
        filename="plots",
        default=False,
    )


def _terminal(options: TerminalOptions, _context: BuildContext) -> Reporter:
    from jrh_report.terminal import TerminalReporter

    return TerminalReporter(options)


def _markdown(options: MarkdownOptions, _context: BuildContext) -> Reporter:
    from jrh_report.markdown import MarkdownReporter

    return MarkdownReporter(options)


def _html(options: HtmlOptions, _context: BuildContext) -> Reporter:
    from jrh_report.html.reporter import HtmlReporter

    return HtmlReporter(options)


def _json(options: JsonOptions, _context: BuildContext) -> Reporter:
    from jrh_report.json_report import JsonReporter

    return JsonReporter(options)


def _csv(options: CsvOptions, _context: BuildContext) -> Reporter:
    from jrh_report.csv_report import CsvReporter

    return CsvReporter(options)


def _parquet(options: ParquetOptions, _context: BuildContext) -> Reporter:
    import pyarrow.parquet  # noqa: F401 - so that its absence is told before anything is written

    from jrh_report.parquet_report import ParquetReporter

    return ParquetReporter(options)


def _latex(options: LatexOptions, _context: BuildContext) -> Reporter:
    from jrh_report.latex import LatexReporter

    return LatexReporter(options)


def _plots(options: PlotOptions, _context: BuildContext) -> Reporter:
    import matplotlib.figure  # noqa: F401 - as above

    from jrh_report.plots.reporter import PlotReporter

    return PlotReporter(options)
