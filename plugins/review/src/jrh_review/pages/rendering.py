"""Turn what a page shows into HTML: every text of a run is text, with nothing in it that hides or reorders."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jrh.measuring import FLAG_MEANINGS
from jrh.text import visible_text
from starlette.requests import Request
from starlette.responses import HTMLResponse

from jrh_review.addresses import address

if TYPE_CHECKING:
    from jinja2 import Environment

TEXT: Final = 60_000
"""Characters shown of a text: whole essays and most transcripts."""


def page(request: Request, template: str, *, status: int = 200, **shown: Any) -> HTMLResponse:
    """Return a page.

    Args:
        request: what is answered; its session's token stands in the forms.
        template: its file.
        status: code of the answer.
        shown: the variables of the template.
    """
    session = request.scope["session"]
    text = _environment().get_template(template).render(csrf=session.csrf, **shown)
    return HTMLResponse(text.encode("utf-8", "replace"), status_code=status)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("jrh_review", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(flag_meanings=FLAG_MEANINGS, address=address)
    return made


def _finalize(value: object) -> object:
    """Make every text of a run visible; what is markup already comes from this package."""
    return visible_text(value, TEXT) if type(value) is str else value
