"""Declare the model provider `litellm`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import BuildContext, ChatModel, ModelSpec, hookimpl

from jrh_litellm.options import LiteLLMOptions


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the provider."""
    yield ModelSpec(
        name="litellm",
        summary="chat models of every provider that litellm knows, such as anthropic/..., gemini/..., openai/...",
        options=LiteLLMOptions,
        factory=_build,
    )


def _build(options: LiteLLMOptions, _context: BuildContext) -> ChatModel:
    from jrh_litellm.model import LiteLLMModel

    return LiteLLMModel.from_environment(options)
