"""The list of cases, filtered, searched and sorted by its address; a case with what judges said of it; and an item."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import evolve
from jrh import REFERENCE, Case, JrhError, Reply
from jrh.running import open_store
from jrh.values import CaseRecord
from jrh_measuring import NO_PARTS, QuestionParts, compare_questions
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jrh_review.addresses import Address, View, address
from jrh_review.decisions import expectation_code
from jrh_review.listed_cases import CaseOrder, CaseRow, choices, find_cases, rows_of
from jrh_review.pages.rendering import page
from jrh_review.review_cases import PARTS, TEXT, describe_expectation
from jrh_review.stored_runs import Store, case_list_id, run_outline
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
        outline = run_outline(store)
        _check(store)
        listed = find_cases(store, view.wanted, view.order, ROWS, view.start)
        known = choices(store, view.wanted.task)
    return page(
        request,
        "cases.html.j2",
        view=view,
        tasks=[summary.task.name for summary in outline.tasks] if outline else [],
        simulated=outline.simulated if outline else (),
        rows=listed.rows,
        following=None if listed.after is None else evolve(view, start=listed.after),
        total=listed.total,
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
        # From the beginning of the list, whatever page is open: a download is of the list.
        rows = find_cases(store, view.wanted, view.order, MOST_CSV).rows
    cells = ([getattr(row, column) for column in _COLUMNS] for row in rows)
    return Response(
        write_table([_COLUMNS, *cells]).encode("utf-8", "replace"),
        media_type="text/csv; charset=utf-8",
        # A fixed name: that of a run could hold anything.
        headers={"content-disposition": 'attachment; filename="cases.csv"'},
    )


def _check(store: Store) -> None:
    if not case_list_id(store):
        raise JrhError("The verdicts of this run are listed when it ends. Load this page again then.")


RATIONALES: Final = 50
"""Rationales that are shown of the same verdict."""


def read_case(request: Request) -> Response:
    """Show a case."""
    name, case_id = request.path_params["run"], request.path_params["case"]
    with open_store(request.app.state.runs.path(name)) as store:
        rows = rows_of(store, case_id=case_id)
        if not rows:
            raise JrhError("This run has no such case.")
        task, item_id = rows[0].task, rows[0].item_id
        reference = [row for row in rows_of(store, task=task, item_id=item_id) if row.test == REFERENCE]
        known = store.cases.by_id(list({case_id, *(row.case_id for row in reference)}))
        before = next((known[row.case_id] for row in reference if row.case_id in known), None)
        records = store.records.of_case(case_id)
        replies = store.records.replies([record.trial_id for record in records])
        outline = run_outline(store)
    case, tasks = known.get(case_id), outline.tasks if outline else ()
    return page(
        request,
        "case.html.j2",
        run=name,
        row=rows[0],
        case=case,
        is_reference=rows[0].test == REFERENCE,
        expected=describe_expectation(expectation_code(case.expectation)) if case and case.expectation else "",
        fields=_parts(case, case).context if case else (),
        parts=_parts(before, case) if before and case else NO_PARTS,
        task=case.presented_task
        if case and case.presented_task
        else next((summary.task for summary in tasks if summary.task.name == task), None),
        judged=tuple(_verdicts_by_judge(rows, reference, records, replies)),
        simulated=outline.simulated if outline else (),
        back=View.read(name, request.query_params),
        item=item_address(name, task, item_id),
    )


def read_item(request: Request) -> Response:
    """Show an item under all conditions and judges."""
    name, query = request.path_params["run"], request.query_params
    task, item_id = query.get("task", ""), query.get("item", "")
    with open_store(request.app.state.runs.path(name)) as store:
        rows = rows_of(store, task=task, item_id=item_id)
        item, outline = store.items.find(task, item_id), run_outline(store)
        texts = _fields(store, item.fields if item else None, rows)
    if not rows and item is None:
        raise JrhError("This run has no such item.")
    cells: dict[tuple[str, str, str], dict[str, CaseRow]] = {}
    for row in rows:
        cells.setdefault((row.test, row.variant, row.case_id), {})[row.judge] = row
    judges = [judge for judge in (outline.judges if outline else ()) if any(judge in row for row in cells.values())]
    return page(
        request, "item.html.j2", run=name, task=task, item_id=item_id, gold=(item.gold if item else rows[0].gold) or "",
        stratum=item.stratum if item else rows[0].stratum, texts=texts, judges=judges,
        simulated=outline.simulated if outline else (), conditions=cells,
    )  # fmt: skip


def item_address(run: str, task: str, item_id: str) -> Address:
    """Return the address of an item's page."""
    return address("run", run, "item", query={"task": task, "item": item_id})


