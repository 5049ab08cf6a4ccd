"""The guard before every page: who asks, from where, by which name, and how much.

The page is open to every web site the user visits, since any of them can make the browser send requests to loopback.
Nothing behind this module runs before all checks have passed, whatever the path.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from html import escape
from types import MappingProxyType
from typing import Final
from urllib.parse import parse_qs

from attrs import define, field, frozen
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

BYTES: Final = 32
"""Random bytes of a token: guessing is not a way in, so wrong guesses need no counting."""


def _token() -> str:
    return secrets.token_urlsafe(BYTES)


@frozen(kw_only=True)
class Session:
    """One browser that came in by a one-time token."""

    key: str = field(factory=_token, repr=False)
    """Value of the cookie; never part of a page."""
    csrf: str = field(factory=_token, repr=False)
    """What every form and every saving script has to send back."""


@define
class Sessions:
    """The open sessions, and the one token that opens the next."""

    announce: Callable[[str], None]
    """Called with the next one-time token whenever the last one is used up: the terminal is the only place that shows
    one."""
    _open: list[Session] = field(factory=list, init=False, repr=False)
    token: str = field(factory=_token, init=False, repr=False)
    """What opens the next session."""

    def enter(self, token: str) -> Session | None:
        """Exchange the one-time token for a session; None where it is wrong or was used."""
        if not _equal(token, self.token):
            return None
        # Before the session is handed out: the same address, opened twice at once, lets one browser in.
        self.token = _token()
        session = Session()
        self._open.append(session)
        self.announce(self.token)
        return session

    def find(self, key: str) -> Session | None:
        """Return the session of a cookie. All keys are compared, so that time tells nothing."""
        sessions = [session for session in self._open if _equal(key, session.key)]
        return sessions[0] if sessions else None


def _equal(one: str, other: str) -> bool:
    # Bytes, since `compare_digest` refuses text that is not ASCII, and a header may hold anything.
    return secrets.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
"""No inline script or style, nothing from elsewhere, no frames; no script makes markup out of text."""
HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "content-security-policy": POLICY,
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "cache-control": "no-store",
        # Not `no-referrer`: browsers would send `Origin: null` with the forms of these pages.
        "referrer-policy": "same-origin",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), microphone=(), geolocation=()",
    }
)


def refusal_page(refusal: HTTPException) -> HTMLResponse:
    """Return the page of a refusal: it quotes nothing that was sent."""
    status, headers = refusal.status_code, {**HEADERS, **(refusal.headers or {}), "connection": "close"}
    text = (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>jrh: {status}</title><main><h1>{status}</h1><p>{escape(refusal.detail)}</p></main></html>"
    )
    return HTMLResponse(text, status_code=status, headers=headers)


MOST_BODY: Final = 1_000_000
"""Bytes of a form: the longest text that may be edited, several times over."""
MOST_HEADERS: Final = 32_768
"""Bytes of all headers; the HTTP library bounds only what arrives in parts."""
MOST_PATH: Final = 4_000
MOST_QUERY: Final = 16_000
HTTP: Final = 80
READING: Final = frozenset({"GET", "HEAD"})
WRITING: Final = frozenset({"POST"})
"""Methods that change something. No GET does, but for the exchange of the token, which is worth nothing twice."""
ENTER: Final = "/enter"
CSRF_FIELD: Final = "csrf"
CSRF_HEADER: Final = "x-csrf-token"
_ONCE: Final = (
    *("host", "cookie", "origin", "referer", "content-length", "content-type", "transfer-encoding", CSRF_HEADER),
    *("sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest", "sec-purpose", "purpose", "x-moz"),
)
"""Headers that decide something. Sent twice, the server and a proxy may read different ones: refused."""
_SITES: Final = frozenset({"same-origin", "same-site", "cross-site", "none"})
_FORM: Final = "application/x-www-form-urlencoded"
_JSON: Final = "application/json"
_COOKIE: Final = re.compile(r"[A-Za-z0-9_-]{20,100}")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_DIGITS: Final = re.compile(r"[0-9]{1,12}")


@frozen(kw_only=True)
class Names:
    """The names by which the server may be called, and its cookie."""

    hosts: frozenset[str]
    """Values of the Host header, such as `127.0.0.1:5123`. A name that an attacker's DNS points here is not one."""
    cookie: str
    """It has the port in it, because browsers share cookies between the ports of a host."""

    @classmethod
    def at(cls, address: str, port: int) -> Names:
        """Return the names of a server on an address: loopback's, and the address itself."""
        host = f"[{address}]" if ":" in address else address
        names = ("127.0.0.1", "localhost", "[::1]", host.lower())
        places = (f":{port}", "") if port == HTTP else (f":{port}",)  # browsers leave out the port that http has anyway
        return cls(hosts=frozenset(f"{name}{place}" for name in names for place in places), cookie=f"jrh-{port}")


