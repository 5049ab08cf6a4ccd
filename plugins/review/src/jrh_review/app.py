"""The application: every address of the workbench behind one guard, and the files of style and scripts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from jrh import JrhError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from jrh_review.pages import cases, label, review
from jrh_review.pages import runs as run_pages
from jrh_review.pages.rendering import page
from jrh_review.security import ENTER, Guard, Names, Refused, Sessions, answer
from jrh_review.stored_runs import Measured

if TYPE_CHECKING:
    from jrh_review.pages.work import Work
    from jrh_review.runs import Runs


PAGES = (run_pages, cases)
_MISSING = 404
FILES: Final = {
    "style.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "shared.js": "text/javascript; charset=utf-8",
    "keys.js": "text/javascript; charset=utf-8",
    "quotes.js": "text/javascript; charset=utf-8",
    "label.js": "text/javascript; charset=utf-8",
    "review.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
"""Name -> type. A name is looked up here before any file is, so that no path leads out of the folder."""


def make_app(
    runs: Runs,
    sessions: Sessions,
    names: Names,
    *,
    work: Work | None = None,
    routes: Iterable[Route] = (),
) -> Guard:
    """Return the application.

    Args:
        runs: the run directories it shows.
        sessions: who may come in.
        names: the names of this server.
        work: the run under review, or the items that people label; None: there are no such pages. With labelling there
            are no other pages: a run would show the labellers what judges and gold labels say.
        routes: further addresses, behind the same guard.
    """
    pages = (label,) if isinstance(work, label.Labelling) else (*PAGES, *((review,) if work else ()))
    app = Starlette(
        routes=[
            Route(ENTER, enter, methods=["GET"]),
            Route("/static/{name}", read_file, methods=["GET"]),
            *(route for part in pages for route in part.ROUTES),
            *routes,
        ],
        exception_handlers={JrhError: _expected, HTTPException: _refused, Exception: _broken},
    )
    app.router.redirect_slashes = False  # an address is right or wrong
    app.state.runs, app.state.sessions, app.state.names = runs, sessions, names
    app.state.measured, app.state.work = Measured(), work
    return Guard(app=app, names=names, sessions=sessions)


def enter(request: Request) -> Response:
    """Exchange the one-time token for the cookie, and go on to an address without it.

    The page goes on by itself, not by a redirect: the browser of someone who followed a link in a web page (a terminal
    in a browser is one) would not send a `SameSite=Strict` cookie along with a redirect.
    """
    known = request.scope["session"]
    session = known or request.app.state.sessions.enter(request.query_params.get("token", ""))
    if session is None:
        return answer(Refused(401, "The token is wrong or already used. The terminal shows the current one."))
    work = request.app.state.work
    home = f"/{work.page}" if work else "/"
    text = (
        "<!doctype html><html lang=en><meta charset=utf-8><title>jrh</title><link rel=icon href=/static/icon.svg>"
        f'<meta http-equiv=refresh content="0; url={home}"><p><a href="{home}">Open the workbench</a></p></html>'
    )
    # This address holds the token, which was just used up: no other page learns it all the same.
    response = HTMLResponse(text, headers={"referrer-policy": "no-referrer"})
    if not known:
        name = request.app.state.names.cookie
        response.set_cookie(name, session.key, path="/", httponly=True, samesite="strict")
    return response


def read_file(request: Request) -> Response:
    """Return a file of this package."""
    name = request.path_params["name"]
    if name not in FILES:
        raise HTTPException(404)
    return Response(_content(name), media_type=FILES[name])


@cache
def _content(name: str) -> bytes:
    return files("jrh_review").joinpath("static", name).read_bytes()


def _expected(request: Request, error: Exception) -> Response:
    """Show an expected error, such as a run directory that was deleted meanwhile."""
    return page(request, "problem.html.j2", status=404, title="This cannot be shown", why=str(error))


def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    why = "There is no such page." if status == _MISSING else "This address does not accept this kind of request."
    return page(request, "problem.html.j2", status=status, title=str(status), why=why)


def _broken(request: Request, error: Exception) -> Response:  # noqa: ARG001 - the signature is Starlette's
    """Answer where this program has a defect: without the traceback, which the terminal shows."""
    return answer(Refused(500, "Internal error. The terminal shows the details."))
