"""The start page: the runs, newest first."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from jrh_review.pages.rendering import page


def read(request: Request) -> Response:
    """Show the runs."""
    return page(request, "start.html.j2", runs=list(request.app.state.runs.scan()))


ROUTES = (Route("/", read, methods=["GET"]),)
