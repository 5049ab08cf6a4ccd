"""The list of cases: filtered, searched and sorted by its address, a page at a time."""

from __future__ import annotations

from typing import Final

from jrh import JrhError
from jrh.running import open_store
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jrh_review.addresses import View
from jrh_review.listed_cases import CaseOrder, CaseRow, choices, find_cases
from jrh_review.pages.rendering import page
from jrh_review.stored_runs import Store, case_list_id, outline_of
from jrh_review.tables import write_table

ROWS: Final = 100
"""Rows of a page."""
MOST_CSV: Final = 20_000
"""Rows of a download; a table that is larger is read from the run's `records.csv`."""
_COLUMNS: Final = tuple(name for name in CaseRow._fields if name != "position")


SORTABLE: Final = {
    "Item": CaseOrder.ITEM,
    "Judge": CaseOrder.JUDGE,
    "Test": CaseOrder.TEST,
    "Verdict": CaseOrder.VERDICT,
    "Moved": CaseOrder.MOVED,
    "Right": CaseOrder.RIGHT,
    "As expected": CaseOrder.EXPECTED,
}
"""Headings of the columns that the list can be sorted by."""


def read(request: Request) -> Response:
    """Show a page of the list."""
    name = request.path_params["run"]
    view = View.read(name, request.query_params)
    with open_store(request.app.state.runs.path(name)) as store:
        outline = outline_of(store)
        _check(store)
        found = find_cases(store, view.wanted, view.order, ROWS, view.start)
        known = choices(store, view.wanted.task)
    return page(
        request,
        "cases.html.j2",
        view=view,
        tasks=[each.task.name for each in outline.tasks] if outline else [],
        simulated=outline.simulated if outline else (),
        rows=found.rows,
        following=view.behind(found.after),
        total=found.total,
        choices=known,
        columns=SORTABLE,
        most_csv=MOST_CSV,
    )


def download(request: Request) -> Response:
    """Return the list as CSV: cells that a spreadsheet would compute are text."""
    name = request.path_params["run"]
    view = View.read(name, request.query_params)
    with open_store(request.app.state.runs.path(name)) as store:
        _check(store)
        rows = find_cases(store, view.wanted, view.order, MOST_CSV).rows
    cells = ([getattr(row, column) for column in _COLUMNS] for row in rows)
    return Response(
        write_table([_COLUMNS, *cells]).encode("utf-8", "replace"),
        media_type="text/csv; charset=utf-8",
        headers={"content-disposition": 'attachment; filename="cases.csv"'},
    )


def _check(store: Store) -> None:
    if not case_list_id(store):
        raise JrhError("The verdicts of this run are listed when it ends. Load this page again then.")


ROUTES = (
    Route("/run/{run}/cases", read, methods=["GET"]),
    Route("/run/{run}/cases.csv", download, methods=["GET"]),
)