@define
class Guard:
    """An ASGI application that lets through what passes every check, with the session under `session` of its scope."""

    app: ASGIApp
    names: Names
    sessions: Sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on."""
        if scope["type"] != "http":  # no page uses a web socket
            # Closing before accepting makes the server answer 403.
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            return
        try:
            headers = self._check_headers(scope)
            session = self._session(scope, headers)  # before the body: only a session makes the server read one
            body = await _body(headers, receive) if scope["method"] in WRITING else b""
            if scope["method"] in WRITING:
                _check_form(headers, body, session)
        except HTTPException as refusal:
            await refusal_page(refusal)(scope, receive, send)
            return
        await self.app({**scope, "session": session}, _replay(body), _with_headers(send))

    def _check_headers(self, scope: Scope) -> Mapping[str, str]:
        """Return the headers that decide something; the Host header is checked before anything else is looked at."""
        # DNS rebinding: a page of another site whose name an attacker points at this machine sends its own Host.
        hosts = [value for name, value in scope["headers"] if name.lower() == b"host"]
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self.names.hosts:
            raise HTTPException(
                421, "The Host header does not name this server. Open the address printed in the terminal."
            )
        headers = _headers(scope["headers"])
        if scope["method"] not in READING | WRITING:
            raise HTTPException(405, "This method is not available.", {"allow": ", ".join(sorted(READING | WRITING))})
        _check_path(scope)
        _check_site(headers, writing=scope["method"] in WRITING)
        if scope["method"] in READING and (headers.get("content-length", "0") != "0" or "transfer-encoding" in headers):
            raise HTTPException(400, "A request that only reads must not have a body.")
        return headers

    def _session(self, scope: Scope, headers: Mapping[str, str]) -> Session | None:
        """Return the session of the cookie; only the exchange of the token needs none."""
        key = _cookie(headers.get("cookie", ""), self.names.cookie)
        session = self.sessions.find(key) if key else None
        # Also for pages that do not exist: an answer that differs would tell what does.
        if session is None and not (scope["path"] == ENTER and scope["method"] == "GET"):
            raise HTTPException(401, "This browser has no session. Open the address printed in the terminal.")
        return session


def _headers(pairs: Iterable[tuple[bytes, bytes]]) -> Mapping[str, str]:
    headers: dict[str, str] = {}
    known = list(pairs)
    if sum(len(name) + len(value) for name, value in known) > MOST_HEADERS:
        raise HTTPException(431, "The headers are too long.")
    for raw, value in known:
        name = raw.decode("latin-1").lower()
        if name in headers and name in _ONCE:
            raise HTTPException(400, f"The header {name} was sent twice.")
        headers[name] = value.decode("latin-1")
    return {name: headers[name] for name in _ONCE if name in headers}


def _check_path(scope: Scope) -> None:
    # The length as it was sent: decoding makes an address shorter.
    raw: bytes = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogateescape")
    if len(raw) > MOST_PATH or len(scope.get("query_string", b"")) > MOST_QUERY:
        raise HTTPException(414, "The address is too long.")
    path: str = scope["path"]
    # Browsers and Windows take a backslash for a slash.
    steps = path.replace("\\", "/").split("/")
    odd = _CONTROL.search(path)
    if not path.startswith("/") or path.startswith("//") or odd or {".", ".."} & set(steps):
        raise HTTPException(400, "The address is malformed.")


def _check_site(headers: Mapping[str, str], *, writing: bool) -> None:
    """Refuse what another site made the browser send; a link that a person follows may come from anywhere."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in _SITES:
        raise HTTPException(400, "The header Sec-Fetch-Site is malformed.")
    if writing:
        origin = headers.get("origin")
        # Browsers send Origin with every POST; what lacks it is no page of ours.
        if origin is None or origin != f"http://{headers['host'].lower()}":
            raise HTTPException(
                403, "A change has to come from a page of this server: its Origin is missing or names another site."
            )
        if site not in (None, "same-origin"):
            raise HTTPException(403, "A change has to come from a page of this server, not from another site.")
    # Another port of this machine is "same-site", and may serve anything.
    elif site in ("cross-site", "same-site"):
        followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        if not followed:
            raise HTTPException(403, "Another site may link to this page, not load it.")
    # A browser that loads ahead would use the one-time token up before the person follows the link.
    if any("prefetch" in headers.get(name, "").lower() for name in ("sec-purpose", "purpose", "x-moz")):
        raise HTTPException(403, "This server does not answer prefetch requests.")


