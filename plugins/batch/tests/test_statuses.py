"""States of batches: every documented status, and answers that hold none."""

from __future__ import annotations

import asyncio
from typing import Any

from jrh.errors import FaultKind
from jrh_batch.anthropic import AnthropicDialect
from jrh_batch.batches import Batch, Dialect, Look
from jrh_batch.http import Http
from jrh_batch.openai import OpenAIDialect
from jrh_batch.options import AnthropicBatchOptions, OpenAIBatchOptions
from jrh_testing import loop_over

BATCH = Batch(name="jrh-1", calls=("a", "b"), noted=0.0, id="batch-1")
WHOLE = {"total": 2, "completed": 1, "failed": 1}


class OneAnswer(Http):
    """A connection whose every answer is the same document."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.redact = str  # type: ignore[assignment] - there is no key

    async def get(self, url: str) -> dict[str, Any]:
        return self.document


def looked(dialect: Dialect) -> Look:
    return asyncio.run(dialect.look(BATCH))


def openai_look(**document: Any) -> Look:
    return looked(OpenAIDialect(OpenAIBatchOptions(model="m"), OneAnswer(document), "max_tokens"))


def anthropic_look(**document: Any) -> Look:
    return looked(AnthropicDialect(AnthropicBatchOptions(model="m"), OneAnswer(document)))


@loop_over("status", ["validating", "in_progress", "finalizing", "cancelling", "canceling"])
def test_a_batch_of_openai_is_at_work(status: str) -> None:
    assert openai_look(status=status, request_counts=WHOLE) == Look()


@loop_over("status", ["in_progress", "canceling"])
def test_a_batch_of_anthropic_is_at_work(status: str) -> None:
    assert anthropic_look(processing_status=status) == Look()


@loop_over("status", [None, ["completed"], {}, 7, "", "ended", "Completed"])
def test_what_is_no_status_is_told(status: object) -> None:
    assert openai_look(status=status).unclear == f"the provider states an unknown status, {status!r}"


@loop_over("status", [None, ["ended"], {}, 7, "", "completed", "canceled"])
def test_what_is_no_status_of_anthropic_is_told(status: object) -> None:
    assert anthropic_look(processing_status=status).unclear == f"the provider states an unknown status, {status!r}"


@loop_over(
    "status, kind",
    [
        ("completed", FaultKind.SERVER_ERROR),
        ("expired", FaultKind.SERVER_ERROR),
        ("cancelled", FaultKind.REJECTED),
        ("canceled", FaultKind.REJECTED),
        ("failed", FaultKind.SERVER_ERROR),
    ],
)
def test_a_batch_of_openai_has_ended_with_results(status: str, kind: FaultKind) -> None:
    look = openai_look(status=status, request_counts=WHOLE, output_file_id="out", error_file_id="err")
    assert (look.ended, look.files, look.answered, look.refusal) == (True, ("out", "err"), 1, None)
    assert look.unanswered is not None
    assert look.unanswered.kind is kind


@loop_over(
    "counts", [None, {}, 7, {"total": 3, "completed": 2, "failed": 1}, {"total": 2, "completed": "2"}, {"total": True}]
)
def test_counts_that_are_not_of_this_batch_say_nothing(counts: Any) -> None:
    assert openai_look(status="completed", request_counts=counts).answered is None
    assert anthropic_look(processing_status="ended", request_counts=counts).answered is None


def test_a_completed_batch_says_nothing_of_requests_it_counts_nowhere() -> None:
    assert openai_look(status="completed", request_counts={"total": 2, "completed": 1, "failed": 0}).unanswered is None


def test_anthropic_counts_what_was_answered() -> None:
    counts = {"processing": 0, "succeeded": 1, "errored": 0, "canceled": 1, "expired": 0}
    assert anthropic_look(processing_status="ended", request_counts=counts).answered == 1
    assert anthropic_look(processing_status="ended", request_counts=counts | {"processing": 1}).answered is None


@loop_over(
    "errors",
    [
        None,
        "text",
        7,
        [],
        {"data": "text"},
        {"data": 5},
        {"data": [None, 3, "x"]},
        {"data": [{"code": ["a"], "message": {"b": 1}, "line": "3"}]},
        {"data": [{"code": None, "message": None, "line": -1}, {"line": True}]},
    ],
)
def test_a_refused_batch_is_refused_as_a_whole_whatever_its_errors_hold(errors: Any) -> None:
    refusal = openai_look(status="failed", errors=errors).refusal
    assert refusal is not None
    assert (refusal.queue_full, refusal.fault.kind) == (False, FaultKind.REJECTED)
    assert all(place >= len(BATCH.calls) or place == 0 for place in refusal.lines)
