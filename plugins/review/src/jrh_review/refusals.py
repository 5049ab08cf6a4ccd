"""What a refused request gets, and the headers of every answer."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from types import MappingProxyType
from typing import Final

from starlette.responses import HTMLResponse

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


class Refused(Exception):
    """A request that is not answered, with the sentence that says why."""

    def __init__(self, status: int, why: str, headers: Mapping[str, str] | None = None) -> None:
        """Keep the status code, the sentence and further headers."""
        super().__init__(why)
        self.status = status
        self.why = why
        self.headers = dict(headers or {})


def answer(refused: Refused) -> HTMLResponse:
    """Return the page of a refusal: it quotes nothing that was sent."""
    text = (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>jrh: {refused.status}</title><main><h1>{refused.status}</h1><p>{escape(refused.why)}</p></main></html>"
    )
    return HTMLResponse(text, status_code=refused.status, headers={**HEADERS, **refused.headers, "connection": "close"})
