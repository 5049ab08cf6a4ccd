"""Post questions to a user-supplied HTTP endpoint as a judge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jrh import BuildContext, JrhError, Status
from jrh.plugins import Judge, read_secret

from jrh_judges.answers import decoded
from jrh_judges.inhouse import MAX_ANSWER, InHouseJudge, Outcome, failed
from jrh_judges.options import HttpOptions

if TYPE_CHECKING:
    import aiohttp

_LATE = frozenset({408, 504})
_RETRIED = frozenset({408, 409, 429})
_SERVER_ERRORS = 500
_GOOD = range(200, 300)
_CHUNK = 65_536
_KEPT = 1.0
"""Seconds an idle connection is kept; shorter than servers do, so that none is reused while the server closes it."""


def http_judge(options: HttpOptions, context: BuildContext) -> Judge:
    """Make a judge of the endpoint.

    Raises:
        JrhError: The environment variable for the token is not set.
    """
    parts = urlsplit(options.url)
    # Without the query, which may contain secrets.
    fingerprint = f"http/{parts.scheme}://{parts.netloc}{parts.path}"
    endpoint = _Endpoint(options.url, _headers(options, context.name))
    return InHouseJudge(endpoint.call, options, fingerprint=fingerprint, close=endpoint.aclose)


def _headers(options: HttpOptions, judge: str) -> Mapping[str, str]:
    headers = {**options.headers, "Content-Type": "application/json", "Accept": "application/json"}
    if options.token_env is not None:
        token = read_secret(options.token_env)
        if not token:
            raise JrhError(
                f"judge '{judge}': the environment variable {options.token_env} is not set; set it to the bearer token"
            )
        headers["Authorization"] = f"Bearer {token}"
    return headers


class _Endpoint:
    """Posts questions over reused connections."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = headers
        self._session: aiohttp.ClientSession | None = None

    async def call(self, values: dict[str, object]) -> Outcome:
        import aiohttp

        body = json.dumps(values).encode("ascii")
        session = self._session or self._open()
        try:
            async with session.post(self._url, data=body, allow_redirects=False) as response:
                return await _outcome(response)
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            return failed(f"{type(error).__name__}: {error}")

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
        session, self._session = self._session, None
        if session is not None:
            await session.close()


async def _outcome(response: aiohttp.ClientResponse) -> Outcome:
    if response.status not in _GOOD:
        status = Status.TIMEOUT if response.status in _LATE else Status.PROVIDER_ERROR
        retry = response.status in _RETRIED or response.status >= _SERVER_ERRORS
        return failed(f"HTTP status {response.status}", status=status, retry=retry)
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        body += chunk
        if len(body) > MAX_ANSWER:
            return failed(f"the answer is longer than {MAX_ANSWER} bytes", retry=False)
    text = body.decode("utf-8", "replace")
    return Outcome(value=decoded(text), text=text)
