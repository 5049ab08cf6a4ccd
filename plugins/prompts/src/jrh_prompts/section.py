"""The section on prompt templates: agreement, constant verdicts apart, exclusions, and flips by pair and template."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import fmean, stdev
from typing import Final, TypeAlias

from attrs import evolve, frozen
from jrh import RunReport
from jrh.values import Column, MeasureRef, Row, Section, TablePart
from jrh_measuring import CONSTANT_VERDICTS, DEGENERATE, HeatPart, Layer, MeasureTable, ReportMeasures, section_of_task
from jrh_measuring.sections import mark_simulated

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
    file="templates",
)
Cells: TypeAlias = dict[tuple[str, ...], MeasureRef]


@frozen
class PromptTemplates:
    """Shows how far verdicts agree between templates."""

    def sections(self, report: RunReport) -> Iterator[Section]:
        """Yield a section for each task whose templates were changed."""
        measures = ReportMeasures.of(report)
        if (heat := _over_tasks(measures)) is not None:
            yield Section(parts=(heat, *_spreads(measures)))
        for task in (summary.task.name for summary in report.tasks):
            parts = (
                _jss(measures, task),
                *_apart(measures, task),
                _without(measures, task),
                _by_template(measures, task),
                _flips(measures, task),
                _template_pairs(measures, task),
                _overlap(measures, task),
            )
            yield section_of_task(task, _TEXT, parts)


def _apart(measures: ReportMeasures, task: str) -> Iterator[TablePart]:
    """Divide the rows, sorted by JSS: a judge that gives one label under every template says nothing about them."""
    table = _SENSITIVITY.part(measures, task)
    if table is None:
        return
    flagged = _constant(measures, task)
    jss = _cells(measures, task, _JSS)
    rows = sorted(table.rows, key=lambda row: _rank(measures, jss.get(row.heads)))
    if steady := tuple(row for row in rows if row.heads not in flagged):
        yield evolve(table, rows=steady)
    if constant := tuple(row for row in rows if row.heads in flagged):
        # A table of their own: their perfect agreement would top the list.
        caption = "Judges that give one label under every template, which says nothing about the templates"
        yield evolve(table, caption=caption, rows=constant, file="templates-constant")


def _constant(measures: ReportMeasures, task: str) -> set[tuple[str, ...]]:
    """Return judges and tests with a single label, as shown or as meant."""
    about = (measure for name in (_JSS, "jss-raw", _KAPPA) for _, measure in measures.select(task, name))
    return {(measure.judge, measure.test) for measure in about if {DEGENERATE, CONSTANT_VERDICTS} & set(measure.flags)}


def _jss(measures: ReportMeasures, task: str) -> HeatPart | None:
    """Draw JSS as presented and as meant, judge by judge; None without any."""
    by_column = {
        (test, what): {judge: cell for (judge, of), cell in cells.items() if of == test}
        for what, name in (("raw", "jss-raw"), ("corrected", _JSS))
        if (cells := _cells(measures, task, name))
        for test in dict.fromkeys(test for _, test in cells)
    }
    several = len({test for test, _ in by_column}) > 1
    columns = {f"{test}: {what}" if several else what: cells for (test, what), cells in by_column.items()}
    return _heat(measures, "JSS by judge, raw and corrected for polarity", "Labels", columns, _constant(measures, task))


def _over_tasks(measures: ReportMeasures) -> HeatPart | None:
    """Draw JSS by judge and task; None for a single task."""
    columns: dict[str, dict[str, MeasureRef]] = {}
    flagged: set[tuple[str, ...]] = set()
    for task in (summary.task.name for summary in measures.report.tasks):
        cells = _cells(measures, task, _JSS)
        flagged |= _constant(measures, task)
        for judge, test in cells:
            columns.setdefault(f"{task}: {test}", {})[judge] = cells[judge, test]
    return _heat(measures, "JSS by judge and task", "Task", columns, flagged) if len(columns) > 1 else None


def _spreads(measures: ReportMeasures) -> Iterator[TablePart]:
    """Tabulate how far JSS differs between the judges of a task, and between the tasks of a judge."""
    by_task: dict[str, dict[str, MeasureRef]] = {}
    by_judge: dict[str, dict[str, MeasureRef]] = {}
    for task in (summary.task.name for summary in measures.report.tasks):
        cells = _cells(measures, task, _JSS)
        several = len({test for _, test in cells}) > 1
        for (judge, test), cell in cells.items():
            place = f"{task}: {test}" if several else task
            by_task.setdefault(place, {})[judge] = by_judge.setdefault(judge, {})[place] = cell
    for head, groups, over in (("Task", by_task, "judges"), ("Judge", by_judge, "tasks")):
        rows = [
            Row(heads=(name,), cells=(len(known), fmean(values), stdev(values), cells[low], low, cells[high], high))
            for name, cells in groups.items()
            if len(known := _known(measures, cells)) > 1
            for values, low, high in [
                ([*known.values()], min(known, key=known.__getitem__), max(known, key=known.__getitem__))
            ]
        ]
        headings = (over, "mean", "SD", "lowest", "lowest of", "highest", "highest of")
        yield TablePart(
            caption=f"JSS over {over}",
            heads=(head,),
            columns=tuple(Column(heading=heading) for heading in headings),
            rows=tuple(rows),
            note=f"SD: between {over}, n - 1.",
            file=f"jss-over-{over}",
        )


def _known(measures: ReportMeasures, cells: Mapping[str, MeasureRef]) -> dict[str, float]:
    values = {name: measures.report.measures[cell.measure].estimate for name, cell in cells.items()}
    return {name: value for name, value in values.items() if value is not None}


def _heat(
    measures: ReportMeasures,
    caption: str,
    head: str,
    columns: Mapping[str, Mapping[str, MeasureRef]],
    flagged: set[tuple[str, ...]],
) -> HeatPart | None:
    judges = [judge for judge in measures.report.judges if any(judge in cells for cells in columns.values())]
    if not judges:
        return None
    # A judge that always gives one label agrees with itself everywhere; the map has to say so.
    constant = ", ".join(judge for judge in judges if judge in {judge for judge, _ in flagged})
    meaning = "share of template pairs whose verdicts on an item agree"
    return HeatPart(
        caption=caption,
        heads=("Judge", head),
        rows=tuple(judges),
        columns=tuple(columns),
        layers=(
            Layer(
                heading="JSS",
                meaning=f"{meaning}; always the same label: {constant}" if constant else meaning,
                cells=tuple(tuple(cells.get(judge) for cells in columns.values()) for judge in judges),
                # The tables of the section show the same numbers with their intervals.
                tabled=False,
            ),
        ),
    )


def _without(measures: ReportMeasures, task: str) -> TablePart:
    """Tabulate what leaving out templates changes."""
    jss, kappa = _cells(measures, task, _JSS), _cells(measures, task, _KAPPA)
    left, kappas = _cells(measures, task, _JSS, "without"), _cells(measures, task, _KAPPA, "without")
    rows = tuple(
        Row(heads=key, cells=(jss.get(key[:2]), cell, kappa.get(key[:2]), kappas.get(key)))
        for key, cell in left.items()
    )
    headings = ((_JSS, "JSS, all"), (_JSS, "JSS, without"), (_KAPPA, "kappa, all"), (_KAPPA, "kappa, without"))
    columns = tuple(Column(heading=heading, measure=name) for name, heading in headings)
    return _table("Effect of leaving out templates", ("Judge", "Test", "left out"), columns, rows, "templates-left-out")


def _by_template(measures: ReportMeasures, task: str) -> TablePart:
    """Tabulate the agreement of each template with the others, with and without what is left out."""
    left = _cells(measures, task, _JSS, "template", "without")
    names = list(dict.fromkeys(name for *_, name in left))
    rows = tuple(
        Row(heads=key, cells=(cell, *(left.get((*key, name)) for name in names)))
        for key, cell in _cells(measures, task, _JSS, "template").items()
    )
    headings = ("JSS with all others", *(f"without {name}" for name in names))
    columns = tuple(Column(heading=heading, measure=_JSS) for heading in headings)
    caption = "Agreement of each template with the others"
    return _table(caption, ("Judge", "Test", "template"), columns, rows, "templates-each")


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
    columns = tuple(Column(heading=mark_simulated(report, judge), measure=_FLIPS) for judge in judges)
    caption = "Flip rate of each template pair by judge, most flips first"
    return _table(caption, ("templates", "Test"), columns, rows, shown=PAIRS)


def _template_pairs(measures: ReportMeasures, task: str) -> TablePart:
    """Tabulate JSS per template pair, the least agreement first."""
    by_measure = {name: _cells(measures, task, name, "pair") for name in ("jss-raw", _JSS, _FLIPS)}
    keys = sorted(by_measure[_JSS], key=lambda key: _rank(measures, by_measure[_JSS][key]))
    rows = tuple(Row(heads=key, cells=tuple(cells.get(key) for cells in by_measure.values())) for key in keys)
    columns = tuple(Column(heading=_SENSITIVITY.columns[name], measure=name) for name in by_measure)
    caption = "Agreement of two templates' verdicts on the same items, least agreement first"
    return _table(caption, ("Judge", "Test", "templates"), columns, rows, "template-pairs", shown=PAIRS)


def _overlap(measures: ReportMeasures, task: str) -> TablePart:
    """Tabulate how many judges flip a pair of templates."""
    entries = [
        (measure.test, measure.cell.get("pair", ""), measure.cell.get("judges", every), place)
        for name, levels, every in (
            ("flipping-judges", ("pair",), ""),
            ("flipped-by", ("judges",), ""),
            ("flipped-by-every-judge", (), "every judge with verdicts on both sides"),
        )
        for place, measure in measures.select(task, name, *levels)
    ]
    rows = tuple(Row(heads=tuple(heads), cells=(MeasureRef(measure=place),)) for *heads, place in entries)
    columns = (Column(heading="share"),)
    part = _table("Pairs that several judges flip", ("Test", "templates", "flipped by"), columns, rows, "pair-overlap")
    note = "By pair: the mean share of judges that flip it. By number of judges: the share of items and pairs."
    return evolve(part, note=note)


def _rank(measures: ReportMeasures, cell: MeasureRef | None) -> float:
    """Return the estimate to sort rows by, the lowest agreement first; 2 comes after every share."""
    value = None if cell is None else measures.report.measures[cell.measure].estimate
    return 2.0 if value is None else value


def _cells(measures: ReportMeasures, task: str, name: str, *levels: str) -> Cells:
    """Return the measures with these levels by judge, test and levels."""
    return {
        (measure.judge, measure.test, *(measure.cell[level] for level in levels)): MeasureRef(measure=place)
        for place, measure in measures.select(task, name, *levels)
    }


def _table(
    caption: str,
    heads: tuple[str, ...],
    columns: tuple[Column, ...],
    rows: tuple[Row, ...],
    file: str = "",
    *,
    shown: int = ROWS,
) -> TablePart:
    return TablePart(caption=caption, heads=heads, columns=columns, rows=rows, shown=shown, file=file)
