"""How a forest plot is laid out, on the page and in files: groups of names, each with a mark and its interval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen
from jrh import Measure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH: Final = 7.6
_RIGHT: Final = 0.2
_ROW: Final = 0.2
_HEAD: Final = 0.12
_FOOT: Final = 0.55
_EDGE: Final = 0.08
_GAP: Final = 0.06
"""All sizes are inches."""
_BESIDE: Final = 0.05
"""Room beside the outermost interval, as a share of the axis."""


@frozen(kw_only=True)
class Mark:
    """One line of the plot."""

    name: str
    series: int
    """Place among the series: its colour and marker."""
    measure: Measure | None
    """None: the name stands without a mark."""


@frozen(kw_only=True)
class Look:
    """What tells the plots of the page from those in files; colours of text and lines are matplotlib's settings."""

    left: float
    """Inches for the names."""
    size: float
    """Of the names, in points."""
    series: Callable[[int], Mapping[str, str]]
    """Place of a series -> its colour and marker."""
    gid: Callable[[Measure, str], str | None]
    """Measure and part (`interval`, `estimate`) -> id of what is drawn of it."""


def forest_figure(groups: Sequence[tuple[str, Sequence[Mark]]], look: Look, label: str, zero: float | None) -> Figure:
    """Draw groups of marks below each other.

    Names are texts and lines are put on the axes as they are: ticks and autoscaling would take twice as long.

    Args:
        groups: heading and lines of each.
        look: how it is drawn.
        label: of the axis.
        zero: where the line of no effect is; None: there is none, and the axis goes from 0 to 1.
    """
    from matplotlib import rcParams
    from matplotlib.figure import Figure

    lines = sum(len(marks) + 1 for _, marks in groups)
    height = lines * _ROW + _FOOT + _HEAD
    width = _WIDTH - look.left - _RIGHT
    figure = Figure(figsize=(_WIDTH, height))
    axes = figure.add_axes((look.left / _WIDTH, _FOOT / height, width / _WIDTH, lines * _ROW / height))
    across: dict[str, Any] = {"transform": axes.get_yaxis_transform()}
    at, borders = 0, []
    for heading, marks in groups:
        borders.append(at - 0.5)
        axes.text((_EDGE - look.left) / width, at, heading, weight="bold", va="center", **across)
        for mark in marks:
            at += 1
            axes.text(-_GAP / width, at, mark.name, ha="right", va="center", size=look.size, **across)
            if mark.measure is not None:
                _draw(axes, mark.measure, at, look, mark.series)
        at += 1
    axes.hlines(borders[1:], 0, 1, colors=rcParams["grid.color"], linewidth=0.5, zorder=0.5, **across)
    _frame(axes, lines, label)
    measures = [mark.measure for _, marks in groups for mark in marks if mark.measure is not None]
    axes.set_xlim(*_ends(measures, zero))
    if zero is not None:
        axes.axvline(zero, color=rcParams["text.color"], linewidth=0.9, zorder=1.9)
    return figure


def _draw(axes: Axes, measure: Measure, at: int, look: Look, series: int) -> None:
    from matplotlib.lines import Line2D

    drawn: dict[str, Any] = dict(look.series(series))
    marker = drawn.pop("marker")
    if measure.interval is not None:
        ends = (measure.interval.low, measure.interval.high)
        axes.add_artist(Line2D(ends, (at, at), linewidth=1.6, gid=look.gid(measure, "interval"), **drawn))
    place = (measure.estimate or 0.0,), (at,)
    gid = look.gid(measure, "estimate")
    axes.add_artist(Line2D(*place, marker=marker, markersize=5, linewidth=0, gid=gid, **drawn))


def _frame(axes: Axes, lines: int, label: str) -> None:
    axes.set_ylim(lines - 0.5, -0.6)
    axes.yaxis.set_visible(False)
    axes.set_axisbelow(True)
    axes.grid(axis="x", linewidth=0.5)
    axes.set_xlabel(label)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _ends(measures: Sequence[Measure], zero: float | None) -> tuple[float, float]:
    """Return where the axis begins and ends."""
    if zero is None:
        return -0.02, 1.02
    values = [zero, *(each.estimate or 0.0 for each in measures)]
    values += [end for each in measures if each.interval for end in (each.interval.low, each.interval.high)]
    room = _BESIDE * ((max(values) - min(values)) or 1.0)
    return min(values) - room, max(values) + room
