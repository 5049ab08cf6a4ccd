"""Draw plots as SVG: axes, lines, markers and text, in the colours of the page around them or of a file.

No plotting library: loading one and drawing with it takes longer than everything else that a small run does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from attrs import define, field, frozen
from jrh.text import visible_line

if TYPE_CHECKING:
    # At the top for types alone; what draws loads it, since most runs draw nothing.
    from xml.etree.ElementTree import Element

INK: Final = "currentColor"
LINE: Final = "var(--line)"
SIZE: Final = 9.0
"""Of text. All sizes are points."""
_TICK: Final = 3.5
_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#4d4d4d", "#8c564b")
"""After Okabe and Ito (2008): told apart also by readers who do not see red or green."""
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
"""One marker for each colour, so that no series relies on colour alone."""
# With 10, because the least step may lie between 5 and 10 times its power of ten.
_STEPS: Final = (1.0, 2.0, 5.0, 10.0)
_DIGITS: Final = 6
"""After the point, at most; smaller steps are written with a power of ten."""
_FEW: Final = 3
"""Decades; where an axis has no more of them, 2 and 5 are written as well."""


def colour(series: int) -> str:
    """Return the colour of the series at a place; after eight they begin again."""
    return f"var(--series-{series % len(_COLOURS)})"


@frozen(kw_only=True)
class Axis:
    """A scale from values to places of the drawing."""

    low: float
    high: float
    start: float
    """Place of `low`, in points."""
    end: float
    """Place of `high`."""
    ticks: Sequence[tuple[float, str]]
    """Values that are written, and how."""
    scale: Callable[[float], float] = field(default=float)
    """The place of a value is linear in `scale(value)`."""

    def at(self, value: float) -> float:
        """Return the place of a value."""
        low, high = self.scale(self.low), self.scale(self.high)
        return self.start + (self.end - self.start) * (self.scale(value) - low) / (high - low)


def linear_axis(low: float, high: float, start: float, end: float, count: int = 7) -> Axis:
    """Return a linear axis with at most `count` round numbers."""
    step = _step(low, high, count)
    # The slack is for rounding: 0.3 / 0.1 is a little less than 3.
    values = [place * step for place in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    ticks = [(value, _format_tick(value, step)) for value in values]
    return Axis(low=low, high=high, start=start, end=end, ticks=ticks)


def logarithmic_axis(values: Sequence[float], start: float, end: float, room: float) -> Axis:
    """Return a logarithmic axis for values of 0 or more; 0 is drawn a decade below the least of the others.

    Args:
        values: what has to fit, one of them above 0.
        start: place of the low end.
        end: place of the high end.
        room: outside of the outermost values, as a share of their distance.
    """
    least = min(value for value in values if value)
    floor = least if min(values) > 0 else least / 10

    def scale(value: float) -> float:
        return math.log10(max(value, floor))

    # Room is measured in decades, as places are.
    first, last = math.log10(floor), math.log10(max(values))
    margin = room * (last - first)
    low, high = 10 ** (first - margin), 10 ** (last + margin)
    decades = range(math.floor(math.log10(least)), math.floor(math.log10(high)) + 1)
    factors = (1, 2, 5) if len(decades) <= _FEW else (1,)
    written = [factor * 10.0**decade for decade in decades for factor in factors]
    # Below the least value above 0 lies only the 0. The slack is for powers of ten that are not exact.
    ticks = [(value, f"{value:g}") for value in written if low <= value <= high and value >= least * 0.999]
    zero = [(floor, "0")] if min(values) <= 0 else []
    return Axis(low=low, high=high, start=start, end=end, ticks=[*zero, *ticks], scale=scale)


def _step(low: float, high: float, count: int) -> float:
    """Return the smallest round step of which at most `count` fit."""
    least = (high - low) / count
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in _STEPS if step * decade >= least * (1 - 1e-9))


def _format_tick(value: float, step: float) -> str:
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:.{digits}f}" if digits <= _DIGITS else f"{value:.3g}"


@define(kw_only=True)
class Drawing:
    """A plot that is being drawn; x goes right and y goes down from the upper left corner."""

    kind: str
    key: str
    """Distinct for every figure of a page; ids begin with it."""
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
        path = "L".join(f"{_number(x)} {_number(y)}" for x, y in points)
        look = {"d": f"M{path}", "fill": "none", "stroke": stroke, "stroke-width": _number(width)}
        self._add("path", look | ({"stroke-dasharray": "3.7 1.6"} if dashed else {}), of)

    def box(self, x: float, y: float, width: float, height: float, fill: str, of: tuple[int, str] | None) -> None:
        """Fill a rectangle; see `line`."""
        place = {"x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height)}
        self._add("rect", place | {"fill": fill, "stroke": "var(--line)"}, of)

    def marker(self, x: float, y: float, series: int, of: tuple[int, str] | None = None) -> None:
        """Mark a point, of a measure or of the legend; see `line`."""
        shape = series % len(_SHAPES)
        self._markers.add(shape)
        place = {"href": f"#{self.key}-marker-{shape}", "x": _number(x), "y": _number(y), "fill": colour(series)}
        self._add("use", place, of)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        size: float = SIZE,
        bold: bool = False,
        turned: float = 0,
        fill: str = INK,
    ) -> None:
        """Write a line of text that begins at the point, or, turned by degrees, runs upwards from it."""
        place = {"x": _number(x), "y": _number(y), "text-anchor": anchor, "font-size": _number(size), "fill": fill}
        if bold:
            place["font-weight"] = "bold"
        if turned:
            place["transform"] = f"rotate(-{_number(turned)} {_number(x)} {_number(y)})"
        self._add("text", place, None).text = text

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
            self.text(left - 3.2 * SIZE, (axis.start + axis.end) / 2, label, anchor="middle", turned=90)

    def markup(self, title: str, description: str, *, file: bool = False) -> str:
        """Return the `svg` element, for a page that has the colours, or as a file of its own.

        Args:
            title: what it is, for those who do not see it.
            description: what it shows, and where the same numbers stand as text.
            file: with namespace, size, font and colours.
        """
        from xml.etree.ElementTree import Element, SubElement, tostring

        names = {"title": title, "desc": description}
        self._root.attrib |= {
            "role": "img",
            "data-plot": self.kind,
            "aria-labelledby": " ".join(f"{self.key}-{name}" for name in names),
        }
        head = []
        for name, text in names.items():
            head.append(Element(name, id=f"{self.key}-{name}"))
            head[-1].text = visible_line(text)
        if file:
            size = {"width": f"{_number(self.width)}pt", "height": f"{_number(self.height)}pt"}
            self._root.attrib |= {"xmlns": "http://www.w3.org/2000/svg"} | size
            head.append(Element("style"))
            series = "".join(f"--series-{place}:{value};" for place, value in enumerate(_COLOURS))
            head[-1].text = f"svg{{background:#fff;color:#111;font-family:sans-serif;--line:#ccc;{series}}}"
        if self._markers:
            head.append(Element("defs"))
            # Sorted: the same report gives the same bytes.
            for shape in sorted(self._markers):
                SubElement(head[-1], "path", id=f"{self.key}-marker-{shape}", d=_SHAPES[shape])
        # In front: a title counts for the drawing only as one of its first children.
        self._root[:0] = head
        return tostring(self._root, encoding="unicode", short_empty_elements=False)

    def _add(self, tag: str, attributes: dict[str, str], of: tuple[int, str] | None) -> Element:
        from xml.etree.ElementTree import SubElement

        group = {} if of is None else {"data-plotted": str(of[0]), "data-part": of[1]}
        return SubElement(SubElement(self._root, "g", group) if group else self._root, tag, attributes)


def _number(value: float) -> str:
    """Return a length with three digits after the point at most."""
    return f"{round(value, 3):.10g}"
