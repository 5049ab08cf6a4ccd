"""Figures as in papers: heat maps with a row for the majority, JSS by judge and task, confusion matrices, cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from jrh import REFERENCE, Measure
from jrh_measuring import format_estimate, format_interval, format_number, is_estimable

from jrh_report.papers.costs import Price, prices
from jrh_report.papers.found import Found, end_of
from jrh_report.papers.harness import judges_by_tests
from jrh_report.papers.judgesense import is_constant, scores
from jrh_report.plots.drawing import NAME, label, look
from jrh_report.tables import judge_label

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CELL: Final = (1.02, 0.5)
_FOOT: Final = 0.35
_TOP: Final = 1.5
_PER_LETTER: Final = 0.082
"""Inches; the names of judges stand to the left."""
_DARK: Final = 0.45
_MOST: Final = 24
"""Columns or rows of a figure; the tables have all."""
_ACROSS: Final = 3
_MIDDLE: Final[dict[str, Any]] = {"ha": "center", "va": "center"}


def figures(found: Found, *, apart: bool) -> Iterator[tuple[str, Figure, str]]:
    """Yield name, figure and what it shows."""
    for task in found.tasks:
        end = end_of(found.report, task)
        yield from _judges_by_tests(found, task, end, apart=apart)
        yield from _confusion(found, task, end)
        yield from _cost(found, task, end)
    yield from _templates(found)


def _judges_by_tests(found: Found, task: str, end: str, *, apart: bool) -> Iterator[tuple[str, Figure, str]]:
    sheet = judges_by_tests(found, task, apart=apart)
    if sheet is None or not any(isinstance(cell, Measure) and cell.n_trials for row in sheet.rows for cell in row):
        return
    title = f"{sheet.title}, task {task}"
    cells = [[cell if isinstance(cell, Measure) else None for cell in row[1 : _MOST + 1]] for row in sheet.rows[:_MOST]]
    names = [str(row[0]) for row in sheet.rows[:_MOST]]
    yield f"judges-by-tests{end}", heat_map(title, names, list(sheet.columns[1 : _MOST + 1]), cells), title


def _templates(found: Found) -> Iterator[tuple[str, Figure, str]]:
    places = scores(found)
    if not places:
        return
    columns = list(dict.fromkeys((task, test) for task, _, test in places))[:_MOST]
    judges = [judge for judge in found.report.judges if any(place[1] == judge for place in places)][:_MOST]
    one_test = len({test for _, test in columns}) == 1
    cells = [[found.get("jss", task, judge, test) for task, test in columns] for judge in judges]
    hatched = [[is_constant(found, (task, judge, test)) for task, test in columns] for judge in judges]
    heads = [_with_pairs(found, task if one_test else f"{task}: {test}", task, test) for task, test in columns]
    title = "JSS by judge and task; N: verdicts; hatched: always the same label shown"
    names = [judge_label(found.report, judge) for judge in judges]
    yield "templates", heat_map(title, names, heads, cells, hatched), title
    for place, (task, test) in enumerate(columns, start=1):
        own = [each for each in places if (each[0], each[2]) == (task, test)][:_MOST]
        end = f"-{place}" if len(columns) > 1 else ""
        groups = [(judge_label(found.report, judge), found.get("jss", *each), found.get("jss-raw", *each))
                  for each in own for judge in (each[1],)]  # fmt: skip
        turned = any(found.get("jss-correction", *each) for each in own)
        title = f"JSS {'raw and corrected for polarity' if turned else 'by judge'}, task {task}, test {test}"
        series = {"corrected": [one for _, one, _ in groups]}
        if turned:
            series["raw"] = [raw for _, _, raw in groups]
        yield f"jss{end}", bars(title, [name for name, _, _ in groups], series), title


def named(name: str, limit: int = NAME) -> str:
    """Return a name for a plot; of a long one the middle is cut, not the mark or the size behind it: `(N=120)`."""
    head, opened, tail = name.rpartition(" (")
    if not opened or not tail.endswith(")") or len(tail) > limit // 2:
        return label(name, limit)
    return f"{label(head, limit - len(tail) - 2)} ({label(tail)}"


def _with_pairs(found: Found, name: str, task: str, test: str) -> str:
    sizes = sorted({each.n_trials for each in found.named("jss", task) if each.test == test and not each.cell})
    return f"{name} (N={sizes[0]:,})" if len(sizes) == 1 else f"{name} (N={sizes[0]:,} to {sizes[-1]:,})"


def heat_map(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Measure | None]],
    hatched: Sequence[Sequence[bool]] | None = None,
) -> Figure:
    """Draw cells with estimate and interval; without an estimate a cell is white and says so."""
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    left = 0.3 + _PER_LETTER * max(len(named(name)) for name in rows)
    # Headings are turned by 35 degrees: the last one reaches to the right of its column.
    right = 0.3 + _PER_LETTER * 0.8 * max(len(named(name)) for name in columns[-1:])
    wide, high = _CELL[0] * len(columns), _CELL[1] * len(rows)
    top = 0.25 + 0.5 * _PER_LETTER * max(len(named(name)) for name in columns)
    # A short table still has room for its title.
    width = max(left + wide + right, 0.3 + 0.075 * len(label(title, 120)))
    height = top + high + _FOOT
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, _FOOT / height, wide / width, high / height))
    colours = colormaps["cividis"]
    for down, row in enumerate(cells):
        for across, measure in enumerate(row):
            at, middle = (across, down), across + 0.5
            if measure is None or measure.estimate is None or not is_estimable(measure):
                axes.add_patch(Rectangle(at, 1, 1, facecolor="white", edgecolor="#bbbbbb"))
                axes.text(middle, down + 0.5, "-" if measure is None else "none", **_MIDDLE, color="#555555")
                continue
            share = min(max(measure.estimate, 0.0), 1.0)
            hatch = "///" if hatched is not None and hatched[down][across] else None
            # The hatch is drawn in the colour of the edge: pale, so that the number stays readable.
            axes.add_patch(
                Rectangle(at, 1, 1, facecolor=colours(share), edgecolor="#ffffff", hatch=hatch, linewidth=0.8)
            )
            ink = "white" if share < _DARK else "black"
            interval = format_interval(measure, 2)
            box = {"facecolor": colours(share), "edgecolor": "none", "pad": 1.5} if hatch else None
            axes.text(
                middle,
                down + (0.36 if interval else 0.5),
                format_estimate(measure, 2),
                **_MIDDLE,
                color=ink,
                bbox=box,
            )
            axes.text(middle, down + 0.72, interval, **_MIDDLE, color=ink, size=6.5, bbox=box)
    axes.set(xlim=(0, len(columns)), ylim=(len(rows), 0))
    axes.set_xticks([place + 0.5 for place in range(len(columns))], [named(name) for name in columns])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    for tick in axes.get_xticklabels():
        tick.set(rotation=35, ha="left", rotation_mode="anchor")
    axes.set_yticks([place + 0.5 for place in range(len(rows))], [named(name) for name in rows])
    figure.text(0.08 / width, 0.06 / height, label(title, 120), va="bottom", weight="bold")
    for side in axes.spines.values():
        side.set_visible(False)
    return figure


def bars(title: str, names: Sequence[str], series: Mapping[str, Sequence[Measure | None]]) -> Figure:
    """Draw a bar with its interval for every name and series, the lowest first."""
    from matplotlib.figure import Figure

    left, row = 0.3 + _PER_LETTER * max(len(named(name)) for name in names), 0.24 * len(series) + 0.14
    width, height = (
        max(left + 5.0, 0.3 + 0.075 * len(label(title, 120))),
        0.95 + row * len(names) + (0.3 if len(series) > 1 else 0),
    )
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((left / width, 0.8 / height, (width - left - 0.3) / width, row * len(names) / height))
    thick = 0.8 / len(series)
    for place, (name, found) in enumerate(series.items()):
        where = [spot + (place - (len(series) - 1) / 2) * thick for spot in range(len(names))]
        values = [0.0 if each is None or each.estimate is None else each.estimate for each in found]
        axes.barh(where, values, height=thick * 0.9, color=look(place)["color"], alpha=0.75, label=name)
        for at, each in zip(where, found, strict=True):
            if each is None or not is_estimable(each):
                axes.text(0.01, at, "not estimable", va="center", size=7)
            elif each.interval is not None:
                ends = (each.interval.low, each.interval.high)
                axes.plot(ends, (at, at), color="black", linewidth=1.1, solid_capstyle="butt")
    axes.set_yticks(range(len(names)), [named(name) for name in names])
    axes.set(xlim=(0, 1), ylim=(len(names) - 0.5, -0.5))
    axes.set_xlabel("JSS, with interval")
    axes.grid(axis="x", linewidth=0.5)
    axes.set_axisbelow(True)
    if len(series) > 1:
        axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, frameon=False)
    figure.text(0.08 / width, 0.06 / height, label(title, 120), va="bottom", weight="bold")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure


def _confusion(found: Found, task: str, end: str) -> Iterator[tuple[str, Figure, str]]:
    measures = found.named("confusion", task)
    if not measures:
        return
    labels = next(each.task.scale.labels for each in found.report.tasks if each.task.name == task)
    tests = dict.fromkeys(each.test for each in measures)
    for place, test in enumerate(tests):
        own = {(each.judge, each.cell["right"], each.cell["verdict"]): each for each in measures if each.test == test}
        judges = [judge for judge in found.report.judges if any(key[0] == judge for key in own)][:_MOST]
        title = f"Confusion matrices, task {task}, test {test}: share of verdicts by right label"
        name = f"confusion{end}" if test == REFERENCE else f"confusion{end}-{place}"
        yield name, _matrices(found, judges, labels, own, title), title


def _matrices(
    found: Found, judges: Sequence[str], labels: Sequence[str], own: dict[tuple[str, str, str], Measure], title: str
) -> Figure:
    from matplotlib import colormaps
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    side = 0.5 if len(labels) <= 6 else 0.36  # noqa: PLR2004 - more labels, smaller cells
    across = min(_ACROSS, len(judges))
    down = -(-len(judges) // across)
    gap, room = 0.6 + _PER_LETTER * max(len(label(each, 12)) for each in labels), 0.75
    width = max(0.3 + across * (side * len(labels) + gap + 0.5), 0.3 + 0.075 * len(label(title, 120)))
    height = 0.5 + down * (side * len(labels) + room)
    figure = Figure(figsize=(width, height))
    colours = colormaps["cividis"]
    for place, judge in enumerate(judges):
        column, row = place % across, place // across
        x = 0.3 + gap + column * (side * len(labels) + gap + 0.5)
        y = height - (row + 1) * (side * len(labels) + room) + room - 0.35
        axes = figure.add_axes((x / width, y / height, side * len(labels) / width, side * len(labels) / height))
        for i, right in enumerate(labels):
            for j, verdict in enumerate(labels):
                measure = own.get((judge, right, verdict))
                known = measure is not None and measure.estimate is not None
                share = measure.estimate if measure is not None and measure.estimate is not None else 0.0
                fill = colours(share) if known else "white"
                axes.add_patch(Rectangle((j, i), 1, 1, facecolor=fill, edgecolor="white"))
                ink = "white" if known and share < _DARK else "black"
                text = format_number(share, 2) if known else "-"
                axes.text(j + 0.5, i + 0.5, text, **_MIDDLE, color=ink, size=7)
        axes.set(xlim=(0, len(labels)), ylim=(len(labels), 0))
        spots = [spot + 0.5 for spot in range(len(labels))]
        axes.set_xticks(spots, [label(each, 12) for each in labels], size=7)
        axes.set_yticks(spots, [_with_size(each, own.get((judge, each, labels[0]))) for each in labels], size=7)
        axes.tick_params(length=0)
        axes.set_title(named(judge_label(found.report, judge), 30), size=8)
        axes.set_xlabel("verdict", size=7, labelpad=1)
        axes.set_ylabel("right label", size=7, labelpad=1)
        for edge in axes.spines.values():
            edge.set_visible(False)
    figure.text(0.08 / width, 0.06 / height, label(title, 120), va="bottom", weight="bold")
    return figure


def _with_size(right: str, measure: Measure | None) -> str:
    """Write a right label above the number of verdicts about items that have it."""
    return label(right, 12) if measure is None else f"{label(right, 12)}\nn={measure.n_trials}"


def _cost(found: Found, task: str, end: str) -> Iterator[tuple[str, Figure, str]]:
    known = [
        each
        for each in prices(found, task)
        if each.per_thousand is not None and each.right and is_estimable(each.right)
    ]
    tests = [test for test in (*found.report.tests, "") if sum(each.test == test for each in known) > 1]
    if not tests or not any(each.per_thousand for each in known):
        return
    title = f"Accuracy and cost of verdicts, task {task}; making the cases is not counted"
    yield f"cost{end}", _cost_panels(found, tests, known, title), title


def _cost_panels(found: Found, tests: Sequence[str], known: Sequence[Price], title: str) -> Figure:
    from matplotlib.figure import Figure

    tests = list(tests)[:_MOST]
    judges = [judge for judge in found.report.judges if any(each.judge == judge for each in known)]
    across = min(_ACROSS, len(tests))
    down = -(-len(tests) // across)
    width, height = 0.5 + 2.5 * across, 0.7 + 2.1 * down + 0.2 * -(-len(judges) // 3)
    figure = Figure(figsize=(max(width, 0.3 + 0.075 * len(label(title, 120))), height))
    foot = 0.45 + 0.2 * -(-len(judges) // 3)
    handles: dict[str, Any] = {}
    for place, test in enumerate(tests):
        column, row = place % across, place // across
        axes = figure.add_axes(
            (
                (0.65 + 2.5 * column) / figure.get_figwidth(),
                (foot + 0.4 + 2.1 * (down - 1 - row)) / height,
                1.95 / figure.get_figwidth(),
                1.45 / height,
            )
        )
        # Prompts differ in length from test to test, and so do prices: each panel has an axis of its own.
        dearest = max(each.per_thousand or 0.0 for each in known if each.test == test)
        for each in known:
            if each.test != test or each.right is None or each.per_thousand is None:
                continue
            style, value = look(judges.index(each.judge)), each.right.estimate or 0.0
            if each.right.interval is not None:
                ends = (each.right.interval.low, each.right.interval.high)
                axes.plot((each.per_thousand,) * 2, ends, color=style["color"], linewidth=1)
            (mark,) = axes.plot((each.per_thousand,), (value,), **style, linewidth=0)  # type: ignore[arg-type]
            handles.setdefault(each.judge, mark)
        axes.set(ylim=(-0.05, 1.07), xlim=(-0.05 * dearest, 1.1 * dearest))
        axes.set_title(label(test or "all tests", 30), size=8)
        axes.tick_params(labelsize=7)
        axes.grid(linewidth=0.5)
        if column == 0:
            axes.set_ylabel("accuracy", size=8)
        if place + across >= len(tests):
            axes.set_xlabel("dollars per 1,000 questions", size=7)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    figure.legend(
        list(handles.values()),
        [named(judge_label(found.report, judge), 30) for judge in handles],
        loc="lower left",
        bbox_to_anchor=(0.02, 0.28 / height),
        ncols=3,
        frameon=False,
        fontsize=7,
    )
    figure.text(0.08 / figure.get_figwidth(), 0.06 / height, label(title, 120), va="bottom", weight="bold")
    return figure
