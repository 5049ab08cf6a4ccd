"""The plots of a run, as files of a directory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from attrs import frozen
from jrh import RunReport

from jrh_report.asked import check_measures
from jrh_report.by_test import Grid, grid
from jrh_report.finite import finite
from jrh_report.options import PlotOptions
from jrh_report.overview import HEADINGS, MODEL_GOLD, RIGHT, of_models
from jrh_report.plots.drawing import settings, written
from jrh_report.plots.forest import forest_plot
from jrh_report.plots.heat import heat_map
from jrh_report.plots.plane import cost_plane, points

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TESTS: Final = 12
_JUDGES: Final = 20
"""Tests and judges of one plot; further ones are drawn in further files."""
_PARTS: Final = 10
"""Files of one plot at most; `index.txt` says what is not drawn."""
_NAME: Final = re.compile(r"[^a-z0-9]+")
_LONGEST: Final = 40


def build(options: PlotOptions) -> PlotReporter:
    """Build the reporter; a missing matplotlib shows here, before anything is written."""
    with settings():
        import matplotlib.figure  # noqa: F401

    return PlotReporter(options)


@frozen
class PlotReporter:
    """Draws heat maps and forest plots of every task and measure, and the cost plane of every task.

    `index.txt` lists the files and what they show.
    """

    options: PlotOptions

    def render(self, report: RunReport) -> Mapping[str, str | bytes]:
        """Return the files by name; the same report gives the same bytes with the same version of matplotlib.

        Raises:
            JrhError: a measure is asked for that the run does not have.
        """
        check_measures(report, "plots", self.options.measures, PlotOptions().measures)
        files: dict[str, str | bytes] = {}
        index: list[str] = []
        with settings():
            for name, figure, about in self._figures(finite(report)):
                for form in self.options.formats if figure is not None else ():
                    files[f"{name}.{form}"] = written(figure, form, self.options.dpi)  # type: ignore[arg-type]
                index.append(f"{name}: {about}" if figure is not None else about)
        simulated = ", ".join(sorted(report.simulated))
        marks = [f"Simulated judges (planted behaviour, no model): {_line(simulated)}"] if simulated else []
        lines = [f"Plots of {_line(report.suite)}", *marks, *(index or ["Nothing to plot."])]
        return {**files, "index.txt": "\n".join(lines) + "\n"}

    def _figures(self, report: RunReport) -> Iterator[tuple[str, Figure | None, str]]:
        for place, summary in enumerate(report.tasks, start=1):
            task = summary.task.name
            end = f"{place}-{_slug(task)}" if len(report.tasks) > 1 else _slug(task)
            for measure in self.options.measures:
                found = grid(report, task, measure)
                if found is None:
                    yield "", None, f"No {_line(measure)} of task {_line(task)}."
                    continue
                yield from _of_grid(found, f"{_slug(measure)}-{end}")
            drawn, unknown = points(report, task)
            right = MODEL_GOLD if of_models(report, task) else HEADINGS[RIGHT]
            if drawn:
                yield f"cost-{end}", cost_plane(task, drawn, unknown, right), f"cost and {right}, task {_line(task)}"
            else:
                yield "", None, f"No cost plane of task {_line(task)}: no judge has both a price and {right}."


def _of_grid(found: Grid, end: str) -> Iterator[tuple[str, Figure | None, str]]:
    parts = [
        (range(test, min(test + _TESTS, len(found.tests))), range(judge, min(judge + _JUDGES, len(found.rows))))
        for judge in range(0, len(found.rows), _JUDGES)
        for test in range(0, len(found.tests), _TESTS)
    ]
    about = f"{_line(found.title)}, task {_line(found.task)}"
    for number, (tests, judges) in enumerate(parts[:_PARTS], start=1):
        part = f"-part-{number}" if len(parts) > 1 else ""
        yield f"heat-{end}{part}", heat_map(found, tests, judges), about
        yield f"forest-{end}{part}", forest_plot(found, tests, judges), about
    if len(parts) > _PARTS:
        yield "", None, f"{about}: {len(parts) - _PARTS} of {len(parts)} parts are not drawn."


def _slug(text: str) -> str:
    return _NAME.sub("-", text.casefold())[:_LONGEST].strip("-") or "task"


def _line(text: str) -> str:
    from jrh.text import clean_text as clean

    return clean(text)
