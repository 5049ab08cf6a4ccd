"""The HTML report."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from attrs import frozen
from jrh import RunReport
from jrh.values import TaskSummary
from jrh_measuring import page_environment

from jrh_report import tables
from jrh_report.findings import cautions, flag_meanings
from jrh_report.html.answer import Answer, answers
from jrh_report.html.flips import Flips, collect
from jrh_report.html.parts import Section, shown_sections
from jrh_report.options import HtmlOptions
from jrh_report.tables import finite

if TYPE_CHECKING:
    from jinja2 import Environment


@frozen(kw_only=True)
class TaskPage:
    """What the page shows of one task besides the sections."""

    summary: TaskSummary
    about: str
    empty: tables.Table | None
    """Tests without a case."""
    findings: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the task's name."""
        return self.summary.task.name


@frozen(kw_only=True)
class Page:
    """What the page shows."""

    report: RunReport
    totals: str
    answers: tuple[Answer, ...]
    tasks: tuple[TaskPage, ...]
    sections: tuple[Section, ...]
    flips: Flips
    findings: tuple[str, ...]
    """Those of no task."""
    tables: tuple[tables.Table, ...]
    """About the run."""

    def marked(self, judge: str) -> str:
        """Return the judge's name, marked where its answers are made up."""
        return tables.judge_label(self.report, judge)

    def place_of(self, task: str) -> str:
        """Return the place of a task among the tasks, as text; empty where it is none of them."""
        names = [each.name for each in self.tasks]
        return str(names.index(task)) if task in names else ""

    @property
    def any_finding(self) -> bool:
        """Tell whether anything was found about the data or the tests."""
        return bool(self.findings) or any(each.findings for each in self.tasks)

    @property
    def any_caution(self) -> bool:
        """Tell whether any measure deserves caution."""
        return any(each.cautions for each in self.tasks)

    @property
    def unknown_prices(self) -> int:
        """Return the number of replies of unknown price."""
        return sum(each.unknown for each in self.report.spending)


def gather(report: RunReport, limit: int) -> Page:
    """Gather everything the page shows.

    Args:
        report: the run.
        limit: examples of each judge and task.
    """
    known = {summary.task.name for summary in report.tasks}
    return Page(
        report=report,
        totals=report.totals,
        answers=answers(report),
        tasks=tuple(_task(report, summary) for summary in report.tasks),
        sections=tuple(shown_sections(report)),
        flips=collect(report, limit),
        findings=_about(report, lambda task: task not in known),
        tables=tuple(tables.run_tables(report)),
    )


def _task(report: RunReport, summary: TaskSummary) -> TaskPage:
    name = summary.task.name
    empty = tuple(tables.empty_tests(report, name))
    return TaskPage(
        summary=summary,
        about=tables.task_line(summary),
        empty=tables.Table(title="Tests without cases", columns=("test", "why"), rows=empty) if empty else None,
        findings=_about(report, lambda task: task == name),
        cautions=tuple(cautions(report, name)),
    )


def _about(report: RunReport, chosen: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the sentences about the data and the tests of some tasks."""
    return tuple(each.sentence for each in report.findings if not each.judge and chosen(each.task))


@frozen
class HtmlReporter:
    """Writes the report as one file that asks for nothing: no request leaves it, and nothing in it is run text's code.

    Everything that is text of the run passes through `visible_text` and Jinja's escaping on its way into the page;
    style and script are constants, and the page's policy allows these two by their hashes and nothing else.
    """

    options: HtmlOptions

    def render(self, report: RunReport) -> str:
        """Return the page; the same report gives the same text."""
        style, script = source("style.css") + source("shades.css"), source("script.js")
        page = gather(finite(report), self.options.examples)
        return (
            environment()
            .get_template("page.html.j2")
            .render(
                page=page,
                flag_meanings=flag_meanings(report),
                policy=_policy(style, script),
                style=trusted(style),
                script=trusted(script),
            )
        )


def source(name: str) -> str:
    """Return a file of the page's templates."""
    return files("jrh_report.html").joinpath("templates", name).read_text(encoding="utf-8")


def trusted(source: str) -> object:
    """Mark a file of this package as markup."""
    from markupsafe import Markup

    return Markup(source)  # noqa: S704 - a file of this package


def _policy(style: str, script: str) -> str:
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


@cache
def environment() -> Environment:
    """Return the environment of the page's templates."""
    return page_environment("jrh_report.html", {})
