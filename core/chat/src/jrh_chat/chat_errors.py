"""Translate the errors of OpenAI-compatible servers into faults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jrh.errors import FaultKind, ModelFault
from jrh.plugins.protocols import Completion

from jrh_chat.completions import OUT_OF_FUNDS, http_fault, is_filtered
from jrh_chat.http import retry_after


def from_error_response(status: int, headers: Mapping[str, str], body: bytes) -> ModelFault | Completion:
    """Read an HTTP error as a fault, or as a refusal if the provider's content filter declined the prompt."""
    code, text, named = read_error(body)
    if is_filtered(status, code):
        return Completion(text=None, finish_reason="content_filter", refusal=text or code)
    return classify(status, code, text, retry_after(headers), named)


def classify(status: int | None, code: str, text: str, wait: float | None = None, named: str = "") -> ModelFault:
    """Turn a status, the provider's error code and text into a fault; status None means that the server failed."""
    where = "the provider reports an error" if status is None else f"HTTP {status}"
    detail = f"{where} ({code})" if code and code != str(status) else where
    detail = f"{detail}: {text}" if text else detail
    if status is None:
        return ModelFault(FaultKind.NO_CREDIT if code in OUT_OF_FUNDS else FaultKind.SERVER_ERROR, detail)
    return http_fault(status, code, detail, wait=wait, named=named)


def read_error(body: bytes) -> tuple[str, str, str]:
    """Return the error code, the text and the parameter of a body; empty where there is none, the text may be raw."""
    raw = body.decode("utf-8", "replace")
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        return "", raw, ""
    return describe(document) if isinstance(document, dict) else ("", raw, "")


def describe(document: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return code, text and parameter of a JSON error as OpenAI, vLLM, Ollama and FastAPI write it."""
    error = document.get("error") or document
    if not isinstance(error, Mapping):
        return "", str(error), ""
    named = error.get("param")
    code = next((value for value in (error.get("code"), error.get("type")) if isinstance(value, str)), "")
    text = error.get("message") or error.get("detail") or error
    return code, text if isinstance(text, str) else json.dumps(text), named if isinstance(named, str) else ""
