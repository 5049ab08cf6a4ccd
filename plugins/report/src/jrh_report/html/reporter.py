"""The HTML report."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from attrs import frozen
from jrh import RunReport
from jrh.values import Importance
from jrh_measuring import format_estimate, format_interval, format_items, format_missing, page_environment
from jrh_measuring.sections import mark_simulated
from jrh_measuring.served_models import served_note

from jrh_report import tables
from jrh_report.findings import cautions, flag_meanings
from jrh_report.html.answer import answers
from jrh_report.html.flips import collect_flips
from jrh_report.html.parts import page_sections, trust_markup
from jrh_report.options import HtmlOptions
from jrh_report.tables import finite

if TYPE_CHECKING:
    from jinja2 import Environment


def _tasks(report: RunReport) -> Iterator[dict[str, Any]]:
    """Yield what the page shows of each task besides the sections."""
    for summary in report.tasks:
        name = summary.task.name
        empty = tuple(tables.empty_tests(report, name))
        yield {
            "name": name,
            "about": tables.task_line(summary),
            "without_cases": tables.Table(title="Tests without cases", columns=("test", "why"), rows=empty)
            if empty
            else None,
            "findings": [finding.sentence for finding in report.findings if not finding.judge and finding.task == name],
            "cautions": cautions(report, name),
        }


@frozen
class HtmlReporter:
    """Writes the report as one file that asks for nothing: no request leaves it, and nothing in it is run text's code.

    Everything that is text of the run passes through `visible_text` and Jinja's escaping on its way into the page;
    style and script are constants, and the page's policy allows these two by their hashes and nothing else.
    """

    options: HtmlOptions

    def render(self, report: RunReport) -> str:
        """Return the page; the same report gives the same text."""
        # Inline: the page is one file that asks for nothing.
        style, script = source("style.css") + source("shades.css"), source("script.js")
        report = finite(report)
        sections = tuple(page_sections(report))
        known = {summary.task.name for summary in report.tasks}
        return render_template(
            "page.html.j2",
            report,
            answers=answers(report),
            tasks=tuple(_tasks(report)),
            first=tuple(section for section in sections if section.importance is Importance.FIRST),
            sections=tuple(section for section in sections if section.importance is not Importance.FIRST),
            flips=collect_flips(report, self.options.examples),
            findings=[text.sentence for text in report.findings if not text.judge and text.task not in known],
            tables=tables.run_tables(report),
            policy=_policy(style, script),
            style=trust_markup(style),
            script=trust_markup(script),
        )


def source(name: str) -> str:
    """Return a file of the page's templates."""
    return files("jrh_report.html").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    # A page that is opened from a disk or an attachment has no server whose headers could say this.
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
        )
    )


def _digest(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}"


def render_template(name: str, report: RunReport, **shown: Any) -> str:
    """Return a template filled with a report and further variables."""
    return _environment().get_template(name).render(report=report, flag_meanings=flag_meanings(report), **shown)


@cache
def _environment() -> Environment:
    functions = (format_estimate, format_interval, format_items, format_missing, mark_simulated, served_note)
    return page_environment("jrh_report.html", {function.__name__: function for function in functions})
