"""Declare the model provider `openai-http`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, ChatModel, ModelSpec, hookimpl

from jrh_openai_http.options import OpenAIHttpOptions


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the provider."""
    yield ModelSpec(
        name="openai-http",
        summary="any OpenAI-compatible /chat/completions endpoint: OpenAI, vLLM, Ollama, a company gateway",
        options=OpenAIHttpOptions,
        factory=_build,
    )


def _build(options: OpenAIHttpOptions, context: BuildContext) -> ChatModel:
    from jrh_openai_http.model import OpenAIHttpModel

    return OpenAIHttpModel.from_environment(options, context.log)
