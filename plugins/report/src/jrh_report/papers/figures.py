"""Figures as in papers: judges by tests with the majority, JSS by judge and task, confusion matrices, cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from jrh import Measure
from jrh.values import CurvePart, HeatPart, MatrixPart

from jrh_report.drawings import draw_curves, draw_forest, draw_heat
from jrh_report.papers.found import Found, end_of
from jrh_report.papers.harness import judges_by_tests
from jrh_report.papers.judgesense import is_constant, scores
from jrh_report.pictures import layer_of, picture
from jrh_report.tables import judge_label

_MOST: Final = 24
"""Columns or rows of a figure; the tables have all."""


def figures(found: Found, *, apart: bool) -> Iterator[tuple[str, str, str]]:
    """Yield name, SVG and what it shows."""
    report = found.report
    for task in found.tasks:
        end = end_of(report, task)
        sheet = judges_by_tests(found, task, apart=apart)
        cells = [[each for each in row if isinstance(each, Measure)] for row in sheet.rows] if sheet else []
        if sheet is not None and any(each.n_trials for row in cells for each in row):
            columns, names = sheet.columns[1 : _MOST + 1], [str(row[0]) for row in sheet.rows[:_MOST]]
            rows = [[each if isinstance(each, Measure) else None for each in row[1 : _MOST + 1]] for row in sheet.rows]
            part = _heat(found, f"{sheet.title}, task {task}", names, columns, rows[:_MOST])
            yield (
                f"judges-by-tests{end}",
                picture(draw_heat(report, part, part.layers[0], "heat"), part.caption),
                part.caption,
            )
        for section in report.sections:
            for drawn in section.parts if section.task == task else ():
                if isinstance(drawn, MatrixPart):
                    title = f"{drawn.caption}, task {task}"
                    yield f"confusion{end}", picture(draw_heat(report, drawn, None, "matrix"), title), title
                elif isinstance(drawn, CurvePart) and drawn.kind == "plane":
                    title = f"{drawn.caption}, task {task}"
                    yield f"cost{end}", picture(draw_curves(report, drawn, "plane"), title), title
    yield from _templates(found)


def _templates(found: Found) -> Iterator[tuple[str, str, str]]:
    places = scores(found)
    if not places:
        return
    report = found.report
    columns = list(dict.fromkeys((task, test) for task, _, test in places))[:_MOST]
    judges = [judge for judge in report.judges if any(place[1] == judge for place in places)][:_MOST]
    one_test = len({test for _, test in columns}) == 1
    cells = [[found.get("jss", task, judge, test) for task, test in columns] for judge in judges]
    heads = [_with_pairs(found, task if one_test else f"{task}: {test}", task, test) for task, test in columns]
    constant = [judge for judge in judges if any(is_constant(found, (task, judge, test)) for task, test in columns)]
    names = [f"{judge_label(report, judge)}{' *' if judge in constant else ''}" for judge in judges]
    title = "JSS by judge and task; N: verdicts; *: always the same label shown in a task"
    part = _heat(found, title, names, heads, cells)
    yield "templates", picture(draw_heat(report, part, part.layers[0], "heat"), title), title
    for place, (task, test) in enumerate(columns, start=1):
        own = [each[1] for each in places if (each[0], each[2]) == (task, test)][:_MOST]
        turned = any(found.get("jss-correction", task, judge, test) for judge in own)
        series = {"corrected": "jss"} | ({"raw": "jss-raw"} if turned else {})
        title = f"JSS {'raw and corrected for polarity' if turned else 'by judge'}, task {task}, test {test}"
        cells = [[found.get(name, task, judge, test) for name in series.values()] for judge in own]
        part = _heat(found, title, own, list(series), cells)
        if (forest := draw_forest(report, part, part.layers[0], "forest")) is not None:
            yield f"jss{f'-{place}' if len(columns) > 1 else ''}", picture(forest[0], title), title


def _with_pairs(found: Found, name: str, task: str, test: str) -> str:
    sizes = sorted({each.n_trials for each in found.named("jss", task) if each.test == test and not each.cell})
    return f"{name} (N={sizes[0]:,})" if len(sizes) == 1 else f"{name} (N={sizes[0]:,} to {sizes[-1]:,})"


def _heat(
    found: Found,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Measure | None]],
) -> HeatPart:
    places = {id(measure): place for place, measure in enumerate(found.report.measures)}
    of_cells = tuple(tuple(None if each is None else places[id(each)] for each in row) for row in cells)
    return HeatPart(caption=title, rows=tuple(rows), columns=tuple(columns), layers=(layer_of(title, of_cells),))
