"""Draws plots as SVG that stands in a page: no styles, colours of the page's theme, text as text, a title.

The plots of files are matplotlib's. The page draws its own: loading matplotlib and drawing with it took longer than
everything else that a small run does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from attrs import define, field
from markupsafe import Markup

from jrh_report.html.axis import Axis
from jrh_report.html.kinds import PlotKind

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

INK: Final = "currentColor"
LINE: Final = "var(--line)"
SIZE: Final = 9.0
"""Of text. All sizes are points."""
_TICK: Final = 3.5
_SERIES: Final = 8
_SHAPES: Final = (
    "M-2.5 0a2.5 2.5 0 1 0 5 0a2.5 2.5 0 1 0 -5 0z",
    "M-2.5 -2.5h5v5h-5z",
    "M0 -3.4l3.4 3.4l-3.4 3.4l-3.4 -3.4z",
    "M0 -3l3 5.5h-6z",
    "M0 3l3 -5.5h-6z",
    "M-1 -2.9h2v1.9h1.9v2h-1.9v1.9h-2v-1.9h-1.9v-2h1.9z",
    "M0 -1.4l1.6 -1.6l1.4 1.4l-1.6 1.6l1.6 1.6l-1.4 1.4l-1.6 -1.6l-1.6 1.6l-1.4 -1.4l1.6 -1.6l-1.6 -1.6l1.4 -1.4z",
    "M0 -3.5l.8 2.4h2.5l-2 1.5l.7 2.4l-2 -1.5l-2 1.5l.7 -2.4l-2 -1.5h2.5z",
)
"""One marker for each colour, so that no series is told by colour alone."""


def colour(series: int) -> str:
    """Return the colour of the series at a place; after eight they begin again."""
    return f"var(--series-{series % _SERIES})"


@define(kw_only=True)
class Drawing:
    """A plot that is being drawn; x goes right and y goes down from the upper left corner."""

    kind: PlotKind
    key: str
    """Distinct for every figure of the page; ids begin with it."""
    width: float
    height: float
    _root: Element = field(init=False)
    _markers: set[int] = field(init=False, factory=set)

    def __attrs_post_init__(self) -> None:
        """Begin with an empty picture."""
        from xml.etree.ElementTree import Element

        self._root = Element("svg", viewBox=f"0 0 {_number(self.width)} {_number(self.height)}")

    def line(
        self,
        points: Sequence[tuple[float, float]],
        stroke: str,
        width: float = 0.5,
        *,
        dashed: bool = False,
        of: tuple[int, str] | None = None,
    ) -> None:
        """Join points; `of` is the place of the measure and the part of it that the line shows."""
        from xml.etree.ElementTree import SubElement

        path = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        drawn = SubElement(self._group(of), "path", {"d": f"M{path}", "fill": "none", "stroke": stroke})
        drawn.set("stroke-width", _number(width))
        if dashed:
            drawn.set("stroke-dasharray", "3.7 1.6")

    def marker(self, x: float, y: float, series: int, of: tuple[int, str] | None = None) -> None:
        """Mark a point, of a measure or of the legend; see `line`."""
        from xml.etree.ElementTree import SubElement

        shape = series % _SERIES
        self._markers.add(shape)
        place = {"href": f"#{self.key}-marker-{shape}", "x": _number(x), "y": _number(y), "fill": colour(series)}
        SubElement(self._group(of), "use", place)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        size: float = SIZE,
        bold: bool = False,
        turned: bool = False,
    ) -> None:
        """Write a line of text that stands on the point, or, turned, runs upwards from it."""
        from xml.etree.ElementTree import SubElement

        place = {"x": _number(x), "y": _number(y), "text-anchor": anchor, "font-size": _number(size), "fill": INK}
        drawn = SubElement(self._root, "text", place | ({"font-weight": "bold"} if bold else {}))
        drawn.text = text
        if turned:
            drawn.set("transform", f"rotate(-90 {_number(x)} {_number(y)})")

    def across(self, axis: Axis, top: float, bottom: float, label: str) -> None:
        """Draw a horizontal axis at the bottom, its grid up to the top, its numbers and its name."""
        for value, name in axis.ticks:
            x = axis.at(value)
            self.line(((x, top), (x, bottom)), LINE)
            self.line(((x, bottom), (x, bottom + _TICK)), INK, 0.8)
            self.text(x, bottom + _TICK + SIZE, name, anchor="middle")
        self.line(((axis.start, bottom), (axis.end, bottom)), LINE, 0.8)
        self.text((axis.start + axis.end) / 2, bottom + _TICK + 2.3 * SIZE, label, anchor="middle")

    def upwards(self, axis: Axis, left: float, right: float, label: str) -> None:
        """Draw a vertical axis on the left, its grid to the right, its numbers and its name."""
        for value, name in axis.ticks:
            y = axis.at(value)
            self.line(((left, y), (right, y)), LINE)
            self.line(((left - _TICK, y), (left, y)), INK, 0.8)
            self.text(left - 2 * _TICK, y + 0.36 * SIZE, name, anchor="end")
        self.line(((left, axis.start), (left, axis.end)), LINE, 0.8)
        if label:
            self.text(left - 3.2 * SIZE, (axis.start + axis.end) / 2, label, anchor="middle", turned=True)

    def markup(self, title: str, description: str) -> Markup:
        """Return the `svg` element.

        Args:
            title: what it is, for those who do not see it.
            description: what it shows, and where the same numbers stand as text.
        """
        from xml.etree.ElementTree import Element, SubElement, tostring

        names = {"title": title, "desc": description}
        self._root.attrib |= {
            "role": "img",
            "data-plot": self.kind,
            "aria-labelledby": " ".join(f"{self.key}-{name}" for name in names),
        }
        head = [_with_text(Element(name, id=f"{self.key}-{name}"), text) for name, text in names.items()]
        if self._markers:
            shapes = Element("defs")
            for shape in sorted(self._markers):
                SubElement(shapes, "path", id=f"{self.key}-marker-{shape}", d=_SHAPES[shape])
            head.append(shapes)
        self._root[:0] = head
        return Markup(tostring(self._root, encoding="unicode", short_empty_elements=False))  # noqa: S704 - serialised

    def _group(self, of: tuple[int, str] | None) -> Element:
        from xml.etree.ElementTree import SubElement

        if of is None:
            return self._root
        return SubElement(self._root, "g", {"data-plotted": str(of[0]), "data-part": of[1]})


def _with_text(element: Element, text: str) -> Element:
    element.text = text
    return element


def _number(value: float) -> str:
    """Return a length with three digits after the point at most."""
    return f"{round(value, 3):.10g}"
