"""Post questions to an HTTP endpoint of the user."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attrs import Attribute, Factory, frozen
from attrs.validators import gt, matches_re, optional
from jrh import BuildContext, JrhError, Status
from jrh.plugins import option, read_secret

from jrh_authoring.own_code import MAX_ANSWER, Bounds, Outcome, failure, parse_answer

if TYPE_CHECKING:
    import aiohttp

# Options are stored with the run and printed in reports: keys go through the environment.
_SECRET_HEADER = re.compile(r"authorization|cookie|api-?key|token|secret", re.IGNORECASE)
# Request timeout and gateway timeout; conflict and too many requests are worth asking again, too.
_LATE = frozenset({408, 504})
_RETRIED = frozenset({408, 409, 429})
_SERVER_ERRORS = 500
_GOOD = range(200, 300)
_CHUNK = 65_536
_KEPT = 1.0
"""Seconds an idle connection is kept; shorter than servers do, so that none is reused while the server closes it."""


def _http_url(_instance: object, _attribute: Attribute[Any], value: str) -> None:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise JrhError(f"url: '{value}' is not an http or https address")
    if parts.username or parts.password:
        raise JrhError("url: a user name or password must not be in the suite; use `token_env`")


def _no_secrets(_instance: object, _attribute: Attribute[Any], value: Mapping[str, str]) -> None:
    for name in value:
        if _SECRET_HEADER.search(name):
            raise JrhError(
                f"headers: '{name}' looks like a secret; put it in the environment and name the variable in `token_env`"
            )


@frozen(kw_only=True)
class OwnEndpoint(Bounds):
    """The options that name an HTTP endpoint."""

    url: str = option("address to post questions to, as JSON", _http_url)
    token_env: str | None = option(
        "name of the environment variable that holds a bearer token; never the token itself",
        optional(matches_re(r"[A-Za-z_]\w*")),
        default=None,
    )
    headers: Mapping[str, str] = option("additional headers; no secrets", _no_secrets, default=Factory(dict))
    concurrency: int = option("questions asked at the same time", gt(0), default=16)


def build_endpoint(options: OwnEndpoint, context: BuildContext) -> Endpoint:
    """Return the client that asks the endpoint.

    Raises:
        JrhError: The environment variable for the token is not set.
    """
    headers = {**options.headers, "Content-Type": "application/json", "Accept": "application/json"}
    if options.token_env is not None:
        token = read_secret(options.token_env)
        if not token:
            raise JrhError(
                f"judge '{context.name}': the environment variable {options.token_env} is not set; "
                "set it to the bearer token"
            )
        headers["Authorization"] = f"Bearer {token}"
    return Endpoint(options.url, headers)


class Endpoint:
    """Posts questions over reused connections."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        """Keep where to post and what to send along; connect later."""
        self._url = url
        parts = urlsplit(url)
        self.fingerprint = f"http/{parts.scheme}://{parts.netloc}{parts.path}"
        """Without the query, which may contain secrets."""
        self._headers = headers
        self._session: aiohttp.ClientSession | None = None

    async def call(self, values: dict[str, object]) -> Outcome:
        """Post one question; failures are outcomes."""
        import aiohttp

        # ASCII with escapes: lone surrogates in texts cannot be encoded as UTF-8.
        body = json.dumps(values).encode("ascii")
        session = self._session or self._open()
        try:
            # Only the address in the suite gets the questions and the token; a redirect may lead anywhere.
            async with session.post(self._url, data=body, allow_redirects=False) as response:
                return await _outcome(response)
        except (aiohttp.ClientError, OSError) as error:
            # aiohttp's timeouts are client errors, too; `Asker` decides what a timeout is.
            if isinstance(error, TimeoutError):
                raise
            return failure(f"{type(error).__name__}: {error}")

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        self._session = aiohttp.ClientSession(
            # The judge's `concurrency` already limits open connections.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEPT),
            # Questions are independent: a cookie must not carry over to the next one.
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            # One time limit covers the whole attempt; a second one here would only blur the message.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        )
        return self._session

    async def aclose(self) -> None:
        """Close the connections; asking again opens new ones."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()


async def _outcome(response: aiohttp.ClientResponse) -> Outcome:
    if response.status not in _GOOD:
        status = Status.TIMEOUT if response.status in _LATE else Status.PROVIDER_ERROR
        retry = response.status in _RETRIED or response.status >= _SERVER_ERRORS
        return failure(f"HTTP status {response.status}", status=status, retry=retry)
    # Read in pieces, so that an endless answer is refused before it fills the memory.
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > MAX_ANSWER:
            return failure(f"the answer is longer than {MAX_ANSWER} bytes", retry=False)
    text = body.decode("utf-8", "replace")
    return Outcome(value=parse_answer(text), text=text)
