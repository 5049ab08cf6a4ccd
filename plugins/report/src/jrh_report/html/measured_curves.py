"""Plots of measures that carry a curve: points with intervals against a level of their cells, and a fitted line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

from attrs import evolve, frozen
from jrh import Measure
from jrh.text import visible_line
from jrh.values import Curve
from jrh_measuring import format_counts
from markupsafe import Markup

from jrh_report.html.axis import Axis, linear, logarithmic
from jrh_report.html.found import Found
from jrh_report.html.kinds import PlotKind
from jrh_report.html.section import Part, Plot
from jrh_report.html.svg import SIZE, Drawing, colour

JUDGES: Final = 6
"""Judges whose curves are drawn; the tables hold those of the others."""
PLOTS: Final = 12
"""Figures of one task."""
_SERIES: Final = 8
"""Series of one judge: as many as there are colours."""
_POINTS: Final = 400
_ABREAST: Final = 2
_WIDTH: Final = 250
_HEIGHT: Final = 150
_STEP: Final = (306, 212)
_LEFT: Final = 40
_HEAD: Final = 26
_ROW: Final = 13
_NAME: Final = 60
_BEYOND: Final = 0.04
_ROOM: Final = 30
"""Between two numbers of an axis, at least."""
_LARGEST: Final = 1e12
"""Beyond it an axis has no readable numbers; NaN is not below it either."""
_CAPTION: Final = "{points} against {label}, test {test} of {task}.{missing}{more}"
Spot = tuple[float, Measure]
Key = tuple[str, str, Curve]


@frozen(kw_only=True)
class Series:
    """One curve of one judge."""

    name: str
    owner: Measure
    curve: Curve
    points: tuple[Spot, ...]
    """The place on the horizontal axis, and the measure that stands there."""


def measured_curves(found: Found) -> tuple[Part, ...]:
    """Return the plots of every task of the run."""
    owners: dict[str, dict[tuple[str, str, str], list[Measure]]] = {}
    for measure in found.report.measures:
        if measure.curve is not None:
            key = measure.test, measure.curve.of, measure.curve.over
            owners.setdefault(measure.task, {}).setdefault(key, []).append(measure)
    parts = []
    for number, summary in enumerate(found.report.tasks):
        task = summary.task.name
        plots: list[Plot] = []
        for of in owners.get(task, {}).values():
            plot = _plot(found, task, of, f"curve-{number}-{len(plots)}")
            plots += [plot] if plot is not None and len(plots) < PLOTS else []
        if plots:
            parts.append(Part(task=task, tables=(), plots=tuple(plots)))
    return tuple(parts)


def _plot(found: Found, task: str, owners: Sequence[Measure], key: str) -> Plot | None:
    by_judge: dict[str, list[Series]] = {}
    for owner in owners:
        by_judge.setdefault(owner.judge, []).extend(_series(found, owner))
    order = {judge: place for place, judge in enumerate(found.report.judges)}
    panels = {
        judge: drawn[:_SERIES]
        for judge, drawn in sorted(by_judge.items(), key=lambda each: order.get(each[0], len(order)))
        if drawn
    }
    if not panels:
        return None
    few = dict(list(panels.items())[:JUDGES])
    curve = owners[0].curve
    assert curve is not None
    name = f"{visible_line(curve.points).capitalize()}, test {owners[0].test}, task {task}"
    return Plot(
        name=name,
        svg=_draw(found, few, curve, key, name),
        abreast=min(len(few), _ABREAST) + 1,
        caption=_CAPTION.format(
            points=visible_line(curve.points).capitalize(),
            label=visible_line(curve.label),
            test=owners[0].test,
            task=task,
            missing=_missing(few),
            more=_more(panels, by_judge),
        ),
    )


def _series(found: Found, owner: Measure) -> Iterator[Series]:
    """Yield the curves of a measure: one for each value of the other levels of its points."""
    curve = owner.curve
    if curve is None:
        return
    by_rest: dict[tuple[tuple[str, str], ...], list[Spot]] = {}
    for each in found.parts.get((owner.task, curve.of), ()):
        if (each.judge, each.test) != (owner.judge, owner.test) or not owner.cell.items() <= each.cell.items():
            continue
        place = _number(each.cell.get(curve.over, ""))
        if place is None or (curve.logarithmic and place < 0):
            continue
        rest = tuple((name, value) for name, value in each.cell.items() if name != curve.over)
        by_rest.setdefault(rest, []).append((place, each))
    for rest, spots in by_rest.items():
        name = ", ".join(f"{level} {value}" for level, value in rest)
        points = tuple(sorted(spots, key=lambda spot: spot[0])[:_POINTS])
        if any(each.estimate is not None or each.missing for _, each in points):
            yield Series(name=name, owner=owner, curve=curve, points=points)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) <= _LARGEST else None


def _missing(panels: Mapping[str, Sequence[Series]]) -> str:
    counts: dict[str, int] = {}
    for each in (point for drawn in panels.values() for one in drawn for _, point in one.points):
        for status, number in each.missing.items():
            counts[status] = counts.get(status, 0) + number
    return f" Trials without a verdict: {format_counts(counts)}." if counts else ""


def _more(panels: Mapping[str, Sequence[Series]], every: Mapping[str, Sequence[Series]]) -> str:
    parts = []
    if len(panels) > JUDGES:
        parts.append(f" The curves of the first {JUDGES} of {len(panels)} judges are drawn.")
    most = max(map(len, every.values()))
    if most > _SERIES:
        parts.append(f" Of {most} curves of a judge, {_SERIES} are drawn.")
    return "".join(parts)


def _draw(found: Found, panels: Mapping[str, Sequence[Series]], curve: Curve, key: str, name: str) -> Markup:
    legend = max(len(drawn) for drawn in panels.values())
    legend = legend if any(one.name for drawn in panels.values() for one in drawn) else 0
    columns, rows = min(len(panels), _ABREAST), -(-len(panels) // _ABREAST)
    down = _STEP[1] + legend * _ROW
    drawing = Drawing(kind=PlotKind.CURVE, key=key, width=_LEFT + columns * _STEP[0] - 10, height=rows * down)
    series = [one for drawn in panels.values() for one in drawn]
    low, high = _range(series)
    for at, (judge, drawn) in enumerate(panels.items()):
        row, column = divmod(at, _ABREAST)
        left, top = _LEFT + column * _STEP[0], _HEAD + row * down
        bottom = top + _HEIGHT
        across = _across(series, curve, left, left + _WIDTH)
        up = linear(low, high, bottom, top, 5)
        mark = " (simulated)" if judge in found.report.simulated else ""
        drawing.text(
            left + _WIDTH / 2, top - SIZE, f"{_short(judge or 'all judges')}{mark}", anchor="middle", bold=True
        )
        drawing.across(across, top, bottom, _short(curve.label))
        drawing.upwards(up, left, left + _WIDTH, _short(curve.points) if column == 0 else "")
        for place, one in enumerate(drawn):
            _draw_series(found, drawing, across, up, one, place)
            if one.name:
                y = bottom + 4.2 * SIZE + place * _ROW
                drawing.line(((left, y - 3), (left + 14, y - 3)), colour(place), 1.2)
                drawing.marker(left + 7, y - 3, place)
                drawing.text(left + 20, y, _short(one.name))
    return drawing.markup(name, "Points with intervals. The tables of further measures hold the same numbers.")


def _draw_series(found: Found, drawing: Drawing, across: Axis, up: Axis, one: Series, place: int) -> None:
    known = [(x, each) for x, each in one.points if each.estimate is not None]
    fitted = [(across.at(x), up.at(y)) for x, y in one.curve.line[:_POINTS] if across.low <= x <= across.high]
    joined = fitted or [(across.at(x), up.at(each.estimate or 0.0)) for x, each in known]
    if len(joined) > 1:
        drawing.line(joined, colour(place), 1.2 if fitted else 0.8)
    lost = [(across.at(x), up.at(_lost(each))) for x, each in one.points if each.n_trials or each.missing]
    if len(lost) > 1 and any(each.missing for _, each in one.points):
        drawing.line(lost, colour(place), 0.8, dashed=True)
    for x, each in known:
        at = found.place(each)
        if each.interval is not None:
            ends = ((across.at(x), up.at(each.interval.low)), (across.at(x), up.at(each.interval.high)))
            drawing.line(ends, colour(place), 1.4, of=(at, "interval"))
        drawing.marker(across.at(x), up.at(each.estimate or 0.0), place, (at, "estimate"))
    owner, height = one.owner, one.curve.height
    if height is None or owner.estimate is None or not across.low <= owner.estimate <= across.high:
        return
    at = found.place(owner)
    if owner.interval is not None:
        sides = [min(max(end, across.low), across.high) for end in (owner.interval.low, owner.interval.high)]
        drawing.line([(across.at(x), up.at(height)) for x in sides], colour(place), 1.0, of=(at, "interval"))
    x = across.at(owner.estimate)
    drawing.line(((x, up.at(height) - 4), (x, up.at(height) + 4)), colour(place), 1.6, of=(at, "estimate"))


def _lost(each: Measure) -> float:
    """Return the share of trials without a verdict."""
    lost = sum(each.missing.values())
    return lost / max(lost + each.n_trials, 1)


def _range(series: Sequence[Series]) -> tuple[float, float]:
    """Return the ends of the vertical axis: those of a share, or as far as the points reach beyond it."""
    values = [0.0, 1.0]
    for each in (point for one in series for _, point in one.points):
        values += [] if each.estimate is None else [each.estimate]
        values += [] if each.interval is None else [each.interval.low, each.interval.high]
    beside = _BEYOND * (max(values) - min(values))
    return min(values) - beside, max(values) + beside


def _across(series: Sequence[Series], curve: Curve, start: float, end: float) -> Axis:
    places = sorted({x for one in series for x, _ in one.points})
    if curve.logarithmic and places[-1] > 0 and len(places) > 1:
        return _at_places(logarithmic(places, start, end, _BEYOND), places)
    beside = _BEYOND * (places[-1] - places[0]) or 0.1 * abs(places[0]) or 0.5
    return _at_places(linear(places[0] - beside, places[-1] + beside, start, end, 6), places)


def _at_places(axis: Axis, places: Sequence[float]) -> Axis:
    """Write the places themselves below the axis, where there is room for all."""
    at = [axis.at(each) for each in places]
    if any(after - before < _ROOM for before, after in pairwise(at)):
        return axis
    return evolve(axis, ticks=[(each, f"{each:g}") for each in places])


def _short(text: str) -> str:
    line = visible_line(text)
    return line if len(line) <= _NAME else f"{line[: _NAME - 1]}…"
