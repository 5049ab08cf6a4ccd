"""Writes the tables and figures of papers as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve, frozen
from jrh import RunReport
from jrh.text import clean_text
from jrh_measuring import markdown_text

from jrh_report.finite import finite
from jrh_report.options import PaperOptions
from jrh_report.papers import costs, harness, judgesense
from jrh_report.papers.cases import Cases
from jrh_report.papers.found import Found, unlike
from jrh_report.papers.sheet import Sheet

_PICTURES = ("svg", "png", "pdf")


@frozen
class PapersReporter:
    """Writes every table as CSV and LaTeX, every figure as SVG, PNG or PDF, and `index.md` with all tables.

    A table or figure without data is left out. Numbers come with interval, n and missing verdicts.
    """

    options: PaperOptions

    def render(self, report: RunReport) -> Mapping[str, str | bytes]:
        """Return the files by name; the same report gives the same bytes with the same version of matplotlib."""
        found = Found.of(finite(report))
        taken: set[str] = set()
        sheets = [evolve(sheet, name=unlike(sheet.name, taken)) for sheet in _sheets(found, self.options)]
        files: dict[str, str | bytes] = {}
        for sheet in sheets:
            if "csv" in self.options.formats:
                files[f"{sheet.name}.csv"] = sheet.csv()
        if "tex" in self.options.formats:
            head = r"% Needs \usepackage{booktabs,adjustbox}."
            shown = (sheet.tex(self.options.digits) for sheet in sheets if not sheet.per_case)
            files["tables.tex"] = "\n".join((head, *shown))
        drawn = []
        for name, pictures, about in self._figures(found):
            files |= pictures
            drawn.append(f"- `{name}`: {markdown_text(about, 200)}")
        simulated = ", ".join(sorted(report.simulated))
        lines = [f"# Tables and figures of {markdown_text(clean_text(report.suite), 120)}", ""]
        if simulated:
            lines += [f"Simulated judges (planted behaviour, no model): {markdown_text(simulated, 400)}", ""]
        lines += [sheet.markdown(self.options.digits) for sheet in sheets if not sheet.per_case]
        lines += [f"- `{sheet.name}.csv`: {sheet.title}. {sheet.note}" for sheet in sheets if sheet.per_case]
        lines += ["", "## Figures", "", *(drawn or ["None."])] if _pictures(self.options) else []
        return {**files, "index.md": "\n".join(lines if sheets or drawn else [*lines, "No tables."]) + "\n"}

    def _figures(self, found: Found) -> Iterator[tuple[str, dict[str, bytes], str]]:
        wanted = _pictures(self.options)
        if not wanted:
            return
        from jrh_report.papers.figures import figures
        from jrh_report.plots.drawing import settings, written

        taken: set[str] = set()
        with settings():
            for wished, figure, about in figures(found, apart=self.options.variants == "apart"):
                name = unlike(wished, taken)
                yield name, {f"{name}.{form}": written(figure, form, self.options.dpi) for form in wanted}, about


def _pictures(options: PaperOptions) -> tuple[str, ...]:
    return tuple(form for form in _PICTURES if form in options.formats)


def _sheets(found: Found, options: PaperOptions) -> Iterator[Sheet]:
    yield from harness.sheets(found, apart=options.variants == "apart")
    yield from judgesense.sheets(found)
    yield from (sheet for sheet in costs.sheets(found) if sheet.rows)
    yield from Cases(found.report).sheets()
