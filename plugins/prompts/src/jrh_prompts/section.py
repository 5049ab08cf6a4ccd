"""The section on prompt templates: agreement, constant verdicts apart, exclusions, and flips by pair and template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from attrs import evolve, frozen
from jrh import RunReport
from jrh.values import Column, MeasureRef, Row, Section, TablePart
from jrh_measuring import DEGENERATE, MeasureTable, ReportMeasures, section_of_task

PAIRS: Final = 40
"""Template pairs of a task that are listed, worst first; the others are counted."""
ROWS: Final = 150
"""Rows of the other tables."""
_JSS: Final = "jss"
_KAPPA: Final = "template-kappa"
_FLIPS: Final = "template-flip-rate"
_TEXT: Final = (
    "JSS is the share of template pairs whose verdicts on an item agree. Raw compares labels as presented; corrected "
    "compares what they mean. With an inverted template, only the corrected value describes the judge."
)
_SENSITIVITY: Final = MeasureTable(
    caption="Agreement between prompt templates",
    columns={
        "jss-raw": "JSS, raw",
        _JSS: "JSS, corrected",
        "jss-correction": "difference",
        _FLIPS: "flip rate",
        _KAPPA: "kappa",
    },
)
Cells: TypeAlias = dict[tuple[str, ...], MeasureRef]


@frozen
class PromptTemplates:
    """Shows how far verdicts agree between templates."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task whose templates were changed."""
        measures = ReportMeasures.of(report)
        for task in (summary.task.name for summary in report.tasks):
            parts = (
                *_apart(measures, task),
                _without(measures, task),
                _by_template(measures, task),
                _flips(measures, task),
                _template_pairs(measures, task),
            )
            yield section_of_task(task, _TEXT, parts)


def _apart(measures: ReportMeasures, task: str) -> tuple[TablePart | None, TablePart | None]:
    """Divide the rows: where all verdicts are one label, agreement is certain and says nothing."""
    whole = _SENSITIVITY.part(measures, task)
    if whole is None:
        return None, None
    flagged = {(each.judge, each.test) for _, each in measures.named(task, _KAPPA) if DEGENERATE in each.flags}
    constant = tuple(row for row in whole.rows if row.heads in flagged)
    others = tuple(row for row in whole.rows if row.heads not in flagged)
    shown = [place for place, column in enumerate(whole.columns) if column.measure != _KAPPA]
    degenerate = evolve(
        whole,
        caption="Constant verdicts: one label under every template, so agreement is certain and kappa is undefined",
        columns=tuple(whole.columns[place] for place in shown),
        rows=tuple(evolve(row, cells=tuple(row.cells[place] for place in shown)) for row in constant),
        more=0,
    )
    return (evolve(whole, rows=others) if others else None), (degenerate if constant else None)


def _without(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate what leaving out templates changes."""
    jss, kappa = _cells(measures, task, _JSS), _cells(measures, task, _KAPPA)
    left, kappas = _cells(measures, task, _JSS, "without"), _cells(measures, task, _KAPPA, "without")
    rows = tuple(
        Row(heads=key, cells=(jss.get(key[:2]), cell, kappa.get(key[:2]), kappas.get(key)))
        for key, cell in left.items()
    )
    headings = ((_JSS, "JSS, all"), (_JSS, "JSS, without"), (_KAPPA, "kappa, all"), (_KAPPA, "kappa, without"))
    columns = tuple(Column(heading=heading, measure=name) for name, heading in headings)
    return _table("Effect of leaving out templates", ("Judge", "Test", "left out"), columns, rows)


def _by_template(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate the agreement of each template with the others, with and without what is left out."""
    left = _cells(measures, task, _JSS, "template", "without")
    names = list(dict.fromkeys(name for *_, name in left))
    rows = tuple(
        Row(heads=key, cells=(cell, *(left.get((*key, name)) for name in names)))
        for key, cell in _cells(measures, task, _JSS, "template").items()
    )
    headings = ("JSS with all others", *(f"without {name}" for name in names))
    columns = tuple(Column(heading=heading, measure=_JSS) for heading in headings)
    return _table("Agreement of each template with the others", ("Judge", "Test", "template"), columns, rows)


def _flips(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate the flip rate of each template pair, judge by judge, the pair with the most flips first."""
    report, rates = measures.report, _cells(measures, task, _FLIPS, "pair")
    judges = [judge for judge in report.judges if any(judge == key[0] for key in rates)]
    if len(judges) < 2:  # noqa: PLR2004 - of one judge the pairs are listed anyway
        return None

    def total(key: tuple[str, ...]) -> float:
        cells = (rates.get((judge, *key)) for judge in judges)
        return sum(report.measures[cell.measure].estimate or 0.0 for cell in cells if cell is not None)

    keys = sorted(dict.fromkeys(key[1:] for key in rates), key=lambda key: -total(key))
    rows = tuple(
        Row(heads=(pair, test), cells=tuple(rates.get((judge, test, pair)) for judge in judges)) for test, pair in keys
    )
    marks = (f"{judge} (simulated)" if judge in report.simulated else judge for judge in judges)
    columns = tuple(Column(heading=judge, measure=_FLIPS) for judge in marks)
    return _table(
        "Flip rate of each template pair by judge, most flips first", ("templates", "Test"), columns, rows, PAIRS
    )


def _template_pairs(measures: ReportMeasures, task: str) -> TablePart | None:
    """Tabulate JSS per template pair, the least agreement first."""
    raw, corrected = _cells(measures, task, "jss-raw", "pair"), _cells(measures, task, _JSS, "pair")

    def estimate(cell: MeasureRef) -> float:
        value = measures.report.measures[cell.measure].estimate
        return 2.0 if value is None else value

    keys = sorted(corrected, key=lambda key: estimate(corrected[key]))
    rows = tuple(Row(heads=key, cells=(raw.get(key), corrected[key])) for key in keys)
    columns = tuple(Column(heading=_SENSITIVITY.columns[name], measure=name) for name in ("jss-raw", _JSS))
    caption = "Agreement of two templates' verdicts on the same items, least agreement first"
    return _table(caption, ("Judge", "Test", "templates"), columns, rows, PAIRS)


def _cells(measures: ReportMeasures, task: str, name: str, *levels: str) -> Cells:
    """Return the measures with these levels by judge, test and levels."""
    return {
        (measure.judge, measure.test, *(measure.cell[level] for level in levels)): MeasureRef(measure=place)
        for place, measure in measures.named(task, name, *levels)
    }


def _table(
    caption: str, heads: tuple[str, ...], columns: tuple[Column, ...], rows: tuple[Row, ...], limit: int = ROWS
) -> TablePart | None:
    if not rows:
        return None
    return TablePart(caption=caption, heads=heads, columns=columns, rows=rows[:limit], more=len(rows[limit:]))
