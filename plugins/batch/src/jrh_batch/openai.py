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

from jrh_batch.batches import Batch, Look, Refusal, Result, unclear_look
from jrh_batch.http import Http, entries_of, number_counted, read_id
from jrh_batch.options import OpenAIBatchOptions

_WORKING: Final = ("validating", "in_progress", "finalizing", "cancelling", "canceling")
_CANCELLED: Final = ("cancelled", "canceled")
_ENDED: Final = ("completed", "expired", *_CANCELLED)
_QUEUE_FULL: Final = "token_limit_exceeded"
_BAD_REQUEST: Final = 400
_LONGEST_STATUS: Final = 9
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
        line = {"custom_id": call, "method": "POST", "url": self._endpoint, "body": self._payload.body(request)}
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
            listed = entries_of(page)
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
        status, counts = document.get("status"), document.get("request_counts")
        answered, failed = number_counted(counts, "completed"), number_counted(counts, "failed")
        listed = [document.get(name) for name in ("output_file_id", "error_file_id")]
        files = tuple(name for name in listed if isinstance(name, str) and name)
        # With results it was worked on, whatever its status says, and has to be paid for.
        if status == "failed" and not files and not answered:
            return Look(refusal=self._refusal(document.get("errors")))
        if status not in _ENDED and status != "failed":
            return Look() if status in _WORKING else unclear_look(status, self._http.redact)
        counted = number_counted(counts, "total") == len(batch.calls) and (answered or 0) <= len(batch.calls)
        every_one = answered is not None and answered + (failed or 0) == len(batch.calls)
        return Look(
            ended=True,
            files=files,
            # Counts of another total say nothing.
            answered=answered if counted else None,
            unanswered=_unanswered(status) if status in _ENDED[1:] or every_one else None,
        )

    async def results(self, batch: Batch, look: Look) -> AsyncIterator[Result]:  # noqa: ARG002
        """Read the answers, then the errors."""
        for name in look.files:
            async for line in self._http.lines(f"{self._base}/files/{quote(name, safe='')}/content"):
                yield self._result(string_or_empty(line.get("custom_id")), line)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._http.aclose()

    def _result(self, call: str, line: Mapping[str, Any]) -> Result:
        if TOO_LONG in line:
            return Result(call, Completion(text=None, finish_reason=TOO_LONG))
        response, error = line.get("response"), line.get("error")
        if isinstance(response, Mapping):
            result = self._response(call, response.get("status_code"), response.get("body"))
            # An answer is one, whatever else its line says.
            if isinstance(result.outcome, Completion) or not error:
                return result
        if not error:
            return Result(call, ModelFault(FaultKind.MALFORMED, "a line of the results is no result"))
        code = str(error.get("code") or "") if isinstance(error, Mapping) else ""
        text = str(error.get("message") or "") if isinstance(error, Mapping) else ""
        detail = error_text(f"{code or 'error'}: {text}", self._http.redact)
        # Otherwise it was not worked on, so nothing was billed, and it is asked again.
        kind = FaultKind.REJECTED if code in ("batch_cancelled", "batch_canceled") else FaultKind.SERVER_ERROR
        return Result(call, ModelFault(kind, detail), failed=True)

    def _response(self, call: str, stated: object, body: object) -> Result:
        # Gateways write it as a text, too.
        status = int(str(stated)) if str(stated).isdecimal() and len(str(stated)) <= _LONGEST_STATUS else None
        if status is not None and status >= _BAD_REQUEST:
            outcome = from_error_response(status, {}, json.dumps(body).encode())
            if isinstance(outcome, ModelFault):
                outcome = outcome.with_detail(error_text(outcome.detail, self._http.redact))
            return Result(call, outcome, failed=True)
        try:
            return Result(call, read_document(body if isinstance(body, dict) else {}))
        except ModelFault as fault:
            detail = error_text(f"the result has status {stated}: {fault.detail}", self._http.redact)
            # Whatever the text says, the provider may count and bill it as an answer.
            return Result(call, ModelFault(FaultKind.MALFORMED, detail))

    def _refusal(self, errors: object) -> Refusal:
        """Read why a batch failed its validation."""
        listed = errors.get("data") if isinstance(errors, Mapping) else None
        problems = [problem for problem in listed if isinstance(problem, Mapping)] if isinstance(listed, list) else []
        texts = [error_text(f"{fault.get('code')}: {fault.get('message')}", self._http.redact) for fault in problems]
        text = "; ".join(dict.fromkeys(texts[:3])) or "the provider gives no reason"
        lines = {
            number - 1: _line_fault(problem, message)
            for problem, message in zip(problems, texts, strict=True)
            if (number := number_counted(problem, "line"))
        }
        code = str(problems[0].get("code") or "") if problems else ""
        return Refusal(
            text=text,
            # It passes with time, so the same batch is submitted again later.
            queue_full=any(problem.get("code") == _QUEUE_FULL for problem in problems),
            lines=lines,
            fault=http_fault(_BAD_REQUEST, code, f"the batch was refused: {text}"),
        )


def _unanswered(status: object) -> ModelFault:
    if status in _CANCELLED:
        return ModelFault(FaultKind.REJECTED, "the batch was cancelled at the provider")
    if status == "expired":
        return ModelFault(FaultKind.SERVER_ERROR, "the batch expired before this request was worked on")
    return ModelFault(FaultKind.SERVER_ERROR, "the provider counts this request as failed")


def _line_fault(error: Mapping[str, Any], said: str) -> ModelFault:
    return http_fault(_BAD_REQUEST, string_or_empty(error.get("code")), said, named=string_or_empty(error.get("param")))
