"""Send events to the ingestion API of Langfuse: `POST /api/public/ingestion`, batches of at most 3.5 MB."""

from __future__ import annotations

import base64
import json
import os
import time
from collections.abc import Iterable, Iterator
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from attrs import frozen
from jrh import JrhError
from jrh.text import clean_text

from jrh_export.addresses import without_keys

_CLOUD: Final = "https://cloud.langfuse.com"
_PATH: Final = "/api/public/ingestion"
_LARGEST: Final = 3_000_000
_MOST: Final = 1000
_ATTEMPTS: Final = 5
_LONGEST_WAIT: Final = 60.0
_ANSWER: Final = 8 * 1024 * 1024
_UNKNOWN_KEYS: Final = (401, 403)
_TOO_MANY: Final = 429
_SERVER: Final = 500


class _NoRedirect(HTTPRedirectHandler):
    """Follow no redirect: urllib would send the keys on to the other address."""

    def redirect_request(self, *_arguments: Any, **_named: Any) -> None:
        """Refuse; the answer becomes an error."""


@frozen
class Endpoint:
    """An address of Langfuse and what authorises requests to it; its repr shows no key."""

    address: str
    shown: str
    timeout: float
    _authorization: str
    _opener: OpenerDirector

    @classmethod
    def of(cls, host: str, public: str, secret: str, *, timeout: float) -> Endpoint:
        """Check the address.

        Raises:
            JrhError: it is no `http` or `https` address.
        """
        base = (host or os.environ.get("LANGFUSE_HOST", "").strip() or _CLOUD).rstrip("/")
        shown = clean_text(without_keys(base))
        try:
            parts = urlsplit(base)
            wrong = parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc
        except ValueError:
            wrong = True
        if wrong or not base.isascii() or not base.isprintable() or " " in base:
            raise JrhError(f"'{shown}' is not the URL of a Langfuse server, such as {_CLOUD}")
        token = base64.b64encode(f"{public}:{secret}".encode()).decode("ascii")
        return cls(f"{base}{_PATH}", shown, timeout, f"Basic {token}", build_opener(_NoRedirect))

    def __repr__(self) -> str:
        """Reveal no key."""
        return f"Endpoint({self.shown})"

    def send(self, events: Iterable[dict[str, Any]]) -> int:
        """Send all events in batches and return how many were taken.

        Raises:
            JrhError: Langfuse cannot be reached, or refuses one. What was sent before is there.
        """
        sent = 0
        for batch, size in _batches(events):
            self._check(self._posted(batch), sent)
            sent += size
        return sent

    def _posted(self, body: bytes) -> dict[str, Any]:
        for attempt in range(1, _ATTEMPTS + 1):
            last = attempt == _ATTEMPTS
            try:
                return self._once(body)
            except HTTPError as error:
                with error:
                    if last or not (error.code == _TOO_MANY or error.code >= _SERVER):
                        raise self._refused(error) from None
                    _wait(attempt, error.headers.get("Retry-After"))
            except (URLError, HTTPException, OSError) as error:
                if last:
                    why = clean_text(str(getattr(error, "reason", error)) or type(error).__name__)
                    raise JrhError(f"Langfuse at {self.shown} cannot be reached: {why}") from None
                _wait(attempt, None)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, body: bytes) -> dict[str, Any]:
        headers = {"Authorization": self._authorization, "Content-Type": "application/json"}
        request = Request(self.address, data=body, headers=headers, method="POST")  # noqa: S310 - checked in `of`
        with self._opener.open(request, timeout=self.timeout) as response:
            content = response.read(_ANSWER)
        try:
            found = json.loads(content)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise JrhError(
                f"{self.shown} does not answer like Langfuse: {clean_text(content.decode('utf-8', 'replace'))}"
            )
        return found

    def _refused(self, error: HTTPError) -> JrhError:
        if error.code in _UNKNOWN_KEYS:
            return JrhError(f"Langfuse at {self.shown} rejects the keys (HTTP {error.code}); check both")
        try:
            text = clean_text(error.read(2000).decode("utf-8", "replace"))
        except (HTTPException, OSError):
            text = ""
        return JrhError(f"Langfuse at {self.shown} rejects the request (HTTP {error.code}): {text or 'no text'}")

    def _check(self, answer: dict[str, Any], sent: int) -> None:
        """Raise if a part of a batch was refused: the status of the answer is 207 either way."""
        errors = answer.get("errors")
        if not isinstance(errors, list) or not errors:
            return
        first = errors[0] if isinstance(errors[0], dict) else {}
        why = clean_text(str(first.get("message") or first.get("error") or first.get("status") or "no reason"))
        raise JrhError(f"Langfuse at {self.shown} accepted {sent} events and rejected {len(errors)} of the next: {why}")


def _batches(events: Iterable[dict[str, Any]]) -> Iterator[tuple[bytes, int]]:
    texts: list[bytes] = []
    size = 0
    for event in events:
        text = json.dumps(event, allow_nan=False, separators=(",", ":")).encode("ascii")
        if texts and (size + len(text) > _LARGEST or len(texts) == _MOST):
            yield _batch(texts), len(texts)
            texts, size = [], 0
        texts.append(text)
        size += len(text) + 1
    if texts:
        yield _batch(texts), len(texts)


def _batch(texts: list[bytes]) -> bytes:
    return b'{"batch":[' + b",".join(texts) + b"]}"


def _wait(attempt: int, told: str | None) -> None:
    try:
        seconds = float(told) if told is not None else 0.5 * 2**attempt
    except ValueError:  # a date
        seconds = 0.5 * 2**attempt
    time.sleep(min(max(seconds, 0.0), _LONGEST_WAIT) if seconds == seconds else _LONGEST_WAIT)  # noqa: PLR0124 - NaN
