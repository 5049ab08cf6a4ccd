"""The grading service over HTTP: a token that is fetched once and renewed when it expires, and a price per grade."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import aiohttp
from jrh import ChatRequest, JrhError
from jrh.errors import FaultKind, ModelFault
from jrh.hashing import distinct_keys
from jrh.plugins import LONGEST_ANSWER, TOO_LONG, Completion, Rates, read_secret
from jrh.text import Redactor

from acme_judge.options import ServiceOptions

OK, UNAUTHORIZED = 200, 401
EARLY = 5.0
"""Seconds before its end at which a token is renewed."""


def build(options: ServiceOptions) -> Service:
    """Find the secret and build the client; nothing is sent before the first call."""
    secret = read_secret(options.secret_env)
    if not secret:
        raise JrhError(f"acme-service: set the environment variable {options.secret_env}")
    return Service(options, secret)


class Service:
    """Sends one attempt per call; jrh's gateway does the retries."""

    def __init__(self, options: ServiceOptions, secret: str) -> None:
        """Use `build` instead."""
        self._options, self._secret = options, secret
        self._session: aiohttp.ClientSession | None = None
        self._token, self._until = "", 0.0
        # Many calls wait at once: one of them fetches the token.
        self._renewal = asyncio.Lock()
        self.fingerprint = f"acme-service: {options.url}"
        # One grade is one call. Words cost nothing.
        self.rates: Rates | None = Rates(input=0.0, output=0.0, call=options.dollars_per_1000 / 1000)

    async def complete(self, request: ChatRequest) -> Completion:
        """Ask for one grade; the message is the JSON that `judge.py` writes."""
        try:
            token = await self._fresh_token()
            try:
                return await self._grade(request, token)
            except ModelFault as fault:
                if fault.status != UNAUTHORIZED:
                    raise
            # The service forgot the token before its end, as after a restart. A second refusal is one of the secret.
            return await self._grade(request, await self._fresh_token(refused=token))
        except ModelFault as fault:
            # A service may repeat the header in its complaint.
            secrets = Redactor.from_environment(also=filter(None, (self._secret, self._token)))
            failed = fault.with_detail(secrets(fault.detail))
        except (aiohttp.ClientError, OSError) as error:
            failed = ModelFault(FaultKind.CONNECTION, f"cannot reach the service: {type(error).__name__}")
        # Raised outside of the `except` block: the chained exception would carry the header with the token.
        raise failed

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _fresh_token(self, refused: str = "") -> str:
        async with self._renewal:
            if time.monotonic() >= self._until or self._token == refused:
                credentials = {"client": self._options.client, "secret": self._secret}
                answer = await self._post("/token", credentials) or {}
                token, seconds = answer.get("token"), answer.get("seconds")
                if not (token and isinstance(token, str) and isinstance(seconds, int | float)):
                    raise ModelFault(FaultKind.MALFORMED, "/token: the answer has no token and its seconds")
                self._token, self._until = token, time.monotonic() + seconds - EARLY
            return self._token

    async def _grade(self, request: ChatRequest, token: str) -> Completion:
        try:
            asked = json.loads(request.messages[-1].content)
        except ValueError:  # the question of jrh's preflight, which is text; that there is a token answers it
            return Completion(text="ready", finish_reason="stop")
        answer = await self._post("/grade", asked, {"Authorization": f"Bearer {token}"})
        if answer is None:
            return Completion(text=None, finish_reason=TOO_LONG)
        return Completion(
            text=json.dumps({"grade": answer.get("grade"), "reason": answer.get("reason", "")}),
            finish_reason="stop",
            model_version=str(answer.get("release", "")),
        )

    async def _post(self, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> Any:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=None))
        url = f"{self._options.url.rstrip('/')}{path}"
        async with self._session.post(url, json=body, headers=headers, allow_redirects=False) as response:
            text = b""
            async for part in response.content.iter_any():
                text += part
                if len(text) > LONGEST_ANSWER:
                    return None
            if response.status != OK:
                waits = response.headers.get("Retry-After", "")
                raise ModelFault.from_http_status(
                    response.status,
                    f"{path}: {text[:200].decode('utf-8', 'replace')}",
                    retry_after=float(waits) if waits.isdecimal() else None,
                )
            try:
                answer = json.loads(text, object_pairs_hook=distinct_keys)
            except (ValueError, RecursionError):
                answer = ()
            if not isinstance(answer, dict):
                raise ModelFault(FaultKind.MALFORMED, f"{path}: the answer is no JSON object")
            return answer