def _parts(before: Case, after: Case) -> QuestionParts:
    return compare_questions(before, after, limit=TEXT, most=PARTS)


def _fields(store: Store, fields: Mapping[str, object] | None, rows: Sequence[CaseRow]) -> list[tuple[str, str]]:
    """Return the item's texts by name; of its reference case where the item itself is not stored."""
    if fields is None:
        known = store.cases.by_id([row.case_id for row in rows if row.test == REFERENCE][:1])
        fields = next((case.fields for case in known.values()), {})
    question = Case(id="", task="", test="", item_id="", fields=dict(fields), label_map={})  # type: ignore[arg-type]
    return list(_parts(question, question).context)


def _verdicts_by_judge(
    rows: Iterable[CaseRow], reference: Iterable[CaseRow], records: Iterable[CaseRecord], replies: Mapping[str, Reply]
) -> Iterable[dict[str, Any]]:
    """Yield what each judge made of the case, and its verdicts in the reference condition."""
    before: dict[str, str] = {}
    for row in reference:
        before.setdefault(row.judge, row.verdicts or "no verdict")
    by_judge: dict[str, list[CaseRecord]] = {}
    for record in records:
        by_judge.setdefault(record.judge, []).append(record)
    for row in rows:
        groups = _alike(by_judge.get(row.judge, ()), lambda each: (each.canonical, each.presented, each.status))
        verdicts = [_verdict(group, replies) for group in groups]
        yield {"row": row, "before": before.get(row.judge, ""), "said": verdicts}


def _alike(records: Iterable[CaseRecord], key: Callable[[CaseRecord], Hashable]) -> list[list[CaseRecord]]:
    """Return the records in groups of the same key, the largest first."""
    groups: dict[Hashable, list[CaseRecord]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    # Stable, so that equally large groups stay in the order of the repeats.
    return sorted(groups.values(), key=len, reverse=True)


def _verdict(group: Sequence[CaseRecord], replies: Mapping[str, Reply]) -> dict[str, Any]:
    """Return repeats of one judge with the same verdict; its rationales, the commonest first, are cut and counted."""
    first = group[0]
    rationales = _alike(group, lambda each: (each.rationale, each.detail))
    return {
        "times": len(group),
        "label": first.canonical or "",
        "status": first.status,
        # The label in the words of the question, where they are others.
        "presented": first.presented or "" if first.presented != first.canonical else "",
        "told": [_rationale(group, replies) for group in rationales[:RATIONALES]],
        "untold": len(rationales[RATIONALES:]),
    }


def _rationale(group: Sequence[CaseRecord], replies: Mapping[str, Reply]) -> dict[str, Any]:
    """Return repeats with the same rationale, with the whole replies that say more than it does."""
    first = group[0]
    texts = (replies[record.trial_id].text for record in group if record.trial_id in replies)
    more = dict.fromkeys(text for text in texts if text.strip() and text.strip() != first.rationale.strip())
    return {"times": len(group), "rationale": first.rationale, "detail": first.detail, "replies": list(more)}


ROUTES = (
    Route("/run/{run}/cases", read, methods=["GET"]),
    Route("/run/{run}/cases.csv", download, methods=["GET"]),
    Route("/run/{run}/case/{case}", read_case, methods=["GET"]),
    Route("/run/{run}/item", read_item, methods=["GET"]),
)
