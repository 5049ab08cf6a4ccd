"""What went wrong, in the kernel's words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from jrh import Completion, FaultKind, ModelFault
from jrh.models import retry_after

# No money is left: asking again cannot help, although the status says "too many requests".
_OUT_OF_FUNDS: Final = frozenset({"insufficient_quota", "billing_not_active", "billing_hard_limit_reached"})
# The provider's filter declines: an answer of the judge, not a failure.
_FILTERED: Final = frozenset({"content_filter", "content_policy_violation"})


def from_error_response(status: int, headers: Mapping[str, str], body: bytes) -> ModelFault | Completion:
    """Read an HTTP error: a fault, or a refusal where the provider's content filter declined the prompt."""
    code, text = read_error(body)
    if status in (400, 403) and code in _FILTERED:
        return Completion(text=None, finish_reason="content_filter", refusal=text or code)
    return classify(status, code, text, retry_after(headers))


def classify(status: int | None, code: str, text: str, wait: float | None = None) -> ModelFault:
    """Turn a status, the provider's error code and its text into a fault; no status means that the server failed."""
    where = "the provider reports an error" if status is None else f"HTTP {status}"
    detail = f"{where} ({code})" if code and code != str(status) else where
    detail = f"{detail}: {text}" if text else detail
    if code in _OUT_OF_FUNDS:
        return ModelFault(FaultKind.REJECTED, detail, status=status)
    if status is None:
        return ModelFault(FaultKind.SERVER_ERROR, detail)
    return ModelFault.from_http_status(status, detail, retry_after=wait)


def read_error(body: bytes) -> tuple[str, str]:
    """Return the error code and text of a body; the code is empty where there is none, the text may be raw."""
    raw = body.decode("utf-8", "replace")
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return "", raw
    return describe(document) if isinstance(document, dict) else ("", raw)


def describe(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return code and text of a JSON error as OpenAI, vLLM, Ollama and FastAPI write it."""
    error = document.get("error") or document
    if not isinstance(error, Mapping):
        return "", str(error)
    code = next((value for value in (error.get("code"), error.get("type")) if isinstance(value, str)), "")
    text = error.get("message") or error.get("detail") or error
    return code, (text if isinstance(text, str) else json.dumps(text))
