"""Turn what a page shows into HTML: every text of a run is text, with nothing in it that hides or reorders."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from jrh_measuring import (
    format_bounds,
    format_counts,
    format_estimate,
    format_interval,
    format_items,
    format_missing,
    page_environment,
    shade_class,
    shown_flags,
)
from starlette.requests import Request
from starlette.responses import HTMLResponse

from jrh_review.addresses import address
from jrh_review.review_cases import TEXT

if TYPE_CHECKING:
    from jinja2 import Environment


def page(request: Request, template: str, *, status: int = 200, **shown: Any) -> HTMLResponse:
    """Return a page.

    Args:
        request: what is answered; its session's token is in the forms.
        template: its file.
        status: code of the answer.
        shown: the variables of the template.
    """
    session = request.scope["session"]
    text = _environment().get_template(template).render(csrf=session.csrf, **shown)
    # Texts of runs may hold half of a surrogate pair, which UTF-8 cannot.
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


@cache
def _environment() -> Environment:
    functions = (
        *(address, format_bounds, format_counts, format_estimate, format_interval, format_items, format_missing),
        *(shade_class, shown_flags),
    )
    return page_environment("jrh_review", {function.__name__: function for function in functions}, limit=TEXT)
