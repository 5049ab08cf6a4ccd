"""The cost-reliability plane of one task, with its Pareto frontier."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from jrh.text import visible_line
from markupsafe import Markup

from jrh_report.html.axis import Axis, linear, logarithmic
from jrh_report.html.cost import Worth
from jrh_report.html.kinds import PlotKind
from jrh_report.html.svg import INK, Drawing, colour
from jrh_report.overview import HEADINGS, RIGHT

_WIDE: Final = 20
"""The dearest judge costs so many times the cheapest: the axis is logarithmic."""
_WIDTH, _HEIGHT = 547, 259
_LEFT, _RIGHT, _TOP, _BOTTOM = 49, 531, 13, 220
"""Edges of the plane, in points."""
_LETTER: Final = 5.4
"""Width of a letter of a name, about."""
_BESIDE: Final = 0.15
"""Room beside the outermost judges, as a share of their distance."""


def plane(worths: Sequence[Worth], judges: Sequence[str], key: str, accuracy: str = HEADINGS[RIGHT]) -> Markup | None:
    """Draw agreement with gold against dollars of 1,000 questions; None without two known prices, one above 0.

    Args:
        worths: the judges of one task.
        judges: all judges of the run; each keeps its colour and marker.
        key: distinct for every figure of the page.
        accuracy: what agreement with the gold labels is called.
    """
    priced = [each for each in worths if each.priced]
    if len(priced) <= 1 or not any(each.per_thousand for each in priced):
        return None
    drawing = Drawing(kind=PlotKind.PLANE, key=key, width=_WIDTH, height=_HEIGHT)
    across = _prices([each.per_thousand or 0.0 for each in priced])
    up = linear(-0.02, 1.02, _BOTTOM, _TOP)
    drawing.across(across, _TOP, _BOTTOM, "US dollars for 1,000 questions")
    drawing.upwards(up, _LEFT, _RIGHT, f"{accuracy} in the reference condition")
    edge = sorted((each.per_thousand or 0.0, each.accuracy.estimate or 0.0) for each in priced if each.frontier)
    corners = [edge[0]] + [corner for (_, low), (x, high) in pairwise(edge) for corner in ((x, low), (x, high))]
    drawing.line([(across.at(x), up.at(y)) for x, y in corners], INK, 1, dashed=True)
    for each in priced:
        _judge(drawing, across, up, each, judges.index(each.judge))
    return drawing.markup(
        f"Cost and reliability, task {visible_line(priced[0].task)}",
        f"Judges by price and {accuracy}, with intervals; the dashed line joins the judges on the Pareto frontier. "
        "The table holds the same numbers.",
    )


def _prices(prices: Sequence[float]) -> Axis:
    """Let prices of several orders of magnitude stand apart."""
    if max(prices) >= _WIDE * min(price for price in prices if price):
        return logarithmic(prices, _LEFT, _RIGHT, _BESIDE)
    room = _BESIDE * ((max(prices) - min(prices)) or max(prices))
    return linear(min(prices) - room, max(prices) + room, _LEFT, _RIGHT)


def _judge(drawing: Drawing, across: Axis, up: Axis, worth: Worth, place: int) -> None:
    x, y = across.at(worth.per_thousand or 0.0), up.at(worth.accuracy.estimate or 0.0)
    number = worth.cell.measure
    interval = worth.accuracy.interval
    if interval is not None:
        ends = ((x, up.at(interval.low)), (x, up.at(interval.high)))
        drawing.line(ends, colour(place), 1.4, of=(number, "interval-plane"))
    drawing.marker(x, y, place, (number, "plane"))
    name = f"{visible_line(worth.judge, 24)} (simulated)" if worth.simulated else visible_line(worth.judge, 24)
    inside = x + 6 + _LETTER * len(name) <= _WIDTH
    drawing.text(x + 6 if inside else x - 6, y - 5, name, anchor="start" if inside else "end")
