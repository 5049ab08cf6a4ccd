"""Declare the model provider `litellm`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import ModelSpec, hookimpl

from jrh_litellm.options import LiteLLMOptions

JRH_API_VERSION = 2

_STARTER = """\
litellm:
  provider: litellm # reads the key from the variable the vendor names, such as ANTHROPIC_API_KEY
  model: anthropic/claude-sonnet-4-5
"""


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the provider."""
    yield ModelSpec(
        name="litellm",
        summary="chat models of all providers that litellm supports, such as anthropic/..., gemini/..., openai/...",
        options=LiteLLMOptions,
        factory="jrh_litellm.model:LiteLLMModel.from_environment",
        starter=_STARTER,
    )
