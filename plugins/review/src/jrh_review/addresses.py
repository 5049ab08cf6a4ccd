"""Make and read the addresses of pages: whatever a name holds, it stays a value in one place of the address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode

from attrs import asdict, evolve, frozen

from jrh_review.listed_cases import CaseFilter, CaseOrder

_LONGEST: Final = 500
"""Characters of a value; names of tests and items are far shorter."""
_DIGITS: Final = 9
"""Of a place in the list."""


class Address(str):
    """An address made here: every character in it is plain ASCII, and it is shown as it is."""

    __slots__ = ()


def address(*steps: str, query: Mapping[str, str] | None = None, part: str = "") -> Address:
    """Return the address of a page on this server.

    Args:
        steps: of the path, of any text.
        query: names and values; empty values are left out.
        part: the place in the page.
    """
    # Not even a slash is safe: a test or item may be called `a/b`.
    path = "/" + "/".join(quote(step, safe="", errors="replace") for step in steps)
    filled = {name: value for name, value in (query or {}).items() if value != ""}
    query_text = f"?{urlencode(filled, errors='replace')}" if filled else ""
    place = f"#{quote(part, safe='')}" if part else ""
    return Address(f"{path}{query_text}{place}")


@frozen(kw_only=True)
class View:
    """One view of a list of cases: all of it is in the address."""

    run: str
    wanted: CaseFilter = CaseFilter()
    order: CaseOrder = CaseOrder.PLAN
    start: int = 0
    """Rows before the page."""

    @classmethod
    def read(cls, run: str, asked: Mapping[str, str]) -> View:
        """Read a view; what is malformed counts as not given."""
        names = [name for name in asdict(CaseFilter()) if asked.get(name)]
        wanted = {name: asked[name][:_LONGEST] for name in names}
        for name in ("moved", "right", "expected"):
            if wanted.get(name, "") not in ("", "yes", "no"):
                del wanted[name]
        order = next((candidate for candidate in CaseOrder if candidate.value == asked.get("sort")), CaseOrder.PLAN)
        start = asked.get("from", "")
        fits = start.isascii() and start.isdecimal() and len(start) <= _DIGITS
        return cls(run=run, wanted=CaseFilter(**wanted), order=order, start=int(start) if fits else 0)

    @property
    def query(self) -> Mapping[str, str]:
        """Return the view as the query of an address."""
        query = {name: value for name, value in asdict(self.wanted).items() if value}
        if self.order is not CaseOrder.PLAN:
            query["sort"] = self.order.value
        if self.start:
            query["from"] = str(self.start)
        return query

    def address(self, *page: str) -> Address:
        """Return the address of this view, or of another page that keeps it, such as `cases.csv`."""
        return address("run", self.run, *(page or ("cases",)), query=self.query)

    def in_order(self, order: CaseOrder) -> View:
        """Return the view in another order, from its beginning."""
        return evolve(self, order=order, start=0)
