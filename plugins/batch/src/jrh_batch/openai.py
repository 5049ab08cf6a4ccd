"""OpenAI's protocol: a file of requests, a batch over it, a file of answers and one of errors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import aiohttp
from jrh import ChatRequest
from jrh.errors import FaultKind, ModelFault
from jrh.plugins import TOO_LONG, Completion
from jrh_chat import PayloadWriter, error_text, from_error_response, http_fault, read_document, string_or_empty

from jrh_batch.batches import Batch, Look, Refusal
from jrh_batch.http import Http, read_id
from jrh_batch.options import OpenAIBatchOptions

_ENDED: Final = frozenset({"completed", "expired", "cancelled"})
_QUEUE_FULL: Final = frozenset({"token_limit_exceeded"})
_BAD_REQUEST: Final = 400
_OK: Final = 200
_NAME: Final = "jrh_batch"
"""Key of a batch's metadata that holds jrh's name of it."""
PAGE: Final = 100
MOST_PAGES: Final = 200
TOO_MANY: Final = f"{PAGE * MOST_PAGES:,} newer batches are listed, and more"
"""Why a search ends without an answer: the batch may be among those that were not read."""
CLOCK_SKEW: Final = 600.0
"""Seconds by which this machine's clock and the provider's may differ."""


class OpenAIDialect:
    """Files and batches (`jrh_batch.batches.Dialect`)."""

    def __init__(self, options: OpenAIBatchOptions, http: Http, max_tokens_field: str) -> None:
        """Keep the options and the connection."""
        self.max_requests = options.max_requests
        self.max_bytes = int(options.max_megabytes * 1_000_000)
        self._base = options.base_url.rstrip("/")
        self._endpoint = options.endpoint
        self._window = options.completion_window
        self._http = http
        self._payload = PayloadWriter(options.model, options.extra, max_tokens_field)

    def line(self, call: str, request: ChatRequest) -> bytes:
        """Write one line of a batch's file."""
        body = self._payload.body(request)
        line = {"custom_id": call, "method": "POST", "url": self._endpoint, "body": body}
        return json.dumps(line, separators=(",", ":")).encode()

    async def upload(self, batch: Batch, lines: Sequence[bytes]) -> str:
        """Upload the file."""
        form = aiohttp.FormData()
        form.add_field("purpose", "batch")
        data = b"\n".join(lines) + b"\n"
        form.add_field("file", data, filename=f"{batch.name}.jsonl", content_type="application/jsonl")
        return await self._http.create(f"{self._base}/files", form)

    async def create(self, batch: Batch, lines: Sequence[bytes]) -> str:  # noqa: ARG002 - they are in the file
        """Create the batch over its file."""
        body = {
            "input_file_id": batch.file,
            "endpoint": self._endpoint,
            "completion_window": self._window,
            "metadata": {_NAME: batch.name, "jrh_first_call": batch.calls[0], "jrh_calls": str(len(batch.calls))},
        }
        return await self._http.create(f"{self._base}/batches", json.dumps(body).encode())

    async def find(self, batch: Batch, taken: Collection[str]) -> str:
        """Look for the batch by its file, or by its name in the metadata, among the recent ones."""
        if not batch.file:
            return ""  # the file is noted before a batch is created
        after = ""
        for _ in range(MOST_PAGES):
            page = await self._http.get(f"{self._base}/batches?limit={PAGE}{after}")
            listed = [entry for entry in page.get("data") or () if isinstance(entry, dict)]
            for batch_listed in listed:
                metadata = batch_listed.get("metadata")
                named = isinstance(metadata, Mapping) and metadata.get(_NAME) == batch.name
                # Either is enough, as a gateway may keep no metadata.
                if (named or batch_listed.get("input_file_id") == batch.file) and batch_listed.get("id") not in taken:
                    return read_id(batch_listed)
            oldest = listed[-1].get("created_at") if listed else None
            # The list begins with the newest batch.
            too_old = isinstance(oldest, int | float) and oldest < batch.noted - CLOCK_SKEW
            if not listed or not page.get("has_more") or too_old:
                return ""
            after = f"&after={quote(read_id(listed[-1]), safe='')}"
        raise ModelFault(FaultKind.MALFORMED, TOO_MANY)

    async def look(self, batch: Batch) -> Look:
        """Read the batch's status."""
        document = await self._http.get(f"{self._base}/batches/{quote(batch.id, safe='')}")
        status = document.get("status")
        if status == "failed":
            return Look(refusal=self._refusal(document.get("errors")))
        if status not in _ENDED:
            return Look()
        files = [document.get(name) for name in ("output_file_id", "error_file_id")]
        return Look(
            ended=True,
            files=tuple(name for name in files if isinstance(name, str) and name),
            missing=_lost_result(status),
        )

    async def results(self, batch: Batch, look: Look) -> AsyncIterator[tuple[str, Completion | ModelFault]]:  # noqa: ARG002
        """Read the answers, then the errors."""
        for name in look.files:
            async for line in self._http.lines(f"{self._base}/files/{quote(name, safe='')}/content"):
                call = line.get("custom_id")
                if isinstance(call, str):
                    yield call, self._outcome(line)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    def _outcome(self, line: Mapping[str, Any]) -> Completion | ModelFault:
        if TOO_LONG in line:
            return Completion(text=None, finish_reason=TOO_LONG)
        response, error = line.get("response"), line.get("error")
        if isinstance(response, Mapping) and not error:
            return self._response(response.get("status_code"), response.get("body"))
        code = str(error.get("code") or "") if isinstance(error, Mapping) else ""
        text = str(error.get("message") or "") if isinstance(error, Mapping) else ""
        detail = error_text(f"{code or 'error'}: {text}", self._http.redact)
        if code == "batch_cancelled":
            return ModelFault(FaultKind.REJECTED, detail)
        # It was not worked on, so nothing was billed, and it is asked again.
        return ModelFault(FaultKind.SERVER_ERROR, detail)

    def _response(self, status: object, body: object) -> Completion | ModelFault:
        try:
            if status == _OK and isinstance(body, dict):
                return read_document(body)
        except ModelFault as fault:
            return fault.with_detail(error_text(fault.detail, self._http.redact))
        if not isinstance(status, int) or status < _BAD_REQUEST:
            return ModelFault(FaultKind.SERVER_ERROR, f"the result has status {status}")
        outcome = from_error_response(status, {}, json.dumps(body).encode())
        if isinstance(outcome, ModelFault):
            return outcome.with_detail(error_text(outcome.detail, self._http.redact))
        return outcome

    def _refusal(self, errors: object) -> Refusal:
        """Read why a batch failed its validation."""
        listed = errors.get("data") if isinstance(errors, Mapping) else None
        problems = [problem for problem in listed or () if isinstance(problem, Mapping)]
        texts = [error_text(f"{fault.get('code')}: {fault.get('message')}", self._http.redact) for fault in problems]
        text = "; ".join(dict.fromkeys(texts[:3])) or "the provider gives no reason"
        lines = {
            problem["line"] - 1: _line_fault(problem, message)
            for problem, message in zip(problems, texts, strict=True)
            if isinstance(problem.get("line"), int) and problem["line"] > 0
        }
        code = str(problems[0].get("code") or "") if problems else ""
        return Refusal(
            text=text,
            # It passes with time, so the same batch is submitted again later.
            queue_full=any(problem.get("code") in _QUEUE_FULL for problem in problems),
            lines=lines,
            fault=http_fault(_BAD_REQUEST, code, f"the batch was refused: {text}"),
        )


def _lost_result(status: object) -> ModelFault:
    if status == "expired":
        return ModelFault(FaultKind.SERVER_ERROR, "the batch expired before this request was worked on")
    if status == "cancelled":
        return ModelFault(FaultKind.REJECTED, "the batch was cancelled at the provider")
    return Look().missing


def _line_fault(error: Mapping[str, Any], said: str) -> ModelFault:
    return http_fault(_BAD_REQUEST, string_or_empty(error.get("code")), said, named=string_or_empty(error.get("param")))
