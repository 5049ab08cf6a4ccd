"""Draws the parts of sections: heat maps, intervals side by side, and measures against numbers."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Final

from attrs import evolve
from jrh import Measure, RunReport
from jrh.text import visible_line
from jrh.values import MeasureRef
from jrh_measuring import (
    Axis,
    CurvePart,
    Drawing,
    HeatPart,
    Layer,
    MatrixPart,
    Panel,
    Series,
    colour,
    format_estimate,
    format_interval,
    is_estimable,
    linear_axis,
    logarithmic_axis,
    mark_simulated,
    shade_step,
)
from jrh_measuring.drawing import INK, LINE, SIZE

ROWS: Final = 80
"""Intervals of one plot; of more rows the first are drawn."""
PANELS: Final = 6
"""Panels of one plot; the table form has all."""
_SERIES: Final = 8
"""Series of one panel: as many as there are colours."""
_WIDTH: Final = 547
_LETTER: Final = 5.4
"""Width of a letter, about. All sizes are points."""
_NAME: Final = 26
_LONG: Final = 60
_ROW: Final = 14.4
_HEAD: Final = 9
_FOOT: Final = 40
_GAP: Final = 4
_ABREAST: Final = 2
_PANEL: Final = (250, 150)
_STEP: Final = (306, 212)
_LEFT: Final = 40
_TOP: Final = 26
_BEYOND: Final = 0.04
"""Room beyond the outermost values, as a share of their distance."""
_ROOM: Final = 30
"""Between two numbers of an axis, at least."""
_CELL: Final = (66, 30)
_SHADES: Final = ("#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#fee838")
"""Cividis: dark to light, for readers of all kinds of colour vision."""
_DARK: Final = 5


class PlotKind(StrEnum):
    """A kind of plot, which `data-plot` names; docs/gallery.md shows each."""

    HEAT = "heat"
    """Judges by tests, shaded; one for each measure that can be chosen."""
    FOREST = "forest"
    """Estimates with intervals, test by test."""
    MATRIX = "matrix"
    """Proportions, shaded."""
    PLANE = "plane"
    """Price against accuracy."""
    CURVE = "curve"
    """Measures against numbers, with the line fitted to them."""


def draw_forest(report: RunReport, part: HeatPart, layer: Layer, key: str) -> tuple[Drawing, int, int] | None:
    """Draw estimates and intervals of a layer, column by column, with how many are drawn and how many there are.

    Returns:
        None where nothing has an estimate.
    """
    groups = [(visible_line(name, _NAME), _marks(report, part, layer, at)) for at, name in enumerate(part.columns)]
    groups = [group for group in groups if group[1]]
    every = sum(len(marks) for _, marks in groups)
    if not every:
        return None
    # The first judges of every test, as the caption says.
    most = max(1, ROWS // len(groups))
    groups = [(name, marks[:most]) for name, marks in groups]
    drawn = [measure for _, marks in groups for _, measure, _ in marks]
    names = [short_name(report, row) for row in part.rows]
    left, right = max(map(len, names)) * _LETTER + 29, _WIDTH - 14
    bottom = _HEAD + sum(len(marks) + 1 for _, marks in groups) * _ROW
    drawing = Drawing(kind=PlotKind.FOREST, key=key, width=_WIDTH, height=bottom + _FOOT)
    axis = linear_axis(*_ends(drawn, layer.zero), left, right)
    drawing.across(axis, _HEAD, bottom, visible_line(layer.heading, _LONG))
    if layer.zero is not None:
        drawing.line(((axis.at(layer.zero), _HEAD), (axis.at(layer.zero), bottom)), INK, 0.9)
    y = _HEAD + _ROW / 2
    for number, (heading, marks) in enumerate(groups):
        if number:
            drawing.line(((left, y - _ROW / 2), (right, y - _ROW / 2)), LINE)
        drawing.text(6, y + 0.36 * SIZE, heading, bold=True)
        for row, measure, place in marks:
            y += _ROW
            drawing.text(left - _GAP, y + 0.36 * SIZE, names[row], anchor="end")
            if measure.interval is not None:
                both = ((axis.at(measure.interval.low), y), (axis.at(measure.interval.high), y))
                drawing.line(both, colour(row), 1.6, of=(place, "interval"))
            drawing.marker(axis.at(measure.estimate or 0.0), y, row, (place, "estimate"))
        y += _ROW
    return drawing, len(drawn), every


def _marks(report: RunReport, part: HeatPart, layer: Layer, column: int) -> list[tuple[int, Measure, int]]:
    """Return row, measure and its place of every estimate of a column."""
    cells = ((row, layer.cells[row][column]) for row, _ in enumerate(part.rows))
    places = ((row, cell.measure) for row, cell in cells if isinstance(cell, MeasureRef))
    marks = ((row, report.measures[place], place) for row, place in places)
    return [mark for mark in marks if is_estimable(mark[1])]


def _ends(measures: Sequence[Measure], zero: float | None) -> tuple[float, float]:
    """Return where an axis of estimates begins and ends."""
    # Shares have a fixed scale: an axis that follows the data makes small differences look large.
    values = [0.0, 1.0] if zero is None else [zero]
    for measure in filter(is_estimable, measures):
        values += [measure.estimate or 0.0]
        values += [measure.interval.low, measure.interval.high] if measure.interval else []
    room = _BEYOND * ((max(values) - min(values)) or 1.0)
    return min(values) - room, max(values) + room


def draw_heat(report: RunReport, part: HeatPart | MatrixPart, layer: Layer | None, key: str) -> Drawing:
    """Draw cells in the colour of their estimate: a layer of a heat map, or a matrix. Pages have tables instead."""
    rows = part.rows if isinstance(part, HeatPart) else [row.heads[0] for row in part.rows]
    columns = part.columns if isinstance(part, HeatPart) else [column.heading for column in part.columns]
    cells = [row.cells for row in part.rows] if isinstance(part, MatrixPart) else layer.cells if layer else ()
    names, heads = [short_name(report, row) for row in rows], [_with_end(column, _NAME) for column in columns]
    left, top = max(map(len, names), default=1) * _LETTER + 10, max(map(len, heads), default=1) * _LETTER * 0.6 + 16
    kind = PlotKind.HEAT if isinstance(part, HeatPart) else PlotKind.MATRIX
    width = left + (len(heads) - 0.5) * _CELL[0] + 1.4 * top
    title = visible_line(layer.heading if layer else part.caption, 2 * _LONG)
    width, height = max(width, len(title) * _LETTER), top + len(names) * _CELL[1] + 2.5 * SIZE
    drawing = Drawing(kind=kind, key=key, width=width, height=height)
    for across, head in enumerate(heads):
        drawing.text(left + (across + 0.5) * _CELL[0], top - 5, head, turned=35)
    for down, row in enumerate(cells):
        y = top + down * _CELL[1]
        drawing.text(left - _GAP, y + _CELL[1] / 2 + 0.36 * SIZE, names[down], anchor="end")
        for across, cell in enumerate(row):
            x = left + across * _CELL[0]
            measure = report.measures[cell.measure] if isinstance(cell, MeasureRef) else None
            shade = None if measure is None else shade_step(measure, layer.zero if layer else None)
            of = (cell.measure, "estimate") if isinstance(cell, MeasureRef) else None
            drawing.box(x, y, *_CELL, "#ffffff" if shade is None else _SHADES[shade], of)
            lines = ["-" if measure is None else "none"]
            if measure is not None and shade is not None:
                lines = [text for text in (format_estimate(measure, 2), format_interval(measure, 2)) if text]
            ink = "#ffffff" if shade is not None and shade < _DARK else "#111111"
            for at, text in enumerate(lines):
                size, spot = (SIZE, y + (13 if len(lines) > 1 else 18)) if at == 0 else (6.5, y + 23)
                drawing.text(x + _CELL[0] / 2, spot, text, anchor="middle", size=size, fill=ink)
    drawing.text(4, height - 6, title, bold=True)
    return drawing


def draw_curves(report: RunReport, part: CurvePart, key: str) -> Drawing:
    """Draw the panels of a part side by side, the first ones where there are too many."""
    panels = [evolve(panel, series=panel.series[:_SERIES]) for panel in part.panels[:PANELS]]
    plane = len(panels) == 1
    width, high = (_WIDTH - _LEFT - 16, 207) if plane else _PANEL
    legend = max(len(panel.series) for panel in panels) if any(_in_legend(panel) for panel in panels) else 0
    columns, rows = min(len(panels), _ABREAST), -(-len(panels) // _ABREAST)
    step, down = (width + 56, high + 62 + legend * 13)
    drawing = Drawing(kind=PlotKind(part.kind), key=key, width=_LEFT + columns * step - 10, height=rows * down)
    low, high_end = _range(report, panels)
    for at, panel in enumerate(panels):
        row, column = divmod(at, _ABREAST)
        left, top = _LEFT + 5 + column * step, _TOP + row * down
        bottom = top + high
        across = _horizontal(panel, part, left, left + width)
        up = linear_axis(low, high_end, bottom, top, 5)
        drawing.text(left + width / 2, top - SIZE, short_name(report, panel.heading), anchor="middle", bold=True)
        drawing.across(across, top, bottom, visible_line(part.across, _LONG))
        drawing.upwards(up, left, left + width, visible_line(part.up, _LONG) if column == 0 else "")
        if part.guide:
            drawing.line([(across.at(x), up.at(y)) for x, y in part.guide], INK, 1, dashed=True)
        for place, series in enumerate(panel.series):
            _draw_series(report, drawing, across, up, series, place)
            if _in_legend(panel):
                y = bottom + 4.2 * SIZE + place * 13
                drawing.line(((left, y - 3), (left + 14, y - 3)), colour(place), 1.2)
                drawing.marker(left + 7, y - 3, place)
                drawing.text(left + 20, y, visible_line(series.name, _LONG))
    return drawing


def _in_legend(panel: Panel) -> bool:
    """Tell whether the names of series stand in a legend: single spots are labelled where they are."""
    return any(series.name and len(series.spots) > 1 for series in panel.series)


def _draw_series(report: RunReport, drawing: Drawing, across: Axis, up: Axis, series: Series, place: int) -> None:
    spots = [(spot, report.measures[spot.measure]) for spot in series.spots]
    known = [(spot, measure) for spot, measure in spots if is_estimable(measure)]
    fitted = [(across.at(x), up.at(y)) for x, y in series.line if across.low <= x <= across.high]
    joined = fitted or [(across.at(spot.at), up.at(measure.estimate or 0.0)) for spot, measure in known]
    if len(joined) > 1:
        drawing.line(joined, colour(place), 1.2 if fitted else 0.8)
    if len(spots) > 1 and any(measure.missing for _, measure in spots):
        # A judge that stops answering looks steady in the curve of its verdicts alone.
        lost = [(across.at(spot.at), up.at(_missing_share(measure))) for spot, measure in spots]
        drawing.line(lost, colour(place), 0.8, dashed=True)
    for spot, measure in known:
        x = across.at(spot.at)
        if measure.interval is not None:
            ends = ((x, up.at(measure.interval.low)), (x, up.at(measure.interval.high)))
            drawing.line(ends, colour(place), 1.4, of=(spot.measure, "interval"))
        drawing.marker(x, up.at(measure.estimate or 0.0), place, (spot.measure, "estimate"))
        if len(spots) == 1 and series.name:
            name = short_name(report, series.name)
            # Near the right edge the name would leave the picture.
            inside = x + 6 + _LETTER * len(name) <= across.end
            anchor, aside = ("start", x + 6) if inside else ("end", x - 6)
            drawing.text(aside, up.at(measure.estimate or 0.0) - 5, name, anchor=anchor)
    if series.threshold is not None and series.threshold[0] in range(len(report.measures)):
        _draw_threshold(report, drawing, across, up, *series.threshold, place)


def _draw_threshold(
    report: RunReport, drawing: Drawing, across: Axis, up: Axis, at: int, height: float, place: int
) -> None:
    """Draw a measure that is a value of the horizontal axis."""
    measure = report.measures[at]
    if measure.estimate is None or not across.low <= measure.estimate <= across.high:
        return
    if measure.interval is not None:
        sides = [min(max(end, across.low), across.high) for end in (measure.interval.low, measure.interval.high)]
        drawing.line([(across.at(x), up.at(height)) for x in sides], colour(place), 1.0, of=(at, "interval"))
    x, y = across.at(measure.estimate), up.at(height)
    drawing.line(((x, y - 4), (x, y + 4)), colour(place), 1.6, of=(at, "estimate"))


def _missing_share(measure: Measure) -> float:
    """Return the share of trials without a verdict."""
    lost = sum(measure.missing.values())
    return lost / max(lost + measure.n_trials, 1)


def _range(report: RunReport, panels: Sequence[Panel]) -> tuple[float, float]:
    """Return the ends of the vertical axes: those of a share, or as far as the points reach beyond it."""
    spots = (spot for panel in panels for series in panel.series for spot in series.spots)
    return _ends([report.measures[spot.measure] for spot in spots], None)


def _horizontal(panel: Panel, part: CurvePart, start: float, end: float) -> Axis:
    places = sorted({spot.at for series in panel.series for spot in series.spots} | {x for x, _ in part.guide})
    named = any(len(series.spots) > 1 for series in panel.series)
    room = _BEYOND if named else 4 * _BEYOND  # single spots have their names next to them
    if part.logarithmic and places[-1] > 0 and len(places) > 1:
        axis = logarithmic_axis(places, start, end, room)
    else:
        margin = room * (places[-1] - places[0]) or 0.1 * abs(places[0]) or 0.5
        axis = linear_axis(places[0] - margin, places[-1] + margin, start, end, 6)
    at = [axis.at(place) for place in places]
    # Ticks at the measured values read best; where they are too close they would overlap.
    if not named or any(after - before < _ROOM for before, after in pairwise(at)):
        return axis
    return evolve(axis, ticks=[(place, f"{place:g}") for place in places])


def short_name(report: RunReport, name: str, limit: int = _NAME) -> str:
    """Return a name for a plot; the mark of a judge whose answers are made up stays."""
    return _with_end(mark_simulated(report, name), limit + len(mark_simulated(report, name)) - len(name))


def _with_end(name: str, limit: int) -> str:
    """Shorten a name; of a long one the middle is cut, not the mark or the size behind it: `(N=120)`."""
    line = visible_line(name)
    head, opened, tail = line.rpartition(" (")
    end = f" ({tail}" if opened and tail.endswith(")") and len(tail) <= limit else ""
    head, room = (head if end else line), max(limit - len(end), _NAME // 2)
    return (head if len(head) <= room else f"{head[: room - 1]}…") + end
