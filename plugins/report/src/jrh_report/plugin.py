"""Declares the reporters."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import ReporterSpec, hookimpl
from jrh.plugins import ReportTarget, SectionSpec

from jrh_report.options import (
    CsvOptions,
    HtmlOptions,
    LatexOptions,
    MarkdownOptions,
    PaperOptions,
    PdfOptions,
    TerminalOptions,
    XlsxOptions,
)

JRH_API_VERSION = 2


@hookimpl
def jrh_reporters() -> Iterable[ReporterSpec]:
    """Declare the reports; tables of the records, LaTeX and plots are written where they are named."""
    yield ReporterSpec(
        name="terminal",
        summary="judges by tests with intervals, printed at the end of a run",
        options=TerminalOptions,
        factory="jrh_report.terminal:TerminalReporter",
        target=ReportTarget.TERMINAL,
    )
    yield ReporterSpec(
        name="markdown",
        summary="the whole report for people: report.md",
        options=MarkdownOptions,
        factory="jrh_report.markdown:MarkdownReporter",
        filename="report.md",
    )
    yield ReporterSpec(
        name="html",
        summary="the whole report as one page for a browser, with plots and examples: report.html",
        options=HtmlOptions,
        factory="jrh_report.html.reporter:HtmlReporter",
        filename="report.html",
    )
    yield ReporterSpec(
        name="notebook",
        summary="findings and heat maps, which a notebook shows for the result of `jrh.run`: notebook.html",
        factory="jrh_report.html.notebook:NotebookReporter",
        target=ReportTarget.NOTEBOOK,
        filename="notebook.html",
        default=False,
    )
    yield ReporterSpec(
        name="json",
        summary="the whole report for programs: report.json",
        factory="jrh_report.json_report:JsonReporter",
        filename="report.json",
    )
    yield ReporterSpec(
        name="csv",
        summary="the records as a table, safe to open in a spreadsheet: records.csv",
        options=CsvOptions,
        factory="jrh_report.record_tables:CsvReporter",
        filename="records.csv",
        default=False,
    )
    yield ReporterSpec(
        name="parquet",
        summary="the records as a typed table: records.parquet",
        factory="jrh_report.record_tables:build_parquet",
        filename="records.parquet",
        default=False,
    )
    yield ReporterSpec(
        name="xlsx",
        summary="measures, tables and records as a workbook: report.xlsx",
        options=XlsxOptions,
        factory="jrh_report.workbook:build",
        filename="report.xlsx",
        default=False,
    )
    yield ReporterSpec(
        name="pdf",
        summary="the page of report.html, printed by Chromium: report.pdf",
        options=PdfOptions,
        factory="jrh_report.html.printing:build",
        filename="report.pdf",
        default=False,
    )
    yield ReporterSpec(
        name="latex",
        summary="judges by tests as papers print them: tables.tex",
        options=LatexOptions,
        factory="jrh_report.latex:LatexReporter",
        filename="tables.tex",
        default=False,
    )
    yield ReporterSpec(
        name="plots",
        summary="heat maps, intervals, matrices and curves as svg files: plots/",
        factory="jrh_report.pictures:PictureReporter",
        target=ReportTarget.DIRECTORY,
        filename="plots",
        default=False,
    )
    yield ReporterSpec(
        name="papers",
        summary="tables and figures as in papers about judges, as csv, LaTeX and svg: papers/",
        options=PaperOptions,
        factory="jrh_report.papers.reporter:PapersReporter",
        target=ReportTarget.DIRECTORY,
        filename="papers",
        default=False,
    )


@hookimpl
def jrh_sections() -> Iterable[SectionSpec]:
    """Declare the section of measures that carry a curve, whatever they are."""
    yield SectionSpec(
        name="curves",
        summary="measures against a level of their cells, where a metric asks for it",
        title="Curves",
        reads=("*",),
        factory="jrh_report.curves:Curves",
        kinds=("jrh_measuring:CurvePart",),
        order=70,
    )
