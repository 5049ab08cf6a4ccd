"""Declare the model providers `openai-batch` and `anthropic-batch`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import ModelSpec, hookimpl

from jrh_batch.options import AnthropicBatchOptions, OpenAIBatchOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the providers."""
    yield ModelSpec(
        name="openai-batch",
        summary="OpenAI's batch API, and gateways that speak it: half the price, answers within 24 hours",
        options=OpenAIBatchOptions,
        factory="jrh_batch.building:build_openai",
        deferred=True,
    )
    yield ModelSpec(
        name="anthropic-batch",
        summary="Anthropic's message batches: half the price, answers within 24 hours",
        options=AnthropicBatchOptions,
        factory="jrh_batch.building:build_anthropic",
        deferred=True,
    )
