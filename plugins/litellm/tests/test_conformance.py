"""litellm keeps the contract of every model provider, on the wire too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import jrh_litellm.plugin
import pytest
from jrh import Json
from jrh_testing import ModelContract

pytestmark = [
    # pytest puts its own filters in place of the one that the plugin sets.
    pytest.mark.filterwarnings("ignore::UserWarning:pydantic"),
    # litellm makes its coroutine in a thread and drops it if the wait is given up before it comes back.
    pytest.mark.filterwarnings("ignore:coroutine .* was never awaited:RuntimeWarning"),
]


class TestLiteLLMContract(ModelContract):
    plugin = jrh_litellm.plugin
    component = "litellm"
    options: ClassVar = {"model": "openai/gpt-4o-mini"}
    required_options = ("model",)
    other_options: ClassVar = {"model": "openai/gpt-4o"}

    def endpoint_options(self, url: str) -> Mapping[str, Json]:
        # Named, so that the contract looks for a key that is really sent.
        return {"api_base": url, "api_key_env": "OPENAI_API_KEY"}


class TestAnotherClientOfLiteLLM(TestLiteLLMContract):
    """`hosted_vllm` goes through litellm's own HTTP handler, `openai` through OpenAI's client."""

    options: ClassVar = {"model": "hosted_vllm/judge"}
    other_options: ClassVar = {"extra": {"top_k": 3}}
