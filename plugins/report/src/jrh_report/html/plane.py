"""The cost-reliability plane of one task, with its Pareto frontier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from jrh.text import visible_line
from markupsafe import Markup

from jrh_report.html.cost import Worth
from jrh_report.html.svg import INK, inline, measure_id, series
from jrh_report.overview import HEADINGS, RIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_WIDE: Final = 20
"""The dearest judge costs so many times the cheapest: the axis is logarithmic."""


def plane(worths: Sequence[Worth], judges: Sequence[str], key: str, accuracy: str = HEADINGS[RIGHT]) -> Markup | None:
    """Draw agreement with gold against dollars of 1,000 questions; None without two known prices, one above 0.

    To be called within `settings()`.

    Args:
        worths: the judges of one task.
        judges: all judges of the run; each keeps its colour and marker.
        key: distinct for every figure of the page.
        accuracy: what agreement with the gold labels is called.
    """
    priced = [each for each in worths if each.priced]
    if len(priced) <= 1 or not any(each.per_thousand for each in priced):
        return None
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.6, 3.6))
    axes = figure.add_axes((0.09, 0.15, 0.88, 0.8))
    edge = sorted((each.per_thousand or 0.0, each.accuracy.estimate or 0.0) for each in priced if each.frontier)
    axes.step(*zip(*edge, strict=True), where="post", color=INK, linewidth=1, linestyle="--")
    for each in priced:
        _judge(axes, each, judges.index(each.judge))
    axes.set_xlabel("US dollars for 1,000 questions")
    axes.set_ylabel(f"{accuracy} in the reference condition")
    axes.set_ylim(-0.02, 1.02)
    axes.margins(x=0.15)
    _scale(axes, [each.per_thousand or 0.0 for each in priced])
    axes.set_axisbelow(True)
    axes.grid(linewidth=0.5)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return inline(
        figure,
        key,
        f"Cost and reliability, task {visible_line(priced[0].task)}",
        f"Judges by price and {accuracy}, with intervals; the dashed line joins the judges on the Pareto frontier. "
        "The table holds the same numbers.",
    )


def _scale(axes: Axes, prices: Sequence[float]) -> None:
    """Let prices of several orders of magnitude stand apart."""
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    least = min(price for price in prices if price)
    if max(prices) < _WIDE * least:
        return
    if min(prices) > 0:
        axes.set_xscale("log")
    else:
        axes.set_xscale("symlog", linthresh=least)
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _judge(axes: Axes, worth: Worth, place: int) -> None:
    look = series(place)
    at, right = worth.per_thousand or 0.0, worth.accuracy.estimate or 0.0
    number = worth.cell.measure
    interval = worth.accuracy.interval
    if interval is not None:
        axes.plot(
            (at, at),
            (interval.low, interval.high),
            color=look["color"],
            linewidth=1.4,
            gid=measure_id(number, "interval-plane"),
        )
    axes.plot(
        (at,), (right,), color=look["color"], marker=look["marker"], markersize=6, gid=measure_id(number, "plane")
    )
    name = f"{visible_line(worth.judge, 24)} (simulated)" if worth.simulated else visible_line(worth.judge, 24)
    axes.annotate(name, (at, right), xytext=(6, 5), textcoords="offset points", color=INK)
