"""Parts of the page that only some runs have: figures and tables, task by task."""

from __future__ import annotations

from attrs import frozen
from jrh.values import Importance
from markupsafe import Markup

from jrh_report.html.listing import Table, flags_of


@frozen(kw_only=True)
class Plot:
    """A figure; the tables beside it hold the same numbers."""

    name: str
    svg: Markup
    abreast: int
    """Curves beside each other, which tell how wide it is."""
    caption: str


@frozen(kw_only=True)
class Part:
    """What a section shows of one task."""

    task: str
    tables: tuple[Table, ...]
    lead: Table | None = None
    """The table before the plots."""
    plots: tuple[Plot, ...] = ()
    judge: str = ""
    folded: tuple[Table, ...] = ()
    """Tables that can be unfolded."""


@frozen(kw_only=True)
class Section:
    """One section."""

    key: str
    name: str
    """In the list of contents."""
    title: str
    text: tuple[str, ...] = ()
    importance: Importance = Importance.MAIN
    folds: bool = False
    """All of its tables are folded until they are asked for."""
    parts: tuple[Part, ...]

    @property
    def flags(self) -> frozenset[str]:
        """Return the flags that occur."""
        tables = (each for part in self.parts for each in (part.lead, *part.tables, *part.folded) if each is not None)
        return flags_of(cell for each in tables for cell in each.cells)
