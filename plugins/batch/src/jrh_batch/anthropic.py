"""Anthropic's protocol: message batches, whose requests are sent with them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import quote

from jrh import ChatRequest, Usage
from jrh.errors import FaultKind, ModelFault, StillPendingError
from jrh.plugins import TOO_LONG, Completion
from jrh.text import utf8_text
from jrh_chat import count_or_none, error_text, http_fault, string_or_empty

from jrh_batch.batches import Batch, Look, Result, unclear_look
from jrh_batch.http import Http, entries_of, number_counted
from jrh_batch.openai import CLOCK_SKEW, MOST_PAGES, PAGE, TOO_MANY
from jrh_batch.options import AnthropicBatchOptions

VERSION: Final = "2023-06-01"
_WORKING: Final = ("in_progress", "canceling")
_TOOL: Final = "reply"
_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""Type of an error in a result -> the HTTP status that the API gives it elsewhere."""


class AnthropicDialect:
    """Message batches (`jrh_batch.batches.Dialect`)."""

    def __init__(self, options: AnthropicBatchOptions, http: Http) -> None:
        """Keep the options and the connection."""
        self.max_requests = options.max_requests
        self.max_bytes = int(options.max_megabytes * 1_000_000)
        self._base = f"{options.base_url.rstrip('/')}/messages/batches"
        self._static: dict[str, Any] = {"model": options.model, **options.extra}
        self._http = http

    def line(self, call: str, request: ChatRequest) -> bytes:
        """Write one request of a batch."""
        params = {**self._static, **message_params(request)}
        if "max_tokens" not in params:
            raise ModelFault(FaultKind.REJECTED, "Anthropic needs a limit: give the model `max_tokens`", sent=False)
        return json.dumps({"custom_id": call, "params": params}, separators=(",", ":")).encode()

    async def upload(self, batch: Batch, lines: Sequence[bytes]) -> str:  # noqa: ARG002 - there are no files
        """Upload nothing."""
        return ""

    async def create(self, batch: Batch, lines: Sequence[bytes]) -> str:  # noqa: ARG002 - it has no place for a name
        """Create the batch with its requests."""
        return await self._http.create(self._base, b'{"requests":[' + b",".join(lines) + b"]}")

    async def find(self, batch: Batch, taken: Collection[str]) -> str:
        """Look for the batch among the recent ones of its size, by the ids of its calls.

        The protocol shows the ids only in the results, so a batch has to end before it shows whose it is.
        """
        working = ""
        async for listed in self._recent(batch.noted - CLOCK_SKEW):
            identity = listed.get("id")
            # The size rules out most batches without reading their results.
            if not isinstance(identity, str) or identity in taken or _size_of(listed) not in (None, len(batch.calls)):
                continue
            if listed.get("processing_status") != "ended":
                working = identity
            elif await self._first_call(identity) in batch.calls:
                return identity
        if working:
            raise StillPendingError(f"batch {working} may hold these calls; jrh can check only after it has ended")
        return ""

    async def look(self, batch: Batch) -> Look:
        """Read the batch's status."""
        document = await self._http.get(f"{self._base}/{quote(batch.id, safe='')}")
        status, counts = document.get("processing_status"), document.get("request_counts")
        if status != "ended":
            return Look() if status in _WORKING else unclear_look(status, self._http.redact)
        # Counts that do not add up to the batch say nothing.
        counted = _size_of(document) == len(batch.calls) and not number_counted(counts, "processing")
        return Look(
            ended=True,
            answered=number_counted(counts, "succeeded") if counted else None,
            unanswered=ModelFault(FaultKind.SERVER_ERROR, "the provider counts this request as not answered"),
        )

    async def results(self, batch: Batch, look: Look) -> AsyncIterator[Result]:  # noqa: ARG002
        """Read the results."""
        # Not from `results_url`: the key goes to the address of the suite alone.
        async for line in self._http.lines(f"{self._base}/{quote(batch.id, safe='')}/results"):
            call = string_or_empty(line.get("custom_id"))
            if TOO_LONG in line:
                yield Result(call, Completion(text=None, finish_reason=TOO_LONG))
            else:
                yield self._result(call, line.get("result"))

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    async def _recent(self, since: float) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the batches created since a time, the newest first."""
        after = ""
        for _ in range(MOST_PAGES):
            page = await self._http.get(f"{self._base}?limit={PAGE}{after}")
            for listed in entries_of(page):
                if _creation_time(listed) < since:
                    return
                yield listed
            last = page.get("last_id")
            if not page.get("has_more") or not isinstance(last, str):
                return
            after = f"&after_id={quote(last, safe='')}"
        raise ModelFault(FaultKind.MALFORMED, TOO_MANY)

    async def _first_call(self, found: str) -> str:
        async for line in self._http.lines(f"{self._base}/{quote(found, safe='')}/results"):
            call = line.get("custom_id")
            if isinstance(call, str):
                return call
        # Whose batch it is stays open, so it must not count as somebody else's.
        raise ModelFault(FaultKind.MALFORMED, f"the results of batch {found} cannot be read")

    def _result(self, call: str, result: object) -> Result:
        fields: Mapping[str, Any] = result if isinstance(result, Mapping) else {}
        kind = fields.get("type")
        if kind == "succeeded":
            return Result(call, read_message(fields.get("message")))
        if kind == "errored":
            return Result(call, self._error(fields.get("error")), failed=True)
        if kind in ("canceled", "cancelled"):
            canceled = ModelFault(FaultKind.REJECTED, "the batch was canceled at the provider")
            return Result(call, canceled, failed=True)
        if kind == "expired":
            expired = ModelFault(FaultKind.SERVER_ERROR, "the batch expired before this request was worked on")
            return Result(call, expired, failed=True)
        return Result(call, ModelFault(FaultKind.MALFORMED, "the type of the result is unknown"))

    def _error(self, error: object) -> ModelFault:
        inner = error.get("error") if isinstance(error, Mapping) else None
        fields = inner if isinstance(inner, Mapping) else error if isinstance(error, Mapping) else {}
        kind = string_or_empty(fields.get("type"))
        detail = error_text(f"{kind}: {string_or_empty(fields.get('message'))}", self._http.redact)
        # A type that is unknown here counts as the server's failure, which may be retried.
        return http_fault(_STATUS.get(kind, 500), kind, detail)


def message_params(request: ChatRequest) -> dict[str, Any]:
    """Return a request's own fields of the Messages API.

    Raises:
        ModelFault: a setting does not exist there; it names the settings.
    """
    sampling = request.sampling
    unknown = {
        "seed": sampling.seed is not None,
        "top_logprobs": request.top_logprobs > 0,
        "output": request.output == "json",
    }
    absent = [name for name, stated in unknown.items() if stated]
    if absent:
        detail = f"Anthropic's Messages API has no {', '.join(absent)}"
        raise ModelFault(FaultKind.REJECTED, detail, settings=tuple(absent), sent=False)
    # The protocol has one system text, apart from the turns.
    system = "\n\n".join(message.content for message in request.messages if message.role == "system")
    turns = [{"role": turn.role, "content": turn.content} for turn in request.messages if turn.role != "system"]
    settings = {"system": system or None} | {
        name: getattr(sampling, name) for name in ("max_tokens", "temperature", "top_p")
    }
    stated = {name: value for name, value in settings.items() if value is not None}
    return {"messages": turns} | stated | _reply_form(request)


def _reply_form(request: ChatRequest) -> dict[str, Any]:
    """Return what asks for the form of the reply: a forced tool, or a schema."""
    config: dict[str, Any] = {}
    if request.sampling.reasoning_effort is not None:
        config["effort"] = request.sampling.reasoning_effort
    schema = None if request.output == "text" else request.json_schema
    form: dict[str, Any] = {}
    if schema is not None and request.output == "tool-call":
        tool = {"name": _TOOL, "description": "Give the answer.", "input_schema": schema}
        form = {"tools": [tool], "tool_choice": {"type": "tool", "name": _TOOL}}
    elif schema is not None:
        config["format"] = {"type": "json_schema", "schema": schema}
    return form | {"output_config": config} if config else form


def read_message(message: object) -> Completion | ModelFault:
    """Read a message; what it does not say stays unknown."""
    if not isinstance(message, Mapping) or not isinstance(message.get("content"), list):
        return ModelFault(FaultKind.MALFORMED, "the result has no message")
    blocks = [block for block in message["content"] if isinstance(block, Mapping)]
    tool = next((block.get("input") for block in blocks if block.get("type") == "tool_use"), None)
    texts = [string_or_empty(block.get("text")) for block in blocks if block.get("type") == "text"]
    # The answer of a forced tool is its input, which parsers read like any JSON reply.
    text = json.dumps(tool, ensure_ascii=False) if isinstance(tool, Mapping) else "".join(texts) if texts else None
    thoughts = [string_or_empty(block.get("thinking")) for block in blocks if block.get("type") == "thinking"]
    return Completion(
        text=utf8_text(text) if text is not None else None,
        finish_reason=string_or_empty(message.get("stop_reason")),
        usage=_usage(message.get("usage")),
        model_version=string_or_empty(message.get("model")),
        reasoning="".join(thoughts),
    )


def _usage(usage: object) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    # Tokens that were read from or written to a cache are not part of `input_tokens`.
    read = [count_or_none(usage.get(name)) for name in ("cache_creation_input_tokens", "cache_read_input_tokens")]
    prompt = count_or_none(usage.get("input_tokens"))
    return Usage(
        cached_tokens=read[1],
        prompt_tokens=None if prompt is None else prompt + sum(count or 0 for count in read),
        completion_tokens=count_or_none(usage.get("output_tokens")),
    )


def _size_of(batch: Mapping[str, Any]) -> int | None:
    counts = batch.get("request_counts")
    names = counts if isinstance(counts, Mapping) else {}
    numbers = [number for name in names if (number := number_counted(counts, name)) is not None]
    return sum(numbers) if numbers else None


def _creation_time(batch: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(str(batch.get("created_at"))).timestamp()
    except ValueError:
        # An unreadable time must not end the search.
        return float("inf")
