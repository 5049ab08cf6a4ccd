"""Gathers what the page shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from attrs import frozen
from jrh import Json, RunReport
from jrh.text import visible_text
from jrh.values import TaskSummary
from jrh_measuring import moving_tests
from markupsafe import Markup

from jrh_report import tables
from jrh_report.flags import cautions
from jrh_report.html import panels
from jrh_report.html.answer import Answer, answers
from jrh_report.html.cost import HALF_WIDTH, CostRow, Worth, cost_rows, worths
from jrh_report.html.declared_sections import declared_sections
from jrh_report.html.flips import Flips, collect
from jrh_report.html.forest import Forest, forest
from jrh_report.html.found import Cell, Found
from jrh_report.html.further import sections
from jrh_report.html.heat import LENSES, MIXED, HeatMap, Lens, heat_maps
from jrh_report.html.listing import Table, by_test, flags_of
from jrh_report.html.plane import plane
from jrh_report.html.section import Section
from jrh_report.overview import HEADINGS, MODEL_GOLD, RIGHT, of_models


@frozen(kw_only=True)
class TaskPage:
    """What the page shows of one task."""

    report: RunReport
    number: int
    summary: TaskSummary
    about: str
    heat: tuple[HeatMap, ...]
    forests: tuple[Forest, ...]
    ordinal: Table | None
    matrices: tuple[panels.Matrix, ...]
    more_matrices: int
    """Confusion matrices that are left out."""
    accuracy: str
    """What agreement with the gold labels is called."""
    worths: tuple[Worth, ...]
    plane: Markup | None
    empty: tables.Table | None
    """Tests without a case."""
    findings: tuple[str, ...]
    cautions: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the task's name."""
        return self.summary.task.name

    @property
    def panel_cells(self) -> Iterator[Cell | str | None]:
        """Yield what stands in the panels."""
        yield from self.ordinal.cells if self.ordinal is not None else ()
        for matrix in self.matrices:
            yield from (cell for _, cells in matrix.rows for cell in cells)


@frozen(kw_only=True)
class Page:
    """What the page shows."""

    report: RunReport
    totals: str
    answers: tuple[Answer, ...]
    lenses: tuple[Lens, ...]
    tasks: tuple[TaskPage, ...]
    sections: tuple[Section, ...]
    costs: tuple[CostRow, ...]
    half_width: float
    flips: Flips
    findings: tuple[str, ...]
    """Those of no task."""
    missing: tables.Table | None
    attrition: tables.Table | None
    faults: tables.Table | None
    components: tables.Table | None

    def marked(self, judge: str) -> str:
        """Return the judge's name, marked where its answers are made up."""
        return tables.judge_label(self.report, judge)

    def place_of(self, task: str) -> str:
        """Return the place of a task among the tasks, as text; empty where it is none of them."""
        names = [each.name for each in self.tasks]
        return str(names.index(task)) if task in names else ""

    @property
    def has_panels(self) -> bool:
        """Tell whether any task has a panel."""
        return any(each.ordinal or each.matrices for each in self.tasks)

    @property
    def heat_flags(self) -> frozenset[str]:
        """Return the flags that occur in heat maps."""
        return flags_of(cell for task in self.tasks for heat in task.heat for row in heat.rows for cell in row.cells)

    @property
    def panel_flags(self) -> frozenset[str]:
        """Return the flags that occur in panels."""
        return flags_of(cell for task in self.tasks for cell in task.panel_cells)

    @property
    def cost_flags(self) -> frozenset[str]:
        """Return the flags of what accuracy costs."""
        return flags_of(each.cell for task in self.tasks for each in task.worths)

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

    @property
    def costs_unknown(self) -> tuple[int, ...]:
        """Return the cost lines with replies of unknown price."""
        return tuple(place for place, each in enumerate(self.report.spending) if each.unknown)

    @staticmethod
    def money(amount: float | None) -> str:
        """Write an amount of US dollars to four significant digits; never more digits than cents of small change."""
        if amount is None:
            return "unknown"
        return f"${amount:,.2f}" if amount >= _CENTS_FROM else f"${amount:.4g}"

    @staticmethod
    def option(value: Json) -> str:
        """Write the value of an option."""
        return visible_text(json.dumps(value, ensure_ascii=False, default=str), _OPTION)


_CENTS_FROM: Final = 100
_OPTION: Final = 600
"""Characters of an option's value that are shown."""


def gather(report: RunReport, limit: int) -> Page:
    """Gather everything the page shows.

    Args:
        report: the run.
        limit: examples of each judge and task.
    """
    found, moving = Found.of(report), moving_tests(report.records)
    known = {summary.task.name for summary in report.tasks}
    tasks = tuple(_task(found, number, summary, moving) for number, summary in enumerate(report.tasks))
    return Page(
        report=report,
        totals=report.totals,
        answers=answers(found),
        lenses=_lenses(heat.lens for task in tasks for heat in task.heat),
        tasks=tasks,
        sections=(*declared_sections(found), *sections(found)),
        costs=cost_rows(found),
        half_width=HALF_WIDTH,
        flips=collect(report, limit),
        findings=_about(report, lambda task: task not in known),
        missing=tables.missing_verdicts(report),
        attrition=tables.attrition(report),
        faults=tables.faults(report),
        components=tables.components(report),
    )


def _lenses(seen: Iterable[Lens]) -> tuple[Lens, ...]:
    """Return the lenses that show anything, each once; one that tasks name differently has its general name."""
    named: dict[str, set[Lens]] = {}
    for lens in seen:
        named.setdefault(lens.key, set()).add(lens)
    return tuple(named[lens.key].pop() if len(named[lens.key]) == 1 else MIXED for lens in LENSES if lens.key in named)


def _about(report: RunReport, chosen: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the sentences about the data and the tests of some tasks."""
    return tuple(each.sentence for each in report.findings if not each.judge and chosen(each.task))


def _task(found: Found, number: int, summary: TaskSummary, moving: Mapping[str, frozenset[str]]) -> TaskPage:
    name = summary.task.name
    heat = heat_maps(found, name, moving)
    bought = worths(found, name)
    accuracy = MODEL_GOLD if of_models(found.report, name) else HEADINGS[RIGHT]
    return TaskPage(
        number=number,
        summary=summary,
        about=tables.task_line(summary),
        heat=heat,
        report=found.report,
        forests=tuple(_forests(found, number, heat)),
        **_panels(found, summary),
        accuracy=accuracy,
        worths=bought,
        plane=plane(bought, found.report.judges, f"plane-{number}", accuracy),
        empty=_empty(found.report, name),
        findings=_about(found.report, lambda task: task == name),
        cautions=tuple(cautions(found.report, name)),
    )


def _empty(report: RunReport, task: str) -> tables.Table | None:
    found = tables.empty_tests(report, task)
    return tables.Table(title="Tests without cases", columns=("test", "why"), rows=tuple(found)) if found else None


def _forests(found: Found, number: int, heat: tuple[HeatMap, ...]) -> Iterator[Forest]:
    for each in heat:
        drawn = forest(found, each, f"forest-{number}-{each.lens.key}")
        if drawn is not None:
            yield drawn


def _panels(found: Found, summary: TaskSummary) -> dict[str, Any]:
    name = summary.task.name
    matrices, more = panels.matrices(found, name, summary.task.scale) if summary.task.scale.ordered else ((), 0)
    return {
        "ordinal": by_test(found, name, panels.ORDINAL, "Agreement with the gold levels"),
        "matrices": matrices,
        "more_matrices": more,
    }
