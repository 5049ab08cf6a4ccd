"""Summary of a review: shares per test, agreement of the reviewers, conflicts."""

from __future__ import annotations

from jrh import Interval
from jrh_measuring import format_ends, format_number
from jrh_stats import Estimate
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from jrh_review.decisions import DECIDING, CaseReview
from jrh_review.pages.rendering import page
from jrh_review.review_statistics import review_shares, reviewer_agreement
from jrh_review.reviewers import reviewing


def read(request: Request) -> Response:
    """Show what the decisions say that this reviewer may know of."""
    here = reviewing(request)
    name = here.name(request)
    if not name:
        return RedirectResponse("/review", status_code=303)
    queue = here.desk.queue()
    reviews = {case_id: review.known_to(name) for case_id, review in here.desk.reviews().items()}
    agreement = reviewer_agreement(queue, reviews)
    return page(
        request,
        "review_summary.html.j2",
        run=here.run,
        reviewer=name,
        actions=[action.value for action in DECIDING],
        tests=[(each, [told(each.shares[action]) for action in DECIDING]) for each in review_shares(queue, reviews)],
        agreement=agreement,
        pairs=[(" and ".join(pair), told(kappa, share=False)) for pair, kappa in agreement.pairs.items()],
        alpha=told(agreement.alpha, share=False) if agreement.alpha else "",
        conflicts=[case for case in queue if reviews.get(case.case_id, CaseReview()).in_conflict],
    )


def told(estimate: Estimate, *, share: bool = True) -> str:
    """Write an estimate with its interval."""
    if estimate.value is None:
        return "not estimable" + (f" ({', '.join(estimate.flags)})" if estimate.flags and estimate.n else "")
    number = format_number(estimate.value, 2, proportion=share)
    if estimate.low is None or estimate.high is None:
        return f"{number}, no interval"
    ends = Interval(low=estimate.low, high=estimate.high, level=0.95, method=estimate.method)
    return f"{number} {format_ends(ends, 2, proportion=share)}"


ROUTES = (Route("/review/summary", read, methods=["GET"]),)
