"""The application, every address behind one guard, and how it is served on this machine until Ctrl-C."""

from __future__ import annotations

import ipaddress
import socket
import webbrowser
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import PurePath
from typing import Any, Final

from attrs import frozen
from jrh import JrhError
from jrh.text import say, tell
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from jrh_review.pages import cases, label, review
from jrh_review.pages import runs as run_pages
from jrh_review.pages.rendering import page
from jrh_review.pages.work import Work
from jrh_review.runs import Runs
from jrh_review.security import ENTER, MOST_HEADERS, Guard, Names, Sessions, refusal_page
from jrh_review.stored_runs import Measured

PAGES = (run_pages, cases)
_MISSING = 404
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Not those of `mimetypes`, which a system can change: browsers run no script that is served as plain text."""


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
    # Decided here, once, so that no page has to check what it may show.
    pages = (label,) if isinstance(work, label.Labelling) else (*PAGES, *((review,) if work else ()))
    app = Starlette(
        routes=[
            Route(ENTER, enter, methods=["GET"]),
            Route("/static/{name}", read_file, methods=["GET"]),
            *(route for part in pages for route in part.ROUTES),
            *routes,
        ],
        exception_handlers={JrhError: _show_problem, HTTPException: _show_refusal, Exception: _answer_defect},
    )
    app.router.redirect_slashes = False  # an address is right or wrong
    # Handlers are plain functions of a request; what they share is here.
    app.state.runs, app.state.sessions, app.state.names = runs, sessions, names
    app.state.measured, app.state.work = Measured(), work
    return Guard(app=app, names=names, sessions=sessions)


def enter(request: Request) -> Response:
    """Exchange the one-time token for the cookie, and go on to an address without it.

    The page goes on by itself, not by a redirect: the browser of someone who followed a link in a web page (a terminal
    in a browser is one) would not send a `SameSite=Strict` cookie along with a redirect.
    """
    known = request.scope["session"]
    session = known or request.app.state.sessions.enter(request.query_params.get("once", ""))
    if session is None:
        return refusal_page(
            HTTPException(401, "The token is wrong or already used. The terminal shows the current one.")
        )
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
        # Not `secure`: the server speaks plain HTTP on loopback, where browsers would drop the cookie.
        response.set_cookie(name, session.key, path="/", httponly=True, samesite="strict")
    return response


def read_file(request: Request) -> Response:
    """Return a file of this package: its name is looked up in a list, so that no path leads out of the folder."""
    file = _static_files().get(request.path_params["name"])
    if file is None:
        raise HTTPException(404)
    return Response(file.read_bytes(), media_type=_TYPES[PurePath(file.name).suffix])


@cache
def _static_files() -> dict[str, Traversable]:
    folder = files("jrh_review").joinpath("static")
    return {file.name: file for file in folder.iterdir() if PurePath(file.name).suffix in _TYPES}


def _show_problem(request: Request, error: Exception) -> Response:
    """Show an expected error, such as a run directory that was deleted meanwhile."""
    return page(request, "problem.html.j2", status=404, title="This cannot be shown", why=str(error))


def _show_refusal(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    why = "There is no such page." if status == _MISSING else "This address does not accept this kind of request."
    return page(request, "problem.html.j2", status=status, title=str(status), why=why)


def _answer_defect(request: Request, error: Exception) -> Response:  # noqa: ARG001 - the signature is Starlette's
    """Answer where this program has a defect: without the traceback, which the terminal shows."""
    # Without a template: what is broken may be the template.
    return refusal_page(HTTPException(500, "Internal error. The terminal shows the details."))


def check_address(address: str, *, allow_remote: bool) -> str:
    """Return the address to listen on: only loopback, unless the user allows more.

    Raises:
        JrhError: other machines could reach it and that was not allowed, or it is no address.
    """
    try:
        known = ipaddress.ip_address("127.0.0.1" if address == "localhost" else address)
    except ValueError:
        raise JrhError(f"--host '{address}' is not an IP address; give one, such as 127.0.0.1") from None
    if not known.is_loopback and not allow_remote:
        raise JrhError(
            f"other machines can reach {known}: pass --allow-remote to serve there. The token travels unencrypted; "
            "`ssh -L` to a loopback address is safer"
        )
    if known.is_unspecified:
        raise JrhError(f"{known} means every address; give the one that browsers will use")
    return str(known)


def listen(address: str, port: int, last: int = 0) -> socket.socket:
    """Return a listening socket; port 0 is the port `last`, or a free one where that is taken or 0.

    Raises:
        JrhError: the address is not of this machine, or the port is taken.
    """
    listening = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    # So that a fixed port can be used again right after the last server on it ended.
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        try:
            listening.bind((address, port or last))
        except OSError:
            if port or not last:
                raise
            listening.bind((address, 0))
        listening.listen()  # before the address is printed: a browser that comes at once waits and is not refused
    except OSError as error:
        listening.close()
        raise JrhError(f"cannot listen on {address} port {port}: {error.strerror or error}") from error
    return listening


@frozen(kw_only=True)
class Served:
    """A server that listens and is not run yet."""

    address: str
    """With its one-time token."""
    _server: Any
    _listening: socket.socket

    def run(self) -> None:
        """Serve until Ctrl-C, or `stop` in another thread."""
        # Ctrl-C is how serving ends, and no error.
        with suppress(KeyboardInterrupt):
            self._server.run(sockets=[self._listening])

    def stop(self) -> None:
        """Let the server end; it finishes what it answers."""
        self._server.should_exit = True


@contextmanager
def make_server(
    runs: Runs,
    announce: Callable[[str], None],
    work: Work | None = None,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
) -> Iterator[Served]:
    """Listen at an address; `announce` shows the next one-time tokens; `runs` and `work` are those of `make_app`."""
    import uvicorn

    from jrh_review.patience import PatientProtocol

    # The port of the last time: pages that are still open then find the server again, and what was typed in them.
    with listen(address, port, work.last_port if work else 0) as listening:
        port = listening.getsockname()[1]
        if work is not None:
            work.note_port(port)
        base = f"http://{f'[{address}]' if ':' in address else address}:{port}"
        # Each token works once, so the next one is printed as soon as one is used. In the address it is called `once`:
        # messages mask what is called a token.
        sessions = Sessions(lambda token: announce(f"For another browser: {base}/enter?once={token}"))
        # After listening, since the cookie and the Host header hold the port that the system chose.
        app = make_app(runs, sessions, Names.at(address, port), work=work)
        config = uvicorn.Config(
            app,
            http=PatientProtocol,
            ws="none",
            lifespan="off",
            # The access log would print tokens.
            access_log=False,
            log_level="warning",
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=MOST_HEADERS,
            timeout_graceful_shutdown=2,
        )
        yield Served(address=f"{base}/enter?once={sessions.token}", server=uvicorn.Server(config), listening=listening)


def serve(
    runs: Runs, work: Work | None = None, *, host: str, port: int, allow_remote: bool, open_browser: bool
) -> None:
    """Print the address with its one-time token, and serve until Ctrl-C.

    Args:
        runs: as for `make_app`.
        work: as for `make_app`.
        host: the address to listen on.
        port: 0: a free one.
        allow_remote: whether other machines may reach the address.
        open_browser: whether to open the address in the user's browser.

    Raises:
        JrhError: the address is none, is not of this machine or is not allowed, or the port is taken.
    """
    address = check_address(host, allow_remote=allow_remote)
    with make_server(runs, tell, work, address=address, port=port) as served:
        say(served.address)
        tell("This link works once. Ctrl-C ends the server.")
        if open_browser and not webbrowser.open(served.address):
            tell("No browser could be opened; open the address yourself.")
        served.run()
