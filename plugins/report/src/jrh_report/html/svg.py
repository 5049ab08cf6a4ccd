"""Turns a matplotlib figure into SVG that stands in a page: no styles, colours of the page's theme, a title."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from matplotlib.figure import Figure

INK: Final = "#010203"
LINE: Final = "#010204"
SERIES: Final = tuple(f"#0102{0x10 + place:02x}" for place in range(8))
"""Colours to draw with; the page gives them theirs, light and dark."""
MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X", "*")
"""One for each colour, so that no series is told by colour alone."""

_THEME: Final = {INK: "currentColor", LINE: "var(--line)"} | {
    colour: f"var(--series-{place})" for place, colour in enumerate(SERIES)
}
_SETTINGS: Final = {
    "svg.fonttype": "none",
    "svg.hashsalt": "jrh",
    "text.parse_math": False,
    "font.size": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": LINE,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": LINE,
    "path.simplify": False,
}
_REFERENCE: Final = re.compile(r"url\(#([^)]+)\)")
_UNWANTED: Final = ("metadata", "style")
_MEASURE: Final = "measure-"
_STYLES: Final = frozenset({"font-size", "font-weight", "text-anchor", "fill", "fill-opacity", "opacity"}) | {
    f"stroke{part}" for part in ("", "-width", "-dasharray", "-dashoffset", "-linejoin", "-linecap", "-opacity")
}


@contextmanager
def settings() -> Iterator[None]:
    """Draw alike everywhere, whatever the user's own settings are, and say nothing about fonts and caches."""
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        from matplotlib import rc_context, rcParamsDefault

        usual: dict[Any, Any] = {
            key: value for key, value in rcParamsDefault.items() if not key.startswith(("backend", "interactive"))
        }
        with rc_context(usual | _SETTINGS):
            yield
    finally:
        log.setLevel(level)


def measure_id(place: int, part: str) -> str:
    """Return the id that marks what is drawn of a measure."""
    return f"{_MEASURE}{place}-{part}"


def inline(figure: Figure, key: str, title: str, description: str) -> Markup:
    """Return the figure as an `svg` element.

    Args:
        figure: drawn within `settings()`, with the colours of this module.
        key: distinct for every figure of the page; ids begin with it.
        title: what it is, for those who do not see it.
        description: what it shows, and where the same numbers stand as text.
    """
    from xml.etree.ElementTree import SubElement, tostring

    root = _parsed(figure)
    _clean(root)
    _theme(root, key)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"role": "img", "aria-labelledby": f"{key}-title {key}-description"}
    for place, (name, text) in enumerate((("title", title), ("desc", description))):
        element = SubElement(root, name, id=f"{key}-{'title' if name == 'title' else 'description'}")
        element.text = text
        root.remove(element)
        root.insert(place, element)
    return Markup(tostring(root, encoding="unicode", short_empty_elements=False))  # noqa: S704 - serialised elements


def _parsed(figure: Figure) -> Element:
    from xml.etree.ElementTree import fromstring

    target = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font does not have; the browser's has
        figure.savefig(target, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return fromstring(target.getvalue())  # noqa: S314 - written above


def _clean(root: Element) -> None:
    """Take away name spaces, metadata and style sheets; in a page they mean nothing or are not allowed."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
        for child in list(element):
            if child.tag.rpartition("}")[2] in _UNWANTED:
                element.remove(child)
        if element.tag not in ("text", "tspan"):
            element.text = None
        element.tail = None


def _theme(root: Element, key: str) -> None:
    """Turn styles into attributes, colours into the page's, and ids into distinct ones."""
    used = set(_used(root))
    for element in root.iter():
        element.attrib |= dict(_styles(element.attrib.pop("style", "")))
        element.attrib = {name: _value(value, key) for name, value in element.attrib.items()}
        own = element.attrib.pop("id", "")
        if own.startswith(_MEASURE):
            _, place, part = own.split("-", 2)
            element.attrib |= {"data-plotted": place, "data-part": part}
        elif own in used:
            element.attrib["id"] = f"{key}-{own}"


def _used(root: Element) -> Iterator[str]:
    for element in root.iter():
        for name, value in element.attrib.items():
            yield from _REFERENCE.findall(value)
            if name == "href":
                yield value.removeprefix("#")


def _styles(style: str) -> Iterator[tuple[str, str]]:
    for declaration in style.split(";"):
        name, _, value = declaration.partition(":")
        if name.strip() in _STYLES:
            yield name.strip(), value.strip()


def _value(value: str, key: str) -> str:
    if value.startswith("#"):
        return _THEME.get(value, f"#{key}-{value[1:]}")
    return _REFERENCE.sub(rf"url(#{key}-\1)", value)


def series(place: int) -> Mapping[str, str]:
    """Return colour and marker of the series at a place; after eight they begin again."""
    return {"color": SERIES[place % len(SERIES)], "marker": MARKERS[place % len(MARKERS)]}
