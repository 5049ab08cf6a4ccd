"""An HTTP endpoint of one's own as a judge."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jrh import BuildContext, JrhError, Judge, Status

from jrh_judges.answers import decoded
from jrh_judges.inhouse import MAX_ANSWER, Call, InHouseJudge, Outcome, failed
from jrh_judges.options import HttpOptions

if TYPE_CHECKING:
    import aiohttp

_LATE = frozenset({408, 504})
_RETRIED = frozenset({408, 409, 429})
_SERVER_ERRORS = 500
_GOOD = range(200, 300)
_CHUNK = 65_536


def http_judge(options: HttpOptions, context: BuildContext) -> Judge:
    """Make the endpoint a judge.

    Raises:
        JrhError: the environment variable that should hold the token is not set.
    """
    parts = urlsplit(options.url)
    # Without the query: it may hold what should not be stored.
    fingerprint = f"http/{parts.scheme}://{parts.netloc}{parts.path}"
    return InHouseJudge(_caller(options.url, _headers(options, context.name)), options, fingerprint=fingerprint)


def _headers(options: HttpOptions, judge: str) -> Mapping[str, str]:
    headers = {**options.headers, "Content-Type": "application/json", "Accept": "application/json"}
    if options.token_env is not None:
        token = os.environ.get(options.token_env, "").strip()
        if not token:
            raise JrhError(
                f"judge '{judge}': the environment variable {options.token_env} is not set; set it to the bearer token"
            )
        headers["Authorization"] = f"Bearer {token}"
    return headers


def _caller(url: str, headers: Mapping[str, str]) -> Call:
    async def call(values: dict[str, object]) -> Outcome:
        import aiohttp

        body = json.dumps(values).encode("ascii")
        # The time limit is around the whole attempt; a second one inside would only blur the message.
        unlimited = aiohttp.ClientTimeout(total=None)
        try:
            # A session per question: judges are not told when a run ends, so nobody could close a shared one.
            async with (
                aiohttp.ClientSession(headers=headers, timeout=unlimited) as session,
                session.post(url, data=body, allow_redirects=False) as response,
            ):
                return await _outcome(response)
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            return failed(f"{type(error).__name__}: {error}")

    return call


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
