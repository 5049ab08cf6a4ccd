"""Review: one case a screen, and the decisions about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qs

from jrh import JrhError
from jrh.text import visible_line
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from jrh_review.decisions import CaseReview, Decision, QueuedCase, ReviewAction
from jrh_review.desk import StaleDecisionError
from jrh_review.pages.rendering import page
from jrh_review.review_cases import Given, made, shown_case
from jrh_review.reviewers import Reviewing, reviewing

NO_NAME: Final = "Choose who you are first: open the page Review."


def read(request: Request) -> Response:
    """Show the screen that the script fills, or ask who reviews here."""
    here = reviewing(request)
    name = here.name(request)
    if not name:
        return page(request, "reviewer.html.j2", run=here.run, names=here.names)
    return page(request, "review.html.j2", run=here.run, reviewer=name, start=request.query_params.get("case", ""))


async def choose(request: Request) -> Response:
    """Note who reviews in this browser."""
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    if not reviewing(request).choose(request, form.get("reviewer", [""])[0]):
        return _json({"message": "This browser already reviews under another name, or the name is unknown."}, 409)
    return RedirectResponse("/review", status_code=303)


def queue(request: Request) -> Response:
    """Return the queue, with what this reviewer decided about each case."""
    here = reviewing(request)
    name = here.name(request)
    if not name:
        return _json({"message": NO_NAME}, 403)
    reviews = here.desk.reviews()
    listed = [_line(case, reviews.get(case.case_id, CaseReview()), name) for case in here.desk.queue()]
    return _json({"reviewer": name, "cases": listed})


def case(request: Request) -> Response:
    """Return one case."""
    here = reviewing(request)
    name = here.name(request)
    if not name:
        return _json({"message": NO_NAME}, 403)
    case_id = request.query_params.get("case", "")
    known = next((each for each in here.desk.queue() if each.case_id == case_id), None)
    if known is None:
        return _json({"message": "The queue has no such case."}, 404)
    return _json(
        {**shown_case(here.desk, known, name), "state": _line(known, here.desk.review(case_id), name)["state"]}
    )


async def decide(request: Request) -> Response:
    """Save a decision: the answer is given after it is committed."""
    here = reviewing(request)
    name = here.name(request)
    if not name:
        return _json({"message": NO_NAME}, 403)
    try:
        sent = json.loads(await request.body())
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        return _json({"message": "A decision is sent as JSON."}, 400)
    return await run_in_threadpool(_decide, here, name, sent)


def _decide(here: Reviewing, name: str, sent: Mapping[str, Any]) -> Response:
    case_id = sent.get("case")
    known = next((each for each in here.desk.queue() if each.case_id == case_id), None)
    if known is None:
        return _json({"message": "The queue has no such case."}, 404)
    try:
        decision, version = _read(here, name, known.case_id, sent)
        review = here.desk.decide(decision, version)
    except StaleDecisionError as error:
        return _json({"message": str(error)}, 409)
    except JrhError as error:
        return _json({"message": str(error)}, 400)
    return _json({"saved": True, "version": review.version(name), **_line(known, review, name), "open": review.is_open})


def _read(here: Reviewing, name: str, case_id: str, sent: Mapping[str, Any]) -> tuple[Decision, int]:
    action = next((each for each in ReviewAction if each.value == sent.get("action")), None)
    version, settles, reason = sent.get("version"), sent.get("settles", False), sent.get("reason", "")
    after, expected = sent.get("after", {}), sent.get("expected", "")
    texts = [reason, expected, *(after.values() if isinstance(after, dict) else [None])]
    plain = type(settles) is bool and all(isinstance(each, str) for each in texts)
    if action is None or not plain or not isinstance(version, int) or isinstance(version, bool):
        raise JrhError("The decision is malformed.")
    given = Given(action=action, reason=reason, after=after, expected=expected, settles=settles)
    return made(here.desk, case_id, name, given), version


def _line(case: QueuedCase, review: CaseReview, name: str) -> dict[str, Any]:
    """Return what the list says about a case; nothing of others before two have decided."""
    own = review.own(name)
    state = own.action.value if own else ""
    if review.is_open:
        state = "settled" if review.settlement else "conflict" if review.in_conflict else state or "decided by others"
    return {"id": case.case_id, "item": visible_line(case.item_id), "test": visible_line(case.test), "state": state}


def _json(value: Mapping[str, Any], status: int = 200) -> Response:
    """Answer in ASCII, which holds any text, lone surrogates too."""
    return Response(json.dumps(value), status_code=status, media_type="application/json")


ROUTES = (
    Route("/review", read, methods=["GET"]),
    Route("/review/who", choose, methods=["POST"]),
    Route("/review/queue.json", queue, methods=["GET"]),
    Route("/review/case.json", case, methods=["GET"]),
    Route("/review/decide", decide, methods=["POST"]),
)
