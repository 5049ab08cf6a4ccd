"""Declare the model provider `openai-http`."""

from __future__ import annotations

from collections.abc import Iterable

from jrh import ModelSpec, hookimpl

from jrh_openai_http.options import OpenAIHttpOptions

JRH_API_VERSION = 2

_STARTER = """\
openai:
  provider: openai-http
  base_url: https://api.openai.com/v1 # or your server's: vLLM, Ollama, a company gateway
  model: gpt-4o-mini
  api_key_env: OPENAI_API_KEY # the variable that holds the key, never the key itself
  price: {input: 0.15, output: 0.60} # US dollars per million tokens
"""


@hookimpl
def jrh_models() -> Iterable[ModelSpec]:
    """Declare the provider."""
    yield ModelSpec(
        name="openai-http",
        summary="any OpenAI-compatible /chat/completions endpoint: OpenAI, vLLM, Ollama, a company gateway",
        options=OpenAIHttpOptions,
        factory="jrh_openai_http.model:build",
        starter=_STARTER,
    )
