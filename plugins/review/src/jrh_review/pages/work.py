"""What the pages of reviewers and labellers share: who works in which browser, and how something is saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias
from urllib.parse import parse_qs

from attrs import define, field
from jrh import JrhError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from jrh_review.decisions import StaleError
from jrh_review.pages.rendering import page

Json: TypeAlias = Mapping[str, Any]


@define(kw_only=True)
class Work:
    """What people do on this server, each in an own browser."""

    page: ClassVar[str]
    """Its address and its template."""
    role: ClassVar[str]
    """What the people are; also the template in which they choose their name."""
    names: tuple[str, ...]
    """The people at work, as named at start."""
    last_port: int = 0
    """The port of the last time; 0 where that is not known."""
    note_port: Callable[[int], None] = lambda _: None
    """Keeps the port for the next time."""
    _chosen: dict[str, str] = field(factory=dict, init=False, repr=False)
    """Session -> person."""

    def name(self, request: Request) -> str:
        """Return who works in this browser; empty where that is not chosen yet."""
        if len(self.names) == 1:
            return self.names[0]
        return self._chosen.get(request.scope["session"].key, "")

    def choose(self, request: Request, name: str) -> bool:
        """Note who works in this browser, once: who could change it would see what the other did."""
        key = request.scope["session"].key
        if name not in self.names or self._chosen.get(key, name) != name:
            return False
        self._chosen[key] = name
        return True

    def variables(self) -> Json:
        """Return what the pages show of the work, besides the people."""
        raise NotImplementedError


class NotThereError(JrhError):
    """Report a case or an item that this work does not have. Load the page again."""


def work_routes(
    work: type[Work],
    queue: Callable[[Request, Any, str], Json],
    entry: tuple[str, Callable[[Request, Any, str], Json]],
    save: Callable[[Any, str, Json], Json],
) -> tuple[Route, ...]:
    """Return the addresses of a kind of work.

    Args:
        work: the kind.
        queue: returns what is to be done, from the request, the work and the person.
        entry: name and function of what returns one case or item.
        save: saves what a person sends, before it returns what is answered.
    """

    def list_all(request: Request) -> Response:
        return _answer(request, lambda here, name: queue(request, here, name))

    def show_one(request: Request) -> Response:
        return _answer(request, lambda here, name: entry[1](request, here, name))

    async def decide(request: Request) -> Response:
        body = await request.body()
        # Saving waits for the disk, which would stop every other page.
        return await run_in_threadpool(_answer, request, lambda here, name: save(here, name, _member(body)))

    return (
        Route(f"/{work.page}", read, methods=["GET"]),
        Route(f"/{work.page}/who", choose, methods=["POST"]),
        Route(f"/{work.page}/queue.json", list_all, methods=["GET"]),
        Route(f"/{work.page}/{entry[0]}.json", show_one, methods=["GET"]),
        Route(f"/{work.page}/decide", decide, methods=["POST"]),
    )


def read(request: Request) -> Response:
    """Show the screen that the script fills, or ask who works here."""
    here: Work = request.app.state.work
    name = here.name(request)
    if not name:
        return page(request, f"{here.role}.html.j2", names=here.names, **here.variables())
    shown: dict[str, Any] = {"start": request.query_params.get("case", ""), here.role: name, **here.variables()}
    return page(request, f"{here.page}.html.j2", **shown)


async def choose(request: Request) -> Response:
    """Note who works in this browser."""
    here: Work = request.app.state.work
    form = parse_qs((await request.body()).decode("utf-8", "replace"))
    if not here.choose(request, form.get(here.role, [""])[0]):
        return _json({"message": f"This browser already {here.page}s under another name, or the name is unknown."}, 409)
    return RedirectResponse(f"/{here.page}", status_code=303)


def _answer(request: Request, answer: Callable[[Any, str], Json]) -> Response:
    here: Work = request.app.state.work
    name = here.name(request)
    if not name:
        return _json({"message": f"Choose who you are first: open the page {here.page.title()}."}, 403)
    try:
        return _json(answer(here, name))
    except JrhError as error:
        # 409: another window was faster; 404: there is no such case or item; 400: what was sent is wrong.
        status = 404 if isinstance(error, NotThereError) else 409 if isinstance(error, StaleError) else 400
        # `text`: which of the texts is wrong, for the page to say it there.
        return _json({"message": str(error), "text": getattr(error, "text", "")}, status)


def _member(body: bytes) -> Json:
    try:
        sent = json.loads(body)
    except (ValueError, RecursionError):
        sent = None
    if not isinstance(sent, dict):
        raise JrhError("What is saved is sent as JSON.")
    return sent


def _json(value: Json, status: int = 200) -> Response:
    """Answer in ASCII, which holds any text, lone surrogates too."""
    return Response(json.dumps(value), status_code=status, media_type="application/json")
