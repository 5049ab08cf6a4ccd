"""Speak HTTP with a batch API: one session, retries where a retry is safe, results line by line."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

import aiohttp
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import LONGEST_ANSWER, TOO_LONG
from jrh_chat import (
    NETWORK_ERRORS,
    Connection,
    Credentials,
    count_or_none,
    error_text,
    from_error_response,
    network_fault,
    protocol_fault,
    read_answer,
    read_start,
)

T = TypeVar("T")

ATTEMPTS: Final = 8
"""How often a request that changes nothing is sent."""
_LONGEST_WAIT: Final = 30.0
_OK: Final = range(200, 300)
_QUIET_SECONDS: Final = 120.0
"""A server that sends nothing for so long is not answering."""
_HEAD: Final = 4096
"""Bytes of a line too long to read in which its call is looked for: both providers write it before the answer."""
_LONGEST_LINE: Final = 64 * LONGEST_ANSWER
"""More than any file of results has: a line that goes on so long never ends."""
# Within the text of an answer every quotation mark is escaped, so the text cannot name a call.
_CALL: Final = re.compile(rb'"custom_id"\s*:\s*"([\w-]{1,64})"')


class Http:
    """Requests to one provider, with its credentials."""

    def __init__(self, credentials: Credentials, headers: Mapping[str, str], proxy: str | None) -> None:
        """Prepare what all requests share; open no connection before the first one."""
        self.redact = credentials.redact
        """Takes the key out of texts of the provider."""
        self._proxy = proxy
        self._connection = Connection(
            credentials,
            {"Accept": "application/json", "User-Agent": "jrh-batch", **headers},
            # No total limit: a file of results may take minutes. Only silence ends a transfer.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=30.0, sock_read=_QUIET_SECONDS),
        )

    async def create(self, url: str, body: bytes | aiohttp.FormData) -> str:
        """Send a form, or JSON, once and return the id of what it made.

        Raises:
            ModelFault: for every failure. Its text holds no key.
        """
        # A form brings its own type, which names the boundary between its parts.
        headers = {"Content-Type": "application/json"} if isinstance(body, bytes) else {}
        return read_id(await self._once("POST", url, body, headers))

    async def get(self, url: str) -> dict[str, Any]:
        """Return the JSON object at an address; a failure that may pass is retried.

        Raises:
            ModelFault: for every failure that lasts. Its text holds no key.
        """
        return await retry(lambda: self._once("GET", url, None, {}))

    async def lines(self, url: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the JSON object of every line at an address, as it arrives; an empty one for a line that holds none.

        A line too long to read is an object with its `custom_id` and `TOO_LONG`.

        Raises:
            ModelFault: the address cannot be read to its end.
        """
        fault: ModelFault
        try:
            # A redirect could take the key to another host.
            async with self._connection.session.get(url, allow_redirects=False, proxy=self._proxy) as response:
                if response.status not in _OK:
                    fault = await self._fault(response)
                else:
                    async for line in _split(response.content):
                        document = _parse(line) if len(line) <= LONGEST_ANSWER else _too_long(line)
                        yield document if isinstance(document, dict) else {}
                    return
        except NETWORK_ERRORS as error:
            fault = network_fault(error)
        # Raise outside the `except` block: a chained aiohttp error would carry the request headers, which hold the key.
        raise fault

    async def aclose(self) -> None:
        """Close the session."""
        await self._connection.aclose()

    async def _once(
        self, method: str, url: str, body: bytes | aiohttp.FormData | None, headers: Mapping[str, str]
    ) -> dict[str, Any]:
        fault: ModelFault
        try:
            async with self._connection.session.request(
                method, url, data=body, headers=headers, allow_redirects=False, proxy=self._proxy
            ) as response:
                if response.status in _OK:
                    body_read = await read_answer(response)
                    if body_read is None:
                        # Not a refusal: what was sent may have been accepted.
                        raise protocol_fault("the provider's answer is too long to read")
                    document = _parse(body_read)
                    if isinstance(document, dict):
                        return document
                    fault = protocol_fault(f"the answer to {method} {response.url.path} is not a JSON object")
                else:
                    fault = await self._fault(response)
        except NETWORK_ERRORS as error:
            fault = network_fault(error)
        raise fault

    async def _fault(self, response: aiohttp.ClientResponse) -> ModelFault:
        outcome = from_error_response(response.status, response.headers, await read_start(response))
        if not isinstance(outcome, ModelFault):
            outcome = ModelFault(FaultKind.REJECTED, outcome.refusal or "refused", status=response.status)
        return outcome.with_detail(error_text(outcome.detail, self.redact))


async def _split(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Yield the lines; of one that is too long, a beginning that is too long as well."""
    pending, dropped = bytearray(), 0
    async for chunk in content.iter_any():
        pending += chunk
        if b"\n" in chunk:
            *complete, last = bytes(pending).split(b"\n")
            pending, dropped = bytearray(last), 0
            for line in complete:
                if line.strip():
                    yield line
        elif len(pending) > LONGEST_ANSWER + 1:
            # Only the beginning is kept, so that an endless line fills no memory.
            dropped += len(pending) - (LONGEST_ANSWER + 1)
            del pending[LONGEST_ANSWER + 1 :]
            if dropped > _LONGEST_LINE:
                raise ModelFault(FaultKind.REJECTED, "a line of the provider's results is too long to read")
    if pending.strip():
        yield bytes(pending)


def read_id(document: Mapping[str, Any]) -> str:
    """Return the id of what a provider made or lists; raise `ModelFault` where it has none."""
    identity = document.get("id")
    if not isinstance(identity, str) or not identity:
        raise ModelFault(FaultKind.MALFORMED, "the answer has no id")
    return identity


def entries_of(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what a page of a list holds; raise `ModelFault` where it is no list, since it may hide anything."""
    entries = page.get("data")
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise protocol_fault("the provider's list of batches cannot be read")
    return entries


def number_counted(counts: object, name: str) -> int | None:
    """Return one of a batch's `request_counts`; None where it is no count."""
    return count_or_none(counts.get(name)) if isinstance(counts, Mapping) else None


def _too_long(line: bytes) -> dict[str, str]:
    match = _CALL.search(line[:_HEAD])
    return {TOO_LONG: "", "custom_id": match[1].decode()} if match else {}


def _parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


async def retry(work: Callable[[], Awaitable[T]]) -> T:
    """Do what may safely be done twice, until it succeeds or fails for good."""
    for attempt in range(ATTEMPTS - 1):
        try:
            return await work()
        except ModelFault as fault:
            if not fault.retryable:
                raise
            await pause(attempt, fault)
    return await work()


async def pause(attempt: int, fault: ModelFault) -> None:
    """Wait before the next attempt: as long as the server asks, or longer after each attempt."""
    ceiling = min(_LONGEST_WAIT, 0.5 * 2.0**attempt)
    # Spread, so that many runs that failed together do not return together.
    spread = random.uniform(ceiling / 2.0, ceiling)  # noqa: S311 - spreads retries, decides nothing
    await asyncio.sleep(spread if fault.retry_after is None else min(fault.retry_after, _LONGEST_WAIT))
