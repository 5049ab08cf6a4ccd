"""Declare the model provider `openai-http`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import ModelSpec, hookimpl

from jrh_openai_http.options import OpenAIHttpOptions

JRH_API_VERSION = 2


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the provider."""
    yield ModelSpec(
        name="openai-http",
        summary="any OpenAI-compatible /chat/completions endpoint: OpenAI, vLLM, Ollama, a company gateway",
        options=OpenAIHttpOptions,
        factory="jrh_openai_http.model:build",
    )