def _cookie(text: str, name: str) -> str:
    """Return the value of a cookie; empty where it is missing, malformed, or there twice."""
    pairs = (part.strip().partition("=") for part in text.split(";"))
    values = [value for known, _, value in pairs if known == name]
    # A cookie of the same name can be set by any port of this host: then neither is believed.
    return values[0] if len(values) == 1 and _COOKIE.fullmatch(values[0]) else ""


async def _body(headers: Mapping[str, str], receive: Receive) -> bytes:
    """Read the body of a form, no more than is allowed, whatever its length is said to be."""
    length = headers.get("content-length")
    if length is not None and not _DIGITS.fullmatch(length):
        raise HTTPException(400, "The header Content-Length is malformed.")
    # Two lengths are how requests are smuggled past a proxy.
    if length is not None and "transfer-encoding" in headers:
        raise HTTPException(400, "A body must state one length, not two.")
    if int(length or 0) > MOST_BODY:
        raise HTTPException(413, "The form is too large.")
    read = bytearray()
    more = True
    while more:
        # Read here, once and whole, because the token may be in the body; the page gets it from `_replay`.
        message = await receive()
        if message["type"] != "http.request":
            raise HTTPException(400, "The request ended early.")
        read += message.get("body", b"")
        more = message.get("more_body", False)
        # A chunked body states no length, so what arrives is counted as well.
        if len(read) > MOST_BODY:
            raise HTTPException(413, "The form is too large.")
    return bytes(read)


def _check_form(headers: Mapping[str, str], body: bytes, session: Session | None) -> None:
    # A form of another site may send text/plain without asking this server first; it is refused.
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (_FORM, _JSON):
        raise HTTPException(415, "A change is sent as a form or as JSON.")
    token = headers.get(CSRF_HEADER, "")
    # Only forms without a script carry the token in the body; another site cannot set a header.
    if not token and kind == _FORM:
        token = _field(body)
    if session is None or not _equal(token, session.csrf):
        raise HTTPException(403, "The form has no token of this session. Load the page again.")


def _field(body: bytes) -> str:
    try:
        tokens = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=1_000).get(CSRF_FIELD, [])
    except ValueError:
        raise HTTPException(400, "The form is malformed.") from None
    return tokens[0] if len(tokens) == 1 else ""


def _replay(body: bytes) -> Receive:
    """Hand on the body that was read."""
    left: list[Message] = [{"type": "http.request", "body": body}]

    async def receive() -> Message:
        return left.pop() if left else {"type": "http.disconnect"}

    return receive


def _with_headers(send: Send) -> Send:
    """Give every answer the headers that every answer has."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            # A page may say more strictly than the rest, as the exchange of the token does with its referrer policy.
            present = {name.lower() for name, _ in message.get("headers", [])}
            ours = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in present]
            message = {**message, "headers": [*message.get("headers", []), *ours]}
        await send(message)

    return send_with_headers
