"""The drawings of a report as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from attrs import frozen
from jrh import RunReport
from jrh.text import clean_text
from jrh.values import Part
from jrh_measuring import CurvePart, Drawing, HeatPart, MatrixPart, mark_simulated

from jrh_report.drawings import draw_curves, draw_forest, draw_heat
from jrh_report.tables import finite

_ABOUT: Final = "Estimates with intervals; report.json holds the same numbers."


@frozen
class PictureReporter:
    """Draws the heat maps, intervals, matrices and curves of all sections; `index.txt` says what each file shows."""

    def render(self, report: RunReport) -> Mapping[str, str | bytes]:
        """Return the files by name; the same report gives the same bytes."""
        report = finite(report)
        files, index = {}, [f"Plots of {clean_text(report.suite)}"]
        index += [f"Judge: {clean_text(mark_simulated(report, judge))}" for judge in report.judges]
        for name, title, svg in pictures(report):
            files[f"{name}.svg"] = svg
            index.append(f"{name}.svg: {title}")
        return {**files, "index.txt": "\n".join(index if files else [*index, "Nothing to plot."]) + "\n"}


def pictures(report: RunReport) -> Iterator[tuple[str, str, str]]:
    """Yield name, title and SVG of every drawing."""
    taken: set[str] = set()
    for section in report.sections:
        about = f", task {clean_text(section.task)}" if section.task else ""
        for part in section.parts:
            for kind, title, drawing in _draw_part(report, part):
                name = unlike(f"{section.name}{kind}{end_of(report, section.task)}", taken)
                yield name, f"{clean_text(title)}{about}", picture(drawing, f"{title}{about}")


def picture(drawing: Drawing, title: str) -> str:
    """Return a drawing as the text of an SVG file."""
    return drawing.markup(title, _ABOUT, file=True) + "\n"


def _draw_part(report: RunReport, part: Part) -> Iterator[tuple[str, str, Drawing]]:
    """Yield what is behind the name of a part's drawing, its title, and the drawing."""
    if isinstance(part, HeatPart):
        for place, layer in enumerate(layer for layer in part.layers if layer.drawn):
            kind, title = f"-{place + 1}" if place else "", layer.heading[:1].upper() + layer.heading[1:]
            yield kind, title, draw_heat(report, part, layer, "heat")
            if (forest := draw_forest(report, part, layer, "forest")) is not None:
                yield f"{kind}-intervals", title, forest[0]
    elif isinstance(part, MatrixPart):
        yield "", part.caption, draw_heat(report, part, None, "matrix")
    elif isinstance(part, CurvePart):
        yield "", part.caption, draw_curves(report, part, "curve")


def end_of(report: RunReport, task: str) -> str:
    """Return what file names of a task end with: nothing where there is one task only, otherwise what no other has."""
    if len(report.tasks) == 1 or not task:
        return ""
    taken: set[str] = set()
    ends = {summary.task.name: unlike(_slug(summary.task.name), taken) for summary in report.tasks}
    return f"-{ends[task]}"


def unlike(name: str, taken: set[str]) -> str:
    """Return the name, with a number if it is taken, and take it."""
    free, number = name, 2
    while free in taken:
        free, number = f"{name}-{number}", number + 1
    taken.add(free)
    return free


def _slug(text: str) -> str:
    """Return a text as part of a file's name."""
    letters = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in text.casefold())
    # A name of other letters alone leaves nothing of itself; `unlike` numbers the second one.
    return "-".join(part for part in letters.split("-") if part)[:40] or "task"
