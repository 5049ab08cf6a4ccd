"""Review: one case a screen, the decisions about it, and a summary of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from attrs import define
from jrh import JrhError
from jrh.text import visible_line
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from jrh_review.decisions import DECIDING, CaseReview, QueuedCase, ReviewAction
from jrh_review.desk import ReviewDesk
from jrh_review.pages.rendering import page
from jrh_review.pages.work import NotThereError, Work, work_routes
from jrh_review.review_cases import Given, build_decision, case_data
from jrh_review.review_statistics import review_shares, reviewer_agreement, write_estimate
from jrh_review.runs import Runs


@define(kw_only=True)
class Reviewing(Work):
    """A run under review."""

    page: ClassVar[str] = "review"
    role: ClassVar[str] = "reviewer"
    run: str
    """Its name on this server."""
    desk: ReviewDesk

    def variables(self) -> Mapping[str, Any]:
        """Return the name of the run."""
        return {"run": self.run}

    def case(self, case_id: object) -> QueuedCase:
        """Return a case of the queue.

        Raises:
            NotThereError: the queue has none of this id.
        """
        known = next((queued for queued in self.desk.queue() if queued.case_id == case_id), None)
        if known is None:
            raise NotThereError("The queue has no such case.")
        return known


def open_reviewing(runs: Runs, run_dir: Path, desk: ReviewDesk, names: Sequence[str]) -> Reviewing:
    """Return the review of a run that the server shows."""
    run = next((name for name, path in runs.scan().items() if path == run_dir.resolve()), "")
    return Reviewing(run=run, desk=desk, names=tuple(names), last_port=desk.last_port(), note_port=desk.note_port)


def queue(request: Request, here: Reviewing, name: str) -> Mapping[str, Any]:  # noqa: ARG001
    """Return the queue, with what this reviewer decided about each case."""
    reviews = here.desk.reviews()
    listed = [_line(case, reviews.get(case.case_id, CaseReview()), name) for case in here.desk.queue()]
    return {"reviewer": name, "cases": listed}


def case(request: Request, here: Reviewing, name: str) -> Mapping[str, Any]:
    """Return one case."""
    known = here.case(request.query_params.get("case", ""))
    line = _line(known, here.desk.review(known.case_id), name)
    return {**case_data(here.desk, known, name), "state": line["state"]}


def save(here: Reviewing, name: str, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """Save a decision: the answer is given after it is committed."""
    known = here.case(sent.get("case"))
    action = next((candidate for candidate in ReviewAction if candidate.value == sent.get("action")), None)
    version, settles, reason = sent.get("version"), sent.get("settles", False), sent.get("reason", "")
    after, expected = sent.get("after", {}), sent.get("expected", "")
    texts = [reason, expected, *(after.values() if isinstance(after, dict) else [None])]
    # JSON may hold anything; what reaches the log has the types of a decision.
    plain = type(settles) is bool and all(isinstance(text, str) for text in texts)
    if action is None or not plain or type(version) is not int:
        raise JrhError("The decision is malformed.")
    decision = Given(action=action, reason=reason, after=after, expected=expected, settles=settles)
    review = here.desk.decide(build_decision(here.desk, known.case_id, name, decision), version)
    return {"saved": True, "version": review.version(name), **_line(known, review, name), "open": review.is_open}


def _line(case: QueuedCase, review: CaseReview, name: str) -> dict[str, Any]:
    """Return what the list says about a case; nothing of others before two have decided."""
    decision = review.own(name)
    state = decision.action.value if decision else ""
    if review.is_open:
        state = "settled" if review.settlement else "conflict" if review.in_conflict else state or "decided by others"
    return {"id": case.case_id, "item": visible_line(case.item_id), "test": visible_line(case.test), "state": state}


def summarize(request: Request) -> Response:
    """Show what the decisions say that this reviewer may know of."""
    here: Reviewing = request.app.state.work
    name = here.name(request)
    if not name:
        return RedirectResponse("/review", status_code=303)
    cases = here.desk.queue()
    # The summary must not tell one reviewer what another decided about a case that is still blind.
    reviews = {case_id: review.visible_to(name) for case_id, review in here.desk.reviews().items()}
    return page(
        request,
        "review_summary.html.j2",
        run=here.run,
        reviewer=name,
        actions=[action.value for action in DECIDING],
        tests=review_shares(cases, reviews),
        agreement=reviewer_agreement(cases, reviews),
        write_estimate=write_estimate,
        conflicts=[case for case in cases if reviews.get(case.case_id, CaseReview()).in_conflict],
    )


ROUTES = (
    *work_routes(Reviewing, queue, ("case", case), save),
    Route("/review/summary", summarize, methods=["GET"]),
)
