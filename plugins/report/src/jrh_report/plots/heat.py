"""Heat map: judges by tests, each cell with its number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from jrh import Measure
from jrh_measuring import format_estimate, format_interval, is_estimable

from jrh_report.by_test import Grid
from jrh_report.plots.drawing import label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DIGITS: Final = 2
_CELL: Final = (0.95, 0.46)
_LEFT: Final = 2.6
_TOP: Final = 1.1
_FOOT: Final = 0.35
_LONGEST: Final = 22
"""Characters of a test's name: more do not fit above the table."""
_DARK: Final = 0.45
_CENTRED: Final[dict[str, Any]] = {"ha": "center", "va": "center"}


def heat_map(found: Grid, tests: range, judges: range) -> Figure:
    """Draw some rows and columns of a grid; a cell without an estimate is hatched and says so."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    width, height = _LEFT + _CELL[0] * len(tests) + 0.2, _TOP + _CELL[1] * len(judges) + _FOOT
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (_LEFT / width, _FOOT / height, _CELL[0] * len(tests) / width, _CELL[1] * len(judges) / height)
    )
    colours = colormaps["cividis"]
    for down, judge in enumerate(judges):
        for across, test in enumerate(tests):
            measure = found.rows[judge].measures[test]
            _cell(axes, (across, down), measure, colours)
    axes.set(xlim=(0, len(tests)), ylim=(len(judges), 0))
    axes.set_xticks(
        [place + 0.5 for place in range(len(tests))], [label(found.tests[test], _LONGEST) for test in tests]
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for tick in axes.get_xticklabels():
        tick.set(rotation=35, ha="left", rotation_mode="anchor")
    axes.set_yticks([place + 0.5 for place in range(len(judges))], [label(found.rows[judge].label) for judge in judges])
    figure.text(0.01, 0.02, f"{label(found.title)}, task {label(found.task)}", va="bottom", weight="bold")
    for side in axes.spines.values():
        side.set_visible(False)
    return figure


def _cell(axes: Any, at: tuple[int, int], measure: Measure | None, colours: Any) -> None:
    from matplotlib.patches import Rectangle

    if measure is None or measure.estimate is None or not is_estimable(measure):
        axes.add_patch(Rectangle(at, 1, 1, facecolor="white", edgecolor="grey", hatch="///"))
        written = "-" if measure is None else "none"
        axes.text(at[0] + 0.5, at[1] + 0.5, written, ha="center", va="center", backgroundcolor="white")
        return
    share = min(max(measure.estimate, 0.0), 1.0)
    axes.add_patch(Rectangle(at, 1, 1, facecolor=colours(share), edgecolor="white"))
    ink = "white" if share < _DARK else "black"
    middle, interval = at[0] + 0.5, format_interval(measure, _DIGITS)
    axes.text(middle, at[1] + (0.36 if interval else 0.5), format_estimate(measure, _DIGITS), **_CENTRED, color=ink)
    axes.text(middle, at[1] + 0.72, interval, **_CENTRED, color=ink, size=6.5)
