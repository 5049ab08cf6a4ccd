"""How every plot is drawn: the same bytes everywhere, text as text, colours that all readers can tell apart."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from jrh.text import clean_text as clean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito (2008): told apart also by readers who do not see red or green."""
MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X")
"""One for each colour, so that no series is told by colour alone."""
NAME: Final = 36
"""Characters of a name; a longer one is cut."""

_SETTINGS: Final = {
    "svg.fonttype": "none",
    "svg.hashsalt": "jrh",
    "text.parse_math": False,
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "grid.color": "#cccccc",
    "path.simplify": False,
}
_METADATA: Final[dict[str, dict[str, Any]]] = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "png": {"Software": None},
    "pdf": {"Creator": None, "Producer": None, "CreationDate": None},
}


@contextmanager
def settings() -> Iterator[None]:
    """Draw alike everywhere, whatever the user's own settings are, and say nothing about fonts and caches."""
    log = logging.getLogger("matplotlib")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        from matplotlib import rc_context, rcParamsDefault

        kept = (pair for pair in rcParamsDefault.items() if not pair[0].startswith(("backend", "interactive")))
        usual: dict[Any, Any] = dict(kept)
        with rc_context(usual | _SETTINGS):
            yield
    finally:
        log.setLevel(level)


def written(figure: Figure, form: str, dpi: int) -> bytes:
    """Return the figure as a file, without date and without the name of the program."""
    target = BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters that the font does not have; a viewer's font may
        figure.savefig(target, format=form, dpi=dpi, metadata=_METADATA[form])
    return target.getvalue()


def label(text: str, limit: int = NAME) -> str:
    """Return text for a plot: one line, bounded, without control characters and what XML cannot hold."""
    return _NOT_XML.sub("\ufffd", clean(text, limit))


_NOT_XML: Final = re.compile("[\ufffe\uffff]")


def look(place: int) -> dict[str, str]:
    """Return colour and marker of the series at a place; after seven the colours begin again, with other markers."""
    return {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[(place + place // len(COLOURS)) % len(MARKERS)]}
