"""Read the filter of a list from its address and write it back: the whole view is in the address."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from attrs import asdict, evolve, frozen
from jrh.values import CaseFilter, CaseOrder

from jrh_review.addresses import Address, address

_LONGEST: Final = 500
"""Characters of a value; names of tests and items are far shorter."""
_NUMBER: Final = (str, int, float)


@frozen(kw_only=True)
class View:
    """One view of a list of cases."""

    run: str
    wanted: CaseFilter = CaseFilter()
    order: CaseOrder = CaseOrder.PLAN
    after: tuple[Any, int] | None = None
    """Where the page begins; None at the start."""

    @classmethod
    def read(cls, run: str, asked: Mapping[str, str]) -> View:
        """Read a view; what is malformed counts as not given."""
        names = [name for name in asdict(CaseFilter()) if asked.get(name)]
        wanted = {name: asked[name][:_LONGEST] for name in names}
        for name in ("moved", "right", "expected"):
            if wanted.get(name, "") not in ("", "yes", "no"):
                del wanted[name]
        order = next((each for each in CaseOrder if each.value == asked.get("sort")), CaseOrder.PLAN)
        return cls(run=run, wanted=CaseFilter(**wanted), order=order, after=_after(asked.get("after", "")))

    @property
    def query(self) -> Mapping[str, str]:
        """Return the view as the query of an address."""
        query = {name: value for name, value in asdict(self.wanted).items() if value}
        if self.order is not CaseOrder.PLAN:
            query["sort"] = self.order.value
        if self.after is not None:
            query["after"] = json.dumps(self.after, separators=(",", ":"))
        return query

    def address(self, *page: str) -> Address:
        """Return the address of this view, or of another page that keeps it, such as `cases.csv`."""
        return address("run", self.run, *(page or ("cases",)), query=self.query)

    def with_filter(self, **changed: str) -> View:
        """Return the view with another filter, from its beginning."""
        return evolve(self, wanted=evolve(self.wanted, **changed), after=None)

    def sorted_by(self, order: CaseOrder) -> View:
        """Return the view in another order, from its beginning."""
        return evolve(self, order=order, after=None)

    def behind(self, after: tuple[Any, int] | None) -> View | None:
        """Return the next page; None at the end."""
        return None if after is None else evolve(self, after=after)


def _after(text: str) -> tuple[Any, int] | None:
    try:
        found = json.loads(text[: 4 * _LONGEST])
    except (ValueError, RecursionError):
        return None
    if not (isinstance(found, list) and len(found) == 2):  # noqa: PLR2004 - a pair
        return None
    key, position = found
    fits = type(key) in _NUMBER and type(position) is int and abs(position) < 2**62
    return (key, position) if fits and not (isinstance(key, int) and abs(key) >= 2**62) else None
