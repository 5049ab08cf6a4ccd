"""The guard as a server calls it: raw ASGI scopes, so that no client tidies a header up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import frozen
from jrh_review.runs import Runs
from jrh_review.security import Guard, Names, Session, Sessions
from jrh_review.serving import make_app
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

PORT = 5123
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"

Headers = Sequence[tuple[str, str]]


@frozen(kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@frozen(kw_only=True)
class Door:
    guard: Guard
    sessions: Sessions
    announced: list[str]
    written: list[bytes]
    """Bodies that reached the page behind the guard."""

    def enter(self) -> Session:
        session = self.sessions.enter(self.sessions.token)
        assert session is not None
        return session

    def ask(
        self,
        path: str = "/",
        *,
        method: str = "GET",
        headers: Headers = (),
        query: str = "",
        parts: Sequence[bytes] = (b"",),
        raw: bytes | None = None,
    ) -> Answer:
        sent: list = []
        left = [
            {"type": "http.request", "body": part, "more_body": number < len(parts) - 1}
            for number, part in enumerate(parts)
        ]

        async def receive():
            return left.pop(0) if left else {"type": "http.disconnect"}

        async def send(message):
            sent.append(message)

        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode() if raw is None else raw,
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers],
            "client": ("127.0.0.1", 40000),
            "server": ("127.0.0.1", PORT),
        }
        asyncio.run(self.guard(scope, receive, send))
        start = next(message for message in sent if message["type"] == "http.response.start")
        body = b"".join(message.get("body", b"") for message in sent if message["type"] == "http.response.body")
        got = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        return Answer(status=start["status"], headers=got, body=body)


def cookie_of(session: Session) -> str:
    return f"jrh-{PORT}={session.key}"


@pytest.fixture
def door(tmp_path: Path) -> Door:
    announced: list[str] = []
    written: list[bytes] = []

    async def save(request: Request) -> PlainTextResponse:
        written.append(await request.body())
        return PlainTextResponse("saved")

    sessions = Sessions(announced.append)
    routes = [Route("/save", save, methods=["POST"])]
    guard = make_app(Runs((tmp_path,)), sessions, Names.at("127.0.0.1", PORT), routes=routes)
    return Door(guard=guard, sessions=sessions, announced=announced, written=written)


@pytest.fixture
def reading(door: Door) -> Callable[..., Answer]:
    """Return a function: headers -> what someone with a session is answered on the start page."""
    session = door.enter()

    def asked(*more: tuple[str, str], host: str | None = HOST, **kind) -> Answer:
        own = [("host", host)] if host is not None else []
        return door.ask(headers=[*own, ("cookie", cookie_of(session)), *more], **kind)

    return asked


@pytest.fixture
def writing(door: Door) -> Callable[..., Answer]:
    """Return a function: what differs from a good form -> the answer."""
    session = door.enter()
    good = {
        "host": HOST,
        "cookie": cookie_of(session),
        "origin": ORIGIN,
        "sec-fetch-site": "same-origin",
        "content-type": "application/x-www-form-urlencoded",
    }

    def sent(*more: tuple[str, str], without: str = "", body: bytes | None = None, csrf: str | None = None, **changed):
        names = {name.replace("_", "-"): value for name, value in changed.items()}
        headers = [(name, value) for name, value in {**good, **names}.items() if name != without]
        token = session.csrf if csrf is None else csrf
        form = f"csrf={token}&decision=accept".encode() if body is None else body
        return door.ask("/save", method="POST", headers=[*headers, *more], parts=(form,))

    return sent
