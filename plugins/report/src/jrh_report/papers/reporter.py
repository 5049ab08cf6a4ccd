"""Writes the tables and figures of papers as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve, frozen
from jrh import Measure, RunReport
from jrh.text import clean_text
from jrh_measuring import markdown_text, served_note

from jrh_report.options import PaperOptions
from jrh_report.papers import cases, costs, sections
from jrh_report.papers.sheet import Sheet
from jrh_report.pictures import pictures, unlike
from jrh_report.tables import finite


@frozen
class PapersReporter:
    """Writes every table as CSV and LaTeX, every figure as SVG, and `index.md` with all tables.

    A table or figure without data is left out. Numbers come with interval, n and missing verdicts.
    """

    options: PaperOptions

    def render(self, report: RunReport) -> Mapping[str, str | bytes]:
        """Return the files by name; the same report gives the same bytes."""
        report = sections.with_sizes(finite(report), self.options.variants)
        taken: set[str] = set()
        # Plugins name their files without knowing of each other.
        sheets = [evolve(_with_served(report, sheet), name=unlike(sheet.name, taken)) for sheet in _sheets(report)]
        files: dict[str, str | bytes] = {}
        for sheet in sheets:
            if "csv" in self.options.formats:
                files[f"{sheet.name}.csv"] = sheet.csv()
        if "tex" in self.options.formats:
            head = r"% Needs \usepackage{booktabs,adjustbox}."
            shown = (sheet.tex(self.options.digits) for sheet in sheets if not sheet.per_case)
            files["tables.tex"] = "\n".join((head, *shown))
        drawn: list[str] = []
        if "svg" in self.options.formats:
            for name, title, svg in pictures(report):
                files[f"{name}.svg"] = svg
                drawn.append(f"- `{name}`: {markdown_text(title, 200)}")
        simulated = ", ".join(sorted(report.simulated))
        lines = [f"# Tables and figures of {markdown_text(clean_text(report.suite), 120)}", ""]
        if simulated:
            lines += [f"Simulated judges (planted behaviour, no model): {markdown_text(simulated, 400)}", ""]
        lines += [sheet.markdown(self.options.digits) for sheet in sheets if not sheet.per_case]
        lines += [f"- `{sheet.name}.csv`: {sheet.title}. {sheet.note}" for sheet in sheets if sheet.per_case]
        lines += ["", "## Figures", "", *(drawn or ["None."])] if "svg" in self.options.formats else []
        return {**files, "index.md": "\n".join(lines if sheets or drawn else [*lines, "No tables."]) + "\n"}


def _with_served(report: RunReport, sheet: Sheet) -> Sheet:
    cells = (cell.judge if isinstance(cell, Measure) else str(cell) for row in sheet.rows for cell in row)
    served = served_note(report.served, (*sheet.columns, *cells))
    return evolve(sheet, note=" ".join(filter(None, (sheet.note, served))))


def _sheets(report: RunReport) -> Iterator[Sheet]:
    yield from sections.sheets(report)
    yield from (sheet for sheet in (*costs.sheets(report), *cases.sheets(report)) if sheet.rows)
