"""Plot correct verdicts against cost."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any, Final

from jrh import JrhError
from jrh.text import clean_text

from jrh_compare.results import Comparison, Point
from jrh_compare.wording import side

_STYLE: Final[dict[Any, Any]] = {
    "svg.hashsalt": "jrh",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "text.parse_math": False,
    "text.usetex": False,
}


def cost_svg(comparison: Comparison) -> bytes:
    """Draw every side of known price with its interval, and the Pareto frontier; the same findings give the same bytes.

    Raises:
        JrhError: No side has both a known price and a share of correct verdicts.
    """
    points = [point for point in comparison.curve if point.per_thousand is not None and point.correct is not None]
    if not points:
        raise JrhError(
            "--plot: no side has a known price and a share of correct verdicts; "
            "give the models a `price:` and run again"
        )
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # missing glyphs: the font draws boxes instead
        figure = Figure(figsize=(7.5, 4.8), layout="constrained")
        axes = figure.add_subplot()
        _draw(axes, points)
        hidden = len(comparison.curve) - len(points)
        title = f"Correct verdicts on the {points[0].cases} cases that all sides answered"
        axes.set_title(f"{title}\n{hidden} of unknown price not shown" if hidden else title, fontsize=10)
        axes.set_xlabel("US dollars per 1000 compared trials")
        axes.set_ylabel("share of correct verdicts, with intervals")
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": "jrh"})
    return out.getvalue()


def _draw(axes: object, points: Sequence[Point]) -> None:
    from matplotlib.axes import Axes

    assert isinstance(axes, Axes)
    frontier = sorted((point for point in points if point.frontier), key=_cost)
    axes.step([_cost(point) for point in frontier], [_correct(point) for point in frontier], where="post", color="0.6")
    for place, point in enumerate(points):
        low, high = (_correct(point) if end is None else end for end in (point.low, point.high))
        reach = [[_correct(point) - low], [high - _correct(point)]]
        axes.errorbar(
            [_cost(point)],
            [_correct(point)],
            yerr=reach,
            fmt="o" if point.frontier else "x",
            color=f"C{place % 10}",
            capsize=3,
            label=f"{place + 1}: {clean_text(side(point.side), 60)}{' (frontier)' if point.frontier else ''}",
        )
        axes.annotate(str(place + 1), (_cost(point), _correct(point)), (6, 3), textcoords="offset points", fontsize=8)
    axes.legend(fontsize=8, loc="best")


def _cost(point: Point) -> float:
    return point.per_thousand or 0.0


def _correct(point: Point) -> float:
    return point.correct or 0.0
